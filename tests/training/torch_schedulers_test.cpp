// The schedulers of PyTorch with cycles and combinations: its rates and momenta, the options, and what is refused.
#include <catena/training/lr_schedulers.h>

#include <cmath>
#include <functional>
#include <map>

#include <catena/nn/links/batch_normalization.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/averaged_model.h>
#include <catena/training/optimizers.h>
#include <catena/training/parallel/data_loader.h>

using namespace test;
using namespace training;

namespace {

struct Weight : nn::Link {
  nn::Parameter w{floats({1, 2}, {2})};
  nn::Parameter v{floats({3}, {1})};
  NN_MEMBERS(w, v)
};

struct WithStatistics : nn::Chain {
  nn::BatchNormalization bn{1};
  NN_MEMBERS(bn)
  Variable operator()(const Variable& x) { return bn(x); }
};

using Make = std::function<catena::Shared<LRScheduler>(Optimizer&)>;
template <class S, class... A> catena::Shared<LRScheduler> made(A&&... a) {
  return catena::Shared<S>::make(std::forward<A>(a)...);
}
const std::map<std::string, Make>& makers() {
  static const std::map<std::string, Make> all = {
      {"cyclic", [](Optimizer& o) { return made<CyclicLR>(o, 0.1, 0.4, CyclicLROptions{.step_size_up = 5}); }},
      {"cyclic_2",
       [](Optimizer& o) {
         return made<CyclicLR>(
             o, CyclicLROptions{
                    .base_lr = 0.1, .max_lr = 0.4, .step_size_up = 3, .step_size_down = 7, .mode = "triangular2"});
       }},
      {"cyclic_exp",
       [](Optimizer& o) {
         return made<CyclicLR>(o, CyclicLROptions{.base_lr = 0.1,
                                                  .max_lr = 0.4,
                                                  .step_size_up = 5,
                                                  .mode = "exp_range",
                                                  .gamma = 0.95,
                                                  .cycle_momentum = true,
                                                  .base_momentum = 0.6,
                                                  .max_momentum = 0.95});
       }},
      {"cyclic_scale",
       [](Optimizer& o) {
         return made<CyclicLR>(o, CyclicLROptions{.base_lr = 0.1,
                                                  .max_lr = 0.4,
                                                  .step_size_up = 5,
                                                  .scale_fn = [](double x) { return 1 / x; },
                                                  .scale_mode = "cycle"});
       }},
      {"cyclic_constant",
       [](Optimizer& o) {
         return made<CyclicLR>(
             o, CyclicLROptions{.base_lr = 0.1, .max_lr = 0.4, .step_size_up = 5, .cycle_momentum = false});
       }},
      {"one_cycle",
       [](Optimizer& o) {
         return made<OneCycleLR>(o, OneCycleLROptions{.max_lr = 0.4, .epochs = 6, .steps_per_epoch = 8});
       }},
      {"one_cycle_phases",
       [](Optimizer& o) {
         return made<OneCycleLR>(o, 0.4,
                                 OneCycleLROptions{.total_steps = 41,
                                                   .pct_start = 0.25,
                                                   .anneal_strategy = "linear",
                                                   .base_momentum = 0.7,
                                                   .max_momentum = 0.9,
                                                   .div_factor = 10,
                                                   .final_div_factor = 50,
                                                   .three_phase = true});
       }},
      {"multiplicative",
       [](Optimizer& o) { return made<MultiplicativeLR>(o, [](int k) { return k % 2 != 0 ? 0.9 : 0.8; }); }},
      {"chained",
       [](Optimizer& o) {
         ConstantLR constant(o, {.factor = 0.1, .total_iters = 5});
         ExponentialLR falling(o, 0.9);
         return made<ChainedScheduler>(std::vector<Scheduler>{constant, falling}, o);
       }},
      {"cosine_waves",
       [](Optimizer& o) { return made<CosineAnnealingLR>(o, CosineAnnealingLROptions{.T_max = 12, .eta_min = 0.05}); }},
      {"swa", [](Optimizer& o) { return made<SWALR>(o, SWALROptions{.swa_lr = 0.05, .anneal_epochs = 8}); }},
      {"swa_linear",
       [](Optimizer& o) {
         return made<SWALR>(o, SWALROptions{.swa_lr = 0.05, .anneal_epochs = 8, .anneal_strategy = "linear"});
       }},
  };
  return all;
}
void check_near(double found, double expected, const std::string& what) {
  BOOST_TEST(std::abs(found - expected) <= 1e-12, what << ": " << found << ", not " << expected);
}
template <class F> void refused(F f) { BOOST_CHECK_THROW(f(), catena::ValueError); }

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_schedulers)

BOOST_AUTO_TEST_CASE(values_of_pytorch_with_cycles) {
  std::size_t checked = 0;
  const auto golden = Golden::open("torch_lr_schedulers");
  for (const Json& c : golden.cases()) {
    const std::string name = c["name"];
    const auto rates = c["values"].get<std::vector<double>>();
    Weight weight;
    SGD sgd(weight, {.lr = c["base"].get<double>(), .momentum = 0.5});
    const auto scheduler = makers().at(name)(sgd);
    for (std::size_t k = 0; k < rates.size(); ++k) {
      if (k > 0) scheduler->step();
      check_near(sgd.lr(), rates[k], name + " after " + std::to_string(k));
      check_near(scheduler->get_last_lr()[0], rates[k], name + ", last, after " + std::to_string(k));
      if (c.contains("momenta"))
        check_near(sgd.get_hyper("momentum"), c["momenta"][k].get<double>(), name + ", momentum " + std::to_string(k));
    }
    ++checked;
  }
  BOOST_TEST(checked == makers().size());
}

BOOST_AUTO_TEST_CASE(momentum_of_other_optimizers) {
  Weight weight;
  SGD plain(weight, 0.5);
  CyclicLR without(plain, 0.1, 0.4);  // there is no momentum to schedule
  without.step();
  Adam adam(weight, 0.5);
  OneCycleLR cycle(adam, {.max_lr = 0.5, .total_steps = 10});
  check_near(adam.get_hyper("beta1"), 0.95, "beta1");
  cycle.step(), cycle.step();
  check_near(adam.get_hyper("beta1"), 0.85, "beta1 at the top");
}

// A scheduler that loads a state, and one that is set to a step, have the momentum of one that was stepped there.
BOOST_AUTO_TEST_CASE(momentum_of_a_resumed_training) {
  for (const char* name : {"cyclic_exp", "one_cycle", "one_cycle_phases"}) {
    Weight weight, resumed_weight, set_weight;
    SGD sgd(weight, {.lr = 0.5, .momentum = 0.5}), resumed_sgd(resumed_weight, {.lr = 0.5, .momentum = 0.5}),
        set_sgd(set_weight, {.lr = 0.5, .momentum = 0.5});
    const auto scheduler = makers().at(name)(sgd), resumed = makers().at(name)(resumed_sgd),
               set = makers().at(name)(set_sgd);
    const double start = sgd.get_hyper("momentum");
    for (int i = 0; i < 3; ++i) scheduler->step();
    BOOST_TEST(sgd.get_hyper("momentum") < start - 0.01);
    resumed->load_state_dict(scheduler->state_dict());
    set->step(3.0);
    for (int i = 0; i < 2; ++i) {
      check_near(resumed_sgd.get_hyper("momentum"), sgd.get_hyper("momentum"), std::string(name) + ", loaded");
      check_near(set_sgd.get_hyper("momentum"), sgd.get_hyper("momentum"), std::string(name) + ", set");
      check_near(set_sgd.lr(), sgd.lr(), std::string(name) + ", rate");
      scheduler->step(), resumed->step(), set->step();
    }
  }
}

BOOST_AUTO_TEST_CASE(a_missing_momentum_changes_nothing) {
  Weight weight;
  SGD plain(weight, 0.5);
  refused([&] { CyclicLR(plain, {.base_lr = 0.1, .max_lr = 0.4, .cycle_momentum = true}); });
  BOOST_TEST(plain.lr() == 0.5);
  refused([&] { OneCycleLR(plain, {.max_lr = 0.4, .total_steps = 10, .cycle_momentum = true}); });
  BOOST_TEST(plain.lr() == 0.5);
}

BOOST_AUTO_TEST_CASE(rates_of_groups_and_fractions) {
  Weight weight;
  SGD sgd({{.params = {weight.w}}, {.params = {weight.v}, .lr = 0.1}}, {.lr = 1});
  CosineAnnealingWarmRestarts scheduler(sgd, 4);
  scheduler.step(2.0);
  const std::vector<double> rates = scheduler.get_last_lr();
  BOOST_TEST(rates.size() == 2u);
  check_near(rates[0], 0.5, "first");
  check_near(rates[1], 0.05, "second");
  scheduler.step(1.5);
  BOOST_TEST(scheduler.last_epoch() == 1);
  check_near(sgd.lr(), (1 + std::cos(3.14159265358979323846 * 1.5 / 4)) / 2, "a fraction");
  refused([&] { scheduler.step(-1.0); });
  LambdaLR named(sgd, {.lr_lambda = [](int step) { return step == 0 ? 1.0 : 0.25; }});
  const double before = sgd.lr();
  named.step();
  check_near(sgd.lr(), before / 4, "lr_lambda");
  refused([&] { MultiplicativeLR(sgd, MultiplicativeLR::Options{}); });
}

BOOST_AUTO_TEST_CASE(options_that_are_refused) {
  Weight weight, another;
  SGD sgd(weight, 0.5), other(another, 0.5);
  refused([&] { CyclicLR(sgd, {.max_lr = 1, .step_size_up = 0}); });
  refused([&] { CyclicLR(sgd, {.max_lr = 1, .mode = "square"}); });
  refused([&] { CyclicLR(sgd, {.max_lr = 1, .scale_mode = "epoch"}); });
  refused([&] { OneCycleLR(sgd, {.max_lr = 1, .total_steps = 10, .anneal_strategy = "cubic"}); });
  refused([&] { OneCycleLR(sgd, {.max_lr = 1, .total_steps = 10, .pct_start = 1}); });
  refused([&] { OneCycleLR(sgd, {.max_lr = 1, .epochs = 0.5, .steps_per_epoch = 1}); });
  refused([&] { SWALR(sgd, {.swa_lr = 0.1, .anneal_strategy = "cubic"}); });
  refused([&] { ChainedScheduler(std::vector<Scheduler>{}); });
  refused([&] { ChainedScheduler({StepLR(sgd, 2), StepLR(other, 2)}); });
  refused([&] { ChainedScheduler({StepLR(sgd, 2)}, other); });
  refused([&] { ReduceLROnPlateau(sgd, {.threshold_mode = "relative"}); });
}

BOOST_AUTO_TEST_CASE(small_reductions_of_a_plateau_are_left_out) {
  Weight weight;
  SGD sgd(weight, 0.5);
  ReduceLROnPlateau plateau(sgd, {.factor = 0.9, .patience = 0, .threshold = 0.5, .threshold_mode = "abs", .eps = 0.1});
  plateau.step(1);
  plateau.step(0.9);  // no improvement by 0.5, but 0.05 is less than eps
  BOOST_TEST(sgd.lr() == 0.5);
}

// The running mean becomes the mean over all batches, whatever it was.
BOOST_AUTO_TEST_CASE(statistics_of_batches) {
  WithStatistics net;
  AveragedModel average(net);
  average.module.bn.decay = 0.75;
  DataLoader loader(TensorDataset(floats({1, 3, 5, 7}, {4, 1})), {.batch_size = 2});
  update_bn(loader, average);
  BOOST_TEST(autograd::to_vector<double>(average.module.bn.avg_mean.array())[0] == 4,
             boost::test_tools::tolerance(1e-6));
  BOOST_TEST(average.module.bn.decay == 0.75);
  BOOST_TEST(average.module.training());
}

BOOST_AUTO_TEST_CASE(statistics_of_batches_of_an_evaluating_model) {
  DataLoader loader(TensorDataset(floats({1, 3, 5, 7}, {4, 1})), {.batch_size = 2});
  for (const bool whole : {true, false}) {
    WithStatistics net;
    if (whole) net.eval();
    else net.bn.eval();
    update_bn(loader, net);
    BOOST_TEST(autograd::to_vector<double>(net.bn.avg_mean.array())[0] == 4, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(net.training() == !whole);
    BOOST_TEST(!net.bn.training());
  }
}

BOOST_AUTO_TEST_SUITE_END()
