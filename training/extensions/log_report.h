// LogReport: the means of observed values over intervals, as a list of entries and as a JSON file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/training/log_entry.h>
#include <catena/training/trainer.h>

namespace training {

struct LogReportOptions {
  std::optional<std::vector<std::string>> keys = {};   // default: all observed values
  TriggerSpec trigger = {1, epoch};                    // when an entry is added
  catena::Function<void(LogEntry&)> postprocess = {};  // may change an entry
  // In the trainer's folder; may contain fields such as {epoch} or {main/loss} of the newest entry; empty: no file.
  std::optional<std::string> log_name = "log";
};

// Accumulates the observation of every call. When its trigger fires, adds an entry with the means, then "epoch",
// "iteration" and "elapsed_time", and rewrites the file atomically. It must be called at every iteration: with a
// sparser trigger given to extend(), the observations in between are lost. Observed values stay on their device until
// an entry is added.
class CATENA_EXPORT LogReport : public Extension {
 public:
  using Options = LogReportOptions;
  explicit LogReport(Options options);
  LogReport();

  void initialize(Trainer& trainer) override;  // IOError for a file that cannot be written
  void operator()(Trainer& trainer) override;
  std::string default_name() const override { return "LogReport"; }
  // Stores "_log" in Chainer's format, and the running means and the trigger under "_summary" and "_trigger", as in
  // later versions of Chainer.
  void serialize(nn::Serializer& s) override;
  const Log& log() const noexcept { return log_; }

 private:
  void make_entry(Trainer& trainer);
  Options options_;
  catena::Shared<Trigger> trigger_;
  nn::DictSummary summary_;
  Log log_;
};

}  // namespace training
