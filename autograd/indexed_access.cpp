#include <catena/autograd/indexed_access.h>

#include <array>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>

namespace autograd::internal {
namespace {

struct Walk {
  explicit Walk(const IndexedAccess& a) : base_strides(Strides::filled(a.loop.size(), 0)) {
    for (int i = 0; i < a.loop.size(); ++i)
      if (a.base_axis[i] >= 0) base_strides[i] = a.base.strides()[int(a.base_axis[i])];
    for (std::size_t j = 0; j < a.indices.size(); ++j) {
      const int axis = int(a.axes[int(j)]);
      const Dims& named = a.axes_as_given != nullptr ? *a.axes_as_given : a.axes;
      indices.push_back({a.indices[j].get(), a.base.shape(axis), a.base.strides()[axis], int(named[int(j)]), a.wraps});
    }
  }
  Strides base_strides;
  catena::SmallVector<catena::call::Index, 4> indices;
};

}  // namespace

void gather(const IndexedAccess& from, const Array& out) {
  const Walk walk(from);
  from.base.backend().execute(
      catena::call::Gather{from.base.get(), walk.base_strides, walk.indices, &from.loop, out.get(), from.name});
}

void scatter(catena::ScatterMode mode, const IndexedAccess& to, const Input& values) {
  const Walk walk(to);
  to.base.backend().execute(
      catena::call::Scatter{mode, to.base.get(), walk.base_strides, walk.indices, &to.loop, values, to.name});
}

namespace {

// Returns, for every position of the loop's index axes, the position among the elements along the indexed axes in C
// order, as int64.
Array places_of(const IndexedAccess& to, const Dims& index_first, const Shape& index_shape) {
  Array place;
  for (std::size_t j = 0; j < to.indices.size(); ++j) {
    // The index does not change along the other axes.
    Array index = transpose(broadcast_to(to.indices[j], to.loop), index_first);
    for (int axis = index_shape.size(); axis < index.ndim(); ++axis) index = slice(index, axis, 0, 1);
    const std::int64_t length = to.base.shape(int(to.axes[int(j)]));
    index = apply(catena::kernels::remainder, {astype(reshape(index, index_shape), Dtype::int64), length});
    place = place ? place * length + index : index;
  }
  return reshape(place, {place.size()});
}

}  // namespace

void scatter_sums(const IndexedAccess& to, const Array& values) {
  const Dtype dtype = values.dtype();
  const bool in_order = to.base.device().kind == Device::Kind::cpu && catena::itemsize(dtype) >= 4;
  if (in_order || !catena::is_floating(dtype) || values.size() == 0)
    return scatter(catena::ScatterMode::add, to, *values.get());
  // The order of axes, in the loop and in the base, with the index axes first.
  Dims index_first, base_first = to.axes;
  Shape index_shape;
  std::int64_t columns = 1;
  for (int k = 0; k < to.loop.size(); ++k)
    if (to.base_axis[k] < 0) {
      index_first.push_back(k);
      index_shape.push_back(to.loop[k]);
    }
  for (int k = 0; k < to.loop.size(); ++k)
    if (to.base_axis[k] >= 0) {
      index_first.push_back(k);
      base_first.push_back(to.base_axis[k]);
      columns *= to.loop[k];
    }
  const Array places = places_of(to, index_first, index_shape);
  const std::int64_t rows = places.size();
  std::int64_t count = 1;
  for (const std::int64_t axis : to.axes) count *= to.base.shape(int(axis));
  Backend& backend = to.base.backend();
  const auto integers = [&](std::int64_t n) { return backend.empty({n}, Dtype::int64, to.base.device()); };
  const Array order = integers(rows), starts = integers(count + 1);
  backend.execute(catena::call::Sort{places.get(), 0, true, order.get()});
  const Array sorted = take(places, order, 0);
  apply_indexed(catena::kernels::segment_starts, std::array<Operand, 1>{sorted}, {&starts, 1});
  const Array sums = backend.empty({count, columns}, dtype, to.base.device());
  apply_indexed(catena::kernels::segment_sum,
                std::array<Operand, 3>{reshape(transpose(values, index_first), {rows, columns}), order, starts},
                {&sums, 1});
  const Array base = transpose(to.base, base_first);
  assign(base, reshape(sums, base.shape()));
}

}  // namespace autograd::internal
