// Training with 16-bit floats: loss scaling, updates that are skipped, StandardUpdater with autocast.
#include <cmath>
#include <limits>

#include <catena/autograd/autocast.h>
#include <catena/autograd/capture.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/links/classifier.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/datasets.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/optimizers.h>
#include <catena/training/updater.h>

using namespace test;
using namespace training;

namespace {

struct Scale : nn::Link {
  nn::Parameter w{floats({1, 2}, {2})};
  NN_MEMBERS(w)
};
std::vector<double> numbers(const Array& a) { return autograd::to_vector<double>(a); }

struct Net : nn::Chain {
  nn::Linear l1{8, 32}, l2{32, 4};
  NN_MEMBERS(l1, l2)
  Variable operator()(const Variable& x) { return l2(nn::relu(l1(x))); }
};
// Points around four centres.
Array inputs(int step) {
  std::vector<double> v;
  for (int i = 0; i < 32; ++i)
    for (int k = 0; k < 8; ++k) v.push_back((k % 4 == i % 4 ? 1.0 : 0.0) + 0.3 * std::sin(1.7 * i + 3.1 * k + step));
  return autograd::astype(autograd::array(v, {32, 8}), Dtype::float32);
}
Array labels() {
  std::vector<std::int32_t> v;
  for (int i = 0; i < 32; ++i) v.push_back(i % 4);
  return autograd::array(v, {32});
}

// Returns the loss after training.
double trained_loss(std::optional<Dtype> dtype, bool capture) {
  autograd::seed(5);
  nn::Classifier<Net> model{Net()};
  Adam optimizer(0.01);
  optimizer.setup(model);
  if (dtype) optimizer.loss_scaling(10);
  const Array x = inputs(0), t = labels();
  const auto step = [&](const Array& batch) {
    std::optional<autograd::AutocastScope> scope;
    if (dtype) scope.emplace(*dtype, true);
    optimizer.update(model, Variable(batch), Variable(t));
  };
  for (int k = 0; k < 2; ++k) step(x);
  if (capture) {
    autograd::CapturedWork work([&] { step(x); });
    for (int k = 3; k < 60; ++k) {
      autograd::assign(x, inputs(k % 7));
      work.replay();
    }
  } else {
    for (int k = 2; k < 60; ++k) step(inputs(k % 7));
  }
  return double(model(Variable(inputs(3)), Variable(t)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mixed_precision)

BOOST_AUTO_TEST_CASE(training_in_16_bits_reaches_the_loss_of_float32) {
  const double full = trained_loss({}, false);
  BOOST_TEST(full < 0.05);
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    BOOST_TEST(std::abs(trained_loss(dtype, false) - full) < 0.1 * full);
    BOOST_TEST(std::abs(trained_loss(dtype, true) - full) < 0.1 * full);
  }
}

BOOST_AUTO_TEST_CASE(the_scale_leaves_the_update_as_it_is) {
  Scale plain, scaled;
  SGD a(0.5), b(0.5);
  a.setup(plain);
  b.setup(scaled);
  b.loss_scaling();
  BOOST_TEST(a.loss_scale() == 1);
  BOOST_TEST(b.loss_scale() == 65536);
  double seen = 0;
  b.add_hook([&](Optimizer& o) { seen = numbers(static_cast<Scale&>(o.target()).w.grad())[1]; }, "after the division");
  for (int k = 0; k < 3; ++k) {
    a.update([&] { return autograd::sum(plain.w * plain.w); });
    b.update([&] { return autograd::sum(scaled.w * scaled.w); });
  }
  BOOST_TEST(numbers(plain.w.data()) == numbers(scaled.w.data()), boost::test_tools::per_element());
  BOOST_TEST(seen == 0);  // 2 w of the third update
  // By hand.
  scaled.w.set_data(floats({1, 2}, {2}));
  scaled.cleargrads();
  autograd::sum(scaled.w * scaled.w).backward({.loss_scale = b.loss_scale()});
  BOOST_TEST(numbers(scaled.w.grad())[0] == 2 * 65536);
  b.update();
  BOOST_TEST(numbers(scaled.w.grad())[0] == 2);
}

BOOST_AUTO_TEST_CASE(an_overflow_skips_the_update_and_halves_the_scale) {
  Scale link;
  Adam optimizer(0.5);
  optimizer.setup(link);
  optimizer.loss_scaling(3);
  const auto update = [&](double factor) {
    const Variable f(autograd::arrays::full({}, factor, Dtype::float32));
    optimizer.update([&] { return autograd::sum(link.w) * f; });
  };
  update(1);
  const std::vector<double> w = numbers(link.w.data()), m = numbers(optimizer.states("/w")[0]);
  for (const double bad : {HUGE_VAL, std::nan(""), 1e35}) update(bad);  // 1e35 2^14 is not a float32
  BOOST_TEST(numbers(link.w.data()) == w, boost::test_tools::per_element());
  BOOST_TEST(numbers(optimizer.states("/w")[0]) == m, boost::test_tools::per_element());
  BOOST_TEST(optimizer.t() == 1);
  BOOST_TEST(optimizer.loss_scale() == 65536 / 8);
  BOOST_TEST(optimizer.skipped_updates() == 3);
  for (int k = 0; k < 3; ++k) update(1);  // three in a row without a skip
  BOOST_TEST(optimizer.loss_scale() == 65536 / 4);
  BOOST_TEST(optimizer.t() == 4);
  for (int k = 0; k < 20; ++k) update(HUGE_VAL);
  BOOST_TEST(optimizer.loss_scale() == 1);
}

BOOST_AUTO_TEST_CASE(captured_work_skips_and_adapts_in_replays) {
  Scale link;
  MomentumSGD optimizer(0.5);
  optimizer.setup(link);
  optimizer.loss_scaling(2);
  const Array factor = autograd::arrays::full({}, 1, Dtype::float32);
  const auto step = [&] { optimizer.update([&] { return autograd::sum(link.w) * Variable(factor); }); };
  step();
  autograd::CapturedWork work(step);  // the second update without a skip: the scale is doubled
  BOOST_TEST(optimizer.loss_scale() == 2 * 65536);
  const std::vector<double> w = numbers(link.w.data()), v = numbers(optimizer.states("/w")[0]);
  autograd::fill(factor, HUGE_VAL);
  work.replay();
  BOOST_TEST(numbers(link.w.data()) == w, boost::test_tools::per_element());
  BOOST_TEST(numbers(optimizer.states("/w")[0]) == v, boost::test_tools::per_element());
  BOOST_TEST(optimizer.loss_scale() == 65536);
  BOOST_TEST(optimizer.skipped_updates() == 1);
  autograd::fill(factor, 1);
  work.replay();
  BOOST_TEST(numbers(link.w.data())[0] != w[0]);
}

BOOST_AUTO_TEST_CASE(a_constant_scale_is_not_checked) {
  Scale link;
  SGD optimizer(0.5);
  optimizer.setup(link);
  optimizer.loss_scaling(1, 128);
  optimizer.update([&] { return autograd::sum(link.w); });
  BOOST_TEST(numbers(link.w.data())[0] == 0.5);
  optimizer.update(
      [&] { return autograd::sum(link.w) * Variable(autograd::arrays::full({}, HUGE_VAL, Dtype::float32)); });
  BOOST_TEST(numbers(link.w.data())[0] == -HUGE_VAL);
  BOOST_TEST(optimizer.loss_scale() == 128);
  BOOST_CHECK_THROW(optimizer.loss_scaling(0), catena::ValueError);
  BOOST_CHECK_THROW(optimizer.loss_scaling(1, 0), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(files_have_the_scale) {
  const TemporaryFolder folder("loss_scale");
  Scale link, other;
  SGD optimizer(0.5), loaded(0.5), without(0.5);
  for (const auto& [o, l] : {std::pair<SGD*, Scale*>{&optimizer, &link}, {&loaded, &other}, {&without, &other}})
    o->setup(*l);
  optimizer.loss_scaling(5);
  loaded.loss_scaling(5);
  const Variable bad(autograd::arrays::full({}, HUGE_VAL, Dtype::float32));
  optimizer.update([&] { return autograd::sum(link.w) * bad; });
  loaded.update([&] { return autograd::sum(other.w); });
  nn::serializers::save_npz(folder / "optimizer.npz", optimizer);
  nn::serializers::load_npz(folder / "optimizer.npz", loaded);
  BOOST_TEST(loaded.loss_scale() == 32768);
  BOOST_TEST(loaded.skipped_updates() == 1);
  nn::serializers::load_npz(folder / "optimizer.npz", without);
  nn::serializers::save_npz(folder / "without.npz", without);
  nn::serializers::load_npz(folder / "without.npz", loaded);
  BOOST_TEST(loaded.loss_scale() == 32768);
}

BOOST_AUTO_TEST_CASE(an_updater_computes_the_loss_in_16_bits) {
  nn::Classifier<Net> model{Net()};
  SGD optimizer(0.1);
  optimizer.setup(model);
  std::optional<Dtype> seen;
  StandardUpdater updater(SerialIterator(TupleDataset(inputs(0), labels()), 16), optimizer,
                          {.loss_func =
                               [&](const Variables& v) {
                                 seen = autograd::autocast_dtype();
                                 return model(v[0], v[1]);
                               },
                           .autocast = Dtype::bfloat16});
  updater.update();
  BOOST_TEST((seen == Dtype::bfloat16));
  BOOST_TEST(!autograd::autocast_dtype().has_value());
  BOOST_TEST((model.predictor.l1.W.grad().dtype() == Dtype::float32));
}

BOOST_AUTO_TEST_SUITE_END()
