// From the strides of a product to the description that cuBLASLt takes.
#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include <catena/ndarray/cuda/vendor/blas.h>

namespace nd::cuda {
namespace {

using internal::BlasAxis;
using internal::BlasMatrix;
using internal::BlasProblem;

// A matrix with strides in elements.
struct View {
  std::int64_t rows, columns, row_stride, column_stride;
};
View transposed(const View& v) { return {v.columns, v.rows, v.column_stride, v.row_stride}; }

std::optional<BlasMatrix> column_major(const View& v) {
  if (v.rows > 1 && v.row_stride != 1) return std::nullopt;
  const std::int64_t ld = v.columns > 1 ? v.column_stride : v.rows;
  if (ld < v.rows) return std::nullopt;
  return BlasMatrix{false, v.rows, v.columns, ld, 0};
}

std::optional<BlasMatrix> either_major(const View& v) {
  if (const auto m = column_major(v)) return m;
  auto m = column_major(transposed(v));
  if (m) m->transpose = true;
  return m;
}

std::optional<std::int64_t> in_elements(const catena::BoundOperand& o, int axis) {
  const auto size = static_cast<std::int64_t>(catena::itemsize(o.dtype));
  const std::int64_t bytes = (*o.strides)[axis];
  if (bytes < 0 || bytes % size != 0) return std::nullopt;
  return bytes / size;
}

// Returns the leading axes, merged where all three operands allow it; nothing if a stride is not a multiple of the
// element size.
std::optional<std::vector<BlasAxis>> leading_axes(const catena::bound::Matmul& call) {
  std::vector<BlasAxis> axes;
  for (int i = 0; i < call.out.shape->size() - 2; ++i) {
    const std::int64_t count = (*call.out.shape)[i];
    if (count == 1) continue;
    const auto a = in_elements(call.a, i), b = in_elements(call.b, i), out = in_elements(call.out, i);
    if (!a || !b || !out) return std::nullopt;
    if (!axes.empty()) {
      BlasAxis& outer = axes.back();
      if (outer.a == *a * count && outer.b == *b * count && outer.d == *out * count) {
        outer = {outer.count * count, *a, *b, *out};
        continue;
      }
    }
    axes.push_back({count, *a, *b, *out});
  }
  return axes;
}

// Turns an axis with a single b into more rows of one product, if the matrices of a and of out are evenly spaced.
bool fold_into_rows(const BlasAxis& axis, View& a, View& out) {
  if (axis.b != 0 || axis.a == 0) return false;
  const std::int64_t a_step = a.rows == 1 ? axis.a : a.row_stride, out_step = out.rows == 1 ? axis.d : out.row_stride;
  if (axis.a != a.rows * a_step || axis.d != out.rows * out_step) return false;
  a = {a.rows * axis.count, a.columns, a_step, a.column_stride};
  out = {out.rows * axis.count, out.columns, out_step, out.column_stride};
  return true;
}

std::optional<View> matrix_of(const catena::BoundOperand& o) {
  const int rank = o.shape->size();
  View v{(*o.shape)[rank - 2], (*o.shape)[rank - 1], 0, 0};
  // The stride of an axis of length 1 is irrelevant and may have any value.
  const auto row = v.rows > 1 ? in_elements(o, rank - 2) : 0, column = v.columns > 1 ? in_elements(o, rank - 1) : 0;
  if (!row || !column) return std::nullopt;
  v.row_stride = *row;
  v.column_stride = *column;
  return v;
}

}  // namespace

std::optional<BlasProblem> internal::blas_problem(const catena::bound::Matmul& call) {
  auto a = matrix_of(call.a), b = matrix_of(call.b), out = matrix_of(call.out);
  if (!a || !b || !out || out->rows == 0 || out->columns == 0 || a->columns == 0) return std::nullopt;
  auto axes = leading_axes(call);
  if (!axes) return std::nullopt;
  while (!axes->empty() && fold_into_rows(axes->back(), *a, *out)) axes->pop_back();
  for (const BlasAxis& axis : *axes)
    if (axis.count == 0 || axis.count > std::numeric_limits<std::int32_t>::max()) return std::nullopt;

  BlasProblem p;
  auto d = column_major(transposed(*out));
  p.swapped = d.has_value();
  if (!d) d = column_major(*out);
  const auto left = p.swapped ? either_major(transposed(*b)) : either_major(*a);
  const auto right = p.swapped ? either_major(transposed(*a)) : either_major(*b);
  if (!d || !left || !right) return std::nullopt;
  p.a = *left;
  p.b = *right;
  p.d = *d;
  if (p.swapped)
    for (BlasAxis& axis : *axes) std::swap(axis.a, axis.b);
  if (axes->empty()) return p;
  const auto longest = std::max_element(axes->begin(), axes->end(),
                                        [](const BlasAxis& x, const BlasAxis& y) { return x.count < y.count; });
  p.batch = longest->count;
  p.a.batch_stride = longest->a;
  p.b.batch_stride = longest->b;
  p.d.batch_stride = longest->d;
  axes->erase(longest);
  p.outer = *std::move(axes);
  return p;
}

}  // namespace nd::cuda
