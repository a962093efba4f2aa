#include <catena/ndarray/routines/stride_tricks.h>

#include <catena/ndarray/core/storage.h>

namespace nd {

using catena::check;

Array as_strided(const Array& x, const AsStridedOptions& options) {
  const Shape shape = options.shape.value_or(x.shape());
  const Strides strides = options.strides.value_or(x.strides());
  check<ValueError>(shape.size() == strides.size(), "as_strided", "shape ", shape, " and strides ", strides,
                    " have different lengths");
  if (catena::checked_size(shape) > 0) {
    const catena::ArrayHeader& h = *x.get();
    const catena::Storage* const storage = h.base != nullptr ? h.base->storage : h.storage;
    const std::int64_t bytes = storage == nullptr ? 0 : static_cast<std::int64_t>(storage->bytes);
    const std::int64_t first = storage == nullptr ? 0 : h.data - storage->data;
    __int128 begin = first, end = first + static_cast<std::int64_t>(x.itemsize());
    for (int i = 0; i < shape.size(); ++i)
      (strides[i] < 0 ? begin : end) += static_cast<__int128>(strides[i]) * (shape[i] - 1);
    check<ValueError>(begin >= 0 && end <= bytes, "as_strided", "a view of shape ", shape, " with strides ", strides,
                      " does not fit the memory of ", bytes, " bytes, in which the array begins at byte ", first);
  }
  return internal::make_view(x, shape, strides);
}

Array sliding_window_view(const Array& x, const Dims& window_shape, const Axes& axis) {
  Dims axes = axis.values();
  if (!axis.given())
    for (int i = 0; i < x.ndim(); ++i) axes.push_back(i);
  check<ValueError>(axes.size() == window_shape.size(), "sliding_window_view", "the window ", window_shape, " has ",
                    window_shape.size(), " lengths for ", axes.size(), " axes; give one for each axis");
  Shape shape = x.shape();
  Strides strides = x.strides();
  for (int k = 0; k < axes.size(); ++k) {
    const int at = catena::normalize_axis("sliding_window_view", axes[k], x.ndim());
    const std::int64_t length = window_shape[k];
    check<ValueError>(length >= 0, "sliding_window_view", "the window ", window_shape, " has a negative length");
    check<ValueError>(length <= shape[at], "sliding_window_view", "the window ", window_shape,
                      " is longer than the array of shape ", x.shape(), " on axis ", at);
    shape[at] += 1 - length;
    shape.push_back(length);
    strides.push_back(x.strides()[at]);
  }
  return internal::make_view(x, shape, strides);
}

std::pair<std::uintptr_t, std::uintptr_t> byte_bounds(const Array& a) {
  const catena::ByteRange range = catena::byte_range(a.shape(), a.strides(), a.itemsize());
  const auto first = reinterpret_cast<std::uintptr_t>(a.get()->data);
  return {first + static_cast<std::uintptr_t>(range.begin), first + static_cast<std::uintptr_t>(range.end)};
}

bool may_share_memory(const Array& a, const Array& b) {
  const auto [a_begin, a_end] = byte_bounds(a);
  const auto [b_begin, b_end] = byte_bounds(b);
  return a.size() > 0 && b.size() > 0 && a.device() == b.device() && a_begin < b_end && b_begin < a_end;
}

}  // namespace nd
