#include <catena/training/extensions/plot_report.h>

#include <algorithm>
#include <filesystem>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/training/extensions/output_file.h>
#include <catena/training/json_text.h>
#include <catena/training/stored_number.h>
#include <catena/training/summary_state.h>

namespace training {

PlotReport::PlotReport(std::vector<std::string> y_keys, Options options)
    : y_keys_(std::move(y_keys)), options_(std::move(options)), trigger_(options_.trigger.make()) {
  (void)to_svg(empty_figure());  // throws for a wrong option before training
  for (const std::string& key : y_keys_) curves_.emplace_back(key, Points());
}

void PlotReport::initialize(Trainer& trainer) {
  if (!y_keys_.empty()) internal::check_output_file("PlotReport", trainer, file_name());
}

void PlotReport::operator()(Trainer& trainer) {
  for (const auto& [key, value] : trainer.observation())
    if (key == options_.x_key || std::find(y_keys_.begin(), y_keys_.end(), key) != y_keys_.end())
      summary_.add(key, value);
  if (!trigger_ || !trainer.asks(*trigger_)) return;
  LogEntry entry;
  for (const auto& [key, mean] : summary_.compute_mean()) entry.set(key, mean);
  entry.set("epoch", trainer.updater().epoch());
  entry.set("iteration", trainer.updater().iteration());
  summary_ = {};
  const LogValue* const x = entry.find(options_.x_key);
  if (x != nullptr)
    for (auto& [key, points] : curves_)
      if (entry.contains(key)) points.emplace_back(*x, entry.number(key));
  if (std::any_of(curves_.begin(), curves_.end(), [](const auto& c) { return !c.second.empty(); }))
    draw(trainer, entry);
}

PlotFigure PlotReport::empty_figure() const {
  return {.title = options_.title,
          .x_label = options_.x_key,
          .y_label = options_.ylabel,
          .marker = options_.marker,
          .grid = options_.grid,
          .x_range = options_.xlim,
          .y_range = options_.ylim,
          .x_scale = options_.xscale,
          .y_scale = options_.yscale};
}

void PlotReport::draw(Trainer& trainer, const LogEntry& entry) const {
  PlotFigure figure = empty_figure();
  for (const auto& [key, points] : curves_) {
    if (points.empty()) continue;
    PlotSeries& series = figure.series.emplace_back();
    series.label = key;
    for (const auto& [x, y] : points) series.points.emplace_back(x.number(), y);
  }
  if (options_.postprocess) options_.postprocess(figure, entry);
  const std::filesystem::path path = std::filesystem::path(trainer.out()) / file_name();
  catena::write_file_atomically("PlotReport", path.string(),
                                path.extension() == ".svg" ? to_svg(figure) : to_png(figure));
}

std::string PlotReport::json() const {
  std::string text = "{";
  for (const auto& [key, points] : curves_) {
    text += (text.size() == 1 ? "" : ", ") + internal::json_of(key) + ": [";
    for (const auto& [x, y] : points)
      text += (&x == &points.front().first ? "[" : ", [") + internal::json_of(x) + ", " +
              internal::json_of(LogValue(y)) + "]";
    text += "]";
  }
  return text + "}";
}

// Curves of keys that this report does not have are ignored.
void PlotReport::read_json(const std::string& text) {
  internal::JsonReader reader(text, "PlotReport: the stored curves");
  auto curves = curves_;
  for (auto& [key, points] : curves) points.clear();
  reader.expect('{');
  if (!reader.accept('}')) {
    do {
      const std::string key = reader.string();
      Points points;
      reader.expect(':');
      reader.expect('[');
      if (!reader.accept(']')) {
        do {
          reader.expect('[');
          const LogValue x = reader.value();
          catena::check<catena::ValueError>(!x.is_text(), "PlotReport: the stored curves", "a point of ", key,
                                            " has a text in place of a number");
          reader.expect(',');
          points.emplace_back(x, reader.number());
          reader.expect(']');
        } while (reader.accept(','));
        reader.expect(']');
      }
      for (auto& [own, kept] : curves)
        if (own == key) kept = points;
    } while (reader.accept(','));
    reader.expect('}');
  }
  reader.finish();
  curves_ = std::move(curves);
}

void PlotReport::serialize(nn::Serializer& s) {
  internal::restore_on_rollback(s, summary_, curves_);
  if (trigger_) trigger_->serialize(*s["_trigger"]);
  internal::serialize_summary(*s["_summary"], summary_);
  std::string text = json();
  s("_plot_" + file_name(), text);
  if (!s.is_writer()) read_json(text);
}

}  // namespace training
