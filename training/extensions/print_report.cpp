#include <catena/training/extensions/print_report.h>

#include <algorithm>
#include <variant>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/kernels/base/warning.h>
#include <catena/training/extensions/console.h>

namespace training {
namespace {

// The text may be anything, because a snapshot may have restored the log.
std::string cell(const std::string& value, std::size_t width) {
  std::string text = catena::printable(value);
  text.resize(std::max(width, text.size()), ' ');
  return text;
}
std::size_t width_of(const std::string& name) { return std::max<std::size_t>(10, name.size()); }

}  // namespace

PrintReport::PrintReport(std::vector<std::string> entries) : PrintReport(std::move(entries), Options{}) {}

PrintReport::PrintReport(std::vector<std::string> entries, Options options)
    : entries_(std::move(entries)), options_(std::move(options)) {}

std::string PrintReport::row(const LogEntry& entry) {
  for (const auto& [name, value] : entry)
    if (std::find(met_.begin(), met_.end(), name) == met_.end()) met_.push_back(name);
  std::string text;
  for (const std::string& name : entries_) {
    const LogValue* value = entry.find(name);
    std::string shown;
    if (value != nullptr) shown = value->is_text() ? value->text() : format_value(*value, "g");
    text += cell(shown, width_of(name)) + "  ";
  }
  return text;
}

void PrintReport::take_columns(const Log& log) {
  if (log.empty()) return;
  entries_ = {"epoch"};
  for (const auto& [name, value] : log[0])
    if (name != "epoch" && name != "iteration" && name != "elapsed_time") entries_.push_back(name);
  entries_.push_back("elapsed_time");
}

void PrintReport::initialize(Trainer& trainer) {
  if (options_.own_log_report) options_.own_log_report->initialize(trainer);
}

void PrintReport::operator()(Trainer& trainer) {
  const internal::Console console(options_.out, options_.terminal);
  const LogReport* report = options_.own_log_report.get();
  if (report != nullptr) {
    (*options_.own_log_report)(trainer);
  } else {
    report = dynamic_cast<const LogReport*>(&trainer.get_extension(options_.log_report));
    catena::check<catena::TypeError>(report != nullptr, "PrintReport", "the extension ", options_.log_report,
                                     " is no LogReport");
  }
  const bool late = entries_.empty();
  if (late) take_columns(report->log());
  if (!header_printed_ && !entries_.empty()) {
    if (late) console.erase_below();
    std::string header;
    for (const std::string& name : entries_) header += (header.empty() ? "" : "  ") + cell(name, width_of(name));
    *console.out << header << '\n';
    header_printed_ = true;
  }
  for (; printed_ < report->log().size(); ++printed_) {
    console.erase_below();
    *console.out << row(report->log()[printed_]) << '\n';
  }
  console.out->flush();
}

void PrintReport::finalize() {
  if (met_.empty()) return;  // nothing was printed
  std::string missing, there;
  for (const std::string& name : entries_)
    if (std::find(met_.begin(), met_.end(), name) == met_.end()) missing += (missing.empty() ? "" : ", ") + name;
  if (missing.empty()) return;
  for (const std::string& name : met_) there += (there.empty() ? "" : ", ") + name;
  catena::warn("UserWarning", catena::concat("PrintReport: no entry of the log had a value for the columns ", missing,
                                             " (there were: ", there, ")"));
}

void PrintReport::serialize(nn::Serializer& s) {
  if (options_.own_log_report) options_.own_log_report->serialize(*s["_log_report"]);
}

}  // namespace training
