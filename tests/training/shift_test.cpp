// Extensions that change hyperparameters or add observations: values of the reference, and resumed runs.
#include <catena/training/extensions/exponential_shift.h>

#include <cmath>
#include <set>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;
using json = test::Json;
using Doubles = std::vector<double>;

namespace {

struct Weight : nn::Link {
  nn::Parameter w{floats({1}, {1})};
  NN_MEMBERS(w)
};
// An optimizer with a hyperparameter x and nothing to do.
struct Idle : Optimizer {
  Weight weight;
  explicit Idle(double x) : Optimizer({.name = "Idle", .hyper = {{"x", x}}}) { setup(weight); }
};
struct OptimizerUpdater : FakeUpdater {
  Optimizer& optimizer;
  OptimizerUpdater(Optimizer& o, double per_epoch, std::function<void(std::int64_t)> on_update = {})
      : FakeUpdater(per_epoch, std::move(on_update)), optimizer(o) {}
  Optimizer& get_optimizer(const std::string& name) override {
    if (name == "main") return optimizer;
    return FakeUpdater::get_optimizer(name);
  }
  std::vector<std::pair<std::string, Optimizer*>> get_all_optimizers() override { return {{"main", &optimizer}}; }
  void serialize(nn::Serializer& s) override {
    FakeUpdater::serialize(s);
    optimizer.serialize_hyper(*s["hyper"]);
  }
};

// The values of x after the call before training and after each iteration.
template <class E> Doubles values_of(Idle& idle, E extension, const TriggerSpec& trigger, double iterations) {
  const TemporaryFolder folder("shift");
  OptimizerUpdater updater(idle, 4);
  Trainer trainer(updater, {iterations, iteration}, folder.path.string());
  Doubles values;
  trainer.extend(std::move(extension), {.trigger = trigger});
  trainer.extend([&](Trainer&) { values.push_back(idle.get_hyper("x")); },
                 {.priority = 1, .invoke_before_training = true});
  trainer.run();
  return values;
}
void check_values(const Doubles& actual, const Doubles& expected, double atol, double rtol) {
  BOOST_REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    BOOST_TEST(close(actual[i], expected[i], atol, rtol), i << ": " << actual[i] << ", not " << expected[i]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shifts)

BOOST_AUTO_TEST_CASE(values_of_the_reference) {
  const json cases = json::parse(file_content((Golden::open("triggers").folder() / "triggers.json").string()));
  int checked = 0;
  for (const json& c : cases) {
    if (!c.contains("extension")) continue;
    BOOST_TEST_CONTEXT(c["name"].get<std::string>()) {
      const json& a = c["args"];
      Idle idle(c["initial"].get<double>());
      const TriggerSpec trigger(c["trigger"][0].get<double>(), c["trigger"][1] == "epoch" ? epoch : iteration);
      const double n = c["iterations"];
      Doubles values;
      if (c["extension"] == "ExponentialShift") {
        ExponentialShift::Options options;
        if (a.contains("init")) options.init = a["init"].get<double>();
        if (a.contains("target")) options.target = a["target"].get<double>();
        values = values_of(idle, ExponentialShift(a["attr"], a["rate"].get<double>(), options), trigger, n);
      } else {
        const auto v = a["value_range"].get<Doubles>(), t = a["time_range"].get<Doubles>();
        values = values_of(idle, LinearShift(a["attr"], {v[0], v[1]}, {t[0], t[1]}), trigger, n);
      }
      check_values(values, c["values"].get<Doubles>(), c["tolerance"][0], c["tolerance"][1]);
      ++checked;
    }
  }
  BOOST_TEST(checked == 5);
}

BOOST_AUTO_TEST_CASE(exponential_conformance) {
  Idle idle(0.5);
  const TriggerSpec every(1, iteration);
  check_values(values_of(idle, ExponentialShift("x", .5, {.init = 2, .target = 1.2}), every, 2), {2, 1.2, 1.2}, 0, 0);
  check_values(values_of(idle, ExponentialShift("x", 2, {.init = -2, .target = -3}), every, 2), {-2, -3, -3}, 0, 0);
  check_values(values_of(idle, ExponentialShift("x", 2, {.init = 1}), every, 3), {1, 2, 4, 8}, 0, 0);
  // From the value that the optimizer has, which was left at 8.
  check_values(values_of(idle, ExponentialShift("x", .25), every, 2), {8, 2, .5}, 0, 0);
  BOOST_TEST(has(message_of<catena::ValueError>([] { ExponentialShift("x", -.5); }), "-0.5"));
}

BOOST_AUTO_TEST_CASE(linear_shift_counts_calls) {
  Idle idle(7);
  check_values(values_of(idle, LinearShift("x", {1, 0}, {1, 3}), TriggerSpec(2, iteration), 7),
               {1, 1, 1, 1, .5, .5, 0, 0}, 0, 0);
  BOOST_CHECK_THROW(LinearShift("x", {1, 0}, {3, 1}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(another_optimizer_and_names_that_are_none) {
  Idle main(1), other(1);
  check_values(values_of(main, LinearShift("x", {3, 4}, {0, 1}, {.optimizer = &other}), {1, iteration}, 2), {1, 1, 1},
               0, 0);
  BOOST_TEST(other.get_hyper("x") == 4);
  const std::string message = message_of<catena::KeyError>([&] {
    values_of(main, ExponentialShift("lr", .5), {1, iteration}, 1);
  });
  BOOST_TEST(
      message ==
      "extension ExponentialShift before training: ExponentialShift: the optimizer Idle has no hyperparameter lr "
      "to be set (it has: x)");
  // The rate of Adam follows from alpha.
  Weight weight;
  Adam adam;
  adam.setup(weight);
  const TemporaryFolder folder("adam");
  OptimizerUpdater updater(adam, 2);
  Trainer trainer(updater, {1, iteration}, folder.path.string());
  trainer.extend(ExponentialShift("lr", .5));
  BOOST_TEST(
      has(message_of<catena::KeyError>([&] { trainer.run(); }), "(it has: alpha, beta1, beta2, eps, weight_decay)"));
}

namespace {

// Everything of this file that has a state, and what it did.
struct Run {
  Idle idle{2}, second{2};
  OptimizerUpdater updater;
  Trainer trainer;
  LogReport& log;
  std::vector<Doubles> seen;
  Run(std::int64_t until, const TemporaryFolder& folder, std::int64_t resumes_at = 0)
      : updater(idle, 3,
                [](std::int64_t i) {
                  nn::report("correct", Variable(floats({float(i % 4)}, {})));
                  if (i % 5 != 0) nn::report("examples", 1.0 / double(i));
                }),
        trainer(updater, {double(until), iteration}, folder.path.string()),
        log((setup(), trainer.extend(LogReport({.trigger = {4, iteration}})))) {
    trainer.extend([this](Trainer&) { seen.push_back({idle.get_hyper("x"), second.get_hyper("x")}); }, {.priority = 1});
    trainer.extend(Snapshot({.filename = "at_{.updater.iteration}", .trigger = {1, iteration}}));
    if (resumes_at > 0) nn::serializers::load_npz(folder / ("at_" + std::to_string(resumes_at)), trainer);
    trainer.run();
  }
  void setup() {
    trainer.extend(ExponentialShift("x", .9), {.trigger = TriggerSpec(2, iteration)});
    trainer.extend(LinearShift("x", {1, 3}, {2, 5}, {.optimizer = &second}), {.trigger = TriggerSpec(1, epoch)});
    trainer.extend(MicroAverage("correct", "examples", "accuracy"));
    trainer.extend(observe_value("x", [this](Trainer&) { return idle.get_hyper("x"); }));
    trainer.extend(ParameterStatistics(idle.weight, {.prefix = "stats", .result_trigger = {5, iteration}}));
  }
  std::string text() const {
    Log log_without_times = log.log();
    for (LogEntry& e : log_without_times) e.erase("elapsed_time");
    return to_json(log_without_times);
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(killed_and_resumed_equals_uninterrupted) {
  const TemporaryFolder folder("uninterrupted");
  const Run whole(13, folder);
  BOOST_TEST(whole.seen.size() == 13u);
  BOOST_TEST(std::set<Doubles>(whole.seen.begin(), whole.seen.end()).size() > 6u);
  BOOST_TEST(has(whole.text(), "accuracy"));
  BOOST_TEST(has(whole.text(), "stats/None/w/data/mean"));
  for (std::int64_t stop = 1; stop < 13; ++stop) {
    const Run resumed(13, folder, stop);  // constructed with the values of the beginning
    BOOST_TEST_CONTEXT("after iteration " << stop) {
      BOOST_TEST((std::vector<Doubles>(whole.seen.begin() + stop, whole.seen.end()) == resumed.seen));  // bit for bit
      BOOST_TEST(resumed.text() == whole.text());
    }
  }
}

BOOST_AUTO_TEST_CASE(micro_average) {
  // Per epoch of 4 iterations: 1/2 and 3/4 of unequal numbers of examples; iteration 2 lacks the denominator, and in
  // iteration 3 the numerator is no scalar. In the second epoch there are no examples.
  const TemporaryFolder folder("micro");
  FakeUpdater updater(4, [](std::int64_t i) {
    if (i > 4) return;
    if (i == 3) nn::report("right", Variable(floats({7, 7}, {2})));
    else nn::report("right", i == 1 ? 1.0 : 9.0);
    if (i == 4) nn::report("all", Variable(floats({12}, {})));
    else if (i != 2) nn::report("all", 2.0);
  });
  Trainer trainer(updater, {8, iteration}, folder.path.string());
  MicroAverage& average = trainer.extend(MicroAverage("right", "all", "rate"));
  std::map<std::int64_t, double> results;
  trainer.extend([&](Trainer& t) {
    if (const nn::Observed* rate = t.observation().find("rate")) results[t.updater().iteration()] = rate->value();
  });
  BOOST_TEST(average.priority == PRIORITY_EDITOR);
  trainer.run();
  BOOST_REQUIRE(results.size() == 2u);
  BOOST_TEST(results[4] == 10.0 / 14.0);
  BOOST_TEST(std::isnan(results[8]));
  // The rates of the iterations 1 and 2 and of 3 and 4, of an updater that reports the iteration and 2.
  FakeUpdater numbers(4, [](std::int64_t i) { nn::report("right", double(i)), nn::report("all", 2.0); });
  Trainer often(numbers, {4, iteration}, folder.path.string());
  often.extend(MicroAverage("right", "all", "rate", {2, iteration}));
  results.clear();
  often.extend([&](Trainer& t) {
    if (const nn::Observed* rate = t.observation().find("rate")) results[t.updater().iteration()] = rate->value();
  });
  often.run();
  BOOST_TEST((results == std::map<std::int64_t, double>{{2, 3.0 / 4}, {4, 7.0 / 4}}));
}

BOOST_AUTO_TEST_CASE(observed_values_and_learning_rates) {
  const TemporaryFolder folder("observe");
  Weight weight;
  Adam adam;
  adam.setup(weight);
  OptimizerUpdater updater(adam, 2, [&](std::int64_t) {
    weight.w.set_grad(floats({1}, {1}));
    adam.update();
  });
  Trainer trainer(updater, {4, iteration}, folder.path.string());
  trainer.extend(observe_lr());
  trainer.extend(observe_lr("main", "rate"), {.trigger = TriggerSpec(1, iteration)});
  trainer.extend(observe_value("answer", [](Trainer& t) { return 42.0 + double(t.updater().iteration()); }));
  BOOST_TEST(trainer.extension_names()[0] == "_observe_value");
  std::vector<bool> has_lr;
  Doubles rates;
  trainer.extend([&](Trainer& t) {
    has_lr.push_back(t.observation().contains("lr"));
    rates.push_back(t.observation().at("rate").value());
    if (has_lr.back()) BOOST_TEST(t.observation().at("lr").value() == rates.back());
    if (has_lr.back()) BOOST_TEST(t.observation().at("answer").value() == 42.0 + double(t.updater().iteration()));
  });
  trainer.run();
  BOOST_TEST(has_lr == (std::vector<bool>{false, true, false, true}), boost::test_tools::per_element());
  for (std::size_t i = 0; i < rates.size(); ++i)
    BOOST_TEST(std::fabs(rates[i] - 0.001 * std::sqrt(1 - std::pow(0.999, double(i + 1))) /
                                        (1 - std::pow(0.9, double(i + 1)))) < 1e-15);
  AdaDelta without;
  without.setup(weight);
  OptimizerUpdater other(without, 2);
  Trainer fails(other, {4, iteration}, folder.path.string());
  fails.extend(observe_lr());
  BOOST_TEST(has(message_of<catena::KeyError>([&] { fails.run(); }), "there is no hyperparameter lr"));
  BOOST_CHECK_THROW(observe_value("x", nullptr), catena::TypeError);
}

// The values after 0, 1, 2, ... calls, by the formulas of Chainer.
BOOST_AUTO_TEST_CASE(formulas) {
  const auto values = [](auto shift, double iterations = 4) {
    Idle idle(2);
    return values_of(idle, std::move(shift), {1, iteration}, iterations);
  };
  const auto check = [](const Doubles& found, const Doubles& expected) { check_values(found, expected, 1e-12, 1e-12); };
  check(values(InverseShift("x", 0.5, 1)), {2, 2 / 1.5, 1, 0.8, 2.0 / 3});
  check(values(InverseShift("x", 1, 2, {.target = 0.5})), {2, 0.5, 0.5, 0.5, 0.5});
  check(values(InverseShift("x", 1, -1, {.target = 5})), {2, 4, 5, 5, 5});
  check(values(StepShift("x", 0.5, 2)), {2, 2, 1, 1, 0.5});
  check(values(StepShift("x", 0.5, 2, {.init = 8, .target = 3})), {8, 8, 4, 4, 3});
  check(values(StepShift("x", 2, 1, {.target = 7})), {2, 4, 7, 7, 7});
  check(values(MultistepShift("x", 0.5, {1, 3})), {2, 1, 1, 0.5, 0.5});
  check(values(MultistepShift("x", 0.5, {1, 3}, 4)), {4, 2, 2, 1, 1});
  check(values(PolynomialShift("x", 2, 4)), {2, 1.125, 0.5, 0.125, 0});
  check(values(PolynomialShift("x", 1, 4, {.target = 1})), {2, 1.5, 1, 1, 1});
  check(values(PolynomialShift("x", 1, 2), 3), {2, 1, 0, 0});
  check(values(WarmupShift("x", 0.5, 3)), {0.5, 1, 1.5, 2, 2});
  check(values(extensions::WarmupShift("x", 0, 2, 8)), {0, 4, 8, 8, 8});
  BOOST_CHECK_THROW(InverseShift("x", -1, 1), catena::ValueError);
  BOOST_CHECK_THROW(StepShift("x", -1, 1), catena::ValueError);
  BOOST_CHECK_THROW(StepShift("x", 1, 0), catena::ValueError);
  BOOST_CHECK_THROW(MultistepShift("x", -1, {1}), catena::ValueError);
  BOOST_CHECK_THROW(MultistepShift("x", 1, {3, 1}), catena::ValueError);
  BOOST_CHECK_THROW(PolynomialShift("x", 1, 0), catena::ValueError);
  BOOST_CHECK_THROW(WarmupShift("x", 1, 0), catena::ValueError);
}

// An optimizer of its own, given as it is or by its address.
BOOST_AUTO_TEST_CASE(shifts_of_another_optimizer) {
  Idle main(2), other(4);
  values_of(main, StepShift("x", 0.5, 1, {.optimizer = other}), {1, iteration}, 2);
  BOOST_TEST(main.get_hyper("x") == 2);
  BOOST_TEST(other.get_hyper("x") == 1);
  values_of(main, ExponentialShift("x", 0.5, {.optimizer = &other}), {1, iteration}, 1);
  BOOST_TEST(main.get_hyper("x") == 2);
  BOOST_TEST(other.get_hyper("x") == 0.5);
}

BOOST_AUTO_TEST_SUITE_END()
