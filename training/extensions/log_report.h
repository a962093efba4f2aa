// LogReport: the means of observed values over an interval, as a list of entries and as a JSON file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <catena/training/log_entry.h>
#include <catena/training/trainer.h>

namespace training {

struct LogReportOptions {
  std::optional<std::vector<std::string>> keys = {};  // default: everything that is observed
  TriggerSpec trigger = {1, epoch};                   // when an entry is made
  std::function<void(LogEntry&)> postprocess = {};    // may add to an entry and change it
  std::optional<std::string> log_name =
      "log";  // in the trainer's folder; {epoch}, {main/loss}... of the newest entry; none: no file
};

// Takes in the observation of every call; when its own trigger fires, an entry gets the means, then "epoch",
// "iteration" and "elapsed_time", and the file is written anew (atomically). It must be called at every iteration: a
// sparse trigger given to extend() loses what is observed in between. Observed values stay on their device until an
// entry is made.
class CATENA_EXPORT LogReport : public Extension {
 public:
  using Options = LogReportOptions;
  explicit LogReport(Options options);
  LogReport() : LogReport(Options{}) {}

  void operator()(Trainer& trainer) override;
  std::string default_name() const override { return "LogReport"; }
  bool has_state() const override { return true; }
  // "_log" as the reference writes it; the running means and the trigger under "_catena".
  void serialize(nn::Serializer& s) override;
  const Log& log() const noexcept { return log_; }

 private:
  void make_entry(Trainer& trainer);
  void serialize_summary(nn::Serializer& s);
  Options options_;
  std::shared_ptr<Trigger> trigger_;
  nn::DictSummary summary_;
  Log log_;
};

}  // namespace training
