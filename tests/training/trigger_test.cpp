// Triggers: when they fire, also after a resume, with skipped calls and as stop triggers.
#include <catena/training/trigger.h>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using namespace training;
using json = test::Json;
using Iterations = std::vector<std::int64_t>;

namespace {

// The iterations of 1..n at which a trigger of `spec` fires; called only where `calls` says.
Iterations fires_at(const TriggerSpec& spec, double per_epoch, std::int64_t n,
                    std::function<bool(std::int64_t)> calls = {}) {
  Iterations fired;
  const std::shared_ptr<Trigger> trigger = spec.make();
  FakeUpdater updater(per_epoch);
  const TemporaryFolder folder("trigger");
  Trainer trainer(updater, {double(n), iteration}, folder.path.string());
  trainer.extend([&](Trainer& t) {
    const std::int64_t i = t.updater().iteration();
    if ((!calls || calls(i)) && (*trigger)(t)) fired.push_back(i);
  });
  trainer.run();
  return fired;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(triggers)

BOOST_AUTO_TEST_CASE(values_of_the_reference) {
  const auto golden = Golden::open("triggers");
  golden.for_each([&](const json& c) -> std::string {
    const std::string kind = c.contains("trigger") && c["trigger"].is_string() ? c["trigger"].get<std::string>()
                                                                               : c["extension"].get<std::string>();
    if (kind != "IntervalTrigger") return kind;
    BOOST_TEST_CONTEXT(c["name"].get<std::string>()) {
      const TriggerSpec spec(c["args"][0].get<double>(), c["args"][1] == "epoch" ? epoch : iteration);
      const Iterations fired = fires_at(spec, c["iterations_per_epoch"], c["iterations"]);
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

BOOST_AUTO_TEST_SUITE_END()
