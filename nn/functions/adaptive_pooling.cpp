// Pooling to given output sizes: bins that cover an axis, of lengths that may differ by one, and may overlap.
#include <algorithm>
#include <vector>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/pooling.h>

namespace nn {

using autograd::Dims;
using autograd::Dtype;
using autograd::IndexItem;
using autograd::Shape;
using internal::narrowed;
using internal::wide;

namespace {

// Returns the output lengths, after checks of x and of the lengths.
Dims lengths_of(const char* op, const Variable& x, const Lengths& output_size) {
  const int axes = internal::spatial_axes(op, x);
  const Dims lengths = output_size.of(op, "output_size", axes);
  for (int a = 0; a < axes; ++a)
    catena::check<catena::ValueError>(lengths[a] >= 1 && x.shape(2 + a) >= 1, op, "spatial lengths of x ", x.shape(),
                                      " become ", lengths, "; they must be positive");
  return lengths;
}

// Returns the lengths of the bins if they are equal along every axis, and disjoint; else nothing.
std::optional<Lengths> equal_bins(const Variable& x, const Dims& lengths) {
  Dims size;
  for (int a = 0; a < lengths.size(); ++a) {
    if (x.shape(2 + a) % lengths[a] != 0) return {};
    size.push_back(x.shape(2 + a) / lengths[a]);
  }
  return Lengths(size);
}

// The elements of the bins of an axis, (bins, longest); shorter bins repeat their last element.
struct Bins {
  std::vector<std::int64_t> elements;
  std::vector<unsigned char> is_inside;
  std::vector<double> count;
  std::int64_t bins, longest = 0;

  Bins(std::int64_t length, std::int64_t number) : bins(number) {
    const auto first = [&](std::int64_t i) { return i * length / number; };
    const auto last = [&](std::int64_t i) { return ((i + 1) * length + number - 1) / number; };
    for (std::int64_t i = 0; i < bins; ++i) longest = std::max(longest, last(i) - first(i));
    for (std::int64_t i = 0; i < bins; ++i) {
      count.push_back(double(last(i) - first(i)));
      for (std::int64_t k = 0; k < longest; ++k) {
        elements.push_back(std::min(first(i) + k, last(i) - 1));
        is_inside.push_back(first(i) + k < last(i));
      }
    }
  }
};

// Returns numbers of the bins as an array that broadcasts to an array with `behind` axes behind those of the bins.
Array array_of(const void* data, Dtype dtype, Shape shape, int behind, const Variable& x) {
  for (int a = 0; a < behind; ++a) shape.push_back(1);
  return x.data().backend().from_host(data, shape, dtype, x.device());
}

// Returns the averages of the bins of an axis.
Variable averages(const Variable& x, int axis, std::int64_t number) {
  const Bins bins(x.shape(axis), number);
  const int behind = x.ndim() - axis - 1;
  std::vector<IndexItem> items(static_cast<std::size_t>(axis), autograd::Slice());
  items.emplace_back(array_of(bins.elements.data(), Dtype::int64, {bins.bins, bins.longest}, 0, x));
  const Array inside = array_of(bins.is_inside.data(), Dtype::bool_, {bins.bins, bins.longest}, behind, x);
  const Array count = autograd::astype(array_of(bins.count.data(), Dtype::float64, {bins.bins}, behind, x), x.dtype());
  return sum(autograd::masked(get_item(x, items), inside), axis + 1) / count;
}

// The maxima of the bins found so far and their positions in the flattened x.
struct Maxima {
  Array values, positions;
};
Maxima maxima_along(const Maxima& m, int axis, std::int64_t number, const Variable& x) {
  const Bins bins(m.values.shape(axis), number);
  const int behind = m.values.ndim() - axis - 1;
  // A repeated element does not come before itself, so the first maximum is an element of the bin.
  const Array elements = array_of(bins.elements.data(), Dtype::int64, {bins.bins, bins.longest}, 0, x);
  const Array values = autograd::take(m.values, elements, axis),
              positions = autograd::take(m.positions, elements, axis);
  const Array first = autograd::reduce(catena::kernels::argmax, values, axis + 1, true);
  Shape along = Shape::filled(behind + 1, 1);
  along[0] = bins.longest;
  const Array order = autograd::reshape(autograd::arange(bins.longest, Dtype::int64, x.device()), along);
  const Array chosen = internal::equal(order, autograd::astype(first, Dtype::int64));
  const auto picked = [&](const Array& a) {
    return autograd::sum(autograd::where(chosen, a, autograd::zeros_like(a)), axis + 1);
  };
  return {picked(values), autograd::astype(picked(positions), Dtype::int64)};
}

}  // namespace

Variable adaptive_average_pooling_nd(const Variable& x, const Lengths& output_size) {
  const Dims lengths = lengths_of("adaptive_average_pooling_nd", x, output_size);
  const auto is_one = [](std::int64_t n) { return n == 1; };
  if (std::all_of(lengths.begin(), lengths.end(), is_one)) {
    Shape shape{x.shape(0), x.shape(1)};
    for (int a = 0; a < lengths.size(); ++a) shape.push_back(1);
    return reshape(global_average_pooling(x), shape);
  }
  if (const std::optional<Lengths> size = equal_bins(x, lengths)) return internal::average_of_windows(x, *size);
  Variable y = wide(x);
  for (int a = 0; a < lengths.size(); ++a)
    if (lengths[a] != y.shape(2 + a)) y = averages(y, 2 + a, lengths[a]);
  return narrowed(y, x.dtype());
}

Variable adaptive_max_pooling_nd(const Variable& x, const Lengths& output_size) {
  const Dims lengths = lengths_of("adaptive_max_pooling_nd", x, output_size);
  if (const std::optional<Lengths> size = equal_bins(x, lengths)) return internal::maximum_of_windows(x, *size);
  if (x.size() == 0) {
    Shape shape{x.shape(0), x.shape(1)};
    for (const std::int64_t n : lengths) shape.push_back(n);
    return reshape(x, shape);
  }
  Maxima m{x.data(), autograd::reshape(autograd::arange(x.size(), Dtype::int64, x.device()), x.shape())};
  // Columns first, so that of equal elements the first in row-major order remains.
  for (int a = lengths.size() - 1; a >= 0; --a)
    if (lengths[a] != m.values.shape(2 + a)) m = maxima_along(m, 2 + a, lengths[a], x);
  return get_item(reshape(x, {-1}), {IndexItem(m.positions)});
}

Variable adaptive_average_pooling_2d(const Variable& x, const Lengths& output_size) {
  internal::expect_rank("adaptive_average_pooling_2d", x, 4);
  return adaptive_average_pooling_nd(x, output_size);
}
Variable adaptive_max_pooling_2d(const Variable& x, const Lengths& output_size) {
  internal::expect_rank("adaptive_max_pooling_2d", x, 4);
  return adaptive_max_pooling_nd(x, output_size);
}

namespace {
autograd::Axes spatial(const char* op, const Variable& x) {
  Dims axes;
  for (int a = 0; a < internal::spatial_axes(op, x); ++a) axes.push_back(2 + a);
  return autograd::Axes(axes);
}
}  // namespace

Variable global_average_pooling(const Variable& x) { return mean(x, spatial("global_average_pooling", x)); }
Variable global_max_pooling(const Variable& x) { return max(x, spatial("global_max_pooling", x)); }

}  // namespace nn
