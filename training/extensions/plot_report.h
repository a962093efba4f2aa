// PlotReport: curves of observed values as a picture.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/training/extensions/plot_figure.h>
#include <catena/training/log_entry.h>
#include <catena/training/trainer.h>

namespace training {

struct PlotReportOptions {
  std::string x_key = "iteration";   // "iteration", "epoch", or an observed value
  TriggerSpec trigger = {1, epoch};  // when a point is added and the picture is drawn
  // May change the figure before it is drawn; `entry` has the means of the interval.
  catena::Function<void(PlotFigure& figure, const LogEntry& entry)> postprocess = {};
  std::string file_name = "plot.png";        // in the trainer's folder; with the extension .svg, a vector graphic
  std::optional<std::string> filename = {};  // the name of file_name in later Chainer; takes its place
  std::string marker = "x";                  // see PlotFigure
  bool grid = true;
  // Names of matplotlib: the ends of the axes ({low, high}; default: those of the points), and their scales, "linear"
  // or "log", on which what is not positive is not drawn.
  std::optional<std::pair<double, double>> xlim = {}, ylim = {};
  std::string xscale = "linear", yscale = "linear";
  std::string title = {}, ylabel = {};  // the label of the x axis is x_key
};

// Accumulates the observed values `y_keys` at every call. When its trigger fires, adds a point with the mean of each
// value observed since the last point, and draws all curves again. Without a point or without keys, no picture is
// drawn. Catena draws the pictures itself, so available() is always true. Like LogReport, it must be called at every
// iteration. ValueError for an unknown marker or scale, and for limits that are no range.
class CATENA_EXPORT PlotReport : public Extension {
 public:
  using Options = PlotReportOptions;
  PlotReport(std::vector<std::string> y_keys, Options options);
  explicit PlotReport(std::vector<std::string> y_keys) : PlotReport(std::move(y_keys), Options{}) {}
  // PlotReport({"main/loss", "validation/main/loss"}, "epoch", {.file_name = "loss.png"}): sets options.x_key.
  template <std::convertible_to<std::string> S>
  PlotReport(std::vector<std::string> y_keys, const S& x_key, Options options = {})
      : PlotReport(std::move(y_keys), (options.x_key = x_key, std::move(options))) {}
  PlotReport(const char* y_key, Options options) : PlotReport(std::vector<std::string>{y_key}, std::move(options)) {}
  explicit PlotReport(const char* y_key) : PlotReport(y_key, Options{}) {}
  static bool available() noexcept { return true; }

  void initialize(Trainer& trainer) override;  // IOError for a file that cannot be written
  void operator()(Trainer& trainer) override;
  std::string default_name() const override { return "PlotReport"; }
  // Stores "_plot_<file name>" as in Chainer, {"main/loss": [[1, 0.5], [2, 0.25]]}, and the running means and the
  // trigger under "_summary" and "_trigger", as in later versions of Chainer. A text of another form is a ValueError
  // and changes nothing.
  void serialize(nn::Serializer& s) override;

 private:
  using Points = std::vector<std::pair<LogValue, double>>;
  const std::string& file_name() const noexcept { return options_.filename ? *options_.filename : options_.file_name; }
  PlotFigure empty_figure() const;
  void draw(Trainer& trainer, const LogEntry& entry) const;
  std::string json() const;
  void read_json(const std::string& text);

  std::vector<std::string> y_keys_;
  Options options_;
  catena::Shared<Trigger> trigger_;
  nn::DictSummary summary_;
  std::vector<std::pair<std::string, Points>> curves_;  // curves of the keys, in the order of the keys
};

}  // namespace training
