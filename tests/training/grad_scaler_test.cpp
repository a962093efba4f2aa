// GradScaler in own loops: the update of an unscaled loss, skipped updates, and the rule of the scale.
#include <catena/training/grad_scaler.h>

#include <cmath>

#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/operators.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;
using Doubles = std::vector<double>;

namespace {

struct Weight : nn::Link {
  nn::Parameter w{floats({1, -2, 3}, {3})};
  NN_MEMBERS(w)
};
struct Trained {
  Weight model;
  SGD sgd{0.1};
  Trained() { sgd.setup(model); }
  Variable loss(double factor = 1) { return autograd::sum(model.w * model.w) * factor; }
  Doubles weights() const { return autograd::to_vector<double>(model.w.data()); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(grad_scaler)

BOOST_AUTO_TEST_CASE(the_update_is_that_of_the_unscaled_loss) {
  Trained t;
  GradScaler scaler({.init_scale = 1024});
  const Variable loss = scaler.scale(t.loss());
  BOOST_TEST(loss.item<double>() == 14 * 1024);
  loss.backward();
  BOOST_TEST(scaler.step(t.sgd));
  scaler.update();
  BOOST_TEST(t.weights() == (Doubles{0.8f, -1.6f, 2.4f}), boost::test_tools::per_element());
  BOOST_TEST(scaler.get_scale() == 1024);
}

// unscale_ before clipping: the gradient (2, -4, 6) of the norm sqrt(56) is clipped to the norm 1.
BOOST_AUTO_TEST_CASE(clipping_between) {
  Trained t;
  GradScaler scaler;
  scaler.scale(t.loss()).backward();
  scaler.unscale_(t.sgd);
  BOOST_TEST(autograd::to_vector<double>(t.model.w.grad()) == (Doubles{2, -4, 6}), boost::test_tools::per_element());
  BOOST_CHECK_THROW(scaler.unscale_(t.sgd), catena::RuntimeError);
  t.sgd.clip_grads(1);
  scaler.step(t.sgd);
  scaler.update();
  for (std::size_t i = 0; i < 3; ++i) {
    const double w = Doubles{1, -2, 3}[i];
    BOOST_TEST(std::abs(t.weights()[i] - (w - 0.1 * 2 * w / std::sqrt(56.0))) < 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(infinite_gradients_skip_the_update) {
  Trained t;
  GradScaler scaler({.init_scale = 8, .growth_factor = 3, .backoff_factor = 0.25, .growth_interval = 2});
  const Doubles before = t.weights();
  for (const double factor : {double(INFINITY), double(NAN)}) {
    t.model.cleargrads();
    t.loss().backward();
    autograd::fill(t.model.w.grad(), factor);
    BOOST_TEST(!scaler.step(t.sgd));
    scaler.update();
  }
  BOOST_TEST(t.weights() == before, boost::test_tools::per_element());
  BOOST_TEST(t.sgd.t() == 0);
  BOOST_TEST(scaler.get_scale() == 0.5);
  for (const double expected : {0.5, 1.5, 1.5, 4.5}) {
    t.model.cleargrads();
    scaler.scale(t.loss()).backward();
    BOOST_TEST(scaler.step(t.sgd));
    scaler.update();
    BOOST_TEST(scaler.get_scale() == expected);
  }
}

// One scaler for two optimizers, such as those of a generator and a discriminator.
BOOST_AUTO_TEST_CASE(each_optimizer_is_skipped_for_its_own_gradients) {
  Trained bad, good;
  GradScaler scaler({.init_scale = 8, .backoff_factor = 0.5});
  const Doubles before = bad.weights();
  for (Trained* t : {&bad, &good}) scaler.scale(t->loss()).backward();
  autograd::fill(bad.model.w.grad(), INFINITY);
  BOOST_TEST(!scaler.step(bad.sgd));
  BOOST_TEST(scaler.step(good.sgd));
  scaler.update();
  BOOST_TEST(bad.weights() == before, boost::test_tools::per_element());
  BOOST_TEST(good.weights() == (Doubles{0.8f, -1.6f, 2.4f}), boost::test_tools::per_element());
  BOOST_TEST(scaler.get_scale() == 4);
}

BOOST_AUTO_TEST_CASE(the_scale_stays_finite) {
  GradScaler scaler({.init_scale = 1e308, .growth_interval = 1});
  scaler.update();
  BOOST_TEST(scaler.get_scale() == 1e308);
}

BOOST_AUTO_TEST_CASE(switched_off) {
  Trained t;
  GradScaler scaler({.enabled = false});
  const Variable loss = scaler.scale(t.loss());
  BOOST_TEST(loss.item<double>() == 14);
  loss.backward();
  BOOST_TEST(scaler.step(t.sgd));
  scaler.update();
  BOOST_TEST(scaler.get_scale() == 1);
  BOOST_TEST(t.weights() == (Doubles{0.8f, -1.6f, 2.4f}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(its_state) {
  Trained t;
  GradScaler from({.init_scale = 2, .growth_interval = 2}), to({.growth_interval = 2});
  from.update();
  const TemporaryFolder folder("grad_scaler");
  nn::serializers::save_npz(folder / "scaler", from);
  nn::serializers::load_npz(folder / "scaler", to);
  BOOST_TEST(to.get_scale() == 2);
  to.update();
  BOOST_TEST(to.get_scale() == 4);
  // A count above the interval.
  GradScaler longer({.init_scale = 2, .growth_interval = 10});
  for (int i = 0; i < 5; ++i) longer.update();
  nn::serializers::save_npz(folder / "longer", longer);
  nn::serializers::load_npz(folder / "longer", to);
  BOOST_TEST(to.get_scale() == 2);
  to.update();
  BOOST_TEST(to.get_scale() == 4);
}

BOOST_AUTO_TEST_CASE(errors) {
  BOOST_CHECK_THROW(GradScaler({.init_scale = 0}), catena::ValueError);
  BOOST_CHECK_THROW(GradScaler({.growth_factor = 0.5}), catena::ValueError);
  BOOST_CHECK_THROW(GradScaler({.backoff_factor = 0}), catena::ValueError);
  BOOST_CHECK_THROW(GradScaler({.backoff_factor = 1.5}), catena::ValueError);
  BOOST_CHECK_THROW(GradScaler({.growth_interval = 0}), catena::ValueError);
  Trained t;
  t.sgd.loss_scaling();
  GradScaler scaler;
  scaler.scale(t.loss()).backward();
  BOOST_TEST(message_of<catena::RuntimeError>([&] { scaler.step(t.sgd); }).find("loss_scaling()") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
