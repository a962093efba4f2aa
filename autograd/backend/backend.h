// Folder autograd/backend: the backend interface, through which autograd, nn and training use arrays. This file has the
// interface Backend, the handle Array, the argument type Operand, and the extension for asynchronous devices.
// Operations of neural networks are in autograd/nn_extension. Implementations are in autograd/ndarray_backend, for
// ndarray, and in tests/support, a naive one for tests. The headers of this folder include only kernels/base and
// kernels/registry.
//
// Operations are kernels of the registry and kinds of calls (kernels/registry/call.h), so a new one adds no method.
// Callers do the binding (loop choice, broadcasting, result shapes) with kernels/registry/bind.h and pass allocated
// outputs.
#pragma once

#include <concepts>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <catena/autograd/backend/tensor_members.h>
#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/array_members.h>
#include <catena/kernels/base/element_members.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/in_place_members.h>
#include <catena/kernels/base/small_vector.h>
#include <catena/kernels/registry/call.h>

namespace autograd {

using catena::Axes;
using catena::Device;
using catena::Dims;
using catena::Dtype;
using catena::Input;
using catena::Scalar;
using catena::Shape;
using catena::Strides;

class Backend;

class Array;

// An adapter specialises this template to convert its arrays to and from autograd::Array implicitly, in O(1):
//   static Array from(const T&);  static T to(const Array&);
template <class T> struct foreign_array;
// The handle of an array library for which foreign_array is specialised.
template <class T>
concept ForeignArray = requires(const T& t) {
  foreign_array<T>::from(t);
};

// The framework's array: a shared handle with shape, dtype and device as plain fields. Copying shares the elements. If
// the adapter's convert.h (or catena.h) is included, an Array has all members and operators of the adapted class,
// nd::Array, with the same behaviour, and converts to and from it. Two differences remain: `if (a)` tests for null, and
// members of these names do not check for null.
// Thread safety: handles may be copied and destroyed on any thread; the caller synchronises access to elements.
class CATENA_EXPORT Array : public catena::HeaderRef,
                            public catena::ArrayMembers<Array>,
                            public catena::ElementMembers<Array>,
                            public catena::InPlaceMembers<Array>,
                            public TensorMembers<Array> {
 public:
  using catena::ArrayMembers<Array>::shape, catena::ArrayMembers<Array>::size;

  Array() noexcept = default;  // null: an absent array, e.g. a missing gradient
  explicit Array(catena::ArrayHeader* adopt) noexcept : HeaderRef(adopt) {}
  template <ForeignArray T> Array(const T& a) : Array(foreign_array<T>::from(a)) {}
  template <ForeignArray T> operator T() const { return foreign_array<T>::to(*this); }
  // double(a), int(a)
  template <class E, class B = catena::array_behind<Array>>
  requires(std::is_arithmetic_v<E> && !std::is_same_v<E, bool>) explicit operator E() const {
    return static_cast<E>(B::get(*this));
  }

  const Shape& shape() const noexcept { return h_->shape; }
  const Strides& strides() const noexcept { return h_->strides; }
  int ndim() const noexcept { return h_->shape.size(); }
  // A negative axis counts from the end; IndexError for one out of range.
  std::int64_t shape(int axis) const { return h_->shape[catena::normalize_axis("shape", axis, ndim())]; }
  std::int64_t size() const noexcept { return h_->size; }
  Dtype dtype() const noexcept { return h_->dtype; }
  Device device() const noexcept { return h_->device; }
  bool is_c_contiguous() const noexcept { return h_->c_contiguous; }
  bool defined() const noexcept { return h_ != nullptr; }
  // PyTorch's view: the same elements in another shape, as reshape. Of other arguments, that of nd::Array.
  template <class B = catena::array_behind<Array>> auto view(const Shape& shape) const {
    return B::get(*this).reshape(shape);
  }
  template <class... X> decltype(auto) view(X&&... x) const {
    if constexpr (sizeof...(X) > 0 && (... && std::integral<std::remove_cvref_t<X>>))
      return catena::internal::array_behind_call<Array, X...>::type::get(*this).reshape(
          Shape{static_cast<std::int64_t>(x)...});
    else return catena::ArrayMembers<Array>::view(std::forward<X>(x)...);
  }
  // Returns the backend of the library that made the array. RuntimeError if no adapter for that library is linked.
  Backend& backend() const;
};

// A list of arrays.
using Arrays = catena::SmallVector<Array, 4>;
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

// Makes the default backend, which creates new arrays if no other backend is given. catena.h sets this function pointer
// in the user's translation unit, so that autograd does not depend on an array library. Without it, the first creation
// of an array throws a RuntimeError that names the header to include.
using BackendFactory = Backend& (*)();
CATENA_EXPORT void set_default_backend(BackendFactory factory) noexcept;
CATENA_EXPORT Backend& default_backend();

}  // namespace autograd
