// Triggers: when they fire, also after a resume, with skipped calls and as stop triggers.
#include <catena/training/trigger.h>

#include <cmath>

#include <catena/kernels/base/warning.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions/log_report.h>
#include <catena/training/extensions/snapshot.h>
#include <catena/training/triggers.h>

using namespace test;
using namespace training;
using json = test::Json;
using Iterations = std::vector<std::int64_t>;

namespace {

// The iterations of 1..n at which a trigger of `spec` fires; called only where `calls` says. `on_update` may report.
Iterations fires_at(const TriggerSpec& spec, double per_epoch, std::int64_t n,
                    std::function<bool(std::int64_t)> calls = {}, std::function<void(std::int64_t)> on_update = {}) {
  Iterations fired;
  const std::shared_ptr<Trigger> trigger = spec.make();
  FakeUpdater updater(per_epoch, std::move(on_update));
  const TemporaryFolder folder("trigger");
  Trainer trainer(updater, {double(n), iteration}, folder.path.string());
  trainer.extend([&](Trainer& t) {
    const std::int64_t i = t.updater().iteration();
    if ((!calls || calls(i)) && (*trigger)(t)) fired.push_back(i);
  });
  trainer.run();
  return fired;
}

Unit unit_of(const json& name) { return name == "epoch" ? epoch : iteration; }

TriggerSpec golden_trigger(const std::string& kind, const json& args) {
  if (kind == "IntervalTrigger") return {args[0].get<double>(), unit_of(args[1])};
  if (kind == "ManualScheduleTrigger")
    return ManualScheduleTrigger(args[0].get<std::vector<double>>(), unit_of(args[1]));
  const TriggerSpec inner(args[1][0].get<double>(), unit_of(args[1][1]));
  const std::string key = args[0];
  if (kind == "MaxValueTrigger") return MaxValueTrigger(key, inner);
  return MinValueTrigger(key, inner);
}

// Reports values[i - 1] as "x" in iteration i.
std::function<void(std::int64_t)> reporting(const std::vector<double>& values) {
  return [values](std::int64_t i) { nn::report("x", values[std::size_t(i - 1)]); };
}

// An updater whose iterator does not know where it was.
struct Forgetting : FakeUpdater {
  using FakeUpdater::FakeUpdater;
  std::optional<double> previous_epoch_detail() const override { return {}; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(triggers)

BOOST_AUTO_TEST_CASE(values_of_the_reference) {
  const auto golden = Golden::open("triggers");
  golden.for_each([&](const json& c) -> std::string {
    const std::string kind = c.contains("trigger") && c["trigger"].is_string() ? c["trigger"].get<std::string>()
                                                                               : c["extension"].get<std::string>();
    if (c.contains("extension")) return {};  // run by training/shift
    BOOST_TEST_CONTEXT(c["name"].get<std::string>()) {
      std::function<void(std::int64_t)> on_update;
      if (c.contains("values")) on_update = reporting(c["values"].get<std::vector<double>>());
      const Iterations fired =
          fires_at(golden_trigger(kind, c["args"]), c["iterations_per_epoch"], c["iterations"], {}, on_update);
      BOOST_TEST(fired == c["fires_at"].get<Iterations>(), boost::test_tools::per_element());
    }
    return {};
  });
}

BOOST_AUTO_TEST_CASE(conformance) {
  BOOST_TEST(fires_at({1, epoch}, 5, 12) == (Iterations{5, 10}), boost::test_tools::per_element());
  BOOST_TEST(fires_at({1.5, epoch}, 2, 7) == (Iterations{3, 6}), boost::test_tools::per_element());
  BOOST_TEST(fires_at({1, epoch}, 2.5, 9) == (Iterations{3, 5, 8}), boost::test_tools::per_element());
  BOOST_TEST(fires_at({.1, epoch}, 10, 30).size() == 30u);  // fractions that no double holds
  BOOST_CHECK_THROW(IntervalTrigger(0, epoch), catena::ValueError);
  BOOST_CHECK_THROW(IntervalTrigger(-1, iteration), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(skipped_calls_fire_once) {
  const Iterations fired =
      fires_at({2, iteration}, 5, 12, [](std::int64_t i) { return i == 1 || i == 7 || i == 8 || i == 9; });
  BOOST_TEST(fired == (Iterations{7, 8}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(one_spec_twice_is_two_triggers) {
  const TriggerSpec spec(2, iteration);
  const TemporaryFolder folder("specs");
  FakeUpdater updater(5);
  Trainer trainer(updater, {4, iteration}, folder.path.string());
  int first = 0, second = 0;
  trainer.extend([&](Trainer&) { ++first; }, {.trigger = spec});
  trainer.extend([&](Trainer&) { ++second; }, {.trigger = spec});
  trainer.run();
  BOOST_TEST(first == 2);
  BOOST_TEST(second == 2);
}

BOOST_AUTO_TEST_CASE(kinds_of_specs) {
  BOOST_TEST(!TriggerSpec().make());  // never
  const Iterations odd = fires_at([](Trainer& t) { return t.updater().iteration() % 2 == 1; }, 5, 5);
  BOOST_TEST(odd == (Iterations{1, 3, 5}), boost::test_tools::per_element());
  const auto shared = std::make_shared<IntervalTrigger>(3, iteration);
  BOOST_TEST((TriggerSpec(shared).make().get() == shared.get()));
  // Units by name, and periods of other types.
  const int two = 2;
  BOOST_TEST(fires_at({two, "iteration"}, 5, 5) == (Iterations{2, 4}), boost::test_tools::per_element());
  BOOST_TEST(fires_at({1.5f, "epoch"}, 2, 7) == (Iterations{3, 6}), boost::test_tools::per_element());
  BOOST_TEST((IntervalTrigger(3, "epoch").unit() == epoch));
  const std::string message = message_of<catena::ValueError>([] { TriggerSpec(1, "epochs"); });
  BOOST_TEST(has(message, "\"epochs\" is neither \"iteration\" nor \"epoch\""), message);
}

// Resumed anywhere, with the trigger's own state or without it (as files of the reference are), it fires where it would
// have.
BOOST_AUTO_TEST_CASE(resuming) {
  const TemporaryFolder folder("resume");
  for (const bool with_state : {true, false}) {
    for (const double period : {1.0, 0.5, 1.5}) {
      const Iterations whole = fires_at({period, epoch}, 5, 20);
      for (std::int64_t stop = 1; stop < 20; ++stop) {
        FakeUpdater before(5);
        IntervalTrigger first(period, epoch), second(period, epoch);
        Trainer trainer(before, {double(stop), iteration}, folder.path.string());
        Iterations fired;
        trainer.extend([&](Trainer& t) {
          if (first(t)) fired.push_back(t.updater().iteration());
        });
        trainer.run();
        nn::serializers::save_npz(folder / "u", before);
        nn::serializers::save_npz(folder / "t", first);
        FakeUpdater after(5);
        nn::serializers::load_npz(folder / "u", after);
        if (with_state) nn::serializers::load_npz(folder / "t", second);
        Trainer resumed(after, {20, iteration}, folder.path.string());
        resumed.extend([&](Trainer& t) {
          if (second(t)) fired.push_back(t.updater().iteration());
        });
        resumed.run();
        BOOST_TEST(fired == whole, boost::test_tools::per_element());
      }
    }
  }
}

// As of an iterator of one's own, which need not know where it was before.
BOOST_AUTO_TEST_CASE(resuming_with_an_updater_that_does_not_know_where_it_was) {
  struct Forgetful : FakeUpdater {
    using FakeUpdater::FakeUpdater;
    std::optional<double> previous_epoch_detail() const override { return {}; }
  };
  const TemporaryFolder folder("forgetful");
  for (std::int64_t stop = 1; stop < 20; ++stop) {
    Forgetful before(5), after(5);
    Trainer(before, {double(stop), iteration}, folder.path.string()).run();
    nn::serializers::save_npz(folder / "u", before);
    nn::serializers::load_npz(folder / "u", after);
    Trainer resumed(after, {20, iteration}, folder.path.string());
    Iterations fired, expected;
    int before_training = 0;
    IntervalTrigger called_early(1, epoch);
    resumed.extend([&](Trainer& t) { fired.push_back(t.updater().iteration()); }, {.trigger = TriggerSpec(1, epoch)});
    resumed.extend([&](Trainer& t) { before_training += called_early(t); },
                   {.trigger = TriggerSpec(), .invoke_before_training = true});
    resumed.run();
    for (std::int64_t i = 5; i <= 20; i += 5)
      if (i > stop) expected.push_back(i);
    BOOST_TEST(fired == expected, boost::test_tools::per_element());
    BOOST_TEST(before_training == 0);
  }
}

BOOST_AUTO_TEST_CASE(as_a_stop_trigger) {
  const TemporaryFolder folder("stop");
  FakeUpdater updater(5);
  Trainer(updater, {2, epoch}, folder.path.string()).run();
  BOOST_TEST(updater.iteration() == 10);
  Trainer(updater, {7, iteration}, folder.path.string()).run();  // is past it already
  BOOST_TEST(updater.iteration() == 10);
  Trainer(updater, {12, iteration}, folder.path.string()).run();
  BOOST_TEST(updater.iteration() == 12);
}

BOOST_AUTO_TEST_CASE(manual_schedules) {
  const auto each = boost::test_tools::per_element();
  BOOST_TEST(fires_at(ManualScheduleTrigger({2, 5, 9}, iteration), 4, 12) == (Iterations{2, 5, 9}), each);
  BOOST_TEST(fires_at(ManualScheduleTrigger(3, iteration), 4, 12) == (Iterations{3}), each);
  BOOST_TEST(fires_at(ManualScheduleTrigger(std::vector<int>{1, 2}, epoch), 4, 12) == (Iterations{4, 8}), each);
  BOOST_TEST(fires_at(ManualScheduleTrigger({1, 2}, epoch), .5, 6) == (Iterations{1}), each);  // both at once
  BOOST_TEST(fires_at(ManualScheduleTrigger({0.1 + 0.2}, epoch), 10, 6) == (Iterations{3}), each);
  BOOST_TEST(fires_at(ManualScheduleTrigger(std::vector<double>{}, epoch), 10, 30).empty());
  BOOST_TEST(fires_at(ManualScheduleTrigger(0, iteration), 10, 3).empty());
  const ManualScheduleTrigger asked({1.5, 2}, epoch);
  BOOST_TEST((asked.points() == std::vector<double>{1.5, 2} && asked.unit() == epoch));
}

BOOST_AUTO_TEST_CASE(a_manual_schedule_of_epochs_asks_the_trainer_where_the_updater_does_not_know) {
  const TemporaryFolder folder("forgetting");
  Forgetting updater(2.5);
  Trainer trainer(updater, {9, iteration}, folder.path.string());
  Iterations fired;
  trainer.extend([&](Trainer& t) { fired.push_back(t.updater().iteration()); },
                 {.trigger = ManualScheduleTrigger({1, 2}, epoch)});
  trainer.run();
  BOOST_TEST(fired == (Iterations{3, 5}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(best_values) {
  const auto each = boost::test_tools::per_element();
  const auto values = reporting({.5, .5, .5, .5, .4, .4, .6, .6});
  BOOST_TEST(fires_at(MaxValueTrigger("x", {2, iteration}), 5, 8, {}, values) == (Iterations{2, 8}), each);
  BOOST_TEST(fires_at(MinValueTrigger("x", {2, iteration}), 5, 8, {}, values) == (Iterations{2, 6}), each);
  // The mean of an interval counts: .5 and .4, then .5 each.
  BOOST_TEST(fires_at(MaxValueTrigger("x", {3, iteration}), 5, 8, {}, reporting({.9, .3, .3, .6, .5, .4, 1, 1})) ==
                 (Iterations{3}),
             each);
  // "At least as good" in place of "better".
  const BestValueTrigger not_worse("x", [](double best, double value) { return value >= best; }, {2, iteration});
  BOOST_TEST(fires_at(not_worse, 5, 8, {}, values) == (Iterations{2, 4, 8}), each);
  BOOST_TEST(!not_worse.best_value());  // a trainer's trigger is a copy
  BOOST_TEST(fires_at(MaxValueTrigger("x", {}), 5, 8, {}, values).empty());
  BOOST_CHECK_THROW(BestValueTrigger("x", nullptr), catena::TypeError);
}

BOOST_AUTO_TEST_CASE(best_values_that_are_missing_or_no_number) {
  const Warnings warnings;
  const auto sometimes = [](std::int64_t i) {
    if (i == 3 || i == 4) return;
    nn::report("x", i == 1 ? NAN : double(i));
    nn::report("vector", Variable(floats({1, 2}, {2})));
  };
  BOOST_TEST(fires_at(MaxValueTrigger("x", {1, iteration}), 5, 6, {}, sometimes) == (Iterations{2, 5, 6}),
             boost::test_tools::per_element());
  BOOST_REQUIRE(warnings.texts.size() == 1u);
  BOOST_TEST(
      warnings.texts[0] ==
      "a trigger for the best x: at iteration 3 nothing was reported under that name since it was last asked; it "
      "does not fire");
  BOOST_TEST(fires_at(MaxValueTrigger("vector", {2, iteration}), 5, 2, {}, sometimes).empty());
  BOOST_TEST(warnings.texts.size() == 2u);
}

// A run that ends after any iteration, and another one that goes on from its snapshot.
BOOST_AUTO_TEST_CASE(best_values_after_a_resume) {
  const std::vector<double> values{.3, .5, .2, .9, .1, .5, .8, .7, .9, .2, .6, .8, .9, .9};
  const auto run = [&](FakeUpdater& updater, std::int64_t until, const TemporaryFolder& folder, std::int64_t from) {
    Trainer trainer(updater, {double(until), iteration}, folder.path.string());
    Iterations fired;
    const auto note = [&](Trainer& t) { fired.push_back(t.updater().iteration()); };
    trainer.extend(note, {.name = "max", .trigger = MaxValueTrigger("x", {3, iteration}), .priority = 2});
    trainer.extend(note, {.name = "min", .trigger = MinValueTrigger("x", {1, epoch}), .priority = 1});
    trainer.extend(Snapshot({.filename = "at_{.updater.iteration}", .trigger = {1, iteration}}));
    if (from > 0) nn::serializers::load_npz(folder / ("at_" + std::to_string(from)), trainer);
    trainer.run();
    return fired;
  };
  const TemporaryFolder whole("whole");
  FakeUpdater uninterrupted(4, reporting(values));
  const Iterations expected = run(uninterrupted, 14, whole, 0);
  BOOST_TEST(expected.size() > 3u);
  for (std::int64_t stop = 1; stop < 14; ++stop) {
    const TemporaryFolder folder("stopped");
    FakeUpdater before(4, reporting(values)), after(4, reporting(values));
    Iterations fired = run(before, stop, folder, 0);
    for (const std::int64_t i : run(after, 14, folder, stop)) fired.push_back(i);
    BOOST_TEST(fired == expected, boost::test_tools::per_element());
  }
}

// A trigger that is shared is asked once in an iteration, by whoever comes first.
BOOST_AUTO_TEST_CASE(shared_triggers) {
  struct EveryThirdCall : Trigger {
    std::int64_t calls = 0;
    bool operator()(Trainer&) override { return ++calls % 3 == 0; }
  };
  const auto fires = [](const std::shared_ptr<Trigger>& shared, const TriggerSpec& stop) {
    const TemporaryFolder folder("shared");
    FakeUpdater updater(2, reporting({.1, .2, .9, .5, .95, .6}));
    Trainer trainer(updater, stop, folder.path.string());
    std::vector<Iterations> fired(3);
    trainer.extend([&](Trainer& t) { fired[0].push_back(t.updater().iteration()); }, {.name = "a", .trigger = shared});
    trainer.extend([&](Trainer& t) { fired[1].push_back(t.updater().iteration()); }, {.name = "b", .trigger = shared});
    const LogReport& log = trainer.extend(LogReport({.trigger = shared, .log_name = {}}));
    trainer.extend([&](Trainer& t) { fired[2].push_back(t.updater().iteration()); },
                   {.name = "last", .trigger = shared, .priority = PRIORITY_SNAPSHOT});
    trainer.run();
    Iterations logged;
    for (const LogEntry& e : log.log()) logged.push_back(static_cast<std::int64_t>(e.number("iteration")));
    for (const Iterations& one : fired) BOOST_TEST(one == logged, boost::test_tools::per_element());
    return logged;
  };
  const TriggerSpec six{6, iteration};
  BOOST_TEST(fires(std::make_shared<IntervalTrigger>(1, epoch), six) == (Iterations{2, 4, 6}),
             boost::test_tools::per_element());
  BOOST_TEST(fires(std::make_shared<MaxValueTrigger>("x", TriggerSpec(1, iteration)), six) == (Iterations{1, 2, 3, 5}),
             boost::test_tools::per_element());
  BOOST_TEST(fires(std::make_shared<EveryThirdCall>(), six) == (Iterations{3, 6}), boost::test_tools::per_element());
  const auto stop = std::make_shared<EveryThirdCall>();
  // Its first call is before the first update.
  BOOST_TEST(fires(stop, stop) == (Iterations{2}), boost::test_tools::per_element());
}

// A trigger of get_trigger() answers each call itself.
BOOST_AUTO_TEST_CASE(resolved_triggers_answer_every_call) {
  const TemporaryFolder folder("resolved");
  FakeUpdater updater(2, reporting({.1, .2}));
  Trainer trainer(updater, {2, iteration}, folder.path.string());
  ResolvedTrigger once = get_trigger(OnceTrigger());
  std::vector<int> answers;
  trainer.extend(
      [&](Trainer& t) {
        answers.push_back(once(t));
        answers.push_back(once(t));
      },
      {.name = "asks", .trigger = {1, iteration}});
  trainer.run();
  BOOST_TEST(answers == (std::vector<int>{1, 0, 0, 0}), boost::test_tools::per_element());
}

// Two values over the intervals of one trigger.
BOOST_AUTO_TEST_CASE(best_values_share_an_interval) {
  const auto every = std::make_shared<IntervalTrigger>(2, iteration);
  const TemporaryFolder folder("shared");
  FakeUpdater updater(2, reporting({1, 2, 3, 4, 5, 6}));
  Trainer trainer(updater, {6, iteration}, folder.path.string());
  Iterations up, down;
  trainer.extend([&](Trainer& t) { up.push_back(t.updater().iteration()); },
                 {.name = "up", .trigger = MaxValueTrigger("x", every)});
  trainer.extend([&](Trainer& t) { down.push_back(t.updater().iteration()); },
                 {.name = "down", .trigger = MinValueTrigger("x", every)});
  trainer.run();
  BOOST_TEST(up == (Iterations{2, 4, 6}), boost::test_tools::per_element());
  BOOST_TEST(down == (Iterations{2}), boost::test_tools::per_element());
}

// The names of these entries in later versions of Chainer; a file without them, as 1.24 writes it, begins anew.
BOOST_AUTO_TEST_CASE(keys_of_best_values) {
  MaxValueTrigger trigger("x", {2, iteration});
  const TemporaryFolder folder("keys");
  FakeUpdater updater(5, reporting({.5, .25, .75}));
  Trainer trainer(updater, {3, iteration}, folder.path.string());
  trainer.extend([&](Trainer& t) { trigger(t); });
  trainer.run();
  BOOST_TEST(*trigger.best_value() == .375);
  nn::serializers::save_npz(folder / "t", trigger);
  const catena::NpzReader file("test", folder / "t");
  BOOST_TEST(file.keys() ==
                 (std::vector<std::string>{
                     "interval_trigger/previous_iteration", "interval_trigger/previous_epoch_detail", "summary/_names",
                     "summary/_summaries/0/_x", "summary/_summaries/0/_x2", "summary/_summaries/0/_n", "best_value"}),
             boost::test_tools::per_element());
  struct Nothing {
    std::int64_t x = 0;
    void serialize(nn::Serializer& s) { s("x", x); }
  } nothing;
  nn::serializers::save_npz(folder / "n", nothing);
  nn::serializers::load_npz(folder / "n", trigger);
  BOOST_TEST(!trigger.best_value());
}

BOOST_AUTO_TEST_SUITE_END()
