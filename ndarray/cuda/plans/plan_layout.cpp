#include <catena/ndarray/cuda/plans/plan_layout.h>

#include <algorithm>
#include <cstring>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/bind.h>

namespace nd::cuda {

namespace device = catena::device;
using catena::BoundOperand;
using catena::Dims;
using catena::Shape;
using catena::Strides;

std::uint32_t blocks(std::int64_t items, int processors, int waves) {
  return static_cast<std::uint32_t>(std::min<std::int64_t>(items, std::int64_t(processors) * waves));
}

bool fits_int32(const catena::Shape& shape, const catena::Strides& strides) {
  std::int64_t reach = 0;
  for (int a = 0; a < shape.size(); ++a) {
    const std::int64_t step = distance(strides[a]);
    if (shape[a] > 1 && step > kMax31 / (shape[a] - 1)) return false;
    reach += shape[a] > 1 ? step * (shape[a] - 1) : 0;
    if (reach > kMax31) return false;
  }
  return true;
}

void put_axes(ParameterBlock& p, const catena::Dims& v, int rank, std::int64_t fill) {
  for (int a = 0; a < rank; ++a) p.put(a < v.size() ? v[a] : fill);
}

bool is_fixed(const BoundOperand& o, std::int64_t n) {
  if (o.immediate) return true;
  return n > 1 && std::all_of(o.strides->begin(), o.strides->end(), [](std::int64_t s) { return s == 0; });
}

bool is_fixed_along(const BoundOperand& o, const Dims& axes) {
  return std::all_of(axes.begin(), axes.end(), [&](std::int64_t a) { return (*o.strides)[static_cast<int>(a)] == 0; });
}

void put_operands(ParameterBlock& p, std::span<const catena::BoundOperand> operands) {
  for (const BoundOperand& o : operands) p.put(o.immediate ? nullptr : static_cast<const void*>(o.data));
  p.align(16);
  for (const BoundOperand& o : operands) {
    device::Cell cell{};
    if (o.immediate) std::memcpy(cell.bytes, o.data, catena::itemsize(o.dtype));
    p.append(&cell, sizeof cell);
  }
}

SplitAxes split_axes(const Shape& shape, const Dims& axes, std::span<const Strides* const> strides) {
  SplitAxes s;
  const std::size_t n = strides.size();
  for (int a = 0; a < shape.size(); ++a) {
    const bool reduced = std::find(axes.begin(), axes.end(), a) != axes.end();
    (reduced ? s.reduced : s.kept).push_back(shape[a]);
    for (std::size_t k = 0; k < n; ++k) (reduced ? s.reduced_stride : s.kept_stride)[k].push_back((*strides[k])[a]);
  }
  catena::merge_axes(s.kept, {s.kept_stride.data(), n});
  catena::merge_axes(s.reduced, {s.reduced_stride.data(), n});
  at_least_one_axis(s.kept, {s.kept_stride.data(), n});
  at_least_one_axis(s.reduced, {s.reduced_stride.data(), n});
  return s;
}
bool all_fit_int32(const SplitAxes& s, std::size_t operands) {
  Shape all = s.kept;
  for (std::int64_t d : s.reduced) all.push_back(d);
  if (catena::size_of(all) > kMax31) return false;
  for (std::size_t k = 0; k < operands; ++k) {
    Strides strides = s.kept_stride[k];
    for (std::int64_t d : s.reduced_stride[k]) strides.push_back(d);
    if (!fits_int32(all, strides)) return false;
  }
  return true;
}

void at_least_one_axis(catena::Shape& shape, std::span<catena::Strides> strides) {
  if (shape.size() > 0) return;
  shape.push_back(1);
  for (catena::Strides& s : strides) s.push_back(0);
}

std::uint8_t rank_class(int rank, int limit) { return static_cast<std::uint8_t>(rank <= limit ? rank : 0); }

void ParameterBlock::fail_full(std::size_t more) const {
  catena::fail<catena::ValueError>("kernel launch", size_ + more, " bytes of parameters exceed the limit of ",
                                   bytes_.size());
}

void ParameterBlock::set_scratch(void* memory) {
  for (std::size_t k = 0; k < num_in_scratch_; ++k) {
    const void* const p = static_cast<std::byte*>(memory) + in_scratch_[k].offset;
    std::memcpy(bytes_.data() + in_scratch_[k].at, &p, sizeof p);
  }
}

std::size_t Sequence::reserve(std::size_t bytes) {
  constexpr std::size_t alignment = 256;
  const std::size_t at = scratch_bytes;
  scratch_bytes += (bytes + alignment - 1) / alignment * alignment;
  return at;
}
void Sequence::set_scratch(void* memory) {
  for (LaunchPlan& plan : launches) plan.parameters.set_scratch(memory);
}

}  // namespace nd::cuda
