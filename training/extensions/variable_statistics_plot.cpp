#include <catena/training/extensions/variable_statistics_plot.h>

#include <algorithm>
#include <filesystem>

#include <catena/autograd/array_backend.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/training/extensions/output_file.h>
#include <catena/training/extensions/plot_figure.h>
#include <catena/training/stored_number.h>

namespace training {

namespace fs = std::filesystem;
using autograd::Dtype;
using catena::check;
using catena::ValueError;

VariableStatisticsPlot::VariableStatisticsPlot(BorrowedLinks links, Options options)
    : links_(std::move(links)),
      options_(std::move(options)),
      trigger_((options_.trigger.is_given() ? options_.trigger : options_.plot_trigger).make()) {
  for (const double p : percentages())
    check<ValueError>(p >= 0 && p <= 100, "VariableStatisticsPlot", "the percentage ", p, " is not in 0 to 100");
  check<ValueError>(options_.max_sample_size >= 2, "VariableStatisticsPlot", "max_sample_size is ",
                    options_.max_sample_size, " and must be at least 2");
  (void)to_svg({.marker = options_.marker, .width = 1, .height = 1});  // throws for an unknown marker before training
}

std::string VariableStatisticsPlot::file_of(const std::string& kind) const {
  const fs::path given(options_.filename.value_or(options_.file_name));
  return (given.parent_path() / (given.stem().string() + "_" + kind + given.extension().string())).string();
}

void VariableStatisticsPlot::initialize(Trainer& trainer) {
  if (options_.report_data) internal::check_output_file("VariableStatisticsPlot", trainer, file_of("data"));
  if (options_.report_grad) internal::check_output_file("VariableStatisticsPlot", trainer, file_of("grad"));
}

std::vector<std::string> VariableStatisticsPlot::labels() const {
  std::vector<std::string> names;
  if (options_.plot_mean) names.push_back("mean");
  if (options_.plot_std) names.insert(names.end(), {"mean - std", "mean + std"});
  for (const double p : percentages()) names.push_back(catena::shortest_text(p) + " %");
  return names;
}

void VariableStatisticsPlot::sample(std::vector<Point>& points, const std::vector<Array>& arrays, std::int64_t at) {
  std::vector<Array> elements;
  for (const Array& a : arrays)
    if (a && a.size() > 0) elements.push_back(autograd::astype(autograd::reshape(a, {a.size()}), Dtype::float64));
  if (elements.empty()) return;
  const Array all = autograd::concatenate(elements), mean = autograd::mean(all), centred = all - mean;
  const Array deviation = autograd::apply(catena::kernels::sqrt, {autograd::mean(centred * centred)});
  std::vector<Array> values;
  const auto add = [&](const Array& one) { values.push_back(autograd::reshape(one, {1})); };
  if (options_.plot_mean) add(mean);
  if (options_.plot_std) {
    add(mean - deviation);
    add(mean + deviation);
  }
  if (!percentages().empty()) values.push_back(percentiles(all, percentages()));
  if (!values.empty()) points.push_back({at, autograd::concatenate(values)});
}

void VariableStatisticsPlot::operator()(Trainer& trainer) {
  const std::int64_t now = trainer.updater().iteration();
  if (now % interval_ == 0) {
    std::vector<Array> data, grads;
    for (Link* const link : links_)
      for (const nn::NamedParam& p : link->namedparams()) {
        data.push_back(p.param.data());
        grads.push_back(p.param.grad());
      }
    if (options_.report_data) sample(data_, data, now);
    if (options_.report_grad) sample(grad_, grads, now);
    while (std::int64_t(std::max(data_.size(), grad_.size())) > options_.max_sample_size) {
      interval_ *= 2;
      for (auto* points : {&data_, &grad_})
        std::erase_if(*points, [&](const Point& p) { return p.iteration % interval_ != 0; });
    }
  }
  if (!trigger_ || !trainer.asks(*trigger_)) return;
  draw(trainer, "data", data_);
  draw(trainer, "grad", grad_);
}

void VariableStatisticsPlot::draw(const Trainer& trainer, const std::string& kind,
                                  const std::vector<Point>& points) const {
  if (points.empty()) return;
  PlotFigure figure{.title = kind, .x_label = "iteration", .marker = options_.marker, .grid = options_.grid};
  for (std::string& label : labels()) figure.series.push_back({std::move(label), {}});
  for (const Point& p : points) {
    std::vector<double> values(figure.series.size());
    p.values.backend().to_host(p.values, values.data());
    for (std::size_t i = 0; i < values.size(); ++i)
      figure.series[i].points.emplace_back(double(p.iteration), values[i]);
  }
  const fs::path path = fs::path(trainer.out()) / file_of(kind);
  catena::write_file_atomically("VariableStatisticsPlot", path.string(),
                                path.extension() == ".svg" ? to_svg(figure) : to_png(figure));
}

// The points of one kind as an array (points, curves), beside their iterations.
void VariableStatisticsPlot::serialize_points(nn::Serializer& s, std::vector<Point>& points) {
  const auto curves = std::int64_t(labels().size());
  std::vector<std::int64_t> iterations;
  for (const Point& p : points) iterations.push_back(p.iteration);
  if (s.is_writer() ? points.empty() : !s.contains("iterations")) {
    if (!s.is_writer()) points.clear();
    return;
  }
  s("iterations", iterations);
  const auto n = std::int64_t(points.size());
  std::vector<double> numbers(points.size() * std::size_t(curves));
  for (std::size_t i = 0; i < points.size(); ++i)
    // Statistics of a loaded file are on the host; new ones may be on another device.
    points[i].values.backend().to_host(points[i].values, numbers.data() + i * std::size_t(curves));
  Array values;
  if (s.is_writer()) values = autograd::from_host(numbers.data(), {n, curves}, Dtype::float64, autograd::Device());
  s("values", values);
  if (s.is_writer()) return;
  check<ValueError>(
      values.shape() == autograd::Shape({std::int64_t(iterations.size()), curves}) && values.dtype() == Dtype::float64,
      "VariableStatisticsPlot", "the stored values have the shape ", values.shape(), " for ", iterations.size(),
      " points of ", curves, " curves");
  points.clear();
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    const auto row = std::int64_t(i);
    points.push_back({iterations[i], autograd::reshape(autograd::slice(values, 0, row, row + 1), {curves})});
  }
}

void VariableStatisticsPlot::serialize(nn::Serializer& s) {
  internal::restore_on_rollback(s, data_, grad_, interval_);
  serialize_points(*s["data"], data_);
  serialize_points(*s["grad"], grad_);
  internal::serialize_count(s, "interval", interval_, "VariableStatisticsPlot");
  check<ValueError>(interval_ >= 1, "VariableStatisticsPlot", "the stored interval is ", interval_,
                    " and must be at least 1");
  if (trigger_) trigger_->serialize(*s["_trigger"]);
}

}  // namespace training
