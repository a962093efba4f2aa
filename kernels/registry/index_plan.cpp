#include <catena/kernels/registry/index_plan.h>

#include <algorithm>

#include <catena/kernels/registry/bind.h>

namespace catena {
namespace {

std::int64_t position_of(std::string_view op, std::int64_t index, int axis, std::int64_t length, bool wraps) {
  check<IndexError>(length > 0, op, "axis ", axis, " of length 0 has no element ", index);
  if (!wraps && (index < -length || index >= length)) fail_index(op, index, rule_of_axis(axis, length));
  const std::int64_t r = index % length;
  return r < 0 ? r + length : r;
}

// The items as basic keys, with full slices for the arrays and positions for the integers beside them, and the number
// of axes of the result before the axes of the index arrays.
struct SplitItems {
  SmallVector<Key, 8> basic;
  int place = 0;
};

// Appends the arrays to the plan; their strides are not known yet.
SplitItems split_items(std::string_view op, const Shape& shape, std::span<const IndexPart> parts, bool wraps,
                       IndexPlan& plan) {
  SplitItems s;
  int consuming = 0, runs = 0;  // runs: of adjacent integers and arrays
  bool advanced = false, in_run = false;
  for (const IndexPart& p : parts) {
    consuming += p.axes();
    advanced |= p.is_array();
  }
  int axis = 0, view_axis = 0, kept = 0;  // in the array, in the view, in the view without indexed axes
  for (const IndexPart& p : parts) {
    Key key = p.is_array() ? Key(Slice()) : p.key;
    const Key::Kind kind = key.kind();
    const bool integer = kind == Key::Kind::integer, indexes = integer || p.is_array();
    if (indexes && !in_run) s.place = runs++ == 0 ? kept : 0;
    in_run = indexes;
    if (p.is_array()) {
      check_index_dtype(op, p.array->dtype);
      plan.arrays.push_back({p.array, view_axis, p.axis, {}});
    } else if (advanced && integer && axis < shape.size()) {
      key = position_of(op, key.index(), p.axis, shape[axis], wraps);
    }
    s.basic.push_back(key);
    const int count = kind == Key::Kind::ellipsis ? std::max(shape.size() - consuming, 0) : 1;
    if (kind != Key::Kind::newaxis) axis += count;
    if (!integer) view_axis += count;
    if (!indexes) kept += count;
  }
  return s;
}

}  // namespace

Strides IndexPlan::view_strides() const {
  Strides strides;
  for (const std::int64_t axis : axes) strides.push_back(axis < 0 ? 0 : view.strides[static_cast<int>(axis)]);
  return strides;
}

IndexPlan plan_index(std::string_view op, const Shape& shape, const Strides& strides, std::span<const IndexPart> parts,
                     bool wraps) {
  IndexPlan plan;
  const SplitItems split = split_items(op, shape, parts, wraps, plan);
  plan.view = basic_index(op, shape, strides, {split.basic.data(), split.basic.size()});
  if (plan.arrays.empty()) return plan;
  Shape indices;
  try {
    for (const IndexPlan::Indexed& x : plan.arrays) indices = broadcast_shapes(op, indices, x.array->shape);
  } catch (const ValueError& e) {
    throw IndexError(e.what());
  }
  for (int i = 0; i < plan.view.shape.size(); ++i) {
    if (std::any_of(plan.arrays.begin(), plan.arrays.end(), [i](const auto& x) { return x.view_axis == i; })) continue;
    plan.shape.push_back(plan.view.shape[i]);
    plan.axes.push_back(i);
  }
  for (int i = indices.size() - 1; i >= 0; --i) {
    plan.shape.insert(split.place, indices[i]);
    plan.axes.insert(split.place, -1);
  }
  for (IndexPlan::Indexed& x : plan.arrays) {
    check<IndexError>(plan.view.shape[x.view_axis] > 0 || x.array->size == 0, op,
                      "an axis of length 0 has no elements for indices of shape ", x.array->shape);
    const Strides own = broadcast_strides(op, x.array->shape, x.array->strides, indices);
    x.strides = Strides::filled(plan.shape.size(), 0);
    std::copy(own.begin(), own.end(), x.strides.begin() + split.place);
  }
  return plan;
}

void check_index_dtype(std::string_view op, Dtype dtype) {
  check<IndexError>(is_integer(dtype), op, "index arrays must be of an integer dtype, not ", dtype);
}

void check_mask(std::string_view op, const Shape& mask, const Shape& shape, int axis) {
  bool fits = axis + mask.size() <= shape.size();
  for (int i = 0; fits && i < mask.size(); ++i) fits = mask[i] == shape[axis + i] || mask[i] == 0;
  check<IndexError>(fits, op, "the mask of shape ", mask, " does not match the axes from ", axis,
                    " on of an array of shape ", shape);
}

}  // namespace catena
