// Folder autograd/backend, the backend interface: everything that autograd, nn and training know about arrays. Here are
// the interface Backend, the handle Array, the argument type Operand, and the extension for asynchronous devices.
// Operations of neural networks are in autograd/nn_extension. Implementations of the interface are elsewhere: ndarray's
// in autograd/ndarray_backend, a naive one for tests in tests/support. The headers of this folder include only
// kernels/base and kernels/registry.
//
// Operations are kernels of the registry, so a new elementwise function, reduction or row-wise kernel adds no method.
// Callers do the binding (loop choice, broadcasting, result shapes) with kernels/registry/bind.h and pass allocated
// outputs.
#pragma once

#include <span>
#include <string_view>

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/array_members.h>
#include <catena/kernels/base/function.h>
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

// An adapter specialises this to convert its arrays to and from autograd::Array implicitly, in O(1):
//   static Array from(const T&);  static T to(const Array&);
template <class T> struct foreign_array;
template <class T>
concept ForeignArray = requires(const T& t) {
  foreign_array<T>::from(t);
};

// An array as the framework sees it: a shared handle whose shape, dtype and device are plain fields. Copying shares.
// Where the adapter's convert.h (or catena.h) is included, it has all members and operators of the adapted class, and
// converts to and from it: what an nd::Array does, this does. Two meanings are its own: `if (a)` asks whether there is
// an array, and members of these names do not check that there is one.
// Thread safety: handles may be copied and dropped on any thread; the caller synchronises access to elements.
class CATENA_EXPORT Array : public catena::HeaderRef, public catena::ArrayMembers<Array> {
 public:
  using catena::ArrayMembers<Array>::shape;

  Array() noexcept = default;  // null: an absent array, e.g. a missing gradient
  explicit Array(catena::ArrayHeader* adopt) noexcept : HeaderRef(adopt) {}
  template <ForeignArray T> Array(const T& a) : Array(foreign_array<T>::from(a)) {}
  template <ForeignArray T> operator T() const { return foreign_array<T>::to(*this); }

  const Shape& shape() const noexcept { return h_->shape; }
  const Strides& strides() const noexcept { return h_->strides; }
  int ndim() const noexcept { return h_->shape.size(); }
  std::int64_t shape(int axis) const noexcept { return h_->shape[axis]; }
  std::int64_t size() const noexcept { return h_->size; }
  Dtype dtype() const noexcept { return h_->dtype; }
  Device device() const noexcept { return h_->device; }
  bool is_c_contiguous() const noexcept { return h_->c_contiguous; }
  // The backend of the library that made the array. RuntimeError when no adapter for that library is linked in.
  Backend& backend() const;
};

using Arrays = catena::SmallVector<Array, 4>;
using HyperRefresh = catena::Function<void(std::span<catena::Hyper>)>;
using OffsetRefresh = catena::Function<std::uint64_t()>;

class CATENA_EXPORT Backend {
 public:
  virtual ~Backend();

  virtual std::string_view name() const = 0;
  virtual Device default_device() = 0;
  // Makes `device` the default device of the calling thread and returns the one before. A backend whose default device
  // is always the same ignores it.
  virtual Device exchange_default_device(Device device);

  // Memory. New arrays are C-contiguous. to_host copies in C order and blocks; from_host copies.
  virtual Array empty(const Shape& shape, Dtype dtype, Device device) = 0;
  virtual Array from_host(const void* data, const Shape& shape, Dtype dtype, Device device) = 0;
  virtual void to_host(const Array& a, void* data) = 0;
  virtual Array to_device(const Array& a, Device device) = 0;  // the same handle if it is there already
  virtual void synchronize(Device device) = 0;
  // Whether the array's memory was allocated by the backend's library, so that it may be reused for another result once
  // no array refers to it. False for memory of someone else behind an array (nd::wrap, DLPack).
  virtual bool owns_memory(const Array& a);
  // Whether the version of the array's storage changes with every change of its bytes: no one else has the memory's
  // address. False if in doubt.
  virtual bool counts_writes(const Array& a);
  // The basis of all view operations: same storage, new shape and strides, first element moved by offset_bytes.
  virtual Array view(const Array& a, const Shape& shape, const Strides& strides, std::int64_t offset_bytes) = 0;

  // The calls of kernels/registry/call.h, where their meaning is defined. All arrays of a call are on one device (else
  // a ValueError naming both); outputs may share memory with inputs.
  virtual void elementwise(const catena::call::Elementwise& call) = 0;
  virtual void recurrence(const catena::call::Recurrence& call);  // here one call per position
  virtual void reduce(const catena::call::Reduce& call) = 0;
  virtual void scan(const catena::call::Scan& call) = 0;
  virtual void sort(const catena::call::Sort& call) = 0;
  virtual void nonzero(const catena::call::Nonzero& call) = 0;
  virtual void row_wise(const catena::call::RowWise& call) = 0;
  virtual void row_wise_and_sums(const catena::call::RowWiseAndSums& call);  // here one after the other
  virtual void gather(const catena::call::Gather& call) = 0;
  virtual void scatter(const catena::call::Scatter& call) = 0;
  virtual void check_indices(const catena::call::CheckIndices& call) = 0;
  virtual void matmul(const catena::call::Matmul& call) = 0;
  virtual void random(const catena::call::Random& call) = 0;
  // TypeError for tensors that are not C-contiguous or not of the loop's dtypes, ValueError for operands that do not
  // fit together; nothing has run then.
  virtual void multi_tensor(const catena::call::MultiTensor& call) = 0;

  // An optional interface, found by its type: E::kName names it. Null when this backend does not implement it for
  // `device`.
  template <class E> E* extension(Device device) { return static_cast<E*>(find_extension(E::kName, device)); }

 protected:
  virtual void* find_extension(std::string_view name, Device device);
};

// Makes the default backend, which creates new arrays when none is given. catena.h sets this function pointer in the
// user's own translation unit, so that autograd links to no array library; without it the first array creation throws a
// RuntimeError that says what to include.
using BackendFactory = Backend& (*)();
CATENA_EXPORT void set_default_backend(BackendFactory factory) noexcept;
CATENA_EXPORT Backend& default_backend();

}  // namespace autograd
