// Options of reports: reductions other than the mean, tables without given columns, the bar of an evaluation.
#include <catena/training/extensions/log_report.h>

#include <cmath>
#include <sstream>

#include <catena/autograd/functions/reduction.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions/evaluator.h>
#include <catena/training/extensions/interval_logs.h>
#include <catena/training/extensions/print_report.h>

using namespace test;
using namespace training;

namespace {

const std::vector<double> kValues{3, -1, 4, 1, -5, 9, 2, 6};

void report_values(Trainer& trainer) {
  const double value = kValues[std::size_t(trainer.updater().iteration() - 1)];
  for (const char* key : {"mean", "sum", "last", "max", "min"}) trainer.observation().set(key, value);
}

LogReductions all_reductions() {
  return {{"mean", LogReduction::mean},
          {"sum", LogReduction::sum},
          {"last", LogReduction::last},
          {"max", LogReduction::max},
          {"min", LogReduction::min}};
}

// The values of an entry without its time.
std::string text_of(const LogEntry& entry) {
  std::string text;
  for (const auto& [key, value] : entry)
    if (key != "elapsed_time") text += key + " " + repr(value.number()) + ", ";
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(log_options)

BOOST_AUTO_TEST_CASE(reductions) {
  const TemporaryFolder folder("reductions");
  FakeUpdater updater(4);
  Trainer trainer(updater, {8, iteration}, folder.path.string());
  trainer.extend(report_values, {.name = "values", .priority = PRIORITY_WRITER});
  LogReport& log = trainer.extend(LogReport({.reductions = all_reductions()}));
  trainer.extend(JsonLinesLog("lines", {.reductions = {{"last", LogReduction::max}}}));
  trainer.run();
  BOOST_REQUIRE(log.log().size() == 2u);
  BOOST_TEST(text_of(log.log()[0]) == "mean 1.75, sum 7.0, last 1.0, max 4.0, min -1.0, epoch 1.0, iteration 4.0, ");
  BOOST_TEST(text_of(log.log()[1]) == "mean 3.0, sum 12.0, last 6.0, max 9.0, min -5.0, epoch 2.0, iteration 8.0, ");
  BOOST_TEST(has(file_content(folder / "lines"), "\"last\": 9.0"));
}

// Arrays count as numbers, arrays of several elements not at all, and a NaN shows.
BOOST_AUTO_TEST_CASE(reductions_of_arrays_and_nan) {
  const TemporaryFolder folder("reductions_arrays");
  FakeUpdater updater(3);
  Trainer trainer(updater, {6, iteration}, folder.path.string());
  trainer.extend(
      [](Trainer& t) {
        const auto i = float(t.updater().iteration());
        t.observation().set("max", nn::Observed(floats({i}, {1})));
        t.observation().set("many", nn::Observed(floats({1, 2}, {2})));
        t.observation().set("min", i == 5 ? NAN : double(i));
        t.observation().set("sum", nn::Observed(floats({i}, {})));
        t.observation().set("last", i == 5 ? NAN : double(i));
      },
      {.name = "values", .priority = PRIORITY_WRITER});
  LogReductions all = all_reductions();
  all.emplace_back("many", LogReduction::max);
  LogReport& log = trainer.extend(LogReport({.reductions = all}));
  trainer.run();
  BOOST_TEST(text_of(log.log()[0]) == "max 3.0, min 1.0, sum 6.0, last 3.0, epoch 1.0, iteration 3.0, ");
  BOOST_TEST(text_of(log.log()[1]) == "max 6.0, min nan, sum 15.0, last 6.0, epoch 2.0, iteration 6.0, ");
}

BOOST_AUTO_TEST_CASE(reductions_after_a_resume) {
  const TemporaryFolder folder("reductions_resume");
  const auto run = [&](double end, bool resume, LogReductions how) {
    FakeUpdater updater(4);
    Trainer trainer(updater, {end, iteration}, folder.path.string());
    trainer.extend(report_values, {.name = "values", .priority = PRIORITY_WRITER});
    LogReport& log = trainer.extend(LogReport({.reductions = std::move(how)}));
    if (resume) nn::serializers::load_npz(folder / "t", trainer);
    trainer.run();
    nn::serializers::save_npz(folder / "t", trainer);
    std::string text;
    for (const LogEntry& entry : log.log()) text += text_of(entry);
    return text;
  };
  const std::string whole = run(8, false, all_reductions());
  for (const int stop : {2, 3, 4, 6}) {
    run(stop, false, all_reductions());
    BOOST_TEST(run(8, true, all_reductions()) == whole, stop);
  }
  run(3, false, {});  // a file of a report that had no reductions
  BOOST_TEST(has(run(4, true, all_reductions()), "sum 7.0, last 1.0"));
}

BOOST_AUTO_TEST_CASE(tables_without_columns) {
  const TemporaryFolder folder("columns");
  FakeUpdater updater(1, [](std::int64_t i) {
    nn::report("main/loss", 1.0 / double(i));
    nn::report("main/accuracy", 0.5);
  });
  std::ostringstream out;
  Trainer trainer(updater, {2, iteration}, folder.path.string());
  trainer.extend(LogReport());
  trainer.extend(PrintReport({.out = &out}));
  trainer.run();
  std::istringstream lines(out.str());
  std::string header, first, second;
  std::getline(lines, header);
  std::getline(lines, first);
  std::getline(lines, second);
  BOOST_TEST(header == "epoch       main/loss   main/accuracy  elapsed_time");
  BOOST_TEST(first.starts_with("1           1           0.5            "), first);
  BOOST_TEST(second.starts_with("2           0.5         0.5            "), second);
}

BOOST_AUTO_TEST_CASE(a_bar_for_an_evaluation) {
  struct Model : nn::Chain {
    nn::Linear l{2, 1};
    NN_MEMBERS(l)
    Variable operator()(const Variable& x) {
      const Variable loss = autograd::sum(l(x));
      nn::report("loss", loss, this);
      return loss;
    }
  } model;
  SerialIterator it(autograd::arrays::ones({5, 2}), 2, {.repeat = false, .shuffle = false});
  const auto printed = [&](bool bar, bool terminal) {
    std::ostringstream out;
    Evaluator evaluator(it, model, {.progress_bar = bar, .out = &out, .terminal = terminal});
    evaluator();
    return out.str();
  };
  const std::string marks20(20, '#'), marks40(40, '#'), dots30(30, '.'), dots10(10, '.'), marks50(50, '#');
  BOOST_TEST(printed(true, true) == "\033[Jevaluation [" + marks20 + dots30 + "] 40.00%\r\033[Jevaluation [" + marks40 +
                                        dots10 + "] 80.00%\r\033[Jevaluation [" + marks50 + "] 100.00%\r\033[J");
  BOOST_TEST(printed(true, false) == "");
  BOOST_TEST(printed(false, true) == "");
}

BOOST_AUTO_TEST_SUITE_END()
