// Averages of weights against sums in float64, their scope, snapshots; gradients of several batches in one update.
#include <catena/training/weight_average.h>

#include <cmath>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/regression.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>
#include <catena/training/optimizers.h>
#include <catena/training/updater.h>

using namespace test;
using namespace training;
using Doubles = std::vector<double>;

namespace {

// Parameters of two dtypes, one of unknown shape and one that is frozen.
struct Model : nn::Link {
  nn::Parameter w{floats({1, 2, 3}, {3})}, wide{autograd::astype(floats({4}, {1}), Dtype::float64)}, late;
  nn::Parameter frozen{floats({5}, {})};
  NN_MEMBERS(w, wide, late, frozen)
  Model() { frozen.set_requires_grad(false); }
  // Weights of step n: all are their first values plus a step that depends on n.
  void move(int n) {
    const double by = std::sin(double(n));
    autograd::assign(w.data(), floats({float(1 + by), float(2 - by), float(3 + 2 * by)}, {3}));
    autograd::assign(wide.data(), floats({float(4 * by)}, {1}));
  }
};

Doubles steps_of_w(int n) {
  const double by = std::sin(double(n));
  return {1 + by, 2 - by, 3 + 2 * by};
}

// The averages after `count` updates by the rule, in float64.
template <class Part> Doubles expected(int count, const Part& part) {
  Doubles average = steps_of_w(1);
  for (int n = 1; n < count; ++n) {
    const Doubles now = steps_of_w(n + 1);
    for (std::size_t i = 0; i < 3; ++i) average[i] += part(n) * (now[i] - average[i]);
  }
  return average;
}
void check_near(const Array& actual, const Doubles& wanted) {
  const Doubles a = values(actual);
  BOOST_REQUIRE(a.size() == wanted.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    BOOST_TEST(std::fabs(a[i] - wanted[i]) < 1e-5, a[i] << ", not " << wanted[i]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(weight_average)

BOOST_AUTO_TEST_CASE(averages_of_all_rules) {
  struct Rule {
    WeightAverageOptions options;
    double (*part)(int n);
  };
  const Rule rules[] = {
      {{.decay = 0.75}, [](int) { return 0.25; }},
      {{.decay = 0.75, .warm_up = true}, [](int n) { return 1 - std::min(0.75, (1.0 + n) / (10 + n)); }},
      {{.equal = true}, [](int n) { return 1.0 / (n + 1); }},
  };
  for (const Rule& rule : rules) {
    Model model;
    WeightAverage average(model, rule.options);
    for (int n = 1; n <= 20; ++n) {
      model.move(n);
      average.update();
    }
    BOOST_TEST(average.n() == 20);
    check_near(average.average("/w"), expected(20, rule.part));
    BOOST_TEST((average.average("/wide").dtype() == Dtype::float64));
    check_near(average.average("/frozen"), {5});
    check_near(model.w.data(), steps_of_w(20));
  }
}

BOOST_AUTO_TEST_CASE(the_scope_exchanges_and_restores) {
  Model model;
  WeightAverage average(model, {.decay = 0.5});
  BOOST_TEST(message_of<catena::RuntimeError>([&] { const auto scope = average.swap_in(); }) ==
             "WeightAverage.swap_in: there is no average before the first update");
  for (int n = 1; n <= 3; ++n) {
    model.move(n);
    average.update();
  }
  const Array weights = model.w.data(), averages = average.average("/w");
  {
    const auto scope = average.swap_in();
    BOOST_TEST(same_bits(model.w.data(), averages));
    check_near(model.w.data(), expected(3, [](int) { return 0.5; }));
    BOOST_TEST(same_bits(average.average("/w"), averages));
    Model other;
    average.copy_to(other);
    BOOST_TEST(same_bits(other.w.data(), averages));
    BOOST_TEST(message_of<catena::RuntimeError>([&] { average.update(); }) ==
               "WeightAverage.update: the model has the averages now; end the scope first");
    BOOST_TEST(message_of<catena::RuntimeError>([&] { const auto inner = average.swap_in(); }) ==
               "WeightAverage.swap_in: the model has the averages already");
  }
  BOOST_TEST(same_bits(model.w.data(), weights));
  BOOST_TEST(same_bits(average.average("/w"), averages));
  BOOST_TEST(message_of<catena::KeyError>([&] { average.average("/late"); }) ==
             "WeightAverage.average: there is no average of a parameter /late");
  BOOST_TEST(message_of<catena::ValueError>([&] { WeightAverage(model, {.decay = 1.5}); }) ==
             "WeightAverage: decay is 1.5 and must be between 0 and 1");
}

// A parameter that gets its shape later joins with the value that it has then.
BOOST_AUTO_TEST_CASE(parameters_that_come_later) {
  Model model;
  WeightAverage average(model, {.decay = 0.5});
  average.update();
  model.late.set_data(floats({8}, {1}));
  average.update();
  check_near(average.average("/late"), {8});
  autograd::assign(model.late.data(), floats({10}, {1}));
  average.update();
  check_near(average.average("/late"), {9});
  model.w = nn::Parameter(floats({1, 2}, {2}));
  BOOST_TEST(has(message_of<catena::ValueError>([&] { average.update(); }), "the parameter /w became an array of"));
}

BOOST_AUTO_TEST_CASE(snapshots_continue) {
  const TemporaryFolder folder("average");
  Model first, second;
  WeightAverage a(first, {.decay = 0.9, .warm_up = true}), b(second, {.decay = 0.9, .warm_up = true});
  for (int n = 1; n <= 3; ++n) {
    first.move(n);
    a.update();
  }
  nn::serializers::save_npz(folder / "a.npz", a);
  second.move(3);
  nn::serializers::load_npz(folder / "a.npz", b);
  BOOST_TEST(b.n() == 3);
  for (int n = 4; n <= 6; ++n) {
    first.move(n);
    second.move(n);
    a.update();
    b.update();
  }
  BOOST_TEST(same_bits(a.average("/w"), b.average("/w")));
}

// A snapshot of model and average that is taken while the model has the averages is that of the training.
BOOST_AUTO_TEST_CASE(a_snapshot_in_the_scope_has_the_weights) {
  const TemporaryFolder folder("average");
  struct Both {
    Model& model;
    WeightAverage& average;
    void serialize(nn::Serializer& s) {
      model.serialize(*s["model"]);
      average.serialize(*s["average"]);
    }
  };
  Model first, second;
  first.late.set_data(floats({8}, {1}));
  second.late.set_data(floats({0}, {1}));
  WeightAverage a(first, {.decay = 0.5}), b(second, {.decay = 0.5});
  for (int n = 1; n <= 3; ++n) {
    first.move(n);
    a.update();
  }
  Both saved{first, a}, loaded{second, b};
  {
    const auto scope = a.swap_in();
    nn::serializers::save_npz(folder / "inside", saved);
    nn::serializers::save_npz(folder / "model", first);  // by itself, it is the model with the averages
    BOOST_TEST(message_of<catena::RuntimeError>([&] { nn::serializers::load_npz(folder / "inside", saved); }) ==
               "WeightAverage.serialize: the model has the averages now; end the scope before a load");
  }
  nn::serializers::save_npz(folder / "outside", saved);
  for (const char* file : {"inside", "outside"}) {
    second.move(7);
    nn::serializers::load_npz(folder / file, loaded);
    BOOST_TEST(same_bits(second.w.data(), first.w.data()), file);
    BOOST_TEST(same_bits(second.wide.data(), first.wide.data()), file);
    BOOST_TEST(same_bits(b.average("/w"), a.average("/w")), file);
    BOOST_TEST(b.n() == 3);
  }
  nn::serializers::load_npz(folder / "model", second);
  BOOST_TEST(same_bits(second.w.data(), a.average("/w")));
}

BOOST_AUTO_TEST_CASE(as_an_extension) {
  const TemporaryFolder folder("average");
  Regression model;
  SGD sgd(0.1);
  sgd.setup(model);
  Trainer trainer(StandardUpdater(SerialIterator(regression_data(), 2), sgd), {5, iteration}, folder.path.string());
  auto& average = trainer.extend(WeightAverage(model, {.equal = true}));
  Doubles sums(3, 0.0);
  trainer.extend([&](Trainer&) {
    const Doubles w = values(model.l.W.data());
    for (std::size_t i = 0; i < 3; ++i) sums[i] += w[i] / 5;
  });
  trainer.run();
  BOOST_TEST(average.n() == 5);
  check_near(average.average("/l/W"), sums);
}

// Two batches of two examples are one of four: the loss is a mean.
BOOST_AUTO_TEST_CASE(accumulated_gradients_are_those_of_the_whole_batch) {
  const auto trained = [](std::int64_t batch, std::int64_t accumulate) {
    Regression model;
    autograd::fill(model.l.W.data(), 0.5);
    MomentumSGD sgd(0.05);
    sgd.setup(model);
    StandardUpdater updater(SerialIterator(regression_data(), batch, {.shuffle = false}), sgd,
                            {.accumulate = accumulate});
    for (int i = 0; i < 6; ++i) updater.update();
    BOOST_TEST(updater.iteration() == 6);
    BOOST_TEST(updater.epoch() == 6);
    BOOST_TEST(sgd.t() == 6);
    return values(model.l.W.data());
  };
  const Doubles whole = trained(4, 1);
  for (const std::int64_t batch : {2, 1}) {
    const Doubles parts = trained(batch, 4 / batch);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(std::fabs(parts[i] - whole[i]) < 1e-6);
  }
  Regression model;
  SGD sgd;
  sgd.setup(model);
  BOOST_TEST(has(message_of<catena::ValueError>(
                     [&] { StandardUpdater(SerialIterator(regression_data(), 2), sgd, {.accumulate = 0}); }),
                 "accumulate is 0 and must be at least 1"));
  BOOST_TEST(has(message_of<catena::ValueError>([&] {
                   StandardUpdater(SerialIterator(regression_data(), 2), sgd, {.capture = true, .accumulate = 2});
                 }),
                 "accumulate and capture exclude each other"));
}

// The averages are copied to models with the same paths, whatever their dtype; a model that lacks one is unchanged.
BOOST_AUTO_TEST_CASE(averages_are_copied_to_models) {
  Model model, other;
  EMA average(model, 0.5);
  average.update();
  model.move(1);
  average.update();
  autograd::assign(other.w.data(), 9.0);
  average.copy_to(other);
  const Doubles w = steps_of_w(1);
  for (std::size_t i = 0; i < 3; ++i)
    BOOST_TEST(std::abs(autograd::to_vector<double>(other.w.data())[i] - (Doubles{1, 2, 3}[i] + w[i]) / 2) < 1e-6);
  BOOST_TEST(autograd::to_vector<double>(model.w.data())[0] == float(w[0]));
  average.copy_to(model);
  BOOST_TEST(std::abs(autograd::to_vector<double>(model.w.data())[0] - (1 + w[0]) / 2) < 1e-6);

  struct Other : nn::Link {
    nn::Parameter w{floats({1, 2, 3}, {3})}, wide{floats({4, 5}, {2})}, frozen{floats({5}, {})};
    NN_MEMBERS(w, wide, frozen)
  } shorter;
  BOOST_CHECK_THROW(average.copy_to(shorter), catena::ValueError);
  BOOST_TEST(autograd::to_vector<double>(shorter.w.data())[0] == 1);
  nn::Link nothing;
  BOOST_TEST(message_of<catena::KeyError>([&] { average.copy_to(nothing); }).find("/frozen") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
