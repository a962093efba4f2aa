// L-BFGS: PyTorch's steps, a known minimum, errors, files.
#include <catena/training/lbfgs.h>

#include <cmath>

#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/optimizer_hooks.h>

using namespace test;
using namespace training;
using json = test::Json;

namespace {

struct Net : nn::Link {
  nn::Parameter W, b, V;
  NN_MEMBERS(W, b, V)
  Variable operator()(const Variable& x) { return autograd::matmul(autograd::tanh(autograd::matmul(x, W) + b), V); }
};

LBFGSOptions options_of(const std::string& name) {
  if (name == "fixed") return {.lr = 0.5, .max_iter = 4, .history_size = 3};
  if (name == "wolfe") return {.strong_wolfe = true};
  return {.lr = 20, .max_iter = 5, .max_eval = 6, .strong_wolfe = true};
}

// Rosenbrock's function (1 - x)^2 + 100 (y - x^2)^2, least at (1, 1).
struct Valley : nn::Link {
  nn::Parameter p;
  explicit Valley(Dtype dtype) : p(autograd::astype(floats({-1.2f, 1}, {2}), dtype)) {}
  NN_MEMBERS(p)
  Variable operator()() const {
    const Variable x = p[0], y = p[1], a = 1 - x, c = y - x * x;
    return a * a + 100 * (c * c);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(lbfgs)

// A closure that computes the gradients goes the same steps, with as many calls.
BOOST_AUTO_TEST_CASE(closures) {
  Valley a(Dtype::float64), b(Dtype::float64);
  LBFGS updated({.max_iter = 30, .strong_wolfe = true}), stepped(b.params(), {.max_iter = 30, .strong_wolfe = true});
  updated.setup(a);
  int calls = 0;
  for (int k = 0; k < 2; ++k) {
    const double loss = updated.update([&] { return a(); });
    BOOST_TEST(loss == stepped.step([&] {
      ++calls;
      stepped.zero_grad();
      const Variable y = b();
      y.backward();
      return y;
    }));
  }
  BOOST_TEST(calls == updated.evaluations());
  BOOST_TEST(autograd::to_vector<double>(a.p.data()) == autograd::to_vector<double>(b.p.data()),
             boost::test_tools::per_element());
  // Gradients that the closure keeps from the call before count, too.
  Valley c(Dtype::float64);
  LBFGS of_model(c, {.max_iter = 1});
  of_model.step([&] {
    c().backward();
    c().backward();
    return c();
  });
  BOOST_TEST(c.p.grad().size() == 2);
  // Twice the gradient of the function at the start.
  const double x = double(-1.2f), c2 = 1 - x * x;
  const std::vector<double> g = autograd::to_vector<double>(c.p.grad());
  BOOST_TEST(std::abs(g[0] - 2 * (-2 * (1 - x) - 400 * x * c2)) < 1e-9);
  BOOST_TEST(std::abs(g[1] - 2 * 200 * c2) < 1e-9);
}

BOOST_AUTO_TEST_CASE(steps_of_pytorch) {
  const auto golden = Golden::open("torch_lbfgs");
  golden.for_each([&](const json& c) -> std::string {
    const std::string name = c["name"];
    BOOST_TEST_CONTEXT(name) {
      const auto array = [&](const std::string& key) { return to_array(golden.array(key)); };
      Net net;
      net.W = nn::Parameter(array("W"));
      net.b = nn::Parameter(array("b"));
      net.V = nn::Parameter(array("V"));
      LBFGS optimizer(options_of(name));
      optimizer.setup(net);
      const Variable x(array("x")), t(array("t"));
      for (std::size_t k = 0; k < c["losses"].size(); ++k) {
        const double loss = optimizer.update([&] {
          const Variable difference = net(x) - t;
          return autograd::mean(difference * difference);
        });
        BOOST_TEST(close(loss, c["losses"][k].get<double>(), 1e-9, 1e-7), k << ": " << loss);
        for (const nn::NamedParam& p : net.namedparams())
          check_close(p.param.data(), array(name + ":" + p.path.substr(1) + std::to_string(k)), 1e-7, 1e-6,
                      p.path + " after update " + std::to_string(k + 1));
      }
      BOOST_TEST(optimizer.evaluations() == c["evaluations"].get<std::int64_t>());
      BOOST_TEST(optimizer.t() == 4);
    }
    return {};
  });
}

BOOST_AUTO_TEST_CASE(finds_the_minimum) {
  for (const Dtype dtype : {Dtype::float64, Dtype::float32}) {
    Valley valley(dtype);
    LBFGS optimizer({.max_iter = 100, .tolerance_change = 1e-14, .strong_wolfe = true});
    optimizer.setup(valley);
    optimizer.update([&] { return valley(); });
    const std::vector<double> p = values(valley.p.data());
    BOOST_TEST(std::fabs(p[0] - 1) < (dtype == Dtype::float64 ? 1e-6 : 1e-2));
    BOOST_TEST(std::fabs(p[1] - 1) < (dtype == Dtype::float64 ? 1e-6 : 2e-2));
    BOOST_TEST((valley.p.dtype() == dtype));
    const std::int64_t before = optimizer.evaluations();
    if (dtype == Dtype::float64) {  // at the minimum: one loss, no step
      optimizer.update([&] { return valley(); });
      BOOST_TEST(optimizer.evaluations() <= before + 3);
    }
  }
}

BOOST_AUTO_TEST_CASE(hooks_change_the_gradients) {
  Valley plain(Dtype::float64), decayed(Dtype::float64), by_hand(Dtype::float64);
  const auto run = [](Valley& v, auto loss, double rate) {
    LBFGS optimizer({.max_iter = 3});
    optimizer.setup(v);
    if (rate > 0) optimizer.add_hook(WeightDecay(rate));
    optimizer.update(loss);
    return values(v.p.data());
  };
  const auto with_hook = run(
      decayed, [&] { return decayed(); }, 0.5);
  const auto penalty = run(
      by_hand, [&] { return by_hand() + 0.25 * autograd::sum(by_hand.p * by_hand.p); }, 0);
  const auto without = run(
      plain, [&] { return plain(); }, 0);
  for (std::size_t i = 0; i < 2; ++i) BOOST_TEST(std::fabs(with_hook[i] - penalty[i]) < 1e-9);
  BOOST_TEST(with_hook[0] != without[0]);
}

BOOST_AUTO_TEST_CASE(frozen_parameters_stay) {
  Net net;
  net.W = nn::Parameter(floats({1, 2}, {1, 2}));
  net.b = nn::Parameter(floats({0.5f, 0.5f}, {2}));
  net.V = nn::Parameter(floats({1, 1}, {2, 1}));
  net.disable_update("b");
  LBFGS optimizer(1.0);
  optimizer.setup(net);
  optimizer.update([&] { return autograd::sum(net(Variable(floats({1}, {1, 1})))); });
  BOOST_TEST(values(net.b.data()) == (std::vector<double>{0.5, 0.5}), boost::test_tools::per_element());
  BOOST_TEST(values(net.V.data())[0] != 1);
}

BOOST_AUTO_TEST_CASE(files_continue) {
  const TemporaryFolder folder("lbfgs");
  const LBFGSOptions options{.max_iter = 4, .history_size = 3, .strong_wolfe = true};
  Valley first(Dtype::float64), second(Dtype::float64);
  LBFGS a(options), b(options);
  a.setup(first);
  b.setup(second);
  for (int i = 0; i < 2; ++i) a.update([&] { return first(); });
  nn::serializers::save_npz(folder / "model.npz", first);
  nn::serializers::save_npz(folder / "optimizer.npz", a);
  nn::serializers::load_npz(folder / "model.npz", second);
  nn::serializers::load_npz(folder / "optimizer.npz", b);
  for (int i = 0; i < 2; ++i) {
    a.update([&] { return first(); });
    b.update([&] { return second(); });
  }
  BOOST_TEST(same_bits(first.p.data(), second.p.data()));
  BOOST_TEST(a.evaluations() == b.evaluations());
  LBFGS shorter({.history_size = 1});
  shorter.setup(second);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { nn::serializers::load_npz(folder / "optimizer.npz", shorter); }),
                 "more than history_size 1"));
}

BOOST_AUTO_TEST_CASE(errors) {
  BOOST_TEST(message_of<catena::ValueError>([] { LBFGS({.max_iter = 0}); }) ==
             "LBFGS: max_iter is 0 and must be at least 1");
  BOOST_TEST(message_of<catena::ValueError>([] { LBFGS({.history_size = 0}); }) ==
             "LBFGS: history_size is 0 and must be at least 1");
  Valley valley(Dtype::float32);
  LBFGS optimizer;
  optimizer.setup(valley);
  Optimizer& base = optimizer;
  BOOST_TEST(message_of<catena::RuntimeError>([&] { base.update(); }) ==
             "LBFGS: it computes the loss several times: write optimizer.update(lossfun)");
}

BOOST_AUTO_TEST_SUITE_END()
