#include <catena/kernels/base/shape.h>

#include <algorithm>
#include <ostream>
#include <string>

namespace catena {
namespace {

// Wraps instead of overflowing: the strides of an empty array may be meaningless, but computing them must be defined.
std::int64_t wrapping_multiply(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

// NumPy's method of reshaping a strided, non-empty array without copying: groups of old axes and of new axes with equal
// products are matched from the left; within a group the old axes must be contiguous with each other.
std::optional<Strides> strides_of_matched_groups(const Shape& shape, const Strides& strides, const Shape& to,
                                                 std::size_t itemsize) {
  Shape old_shape;
  Strides old_strides;
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;  // a length of 1 is compatible with any stride
    old_shape.push_back(shape[i]);
    old_strides.push_back(strides[i]);
  }
  Strides result = Strides::filled(to.size(), 0);
  int oi = 0, oj = 1, ni = 0, nj = 1;
  while (ni < to.size() && oi < old_shape.size()) {
    std::int64_t new_product = to[ni], old_product = old_shape[oi];
    while (new_product != old_product) {
      if (new_product < old_product) new_product *= to[nj++];
      else old_product *= old_shape[oj++];
    }
    for (int k = oi; k < oj - 1; ++k)
      if (old_strides[k] != wrapping_multiply(old_shape[k + 1], old_strides[k + 1])) return std::nullopt;
    result[nj - 1] = old_strides[oj - 1];
    for (int k = nj - 1; k > ni; --k) result[k - 1] = wrapping_multiply(result[k], to[k]);
    ni = nj++;
    oi = oj++;
  }
  // The remaining axes of `to` have length 1.
  const std::int64_t last = ni > 0 ? result[ni - 1] : static_cast<std::int64_t>(itemsize);
  for (int k = ni; k < to.size(); ++k) result[k] = last;
  return result;
}

}  // namespace

void Dims::throw_too_many(std::int64_t n) {
  fail<ValueError>("shape", n, " dimensions exceed the limit of ", kMaxRank);
}

std::string to_string(const Dims& d) {
  std::string text = "(";
  for (int i = 0; i < d.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(d[i]);
  return text + (d.size() == 1 ? ",)" : ")");
}

std::ostream& operator<<(std::ostream& out, const Dims& d) { return out << to_string(d); }

// As in NumPy, the product of the non-zero lengths must fit even if another length is 0, so that strides and views of
// the shape fit too.
std::int64_t checked_size(const Shape& shape) {
  std::int64_t product = 1;
  bool empty = false;
  for (std::int64_t n : shape) {
    check<ValueError>(n >= 0, "shape", shape, " has a negative length");
    if (n == 0) empty = true;
    else
      check<ValueError>(!__builtin_mul_overflow(product, n, &product), "shape", shape,
                        " has more than 2^63 - 1 elements");
  }
  return empty ? 0 : product;
}

Strides c_strides(const Shape& shape, std::size_t itemsize) {
  Strides s = Strides::filled(shape.size(), 0);
  auto step = static_cast<std::int64_t>(itemsize);
  for (int i = shape.size() - 1; i >= 0; --i) {
    s[i] = step;
    step = wrapping_multiply(step, std::max<std::int64_t>(shape[i], 1));
  }
  return s;
}

Strides f_strides(const Shape& shape, std::size_t itemsize) {
  Strides s = Strides::filled(shape.size(), 0);
  auto step = static_cast<std::int64_t>(itemsize);
  for (int i = 0; i < shape.size(); ++i) {
    s[i] = step;
    step = wrapping_multiply(step, std::max<std::int64_t>(shape[i], 1));
  }
  return s;
}

bool is_c_contiguous(const Shape& shape, const Strides& strides, std::size_t itemsize) noexcept {
  auto step = static_cast<std::int64_t>(itemsize);
  bool packed = true;
  for (int i = shape.size() - 1; i >= 0; --i) {
    if (shape[i] == 0) return true;
    if (shape[i] == 1) continue;
    packed &= strides[i] == step;
    step = wrapping_multiply(step, shape[i]);
  }
  return packed;
}

bool is_f_contiguous(const Shape& shape, const Strides& strides, std::size_t itemsize) noexcept {
  auto step = static_cast<std::int64_t>(itemsize);
  bool packed = true;
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return true;
    if (shape[i] == 1) continue;
    packed &= strides[i] == step;
    step = wrapping_multiply(step, shape[i]);
  }
  return packed;
}

void internal::fail_axis(std::string_view op, std::int64_t axis, int rank) { throw AxisError(axis, rank, op); }

Dims normalize_axes(std::string_view op, const Axes& axes, int rank) {
  Dims result;
  if (!axes.given()) {
    result.resize(rank);
    for (int i = 0; i < rank; ++i) result[i] = i;
    return result;
  }
  for (std::int64_t a : axes.values()) result.push_back(normalize_axis(op, a, rank));
  std::sort(result.begin(), result.end());
  const std::int64_t* twice = std::adjacent_find(result.begin(), result.end());
  if (twice != result.end()) fail<ValueError>(op, "axis ", *twice, " is given twice in ", axes.values());
  return result;
}

Shape reduced_shape(const Shape& shape, const Dims& axes, bool keepdims) {
  if (axes.size() == shape.size()) return Shape::filled(keepdims ? shape.size() : 0, 1);
  Shape result;
  for (int i = 0; i < shape.size(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!reduced) result.push_back(shape[i]);
    else if (keepdims) result.push_back(1);
  }
  return result;
}

Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const int shift = longer.size() - shorter.size();
  for (int i = 0; i < shorter.size(); ++i) {
    std::int64_t& n = result[i + shift];
    if (n == shorter[i] || shorter[i] == 1) continue;
    check<ValueError>(n == 1, op, "shapes ", a, " and ", b, " do not match: lengths ", a[a.size() - shorter.size() + i],
                      " and ", b[b.size() - shorter.size() + i], " on axis ", i - shorter.size(),
                      " are neither equal nor 1");
    n = shorter[i];
  }
  return result;
}

bool broadcasts_to(const Shape& from, const Shape& to) noexcept {
  if (from.size() > to.size()) return false;
  for (int i = 1; i <= from.size(); ++i)
    if (from[from.size() - i] != 1 && from[from.size() - i] != to[to.size() - i]) return false;
  return true;
}

void set_broadcast_strides(std::string_view op, const Shape& shape, const Strides& strides, const Shape& to,
                           Strides& result) {
  const int shift = to.size() - shape.size();
  check<ValueError>(shift >= 0, op, "shape ", shape, " cannot be broadcast to ", to, ", which has fewer axes");
  result = Strides();
  result.resize(to.size(), 0);
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] == to[i + shift]) result[i + shift] = strides[i];
    else
      check<ValueError>(shape[i] == 1, op, "shape ", shape, " cannot be broadcast to ", to, ": length ", shape[i],
                        " on axis ", i - shape.size(), " is neither 1 nor ", to[i + shift]);
  }
}

Strides broadcast_strides(std::string_view op, const Shape& shape, const Strides& strides, const Shape& to) {
  Strides result;
  set_broadcast_strides(op, shape, strides, to, result);
  return result;
}

Shape resolve_reshape(std::string_view op, const Shape& from, const Shape& requested) {
  const std::int64_t size = checked_size(from);
  Shape known = requested;
  int unknown = -1;
  for (int i = 0; i < requested.size(); ++i) {
    if (requested[i] >= 0) continue;
    check<ValueError>(requested[i] == -1, op, "shape ", requested, " has a negative length other than -1");
    check<ValueError>(unknown < 0, op, "shape ", requested, " leaves more than one length unknown");
    unknown = i;
    known[i] = 1;
  }
  std::int64_t product = 0;
  bool fits = true;
  try {
    product = checked_size(known);
  } catch (const ValueError&) {
    fits = false;  // more elements than an array can have
  }
  if (fits && unknown >= 0) {
    fits = product != 0 && size % product == 0;
    if (fits) known[unknown] = size / product;
  } else if (fits) {
    fits = product == size;
  }
  check<ValueError>(fits, op, "cannot reshape array of size ", size, " into shape ", requested);
  return known;
}

std::optional<Strides> reshape_strides(const Shape& shape, const Strides& strides, const Shape& to,
                                       std::size_t itemsize) {
  if (is_c_contiguous(shape, strides, itemsize)) return c_strides(to, itemsize);
  return strides_of_matched_groups(shape, strides, to, itemsize);
}

ByteRange byte_range(const Shape& shape, const Strides& strides, std::size_t itemsize) noexcept {
  ByteRange r{0, static_cast<std::int64_t>(itemsize)};
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return {0, 0};
    const std::int64_t extent = (shape[i] - 1) * strides[i];
    (extent < 0 ? r.begin : r.end) += extent;
  }
  return r;
}

}  // namespace catena
