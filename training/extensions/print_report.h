// PrintReport: the log as a table, with a row for every new entry.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <catena/kernels/base/pointers.h>
#include <catena/training/extensions/log_report.h>

namespace training {

// A stream as an option: its address, or the stream itself.
class StreamRef {
 public:
  StreamRef(std::ostream* stream = nullptr) noexcept : stream_(stream) {}
  StreamRef(std::ostream& stream) noexcept : stream_(&stream) {}
  operator std::ostream*() const noexcept { return stream_; }

 private:
  std::ostream* stream_;
};

struct PrintReportOptions {
  std::string log_report = "LogReport";           // the name of a registered LogReport
  catena::Shared<LogReport> own_log_report = {};  // a LogReport that this extension calls itself, instead
  StreamRef out = {};                             // default: std::cout
  // Default: true if `out` is a terminal. On a terminal, a progress bar below the cursor is erased first.
  std::optional<bool> terminal = {};
};

// Without names, the columns are "epoch", the values of the first entry of the log in its order, and "elapsed_time".
// Columns are as wide as their names, at least 10; numbers have 6 significant digits; missing values are blank. After a
// resume, the rows of the restored log are printed again. At the end of the run, a warning lists the columns that no
// entry of the log had, and the existing names.
class CATENA_EXPORT PrintReport : public Extension {
 public:
  using Options = PrintReportOptions;
  explicit PrintReport(std::vector<std::string> entries, Options options);
  explicit PrintReport(std::vector<std::string> entries);
  explicit PrintReport(Options options) : PrintReport(std::vector<std::string>(), std::move(options)) {}
  PrintReport() : PrintReport(Options{}) {}

  void initialize(Trainer& trainer) override;  // initializes own_log_report
  void operator()(Trainer& trainer) override;
  void finalize() override;
  std::string default_name() const override { return "PrintReport"; }
  void serialize(nn::Serializer& s) override;

 private:
  std::string row(const LogEntry& entry);
  void take_columns(const Log& log);
  std::vector<std::string> entries_;
  std::vector<std::string> met_;  // the names of values in the entries printed
  Options options_;
  std::size_t printed_ = 0;
  bool header_printed_ = false;
};

}  // namespace training
