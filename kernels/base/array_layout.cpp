#include <catena/kernels/base/array_layout.h>

#include <algorithm>

namespace catena {

Shape at_least(int rank, const Shape& shape) {
  Shape s = shape;
  if (s.empty() && rank >= 1) s.push_back(1);
  if (s.size() == 1 && rank >= 2) s.insert(0, 1);
  if (s.size() == 2 && rank >= 3) s.push_back(1);
  return s;
}

// ---- joining and splitting ----------------------------------------------------------------------
Joined joined(std::string_view op, std::span<const ArrayHeader* const> arrays, int axis) {
  check<ValueError>(!arrays.empty(), op, "there are no arrays to join");
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    check<TypeError>(arrays[i] != nullptr, op, "array ", i, " is null");
    check<TypeError>(!arrays[i]->shape.empty(), op, "array ", i, " is 0-d");
  }
  const Shape& first = arrays[0]->shape;
  Joined j{first, normalize_axis(op, axis, first.size()), arrays[0]->dtype};
  for (std::size_t i = 1; i < arrays.size(); ++i) {
    const Shape& shape = arrays[i]->shape;
    check<ValueError>(shape.size() == first.size(), op, "arrays 0 and ", i, " have the ranks ", first.size(), " and ",
                      shape.size());
    for (int k = 0; k < shape.size(); ++k)
      check<ValueError>(k == j.axis || shape[k] == first[k], op, "shapes ", first, " and ", shape, " of arrays 0 and ",
                        i, " differ on axis ", k, ", which is not the axis ", j.axis, " of joining");
    check<ValueError>(!__builtin_add_overflow(j.shape[j.axis], shape[j.axis], &j.shape[j.axis]), op,
                      "the lengths of axis ", j.axis, " add up to too much");
    j.dtype = promote_types(j.dtype, arrays[i]->dtype);
  }
  return j;
}

std::vector<SliceRange> split_ranges(std::string_view op, const Sections& sections, int axis, std::int64_t n,
                                     bool equal) {
  std::vector<SliceRange> ranges;
  std::int64_t begin = 0;
  if (!sections.is_count()) {
    for (const std::int64_t end : sections.positions()) {
      ranges.push_back(resolve_slice(op, Slice(begin, end), n));
      begin = end;
    }
    ranges.push_back(resolve_slice(op, Slice(begin, n), n));
    return ranges;
  }
  const std::int64_t count = sections.count();
  check<ValueError>(count > 0, op, "the number of parts ", count, " must be positive");
  check<ValueError>(!equal || n % count == 0, op, "axis ", axis, " of length ", n, " cannot be divided into ", count,
                    " equal parts");
  for (std::int64_t i = 0; i < count; ++i) {
    ranges.push_back({begin, n / count + (i < n % count ? 1 : 0), 1});
    begin += ranges.back().length;
  }
  return ranges;
}

// ---- repeating ----------------------------------------------------------------------------------
Tiling tiling(std::string_view op, const Shape& shape, const Strides& strides, const Dims& reps) {
  for (std::int64_t r : reps) check<ValueError>(r >= 0, op, "repetitions ", reps, " are negative");
  const int rank = std::max(shape.size(), reps.size());
  Tiling t;
  for (int i = 0; i < rank; ++i) {
    const int axis = i - (rank - shape.size()), at = i - (rank - reps.size());
    const std::int64_t n = axis >= 0 ? shape[axis] : 1, r = at >= 0 ? reps[at] : 1;
    std::int64_t length = 0;
    check<ValueError>(!__builtin_mul_overflow(n, r, &length), op, "shape ", shape, " repeated ", reps,
                      " times is too large");
    t.result.push_back(length);
    if (r != 1) {
      t.apart.push_back(1);
      t.repeated.push_back(r);
      t.strides.push_back(0);
    }
    if (n != 1 || r == 1) {
      t.apart.push_back(n);
      t.repeated.push_back(n);
      t.strides.push_back(axis >= 0 ? strides[axis] : 0);
    }
  }
  return t;
}

// ---- padding ------------------------------------------------------------------------------------
PadWidths pad_widths(const PadSides<std::int64_t>& given, int rank) {
  PadWidths widths = sides_of_axes("pad_width", given, rank);
  for (std::size_t i = 0; i < widths.size(); ++i)
    check<ValueError>(widths[i].first >= 0 && widths[i].second >= 0, "pad", "the widths ", widths[i].first, " and ",
                      widths[i].second, " of axis ", i, " cannot be negative");
  return widths;
}

Padded padded(const Shape& shape, const PadWidths& widths, std::size_t itemsize) {
  const int rank = shape.size();
  Padded p;
  p.shape = shape;
  for (int i = 0; i < rank; ++i) {
    const auto [before, after] = widths[std::size_t(i)];
    std::int64_t& n = p.shape[i];
    check<ValueError>(!__builtin_add_overflow(n, before, &n) && !__builtin_add_overflow(n, after, &n), "pad",
                      "the widths ", before, " and ", after, " of axis ", i, " are too large");
  }
  checked_size(p.shape);
  // Cuts a range of an axis out of a view of the result.
  const auto cut = [](const ViewSpec& v, int axis, std::int64_t start, std::int64_t length) {
    ViewSpec part = sliced_axis(v.shape, v.strides, axis, {start, length, 1});
    part.offset += v.offset;
    return part;
  };
  p.sides.reserve(2 * std::size_t(rank));
  // The part of the result with the padding of axes before i only; it shrinks from the last axis on.
  p.interior = {p.shape, c_strides(p.shape, itemsize), 0};
  for (int i = rank - 1; i >= 0; --i) {
    const auto [before, after] = widths[std::size_t(i)];
    if (after > 0) p.sides.push_back({i, true, cut(p.interior, i, p.shape[i] - after, after)});
    if (before > 0) p.sides.push_back({i, false, cut(p.interior, i, 0, before)});
    p.interior = cut(p.interior, i, before, shape[i]);
  }
  std::reverse(p.sides.begin(), p.sides.end());
  return p;
}

// ---- products -----------------------------------------------------------------------------------
MatmulShapes matmul_shapes(const Shape& a, const Shape& b) {
  constexpr const char* op = "matmul";
  check<ValueError>(!a.empty() && !b.empty(), op, "operands have the ranks ", a.size(), " and ", b.size(),
                    "; 0-d arrays are not allowed, use multiply");
  const bool row = a.size() == 1, column = b.size() == 1;
  const std::int64_t inner = column ? b[0] : b[b.size() - 2];
  check<ValueError>(a.back() == inner, op, "shapes ", a, " and ", b, " do not match: inner lengths ", a.back(), " and ",
                    inner, " differ");
  MatmulShapes m;
  if (a.size() > 2 || b.size() > 2) {
    Shape batch_a = a, batch_b = b;
    batch_a.resize(std::max(a.size() - 2, 0));
    batch_b.resize(std::max(b.size() - 2, 0));
    m.product = m.result = broadcast_shapes(op, batch_a, batch_b);
  }
  m.product.push_back(row ? 1 : a[a.size() - 2]);
  m.product.push_back(column ? 1 : b.back());
  if (!row) m.result.push_back(a[a.size() - 2]);
  if (!column) m.result.push_back(b.back());
  return m;
}

}  // namespace catena
