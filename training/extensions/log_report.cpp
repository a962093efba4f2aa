#include <catena/training/extensions/log_report.h>

#include <algorithm>
#include <filesystem>

#include <catena/kernels/formats/atomic_file.h>

namespace training {

LogReport::LogReport() : LogReport(Options{}) {}

LogReport::LogReport(Options options) : options_(std::move(options)), trigger_(options_.trigger.make()) {}

void LogReport::operator()(Trainer& trainer) {
  for (const auto& [key, value] : trainer.observation())
    if (!options_.keys || std::find(options_.keys->begin(), options_.keys->end(), key) != options_.keys->end())
      summary_.add(key, value);
  if (trigger_ && (*trigger_)(trainer)) make_entry(trainer);
}

void LogReport::make_entry(Trainer& trainer) {
  LogEntry entry;
  for (const auto& [key, mean] : summary_.compute_mean()) entry.set(key, mean);
  entry.set("epoch", trainer.updater().epoch());
  entry.set("iteration", trainer.updater().iteration());
  entry.set("elapsed_time", trainer.elapsed_time());
  if (options_.postprocess) options_.postprocess(entry);
  log_.push_back(std::move(entry));
  summary_ = {};
  if (!options_.log_name) return;
  const std::string name =
      format_fields(*options_.log_name, [&](std::string_view field) { return log_.back().at(field); });
  catena::write_file_atomically("LogReport", (std::filesystem::path(trainer.out()) / name).string(), to_json(log_, 4));
}

void LogReport::serialize(nn::Serializer& s) {
  if (trigger_) trigger_->serialize(*(*s["_catena"])["trigger"]);
  serialize_summary(*(*s["_catena"])["summary"]);
  std::string text = to_json(log_);
  s("_log", text);
  if (!s.is_writer()) log_ = log_from_json(text, "LogReport: the stored log");
}

void LogReport::serialize_summary(nn::Serializer& s) {
  if (s.is_writer()) {
    const auto& summaries = summary_.summaries();
    auto size = std::int64_t(summaries.size());
    s("size", size);
    for (std::size_t i = 0; i < summaries.size(); ++i) {
      const auto one = s[std::to_string(i)];
      std::string key = summaries[i].first;
      double x = summaries[i].second.sum(), x2 = summaries[i].second.sum_of_squares();
      std::int64_t n = summaries[i].second.count();
      (*one)("key", key);
      (*one)("x", x);
      (*one)("x2", x2);
      (*one)("n", n);
    }
    return;
  }
  if (!s.contains("size")) return;  // written by Chainer, which does not store the running means
  nn::DictSummary loaded;
  std::int64_t size = 0;
  s("size", size);
  for (std::int64_t i = 0; i < size; ++i) {
    const auto one = s[std::to_string(i)];
    std::string key;
    double x = 0, x2 = 0;
    std::int64_t n = 0;
    if (!one->contains("key")) break;  // the file contains fewer entries than its size states
    (*one)("key", key);
    (*one)("x", x);
    (*one)("x2", x2);
    (*one)("n", n);
    nn::Summary summary;
    summary.set(x, x2, n);
    loaded.set(key, summary);
  }
  summary_ = std::move(loaded);
}

}  // namespace training
