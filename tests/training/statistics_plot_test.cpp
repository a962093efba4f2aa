// VariableStatisticsPlot: its numbers by hand, its pictures, thinned points, resumed trainings.
#include <catena/training/extensions/variable_statistics_plot.h>

#include <algorithm>
#include <cmath>

#include <catena/kernels/formats/npz.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using namespace training;

namespace {

const auto each = boost::test_tools::per_element();

// Two parameters with the elements i {1, -2, 4}, i {0, 7} at iteration i; the gradients are 10 times that, of the first
// one only.
struct Model : nn::Chain {
  nn::Parameter a{0.0, {3}}, b{0.0, {2}}, pending;
  NN_MEMBERS(a, b)
  void set(std::int64_t i) {
    const auto f = float(i);
    a.set_data(floats({f, -2 * f, 4 * f}, {3}));
    b.set_data(floats({0, 7 * f}, {2}));
    a.set_grad(floats({10 * f, -20 * f, 40 * f}, {3}));
  }
};

// Percentiles with linear interpolation, as NumPy's default.
double percentile(std::vector<double> v, double p) {
  std::sort(v.begin(), v.end());
  const double at = p / 100 * double(v.size() - 1);
  const auto low = std::size_t(std::floor(at)), high = std::size_t(std::ceil(at));
  return v[low] + (v[high] - v[low]) * (at - double(low));
}
std::vector<double> statistics_of(const std::vector<double>& v, const std::vector<double>& percents) {
  double mean = 0, square = 0;
  for (const double x : v) mean += x / double(v.size());
  for (const double x : v) square += (x - mean) * (x - mean) / double(v.size());
  std::vector<double> all{mean, mean - std::sqrt(square), mean + std::sqrt(square)};
  for (const double p : percents) all.push_back(percentile(v, p));
  return all;
}

struct Run {
  static inline int runs = 0;
  TemporaryFolder folder{"statistics_plot_" + std::to_string(++runs)};
  Model model;
  FakeUpdater updater{2, [this](std::int64_t i) { model.set(i); }};
  Trainer trainer;
  VariableStatisticsPlot& plot;
  Run(double end, VariableStatisticsPlotOptions options)
      : trainer(updater, {end, iteration}, folder.path.string()),
        plot(trainer.extend(VariableStatisticsPlot(model, std::move(options)))) {}
  std::vector<double> stored(const std::string& key) {
    nn::serializers::save_npz(folder / "stored", plot);
    const catena::NpzReader npz("test", folder / "stored");
    const catena::NpyArray a = npz.read(key);
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < a.size(); ++i)
      numbers.push_back(a.dtype == Dtype::int64 ? double(reinterpret_cast<const std::int64_t*>(a.data.data())[i])
                                                : reinterpret_cast<const double*>(a.data.data())[i]);
    return numbers;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(statistics_plots)

BOOST_AUTO_TEST_CASE(numbers_by_hand) {
  const std::vector<double> percents{0, 2.28, 50, 84.13, 100};
  Run run(4, {.percentiles = percents});
  run.trainer.run();
  BOOST_TEST(run.stored("data/iterations") == (std::vector<double>{1, 2, 3, 4}), each);
  const std::vector<double> data = run.stored("data/values"), grad = run.stored("grad/values");
  BOOST_REQUIRE(data.size() == 4u * 8u);
  for (std::size_t i = 0; i < 4; ++i) {
    const double f = double(i + 1);
    const std::vector<double> of_data = statistics_of({f, -2 * f, 4 * f, 0, 7 * f}, percents);
    const std::vector<double> of_grad = statistics_of({10 * f, -20 * f, 40 * f}, percents);
    for (std::size_t k = 0; k < 8; ++k) {
      BOOST_TEST(std::fabs(data[8 * i + k] - of_data[k]) < 1e-9);
      BOOST_TEST(std::fabs(grad[8 * i + k] - of_grad[k]) < 1e-9);
    }
  }
}

BOOST_AUTO_TEST_CASE(pictures) {
  Run run(2, {.percentiles = {50}, .file_name = "s.svg"});
  run.trainer.run();
  const std::string svg = file_content(run.folder / "s_data.svg");
  for (const char* text : {">data</text>", ">iteration</text>", ">mean</text>", ">mean - std</text>", ">50 %</text>"})
    BOOST_TEST(has(svg, text), text);
  BOOST_TEST(has(file_content(run.folder / "s_grad.svg"), ">grad</text>"));
  Run one(2, {.report_grad = false, .plot_mean = false, .plot_std = false, .percentiles = {0, 100}});
  one.trainer.run();
  BOOST_TEST(file_content(one.folder / "statistics_data.png").starts_with("\x89PNG"));
  BOOST_TEST(!std::filesystem::exists(one.folder / "statistics_grad.png"));
  BOOST_TEST(one.stored("data/values") == (std::vector<double>{-2, 7, -4, 14}), each);
}

// Options that are set after the construction of their struct.
BOOST_AUTO_TEST_CASE(options_set_later) {
  VariableStatisticsPlotOptions later;
  later.percentiles = {0, 100};
  later.plot_mean = later.plot_std = false;
  later.file_name = "later.svg";
  later.plot_trigger = {2, iteration};
  Run run(1, later), two(2, later);
  run.trainer.run();
  BOOST_TEST(!std::filesystem::exists(run.folder / "later_data.svg"));
  BOOST_TEST(run.stored("data/values") == (std::vector<double>{-2, 7}), each);
  two.trainer.run();
  BOOST_TEST(std::filesystem::exists(two.folder / "later_data.svg"));
}

BOOST_AUTO_TEST_CASE(points_are_thinned) {
  Run run(21, {.max_sample_size = 5, .percentiles = {50}});
  run.trainer.run();
  BOOST_TEST(run.stored("data/iterations") == (std::vector<double>{4, 8, 12, 16, 20}), each);
}

BOOST_AUTO_TEST_CASE(after_a_resume) {
  Run whole(12, {.max_sample_size = 4, .percentiles = {50}}), first(7, {.max_sample_size = 4, .percentiles = {50}});
  whole.trainer.run();
  first.trainer.run();
  nn::serializers::save_npz(first.folder / "t", first.trainer);
  Run second(12, {.max_sample_size = 4, .percentiles = {50}});
  nn::serializers::load_npz(first.folder / "t", second.trainer);
  second.trainer.run();
  for (const char* key : {"data/iterations", "data/values", "grad/values", "interval"})
    BOOST_TEST(second.stored(key) == whole.stored(key), each);
  // A file of other curves changes nothing here. (The updater of the tests keeps the iteration of the file.)
  Run other(9, {.percentiles = {}});
  BOOST_TEST(has(message_of<catena::ValueError>([&] { nn::serializers::load_npz(first.folder / "t", other.trainer); }),
                 "points of 3 curves"));
  other.trainer.run();
  BOOST_TEST(other.stored("data/iterations") == (std::vector<double>{8, 9}), each);
}

BOOST_AUTO_TEST_CASE(errors) {
  Model model;
  const auto text = [&](VariableStatisticsPlotOptions options) {
    return message_of<catena::ValueError>([&] { VariableStatisticsPlot(model, options); });
  };
  BOOST_TEST(text({.percentiles = {101}}) == "VariableStatisticsPlot: the percentage 101 is not in 0 to 100");
  BOOST_TEST(text({.max_sample_size = 1}) == "VariableStatisticsPlot: max_sample_size is 1 and must be at least 2");
  BOOST_TEST(has(text({.marker = "?"}), "there is no marker"));
}

BOOST_AUTO_TEST_SUITE_END()
