// Triggers made of others: any, all, not; as triggers of extensions and as stop triggers, before and after a resume.
#include <catena/training/triggers.h>

#include <sstream>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions/log_report.h>
#include <catena/training/extensions/progress_bar.h>
#include <catena/training/extensions/snapshot.h>

using namespace test;
using namespace training;

namespace {

// The iterations at which a trigger fires, up to `end`.
std::string firings(const TriggerSpec& trigger, double end) {
  const TemporaryFolder folder("firings");
  std::string fired;
  FakeUpdater updater(5);
  Trainer trainer(updater, {end, iteration}, folder.path.string());
  trainer.extend([&](Trainer& t) { fired += std::to_string(t.updater().iteration()) + " "; },
                 {.name = "note", .trigger = trigger});
  trainer.run();
  return fired;
}

// The iteration after which a training with this stop trigger ends.
std::int64_t end_of(const TriggerSpec& stop) {
  const TemporaryFolder folder("end");
  FakeUpdater updater(5);
  Trainer trainer(updater, stop, folder.path.string());
  trainer.run();
  return updater.iteration();
}

TriggerSpec at(std::vector<double> points) { return ManualScheduleTrigger(std::move(points), iteration); }

}  // namespace

BOOST_AUTO_TEST_SUITE(trigger_combinators)

BOOST_AUTO_TEST_CASE(truth_tables) {
  BOOST_TEST(firings(AnyTrigger({{2, iteration}, {3, iteration}}), 12) == "2 3 4 6 8 9 10 12 ");
  BOOST_TEST(firings(AllTrigger({{2, iteration}, {3, iteration}}), 12) == "6 12 ");
  BOOST_TEST(firings(NotTrigger({2, iteration}), 7) == "1 3 5 7 ");
  BOOST_TEST(firings(AllTrigger({{2, iteration}, NotTrigger(AnyTrigger({at({4}), at({8})}))}), 10) == "2 6 10 ");
  BOOST_TEST(firings(AnyTrigger({}), 3) == "");
  BOOST_TEST(firings(AllTrigger({}), 3) == "1 2 3 ");
  BOOST_TEST(firings(NotTrigger(TriggerSpec()), 2) == "1 2 ");
  BOOST_TEST(firings(AnyTrigger({TriggerSpec(), at({2})}), 3) == "2 ");
  BOOST_TEST(firings(triggers::AnyTrigger({[](Trainer& t) { return t.updater().iteration() == 2; }}), 3) == "2 ");
}

// A trigger that counts its calls is asked at every iteration, whatever the others say.
BOOST_AUTO_TEST_CASE(all_are_asked_always) {
  int calls = 0;
  const TriggerSpec third([&calls](Trainer&) { return ++calls % 3 == 0; });
  BOOST_TEST(firings(AnyTrigger({{1, iteration}, third}), 6) == "1 2 3 4 5 6 ");
  BOOST_TEST(calls == 6);
  BOOST_TEST(firings(AllTrigger({at({3}), third}), 6) == "3 ");
  BOOST_TEST(calls == 12);
}

BOOST_AUTO_TEST_CASE(stop_triggers) {
  const auto at_seven = [](Trainer& t) { return t.updater().iteration() == 7; };
  BOOST_TEST(end_of(AnyTrigger({{10, iteration}, at_seven})) == 7);
  BOOST_TEST(end_of(AnyTrigger({{4, iteration}, at_seven})) == 4);
  // An interval is "at or beyond" here, too: the ends of both need not fall on one iteration.
  BOOST_TEST(end_of(AllTrigger({{3, iteration}, {1, epoch}})) == 5);
  BOOST_TEST(end_of(AllTrigger({{3, iteration}, at_seven})) == 7);
}

// A resumed training that is beyond the end does not start; one that is not goes on like an uninterrupted one.
BOOST_AUTO_TEST_CASE(after_a_resume) {
  const auto run = [](double end, const std::string& folder, const std::string& from) {
    std::string fired;
    FakeUpdater updater(4);
    Trainer trainer(updater, AnyTrigger({{end, iteration}, {100, epoch}}), folder);
    trainer.extend([](Trainer& t) { t.observation().set("x", double(t.updater().iteration() % 5)); },
                   {.name = "x", .priority = PRIORITY_WRITER});
    trainer.extend([&](Trainer& t) { fired += std::to_string(t.updater().iteration()) + " "; },
                   {.name = "note", .trigger = AnyTrigger({MaxValueTrigger("x", {2, iteration}), {1.5, epoch}})});
    trainer.extend(Snapshot({.trigger = {1, iteration}}));
    if (!from.empty()) nn::serializers::load_npz(folder + "/" + from, trainer);
    trainer.run();
    return fired;
  };
  const TemporaryFolder folder("resumed");
  const std::string whole = run(20, folder.path.string(), "");
  for (const int stop : {1, 4, 5, 6, 11}) {
    const TemporaryFolder own("resumed_own");
    const std::string first = run(stop, own.path.string(), "");
    BOOST_TEST(first + run(20, own.path.string(), "snapshot_iter_" + std::to_string(stop)) == whole, stop);
  }
  BOOST_TEST(run(3, folder.path.string(), "snapshot_iter_20") == "");
}

// Progress bars find the length of a training in every stop trigger that has one.
BOOST_AUTO_TEST_CASE(lengths_of_trainings) {
  const auto length = [](const Trigger& trigger) {
    return trigger.training_length().value_or(TrainingLength{-1, epoch});
  };
  BOOST_TEST(length(IntervalTrigger(7, iteration)).length == 7);
  BOOST_TEST((length(IntervalTrigger(7, iteration)).unit == iteration));
  BOOST_TEST(length(EarlyStoppingTrigger({.max_trigger = {30, epoch}})).length == 30);
  BOOST_TEST(length(AnyTrigger({{20, epoch}, {5, epoch}, {2, iteration}, at({3})})).length == 5);
  BOOST_TEST(length(AnyTrigger({at({3}), {9, iteration}})).length == 9);
  BOOST_TEST(length(AllTrigger({{9, iteration}})).length == -1);
  BOOST_TEST(length(OnceTrigger()).length == -1);
  const TemporaryFolder folder("lengths");
  std::ostringstream out;
  FakeUpdater updater(2);
  Trainer trainer(updater, EarlyStoppingTrigger({.patience = 100, .max_trigger = {2, epoch}}), folder.path.string());
  trainer.extend([](Trainer& t) { t.observation().set("main/loss", 1.0); }, {.priority = PRIORITY_WRITER});
  trainer.extend(ProgressBar({.update_interval = 2, .out = &out, .terminal = false}));
  trainer.run();
  BOOST_TEST(has(out.str(), "progress 50.00%  2 iter, 1.00 epochs / 2 epochs"), out.str());
}

// A report with several triggers.
BOOST_AUTO_TEST_CASE(in_a_log_report) {
  const TemporaryFolder folder("log");
  FakeUpdater updater(4);
  Trainer trainer(updater, {8, iteration}, folder.path.string());
  LogReport& log = trainer.extend(LogReport({.trigger = AnyTrigger({{1, epoch}, at({1})})}));
  trainer.run();
  std::string iterations;
  for (const LogEntry& entry : log.log()) iterations += std::to_string(entry.at("iteration").integer()) + " ";
  BOOST_TEST(iterations == "1 4 8 ");
}

BOOST_AUTO_TEST_SUITE_END()
