// LogReport, PrintReport and ProgressBar: files and texts of the reference, formats, state.
#include <catena/training/extensions/log_report.h>

#include <cmath>
#include <sstream>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/pattern.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions/print_report.h>
#include <catena/training/extensions/progress_bar.h>

using namespace test;
using namespace training;
using json = test::Json;

namespace {

TriggerSpec trigger_of(const json& c) {
  if (!c["log_report"].contains("trigger")) return {1, epoch};
  return {c["log_report"]["trigger"][0].get<double>(), c["log_report"]["trigger"][1] == "epoch" ? epoch : iteration};
}

// Runs the observations of a golden case; extensions are added by `setup`.
void run_observations(const json& c, const std::string& out, const std::function<void(Trainer&)>& setup) {
  FakeUpdater updater(c["iterations_per_epoch"].get<double>(), [&](std::int64_t i) {
    for (const auto& [key, value] : c["observations"][std::size_t(i - 1)].items()) nn::report(key, value.get<double>());
  });
  Trainer trainer(updater, {c["iterations"].get<double>(), iteration}, out);
  setup(trainer);
  trainer.run();
}

LogReport golden_report(const json& c) {
  LogReport::Options options;
  const json& given = c["log_report"];
  if (given.contains("keys")) options.keys = given["keys"].get<std::vector<std::string>>();
  if (given.contains("log_name")) options.log_name = given["log_name"].get<std::string>();
  options.trigger = trigger_of(c);
  // The clock of the stored run.
  options.postprocess = [&c](LogEntry& e) {
    e.set("elapsed_time", c["elapsed_time"][std::size_t(e.number("iteration") - 1)].get<double>());
  };
  return LogReport(std::move(options));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(log_report)

BOOST_AUTO_TEST_CASE(files_and_tables_of_the_reference) {
  const json cases = json::parse(file_content((Golden::open("log_report").folder() / "log_report.json").string()));
  BOOST_TEST(cases.size() == 5u);
  for (const json& c : cases) {
    BOOST_TEST_CONTEXT(c["name"].get<std::string>()) {
      const TemporaryFolder folder("log");
      std::ostringstream printed;
      run_observations(c, folder.path.string(), [&](Trainer& trainer) {
        trainer.extend(golden_report(c));
        trainer.extend(PrintReport(c["print_report"]["entries"].get<std::vector<std::string>>(),
                                   {.out = &printed, .terminal = true}));
      });
      for (const auto& [name, text] : c["files"].items())
        BOOST_TEST(file_content(folder / name) == text.get<std::string>());
      BOOST_TEST(std::size_t(std::distance(std::filesystem::directory_iterator(folder.path), {})) == c["files"].size());
      BOOST_TEST(printed.str() == c["print_report"]["output"].get<std::string>());
    }
  }
}

BOOST_AUTO_TEST_CASE(texts_and_empty_logs) {
  LogEntry e;
  e.set("main/loss", 0.5);
  e.set("x", std::int64_t(3));
  e.set("name", std::string("a\"b\\\n"));
  e.set("bad", NAN);
  BOOST_TEST(to_json({e, LogEntry()}, 4) ==
             "[\n    {\n        \"main/loss\": 0.5,\n        \"x\": 3,\n        \"name\": \"a\\\"b\\\\\\n\",\n        "
             "\"bad\": NaN\n    },\n    {}\n]");
  BOOST_TEST(to_json({e}) == "[{\"main/loss\": 0.5, \"x\": 3, \"name\": \"a\\\"b\\\\\\n\", \"bad\": NaN}]");
  BOOST_TEST(to_json({}) == "[]");
  BOOST_TEST(to_json({}, 4) == "[]");
}

BOOST_AUTO_TEST_CASE(numbers_as_python_prints_them) {
  const std::vector<std::pair<double, const char*>> expected = {{1.0, "1.0"},
                                                                {0.0, "0.0"},
                                                                {-0.0, "-0.0"},
                                                                {0.1, "0.1"},
                                                                {1e-4, "0.0001"},
                                                                {1e-5, "1e-05"},
                                                                {1.5e-7, "1.5e-07"},
                                                                {1e16, "1e+16"},
                                                                {1e15, "1000000000000000.0"},
                                                                {123456789.0, "123456789.0"},
                                                                {1e22, "1e+22"},
                                                                {1e100, "1e+100"},
                                                                {5e-324, "5e-324"},
                                                                {-2.5, "-2.5"},
                                                                {1.0 / 3, "0.3333333333333333"},
                                                                {123456.789e3, "123456789.0"},
                                                                {1.2345e17, "1.2345e+17"},
                                                                {INFINITY, "inf"},
                                                                {-INFINITY, "-inf"},
                                                                {NAN, "nan"}};
  for (const auto& [value, text] : expected) BOOST_TEST(repr(value) == text);
}

BOOST_AUTO_TEST_CASE(reading_json) {
  const Log log = log_from_json(
      " [ {\"a\" : 1, \"b\":-2.5e3,\"c\":NaN , \"d\":-Infinity,\"e\":\"\\u00fc\\ud83d\\ude00\\/\"},{ } ] ", "test");
  BOOST_TEST(log.size() == 2u);
  BOOST_TEST((log[0].at("a") == LogValue(std::int64_t(1))));
  BOOST_TEST((log[0].at("b") == LogValue(-2500.0)));
  BOOST_TEST(std::isnan(log[0].number("c")));
  BOOST_TEST(std::isinf(log[0].number("d")));
  BOOST_TEST((log[0].at("e") == LogValue(std::string("\xc3\xbc\xf0\x9f\x98\x80/"))));
  BOOST_CHECK_THROW(log[0].number("e"), catena::TypeError);
  BOOST_TEST(log[0]["a"].integer() == 1);
  BOOST_TEST(double(log[0]["b"]) == -2500);
  BOOST_TEST((log[0]["e"].is_text() && !log[0]["a"].is_text() && !log[0]["b"].is_integer()));
  BOOST_CHECK_THROW(log[0]["b"].integer(), catena::TypeError);
  BOOST_CHECK_THROW(log[0]["b"].text(), catena::TypeError);
  BOOST_TEST(has(message_of<catena::KeyError>([&] { log[0].at("z"); }), "a, b"));
  for (const char* bad : {"", "[", "{}", "[{\"a\":}]", "[{\"a\":1]", "[{\"a\" 1}]", "[{\"a\":[1]}]", "[{\"a\":\"x}]",
                          "[{\"a\":\"\\u12\"}]", "[{\"a\":\"\\ud800\"}]", "[{\"a\":1}] x", "[{\"a\":\"\\q\"}]"})
    BOOST_TEST(has(message_of<catena::ValueError>([&] { log_from_json(bad, "somewhere"); }), "somewhere"), bad);
}

BOOST_AUTO_TEST_CASE(format_specifications) {
  const LogValue i = std::int64_t(42), d = 3.14159, s = std::string("ab");
  const std::vector<std::tuple<LogValue, const char*, const char*>> expected = {{i, "", "42"},
                                                                                {i, "06d", "000042"},
                                                                                {i, "<5", "42   "},
                                                                                {i, "+d", "+42"},
                                                                                {d, ".2f", "3.14"},
                                                                                {d, "8.3f", "   3.142"},
                                                                                {d, "e", "3.141590e+00"},
                                                                                {d, "", "3.14159"},
                                                                                {i, ".1f", "42.0"},
                                                                                {s, "4", "ab  "},
                                                                                {s, ">4s", "  ab"},
                                                                                {d, "*^9.1f", "***3.1***"},
                                                                                {std::int64_t(-7), "04d", "-007"},
                                                                                {0.125, "7.2%", " 12.50%"}};
  for (const auto& [value, spec, text] : expected) BOOST_TEST(format_value(value, spec) == text);
  for (const char* bad : {"z", "5.", "4d4", "..2f"}) BOOST_CHECK_THROW(format_value(i, bad), catena::ValueError);
  BOOST_CHECK_THROW(format_value(s, "d"), catena::ValueError);
  BOOST_CHECK_THROW(format_value(d, "d"), catena::ValueError);
  auto lookup = [&](std::string_view) { return i; };
  BOOST_TEST(format_fields("a{{{x}}}b{y:04d}", lookup) == "a{42}b0042");
  BOOST_CHECK_THROW(format_fields("{x", lookup), catena::ValueError);
  BOOST_CHECK_THROW(format_fields("x}", lookup), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(trainer_fields) {
  const TemporaryFolder folder("fields");
  FakeUpdater updater(4);
  Trainer trainer(updater, {6, iteration}, folder.path.string());
  trainer.run();
  BOOST_TEST(format_trainer("s_{.updater.iteration:04d}_{0.updater.epoch}_{.updater.epoch_detail:.2f}", trainer) ==
             "s_0006_1_1.50");
  BOOST_TEST(format_trainer("{.out}", trainer) == folder.path.string());
  BOOST_TEST(has(message_of<catena::ValueError>([&] { format_trainer("{.updater.nothing}", trainer); }),
                 ".updater.iteration"));
}

BOOST_AUTO_TEST_CASE(state_comes_back_in_the_middle_of_an_interval) {
  const TemporaryFolder folder("state");
  auto observe = [](std::int64_t i) {
    nn::report("loss", 1.0 / double(i));
    if (i % 3 == 0) nn::report("rare", Variable(floats({float(i)}, {})));
  };
  auto run = [&](FakeUpdater& updater, LogReport& report, double until) {
    Trainer trainer(updater, {until, iteration}, folder.path.string());
    trainer.extend([&](Trainer& t) { report(t); });
    trainer.run();
  };
  auto without_time = [](const Log& log) {
    Log result = log;
    for (LogEntry& e : result) e.erase("elapsed_time");
    return to_json(result);
  };
  FakeUpdater whole(5, observe);
  LogReport expected;
  run(whole, expected, 17);
  BOOST_TEST(expected.log().size() == 3u);
  for (const double stop : {1.0, 5.0, 7.0, 10.0}) {
    FakeUpdater before(5, observe), after(5, observe);
    LogReport first, second;
    run(before, first, stop);
    nn::serializers::save_npz(folder / "u", before);
    nn::serializers::save_npz(folder / "r", first);
    nn::serializers::load_npz(folder / "u", after);
    nn::serializers::load_npz(folder / "r", second);
    run(after, second, 17);
    BOOST_TEST(without_time(second.log()) == without_time(expected.log()));
  }
}

BOOST_AUTO_TEST_CASE(options) {
  const TemporaryFolder folder("options");
  FakeUpdater updater(2, [](std::int64_t i) { nn::report("x", double(i)); });
  Trainer trainer(updater, {2, iteration}, folder.path.string());
  LogReport& silent = trainer.extend(LogReport({.log_name = std::nullopt}));
  LogReport& named = trainer.extend(LogReport({.log_name = "log_{x:.1f}"}));
  BOOST_TEST(named.name() == "LogReport_1");
  trainer.run();
  BOOST_TEST(silent.log().size() == 1u);
  BOOST_TEST(silent.log()[0].number("x") == 1.5);
  BOOST_TEST(std::filesystem::exists(folder / "log_1.5"));
  BOOST_TEST(!std::filesystem::exists(folder / "log"));
}

// The trigger that an entry has is the report's own; one that is given to extend() drops the observations between.
BOOST_AUTO_TEST_CASE(a_sparse_trigger_drops_observations) {
  const TemporaryFolder folder("sparse");
  FakeUpdater updater(2, [](std::int64_t i) { nn::report("x", double(i)); });
  Trainer trainer(updater, {4, iteration}, folder.path.string());
  LogReport& own = trainer.extend(LogReport({.trigger = {4, iteration}}));
  LogReport& given = trainer.extend(LogReport({.trigger = {4, iteration}}), {.trigger = TriggerSpec(2, iteration)});
  trainer.run();
  BOOST_REQUIRE(own.log().size() == 1u);
  BOOST_REQUIRE(given.log().size() == 1u);
  BOOST_TEST(own.log()[0].number("x") == 2.5);
  BOOST_TEST(given.log()[0].number("x") == 3.0);  // of iterations 2 and 4
}

BOOST_AUTO_TEST_CASE(keys_of_the_running_means) {
  const TemporaryFolder folder("keys");
  FakeUpdater updater(2, [](std::int64_t i) { nn::report("x", double(i)); });
  Trainer trainer(updater, {3, iteration}, folder.path.string());
  LogReport& report = trainer.extend(LogReport());
  trainer.run();
  nn::serializers::save_npz(folder / "r", report);
  const catena::NpzReader file("test", folder / "r");
  for (const char* key : {"_log", "_summary/_names", "_summary/_summaries/0/_x", "_summary/_summaries/0/_x2",
                          "_summary/_summaries/0/_n", "_trigger/previous_iteration", "_trigger/previous_epoch_detail"})
    BOOST_TEST(file.contains(key), key);
  BOOST_TEST(catena::npy_text(file.read("_summary/_names")) == "[\"x\"]");
}

BOOST_AUTO_TEST_CASE(print_report_without_a_terminal) {
  const TemporaryFolder folder("print");
  std::ostringstream out;
  FakeUpdater updater(2, [](std::int64_t i) { nn::report("x", double(i)); });
  Trainer trainer(updater, {4, iteration}, folder.path.string());
  trainer.extend(PrintReport({"epoch", "x"}, {.own_log_report = std::make_shared<LogReport>(), .out = &out}));
  trainer.run();
  BOOST_TEST(out.str() == "epoch       x         \n1           1.5         \n2           3.5         \n");
  // The report of a name, which has one of the two values.
  std::ostringstream named;
  FakeUpdater two(1, [](std::int64_t i) { nn::report("x", double(i)), nn::report("y", 7.0); });
  Trainer chosen(two, {1, iteration}, folder.path.string());
  chosen.extend(LogReport({.keys = std::vector<std::string>{"x"}}), {.name = "of x"});
  chosen.extend(PrintReport({"x", "y"}, {.log_report = "of x", .out = &named}));
  chosen.run();
  BOOST_TEST(named.str() == "x           y         \n1                       \n");
  FakeUpdater other(2);
  Trainer wrong(other, {1, iteration}, folder.path.string());
  wrong.extend(ProgressBar({.out = &out}), {.name = "LogReport"});
  wrong.extend(PrintReport({"x"}, {.out = &out}));
  BOOST_CHECK_THROW(wrong.run(), catena::TypeError);
}

BOOST_AUTO_TEST_CASE(progress_bar) {
  const TemporaryFolder folder("progress");
  auto run = [&](ProgressBar::Options options, TriggerSpec stop) {
    std::ostringstream out;
    options.out = &out;
    FakeUpdater updater(4);
    Trainer trainer(updater, stop, folder.path.string());
    trainer.extend(ProgressBar(options));
    trainer.run();
    return out.str();
  };
  const std::string terminal = run({.update_interval = 5, .bar_length = 10, .terminal = true}, {2.5, epoch});
  const std::string block(
      "^\033\\[J     total \\[#####\\.\\.\\.\\.\\.\\] 50\\.00%\n"
      "this epoch \\[##\\.\\.\\.\\.\\.\\.\\.\\.\\] 25\\.00%\n"
      "         5 iter, 1 epoch / 2\\.5 epochs\n"
      " *inf iters/sec\\. Estimated time to finish: 0:00:00\\.\n\033\\[4A"
      "\033\\[J     total \\[##########\\] 100\\.00%\n"
      "this epoch \\[#####\\.\\.\\.\\.\\.\\] 50\\.00%\n"
      "        10 iter, 2 epoch / 2\\.5 epochs\n"
      " *[0-9.e+]+ iters/sec\\. Estimated time to finish: 0:00:00\\.\n\033\\[4A"
      "\033\\[J$");
  BOOST_TEST(matches(terminal, block), terminal);

  const std::string plain = run({.update_interval = 5}, {10, iteration});
  BOOST_TEST(plain.find('\033') == std::string::npos);
  BOOST_TEST(std::count(plain.begin(), plain.end(), '\n') == 2);
  BOOST_TEST(has(plain, "progress 50.00%  5 iter, 1.25 epochs / 10 iterations"));
  BOOST_TEST(has(plain, "progress 100.00%  10 iter"));
  BOOST_CHECK_THROW(run({.update_interval = 1}, [](Trainer& t) { return t.updater().iteration() >= 3; }),
                    catena::TypeError);
  BOOST_TEST(has(run({.training_length = std::pair{4.0, iteration}, .update_interval = 2},
                     [](Trainer& t) { return t.updater().iteration() >= 3; }),
                 "50.00%"));
  BOOST_CHECK_THROW(ProgressBar({.update_interval = 0}), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
