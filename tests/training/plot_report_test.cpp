// PlotReport: pictures read back, points, what is stored; ticks; the limits of figures.
#include <catena/training/extensions/plot_report.h>

#include <zlib.h>

#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include <catena/kernels/base/text.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions/snapshot.h>

using namespace test;
using namespace training;

namespace {

const auto each = boost::test_tools::per_element();
using Pixel = std::array<int, 3>;
constexpr Pixel kWhite{255, 255, 255}, kBlue{31, 119, 180}, kOrange{255, 127, 14};

// Reads an uncompressed-filter RGB PNG after the specification (ISO/IEC 15948), with the checks of a strict reader.
struct Picture {
  int width = 0, height = 0;
  std::string rows;

  explicit Picture(const std::string& file) {
    BOOST_REQUIRE(file.substr(0, 8) == "\x89PNG\r\n\x1a\n");
    std::string packed, names;
    for (std::size_t at = 8; at < file.size();) {
      const std::uint32_t length = number(file, at);
      const std::string type = file.substr(at + 4, 4), content = file.substr(at + 8, length);
      const std::string checked = type + content;
      BOOST_REQUIRE(number(file, at + 8 + length) ==
                    ::crc32(0, reinterpret_cast<const Bytef*>(checked.data()), uInt(checked.size())));
      names += type + " ";
      if (type == "IHDR") {
        BOOST_REQUIRE(length == 13u);
        width = int(number(content, 0));
        height = int(number(content, 4));
        BOOST_REQUIRE(content.substr(8) == std::string("\x08\x02\x00\x00\x00", 5));
      }
      if (type == "IDAT") packed += content;
      at += 12 + length;
    }
    BOOST_REQUIRE(names == "IHDR IDAT IEND ");
    uLongf size = uLongf(height) * uLongf(width * 3 + 1);
    rows.resize(size);
    BOOST_REQUIRE(::uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                               reinterpret_cast<const Bytef*>(packed.data()), uLong(packed.size())) == Z_OK);
    BOOST_REQUIRE(size == rows.size());
    for (int y = 0; y < height; ++y) BOOST_REQUIRE(rows[std::size_t(y) * std::size_t(width * 3 + 1)] == 0);
  }
  static std::uint32_t number(const std::string& s, std::size_t at) {
    std::uint32_t v = 0;
    for (std::size_t i = 0; i < 4; ++i) v = v << 8 | static_cast<unsigned char>(s.at(at + i));
    return v;
  }
  Pixel pixel(int x, int y) const {
    Pixel p{};
    for (int i = 0; i < 3; ++i)
      p[std::size_t(i)] =
          static_cast<unsigned char>(rows.at(std::size_t(y) * std::size_t(width * 3 + 1) + std::size_t(1 + 3 * x + i)));
    return p;
  }
  // Within a pixel of it; the pixels at the edge of a line are mixed with what is behind.
  bool has_near(int x, int y, Pixel color) const {
    for (int i = 0; i < 9; ++i)
      if (pixel(x - 1 + i % 3, y - 1 + i / 3) == color) return true;
    return false;
  }
  // The middle of the pixels of that colour within columns [from, to).
  std::pair<double, double> middle_of(Pixel color, int from, int to) const {
    double x_sum = 0, y_sum = 0, n = 0;
    for (int y = 0; y < height; ++y)
      for (int x = from; x < std::min(to, width); ++x)
        if (pixel(x, y) == color) x_sum += x + 0.5, y_sum += y + 0.5, ++n;
    return {x_sum / n, y_sum / n};
  }
  int count(Pixel color) const {
    int n = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) n += pixel(x, y) == color;
    return n;
  }
};

// The number of an attribute of each element of that name: x1 of <line ...>.
std::vector<double> attributes(const std::string& svg, const std::string& element, const std::string& attribute,
                               const std::string& with = "") {
  std::vector<double> result;
  for (std::size_t at = svg.find("<" + element + " "); at != std::string::npos;
       at = svg.find("<" + element + " ", at + 1)) {
    const std::string text = svg.substr(at, svg.find('>', at) - at);
    if (!has(text, with)) continue;
    const std::size_t begin = text.find(" " + attribute + "=\"") + attribute.size() + 3;
    result.push_back(catena::parse_real(text.substr(begin, text.find('"', begin) - begin)).value());
  }
  return result;
}
int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// In the area within the axes, which begins at (96, 36) and has 480 x 360 units.
double across(double x, double low, double high) { return 96 + (x - low) / (high - low) * 480; }
double down(double y, double low, double high) { return 36 + 360 - (y - low) / (high - low) * 360; }

struct Run {
  TemporaryFolder folder;
  FakeUpdater updater{2, [](std::int64_t i) {
                        nn::report("loss", 1.0 / double(i));
                        nn::report("other", 3.0);
                        if (i > 4) nn::report("late", Variable(floats({float(i)}, {})));
                      }};
  Trainer trainer;
  PlotReport& report;
  Run(const std::string& name, std::vector<std::string> keys, PlotReport::Options options, double until = 8)
      : folder(name),
        trainer(updater, {until, iteration}, folder.path.string()),
        report(trainer.extend(PlotReport(std::move(keys), std::move(options)))) {
    trainer.extend(Snapshot({.filename = "at_{.updater.iteration}", .trigger = {1, iteration}}));
  }
  std::string stored(const std::string& key) {
    nn::serializers::save_npz(folder / "stored", report);
    return catena::npy_text(catena::NpzReader("test", folder / "stored").read(key));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(plot_reports)

BOOST_AUTO_TEST_CASE(ticks_are_round) {
  BOOST_TEST(plot_ticks(0, 1) == (std::vector<double>{0, .2, .4, 0.6000000000000001, .8, 1}), each);
  BOOST_TEST(plot_ticks(-3, 12) == (std::vector<double>{-2, 0, 2, 4, 6, 8, 10, 12}), each);
  BOOST_TEST(plot_ticks(95, 1005) == (std::vector<double>{200, 400, 600, 800, 1000}), each);
  for (const auto& [low, high] : {std::pair{1e-9, 3e-9}, {-7e5, 2e6}, {0.1, 0.100001}, {3.0, 1003.0}}) {
    const std::vector<double> ticks = plot_ticks(low, high);
    BOOST_TEST(ticks.size() >= 3u);
    BOOST_TEST(ticks.size() <= 9u);
    for (const double t : ticks) BOOST_TEST((t >= low - 1e-9 * (high - low) && t <= high + 1e-9 * (high - low)));
  }
}

// Powers of ten; where there are few, 2 and 5 times them; within a decade, the ticks of a linear scale.
BOOST_AUTO_TEST_CASE(ticks_of_a_logarithmic_scale) {
  const auto close = [](const std::vector<double>& actual, const std::vector<double>& expected) {
    BOOST_REQUIRE(actual.size() == expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) BOOST_TEST(std::fabs(actual[i] / expected[i] - 1) < 1e-12);
  };
  close(plot_log_ticks(0.5, 2000), {1, 10, 100, 1000});
  close(plot_log_ticks(1e-3, 1), {1e-3, 1e-2, 1e-1, 1});
  close(plot_log_ticks(0.3, 7), {0.5, 1, 2, 5});
  close(plot_log_ticks(2, 3), plot_ticks(2, 3));
  const std::vector<double> many = plot_log_ticks(1e-30, 1e30);
  BOOST_TEST(many.size() >= 3u);
  BOOST_TEST(many.size() <= 9u);
}

BOOST_AUTO_TEST_CASE(logarithmic_scales) {
  const std::string blue = "stroke=\"#1f77b4\"";
  // Values that are not positive interrupt the curve: one line from (1, 1) to (10, 0.01), one from (1000, 100) to (1e4,
  // 1).
  const PlotFigure figure{.series = {{"a", {{1, 1}, {10, 0.01}, {100, 0}, {100, -5}, {1000, 100}, {10000, 1}}}},
                          .marker = "",
                          .x_scale = "log",
                          .y_scale = "log"};
  const std::string svg = to_svg(figure);
  const std::vector<double> x1 = attributes(svg, "line", "x1", blue), x2 = attributes(svg, "line", "x2", blue);
  const std::vector<double> y1 = attributes(svg, "line", "y1", blue), y2 = attributes(svg, "line", "y2", blue);
  BOOST_REQUIRE(x1.size() == 3u);  // and the sample in the legend
  // The logarithms reach from 0 to 4 and from -2 to 2, with a margin of 5 %.
  BOOST_TEST(std::fabs(x1[0] - across(0, -.2, 4.2)) < 0.006);
  BOOST_TEST(std::fabs(x2[0] - across(1, -.2, 4.2)) < 0.006);
  BOOST_TEST(std::fabs(x1[1] - across(3, -.2, 4.2)) < 0.006);
  BOOST_TEST(std::fabs(y1[0] - down(0, -2.2, 2.2)) < 0.006);
  BOOST_TEST(std::fabs(y2[0] - down(-2, -2.2, 2.2)) < 0.006);
  BOOST_TEST(std::fabs(y1[1] - down(2, -2.2, 2.2)) < 0.006);
  for (const char* text : {">1</text>", ">10000</text>", ">0.01</text>", ">100</text>"})
    BOOST_TEST(has(svg, text), text);
  for (const char* text : {">1e+06</text>", ">100000</text>", ">0.001</text>", ">0.0001</text>"})
    BOOST_TEST(!has(svg, text), text);  // beyond the ends
  // Given limits; the other axis is linear.
  const std::string limited = to_svg({.series = {{"a", {{0, 1}, {1, 100}}}},
                                      .marker = "",
                                      .x_range = {{0, 2}},
                                      .y_range = {{1, 10000}},
                                      .y_scale = "log"});
  BOOST_TEST(std::fabs(attributes(limited, "line", "y2", blue)[0] - down(2, 0, 4)) < 0.006);
  BOOST_TEST(std::fabs(attributes(limited, "line", "x2", blue)[0] - across(1, 0, 2)) < 0.006);
  const auto text = [](const PlotFigure& f) { return message_of<catena::ValueError>([&] { to_svg(f); }); };
  BOOST_TEST(text({.y_range = {{0, 1}}, .y_scale = "log"}) ==
             "PlotFigure: the limits 0 and 1 are no range of a logarithmic scale, on which both are positive");
  BOOST_TEST(text({.x_scale = "logarithmic"}) ==
             "PlotFigure: there is no scale \"logarithmic\" (there are: linear, log)");
  BOOST_TEST(has(to_svg({.y_scale = "log"}), "<svg"));  // without points
}

BOOST_AUTO_TEST_CASE(axes_of_a_report) {
  Run run("axes", {"loss"},
          {.trigger = {1, iteration},
           .file_name = "p.svg",
           .marker = "",
           .xlim = {{0, 16}},
           .ylim = {{0.01, 1}},
           .xscale = "linear",
           .yscale = "log",
           .title = "the title",
           .ylabel = "the loss"});
  run.trainer.run();
  const std::string svg = file_content(run.folder / "p.svg");
  const std::string blue = "stroke=\"#1f77b4\"";
  BOOST_TEST(std::fabs(attributes(svg, "line", "x1", blue)[0] - across(1, 0, 16)) < 0.006);
  BOOST_TEST(std::fabs(attributes(svg, "line", "y2", blue)[0] - down(std::log10(0.5), -2, 0)) < 0.006);
  for (const char* text : {">the title</text>", ">the loss</text>", ">iteration</text>", ">0.1</text>"})
    BOOST_TEST(has(svg, text), text);
  BOOST_CHECK_THROW(PlotReport({"loss"}, {.yscale = "none"}), catena::ValueError);
  BOOST_CHECK_THROW(PlotReport({"loss"}, {.xlim = {{2, 1}}}), catena::ValueError);
  BOOST_CHECK_THROW(PlotReport({"loss"}, {.ylim = {{0, 1}}, .yscale = "log"}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(curves_of_a_vector_graphic) {
  const PlotFigure figure{.series = {{"a<b>&\"c\"", {{0, 0}, {1, 4}, {2, 2}}}, {"flat", {{0, 1}, {2, 1}}}},
                          .title = "title",
                          .x_label = "x axis",
                          .marker = "",
                          .grid = false};
  const std::string svg = to_svg(figure);
  // Ranges with a margin of 5 %: -0.1 to 2.1 and -0.2 to 4.2.
  const std::string blue = "stroke=\"#1f77b4\"";
  const std::vector<double> x1 = attributes(svg, "line", "x1", blue), y2 = attributes(svg, "line", "y2", blue);
  BOOST_REQUIRE(x1.size() == 3u);  // two parts of the curve and its sample in the legend
  BOOST_TEST(std::fabs(x1[0] - across(0, -.1, 2.1)) < 0.006);
  BOOST_TEST(std::fabs(x1[1] - across(1, -.1, 2.1)) < 0.006);
  BOOST_TEST(std::fabs(y2[0] - down(4, -.2, 4.2)) < 0.006);
  BOOST_TEST(std::fabs(y2[1] - down(2, -.2, 4.2)) < 0.006);
  BOOST_TEST(attributes(svg, "line", "x1", "stroke=\"#ff7f0e\"").size() == 2u);
  for (const char* text :
       {">a&lt;b&gt;&amp;\"c\"</text>", ">flat</text>", ">title</text>", ">x axis</text>", ">0.5</text>", ">4</text>"})
    BOOST_TEST(has(svg, text), text);
  BOOST_TEST(!has(svg, "stroke=\"#d8d8d8\""));  // no grid
  BOOST_TEST(has(to_svg({.series = figure.series}), "stroke=\"#d8d8d8\""));
  // Two strokes for each point and for each sample in the legend.
  const std::string crosses = to_svg({.series = figure.series, .marker = "x"});
  BOOST_TEST(count(crosses, "stroke-width=\"1.2\"") == 2 * (3 + 2 + 2));
  for (const char* marker : {"+", "o", "s", "."})
    BOOST_TEST(to_svg({.series = figure.series, .marker = marker}).size() > svg.size(), marker);
}

BOOST_AUTO_TEST_CASE(points_that_are_none_and_limits) {
  const PlotSeries broken{"x", {{0, 1}, {1, NAN}, {2, 1}, {3, 2}, {4, INFINITY}}};
  const std::string blue = "stroke=\"#1f77b4\"";
  const std::string svg = to_svg({.series = {broken}, .marker = ""});
  BOOST_TEST(attributes(svg, "line", "x1", blue).size() == 2u);  // 2 to 3, and the legend
  BOOST_TEST(!has(svg, "nan"));
  BOOST_TEST(!has(svg, "inf"));
  BOOST_TEST(has(to_svg({.series = {{"one", {{5, 5}}}}}), ">5</text>"));
  BOOST_TEST(has(to_svg({}), "</svg>"));
  // Curves are cut at the limits: from (0, 0) to (4, 4) within 1 to 2.
  const std::string cut =
      to_svg({.series = {{"x", {{0, 0}, {4, 4}}}}, .marker = "x", .x_range = {{0, 4}}, .y_range = {{1, 2}}});
  const std::string curve = "stroke-width=\"1.5\"";
  BOOST_TEST(std::fabs(attributes(cut, "line", "x1", curve)[0] - across(1, 0, 4)) < 0.006);
  BOOST_TEST(std::fabs(attributes(cut, "line", "x2", curve)[0] - across(2, 0, 4)) < 0.006);
  BOOST_TEST(std::fabs(attributes(cut, "line", "y1", curve)[0] - down(1, 1, 2)) < 0.006);
  BOOST_TEST(count(cut, "stroke-width=\"1.2\"") == 2);  // both points are outside; the legend has its sample
  BOOST_TEST(
      attributes(to_svg({.series = {{"x", {{0, 5}, {4, 6}}}}, .marker = "", .y_range = {{1, 2}}}), "line", "x1", curve)
          .size() == 1u);
  BOOST_CHECK_THROW(to_svg({.x_range = {{2, 1}}}), catena::ValueError);
  BOOST_CHECK_THROW(to_svg({.y_range = {{0, NAN}}}), catena::ValueError);
  BOOST_CHECK_THROW(to_png({.marker = "xx"}), catena::ValueError);
  BOOST_CHECK_THROW(to_png({.width = 1e9}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(pixels_of_a_picture) {
  const PlotFigure figure{.series = {{"up", {{0, 0}, {1, 1}}}, {"down", {{0, 1}, {1, 0}}}},
                          .marker = "",
                          .grid = false,
                          .x_range = {{0, 1}},
                          .y_range = {{0, 1}}};
  const Picture picture(to_png(figure));
  BOOST_TEST(picture.width == int(std::ceil((96 + 480 + 64 + 4 * 8) * 1.5)));
  BOOST_TEST(picture.height == int(std::ceil((36 + 360 + 48) * 1.5)));
  // Half way to the middle each curve has its colour, where the other one has white.
  const auto at = [](double x, double y) { return std::pair{int(across(x, 0, 1) * 1.5), int(down(y, 0, 1) * 1.5)}; };
  const auto [x, y_up] = at(.25, .25);
  const auto [same, y_down] = at(.25, .75);
  BOOST_TEST(picture.has_near(x, y_up, kBlue));
  BOOST_TEST(picture.has_near(same, y_down, kOrange));
  BOOST_TEST(!picture.has_near(x, y_up, kOrange));
  BOOST_TEST((picture.pixel(x, (y_up + y_down) / 2) == kWhite));
  // The whole curve, as a straight line: its middle is that of the area.
  const auto [middle_x, middle_y] = picture.middle_of(kBlue, int(96 * 1.5), int(576 * 1.5));
  BOOST_TEST(std::fabs(middle_x - across(.5, 0, 1) * 1.5) < 3);
  BOOST_TEST(std::fabs(middle_y - down(.5, 0, 1) * 1.5) < 3);
  BOOST_TEST((picture.pixel(2, 2) == kWhite));
  // Text is black: a longer title has more of it, whatever its letters.
  PlotFigure titled = figure;
  titled.title = "A title";
  const int without = picture.count({0, 0, 0}), with = Picture(to_png(titled)).count({0, 0, 0});
  BOOST_TEST(with > without + 6 * 4 * 5);
  titled.title = "\xc3\xa4";  // one box
  BOOST_TEST(Picture(to_png(titled)).count({0, 0, 0}) == without + 4 * (2 * 7 + 3 * 2));
}

BOOST_AUTO_TEST_CASE(points_are_means_of_intervals) {
  Run run("plot", {"loss", "late", "never"}, {.trigger = {2, iteration}});
  BOOST_TEST(PlotReport::available());
  BOOST_TEST(run.report.name() == "PlotReport");
  run.trainer.run();
  BOOST_TEST(run.stored("_plot_plot.png") ==
             "{\"loss\": [[2, 0.75], [4, 0.29166666666666663], [6, 0.18333333333333335], [8, 0.13392857142857142]], "
             "\"late\": [[6, 5.5], [8, 7.5]], \"never\": []}");
  const Picture picture(file_content(run.folder / "plot.png"));
  BOOST_TEST(picture.count(kBlue) > 100);
  BOOST_TEST(picture.count(kOrange) > 20);  // the second curve that has points

  Run epochs("epochs", {"loss"}, {.x_key = "epoch", .file_name = "p.svg"});
  epochs.trainer.extend(PlotReport({"loss"}, "epoch", {.file_name = "q.svg"}));
  epochs.trainer.run();
  BOOST_TEST(file_content(epochs.folder / "q.svg") == file_content(epochs.folder / "p.svg"));
  BOOST_TEST(has(epochs.stored("_plot_p.svg"), "{\"loss\": [[1, 0.75], [2, "));
  BOOST_TEST(has(file_content(epochs.folder / "p.svg"), ">epoch</text>"));

  Run observed("observed", {"loss"}, {.x_key = "late", .trigger = {2, iteration}});
  observed.trainer.run();  // no point where the value was not observed
  BOOST_TEST(has(observed.stored("_plot_plot.png"), "{\"loss\": [[5.5, 0.18333333333333335], [7.5, "));

  Run none("none", {}, {});
  none.trainer.run();
  BOOST_TEST(!std::filesystem::exists(none.folder / "plot.png"));
  BOOST_TEST(PlotReport("loss").priority == PRIORITY_READER);
  BOOST_CHECK_THROW(PlotReport("loss", {.marker = "?"}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(figures_are_changed_by_the_program) {
  std::vector<double> losses;
  Run run("postprocess", {"loss"},
          {.postprocess =
               [&](PlotFigure& figure, const LogEntry& entry) {
                 losses.push_back(entry.number("loss"));
                 figure.title = "epoch " + std::to_string(entry.at("epoch").integer());
                 figure.y_label = "loss";
               },
           .file_name = "plot.svg",
           .marker = "o",
           .grid = false});
  run.trainer.run();
  BOOST_TEST(losses.size() == 4u);
  const std::string svg = file_content(run.folder / "plot.svg");
  BOOST_TEST(has(svg, ">epoch 4</text>"));
  BOOST_TEST(has(svg, "stroke-width=\"7\""));  // the circles of the marker
}

BOOST_AUTO_TEST_CASE(killed_and_resumed_equals_uninterrupted) {
  const PlotReport::Options options{.trigger = {3, iteration}};
  Run whole("whole", {"loss", "late"}, options);
  whole.trainer.run();
  for (std::int64_t stop = 1; stop < 8; ++stop) {
    Run resumed("resumed", {"loss", "late"}, options);
    nn::serializers::load_npz(whole.folder / ("at_" + std::to_string(stop)), resumed.trainer);
    resumed.trainer.run();
    BOOST_TEST(resumed.stored("_plot_plot.png") == whole.stored("_plot_plot.png"));
    // Drawn again after iteration 6 only, if the run was stopped later.
    if (stop < 6) BOOST_TEST(file_content(resumed.folder / "plot.png") == file_content(whole.folder / "plot.png"));
  }
}

// As the reference stores it; texts that are damaged are refused and change nothing.
BOOST_AUTO_TEST_CASE(stored_curves) {
  struct Stored {
    std::string text;
    void serialize(nn::Serializer& s) { s("_plot_loss.png", text); }
  };
  const TemporaryFolder folder("stored");
  PlotReport report({"main/loss", "validation/main/loss"}, {.file_name = "loss.png"});
  const auto load = [&](const std::string& text) {
    Stored stored{text};
    nn::serializers::save_npz(folder / "s", stored);
    nn::serializers::load_npz(folder / "s", report);
  };
  const auto text_of = [&] {
    nn::serializers::save_npz(folder / "t", report);
    return catena::npy_text(catena::NpzReader("test", folder / "t").read("_plot_loss.png"));
  };
  const std::string good = "{\"main/loss\": [[1, 0.19], [2.5, NaN]], \"validation/main/loss\": [[1, 0.1]]}";
  load(good);
  BOOST_TEST(text_of() == good);
  for (const char* bad : {"", "{", "[]", "{\"main/loss\": [[1]]}", "{\"main/loss\": [[1, 2]}",
                          "{\"main/loss\": [[\"1\", 2]]}", "{\"main/loss\": [[1, \"2\"]]}", "{} x"})
    BOOST_CHECK_THROW(load(bad), catena::ValueError);
  BOOST_TEST(text_of() == good);
  load("{\"another\": [[1, 2]]}");
  BOOST_TEST(text_of() == "{\"main/loss\": [], \"validation/main/loss\": []}");
}

BOOST_AUTO_TEST_SUITE_END()
