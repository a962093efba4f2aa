#include <catena/training/extensions/interval_logs.h>

#include <filesystem>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/training/append_file.h>
#include <catena/training/extensions/output_file.h>

namespace training {

namespace fs = std::filesystem;

// ---- lines of JSON ----
JsonLinesLog::JsonLinesLog(std::string name, Options options)
    : IntervalLog(std::move(options)), name_(std::move(name)) {}
JsonLinesLog::~JsonLinesLog() = default;
JsonLinesLog::JsonLinesLog(JsonLinesLog&&) noexcept = default;

namespace {

// The whole lines of a log up to an iteration.
std::string lines_until(const std::string& text, std::int64_t iteration) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (end == text.npos) break;
    const std::string line = text.substr(at, end + 1 - at);
    at = end + 1;
    const Log entry = log_from_json(catena::concat('[', line, ']'), "JsonLinesLog: the file");
    const LogValue* of = entry.empty() ? nullptr : entry[0].find("iteration");
    if (of != nullptr && of->number() <= double(iteration)) kept += line;
  }
  return kept;
}

}  // namespace

void JsonLinesLog::initialize(Trainer& trainer) {
  internal::check_output_file("JsonLinesLog", trainer, name_);
  const std::string path = (fs::path(trainer.out()) / name_).string();
  const std::int64_t iteration = trainer.updater().iteration();
  std::error_code ignored;
  std::string kept;
  if (iteration > 0 && fs::is_regular_file(path, ignored))
    kept = lines_until(catena::read_file("JsonLinesLog", path), iteration);
  catena::write_file_atomically("JsonLinesLog", path, kept);
  file_ = catena::Owned<internal::AppendFile>(new internal::AppendFile("JsonLinesLog", path));
}

void JsonLinesLog::finalize() { file_ = {}; }

void JsonLinesLog::write(Trainer&, const LogEntry& entry) {
  const std::string list = to_json({entry});  // [{...}]
  file_->write(list.substr(1, list.size() - 2) + "\n");
}

// ---- TensorBoard ----
TensorBoardLog::TensorBoardLog(std::string folder, Options options)
    : IntervalLog(std::move(options)), folder_(std::move(folder)) {}

void TensorBoardLog::initialize(Trainer& trainer) {
  writer_ = catena::Owned<SummaryWriter>(new SummaryWriter((fs::path(trainer.out()) / folder_).string()));
}

void TensorBoardLog::finalize() { writer_ = {}; }

SummaryWriter& TensorBoardLog::writer() {
  catena::check<catena::RuntimeError>(bool(writer_), "TensorBoardLog",
                                      "the file is open only while the trainer runs: call writer() in an extension");
  return *writer_;
}

void TensorBoardLog::write(Trainer& trainer, const LogEntry& entry) {
  for (const auto& [key, value] : entry)
    if (key != "iteration" && !value.is_text()) writer_->add_scalar(key, value.number(), trainer.updater().iteration());
}

}  // namespace training
