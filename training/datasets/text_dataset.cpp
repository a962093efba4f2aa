#include <catena/training/datasets/text_dataset.h>

#include <algorithm>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/formats/byte_stream.h>

namespace training {

using catena::check;

class TextDataset::File {
 public:
  explicit File(const std::string& path) : path_(path), file_("TextDataset", path) {
    constexpr std::uint64_t kChunk = 1 << 20;
    std::string chunk;
    for (std::uint64_t at = 0; at < file_.size(); at += chunk.size()) {
      chunk.resize(static_cast<std::size_t>(std::min(kChunk, file_.size() - at)));
      file_.read_at(at, chunk.data(), chunk.size());
      for (std::size_t found = chunk.find('\n'); found != chunk.npos; found = chunk.find('\n', found + 1))
        ends_.push_back(at + found);
    }
    const std::uint64_t last = ends_.empty() ? 0 : ends_.back() + 1;
    if (last < file_.size()) ends_.push_back(file_.size());
  }
  std::int64_t size() const { return static_cast<std::int64_t>(ends_.size()); }
  const std::string& path() const { return path_; }
  std::string line(std::int64_t i) const {
    const auto k = static_cast<std::size_t>(i);
    const std::uint64_t begin = k == 0 ? 0 : ends_[k - 1] + 1;
    std::string text(static_cast<std::size_t>(ends_[k] - begin), '\0');
    file_.read_at(begin, text.data(), text.size());
    if (text.ends_with('\r')) text.pop_back();
    return text;
  }

 private:
  std::string path_;
  catena::FileAccess file_;
  std::vector<std::uint64_t> ends_;  // positions after the lines
};

TextDataset::TextDataset(const std::vector<std::string>& paths, TextOptions options) : options_(std::move(options)) {
  check<catena::ValueError>(!paths.empty(), "TextDataset", "there are no files");
  for (const std::string& path : paths) {
    files_.push_back(catena::Shared<File>::make(path));
    check<catena::ValueError>(files_.back()->size() == files_[0]->size(), "TextDataset", '"', path, "\" has ",
                              files_.back()->size(), " lines, but \"", files_[0]->path(), "\" has ", files_[0]->size());
  }
  if (!filter()) return;
  for (std::int64_t i = 0; i < files_[0]->size(); ++i)
    if (filter()(lines_at(i))) kept_.push_back(i);
}
TextDataset::~TextDataset() = default;

std::int64_t TextDataset::size() const {
  return filter() ? static_cast<std::int64_t>(kept_.size()) : files_[0]->size();
}

std::int64_t TextDataset::line_of(std::int64_t i) const { return filter() ? kept_[static_cast<std::size_t>(i)] : i; }

std::vector<std::string> TextDataset::lines_at(std::int64_t line) const {
  std::vector<std::string> lines;
  for (const auto& file : files_) lines.push_back(file->line(line));
  return lines;
}

std::vector<std::string> TextDataset::lines(std::int64_t i) const {
  check<catena::IndexError>(i >= 0 && i < size(), "TextDataset", "there is no example ", i, " of ", size());
  return lines_at(line_of(i));
}

Example TextDataset::get_example(std::int64_t i) const {
  const std::int64_t line = line_of(i);
  Example example;
  for (const auto& file : files_) {
    const std::string text = file->line(line);
    try {
      example.values.push_back(options_.convert ? options_.convert(text)
                                                : autograd::from_host(text.data(), {std::int64_t(text.size())},
                                                                      autograd::Dtype::uint8, Device{}));
    } catch (...) {
      catena::rethrow_from(catena::concat('"', file->path(), "\", line ", line + 1));
    }
  }
  return example;
}

}  // namespace training
