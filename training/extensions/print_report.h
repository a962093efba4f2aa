// PrintReport: the log as a table, a row for every new entry.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <catena/training/extensions/log_report.h>

namespace training {

struct PrintReportOptions {
  std::string log_report = "LogReport";            // the name of a registered LogReport
  std::shared_ptr<LogReport> own_log_report = {};  // one that this extension drives itself, instead
  std::ostream* out = nullptr;                     // default: std::cout
  std::optional<bool> terminal = {};  // default: what `out` is; on a terminal a progress bar below is erased first
};

// Columns are as wide as their names, at least 10; numbers have 6 significant digits; a value that an entry lacks is
// blank. After a resume the rows of the log so far are printed again.
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
