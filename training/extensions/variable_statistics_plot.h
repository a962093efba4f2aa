// VariableStatisticsPlot: the distribution of parameters and their gradients in the course of a training, as pictures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catena/kernels/base/pointers.h>
#include <catena/training/extensions/parameter_statistics.h>

namespace training {

struct VariableStatisticsPlotOptions {
  // The most points of a curve. If there are more, every second one is removed, and later ones are taken more seldom.
  std::int64_t max_sample_size = 1000;
  bool report_data = true, report_grad = true;  // which pictures are drawn
  bool plot_mean = true, plot_std = true;       // curves of the mean, and of the mean plus and minus the deviation
  // Curves of percentiles. For a normal distribution, these are the least and the greatest value and -3 to 3
  // deviations.
  std::vector<double> percentiles = {0, 0.13, 2.28, 15.87, 50, 84.13, 97.72, 99.87, 100};
  std::optional<std::vector<double>> percentile_sigmas = {};  // Chainer's name of them; takes their place
  TriggerSpec plot_trigger = {1, epoch};                      // when the pictures are drawn
  TriggerSpec trigger = TriggerSpec::not_given();             // Chainer's name of it; takes its place
  // In the trainer's folder: the pictures are statistics_data.png and statistics_grad.png (or .svg).
  std::string file_name = "statistics.png";
  std::optional<std::string> filename = {};  // the name of file_name in later Chainer; takes its place
  std::string marker = {};
  bool grid = true;
};

// At every call, takes the statistics of all elements of the parameters of the links together, and of their gradients.
// When its trigger fires, draws curves of them over the iterations, without waiting for a device before. Parameters
// without data, null gradients and empty arrays are skipped. ValueError for percentiles outside 0 to 100, a
// max_sample_size below 2 and an unknown marker. (Chainer 5.)
class CATENA_EXPORT VariableStatisticsPlot : public Extension {
 public:
  using Options = VariableStatisticsPlotOptions;
  explicit VariableStatisticsPlot(BorrowedLinks links, Options options = {});

  void initialize(Trainer& trainer) override;  // IOError for a file that cannot be written
  void operator()(Trainer& trainer) override;
  // Stores the points under "data" and "grad", which Chainer does not store, and the trigger under "_trigger".
  void serialize(nn::Serializer& s) override;
  std::string default_name() const override { return "VariableStatisticsPlot"; }

 private:
  struct Point {
    std::int64_t iteration;
    Array values;  // as many as there are curves, on the device until they are drawn
  };
  const std::vector<double>& percentages() const noexcept {
    return options_.percentile_sigmas ? *options_.percentile_sigmas : options_.percentiles;
  }
  std::vector<std::string> labels() const;
  std::string file_of(const std::string& kind) const;
  void sample(std::vector<Point>& points, const std::vector<Array>& arrays, std::int64_t at);
  void draw(const Trainer& trainer, const std::string& kind, const std::vector<Point>& points) const;
  void serialize_points(nn::Serializer& s, std::vector<Point>& points);

  BorrowedLinks links_;
  Options options_;
  catena::Shared<Trigger> trigger_;
  std::vector<Point> data_, grad_;
  std::int64_t interval_ = 1;  // iterations between two points
};

}  // namespace training
