// Splits a CUDA C++ text into tokens. Internal to ndarray.
#pragma once

#include <cstddef>
#include <string_view>

namespace nd::internal {

// Steps through the tokens of a C++ text; skips comments, white space and preprocessor lines.
class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : text_(text) { next(); }

  std::string_view token() const noexcept { return text_.substr(begin_, end_ - begin_); }
  std::string_view text(std::size_t begin, std::size_t end) const { return text_.substr(begin, end - begin); }
  std::size_t begin() const noexcept { return begin_; }
  std::size_t end() const noexcept { return end_; }
  bool done() const noexcept { return begin_ == text_.size(); }

  void next();
  // Moves from an opening bracket to the closing one.
  void skip_group();

 private:
  bool at(std::string_view what) const { return text_.substr(begin_).starts_with(what); }
  std::size_t find(std::string_view what, std::size_t from) const;
  void skip_blank();
  std::size_t end_of_line() const;
  std::size_t end_of_token() const;
  std::size_t end_of_literal(std::size_t from) const;

  std::string_view text_;
  std::size_t begin_ = 0, end_ = 0;
  bool line_start_ = true;
};

// Reads the text after `__global__`: the name of the kernel and its parameters without the brackets. The scanner ends
// at the closing brace of the body; `name` is empty for a declaration without one.
struct KernelHead {
  std::string_view name, parameters;
};
KernelHead scan_kernel(TextScanner& scan);

}  // namespace nd::internal
