#include <catena/ndarray/user_kernel/text_scanner.h>

#include <catena/kernels/base/error.h>

namespace nd::internal {
namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

void TextScanner::next() {
  skip_blank();
  end_ = begin_ == text_.size() ? begin_ : end_of_token();
}
void TextScanner::skip_group() {
  const char open = text_[begin_], close = open == '(' ? ')' : '}';
  int depth = 0;
  do {
    if (token().size() == 1) depth += token()[0] == open ? 1 : token()[0] == close ? -1 : 0;
    if (depth == 0) return;
    next();
  } while (!done());
}

std::size_t TextScanner::find(std::string_view what, std::size_t from) const {
  const std::size_t found = text_.find(what, from);
  return found == std::string_view::npos ? text_.size() : found + what.size();
}

void TextScanner::skip_blank() {
  for (begin_ = end_; begin_ < text_.size();) {
    const char c = text_[begin_];
    if (c == '\n') line_start_ = true;
    if (c == ' ' || (c >= '\t' && c <= '\r')) ++begin_;
    else if (at("//")) begin_ = end_of_line();
    else if (at("/*")) begin_ = find("*/", begin_ + 2);
    else if (c == '#' && line_start_) begin_ = end_of_line();
    else break;
  }
  line_start_ = false;
}
// Returns the end of a preprocessor line; a backslash continues the line.
std::size_t TextScanner::end_of_line() const {
  std::size_t end = begin_;
  do end = text_.find('\n', end + 1);
  while (end != std::string_view::npos && text_[end - 1] == '\\');
  return end == std::string_view::npos ? text_.size() : end;
}

std::size_t TextScanner::end_of_token() const {
  const char c = text_[begin_];
  if (c == '"' || c == '\'') return end_of_literal(begin_);
  if (!is_word(c)) return begin_ + 1;
  std::size_t end = begin_;
  const bool number = c >= '0' && c <= '9';
  while (end < text_.size() && (is_word(text_[end]) || (number && text_[end] == '\''))) ++end;
  const std::string_view word = text_.substr(begin_, end - begin_);
  if (end < text_.size() && text_[end] == '"' && !word.empty() && word.back() == 'R') {
    const std::size_t open = text_.find('(', end);
    if (open == std::string_view::npos) return text_.size();
    return find(catena::concat(")", text_.substr(end + 1, open - end - 1), "\""), open);
  }
  return end;
}
std::size_t TextScanner::end_of_literal(std::size_t from) const {
  for (std::size_t k = from + 1; k < text_.size(); ++k) {
    if (text_[k] == '\\') ++k;
    else if (text_[k] == text_[from]) return k + 1;
  }
  return text_.size();
}

KernelHead scan_kernel(TextScanner& scan) {
  KernelHead head;
  std::string_view before;
  for (; !scan.done(); scan.next()) {
    const std::string_view token = scan.token();
    if (token == ";") return {};
    if (token == "{") {
      scan.skip_group();
      return head;
    }
    if (token == "(") {
      const bool attribute = before == "__launch_bounds__" || before == "__attribute__" || before == "__cluster_dims__";
      const std::size_t begin = scan.end();
      scan.skip_group();
      if (!attribute && head.name.empty()) head = {before, scan.text(begin, scan.begin())};
    }
    before = token;
  }
  return {};
}

}  // namespace nd::internal
