#include <catena/tests/support/cuda_device/kernel_text.h>

#include <algorithm>
#include <cctype>
#include <set>

#include <catena/kernels/registry/embedded.h>

namespace cuda_device {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Returns words, string literals (with their quotes) and single other characters. Skips comments and preprocessor
// lines.
std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> tokens;
  bool line_begins = true;
  for (std::size_t k = 0; k < text.size();) {
    const char c = text[k];
    std::size_t end = k + 1;
    if (c == '\n') {
      line_begins = true;
    } else if (text.substr(k, 2) == "//") {
      end = std::min(text.find('\n', k), text.size());
    } else if (text.substr(k, 2) == "/*") {
      end = std::min(text.find("*/", k + 2), text.size() - 2) + 2;
    } else if (c == '#' && line_begins) {
      end = std::min(text.find('\n', k), text.size());
      while (end < text.size() && text[end - 1] == '\\') end = std::min(text.find('\n', end + 1), text.size());
    } else if (c == '"' || (c == '\'' && (k == 0 || !is_word(text[k - 1])))) {  // not the ' of 1'000
      while (end < text.size() && text[end] != c) end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
      tokens.push_back(text.substr(k, end - k));
      line_begins = false;
    } else if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      while (is_word(c) && end < text.size() && is_word(text[end])) ++end;
      tokens.push_back(text.substr(k, end - k));
      line_begins = false;
    }
    k = end;
  }
  return tokens;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : tokens_(tokens_of(text)) {}

  TextScan run() {
    for (at_ = 0; at_ < tokens_.size(); ++at_) {
      const std::string_view t = tokens_[at_];
      if (t == "{") open();
      else if (t == "}" && !scopes_.empty()) close();
      else if (t == "__global__") kernel();
      else if (t == "__shared__") shared();
      if (t == "{" || t == "}" || t == ";") begin_ = at_ + 1;
    }
    return std::move(found_);
  }

 private:
  enum class Kind { name_space, extern_c, other };
  struct Scope {
    Kind kind;
    std::size_t names;  // number of names that it adds to the enclosing scopes
  };

  bool declared(std::string_view word) const {
    for (std::size_t k = begin_; k < at_; ++k)
      if (tokens_[k] == word) return true;
    return false;
  }
  bool declared_extern_c() const { return declared("extern") && declared("\"C\""); }
  // True inside an extern "C" block or the body of an extern "C" function.
  bool in_extern_c() const {
    return std::any_of(scopes_.begin(), scopes_.end(), [](const Scope& s) { return s.kind == Kind::extern_c; });
  }
  std::string_view next(std::size_t k) const { return k < tokens_.size() ? tokens_[k] : std::string_view(); }

  void open() {
    if (declared("namespace")) {
      const std::size_t before = space_.size();
      for (std::size_t k = begin_; k < at_; ++k)
        if (is_word(tokens_[k][0]) && tokens_[k] != "namespace" && tokens_[k] != "inline") space_.push_back(tokens_[k]);
      scopes_.push_back({Kind::name_space, space_.size() - before});
    } else {
      scopes_.push_back({declared_extern_c() ? Kind::extern_c : Kind::other, 0});
    }
  }
  void close() {
    space_.resize(space_.size() - scopes_.back().names);
    scopes_.pop_back();
  }

  void kernel() {
    if (!declared_extern_c() && !in_extern_c()) return;
    // The name precedes the parameters; attributes have separate parentheses.
    for (std::size_t k = at_ + 1; k < tokens_.size() && tokens_[k] != ";" && tokens_[k] != "{"; ++k) {
      if (next(k + 1) != "(" || !is_word(tokens_[k][0])) continue;
      if (tokens_[k].starts_with("__") || tokens_[k] == "alignas") {
        int depth = 0;
        do {
          ++k;
          depth += next(k) == "(" ? 1 : (next(k) == ")" ? -1 : 0);
        } while (depth > 0 && k < tokens_.size());
        continue;
      }
      add(std::string(tokens_[k]));
      return;
    }
  }
  void add(const std::string& name) {
    for (const TextScan::Kernel& known : found_.kernels)
      if (known.name == name) return;
    std::string qualified = "::";
    for (std::string_view part : space_) qualified += std::string(part) + "::";
    found_.kernels.push_back({name, qualified + name});
  }

  void shared() {
    std::size_t end = at_;
    while (end < tokens_.size() && tokens_[end] != ";" && tokens_[end] != "[") ++end;
    bool is_extern = declared("extern");
    for (std::size_t k = at_; k < end; ++k) is_extern |= tokens_[k] == "extern";
    if (!is_extern || next(end) != "[") return;
    std::string symbol(tokens_[end - 1]);
    if (!space_.empty() && !in_extern_c()) {
      std::string parts;
      for (std::string_view part : space_) parts += std::to_string(part.size()) + std::string(part);
      symbol = "_ZN" + parts + std::to_string(symbol.size()) + symbol + "E";
    }
    for (const std::string& known : found_.dynamic_shared)
      if (known == symbol) return;
    found_.dynamic_shared.push_back(symbol);
  }

  std::vector<std::string_view> tokens_;
  std::size_t at_ = 0, begin_ = 0;  // begin_: beginning of the declaration that contains at_
  std::vector<Scope> scopes_;
  std::vector<std::string_view> space_;
  TextScan found_;
};

// Returns the names in the lines #include <...> of a text.
std::vector<std::string> included(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; (at = text.find("#include <", at)) != std::string_view::npos;) {
    const std::size_t begin = at + 10, end = text.find('>', begin);
    if (end == std::string_view::npos) break;
    names.emplace_back(text.substr(begin, end - begin));
    at = end;
  }
  return names;
}

}  // namespace

std::uint64_t hash_of(const std::vector<Header>& headers) {
  std::uint64_t hash = catena::fnv1a({});
  for (const Header& header : headers)
    for (const std::string& part : {header.name, header.text})
      hash = catena::fnv1a(part, catena::fnv1a(std::to_string(part.size()), hash));
  return hash;
}

TextScan scan(std::string_view text) { return Scanner(text).run(); }

std::uint64_t Segment::hash() const { return catena::fnv1a(body); }

Segments split(std::string_view text) {
  constexpr std::string_view kMark = "// kernel: ";
  std::vector<std::size_t> begins;
  for (std::size_t at = text.find(kMark); at != std::string_view::npos; at = text.find(kMark, at + 1))
    if (at == 0 || text[at - 1] == '\n') begins.push_back(at);
  Segments result{text.substr(0, begins.empty() ? text.size() : begins[0]), {}};
  for (std::size_t k = 0; k < begins.size(); ++k) {
    const std::size_t end = k + 1 < begins.size() ? begins[k + 1] : text.size();
    const std::string_view body = text.substr(begins[k], end - begins[k]);
    result.segments.push_back({body.substr(kMark.size(), body.find('\n') - kMark.size()), body});
  }
  return result;
}

std::vector<std::string> all_included(std::string_view text, const HeaderText& header) {
  std::vector<std::string> names = included(text);
  std::set<std::string> seen;
  std::erase_if(names, [&](const std::string& name) { return !seen.insert(name).second; });
  for (std::size_t k = 0; k < names.size(); ++k)
    for (const std::string& name : included(header(names[k])))
      if (seen.insert(name).second) names.push_back(name);
  return names;
}

bool can_synchronise(std::string_view text, const HeaderText& header) {
  const auto waits = [](std::string_view part) {
    return part.find("__sync") != part.npos || part.find("_sync(") != part.npos || part.find("__shared__") != part.npos;
  };
  if (waits(text)) return true;
  const std::vector<std::string> names = all_included(text, header);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return waits(header(name)); });
}

}  // namespace cuda_device
