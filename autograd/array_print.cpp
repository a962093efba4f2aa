// Text of an array as NumPy prints it: aligned columns, at most 8 decimals, three items at each edge of large arrays.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <catena/autograd/array.h>
#include <catena/kernels/base/text.h>

namespace autograd {
namespace {

constexpr std::int64_t kThreshold = 1000;  // elements; larger arrays are summarised
constexpr std::int64_t kEdge = 3;
constexpr int kPrecision = 8;
constexpr std::size_t kLineWidth = 75;

// Returns the positions along an axis that are printed; -1 stands for "...".
std::vector<std::int64_t> shown_positions(std::int64_t n, bool summarise) {
  std::vector<std::int64_t> v;
  const bool cut = summarise && n > 2 * kEdge;
  for (std::int64_t i = 0; i < (cut ? kEdge : n); ++i) v.push_back(i);
  if (cut) {
    v.push_back(-1);
    for (std::int64_t i = n - kEdge; i < n; ++i) v.push_back(i);
  }
  return v;
}

// Returns the number of decimals that distinguishes the value from its neighbours in its dtype, at most kPrecision.
int decimals_of(double v, bool single) {
  char text[400];
  const auto end = single
                       ? std::to_chars(text, text + sizeof(text), static_cast<float>(v), std::chars_format::fixed).ptr
                       : std::to_chars(text, text + sizeof(text), v, std::chars_format::fixed).ptr;
  const std::string_view s(text, static_cast<std::size_t>(end - text));
  if (s.find('.') == s.npos) return 0;
  if (s.size() - s.find('.') - 1 <= kPrecision) return static_cast<int>(s.size() - s.find('.') - 1);
  std::string rounded = catena::fixed_text(v, kPrecision);
  const auto last = rounded.find_last_not_of('0');
  return static_cast<int>(last - rounded.find('.'));
}

// The common format of all numbers of an array.
class FloatFormat {
 public:
  FloatFormat(const std::vector<double>& values, bool single) {
    double largest = 0, smallest = 0;
    for (double v : values) {
      if (!std::isfinite(v) || v == 0) continue;
      const double m = std::fabs(v);
      largest = std::max(largest, m);
      smallest = smallest == 0 ? m : std::min(smallest, m);
      decimals_ = std::max(decimals_, decimals_of(v, single));
    }
    exponential_ = largest >= 1e8 || (smallest != 0 && (smallest < 1e-4 || largest / smallest > 1e3 * 1e5));
  }
  std::string operator()(double v) const {
    if (std::isnan(v)) return "nan";
    if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
    if (exponential_) return catena::scientific_text(v, kPrecision);
    std::string text = catena::fixed_text(v, decimals_);
    if (decimals_ == 0) return text + '.';
    // The decimal points are aligned; trailing zeros become spaces.
    for (std::size_t i = text.size(); text[i - 1] == '0'; --i) text[i - 1] = ' ';
    return text;
  }

 private:
  int decimals_ = 0;
  bool exponential_ = false;
};

class Printer {
 public:
  Printer(const Array& a, bool summarise)
      : a_(a), summarise_(summarise), on_host_(std::size_t(a.size()) * catena::itemsize(a.dtype())) {
    to_host(a, on_host_.data());
    collect(0, 0);
    if (catena::is_floating(a.dtype())) format_floats();
    std::size_t width = 0;
    for (const std::string& s : items_) width = std::max(width, s.size());
    for (std::string& s : items_) s.insert(0, width - s.size(), ' ');
  }
  std::string text() {
    next_ = 0;
    return a_.ndim() == 0 ? items_[0] : block(0);
  }

 private:
  void collect(int axis, std::int64_t offset) {
    if (axis == a_.ndim()) return items_.push_back(element(offset));
    for (std::int64_t i : shown_positions(a_.shape(axis), summarise_))
      if (i >= 0) collect(axis + 1, offset * a_.shape(axis) + i);
  }
  std::string element(std::int64_t position) {
    return catena::visit_dtype(a_.dtype(), [&](auto tag) -> std::string {
      using T = typename decltype(tag)::type;
      T value;
      __builtin_memcpy(&value, on_host_.data() + position * std::int64_t(sizeof(T)), sizeof(T));
      if (catena::is_floating(a_.dtype())) {
        floats_.push_back(Scalar(value).to_double());
        return {};
      }
      return catena::concat(Scalar(value));
    });
  }
  void format_floats() {
    const FloatFormat format(floats_, a_.dtype() != Dtype::float64);
    for (std::size_t i = 0; i < items_.size(); ++i) items_[i] = format(floats_[i]);
  }
  std::string block(int axis) {
    std::string text = "[";
    const bool last = axis == a_.ndim() - 1;
    const std::string indent(std::size_t(axis + 1), ' ');
    std::size_t line = indent.size();
    bool first = true;
    for (std::int64_t i : shown_positions(a_.shape(axis), summarise_)) {
      const std::string piece = i < 0 ? "..." : (last ? items_[next_++] : block(axis + 1));
      if (!first && !last) text += std::string(std::size_t(a_.ndim() - 1 - axis), '\n') + indent;
      if (!first && last) {
        if (line + 1 + piece.size() > kLineWidth) {
          text += '\n' + indent;
          line = indent.size();
        } else {
          text += ' ';
          ++line;
        }
      }
      text += piece;
      line += piece.size();
      first = false;
    }
    return text + ']';
  }

  const Array& a_;
  bool summarise_;
  std::vector<std::byte> on_host_;
  std::vector<std::string> items_;
  std::vector<double> floats_;
  std::size_t next_ = 0;
};

}  // namespace

std::string to_string(const Array& a) {
  if (!a) return "None";
  if (a.size() == 0) return "[]";
  if (a.size() <= kThreshold) return Printer(a, false).text();
  // Copies only the edges to the host.
  Array edges = a;
  for (int axis = 0; axis < a.ndim(); ++axis) {
    const std::int64_t n = a.shape(axis);
    if (n <= 2 * kEdge + 1) continue;
    const Array parts[] = {slice(edges, axis, 0, kEdge + 1), slice(edges, axis, n - kEdge, n)};
    edges = concatenate(parts, axis);  // 2 * kEdge + 1 positions, of which the middle one is printed as "..."
  }
  return Printer(edges, true).text();
}

}  // namespace autograd
