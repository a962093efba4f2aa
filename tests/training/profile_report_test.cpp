// ProfileReport: the parts of an iteration add up and are where the time is spent; TraceReport: which iterations.
#include <catena/training/extensions/profile_report.h>

#include <chrono>
#include <cmath>
#include <thread>

#include <catena/autograd/function.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/json.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions/log_report.h>
#include <catena/training/extensions/trace_report.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/optimizers.h>
#include <catena/training/triggers.h>

using namespace test;
using namespace training;

namespace {

constexpr double kPause = 0.05;  // seconds that a slow part sleeps
void pause() { std::this_thread::sleep_for(std::chrono::duration<double>(kPause)); }

struct SlowDataset : DatasetMixin {
  std::int64_t size() const override { return 4; }
  Example get_example(std::int64_t) const override {
    if (slow) pause();
    return {floats({1, 2}, {2})};
  }
  bool slow = false;
};

// The sum of the inputs, which takes its time in forward or backward.
struct SlowSum : autograd::Function {
  SlowSum(bool in_forward, bool in_backward) : in_forward(in_forward), in_backward(in_backward) {}
  autograd::Arrays forward(const autograd::Arrays& x) override {
    if (in_forward) pause();
    return {x[0] * 2};
  }
  autograd::Arrays backward(const autograd::Arrays&, const autograd::Arrays& gy) override {
    if (in_backward) pause();
    return {gy[0] * 2};
  }
  bool in_forward, in_backward;
};

// The log of a training of 3 iterations whose part of this name is slow.
Log times_of(const std::string& slow, ProfileReportOptions options = {}) {
  const TemporaryFolder folder("times");
  SlowDataset data;
  data.slow = slow == "data";
  nn::Linear model(2, 2);
  SGD sgd(0.1);
  sgd.setup(model);
  if (slow == "update") sgd.add_hook([](Optimizer&) { pause(); }, "slow");
  SerialIterator it(data, 1);
  Trainer trainer(StandardUpdater(it, sgd,
                                  {.loss_func =
                                       [&](const Variables& x) {
                                         const auto function =
                                             autograd::make_function<SlowSum>(slow == "forward", slow == "backward");
                                         return autograd::sum(Variable(function(model(x[0]))));
                                       }}),
                  {3, iteration}, folder.path.string());
  trainer.extend(ProfileReport(std::move(options)));
  LogReport& log = trainer.extend(LogReport({.trigger = {1, iteration}}));
  if (slow == "extensions") trainer.extend([](Trainer&) { pause(); }, {.name = "slow"});
  trainer.run();
  return log.log();
}

const char* const kParts[] = {"data", "forward", "backward", "update", "extensions"};

}  // namespace

BOOST_AUTO_TEST_SUITE(profile_reports)

BOOST_AUTO_TEST_CASE(time_is_where_it_is_spent) {
  for (const char* slow : kParts) {
    BOOST_TEST_CONTEXT("slow: " << slow) {
      const Log log = times_of(slow);
      BOOST_REQUIRE(log.size() == 3u);
      for (const LogEntry& entry : log) {
        double sum = 0;
        for (const char* part : kParts) {
          const LogValue* time = entry.find(std::string("time/") + part);
          if (time == nullptr) {  // there was no update before the first one
            BOOST_TEST((std::string(part) == "extensions" && entry.at("iteration").integer() == 1));
            continue;
          }
          BOOST_TEST(time->number() >= 0);
          if (std::string(part) == slow) BOOST_TEST(time->number() >= kPause);
          sum += time->number();
        }
        BOOST_TEST(std::fabs(entry.number("time/iteration") - sum) < 1e-9);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(options) {
  const Log log = times_of("", {.prefix = "seconds", .synchronize = false});
  BOOST_TEST(log[1].contains("seconds/forward"));
  BOOST_TEST(!log[1].contains("time/forward"));
}

// Functions that extensions call, as an evaluation does, are no part of an update; without functions in the update
// there are no parts.
BOOST_AUTO_TEST_CASE(updates_without_functions) {
  const TemporaryFolder folder("no_functions");
  FakeUpdater updater(5);
  Trainer trainer(updater, {3, iteration}, folder.path.string());
  trainer.extend(ProfileReport());
  LogReport& log = trainer.extend(LogReport({.trigger = {1, iteration}}));
  trainer.extend([](Trainer&) {
    Variable x(floats({1, 2}, {2}));
    autograd::sum(x * x).backward();
  });
  trainer.run();
  for (const LogEntry& entry : log.log()) {
    BOOST_TEST(entry.contains("time/iteration"));
    BOOST_TEST(!entry.contains("time/forward"));
    BOOST_TEST(!entry.contains("time/data"));
  }
  BOOST_TEST(log.log()[1].contains("time/extensions"));
}

// With a sparser trigger, the time of the iterations left out is that of no iteration.
BOOST_AUTO_TEST_CASE(iterations_that_the_trigger_leaves_out) {
  const TemporaryFolder folder("sparse_profile");
  FakeUpdater updater(5);
  Trainer trainer(updater, {6, iteration}, folder.path.string());
  trainer.extend(ProfileReport(), {.trigger = ManualScheduleTrigger({2, 3, 6}, iteration)});
  std::string reported;
  trainer.extend([&](Trainer& t) {
    for (const char* key : {"time/iteration", "time/extensions"})
      if (t.observation().find(key) != nullptr) reported += std::to_string(t.updater().iteration()) + key[5];
  });
  trainer.run();
  BOOST_TEST(reported == "2i3i3e6i");
}

BOOST_AUTO_TEST_CASE(one_at_a_time) {
  const TemporaryFolder folder("two_profiles");
  FakeUpdater updater(5);
  Trainer trainer(updater, {1, iteration}, folder.path.string());
  trainer.extend(ProfileReport());
  trainer.extend(ProfileReport({.prefix = "other"}));
  BOOST_TEST(has(message_of<catena::KeyError>([&] { trainer.run(); }), "ProfileReport"));
}

BOOST_AUTO_TEST_CASE(iterations_of_a_trace) {
  const auto names = [](double end, TraceReportOptions options) {
    const TemporaryFolder folder("trace");
    nn::Linear model(2, 2);
    SGD sgd(0.1);
    sgd.setup(model);
    SerialIterator it(autograd::arrays::ones({4, 2}), 2);
    Trainer trainer(
        StandardUpdater(it, sgd, {.loss_func = [&](const Variables& x) { return autograd::sum(model(x[0])); }}),
        {end, iteration}, folder.path.string());
    trainer.extend(TraceReport("t.json", options));
    trainer.run();
    std::string text;
    if (!std::filesystem::exists(folder / "t.json")) return text;
    const Json trace = Json::parse(file_content(folder / "t.json"));
    for (const Json& event : trace["traceEvents"])
      if (event.contains("cat") && event["cat"] == "iteration") text += event["name"].get<std::string>() + "; ";
    return text;
  };
  BOOST_TEST(names(5, {.start = 2, .iterations = 2}) == "update 2; extensions 2; update 3; extensions 3; ");
  BOOST_TEST(names(2, {.start = 2, .iterations = 9}) == "update 2; extensions 2; ");  // the end of the training
  BOOST_TEST(names(3, {.start = 4}) == "");
  const auto text = [](TraceReportOptions options) {
    return message_of<catena::ValueError>([&] { TraceReport("t", options); });
  };
  BOOST_TEST(text({.start = 0}) == "TraceReport: start is 0 and iterations 3; both must be at least 1");
  BOOST_TEST(text({.iterations = 0}) == "TraceReport: start is 10 and iterations 0; both must be at least 1");
}

// The file of a training that fails has the iterations until then.
BOOST_AUTO_TEST_CASE(a_trace_of_a_training_that_fails) {
  const TemporaryFolder folder("trace_fails");
  FakeUpdater updater(5, [](std::int64_t i) { catena::check<catena::ValueError>(i < 3, "updater", "as asked"); });
  Trainer trainer(updater, {9, iteration}, folder.path.string());
  trainer.extend(TraceReport("t.json", {.start = 1, .iterations = 9}));
  BOOST_CHECK_THROW(trainer.run(), catena::ValueError);
  const std::string text = file_content(folder / "t.json");
  BOOST_TEST(has(text, "\"update 2\""));
  BOOST_TEST(has(text, "\"update 3\""));
  BOOST_TEST(!has(text, "\"update 4\""));
}

BOOST_AUTO_TEST_CASE(a_trace_of_a_function) {
  const TemporaryFolder folder("profile_trace");
  Variable x(floats({1, 2}, {2}));
  profile_trace(folder / "t.json", [&] { autograd::sum(x * x).backward(); });
  std::string forwards, backwards;
  const Json trace = Json::parse(file_content(folder / "t.json"));
  for (const Json& event : trace["traceEvents"]) {
    if (!event.contains("cat")) continue;
    if (event["cat"] == "forward") forwards += event["name"].get<std::string>() + "; ";
    if (event["cat"] == "backward") backwards += event["name"].get<std::string>() + "; ";
  }
  BOOST_TEST(forwards == "_ * _; Sum; ");
  BOOST_TEST(backwards == "Sum.backward; _ * _.backward; ");
  // A function that throws leaves no file.
  BOOST_CHECK_THROW(profile_trace(folder / "u.json", [] { throw catena::ValueError("as asked"); }), catena::ValueError);
  BOOST_TEST(!std::filesystem::exists(folder / "u.json"));
}

BOOST_AUTO_TEST_SUITE_END()
