#include <catena/training/extensions/log_report.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <catena/kernels/formats/atomic_file.h>
#include <catena/training/extensions/output_file.h>
#include <catena/training/json_text.h>
#include <catena/training/stored_number.h>
#include <catena/training/summary_state.h>

namespace training {

IntervalLog::IntervalLog(Options options) : options_(std::move(options)), trigger_(options_.trigger.make()) {}

void IntervalLog::operator()(Trainer& trainer) {
  for (const auto& [key, value] : trainer.observation()) {
    if (options_.keys && std::find(options_.keys->begin(), options_.keys->end(), key) == options_.keys->end()) continue;
    summary_.add(key, value);
    const LogReduction* const how = reduction_of(key);
    if (how != nullptr && value.is_scalar()) reduce(key, value.value(), *how);
  }
  if (!trigger_ || !trainer.asks(*trigger_)) return;
  const LogEntry complete = entry(trainer);
  summary_ = {};
  reduced_.clear();
  write(trainer, complete);
}

const LogReduction* IntervalLog::reduction_of(std::string_view key) const {
  for (const auto& [name, how] : options_.reductions)
    if (name == key) return &how;
  return nullptr;
}

void IntervalLog::reduce(const std::string& key, double value, LogReduction how) {
  if (how == LogReduction::mean || how == LogReduction::sum) return;  // the summary has these
  const auto known = std::find_if(reduced_.begin(), reduced_.end(), [&](const auto& r) { return r.first == key; });
  if (known == reduced_.end()) {
    reduced_.emplace_back(key, value);
    return;
  }
  double& so_far = known->second;
  if (how != LogReduction::last && (std::isnan(so_far) || std::isnan(value))) so_far = NAN;
  else if (how == LogReduction::last || (how == LogReduction::max ? value > so_far : value < so_far)) so_far = value;
}

LogEntry IntervalLog::entry(const Trainer& trainer) const {
  LogEntry result;
  for (const auto& [key, mean] : summary_.compute_mean()) result.set(key, mean);
  for (const auto& [key, one] : summary_.summaries())
    if (const LogReduction* how = reduction_of(key); how != nullptr && *how == LogReduction::sum)
      result.set(key, one.sum());
  for (const auto& [key, value] : reduced_) result.set(key, value);
  result.set("epoch", trainer.updater().epoch());
  result.set("iteration", trainer.updater().iteration());
  result.set("elapsed_time", trainer.elapsed_time());
  return result;
}

// Files of earlier versions have no such keys.
void IntervalLog::serialize_reduced(nn::Serializer& s) {
  std::vector<std::string> names;
  if (s.is_writer()) {
    if (reduced_.empty()) return;
    for (const auto& [key, value] : reduced_) names.push_back(key);
    std::string text = internal::json_of(names);
    s("_names", text);
  } else if (s.contains("_names")) {
    std::string text;
    s("_names", text);
    names = internal::JsonReader(text, "LogReport: the names of the stored reductions").strings();
  }
  std::vector<std::pair<std::string, double>> loaded;
  for (std::size_t i = 0; i < names.size(); ++i) {
    double value = s.is_writer() ? reduced_[i].second : 0;
    s(std::to_string(i), value);
    loaded.emplace_back(names[i], value);
  }
  reduced_ = std::move(loaded);
}

void IntervalLog::serialize(nn::Serializer& s) {
  internal::restore_on_rollback(s, summary_, reduced_);
  if (trigger_) trigger_->serialize(*s["_trigger"]);
  internal::serialize_summary(*s["_summary"], summary_);
  serialize_reduced(*s["_reduced"]);
}

LogReport::LogReport() : LogReport(Options{}) {}

LogReport::LogReport(Options options)
    : IntervalLog({std::move(options.keys), std::move(options.trigger), std::move(options.reductions)}),
      postprocess_(std::move(options.postprocess)),
      log_name_(options.filename ? std::move(options.filename) : std::move(options.log_name)) {}

void LogReport::initialize(Trainer& trainer) {
  if (log_name_) internal::check_output_file("LogReport", trainer, *log_name_);
}

void LogReport::write(Trainer& trainer, const LogEntry& entry) {
  LogEntry own = entry;
  if (postprocess_) postprocess_(own);
  log_.push_back(std::move(own));
  if (!log_name_) return;
  const std::string name = format_fields(*log_name_, [&](std::string_view field) { return log_.back().at(field); });
  catena::write_file_atomically("LogReport", (std::filesystem::path(trainer.out()) / name).string(), to_json(log_, 4));
}

void LogReport::serialize(nn::Serializer& s) {
  internal::restore_on_rollback(s, log_);
  IntervalLog::serialize(s);
  std::string text = to_json(log_);
  s("_log", text);
  if (!s.is_writer()) log_ = log_from_json(text, "LogReport: the stored log");
}

}  // namespace training
