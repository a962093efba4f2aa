#include <catena/training/extensions/log_report.h>

#include <algorithm>
#include <filesystem>

#include <catena/kernels/formats/atomic_file.h>
#include <catena/training/extensions/output_file.h>
#include <catena/training/stored_number.h>
#include <catena/training/summary_state.h>

namespace training {

IntervalLog::IntervalLog(Options options) : options_(std::move(options)), trigger_(options_.trigger.make()) {}

void IntervalLog::operator()(Trainer& trainer) {
  for (const auto& [key, value] : trainer.observation())
    if (!options_.keys || std::find(options_.keys->begin(), options_.keys->end(), key) != options_.keys->end())
      summary_.add(key, value);
  if (!trigger_ || !trainer.asks(*trigger_)) return;
  LogEntry entry;
  for (const auto& [key, mean] : summary_.compute_mean()) entry.set(key, mean);
  entry.set("epoch", trainer.updater().epoch());
  entry.set("iteration", trainer.updater().iteration());
  entry.set("elapsed_time", trainer.elapsed_time());
  summary_ = {};
  write(trainer, entry);
}

void IntervalLog::serialize(nn::Serializer& s) {
  internal::restore_on_rollback(s, summary_);
  if (trigger_) trigger_->serialize(*s["_trigger"]);
  internal::serialize_summary(*s["_summary"], summary_);
}

LogReport::LogReport() : LogReport(Options{}) {}

LogReport::LogReport(Options options)
    : IntervalLog({std::move(options.keys), std::move(options.trigger)}),
      postprocess_(std::move(options.postprocess)),
      log_name_(std::move(options.log_name)) {}

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
