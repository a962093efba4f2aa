// Schedulers under PyTorch's names: rates of torch.optim.lr_scheduler, by their formulas.
#include <catena/training/lr_schedulers.h>

#include <cmath>
#include <numbers>

#include <catena/tests/support/training_fixtures.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;

namespace {

struct Weight : nn::Link {
  nn::Parameter w{floats({1}, {1})};
  NN_MEMBERS(w)
};
struct WithRate {
  Weight weight;
  SGD sgd{0.5};
  WithRate() { sgd.setup(weight); }
};

// Compares the rate after each of 30 steps with rate(step).
template <class Make, class Rate> void check(Make make, Rate rate) {
  WithRate r;
  auto scheduler = make(r.sgd);
  for (int step = 0; step <= 30; ++step) {
    const double expected = 0.5 * rate(step);
    BOOST_TEST(std::abs(r.sgd.lr() - expected) < 1e-12, "step " << step << ": " << r.sgd.lr() << ", not " << expected);
    scheduler.step();
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lr_schedulers)

BOOST_AUTO_TEST_CASE(rates) {
  const auto steps = [](int step) { return std::pow(0.3, step / 7); };
  check([](SGD& o) { return StepLR(o, {.step_size = 7, .gamma = 0.3}); }, steps);
  check([](SGD& o) { return StepLR(o, 7, 0.3); }, steps);
  check([](SGD& o) { return StepLR(o, 7); }, [](int step) { return std::pow(0.1, step / 7); });
  check(
      [](SGD& o) {
        return MultiStepLR(o, {.milestones = {4, 9}, .gamma = 0.2});
      },
      [](int step) { return step < 4   ? 1
                            : step < 9 ? 0.2
                                       : 0.04; });
  check([](SGD& o) { return ExponentialLR(o, 0.9); }, [](int step) { return std::pow(0.9, step); });
  check([](SGD& o) { return ExponentialLR(o, {.gamma = 0.8}); }, [](int step) { return std::pow(0.8, step); });
  check([](SGD& o) { return LinearLR(o); }, [](int step) { return step < 5 ? (1 + 2 * step / 5.0) / 3 : 1; });
  check([](SGD& o) { return LinearLR(o, {.start_factor = 1, .end_factor = 0.5, .total_iters = 10}); },
        [](int step) { return step < 10 ? 1 - step / 20.0 : 0.5; });
  check([](SGD& o) { return PolynomialLR(o); }, [](int step) { return step < 5 ? 1 - step / 5.0 : 0; });
  check([](SGD& o) { return PolynomialLR(o, {.total_iters = 20, .power = 2}); },
        [](int step) { return step < 20 ? std::pow(1 - step / 20.0, 2) : 0; });
  const auto cosine = [](int step) {
    return 0.2 + 0.8 * (1 + std::cos(std::numbers::pi * std::min(step, 25) / 25)) / 2;
  };
  check([](SGD& o) { return CosineAnnealingLR(o, {.t_max = 25, .eta_min = 0.1}); }, cosine);
  check([](SGD& o) { return CosineAnnealingLR(o, 25, 0.1); }, cosine);
  check([](SGD& o) { return CosineAnnealingWarmRestarts(o, {.t_0 = 4, .t_mult = 2, .eta_min = 0.1}); },
        [](int step) {
          int start = 0, length = 4;
          while (step >= start + length) start += length, length *= 2;
          return 0.2 + 0.8 * (1 + std::cos(std::numbers::pi * (step - start) / length)) / 2;
        });
  check([](SGD& o) { return LambdaLR(o, [](int step) { return 1 / (1.0 + step); }); },
        [](int step) { return 1 / (1.0 + step); });
  check([](SGD& o) { return LambdaLR(o, [calls = 0](double) mutable { return ++calls; }); },
        [](int step) { return step + 1; });
}

BOOST_AUTO_TEST_CASE(a_plateau_and_the_rate_of_adam) {
  Weight weight;
  Adam adam(0.25);
  adam.setup(weight);
  ReduceLROnPlateau scheduler(adam, {.factor = 0.5, .patience = 1});
  scheduler.step(1);
  scheduler.step(1);
  BOOST_TEST(adam.get_hyper("alpha") == 0.25);
  scheduler.step(1);
  BOOST_TEST(adam.get_hyper("alpha") == 0.125);
}

BOOST_AUTO_TEST_CASE(lengths_must_be_positive) {
  WithRate r;
  BOOST_CHECK_THROW(StepLR(r.sgd, {.step_size = 0}), catena::ValueError);
  BOOST_CHECK_THROW(CosineAnnealingLR(r.sgd, {.t_max = -1}), catena::ValueError);
  BOOST_CHECK_THROW(MultiStepLR(r.sgd, {.milestones = {3, 2}}), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
