#include <catena/ndarray/cpu/kernel_scan.h>

#include <cstdint>

#include <catena/kernels/base/error.h>
#include <catena/kernels/rows/embedded.h>

namespace nd::cpu {
namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// Steps through the tokens of a C++ text; skips comments, white space and preprocessor lines.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) { next(); }

  std::string_view token() const noexcept { return text_.substr(begin_, end_ - begin_); }
  std::size_t end() const noexcept { return end_; }
  bool done() const noexcept { return begin_ == text_.size(); }

  void next() {
    skip_blank();
    end_ = begin_ == text_.size() ? begin_ : end_of_token();
  }
  // Moves from an opening bracket to the position behind the closing one.
  void skip_group() {
    const char open = text_[begin_], close = open == '(' ? ')' : '}';
    int depth = 0;
    do {
      if (token().size() == 1) depth += token()[0] == open ? 1 : token()[0] == close ? -1 : 0;
      if (depth == 0) return;
      next();
    } while (!done());
  }

 private:
  bool at(std::string_view what) const { return text_.substr(begin_).starts_with(what); }
  std::size_t find(std::string_view what, std::size_t from) const {
    const std::size_t found = text_.find(what, from);
    return found == std::string_view::npos ? text_.size() : found + what.size();
  }

  void skip_blank() {
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
  // End of a preprocessor line, which a backslash continues.
  std::size_t end_of_line() const {
    std::size_t end = begin_;
    do end = text_.find('\n', end + 1);
    while (end != std::string_view::npos && text_[end - 1] == '\\');
    return end == std::string_view::npos ? text_.size() : end;
  }

  std::size_t end_of_token() {
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
  std::size_t end_of_literal(std::size_t from) const {
    for (std::size_t k = from + 1; k < text_.size(); ++k) {
      if (text_[k] == '\\') ++k;
      else if (text_[k] == text_[from]) return k + 1;
    }
    return text_.size();
  }

  std::string_view text_;
  std::size_t begin_ = 0, end_ = 0;
  bool line_start_ = true;
};

// Called behind __global__: the name of the kernel if a body follows, with the scanner at its closing brace.
std::string_view kernel_with_body(Scanner& scan) {
  std::string_view name, before;
  for (; !scan.done(); scan.next()) {
    const std::string_view token = scan.token();
    if (token == ";") return {};
    if (token == "{") {
      scan.skip_group();
      return name;
    }
    if (token == "(") {
      const bool attribute = before == "__launch_bounds__" || before == "__attribute__" || before == "__cluster_dims__";
      if (!attribute && name.empty()) name = before;
      scan.skip_group();
    }
    before = token;
  }
  return {};
}

}  // namespace

std::string registration(std::string_view kernel, std::string_view suffix) {
  const std::string name = suffix.empty() ? std::to_string(catena::fnv1a(kernel)) : std::string(suffix);
  return catena::concat(" static catena::user::Registered<(", kernel, ")> _registered_", name, "(\"", kernel, "\");\n");
}

std::string with_registrations(std::string_view code) {
  std::string text;
  std::size_t copied = 0;
  bool is_template = false;
  for (Scanner scan(code); !scan.done(); scan.next()) {
    const std::string_view token = scan.token();
    if (token == "template") is_template = true;
    if (token == ";" || token == "{" || token == "}") is_template = false;
    if (token != "__global__") continue;
    const std::string_view name = kernel_with_body(scan);
    if (!name.empty() && !is_template) {
      text += code.substr(copied, scan.end() - copied);
      std::string definition = registration(name, name);
      definition.pop_back();
      text += definition;
      copied = scan.end();
    }
    is_template = false;
  }
  text += code.substr(copied);
  return text;
}

}  // namespace nd::cpu
