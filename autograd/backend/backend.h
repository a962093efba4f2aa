// Folder autograd/backend: the backend interface, through which autograd, nn and training use arrays. This file has the
// interface Backend, array.h the handle Array, and operand.h the argument type Operand. Operations of neural networks
// are in autograd/nn_extension. Implementations are in autograd/ndarray_backend, for ndarray, and in tests/support, a
// naive one for tests. The headers of this folder include only kernels/base and kernels/registry.
//
// Operations are kernels of the registry and kinds of calls (kernels/registry/call.h), so a new one adds no method.
// Callers do the binding (loop choice, broadcasting, result shapes) with kernels/registry/bind.h and pass allocated
// outputs.
#pragma once

#include <span>
#include <string_view>

#include <catena/autograd/backend/array.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/registry/call.h>

namespace autograd {

using catena::Input;
using HyperRefresh = catena::Function<void(std::span<catena::Hyper>)>;
using OffsetRefresh = catena::Function<std::uint64_t()>;

// The interface of an array library for the framework.
class CATENA_EXPORT Backend {
 public:
  virtual ~Backend();

  virtual std::string_view name() const = 0;
  virtual Device default_device() = 0;
  // Makes `device` the default device of the calling thread; returns the previous one. A backend with a fixed default
  // device ignores the call.
  virtual Device exchange_default_device(Device device);

  // Memory. New arrays are C-contiguous. to_host copies in C order and blocks; from_host copies.
  virtual Array empty(const Shape& shape, Dtype dtype, Device device) = 0;
  virtual Array from_host(const void* data, const Shape& shape, Dtype dtype, Device device) = 0;
  virtual void to_host(const Array& a, void* data) = 0;
  virtual Array to_device(const Array& a, Device device) = 0;  // returns the same handle if it is on that device
  virtual void synchronize(Device device) = 0;
  // True if the backend's library allocated the memory of the array, so that it may be reused for another result once
  // no array refers to it. False for memory of another owner (nd::wrap, DLPack).
  virtual bool owns_memory(const Array& a);
  // True if the version of the array's storage changes with every change of its bytes, because no other code has the
  // address of the memory. False if in doubt.
  virtual bool counts_writes(const Array& a);
  // The basis of all view operations: same storage, new shape and strides, first element moved by offset_bytes.
  virtual Array view(const Array& a, const Shape& shape, const Strides& strides, std::int64_t offset_bytes) = 0;

  // The calls of kernels/registry/call.h, which defines their meaning. All arrays of a call are on one device (else a
  // ValueError names both); outputs may share memory with inputs.
  virtual void execute(const catena::Call& call) = 0;

  // Returns an optional interface, identified by E::kName. Null if this backend does not implement it for `device`.
  template <class E> E* extension(Device device) { return static_cast<E*>(find_extension(E::kName, device)); }

 protected:
  virtual void* find_extension(std::string_view name, Device device);
};

// For backends that have no better way: executes a recurrence as one elementwise call per position.
CATENA_EXPORT void execute_each_position(Backend& backend, const catena::call::Recurrence& call);

}  // namespace autograd
