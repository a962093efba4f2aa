#include <catena/nn/path_pattern.h>

#include <cstddef>

namespace nn {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

// One element of a pattern, which stands for one character: itself, `?` or a set.
struct PatternElement {
  std::string_view set;  // without brackets
  std::size_t length;    // in the pattern
  bool is_set;
};

// A bracket that nothing closes is a character. The first character of a set may be a closing bracket.
PatternElement pattern_element(std::string_view pattern, std::size_t at) noexcept {
  if (pattern[at] == '[') {
    const std::size_t first = at + 1 < pattern.size() && pattern[at + 1] == '!' ? at + 2 : at + 1;
    const std::size_t end = pattern.find(']', first + 1);
    if (end != kNowhere) return {pattern.substr(at + 1, end - at - 1), end - at + 1, true};
  }
  return {pattern.substr(at, 1), 1, false};
}

bool set_contains(std::string_view set, char c) noexcept {
  const bool others = set.front() == '!';
  if (others) set.remove_prefix(1);
  bool found = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (i + 2 < set.size() && set[i + 1] == '-') {
      found = found || (set[i] <= c && c <= set[i + 2]);
      i += 2;
    } else {
      found = found || set[i] == c;
    }
  }
  return found != others;
}

bool pattern_takes(const PatternElement& e, char c) noexcept {
  if (e.is_set) return set_contains(e.set, c);
  return e.set == "?" || e.set.front() == c;
}

// After a mismatch the last `*` takes one more character.
bool pattern_matches(std::string_view pattern, std::string_view text) noexcept {
  std::size_t p = 0, t = 0, star = kNowhere, star_end = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_end = t;
      continue;
    }
    if (p < pattern.size()) {
      if (const PatternElement e = pattern_element(pattern, p); pattern_takes(e, text[t])) {
        p += e.length;
        ++t;
        continue;
      }
    }
    if (star == kNowhere) return false;
    p = star + 1;
    t = ++star_end;
  }
  return pattern.find_first_not_of('*', p) == kNowhere;
}

}  // namespace

bool path_matches(std::string_view pattern, std::string_view path) noexcept {
  if (!pattern.starts_with('/') && !pattern.starts_with('*') && path.starts_with('/')) path.remove_prefix(1);
  while (pattern.size() > 1 && pattern.ends_with('/')) pattern.remove_suffix(1);
  for (;;) {
    if (pattern_matches(pattern, path)) return true;
    const std::size_t slash = path.rfind('/');
    if (slash == kNowhere || slash == 0) return false;
    path = path.substr(0, slash);  // the link
  }
}

}  // namespace nn
