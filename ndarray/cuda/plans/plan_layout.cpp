#include <catena/ndarray/cuda/plans/plan_layout.h>

#include <algorithm>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/compiler/codegen.h>

namespace nd::cuda {

std::uint32_t blocks(std::int64_t items, int processors, int waves) {
  return static_cast<std::uint32_t>(std::min<std::int64_t>(items, std::int64_t(processors) * waves));
}

bool near(const catena::Shape& shape, const catena::Strides& strides) {
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

void ParameterBlock::put_scratch(std::size_t offset) {
  in_scratch_.at(num_in_scratch_++) = {size_, offset};
  put(static_cast<const void*>(nullptr));
}
void ParameterBlock::set_scratch(void* memory) {
  for (std::size_t k = 0; k < num_in_scratch_; ++k)
    set_pointer(in_scratch_[k].at, static_cast<std::byte*>(memory) + in_scratch_[k].offset);
}

GeneratedKernel generate(const LaunchPlan& plan) {
  if (plan.program != nullptr) return generate(*plan.program, plan.key);
  if (plan.kernel != nullptr) return generate(*plan.kernel, plan.kernel->loop_table[plan.loop], plan.key, plan.around);
  return generate(plan.key);
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
