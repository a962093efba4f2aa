// The parts of a step that a program may call or override, older names, and gradient noise.
#include <catena/training/optimizer.h>

#include <cmath>

#include <catena/autograd/functions/reduction.h>
#include <catena/nn/links/linear.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/averaged_model.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;
using Doubles = std::vector<double>;

namespace {

const auto each = boost::test_tools::per_element();

// Two parameters, of which a loss may use one.
struct Pair : nn::Link {
  nn::Parameter used{floats({1, -2}, {2})}, unused{floats({3}, {1})};
  NN_MEMBERS(used, unused)
  Variable loss() const { return autograd::sum(Variable(used) * Variable(used)); }
};

// Writes what it is called for.
struct Traced : SGD {
  std::string* log;
  Traced(double lr, std::string* to) : SGD(lr), log(to) {}
  void reallocate_cleared_grads() override {
    *log += "z";
    SGD::reallocate_cleared_grads();
  }
  void call_hooks() override {
    *log += "(";
    SGD::call_hooks();
    *log += ")";
  }
};
// Parameters without a gradient stay where they are.
template <class Base> struct Sparse : Base {
  using Base::Base;
  void reallocate_cleared_grads() override {}
};
// A rule without a kernel.
struct Plain : Optimizer {
  Plain() : Optimizer({.name = "Plain", .hyper = {{"lr", 1.0}}}) {}
  void update_one(Variable& param, std::span<Array>) override { param.data() -= param.grad() * lr(); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(optimizer_interface)

// Adam and MomentumSGD both have a state v, which is not the same.
BOOST_AUTO_TEST_CASE(states_of_another_optimizer) {
  Pair target;
  Adam adam;
  adam.setup(target);
  adam.update([&] { return target.loss(); });
  const TemporaryFolder folder("another");
  nn::serializers::save_npz(folder / "adam", adam);
  const Warnings warnings;
  const auto load_into = [&](Optimizer&& o) {
    o.setup(target);
    nn::serializers::load_npz(folder / "adam", o);
  };
  load_into(Adam());
  BOOST_TEST(warnings.texts.empty());
  load_into(MomentumSGD());
  BOOST_REQUIRE(warnings.texts.size() == 1U);
  BOOST_TEST(has(warnings.texts[0], "MomentumSGD: the file has m of the parameter /"));
  load_into(SGD());
  BOOST_REQUIRE(warnings.texts.size() == 2U);
  BOOST_TEST(has(warnings.texts[1], "SGD: the file has m, v of the parameter /"));
}

BOOST_AUTO_TEST_CASE(epochs_are_counted_by_the_program) {
  Pair target;
  SGD sgd;
  sgd.setup(target);
  BOOST_TEST(sgd.epoch() == 0);
  sgd.new_epoch();
  sgd.new_epoch();
  sgd.update([&] { return target.loss(); });
  BOOST_TEST(sgd.epoch() == 2);  // updates do not count
  const TemporaryFolder folder("epoch");
  nn::serializers::save_npz(folder / "o", sgd);
  SGD loaded;
  loaded.setup(target);
  nn::serializers::load_npz(folder / "o", loaded);
  BOOST_TEST(loaded.epoch() == 2);
  loaded.setup(target);
  BOOST_TEST(loaded.epoch() == 0);
}

BOOST_AUTO_TEST_CASE(order_of_a_step) {
  Pair target;
  std::string log;
  Traced sgd(1.0, &log);
  sgd.setup(target);
  sgd.update([&] { return target.loss(); });
  BOOST_TEST(log == "z");
  log.clear();
  sgd.add_hook([&](Optimizer& o) { log += o.t() == 1 ? "a" : "?"; }, "a");
  sgd.add_hook([&](Optimizer& o) { log += o.t() == 1 ? "b" : "?"; }, "b");
  sgd.update([&] { return target.loss(); });
  BOOST_TEST(log == "z(azbz)");
}

BOOST_AUTO_TEST_CASE(hooks_outside_of_an_update) {
  Pair target;
  SGD sgd(1.0);
  sgd.setup(target);
  sgd.add_hook(WeightDecay(0.5));
  sgd.add_hook([](Optimizer& o) { static_cast<Pair&>(o.target()).unused.cleargrad(); }, "clear");
  const Array given = floats({10, 10}, {2});
  target.used.set_grad(given);
  sgd.call_hooks();
  BOOST_TEST(values(target.used.grad()) == (Doubles{10.5, 9}), each);
  BOOST_TEST(values(target.unused.grad()) == (Doubles{0}), each);  // null again after the second hook: zeros
  BOOST_TEST(values(given) == (Doubles{10, 10}), each);            // another one's array
  const Array first = target.used.grad();
  sgd.call_hooks();
  BOOST_TEST(values(first) == (Doubles{10.5, 9}), each);  // not known any more as the hooks' own
  BOOST_TEST(sgd.t() == 0);
  BOOST_TEST(values(target.used.data()) == (Doubles{1, -2}), each);
}

BOOST_AUTO_TEST_CASE(cleared_gradients_are_zeros_unless_overridden) {
  const auto after = [](Optimizer& o) {
    Pair target;
    o.setup(target);
    o.add_hook(WeightDecay(0.5));
    o.update([&] { return target.loss(); });
    return values(target.unused.data())[0];
  };
  SGD dense(1.0);
  BOOST_TEST(after(dense) == 1.5);  // decays
  Sparse<SGD> sparse(1.0);
  BOOST_TEST(after(sparse) == 3);
  Plain dense_rule;
  BOOST_TEST(after(dense_rule) == 1.5);
  Sparse<Plain> sparse_rule;
  BOOST_TEST(after(sparse_rule) == 3);
  // A frozen parameter has no part in it, whatever the rule.
  Pair frozen;
  Plain plain;
  plain.setup(frozen);
  frozen.disable_update("/unused");
  plain.update([&] { return frozen.loss(); });
  BOOST_TEST(values(frozen.unused.data())[0] == 3);
  BOOST_TEST(!frozen.unused.grad());
  BOOST_TEST(values(frozen.used.data()) == (Doubles{-1, 2}), each);
}

BOOST_AUTO_TEST_CASE(gradients_of_zeros_in_place_of_none) {
  Doubles results[2];
  for (const bool clears : {true, false}) {
    Pair target;
    MomentumSGD sgd(0.25);
    sgd.setup(target);
    sgd.use_cleargrads(clears);
    bool null = false;
    for (int i = 0; i < 3; ++i) {
      target.unused.set_grad(floats({5}, {1}));  // of an earlier time; gone before backward
      sgd.update([&] { return target.loss(); });
      for (const double v : values(target.used.data())) results[clears].push_back(v);
      results[clears].push_back(values(target.unused.data())[0]);
    }
    // Between clearing and filling: what backward found.
    sgd.add_hook([&](Optimizer&) { null = !target.unused.grad(); }, "look");
    struct Look : Sparse<SGD> {
      using Sparse<SGD>::Sparse;
    } look(0.25);
    look.setup(target);
    look.use_cleargrads(clears);
    look.update([&] { return target.loss(); });
    null = !target.unused.grad();
    BOOST_TEST(null == clears);
  }
  BOOST_TEST(results[0] == results[1], each);
  BOOST_TEST(results[0].size() == 9u);
}

BOOST_AUTO_TEST_CASE(older_names) {
  Pair target;
  SGD sgd(1.0);
  sgd.setup(target);
  sgd.zero_grads();
  BOOST_TEST(values(target.used.grad()) == (Doubles{0, 0}), each);
  const std::vector<Array> sources{floats({3, 0}, {2}), floats({4}, {1})};
  sgd.accumulate_grads(sources);
  BOOST_TEST(values(target.used.grad()) == (Doubles{3, 0}), each);
  BOOST_TEST(sgd.compute_grads_norm() == 5.0);
  sgd.accumulate_grads(std::vector<Array>{floats({1, 1}, {2}), Array()});
  BOOST_TEST(values(target.used.grad()) == (Doubles{4, 1}), each);
  BOOST_TEST(values(target.unused.grad()) == (Doubles{4}), each);
  BOOST_TEST(values(sources[0]) == (Doubles{3, 0}), each);
  target.used.cleargrad();
  sgd.accumulate_grads(sources);  // a null gradient becomes a copy
  BOOST_TEST(values(target.used.grad()) == (Doubles{3, 0}), each);
  BOOST_TEST((target.used.grad().get() != sources[0].get()));
  target.unused.set_grad(floats({4}, {1}));
  sgd.clip_grads(2.5);
  BOOST_TEST(values(target.used.grad()) == (Doubles{1.5, 0}), each);
  BOOST_TEST(values(target.unused.grad()) == (Doubles{2}), each);
  sgd.clip_grads(100);
  BOOST_TEST(sgd.compute_grads_norm() == 2.5);
  sgd.weight_decay(0.5);
  BOOST_TEST(values(target.used.grad()) == (Doubles{2, -1}), each);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { sgd.accumulate_grads(std::vector<Array>{floats({1}, {1})}); }),
                 "there are 1 arrays for 2 parameters"));
  BOOST_CHECK_THROW(sgd.accumulate_grads(std::vector<Array>{floats({1}, {1}), floats({1}, {1})}), catena::ValueError);
  BOOST_TEST(values(target.unused.grad()) == (Doubles{3.5}), each);  // nothing was added
}

BOOST_AUTO_TEST_CASE(noise_is_added_to_each_gradient) {
  struct Call {
    Shape shape;
    Dtype dtype;
    std::int64_t t;
    double eta;
  };
  std::vector<Call> calls;
  Pair target;
  SGD sgd(1.0);
  sgd.setup(target);
  const GradientNoise noise(0.5, [&](const Shape& shape, Dtype dtype, autograd::Device device,
                                     const GradientNoise& hook, const Optimizer& o) {
    calls.push_back({shape, dtype, o.t(), hook.eta});
    return autograd::arrays::full(shape, double(calls.size()), dtype, device);
  });
  BOOST_TEST(noise.name == "GradientNoise");
  sgd.add_hook(noise);
  const Array given = floats({10, 20}, {2});
  target.used.set_grad(given);
  sgd.update();
  BOOST_TEST(values(target.used.data()) == (Doubles{1 - 11, -2 - 21}), each);
  BOOST_TEST(values(target.unused.data()) == (Doubles{3 - 2}), each);
  BOOST_TEST(values(given) == (Doubles{10, 20}), each);
  BOOST_REQUIRE(calls.size() == 2u);
  BOOST_TEST((calls[0].shape == Shape{2} && calls[0].dtype == Dtype::float32 && calls[0].t == 0 && calls[0].eta == .5));
  BOOST_TEST((calls[1].shape == Shape{1}));
}

BOOST_AUTO_TEST_CASE(hooks_refuse_arguments_without_meaning) {
  for (const double wrong : {-1.0, std::nan("")}) {
    BOOST_CHECK_THROW(GradientClipping hook(wrong), catena::ValueError);
    BOOST_CHECK_THROW(GradientNoise hook(wrong), catena::ValueError);
    BOOST_CHECK_THROW(GradientHardClipping(1, wrong), catena::ValueError);
    Pair target;
    SGD sgd(1.0);
    sgd.setup(target);
    BOOST_CHECK_THROW(sgd.clip_grads(wrong), catena::ValueError);
  }
  BOOST_TEST(message_of<catena::ValueError>([] { GradientHardClipping(1, -1); }) ==
             "GradientHardClipping: the lower bound 1 is not at most the upper bound -1");
  BOOST_TEST(message_of<catena::ValueError>([] { GradientClipping hook(-1); }) ==
             "GradientClipping: the threshold is -1; it must be at least 0");
  BOOST_TEST(message_of<catena::ValueError>([] { GradientNoise hook(-1); }) ==
             "GradientNoise: eta is -1; it must be at least 0");
  BOOST_CHECK_NO_THROW(GradientClipping(0));
  BOOST_CHECK_NO_THROW(GradientNoise(0));
  BOOST_CHECK_NO_THROW(GradientHardClipping(1, 1));
}

BOOST_AUTO_TEST_CASE(the_variance_of_the_noise_decays) {
  Pair target;
  SGD sgd(1.0);
  sgd.setup(target);
  const GradientNoise hook(0.3);
  autograd::seed(7);
  for (const std::int64_t t : {std::int64_t(0), std::int64_t(9), std::int64_t(99)}) {
    sgd.set_t(t);
    const Doubles v = values(exponential_decay_noise({40000}, Dtype::float64, {}, hook, sgd));
    double mean = 0, square = 0;
    for (const double x : v) mean += x / 40000, square += x * x / 40000;
    const double variance = 0.3 / std::pow(1.0 + double(t), 0.55);
    BOOST_TEST(std::fabs(mean) < 5 * std::sqrt(variance / 40000));
    BOOST_TEST(std::fabs(square / variance - 1) < 5 * std::sqrt(2.0 / 40000));
  }
  // Every draw is another one, and the generator is the thread's.
  const auto draw = [&] { return values(exponential_decay_noise({4}, Dtype::float32, {}, hook, sgd)); };
  autograd::seed(7);
  const Doubles first = draw(), second = draw();
  BOOST_TEST((first != second));
  autograd::seed(7);
  BOOST_TEST(draw() == first, each);
  // As a hook: an update moves every parameter, also one without a gradient.
  sgd.add_hook(GradientNoise(0.3));
  sgd.update([&] { return target.loss(); });
  BOOST_TEST(values(target.unused.data())[0] != 3);
}

// A parameter of two layers gets one update of each step, and its average is at both places of a copy.
BOOST_AUTO_TEST_CASE(tied_parameters) {
  struct Tied : nn::Chain {
    nn::Linear a{2, 2, {.nobias = true}}, b{2, 2, {.nobias = true}};
    Tied() { b.weight = a.weight; }
    NN_MEMBERS(a, b)
  };
  Tied model;
  model.a.W.set_data(floats({1, -2, 3, 4}, {2, 2}));
  training::AveragedModel averaged(model);
  SGD sgd(0.5);
  sgd.setup(model);
  const auto loss = [&] { return autograd::sum(Variable(model.a.W) * Variable(model.b.W)); };
  sgd.update(loss);  // w - 0.5 (2 w)
  BOOST_TEST(values(model.b.W.data()) == (Doubles{0, 0, 0, 0}), each);
  model.a.W.set_data(floats({1, -2, 3, 4}, {2, 2}));
  averaged.update_parameters(model);
  model.a.W.set_data(floats({3, 0, 1, 2}, {2, 2}));
  averaged.update_parameters(model);
  BOOST_TEST(values(averaged.module.a.W.data()) == (Doubles{2, -1, 2, 3}), each);
  BOOST_TEST(averaged.module.b.W.is_same(averaged.module.a.W));
  training::AveragedModel latest(model, {.avg_fn = [](const auto&, const auto& p, auto) { return p * 1.0; }});
  for (int update = 0; update < 2; ++update) latest.update_parameters(model);
  BOOST_TEST(values(latest.module.b.W.data()) == (Doubles{3, 0, 1, 2}), each);
  MomentumSGD momentum(0.5, 0.9);
  momentum.setup(model);
  model.a.W.set_data(floats({1, 0, 0, 0}, {2, 2}));
  momentum.update(loss);  // v = -0.5 * 2
  BOOST_TEST(values(model.a.W.data()) == (Doubles{0, 0, 0, 0}), each);
  momentum.update(loss);  // v = 0.9 v
  BOOST_TEST(values(model.a.W.data())[0] == -0.9, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_SUITE_END()
