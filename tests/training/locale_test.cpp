// Logs, names of files and pictures of a training in a program with the locale of a country with a decimal comma.
#include <boost/test/unit_test.hpp>

#include <sstream>

#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/locale.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>
#include <catena/training/format.h>
#include <catena/training/log_entry.h>

using namespace test;
using namespace training;

BOOST_AUTO_TEST_SUITE(locales)

BOOST_AUTO_TEST_CASE(logs_and_reports) {
  const GermanLocale locale;
  BOOST_REQUIRE((std::ostringstream() << 1234.5).str() == "1.234,5");
  const TemporaryFolder folder("locale_log");
  FakeUpdater updater(0.5, [](std::int64_t i) { nn::report("loss", double(i) + 0.25); });
  Trainer trainer(updater, {1200, iteration}, folder.path.string());
  trainer.extend(LogReport({.trigger = {1200, iteration}}));
  std::ostringstream table, bar;
  trainer.extend(PrintReport({"iteration", "epoch", "loss"}, {.out = &table, .terminal = false}));
  trainer.extend(ProgressBar({.update_interval = 1200, .out = &bar, .terminal = true}));
  trainer.run();
  const Log log = log_from_json(file_content(folder / "log"), "log");
  BOOST_TEST(log.at(0).number("iteration") == 1200);
  BOOST_TEST(log.at(0).number("epoch") == 2400);
  BOOST_TEST(log.at(0).number("loss") == 600.75);
  BOOST_TEST(has(table.str(), "1200        2400        600.75"), table.str());
  BOOST_TEST(has(bar.str(), "1200 iter, 2400 epoch / 1200 iterations"), bar.str());
  BOOST_TEST(has(bar.str(), "100.00%"), bar.str());
}

BOOST_AUTO_TEST_CASE(texts_of_values) {
  const GermanLocale locale;
  BOOST_TEST(repr(1234567.25) == "1234567.25");
  BOOST_TEST(repr(1e-5) == "1e-05");
  BOOST_TEST(format_value(LogValue(std::int64_t(1234567)), "") == "1234567");
  BOOST_TEST(format_value(LogValue(1234.5), ".2f") == "1234.50");
  BOOST_TEST(format_value(LogValue(0.125), "6.2%") == "12.50%");
  for (const char* spec : {"L", ".2Lf", "a", "A", "10L"})
    BOOST_TEST(has(message_of<catena::ValueError>([&] { format_value(LogValue(0.5), spec); }), "is not understood"),
               spec);
  BOOST_TEST(format_value(LogValue(0.5), "L>5") == "LL0.5");  // a filling, not a type
  Log log(1);
  log[0].set("a", 1234567.5);
  log[0].set("b", std::int64_t(1234567));
  BOOST_TEST(to_json(log) == "[{\"a\": 1234567.5, \"b\": 1234567}]");
  BOOST_TEST((log_from_json(to_json(log), "log") == log));
}

BOOST_AUTO_TEST_CASE(names_of_snapshots_and_pictures) {
  const GermanLocale locale;
  const TemporaryFolder folder("locale_snapshot");
  TinyMLP model;
  FakeUpdater updater(100, [](std::int64_t i) { nn::report("loss", 1234.5 / double(i)); });
  Trainer trainer(updater, {1200, iteration}, folder.path.string());
  trainer.extend(
      snapshot_object(model, "m_{.updater.iteration}_{.updater.epoch_detail:.1f}", {.trigger = {1200, iteration}}));
  trainer.extend(PlotReport({"loss"}, {.trigger = {300, iteration}, .file_name = "plot.svg"}));
  trainer.run();
  BOOST_TEST(std::filesystem::exists(folder / "m_1200_12.0"));
  TinyMLP read;
  nn::serializers::load_npz(folder / "m_1200_12.0", read);
  const std::string picture = file_content(folder / "plot.svg");
  // Coordinates with a decimal comma would be other numbers.
  for (std::size_t at = picture.find("x1=\""); at != picture.npos; at = picture.find("x1=\"", at + 1))
    BOOST_TEST(picture.substr(at + 4, picture.find('"', at + 4) - at - 4).find(',') == std::string::npos);
  BOOST_TEST(has(picture, "x1=\""));
}

BOOST_AUTO_TEST_SUITE_END()
