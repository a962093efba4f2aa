// Triggers that stop a training early, fire once, or after some time.
#include <cmath>
#include <iostream>
#include <sstream>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/trainer.h>
#include <catena/training/triggers.h>

using namespace test;
using namespace training;
using Doubles = std::vector<double>;

namespace {

// The iteration at which a training ends whose monitored value takes these values, one per iteration, two to an epoch.
std::int64_t end_of(const Doubles& values, EarlyStoppingOptions options, const std::string& key = "main/loss") {
  const TemporaryFolder folder("stopping");
  FakeUpdater updater(2);
  options.monitor = key;
  Trainer trainer(updater, EarlyStoppingTrigger(options), folder.path.string());
  trainer.extend(
      [&](Trainer& t) {
        const auto i = std::size_t(updater.iteration()) - 1;
        if (i < values.size()) t.observation().set(key, values[i]);
      },
      {.priority = PRIORITY_WRITER});
  trainer.run();
  return updater.iteration();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stopping)

BOOST_AUTO_TEST_CASE(early_stopping) {
  const TriggerSpec each = {1, iteration};
  const EarlyStoppingOptions two = {.check_trigger = each, .patience = 2, .max_trigger = {20, iteration}};
  BOOST_TEST(end_of({5, 4, 3, 3, 3, 1}, two) == 5);        // equal is no improvement
  BOOST_TEST(end_of({5, 6, 4, 5, 3, 4, 5, 1}, two) == 7);  // an improvement counts anew
  BOOST_TEST(end_of({5, NAN, 4, NAN, NAN}, two) == 5);
  BOOST_TEST(end_of({NAN, 5, 4, 5, 5}, two) == 5);  // the first value that is a number is the best so far
  // Greater is better where the key says so, or the mode.
  BOOST_TEST(end_of({1, 2, 3, 3, 3, 4}, two, "validation/main/accuracy") == 5);
  EarlyStoppingOptions upward = two;
  upward.mode = "max";
  BOOST_TEST(end_of({1, 2, 3, 3, 3, 4}, upward) == 5);
  EarlyStoppingOptions downward = two;
  downward.mode = "min";
  BOOST_TEST(end_of({5, 4, 4, 4, 1}, downward, "accuracy") == 4);
}

// By default a check is the mean of an epoch.
BOOST_AUTO_TEST_CASE(means_of_epochs) {
  BOOST_TEST(end_of({5, 5, 9, 0, 3, 7, 5, 5, 5, 5, 0, 0}, {.patience = 3, .max_trigger = {20, epoch}}) == 10);
}

BOOST_AUTO_TEST_CASE(the_end_in_any_case) {
  BOOST_TEST(end_of({5, 4, 3, 2, 1, 0, -1, -2}, {.patience = 1, .max_trigger = {3, epoch}}) == 6);
  const Warnings warnings;
  BOOST_TEST(end_of({}, {.patience = 1, .max_trigger = {3, epoch}}) == 6);
  BOOST_REQUIRE(warnings.texts.size() == 1u);
  BOOST_TEST(has(warnings.texts[0], "nothing was reported under main/loss up to iteration 2"));
}

BOOST_AUTO_TEST_CASE(it_says_why) {
  std::ostringstream text;
  std::streambuf* const before = std::cout.rdbuf(text.rdbuf());
  end_of({2.5, 3, 4},
         {.check_trigger = {1, iteration}, .patience = 2, .verbose = true, .max_trigger = {20, iteration}});
  std::cout.rdbuf(before);
  BOOST_TEST(text.str() == "EarlyStoppingTrigger: main/loss has not improved for 2 checks; the best was 2.5\n");
}

BOOST_AUTO_TEST_CASE(a_resumed_training_keeps_its_patience) {
  const TemporaryFolder folder("stopping");
  const auto run = [&](bool resume) {
    FakeUpdater updater(2);
    const auto stop = catena::Shared<EarlyStoppingTrigger>::make(
        EarlyStoppingOptions{.check_trigger = {1, iteration}, .patience = 4, .max_trigger = {100, iteration}});
    Trainer trainer(updater, stop, folder.path.string());
    trainer.extend([](Trainer& t) { t.observation().set("main/loss", t.updater().iteration() == 1 ? 1.0 : 2.0); },
                   {.name = "report", .priority = PRIORITY_WRITER});
    trainer.extend(
        [&](Trainer& t) {
          if (!resume && t.updater().iteration() == 3) nn::serializers::save_npz(folder / "t.npz", t);
        },
        {.name = "save", .priority = PRIORITY_SNAPSHOT});
    if (resume) nn::serializers::load_npz(folder / "t.npz", trainer);
    trainer.run();
    BOOST_TEST(stop->best().value() == 1);
    BOOST_TEST(stop->count() == 4);
    return updater.iteration();
  };
  BOOST_TEST(run(false) == 5);
  BOOST_TEST(run(true) == 5);
}

BOOST_AUTO_TEST_CASE(errors) {
  BOOST_TEST(message_of<catena::ValueError>([] { EarlyStoppingTrigger({.mode = "best"}); }) ==
             "EarlyStoppingTrigger: mode is \"best\" and must be \"max\", \"min\" or \"auto\"");
  BOOST_TEST(message_of<catena::ValueError>([] { EarlyStoppingTrigger({.patience = 0}); }) ==
             "EarlyStoppingTrigger: patience is 0 and must be at least 1");
  BOOST_TEST(message_of<catena::ValueError>([] { TimeTrigger(0); }) ==
             "TimeTrigger: seconds is 0 and must be positive");
}

BOOST_AUTO_TEST_CASE(once) {
  const TemporaryFolder folder("stopping");
  const auto calls = [&](bool call_on_resume, bool resume) {
    FakeUpdater updater(2);
    Trainer trainer(updater, {resume ? 6.0 : 3.0, iteration}, folder.path.string());
    std::vector<std::int64_t> at;
    trainer.extend([&](Trainer&) { at.push_back(updater.iteration()); },
                   {.name = "once", .trigger = OnceTrigger(call_on_resume)});
    if (resume) nn::serializers::load_npz(folder / "t.npz", trainer);
    trainer.run();
    if (!resume) nn::serializers::save_npz(folder / "t.npz", trainer);
    return at;
  };
  using Iterations = std::vector<std::int64_t>;
  BOOST_TEST((calls(false, false) == Iterations{1}));
  BOOST_TEST((calls(false, true) == Iterations{}));
  BOOST_TEST((calls(true, true) == Iterations{4}));
}

// The clock goes on between the test's look at it and the trigger's, so each firing is known up to these two times.
BOOST_AUTO_TEST_CASE(after_some_time) {
  const TemporaryFolder folder("stopping");
  FakeUpdater updater(2);
  Trainer trainer(updater, {50, iteration}, folder.path.string());
  TimeTrigger trigger(1e-3);
  double least = 0, most = 0;  // the number of the millisecond of the last firing
  int fired = 0, wrong = 0;
  trainer.extend([&](Trainer& t) {
    const double until = t.elapsed_time() + 2e-4;
    while (t.elapsed_time() < until) {}
    const double before = std::floor(t.elapsed_time() / 1e-3);
    const bool fires = trigger(t);
    const double after = std::floor(t.elapsed_time() / 1e-3);
    if (fires ? after <= least : before > most) ++wrong;
    if (fires) least = before, most = after, ++fired;
  });
  trainer.run();
  BOOST_TEST(fired >= 3);
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_SUITE_END()
