// Means of observed values over intervals; LogReport has them as a list of entries and as a JSON file.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/training/log_entry.h>
#include <catena/training/trainer.h>

namespace training {

// The number that an entry of a log has for the values of an interval. Except for `last`, it is NaN if one of them is.
enum class LogReduction : std::uint8_t { mean, sum, last, max, min };

// Values that an entry has in another way than by their mean, with their keys: {{"main/errors", LogReduction::sum}}.
using LogReductions = std::vector<std::pair<std::string, LogReduction>>;

// Keys of observed values; none: all of them.
struct LogKeys : std::optional<std::vector<std::string>> {
 private:
  // In {{"a", "b"}}, a std::string would take the two pointers for the ends of one text.
  struct Key {
    Key(const char* t) : text(t) {}
    Key(const std::string& t) : text(t) {}
    Key(std::string_view t) : text(t) {}
    std::string_view text;
  };

 public:
  using optional::optional;
  LogKeys(std::initializer_list<Key> keys) : optional(std::in_place) {
    for (const Key& k : keys) (*this)->emplace_back(k.text);
  }
};

struct IntervalLogOptions {
  LogKeys keys = {};                 // default: all observed values
  TriggerSpec trigger = {1, epoch};  // when an entry is written; AnyTrigger for several triggers
  // last, max and min look at every value, which waits for a GPU.
  LogReductions reductions = {};
};

// Accumulates the observation of every call. When its trigger fires, an entry has the means, or what `reductions` says,
// then "epoch", "iteration" and "elapsed_time". It must be called at every iteration: with a sparser trigger given to
// extend(), the observations in between are lost. Observed values stay on their device until an entry is made.
class CATENA_EXPORT IntervalLog : public Extension {
 public:
  using Options = IntervalLogOptions;
  void operator()(Trainer& trainer) final;
  // Stores the running means and the trigger under "_summary" and "_trigger", as later versions of Chainer, and what
  // other reductions have so far under "_reduced".
  void serialize(nn::Serializer& s) override;

 protected:
  explicit IntervalLog(Options options);
  virtual void write(Trainer& trainer, const LogEntry& entry) = 0;

 private:
  const LogReduction* reduction_of(std::string_view key) const;
  void reduce(const std::string& key, double value, LogReduction how);
  LogEntry entry(const Trainer& trainer) const;
  void serialize_reduced(nn::Serializer& s);

  Options options_;
  catena::Shared<Trigger> trigger_;
  nn::DictSummary summary_;
  std::vector<std::pair<std::string, double>> reduced_;  // by last, max and min
};

struct LogReportOptions {
  LogKeys keys = {};                                   // default: all observed values
  TriggerSpec trigger = {1, epoch};                    // when an entry is added
  catena::Function<void(LogEntry&)> postprocess = {};  // may change an entry
  // In the trainer's folder; may contain fields such as {epoch} or {main/loss} of the newest entry; empty: no file.
  std::optional<std::string> log_name = "log";
  std::optional<std::string> filename = {};  // the name of log_name in later Chainer; takes its place
  LogReductions reductions = {};             // see IntervalLogOptions

  LogReportOptions with(std::vector<std::string> only) && {
    keys = std::move(only);
    return std::move(*this);
  }
};

// Keeps all entries, and rewrites its file atomically with each one.
class CATENA_EXPORT LogReport : public IntervalLog {
 public:
  using Options = LogReportOptions;
  explicit LogReport(Options options);
  LogReport();
  // Keys and trigger in Chainer's order: LogReport({"main/loss"}, {1, epoch}).
  LogReport(std::vector<std::string> keys, TriggerSpec when, Options options = {})
      : LogReport((options.keys = std::move(keys), options.trigger = std::move(when), std::move(options))) {}
  // Keys with options, or the trigger alone: LogReport({100, "iteration"}).
  template <std::same_as<Options> O = Options>
  LogReport(std::vector<std::string> keys, const O& options) : LogReport(Options(options).with(std::move(keys))) {}
  template <std::same_as<TriggerSpec> T = TriggerSpec>
  explicit LogReport(const T& when) : LogReport(Options{.trigger = when}) {}

  void initialize(Trainer& trainer) override;  // IOError for a file that cannot be written
  std::string default_name() const override { return "LogReport"; }
  // Stores "_log" in Chainer's format besides.
  void serialize(nn::Serializer& s) override;
  const Log& log() const noexcept { return log_; }

 protected:
  void write(Trainer& trainer, const LogEntry& entry) override;

 private:
  catena::Function<void(LogEntry&)> postprocess_;
  std::optional<std::string> log_name_;
  Log log_;
};

}  // namespace training
