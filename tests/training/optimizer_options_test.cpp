// The hyperparameters that a constructor takes by name: three steps follow the formulas of the algorithm with these
// numbers, those of PyTorch's documentation for its options.
#include <cmath>

#include <catena/tests/support/training_fixtures.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;
using Doubles = std::vector<double>;

namespace {

struct One : nn::Link {
  nn::Parameter p{autograd::array(Doubles{1, -2, 0.5}, {3})};
  NN_MEMBERS(p)
};

// The gradient of element i in step t.
double gradient(int t, int i) { return 0.1 * (t + 1) * (i == 1 ? -2 : 1) + 0.05 * i; }

// p after three steps, by a rule that takes g, the number of the step from 1, the states, which start at `start`, and p
// if it needs that, and gives what is added to p.
template <class Rule> Doubles by_hand(Rule&& rule, const Doubles& start = {0, 0, 0}) {
  Doubles p = {1, -2, 0.5};
  for (int i = 0; i < 3; ++i) {
    Doubles states = start;
    double& value = p[std::size_t(i)];
    for (int t = 0; t < 3; ++t) {
      if constexpr (std::is_invocable_v<Rule&, double, int, Doubles&, double>)
        value += rule(gradient(t, i), t + 1, states, value);
      else value += rule(gradient(t, i), t + 1, states);
    }
  }
  return p;
}

void check(Optimizer&& optimizer, const Doubles& expected) {
  One target;
  optimizer.setup(target);
  for (int t = 0; t < 3; ++t) {
    target.p.set_grad(autograd::array(Doubles{gradient(t, 0), gradient(t, 1), gradient(t, 2)}, {3}));
    optimizer.update();
  }
  const Doubles p = values(target.p.data());
  for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(p[i] == expected[i], boost::test_tools::tolerance(1e-12));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(optimizer_options)

BOOST_AUTO_TEST_CASE(hyperparameters_by_name) {
  check(SGD({.lr = 0.3}), by_hand([](double g, int, Doubles&) { return -0.3 * g; }));
  check(MomentumSGD({.lr = 0.3, .momentum = 0.5}),
        by_hand([](double g, int, Doubles& s) { return s[0] = 0.5 * s[0] - 0.3 * g; }));
  check(NesterovAG({.lr = 0.3, .momentum = 0.5}), by_hand([](double g, int, Doubles& s) {
          s[0] = 0.5 * s[0] - 0.3 * g;
          return 0.25 * s[0] - 1.5 * 0.3 * g;
        }));
  check(AdaGrad({.lr = 0.3, .eps = 0.1}), by_hand([](double g, int, Doubles& s) {
          s[0] += g * g;
          return -0.3 * g / (std::sqrt(s[0]) + 0.1);
        }));
  check(AdaDelta({.rho = 0.75, .eps = 0.1}), by_hand([](double g, int, Doubles& s) {
          s[0] = 0.75 * s[0] + 0.25 * g * g;
          const double dx = std::sqrt((s[1] + 0.1) / (s[0] + 0.1)) * g;
          s[1] = 0.75 * s[1] + 0.25 * dx * dx;
          return -dx;
        }));
  check(Adam({.alpha = 0.3, .beta1 = 0.5, .beta2 = 0.75, .eps = 0.1}), by_hand([](double g, int t, Doubles& s) {
          s[0] += 0.5 * (g - s[0]);
          s[1] += 0.25 * (g * g - s[1]);
          const double lr = 0.3 * std::sqrt(1 - std::pow(0.75, t)) / (1 - std::pow(0.5, t));
          return -lr * s[0] / (std::sqrt(s[1]) + 0.1);
        }));
  check(RMSprop({.lr = 0.3, .alpha = 0.75, .eps = 0.1}), by_hand([](double g, int, Doubles& s) {
          s[0] = 0.75 * s[0] + 0.25 * g * g;
          return -0.3 * g / (std::sqrt(s[0]) + 0.1);
        }));
  check(RMSpropGraves({.lr = 0.3, .alpha = 0.75, .momentum = 0.5, .eps = 0.1}), by_hand([](double g, int, Doubles& s) {
          s[0] = 0.75 * s[0] + 0.25 * g * g;
          s[1] = 0.75 * s[1] + 0.25 * g;
          return s[2] = 0.5 * s[2] - 0.3 * g / std::sqrt(s[0] - s[1] * s[1] + 0.1);
        }));
  // mem starts at 1.
  check(SMORMS3({.lr = 0.3, .eps = 0.1}), by_hand(
                                              [](double g, int, Doubles& s) {
                                                const double r = 1 / (s[0] + 1);
                                                s[1] = (1 - r) * s[1] + r * g;
                                                s[2] = (1 - r) * s[2] + r * g * g;
                                                const double x = s[1] * s[1] / (s[2] + 0.1);
                                                s[0] = 1 + s[0] * (1 - x);
                                                return -g * std::min(x, 0.3) / (std::sqrt(s[2]) + 0.1);
                                              },
                                              {1, 0, 0}));
}

// buf <- momentum buf + g;  p <- p - lr buf, or p - lr (g + momentum buf). With weight decay, g + weight_decay p stands
// in place of g.
BOOST_AUTO_TEST_CASE(gradient_descent_of_pytorch) {
  check(SGD({.lr = 0.3, .momentum = 0.5}), by_hand([](double g, int, Doubles& s) {
          s[0] = 0.5 * s[0] + g;
          return -0.3 * s[0];
        }));
  check(SGD({.lr = 0.3, .momentum = 0.5, .nesterov = true}), by_hand([](double g, int, Doubles& s) {
          s[0] = 0.5 * s[0] + g;
          return -0.3 * (g + 0.5 * s[0]);
        }));
  check(SGD({.lr = 0.3, .momentum = 0.5, .weight_decay = 0.25}), by_hand([](double g, int, Doubles& s, double p) {
          s[0] = 0.5 * s[0] + g + 0.25 * p;
          return -0.3 * s[0];
        }));
}

// buf <- momentum buf + g / (root + eps);  p <- p - lr buf. Without a momentum there is no such hyperparameter.
BOOST_AUTO_TEST_CASE(rmsprop_of_pytorch_with_momentum) {
  check(RMSprop({.lr = 0.3, .alpha = 0.75, .eps = 0.1, .momentum = 0.5}), by_hand([](double g, int, Doubles& s) {
          s[0] = 0.75 * s[0] + 0.25 * g * g;
          s[1] = 0.5 * s[1] + g / (std::sqrt(s[0]) + 0.1);
          return -0.3 * s[1];
        }));
  check(RMSprop({.lr = 0.3, .alpha = 0.75, .eps = 0.1, .momentum = 0.5, .centered = true}),
        by_hand([](double g, int, Doubles& s) {
          s[0] = 0.75 * s[0] + 0.25 * g * g;
          s[1] = 0.75 * s[1] + 0.25 * g;
          s[2] = 0.5 * s[2] + g / (std::sqrt(s[0] - s[1] * s[1]) + 0.1);
          return -0.3 * s[2];
        }));
  RMSprop with(RMSprop::Options{.momentum = 0.5}), without;
  with.momentum = 0.25;
  BOOST_TEST(with.get_hyper("momentum") == 0.25);
  BOOST_CHECK_THROW(without.momentum = 0.25, catena::KeyError);
}

// m_hat = mu_{t+1} m / (1 - mu_1 ... mu_{t+1}) + (1 - mu_t) g / (1 - mu_1 ... mu_t);  p <- p - lr m_hat / (sqrt(v_hat)
// + eps), after p <- p - lr weight_decay p, if that is decoupled.
BOOST_AUTO_TEST_CASE(nadam_of_pytorch) {
  const auto step = [](double g, int t, Doubles& s) {
    const auto mu = [](int i) { return 0.5 * (1 - 0.5 * std::pow(0.96, i * 0.25)); };
    s[0] = 0.5 * s[0] + 0.5 * g;
    s[1] = 0.75 * s[1] + 0.25 * g * g;
    s[2] *= mu(t);
    const double mean = mu(t + 1) * s[0] / (1 - s[2] * mu(t + 1)) + (1 - mu(t)) * g / (1 - s[2]);
    return -0.3 * mean / (std::sqrt(s[1] / (1 - std::pow(0.75, t))) + 0.1);
  };
  const Doubles start = {0, 0, 1};
  check(NAdam({.lr = 0.3, .betas = {0.5, 0.75}, .eps = 0.1, .momentum_decay = 0.25}), by_hand(step, start));
  check(NAdam({.lr = 0.3, .betas = {0.5, 0.75}, .eps = 0.1, .weight_decay = 0.25, .momentum_decay = 0.25}),
        by_hand([&](double g, int t, Doubles& s, double p) { return step(g + 0.25 * p, t, s); }, start));
  check(NAdam({.lr = 0.3,
               .betas = {0.5, 0.75},
               .eps = 0.1,
               .weight_decay = 0.25,
               .momentum_decay = 0.25,
               .decoupled_weight_decay = true}),
        by_hand([&](double g, int t, Doubles& s, double p) { return step(g, t, s) - 0.3 * 0.25 * p; }, start));
}

// p <- p - lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps), where AdamW also subtracts lr weight_decay p.
BOOST_AUTO_TEST_CASE(adam_of_pytorch) {
  const auto step = [](double g, int t, Doubles& s) {
    s[0] = 0.5 * s[0] + 0.5 * g;
    s[1] = 0.75 * s[1] + 0.25 * g * g;
    return -0.3 * (s[0] / (1 - std::pow(0.5, t))) / (std::sqrt(s[1] / (1 - std::pow(0.75, t))) + 0.1);
  };
  check(Adam({.lr = 0.3, .betas = {0.5, 0.75}, .eps = 0.1}), by_hand(step));
  check(Adam({.alpha = 0.3, .beta1 = 0.5, .beta2 = 0.75, .eps = 0.1, .convention = AdamConvention::pytorch}),
        by_hand(step));
  check(Adam({.lr = 0.3, .betas = {0.5, 0.75}, .eps = 0.1, .weight_decay = 0.25}),
        by_hand([&](double g, int t, Doubles& s, double p) { return step(g + 0.25 * p, t, s); }));
  check(AdamW({.lr = 0.3, .betas = {0.5, 0.75}, .eps = 0.1, .weight_decay = 0.25}),
        by_hand([&](double g, int t, Doubles& s, double p) { return step(g, t, s) - 0.3 * 0.25 * p; }));
}

BOOST_AUTO_TEST_SUITE_END()
