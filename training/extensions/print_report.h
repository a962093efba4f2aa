// PrintReport: the log as a table, with a row for every new entry.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <catena/kernels/base/pointers.h>
#include <catena/training/extensions/log_report.h>

namespace training {

struct PrintReportOptions {
  std::string log_report = "LogReport";           // the name of a registered LogReport
  catena::Shared<LogReport> own_log_report = {};  // a LogReport that this extension calls itself, instead
  std::ostream* out = nullptr;                    // default: std::cout
  // default: whether `out` is one; on a terminal a progress bar below is erased first
  std::optional<bool> terminal = {};
};

// Columns are as wide as their names, at least 10; numbers have 6 significant digits; missing values are blank. After a
// resume the rows of the restored log are printed again.
class CATENA_EXPORT PrintReport : public Extension {
 public:
  using Options = PrintReportOptions;
  explicit PrintReport(std::vector<std::string> entries, Options options);
  explicit PrintReport(std::vector<std::string> entries) : PrintReport(std::move(entries), Options{}) {}

  void operator()(Trainer& trainer) override;
  std::string default_name() const override { return "PrintReport"; }
  bool has_state() const override { return options_.own_log_report != nullptr; }
  void serialize(nn::Serializer& s) override;

 private:
  std::string row(const LogEntry& entry) const;
  std::vector<std::string> entries_;
  Options options_;
  std::size_t printed_ = 0;
  bool header_printed_ = false;
};

}  // namespace training
