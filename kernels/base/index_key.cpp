#include <catena/kernels/base/index_key.h>

#include <algorithm>

namespace catena {

SliceRange resolve_slice(std::string_view op, const Slice& slice, std::int64_t n) {
  const std::int64_t step = slice.step.value_or(1);
  check<ValueError>(step != 0, op, "the step of a slice is 0");
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
  const auto bound = [&](const std::optional<std::int64_t>& given, std::int64_t missing) {
    if (!given) return missing;
    return std::clamp(*given < 0 ? *given + n : *given, low, high);
  };
  const std::int64_t start = bound(slice.start, step > 0 ? low : high), stop = bound(slice.stop, step > 0 ? high : low);
  // The distance is at most n, so even the largest step cannot overflow it.
  const std::int64_t distance = step > 0 ? stop - start : start - stop;
  const std::int64_t size = step > 0 ? step : (step == INT64_MIN ? INT64_MAX : -step);
  return {start, distance <= 0 ? 0 : (distance - 1) / size + 1, step};
}

namespace {

struct Counts {
  int consuming = 0;
  bool has_ellipsis = false;
};

Counts count_keys(std::string_view op, std::span<const Key> keys, int rank) {
  Counts c;
  for (const Key& k : keys) {
    if (k.kind() == Key::Kind::ellipsis) {
      check<ValueError>(!c.has_ellipsis, op, "there can be only one ellipsis");
      c.has_ellipsis = true;
    }
    c.consuming += k.kind() == Key::Kind::integer || k.kind() == Key::Kind::slice;
  }
  check<IndexError>(c.consuming <= rank, op, c.consuming, " indices are too many for an array of rank ", rank);
  return c;
}

}  // namespace

ViewSpec basic_index(std::string_view op, const Shape& shape, const Strides& strides, std::span<const Key> keys) {
  const Counts counts = count_keys(op, keys, shape.size());
  ViewSpec view;
  int axis = 0;
  const auto keep = [&](int n) {
    for (; n > 0; --n, ++axis) {
      view.shape.push_back(shape[axis]);
      view.strides.push_back(strides[axis]);
    }
  };
  for (const Key& k : keys) {
    switch (k.kind()) {
      case Key::Kind::integer: {
        const std::int64_t n = shape[axis], i = k.index();
        check<IndexError>(i >= -n && i < n, op, "the index ", i, " is out of range for axis ", axis, " of length ", n);
        view.offset += (i < 0 ? i + n : i) * strides[axis++];
        break;
      }
      case Key::Kind::slice: {
        const SliceRange r = resolve_slice(op, k.slice(), shape[axis]);
        view.shape.push_back(r.length);
        // With at most one element the step is never applied, and multiplying it by the stride could overflow.
        view.strides.push_back(r.length > 1 ? strides[axis] * r.step : strides[axis]);
        if (r.length > 0) view.offset += r.start * strides[axis];
        ++axis;
        break;
      }
      case Key::Kind::ellipsis: keep(shape.size() - counts.consuming); break;
      case Key::Kind::newaxis:
        view.shape.push_back(1);
        view.strides.push_back(0);
        break;
    }
  }
  keep(shape.size() - axis);
  return view;
}

}  // namespace catena
