// Pooling to given output sizes: bins that cover an axis, of lengths that may differ by one, and may overlap.
#include <algorithm>
#include <vector>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/functions/array/resampling.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/pooling.h>
#include <catena/nn/functions/torch_batches.h>

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
  const Dims lengths = output_size.of(op, "output_size", internal::spatial_axes(op, x));
  internal::check_lengths(op, x, lengths);
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

// The elements first <= k < last of bin i of `number` bins of an axis.
struct Bin {
  std::int64_t first, last;
};
Bin bin_of(std::int64_t i, std::int64_t length, std::int64_t number) {
  return {i * length / number, ((i + 1) * length + number - 1) / number};
}

// Returns the averages of the bins of an axis.
Variable averages(const Variable& x, int axis, std::int64_t number) {
  internal::Taps taps;
  for (std::int64_t i = 0; i < number; ++i) {
    const Bin bin = bin_of(i, x.shape(axis), number);
    for (std::int64_t k = bin.first; k < bin.last; ++k) taps.add(k, 1.0 / double(bin.last - bin.first));
    taps.end_output();
  }
  return internal::resampled(x, axis, std::move(taps));
}

// The maxima of the bins found so far and their positions in the flattened x.
struct Maxima {
  Array values, positions;
};
Maxima maxima_along(const Maxima& m, int axis, std::int64_t number, const Variable& x) {
  const std::int64_t length = m.values.shape(axis);
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < number; ++i) {
    const Bin bin = bin_of(i, length, number);
    longest = std::max(longest, bin.last - bin.first);
  }
  // Shorter bins repeat their last element. argmax takes the first of equal elements, so never a repetition.
  std::vector<std::int64_t> of_bins;
  for (std::int64_t i = 0; i < number; ++i) {
    const Bin bin = bin_of(i, length, number);
    for (std::int64_t k = 0; k < longest; ++k) of_bins.push_back(std::min(bin.first + k, bin.last - 1));
  }
  const int behind = m.values.ndim() - axis - 1;
  const Array elements = x.data().backend().from_host(of_bins.data(), {number, longest}, Dtype::int64, x.device());
  const Array values = autograd::take(m.values, elements, axis),
              positions = autograd::take(m.positions, elements, axis);
  const Array first = autograd::reduce(catena::kernels::argmax, values, axis + 1, true);
  Shape along = Shape::filled(behind + 1, 1);
  along[0] = longest;
  const Array order = autograd::reshape(autograd::arrays::arange(longest, Dtype::int64, x.device()), along);
  const Array chosen = internal::equal(order, autograd::astype(first, Dtype::int64));
  const auto picked = [&](const Array& a) {
    return autograd::sum(autograd::where(chosen, a, autograd::zeros_like(a)), axis + 1);
  };
  return {picked(values), autograd::astype(picked(positions), Dtype::int64)};
}
// The positions of the maxima of all bins in the flattened x.
Array positions_of_maxima(const Variable& x, const Dims& lengths) {
  Maxima m{x.data(), autograd::reshape(autograd::arrays::arange(x.size(), Dtype::int64, x.device()), x.shape())};
  // Columns first, so that of equal elements the first in row-major order remains.
  for (int a = lengths.size() - 1; a >= 0; --a)
    if (lengths[a] != m.values.shape(2 + a)) m = maxima_along(m, 2 + a, lengths[a], x);
  return m.positions;
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
  return get_item(reshape(x, {-1}), {IndexItem(positions_of_maxima(x, lengths))});
}

MaxPoolingResult internal::adaptive_max_pool_with_positions(const char* op, const Variable& x,
                                                            const Lengths& output_size) {
  const Dims lengths = lengths_of(op, x, output_size);
  catena::check<catena::ValueError>(x.size() > 0, op, "x has the shape ", x.shape(), " and no elements");
  const Array positions = positions_of_maxima(x, lengths);
  const std::int64_t planes = x.shape(0) * x.shape(1);
  Shape of_planes{x.shape(0), x.shape(1)};
  for (int a = 0; a < lengths.size(); ++a) of_planes.push_back(1);
  const Array first = autograd::arrays::arange(planes, Dtype::int64, x.device()) * (x.size() / planes);
  return {get_item(reshape(x, {-1}), {IndexItem(positions)}), positions - autograd::reshape(first, of_planes)};
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
