// Folder autograd/ndarray_backend: the only folder of the framework that includes ndarray. It has the adapter of
// ndarray to the backend interface, the conversion of arrays (convert.h), and the extensions by cuDNN, oneDNN and CUDA
// graphs. Portable implementations are in autograd/nn_extension. Programs use ndarray_backend.h and convert.h; the
// other headers are internal.
//
// The implementation of Backend by ndarray: passes calls on to ndarray's call layer (ndarray/engine/execute.h).
#pragma once

#include <catena/autograd/backend/backend.h>
#include <catena/ndarray/engine/execute.h>

namespace autograd::internal {

class NdarrayBackend final : public Backend {
 public:
  NdarrayBackend();

  std::string_view name() const override { return "ndarray"; }
  Device default_device() override;
  Device exchange_default_device(Device device) override;

  Array empty(const Shape& shape, Dtype dtype, Device device) override;
  Array from_host(const void* data, const Shape& shape, Dtype dtype, Device device) override;
  void to_host(const Array& a, void* data) override;
  Array to_device(const Array& a, Device device) override;
  void synchronize(Device device) override;
  bool owns_memory(const Array& a) override;
  bool counts_writes(const Array& a) override;
  Array view(const Array& a, const Shape& shape, const Strides& strides, std::int64_t offset_bytes) override;

  void execute(const catena::Call& call) override { nd::internal::execute(call); }

 protected:
  void* find_extension(std::string_view name, Device device) override;
};

}  // namespace autograd::internal
