// A snapshot is the state after everything else of its iteration: a resumed run has the events of the uninterrupted
// one, whatever was registered before or after the snapshot, with whatever priority.
#include <algorithm>
#include <functional>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>
#include <catena/training/optimizers.h>
#include <catena/training/triggers.h>

using namespace test;
using namespace training;

namespace {

constexpr std::int64_t kEnd = 12;
constexpr double kPerEpoch = 2.5;
// Of the observed value, by iteration: a best one at most iterations, and long runs without.
constexpr double kScores[] = {0, .1, .2, .9, .5, .95, .6, .7, .96, .2, .97, .3, .4};

// Gives up when the score was not better than the best one `patience` times in a row. It counts its calls.
struct Patience : Trigger {
  std::int64_t patience, bad = 0, calls = 0;
  double best = -1;
  explicit Patience(std::int64_t p) : patience(p) {}
  bool operator()(Trainer& t) override {
    ++calls;
    const nn::Observed* const score = t.observation().find("score");
    if (score == nullptr) return false;
    bad = score->value() > best ? 0 : bad + 1;
    best = std::max(best, score->value());
    return bad >= patience;
  }
  void serialize(nn::Serializer& s) override {
    s("bad", bad);
    s("calls", calls);
    s("best", best);
  }
};
// Every third call.
struct EveryThird : Trigger {
  std::int64_t calls = 0;
  bool operator()(Trainer&) override { return ++calls % 3 == 0; }
  void serialize(nn::Serializer& s) override { s("calls", calls); }
};

struct Kind {
  const char* name;
  std::function<TriggerSpec()> make;
};
const Kind kTriggers[] = {
    {"iterations", [] { return TriggerSpec(2, iteration); }},
    {"epochs", [] { return TriggerSpec(1, epoch); }},
    {"parts of epochs", [] { return TriggerSpec(0.5, epoch); }},
    {"schedule of iterations",
     [] {
       return TriggerSpec(ManualScheduleTrigger({3, 4, 7}, "iteration"));
     }},
    {"schedule of epochs",
     [] {
       return TriggerSpec(ManualScheduleTrigger({1, 2.2, 4}, epoch));
     }},
    {"max",
     [] {
       return TriggerSpec(MaxValueTrigger("score", {1, iteration}));
     }},
    {"max of two",
     [] {
       return TriggerSpec(MaxValueTrigger("score", {2, iteration}));
     }},
    {"max of an epoch", [] { return TriggerSpec(MaxValueTrigger("score")); }},
    {"min",
     [] {
       return TriggerSpec(MinValueTrigger("score", {1, iteration}));
     }},
    {"best",
     [] {
       const auto nearer = [](double best, double value) { return std::abs(value - 0.6) < std::abs(best - 0.6); };
       return TriggerSpec(BestValueTrigger("score", nearer, {1, iteration}));
     }},
    {"one's own", [] { return TriggerSpec(EveryThird()); }},
    {"patience", [] { return TriggerSpec(Patience(1)); }},
};

enum class Saver { snapshot, object, function };
const char* const kSavers[] = {"Snapshot", "snapshot_object of the trainer", "a function"};

// How a run is put together.
struct Plan {
  Saver saver = Saver::snapshot;
  bool saver_first = false;
  std::optional<int> saver_priority = {}, priority = {};  // of the extension with the trigger
  bool object_saved = false;                              // that extension is a snapshot_object of something else
  TriggerSpec trigger = {1, iteration}, stop = {double(kEnd), iteration};
};

struct Empty : nn::Link {
  nn::Parameter p{1.0, {1}};
  NN_MEMBERS(p)
};

std::vector<std::string> events_of(const Plan& plan, const TemporaryFolder& folder, std::int64_t resumed_at = 0) {
  std::vector<std::string> events;
  Empty object;
  Trainer trainer(FakeUpdater(kPerEpoch), plan.stop, folder.path.string());
  const auto note = [&](const std::string& what) {
    events.push_back(what + " " + std::to_string(trainer.updater().iteration()));
  };
  trainer.extend([](Trainer& t) { t.observation().set("score", kScores[t.updater().iteration()]); },
                 {.name = "score", .priority = PRIORITY_WRITER});
  const auto add_saver = [&] {
    const ExtendOptions options{
        .name = "saver", .trigger = ManualScheduleTrigger({3, 4, 8}, iteration), .priority = plan.saver_priority};
    if (resumed_at > 0) return;  // the files are there
    if (plan.saver == Saver::snapshot) trainer.extend(Snapshot(), options);
    else if (plan.saver == Saver::object)
      trainer.extend(snapshot_object(trainer, "snapshot_iter_{.updater.iteration}"), options);
    else
      trainer.extend(
          [](Trainer& t) {
            nn::serializers::save_npz(t.out() + "/snapshot_iter_" + std::to_string(t.updater().iteration()), t);
          },
          {.name = "saver",
           .trigger = ManualScheduleTrigger({3, 4, 8}, iteration),
           .priority = plan.saver_priority.value_or(PRIORITY_SNAPSHOT)});
  };
  if (plan.saver_first) add_saver();
  const ExtendOptions options{.name = "event", .trigger = plan.trigger, .priority = plan.priority};
  if (plan.object_saved)
    trainer.extend(snapshot_object(object, "object",
                                   [&](const std::string& path, Empty& o) {
                                     nn::serializers::save_npz(path, o);
                                     note("object");
                                   }),
                   options);
  else trainer.extend([&](Trainer&) { note("event"); }, options);
  if (!plan.saver_first) add_saver();
  if (resumed_at > 0) nn::serializers::load_npz(folder / ("snapshot_iter_" + std::to_string(resumed_at)), trainer);
  trainer.run();
  note("end");
  return events;
}

std::vector<std::string> after(const std::vector<std::string>& events, std::int64_t when) {
  std::vector<std::string> later;
  for (const std::string& e : events)
    if (std::stoll(e.substr(e.rfind(' '))) > when || e.starts_with("end")) later.push_back(e);
  return later;
}

void check_resumes(const Plan& plan) {
  const TemporaryFolder folder("resume_order");
  const std::vector<std::string> whole = events_of(plan, folder);
  for (const std::int64_t at : {3, 4, 8}) {
    if (!std::filesystem::exists(folder / ("snapshot_iter_" + std::to_string(at)))) continue;
    BOOST_TEST_CONTEXT("resumed at " << at)
    BOOST_TEST(events_of(plan, folder, at) == after(whole, at), boost::test_tools::per_element());
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(orders_of_resumed_runs)

BOOST_AUTO_TEST_CASE(every_trigger_in_both_orders) {
  const Warnings warnings;
  for (const Kind& kind : kTriggers)
    for (const bool first : {true, false})
      for (const std::optional<int> priority :
           {std::optional<int>(), std::optional(PRIORITY_SNAPSHOT), std::optional(-500)})
        BOOST_TEST_CONTEXT(kind.name << ", the snapshot registered " << (first ? "first" : "last") << ", priority "
                                     << priority.value_or(0)) {
          check_resumes({.saver_first = first, .priority = priority, .trigger = kind.make()});
        }
  BOOST_TEST(warnings.texts.empty());
}

BOOST_AUTO_TEST_CASE(every_way_of_saving_the_trainer) {
  const Warnings warnings;
  for (const Saver saver : {Saver::snapshot, Saver::object, Saver::function})
    for (const bool first : {true, false})
      for (const bool object : {true, false})
        for (const std::optional<int> priority : {std::optional<int>(), std::optional(PRIORITY_WRITER)}) {
          if (saver == Saver::function && priority) continue;  // see a_saver_that_cannot_be_known
          BOOST_TEST_CONTEXT(kSavers[int(saver)] << ", registered " << (first ? "first" : "last") << ", priority "
                                                 << priority.value_or(0) << ", beside a snapshot_object " << object) {
            check_resumes({.saver = saver,
                           .saver_first = first,
                           .saver_priority = priority,
                           .object_saved = object,
                           .trigger = MaxValueTrigger("score", {1, iteration})});
          }
        }
  BOOST_TEST(warnings.texts.empty());
}

// A stop trigger is asked before the snapshot, and not once more in the resumed run.
BOOST_AUTO_TEST_CASE(stop_triggers) {
  const Kind stops[] = {
      {"patience", [] { return TriggerSpec(Patience(2)); }},
      {"no patience", [] { return TriggerSpec(Patience(1)); }},
      {"calls",
       [] {
         struct TenthCall : EveryThird {
           bool operator()(Trainer&) override { return ++calls == 10; }
         };
         return TriggerSpec(TenthCall());
       }},
      {"max after a pause",
       [] {
         const auto better = [](double best, double value) { return value > best + 0.04; };
         return TriggerSpec(BestValueTrigger("score", better, {5, iteration}));
       }},
      {"schedule", [] { return TriggerSpec(ManualScheduleTrigger(9, iteration)); }},
      {"function", [] { return TriggerSpec([](Trainer& t) { return t.updater().iteration() == 10; }); }},
  };
  for (const Kind& kind : stops)
    for (const bool first : {true, false}) {
      BOOST_TEST_CONTEXT(kind.name << ", first " << first) {
        const Plan plan{.saver_first = first, .stop = kind.make()};
        check_resumes(plan);
      }
    }
  // Another stop trigger than the one of the snapshot is asked.
  const TemporaryFolder folder("other_stop");
  (void)events_of({.stop = TriggerSpec(Patience(2))}, folder);
  const auto at_once =
      events_of({.stop = TriggerSpec([](Trainer& t) { return t.updater().iteration() >= 4; })}, folder, 4);
  BOOST_TEST(at_once == std::vector<std::string>{"end 4"}, boost::test_tools::per_element());
}

// A function of another priority that saves the trainer is told when it comes too early.
BOOST_AUTO_TEST_CASE(a_saver_that_cannot_be_known) {
  for (const bool first : {true, false}) {
    const Warnings warnings;
    const TemporaryFolder folder("early_saver");
    (void)events_of({.saver = Saver::function, .saver_first = first, .saver_priority = PRIORITY_READER}, folder);
    if (!first) {
      BOOST_TEST(warnings.texts.empty());
      continue;
    }
    BOOST_REQUIRE(warnings.texts.size() == 3u);
    BOOST_TEST(has(warnings.texts[0], "iteration 3"));
    BOOST_TEST(has(warnings.texts[0], "PRIORITY_SNAPSHOT"));
  }
}

// The values that extensions collect: the state at the end, and the log.
BOOST_AUTO_TEST_CASE(every_extension_in_both_orders) {
  struct Count : Extension {
    std::int64_t n = 0;
    void operator()(Trainer&) override { ++n; }
    void serialize(nn::Serializer& s) override { s("n", n); }
  };
  const auto run = [](const TemporaryFolder& folder, bool first, std::optional<int> priority, std::int64_t from) {
    autograd::seed(3);
    nn::Classifier model{TinyMLP()};
    MomentumSGD sgd;
    sgd.setup(model);
    const auto data = std::make_shared<TupleDataset>(
        std::vector<Array>{autograd::random_normal({6, 4}, 0, 1, Dtype::float32, autograd::default_generator()),
                           ints({0, 1, 2, 2, 1, 0})});
    SerialIterator it(data, 2), test(data, 4, {.repeat = false, .shuffle = false});
    Trainer trainer(StandardUpdater(it, sgd), {10, iteration}, folder.path.string());
    if (first) trainer.extend(Snapshot(), {.trigger = TriggerSpec(1, iteration)});
    const auto add = [&](auto extension, TriggerSpec trigger = {1, iteration}) {
      trainer.extend(std::move(extension), {.trigger = std::move(trigger), .priority = priority});
    };
    add(Evaluator(test, model), {2, iteration});
    add(LogReport({.trigger = {3, iteration}}));
    add(LogReport({.trigger = MinValueTrigger("main/loss", {2, iteration}), .log_name = "best"}));
    add(PlotReport({"main/loss"}, {.trigger = {3, iteration}, .file_name = "loss.svg"}));
    add(MicroAverage("main/accuracy", "main/loss", "ratio", {3, iteration}));
    add(ParameterStatistics(model, {.result_trigger = {4, iteration}}));
    add(ExponentialShift("lr", 0.9), MaxValueTrigger("main/loss", {1, iteration}));
    add(LinearShift("momentum", {0.9, 0.5}, {1, 5}), {2, iteration});
    add(Count(), MaxValueTrigger("main/accuracy", {1, iteration}));
    if (!first) trainer.extend(Snapshot(), {.trigger = TriggerSpec(1, iteration)});
    if (from > 0) nn::serializers::load_npz(folder / ("snapshot_iter_" + std::to_string(from)), trainer);
    trainer.run();
    std::vector<std::string> state;
    nn::serializers::DictionarySerializer s;
    trainer.serialize(s);
    for (const auto& e : s.entries()) {
      if (e.key == "_snapshot_elapsed_time") continue;
      std::string text = e.text;
      for (std::size_t at; (at = text.find("\"elapsed_time\": ")) != std::string::npos;)
        text.erase(at, text.find_first_of(",}", at) - at);
      state.push_back(e.key + "=" + text + std::string(reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size()));
    }
    return state;
  };
  for (const bool first : {true, false})
    for (const std::optional<int> priority :
         {std::optional<int>(), std::optional(PRIORITY_SNAPSHOT), std::optional(-500)}) {
      const TemporaryFolder folder("resumed_extensions");
      const auto whole = run(folder, first, priority, 0);
      for (const std::int64_t from : {4, 7})
        BOOST_TEST_CONTEXT("first " << first << ", priority " << priority.value_or(0) << ", from " << from)
      BOOST_TEST(run(folder, first, priority, from) == whole, boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_SUITE_END()
