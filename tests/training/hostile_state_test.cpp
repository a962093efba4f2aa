// Snapshots, logs and vocabularies as an attacker or a damaged disk would make them: they are read in a time that is in
// proportion to their length, and numbers that would make a training go on for ever are refused.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <ctime>
#include <limits>
#include <sstream>

#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_run.h>
#include <catena/training/datasets.h>
#include <catena/training/format.h>

using namespace test;
using namespace training;

namespace {

// Of the processor, so that other programs do not count.
double seconds_of(const std::function<void()>& f) {
  const auto used = [] {
    struct timespec t {};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
  };
  const double start = used();
  f();
  return used() - start;
}

// How much longer it takes for sixteen times as much: 16 to 50 where the time is in proportion (more memory is slower),
// 256 where it is quadratic. The least of a few tries.
double growth(const std::function<void(std::int64_t)>& f, std::int64_t n) {
  double small = 1e9, large = 1e9;
  for (int i = 0; i < 5; ++i) {
    small = std::min(small, seconds_of([&] { f(n); }));
    large = std::min(large, seconds_of([&] { f(16 * n); }));
  }
  return large / small;
}
constexpr double kQuadratic = 110;

std::string object_of(std::int64_t n) {
  std::string text = "[{";
  for (std::int64_t i = 0; i < n; ++i) text += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":1";
  return text + "}]";
}

struct StoredTrigger {
  std::int64_t iteration;
  double detail;
  void serialize(nn::Serializer& s) {
    s("previous_iteration", iteration);
    s("previous_epoch_detail", detail);
  }
};

// A copy of a snapshot in which one number is another one.
void change(const std::string& from, const std::string& to, const std::string& key, double value) {
  const catena::NpzReader npz("test", from);
  catena::AtomicFile file("test", to);
  catena::NpzWriter out(file, false);
  for (const std::string& name : npz.keys()) {
    catena::NpyArray a = npz.read(name);
    if (name == key && a.dtype == Dtype::int64) {
      const auto integer = static_cast<std::int64_t>(value);
      std::memcpy(a.data.data(), &integer, sizeof integer);
    } else if (name == key) {
      BOOST_REQUIRE((a.dtype == Dtype::float64));
      std::memcpy(a.data.data(), &value, sizeof value);
    }
    if (a.dtype) out.add(name, *a.dtype, a.shape, a.data);
    else out.add_text(name, catena::npy_text(a));
  }
  out.finish();
  file.commit();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hostile_state)

BOOST_AUTO_TEST_CASE(many_keys_of_an_object) {
  BOOST_TEST(growth([](std::int64_t n) { log_from_json(object_of(n), "log"); }, 4000) < kQuadratic);
  const Log log = log_from_json(object_of(30000), "log");
  BOOST_TEST(log.at(0).size() == 30000u);
  BOOST_TEST(log[0].number("k29999") == 1);
}

BOOST_AUTO_TEST_CASE(entries_keep_their_order) {
  LogEntry entry;
  for (int i = 0; i < 40; ++i) entry.set("k" + std::to_string(i), std::int64_t(i));
  entry.set("k7", std::string("seven"));
  entry.set("k39", 0.5);
  BOOST_TEST(entry.size() == 40u);
  int i = 0;
  for (const auto& [key, value] : entry) BOOST_TEST(key == "k" + std::to_string(i++));
  BOOST_TEST((entry.at("k7") == LogValue(std::string("seven"))));
  BOOST_TEST(entry.number("k39") == 0.5);
  entry.erase("k3");
  BOOST_TEST(!entry.contains("k3"));
  BOOST_TEST(entry.number("k4") == 4);
  for (int k = 0; k < 30; ++k) entry.erase("k" + std::to_string(k));
  BOOST_TEST(entry.size() == 10u);
  entry.set("k31", std::int64_t(-1));
  BOOST_TEST(entry.number("k31") == -1);
  BOOST_TEST(entry.size() == 10u);
  LogEntry copy = entry;
  copy.set("new", std::int64_t(1));
  BOOST_TEST(!entry.contains("new"));
  BOOST_TEST((copy != entry));
}

BOOST_AUTO_TEST_CASE(many_summaries) {
  const auto add = [](std::int64_t n) {
    nn::DictSummary summary;
    for (std::int64_t i = 0; i < n; ++i) summary.set("k" + std::to_string(i), nn::Summary());
    BOOST_REQUIRE(std::int64_t(summary.summaries().size()) == n);
  };
  BOOST_TEST(growth(add, 4000) < kQuadratic);
}

BOOST_AUTO_TEST_CASE(many_words) {
  const auto words = [](std::int64_t n) {
    std::vector<std::string> all;
    for (std::int64_t i = 0; i < n; ++i) all.push_back("w" + std::to_string((i * 7919) % n));
    return all;
  };
  const auto make = [&](std::int64_t n) { datasets::Vocabulary vocabulary(words(n)); };
  BOOST_TEST(growth(make, 20000) < kQuadratic);
  const datasets::Vocabulary vocabulary(words(1000));
  BOOST_TEST(vocabulary.size() == 1000);
  BOOST_TEST(vocabulary["w0"] == 0);
  BOOST_TEST(vocabulary["w919"] == 1);
  BOOST_TEST(vocabulary.words().at(2) == "w838");
}

BOOST_AUTO_TEST_CASE(numbers_of_snapshots) {
  const TemporaryFolder folder("hostile");
  StatefulRun run(1, 3, folder.path.string());
  run.trainer.run();
  const std::string good = folder / "snapshot_iter_3", bad = folder / "bad";
  const double nan = std::nan(""), huge = 9.1e18;
  const std::vector<std::pair<std::string, std::vector<double>>> numbers = {
      {"updater/iteration", {-1, -4e18, huge}},
      {"updater/iterator:main/epoch", {-1, huge}},
      {"updater/iterator:main/current_position", {-1, 22, huge}},
      {"updater/iterator:main/previous_epoch_detail", {nan, -5, 1e300, INFINITY}},
      {"updater/optimizer:main/t", {-1, huge}},
      {"updater/optimizer:main/epoch", {-1, huge}}};
  for (const auto& [key, values] : numbers)
    for (const double value : values) {
      change(good, bad, key, value);
      StatefulRun resumed(2, 6, folder.path.string());
      const std::string message =
          message_of<catena::ValueError>([&] { nn::serializers::load_npz(bad, resumed.trainer); });
      BOOST_TEST(!message.empty(), key);
      BOOST_TEST(resumed.trainer.updater().iteration() == 0, key);
    }
  change(good, bad, "updater/iteration", 3);
  StatefulRun resumed(2, 6, folder.path.string());
  nn::serializers::load_npz(bad, resumed.trainer);
  BOOST_TEST(resumed.trainer.updater().iteration() == 3);
}

BOOST_AUTO_TEST_CASE(triggers_of_positions_that_are_no_numbers) {
  const TemporaryFolder folder("positions");
  for (const double position : {std::nan(""), 1e300, -1e300, double(INFINITY)}) {
    StoredTrigger written{5, position};
    nn::serializers::save_npz(folder / "trigger", written);
    IntervalTrigger trigger(1, epoch);
    BOOST_CHECK_THROW(nn::serializers::load_npz(folder / "trigger", trigger), catena::ValueError);
  }
  // A period that is tiny beside the position.
  FakeUpdater updater(1);
  Trainer trainer(updater, {3, iteration}, "");
  IntervalTrigger tiny(1e-300, iteration);
  int fired = 0;
  trainer.extend([&](Trainer& t) { fired += tiny(t); }, {.trigger = {1, iteration}});
  trainer.run();
  BOOST_TEST(fired >= 1);
}

BOOST_AUTO_TEST_CASE(patterns_of_file_names_stay_short) {
  for (const char* spec : {"1000000000d", "01000000000", ".999999999f", "*>5000", "99999999999999999999d", "4097"})
    BOOST_TEST(has(message_of<catena::ValueError>([&] { format_value(LogValue(1.5), spec); }), "4096"), spec);
  BOOST_TEST(format_value(LogValue(std::int64_t(7)), "4096d").size() == 4096u);
  BOOST_CHECK_THROW(check_trainer_pattern("m_{.updater.iteration:999999999d}"), catena::ValueError);
}

// PrintReport shows what the log of a snapshot says.
BOOST_AUTO_TEST_CASE(texts_of_logs_do_not_reach_the_terminal_as_they_are) {
  std::ostringstream printed;
  FakeUpdater updater(1, [](std::int64_t) { nn::report("x", 1.0); });
  Trainer trainer(updater, {1, iteration}, TemporaryFolder("printed").path.string());
  LogReport report(
      {.trigger = {1, iteration}, .postprocess = [](LogEntry& e) { e.set("note", std::string("\x1b[2J\x9b")); }});
  trainer.extend(std::move(report));
  trainer.extend(PrintReport({"note"}, {.out = &printed, .terminal = false}));
  trainer.run();
  BOOST_TEST(has(printed.str(), "\\x1b[2J\\x9b"), printed.str());
  BOOST_TEST(!has(printed.str(), "\x1b"));
}

BOOST_AUTO_TEST_SUITE_END()
