// PyTorch's forms of optimizers, schedulers, data sets and averaged models: values against formulas, and the errors.
#include <catena/training/averaged_model.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <tuple>

#include <catena/autograd/array.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/dataset.h>
#include <catena/training/lbfgs.h>
#include <catena/training/lr_schedulers.h>
#include <catena/training/optimizers.h>
#include <catena/training/parallel/data_loader.h>

using namespace test;
using namespace training;

namespace {

const auto each = boost::test_tools::per_element();

struct Pair : nn::Link {
  nn::Parameter a{floats({1, 2}, {2})}, b{floats({3}, {1})};
  NN_MEMBERS(a, b)
  void give_grads(float g = 1) {
    a.set_grad(autograd::full_like(a.data(), g));
    b.set_grad(autograd::full_like(b.data(), g));
  }
};

struct Squares {
  std::size_t size() const { return 3; }
  std::tuple<float, int> operator[](std::size_t i) const { return {float(i * i), int(i)}; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_spellings)

BOOST_AUTO_TEST_CASE(a_rate_is_a_member) {
  Pair model;
  SGD sgd(model, 0.5);
  sgd.lr *= 0.5;
  BOOST_TEST(sgd.get_hyper("lr") == 0.25);
  const auto before = sgd.lr;  // a number
  sgd.lr = 1;
  BOOST_TEST(double(before) == 0.25);
  BOOST_TEST(before() == 0.25);
  sgd["weight_decay"] = 0.125;
  BOOST_TEST(sgd.get_hyper("weight_decay") == 0.125);
  BOOST_CHECK_THROW(sgd["nothing"] = 1, catena::KeyError);
  Adam adam(model, {.alpha = 0.5});
  adam.lr /= 2;  // alpha; lr() follows from it and the number of updates
  BOOST_TEST(adam.get_hyper("alpha") == 0.25);
  adam.alpha += 0.25;
  BOOST_TEST(double(adam.lr) == 0.5);
  model.give_grads();
  adam.update();
  BOOST_TEST(adam.lr() == 0.5 * std::sqrt(1 - 0.999) / (1 - 0.9), boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(groups_of_an_optimizer_without_groups) {
  Pair model;
  SGD sgd(model, 1);
  for (ParamGroup& group : sgd.param_groups()) group.lr = 0.5;
  BOOST_TEST(sgd.get_hyper("lr") == 0.5);
  ParamGroup whole = sgd.param_groups()[0];
  BOOST_TEST(whole.params().size() == 2u);
  BOOST_TEST(!whole.has_hyper("lr"));
  whole.add_hook([](Optimizer& o) { o.target().zerograds(); }, "zeros");
  model.give_grads();
  sgd.update();
  BOOST_TEST(values(model.a.data()) == (std::vector<double>{1, 2}), each);
  whole.remove_hook("zeros");
  Pair other;
  sgd.setup(other);
  BOOST_CHECK_THROW(whole.set_hyper("lr", 1), catena::RuntimeError);

  AdamW grouped({{.params = {model.a}, .weight_decay = 0.25}, {.params = {model.b}, .lr = 0.125}}, {.lr = 0.5});
  BOOST_TEST(grouped.param_groups().size() == 2u);
  BOOST_TEST(grouped.param_groups()[0].get_hyper("weight_decay_rate") == 0.25);
  ParamGroup second = grouped.param_groups()[1];
  ParamGroup copied = second;
  copied.lr *= 2;
  BOOST_TEST(second.lr() == 0.25);
  BOOST_TEST(second["weight_decay"]() == 0.01);
  BOOST_TEST(grouped.update_rule("/1").lr() == 0.25);
}

// The greatest second moment, from the formulas of Adam: g = 2, then 0.25, for a scalar.
BOOST_AUTO_TEST_CASE(amsgrad) {
  const double lr = 0.1, b1 = 0.5, b2 = 0.75, eps = 1e-8;
  Pair model;
  Adam adam(model, {.lr = lr, .betas = {b1, b2}, .eps = eps, .amsgrad = true});
  double p = 3, m = 0, v = 0, top = 0;
  for (int t = 1; t <= 3; ++t) {
    const double g = t == 1 ? 2 : 0.25;
    model.give_grads(float(g));
    adam.step();
    m = b1 * m + (1 - b1) * g;
    v = b2 * v + (1 - b2) * g * g;
    top = std::max(top, v);
    p -= lr * (m / (1 - std::pow(b1, t))) / (std::sqrt(top / (1 - std::pow(b2, t))) + eps);
    BOOST_TEST(values(model.b.data())[0] == p, boost::test_tools::tolerance(1e-5));
  }
}

BOOST_AUTO_TEST_CASE(text_and_options) {
  std::ostringstream text;
  text << SGD(0.5, 0.25);
  BOOST_TEST(text.str() == "SGD(lr=0.5, momentum=0.25, weight_decay=0)");
  BOOST_CHECK_THROW(LBFGS({.line_search_fn = "armijo"}), catena::ValueError);
  BOOST_TEST(Lion({.lr = 0.5, .betas = {0.25, 0.5}, .weight_decay = 0.125}).get_hyper("weight_decay_rate") == 0.125);
}

BOOST_AUTO_TEST_CASE(schedulers) {
  Pair model;
  SGD sgd(model, 1);
  lr_scheduler::ConstantLR constant(sgd, {.factor = 0.5, .total_iters = 2});
  std::vector<double> rates;
  for (int i = 0; i < 3; ++i, constant.step()) rates.push_back(sgd.lr());
  BOOST_TEST(rates == (std::vector<double>{0.5, 0.5, 1}), each);
  ReduceLROnPlateau plateau(sgd, "max", {.factor = 0.5, .patience = 0, .min_lr = 0.4});
  for (double measure : {1.0, 2.0, 1.0, 1.0}) plateau.step(measure);
  BOOST_TEST(sgd.lr() == 0.4);
  BOOST_CHECK_THROW(ReduceLROnPlateau(sgd, "least"), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(groups_that_outlive_their_optimizer) {
  Pair model;
  std::vector<ParamGroup> groups;
  {
    SGD sgd(model, 0.5);
    groups = sgd.param_groups();
    BOOST_TEST(groups[0].get_hyper("lr") == 0.5);
  }
  BOOST_CHECK_THROW(groups[0].get_hyper("lr"), catena::RuntimeError);
}

BOOST_AUTO_TEST_CASE(a_class_is_a_data_set) {
  DataLoader loader(Squares(), {.batch_size = 2, .collate_fn = [](const Examples& e) {
                                  Example batch = concat_examples(e);
                                  batch.values[0] = batch.values[0] + 1;
                                  return batch;
                                }});
  std::vector<double> seen;
  for (const Example& batch : loader)
    for (double v : values(batch.values[0])) seen.push_back(v);
  BOOST_TEST(seen == (std::vector<double>{1, 2, 5}), each);
  // Also for a data set that stacks batches itself.
  std::vector<double> counts;
  const auto count = [&](const Examples& e) {
    counts.push_back(double(e.size()));
    return concat_examples(e);
  };
  DataLoader arrays(TupleDataset(floats({1, 2, 3}, {3}), floats({4, 5, 6}, {3})),
                    {.batch_size = 2, .collate_fn = count});
  for (const Example& batch : arrays) BOOST_TEST(batch.values.size() == 2u);
  BOOST_TEST(counts == (std::vector<double>{2, 1}), each);
  const auto [two, one] = random_split(Squares(), {2, 1});
  BOOST_TEST(two.size() == 2);
  BOOST_TEST(one[0].values.size() == 2u);
}

BOOST_AUTO_TEST_CASE(averaged_model) {
  Pair model, another;
  AveragedModel<Pair> average(model, {.decay = 0.75});
  average.update_parameters(model);
  autograd::assign(model.b.data(), floats({7}, {1}));
  average.update_parameters(model);
  BOOST_TEST(values(average.module.b.data())[0] == 0.75 * 3 + 0.25 * 7);
  BOOST_TEST(average.n_averaged() == 2);
  BOOST_CHECK_THROW(average.update_parameters(another), catena::ValueError);
  AveragedModel named(model, {.multi_avg_fn = get_ema_multi_avg_fn(0.25)});
  named.update_parameters(model);
  autograd::assign(model.b.data(), floats({3}, {1}));
  named.update_parameters(model);
  BOOST_TEST(values(named.module.b.data())[0] == 0.25 * 7 + 0.75 * 3);
}

BOOST_AUTO_TEST_CASE(averaged_model_by_a_function) {
  Pair model;
  std::vector<std::int64_t> numbers;
  AveragedModel average(model, {.avg_fn = [&](const Variable& averaged, const Variable& p, std::int64_t n) {
                          numbers.push_back(n);
                          return averaged * 0.75 + p * 0.25;
                        }});
  const double first = values(model.b.data())[0];
  average.update_parameters(model);
  BOOST_TEST(values(average.module.b.data())[0] == first);
  BOOST_TEST(numbers.empty());
  autograd::assign(model.b.data(), floats({7}, {1}));
  average.update_parameters(model);
  BOOST_TEST(values(average.module.b.data())[0] == 0.75 * first + 0.25 * 7);
  BOOST_TEST(values(model.b.data())[0] == 7);
  average.update_parameters(model);
  BOOST_TEST(average.n_averaged() == 3);
  BOOST_TEST(std::set<std::int64_t>(numbers.begin(), numbers.end()) == (std::set<std::int64_t>{1, 2}), each);
  BOOST_TEST(!average.module.b.creator());
  AveragedModel wrong(model, {.avg_fn = [](const Variable&, const Variable&, std::int64_t) {
                        return Variable(floats({1, 2, 3, 4, 5}, {5}));
                      }});
  wrong.update_parameters(model);
  BOOST_CHECK_THROW(wrong.update_parameters(model), catena::ValueError);
  // An error of the second parameter leaves the first one as it was.
  int calls = 0;
  AveragedModel half(model, {.avg_fn = [&](const Variable& averaged, const Variable&, std::int64_t) {
                       return ++calls == 1 ? averaged + 1 : Variable(floats({1, 2, 3, 4, 5}, {5}));
                     }});
  half.update_parameters(model);
  BOOST_CHECK_THROW(half.update_parameters(model), catena::ValueError);
  BOOST_TEST(calls == 2);
  BOOST_TEST(values(half.module.a.data()) == values(model.a.data()), each);
  BOOST_TEST(values(half.module.b.data()) == values(model.b.data()), each);
}

// The statistics of a batch normalization: averages with use_buffers, otherwise those of the model.
BOOST_AUTO_TEST_CASE(buffers_of_averaged_models) {
  struct Normed : nn::Chain {
    nn::BatchNormalization bn{1};
    NN_MEMBERS(bn)
  } model;
  const auto set = [&](double mean, std::int64_t n) {
    autograd::assign(model.bn.avg_mean.array(), mean);
    model.bn.N = n;
  };
  const auto mean_of = [](const Normed& m) { return values(m.bn.avg_mean.array())[0]; };
  const auto half = [](const Variable& a, const Variable& p, std::int64_t) { return a * 0.5 + p * 0.5; };
  AveragedModel plain(model), equal(model, {.use_buffers = true});
  AveragedModel ema(model, {.multi_avg_fn = get_ema_multi_avg_fn(0.75), .use_buffers = true});
  AveragedModel own(model, {.avg_fn = half, .use_buffers = true}), copied(model, {.avg_fn = half});
  std::int64_t n = 0;
  for (const double mean : {2.0, 6.0, 10.0}) {
    set(mean, ++n);
    for (auto* m : {&plain, &equal, &ema, &own, &copied}) m->update_parameters(model);
  }
  BOOST_TEST(mean_of(plain.module) == 10);
  BOOST_TEST(std::abs(mean_of(equal.module) - 6) < 1e-6);  // the mean of the three
  BOOST_TEST(std::abs(mean_of(ema.module) - (0.75 * (0.75 * 2 + 0.25 * 6) + 2.5)) < 1e-6);
  BOOST_TEST(mean_of(own.module) == 7);
  BOOST_TEST(mean_of(copied.module) == 10);
  for (const auto* m : {&plain, &equal, &ema, &own, &copied}) BOOST_TEST(m->module.bn.N == 3);
  BOOST_TEST(mean_of(model) == 10);
  // An error for a persistent leaves the parameters as they were.
  AveragedModel failing(model, {.avg_fn = [](const Variable& a, const Variable&, std::int64_t) -> Variable {
                                  if (autograd::sum(a).item<double>() == 10) throw std::runtime_error("no average");
                                  return a + 1;
                                },
                                .use_buffers = true});
  autograd::assign(model.bn.gamma.data(), 2);
  failing.update_parameters(model);
  model.bn.N = 9;
  BOOST_CHECK_THROW(failing.update_parameters(model), std::runtime_error);
  BOOST_TEST(values(failing.module.bn.gamma.data())[0] == 2);
  BOOST_TEST(failing.module.bn.N == 3);
  BOOST_TEST(failing.n_averaged() == 1);
}

// A model that gets more parameters or persistents than its averages have.
BOOST_AUTO_TEST_CASE(averages_of_a_model_that_grows) {
  struct Normed : nn::Chain {
    nn::ChainList layers;
    NN_MEMBERS(layers)
  } model;
  AveragedModel plain(model), own(model, {.avg_fn = [](const Variable&a, const Variable&, std::int64_t) { return a; }});
  model.layers.add_link(nn::BatchNormalization(1));
  BOOST_CHECK_THROW(plain.update_parameters(model), catena::ValueError);
  BOOST_CHECK_THROW(own.update_parameters(model), catena::ValueError);
  BOOST_TEST(plain.n_averaged() == 0);
}

BOOST_AUTO_TEST_CASE(variables_and_implementations_of_optimizers) {
  Variable w(floats({1, 2}, {2})), b(floats({3}, {1}));
  SGD sgd({w, b}, {.lr = 0.5, .foreach = true, .fused = false});
  Adam adam({w}, {.lr = 0.5, .betas = {0.5, 0.9}, .foreach = false, .fused = true});
  AdamW adamw({w}, {.lr = 0.5, .weight_decay = 0.25, .fused = true});
  const LBFGS lbfgs({w, b}, {.lr = 0.25});
  BOOST_TEST(lbfgs.get_hyper("lr") == 0.25);
  BOOST_TEST(adamw.get_hyper("weight_decay_rate") == 0.25);
  BOOST_TEST(adam.get_hyper("beta1") == 0.5);
  autograd::sum(w * w).backward();
  autograd::sum(b * 4).backward();
  sgd.step();
  BOOST_TEST(values(w.data()) == (std::vector<double>{0, 0}), each);
  BOOST_TEST(values(b.data()) == (std::vector<double>{1}), each);
  SGD groups({{.params = {w}, .weight_decay = 0.5}, {.params = {b}, .momentum = 0.25}}, {.lr = 0.1, .momentum = 0.9});
  auto all = groups.param_groups();
  BOOST_TEST(all[0].weight_decay == 0.5);
  BOOST_TEST(all[0].momentum == 0.9);
  BOOST_TEST(all[1].momentum == 0.25);
  all[1].weight_decay = 0.125;
  BOOST_TEST(groups.param_groups()[1]["weight_decay"] == 0.125);
  const ParamGroup copy = all[0];
  BOOST_TEST(copy.weight_decay == 0.5);
}

// Factors of get_linear_schedule_with_warmup and the others in Transformers, by hand.
BOOST_AUTO_TEST_CASE(schedules_of_transformers) {
  const auto rates = [](const auto& make, int n) {
    Pair model;
    SGD sgd(model, {.lr = 1});
    LambdaLR scheduler = make(sgd);
    std::vector<double> all;
    for (int k = 0; k < n; ++k) {
      all.push_back(sgd.lr.value());
      scheduler.step();
    }
    return all;
  };
  const auto near = [](const std::vector<double>& found, const std::vector<double>& expected) {
    BOOST_REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) BOOST_TEST(std::abs(found[i] - expected[i]) < 1e-12);
  };
  near(rates([](SGD& o) { return get_linear_schedule_with_warmup(o, 2, 6); }, 8), {0, 0.5, 1, 0.75, 0.5, 0.25, 0, 0});
  near(rates([](SGD& o) { return get_linear_schedule_with_warmup(o, 4, 4); }, 6), {0, 0.25, 0.5, 0.75, 0, 0});
  near(rates([](SGD& o) { return get_constant_schedule_with_warmup(o, 4); }, 6), {0, 0.25, 0.5, 0.75, 1, 1});
  const double r = std::sqrt(0.5);
  near(rates([](SGD& o) { return get_cosine_schedule_with_warmup(o, 1, 5); }, 6),
       {0, 1, (1 + r) / 2, 0.5, (1 - r) / 2, 0});
  near(rates([](SGD& o) { return get_cosine_schedule_with_warmup(o, 0, 4, 1.0); }, 5), {1, 0.5, 0, 0.5, 1});
  near(rates(
           [](SGD& o) {
             return get_linear_schedule_with_warmup(o,
                                                    {.num_warmup_steps = 2, .num_training_steps = 6, .last_epoch = 2});
           },
           2),
       {0.75, 0.5});
}

// A scheduler that continues has the rates of one that has made the steps.
BOOST_AUTO_TEST_CASE(schedulers_that_continue) {
  Pair model;
  const auto compare = [&](auto make) {
    SGD one(model, 1.0), two(model, 1.0);
    auto begun = make(one, -1);
    auto continued = make(two, 3);
    for (int i = 0; i < 4; ++i) begun.step();
    BOOST_TEST(continued.last_epoch() == 4);
    for (int i = 0; i < 3; ++i) {
      BOOST_TEST(one.lr() == two.lr());
      begun.step();
      continued.step();
    }
    BOOST_TEST(one.lr() == two.lr());
    BOOST_TEST(two.lr() != 1);
  };
  compare([](Optimizer& o, int last) { return StepLR(o, {.step_size = 2, .gamma = 0.5, .last_epoch = last}); });
  compare([](Optimizer& o, int last) { return MultiStepLR(o, {.milestones = {2, 5}, .last_epoch = last}); });
  compare([](Optimizer& o, int last) { return ExponentialLR(o, {.gamma = 0.5, .last_epoch = last}); });
  compare([](Optimizer& o, int last) { return LinearLR(o, {.total_iters = 20, .last_epoch = last}); });
  compare([](Optimizer& o, int last) { return PolynomialLR(o, {.total_iters = 20, .last_epoch = last}); });
  compare([](Optimizer& o, int last) { return CosineAnnealingLR(o, {.T_max = 20, .last_epoch = last}); });
  compare([](Optimizer& o, int last) { return CosineAnnealingWarmRestarts(o, {.T_0 = 5, .last_epoch = last}); });
  compare([](Optimizer& o, int last) {
    return LambdaLR(o, {.lr_lambda = [](int step) { return 1.0 / (1 + step); }, .last_epoch = last});
  });
  compare([](Optimizer& o, int last) {
    return MultiplicativeLR(o, {.lr_lambda = [](int) { return 0.5; }, .last_epoch = last});
  });
  compare([](Optimizer& o, int last) { return ConstantLR(o, {.factor = 0.5, .total_iters = 20, .last_epoch = last}); });
  compare([](Optimizer& o, int last) { return OneCycleLR(o, {.max_lr = 2, .total_steps = 20, .last_epoch = last}); });
  compare([](Optimizer& o, int last) {
    return CyclicLR(o, {.base_lr = 0.1, .max_lr = 0.4, .step_size_up = 5, .last_epoch = last});
  });
  const auto momentum_after = [&](int steps, int last) {
    SGD sgd(model, {.lr = 1, .momentum = 0.9});
    OneCycleLR cycle(sgd, {.max_lr = 2, .total_steps = 20, .last_epoch = last});
    for (int i = 0; i < steps; ++i) cycle.step();
    return sgd.momentum.value();
  };
  BOOST_TEST(momentum_after(5, -1) == momentum_after(1, 3));
  BOOST_TEST(momentum_after(5, -1) != momentum_after(1, -1));
  SGD half(model, 1.0);
  ConstantLR by_position(half, 0.5, 2);
  BOOST_TEST(half.lr() == 0.5);
  SGD sgd(model, 1.0);
  BOOST_CHECK_THROW(ExponentialLR(sgd, {.gamma = 0.5, .last_epoch = -2}), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
