// A dataset of the lines of text files.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/pointers.h>
#include <catena/training/dataset.h>

namespace training {

// A function of the lines of an example: of a list, or of one or two texts.
class LineFilter : public catena::Function<bool(const std::vector<std::string>& lines)> {
 public:
  using Function::Function;
  LineFilter() noexcept = default;
  LineFilter(Function filter) noexcept : Function(std::move(filter)) {}
  template <class F>
  requires std::is_invocable_r_v<bool, F&, const std::string&> LineFilter(F f)
      : Function([f = std::move(f)](const std::vector<std::string>& lines) mutable { return f(lines.at(0)); }) {}
  template <class F>
  requires std::is_invocable_r_v<bool, F&, const std::string&, const std::string&> LineFilter(F f)
      : Function([f = std::move(f)](const std::vector<std::string>& lines) mutable {
          return f(lines.at(0), lines.at(1));
        }) {}
};

struct TextOptions {
  // Returns the value of a line, such as numbers of its words. Empty: the bytes of the line, as a uint8 array.
  catena::Function<Array(std::string_view line)> convert = {};
  // Whether the lines of an example, one of each file, are kept. Called once for all lines by the constructor.
  catena::Function<bool(const std::vector<std::string>& lines)> filter = {};
  // Chainer's name of it, which takes its place: {.filter_func = [](const std::string& line) { ... }}.
  LineFilter filter_func = {};
};

// Example i is line i of a file, or a tuple of the lines i of several files (source and target of translations), which
// must have equally many (ValueError). Lines end with \n or \r\n, which do not belong to them. The constructor reads
// the files and keeps the positions of the lines only; an example is read when it is requested.
//
//   training::TextDataset corpus("corpus.txt");
//   training::TextDataset pairs({"train.de", "train.en"}, {.convert = ids_of_words});
//
// IOError if a file cannot be read. An error of `convert` keeps its class and begins with file and line. get_example
// may be called from several threads if `convert` may.
class CATENA_EXPORT TextDataset : public DatasetMixin {
 public:
  explicit TextDataset(const std::string& path, TextOptions options = {})
      : TextDataset(std::vector<std::string>{path}, std::move(options)) {}
  explicit TextDataset(const char* path, TextOptions options = {})
      : TextDataset(std::vector<std::string>{path}, std::move(options)) {}
  explicit TextDataset(const std::vector<std::string>& paths, TextOptions options = {});
  explicit TextDataset(std::initializer_list<std::string> paths, TextOptions options = {})
      : TextDataset(std::vector<std::string>(paths), std::move(options)) {}
  ~TextDataset() override;
  std::int64_t size() const override;
  Example get_example(std::int64_t i) const override;
  // Returns the lines of example i, one of each file. IndexError unless 0 <= i < size().
  std::vector<std::string> lines(std::int64_t i) const;

 private:
  class File;
  std::int64_t line_of(std::int64_t i) const;                  // the number of the line of example i
  std::vector<std::string> lines_at(std::int64_t line) const;  // of all files
  std::vector<catena::Shared<const File>> files_;
  std::vector<std::int64_t> kept_;  // numbers of lines, if there is a filter
  // Not given: an empty function.
  const catena::Function<bool(const std::vector<std::string>& lines)>& filter() const noexcept {
    return options_.filter_func ? options_.filter_func : options_.filter;
  }
  TextOptions options_;
};

}  // namespace training
