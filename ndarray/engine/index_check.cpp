#include <catena/ndarray/engine/index_check.h>

#include <atomic>

#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/launch.h>

namespace nd {
namespace {

std::atomic<bool> on_cuda{false};

}  // namespace

bool checks_indices() noexcept { return on_cuda.load(std::memory_order_relaxed); }
void check_indices(bool on) noexcept { on_cuda.store(on, std::memory_order_relaxed); }

void internal::run(const catena::call::CheckIndices& call) {
  const ArrayHeader& a = *call.indices;
  const bool on_cpu = a.device.kind == Device::Kind::cpu;
  if (a.size == 0 || (!on_cpu && !checks_indices())) return;
  catena::Shape shape;
  catena::Strides strides;
  if (a.c_contiguous) {
    shape.push_back(a.size);
    strides.push_back(std::int64_t(catena::itemsize(a.dtype)));
  } else {
    for (int axis = 0; axis < a.shape.size(); ++axis) {
      if (a.strides[axis] == 0 || a.shape[axis] == 1) continue;
      shape.push_back(a.shape[axis]);
      strides.push_back(a.strides[axis]);
    }
  }
  const catena::Input read(a);
  launch(a.device, {&read, 1}, {},
         catena::bound::CheckIndices{{a.data, a.dtype, false, &shape, &strides}, call.rule, call.name});
}

}  // namespace nd
