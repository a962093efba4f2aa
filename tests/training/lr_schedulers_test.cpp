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
  const auto cosine = [](int step) { return 0.2 + 0.8 * (1 + std::cos(std::numbers::pi * step / 25)) / 2; };
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

// Both names of an option count when they are assigned; if both are, PyTorch's does.
BOOST_AUTO_TEST_CASE(options_that_are_assigned) {
  const auto cosine = [](int step) { return (1 + std::cos(std::numbers::pi * step / 25)) / 2; };
  const auto restarts = [](int step) {
    const double start = step < 4 ? 0 : step < 12 ? 4 : step < 28 ? 12 : 28;
    const double length = step < 4 ? 4 : step < 12 ? 8 : step < 28 ? 16 : 32;
    return (1 + std::cos(std::numbers::pi * (step - start) / length)) / 2;
  };
  for (const bool newer : {false, true}) {
    CosineAnnealingLROptions c;
    CosineAnnealingWarmRestartsOptions r;
    c.t_max = newer ? 7 : 25;
    r.t_0 = newer ? 3 : 4, r.t_mult = newer ? 1 : 2;
    if (newer) c.T_max = 25, r.T_0 = 4, r.T_mult = 2;
    check([&](SGD& o) { return CosineAnnealingLR(o, c); }, cosine);
    check([&](SGD& o) { return CosineAnnealingWarmRestarts(o, r); }, restarts);
  }
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

// The formula of torch.optim.lr_scheduler.OneCycleLR, whose phases end with the steps pct_start total_steps - 1 and
// total_steps - 1.
BOOST_AUTO_TEST_CASE(one_cycle) {
  const auto wave = [](double from, double to, double part) {
    return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * part));
  };
  check([](SGD& o) { return OneCycleLR(o, {.max_lr = 2, .total_steps = 31}); },
        [&](int step) {
          const double top = 0.3 * 31 - 1;
          return 2 * (step < top ? wave(2.0 / 25, 2, step / top) : wave(2, 2e-4 / 25, (step - top) / (30 - top)));
        });
  check(
      [](SGD& o) {
        return OneCycleLR(o,
                          {.max_lr = 1, .total_steps = 31, .pct_start = 0.5, .div_factor = 4, .final_div_factor = 10});
      },
      [&](int step) {
        const double top = 0.5 * 31 - 1;
        return 2 * (step < top ? wave(0.25, 1, step / top) : wave(1, 0.025, (step - top) / (30 - top)));
      });
  Weight weight;
  Adam adam(weight);
  const OneCycleLR scheduler(adam, {.max_lr = 0.5, .total_steps = 10});
  BOOST_TEST(std::abs(adam.get_hyper("alpha") - 0.02) < 1e-15);
  BOOST_TEST(scheduler.get_last_lr() == std::vector<double>{scheduler.value()}, boost::test_tools::per_element());
  const std::string message = message_of<catena::ValueError>([&] { OneCycleLR(adam, {.total_steps = 10}); });
  BOOST_TEST(message.find("max_lr is 0") != message.npos);
  // Options that are refused leave the rate as it was.
  BOOST_CHECK_THROW(OneCycleLR(adam, {.max_lr = 3, .total_steps = 0}), catena::ValueError);
  BOOST_TEST(std::abs(adam.get_hyper("alpha") - 0.02) < 1e-15);
}

BOOST_AUTO_TEST_CASE(one_scheduler_after_the_other) {
  check(
      [](SGD& o) {
        LinearLR warm_up(o, {.start_factor = 0.1, .total_iters = 5});
        CosineAnnealingLR cosine(o, {.T_max = 20});
        return SequentialLR(o, {warm_up, cosine, StepLR(o, 2)}, {.milestones = {5, 25}});
      },
      [](int step) {
        if (step < 5) return 0.1 + 0.9 * step / 5;
        if (step < 25) return (1 + std::cos(std::numbers::pi * (step - 5) / 20)) / 2;
        return std::pow(0.1, (step - 25) / 2);
      });
  // A group with a rate of its own.
  WithRate r;
  const ParamGroup group = r.sgd.add_param_group({.match = "*", .lr = 0.25});
  LinearLR warm_up(r.sgd, {.start_factor = 0.1, .total_iters = 5});
  SequentialLR both(r.sgd, {warm_up, StepLR(r.sgd, 1, 0.5)}, {.milestones = {1}});
  BOOST_TEST(std::abs(group.get_hyper("lr") - 0.025) < 1e-15);
  both.step();
  BOOST_TEST(std::abs(group.get_hyper("lr") - 0.25) < 1e-15);
  both.step();
  BOOST_TEST(std::abs(group.get_hyper("lr") - 0.125) < 1e-15);

  WithRate other;
  BOOST_CHECK_THROW(SequentialLR(other.sgd, {warm_up}, {}), catena::ValueError);
  BOOST_CHECK_THROW(SequentialLR(r.sgd, {}, {}), catena::ValueError);
  BOOST_CHECK_THROW(SequentialLR(r.sgd, {warm_up, warm_up}, {}), catena::ValueError);
  BOOST_CHECK_THROW(SequentialLR(r.sgd, {warm_up, warm_up}, {.milestones = {0}}), catena::ValueError);
  const Scheduler of_decay(r.sgd, schedules::constant(), "weight_decay");
  BOOST_CHECK_THROW(SequentialLR(r.sgd, {warm_up, of_decay}, {.milestones = {1}}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(modes_of_a_plateau) {
  for (const char* mode : {"min", "max"}) {
    WithRate r;
    ReduceLROnPlateau scheduler(r.sgd, {.mode = mode, .factor = 0.5, .patience = 0});
    for (const double measure : {1.0, 2.0, 3.0}) scheduler.step(measure);
    BOOST_TEST(r.sgd.lr() == (std::string(mode) == "max" ? 0.5 : 0.125));
  }
  WithRate r;
  const std::string message = message_of<catena::ValueError>([&] { ReduceLROnPlateau(r.sgd, {.mode = "less"}); });
  BOOST_TEST(message.find("mode is \"less\"") != message.npos);
}

BOOST_AUTO_TEST_CASE(lengths_must_be_positive) {
  WithRate r;
  BOOST_CHECK_THROW(StepLR(r.sgd, {.step_size = 0}), catena::ValueError);
  BOOST_CHECK_THROW(CosineAnnealingLR(r.sgd, {.t_max = -1}), catena::ValueError);
  BOOST_CHECK_THROW(MultiStepLR(r.sgd, {.milestones = {3, 2}}), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
