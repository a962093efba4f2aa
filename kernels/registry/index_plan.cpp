#include <catena/kernels/registry/index_plan.h>

#include <algorithm>

#include <catena/kernels/registry/bind.h>

namespace catena {
namespace {

Shape broadcast_indices(std::string_view op, std::span<const IndexPart> parts) {
  Shape shape;
  for (const IndexPart& p : parts) {
    if (!p.is_array()) continue;
    try {
      shape = broadcast_shapes(op, shape, p.array->shape);
    } catch (const ValueError& e) {
      throw IndexError(e.what());
    }
  }
  return shape;
}

std::int64_t position_of(std::string_view op, std::int64_t index, int axis, std::int64_t length, bool wraps) {
  check<IndexError>(length > 0, op, "axis ", axis, " of length 0 has no element ", index);
  if (!wraps && (index < -length || index >= length)) fail_index(op, index, rule_of_axis(axis, length));
  const std::int64_t r = index % length;
  return r < 0 ? r + length : r;
}

// Computes the position of the broadcast index shape in the result shape from the positions of integers and arrays
// among the items.
struct Placement {
  bool seen = false, ended = false, together = true;
  int at = 0;  // result axes before the first index

  void item(bool indexes, int result_axes) {
    if (!indexes) {
      ended = seen;
    } else {
      if (!seen) at = result_axes;
      together &= !ended;
      seen = true;
    }
  }
};

// The items as basic keys, with full slices for the arrays and positions for the integers.
struct SplitItems {
  SmallVector<Key, 8> basic;
  Placement placement;
};

// Appends the arrays to the plan; their strides are not known yet.
SplitItems split_items(std::string_view op, const Shape& shape, std::span<const IndexPart> parts, bool wraps,
                       IndexPlan& plan) {
  int consuming = 0;
  for (const IndexPart& p : parts) consuming += p.axes();
  SplitItems s;
  const bool advanced = std::any_of(parts.begin(), parts.end(), [](const IndexPart& p) { return p.is_array(); });
  int axis = 0, view_axis = 0, kept = 0;  // in the array, in the view, in the view without indexed axes
  for (const IndexPart& p : parts) {
    if (p.is_array()) {
      check_index_dtype(op, p.array->dtype);
      s.placement.item(true, kept);
      plan.arrays.push_back({p.array, view_axis++, p.axis, {}});
      s.basic.push_back(Slice());
      ++axis;
      continue;
    }
    const bool integer = p.key.kind() == Key::Kind::integer;
    s.placement.item(integer, kept);
    if (advanced && integer && axis < shape.size())
      s.basic.push_back(position_of(op, p.key.index(), p.axis, shape[axis], wraps));
    else s.basic.push_back(p.key);
    const int rest = p.key.kind() == Key::Kind::ellipsis ? std::max(shape.size() - consuming, 0) : 1;
    if (p.key.kind() != Key::Kind::newaxis) axis += rest;
    if (!integer) {
      view_axis += rest;
      kept += rest;
    }
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
  const Shape indices = broadcast_indices(op, parts);
  for (int i = 0; i < plan.view.shape.size(); ++i) {
    if (std::any_of(plan.arrays.begin(), plan.arrays.end(), [i](const auto& x) { return x.view_axis == i; })) continue;
    plan.shape.push_back(plan.view.shape[i]);
    plan.axes.push_back(i);
  }
  const int at = split.placement.together ? split.placement.at : 0;
  for (int i = indices.size() - 1; i >= 0; --i) {
    plan.shape.insert(at, indices[i]);
    plan.axes.insert(at, -1);
  }
  for (IndexPlan::Indexed& x : plan.arrays) {
    check<IndexError>(plan.view.shape[x.view_axis] > 0 || x.array->size == 0, op,
                      "an axis of length 0 has no elements for indices of shape ", x.array->shape);
    const Strides own = broadcast_strides(op, x.array->shape, x.array->strides, indices);
    x.strides = Strides::filled(plan.shape.size(), 0);
    std::copy(own.begin(), own.end(), x.strides.begin() + at);
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
