// Seam S2 over seam S1: binds what the framework asks for and hands it to the nd::Backend of the arrays' device.
// Internal to this folder; programs use ndarray_backend().
#pragma once

#include <catena/autograd/backend/backend.h>

namespace autograd::internal {

class NdarrayBackend final : public Backend {
 public:
  NdarrayBackend();

  std::string_view name() const override { return "ndarray"; }
  Device default_device() override;

  Array empty(const Shape& shape, Dtype dtype, Device device) override;
  Array from_host(const void* data, const Shape& shape, Dtype dtype, Device device) override;
  void to_host(const Array& a, void* data) override;
  Array to_device(const Array& a, Device device) override;
  void synchronize(Device device) override;
  Array view(const Array& a, const Shape& shape, const Strides& strides, std::int64_t offset_bytes) override;

  void elementwise(const catena::Program& program, std::span<const Input> inputs,
                   std::span<const Array> outputs) override;
  void reduce(const catena::KernelDef& kernel, int loop, const Array& in, const Dims& axes, const Array& out) override;
  void reduce(const catena::KernelDef& kernel, int loop, const catena::Program& map, std::span<const Input> inputs,
              const Dims& axes, const Array& out) override;
  void scan(const catena::KernelDef& kernel, int loop, const Array& in, int axis, const Array& out) override;
  void sort(const Array& in, int axis, bool positions, const Array& out) override;
  void nonzero(const Array& in, const Array& out) override;
  void rows(const catena::KernelDef& kernel, int loop, const Shape& shape, const Dims& axes,
            std::span<const Input> inputs, std::span<const Array> outputs) override;
  void multi_tensor(const catena::KernelDef& kernel, int loop, std::span<const std::span<const Array>> tensors,
                    std::span<const catena::Hyper> hyper, std::span<const std::int32_t> hyper_of_tensor,
                    const HyperRefresh* refresh) override;
  void gather(const Array& a, std::span<const Array> indices, const Dims& axes, const Shape& loop,
              const Dims& base_axis, const Array& out) override;
  void scatter(catena::ScatterMode mode, const Array& a, std::span<const Array> indices, const Dims& axes,
               const Shape& loop, const Dims& base_axis, const Input& values) override;
  void matmul(const Array& a, const Array& b, const Array& out) override;
  void random(catena::RandomKind kind, std::uint64_t seed, std::uint64_t offset, std::int64_t low, std::int64_t high,
              const Array& out, const OffsetRefresh* refresh) override;

 protected:
  void* find_extension(std::string_view name, Device device) override;

 private:
  // A C-ordered copy of `a` with elements of `dtype`.
  Array packed_copy(const catena::ArrayHeader& a, Dtype dtype);
};

}  // namespace autograd::internal
