// Seam S2: everything that autograd, nn and training know about arrays. ndarray is one implementation
// (autograd/ndarray_backend/), a naive one for tests is another; neither is visible here.
//
// Operations are rows of the kernel registry, so a new elementwise function, reduction or row kernel adds no method.
// Binding (loop choice, broadcasting, result shapes) is done by the callers with kernels/rows/bind.h; outputs are
// always given.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/small_vector.h>
#include <catena/kernels/rows/bind.h>
#include <catena/kernels/rows/calls.h>

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

// What an adapter specialises to let its arrays convert to and from autograd::Array implicitly, in O(1):
//   static Array from(const T&);  static T to(const Array&);
template <class T>
struct foreign_array;
template <class T>
concept ForeignArray = requires(const T& t) {
  foreign_array<T>::from(t);
};

// An array as the framework sees it: a shared handle whose shape, dtype and device are plain fields. Copying shares.
// Thread safety: handles may be copied and dropped on any thread; writing elements is the caller's to order.
class CATENA_EXPORT Array : public catena::HeaderRef {
 public:
  Array() noexcept = default;  // null: "no array", e.g. an absent gradient
  explicit Array(catena::ArrayHeader* adopt) noexcept : HeaderRef(adopt) {}
  template <ForeignArray T>
  Array(const T& a) : Array(foreign_array<T>::from(a)) {}
  template <ForeignArray T>
  operator T() const {
    return foreign_array<T>::to(*this);
  }

  const Shape& shape() const noexcept { return h_->shape; }
  const Strides& strides() const noexcept { return h_->strides; }
  int ndim() const noexcept { return h_->shape.size(); }
  std::int64_t shape(int axis) const noexcept { return h_->shape[axis]; }
  std::int64_t size() const noexcept { return h_->size; }
  Dtype dtype() const noexcept { return h_->dtype; }
  Device device() const noexcept { return h_->device; }
  bool is_c_contiguous() const noexcept { return h_->c_contiguous; }
  Backend& backend() const;  // of the library that made it; RuntimeError when no adapter for that library is linked in
};

using Arrays = catena::SmallVector<Array, 4>;
using HyperRefresh = std::function<void(std::span<catena::Hyper>)>;
using OffsetRefresh = std::function<std::uint64_t()>;

class CATENA_EXPORT Backend {
 public:
  virtual ~Backend();

  virtual std::string_view name() const = 0;
  virtual Device default_device() = 0;

  // Memory. Arrays come C-contiguous. to_host copies in C order and blocks; from_host copies.
  virtual Array empty(const Shape& shape, Dtype dtype, Device device) = 0;
  virtual Array from_host(const void* data, const Shape& shape, Dtype dtype, Device device) = 0;
  virtual void to_host(const Array& a, void* data) = 0;
  virtual Array to_device(const Array& a, Device device) = 0;  // the same handle when it is there already
  virtual void synchronize(Device device) = 0;
  // Every view operation: same storage, another shape and strides, first element moved by offset_bytes.
  virtual Array view(const Array& a, const Shape& shape, const Strides& strides, std::int64_t offset_bytes) = 0;

  // Elementwise and indexed kernels, fused or not. Inputs broadcast; dtypes are converted to and from the slots'
  // dtypes. In-out operands are passed among the outputs, before the pure outputs.
  virtual void elementwise(const catena::Program& program, std::span<const Input> inputs,
                           std::span<const Array> outputs) = 0;
  // `out` has the reduced shape with or without the reduced axes kept.
  virtual void reduce(const catena::KernelDef& kernel, int loop, const Array& in, const Dims& axes,
                      const Array& out) = 0;
  // The same for what `map` gives (elementwise steps, one output, no in-outs; its inputs broadcast), which is not
  // stored: on the CPU the bits are those of elementwise() into an array and reduce() of it.
  virtual void reduce(const catena::KernelDef& kernel, int loop, const catena::Program& map,
                      std::span<const Input> inputs, const Dims& axes, const Array& out) = 0;
  // Element i along `axis` is what the reduction gives for the elements 0 to i. `out` has the shape of `in`.
  virtual void scan(const catena::KernelDef& kernel, int loop, const Array& in, int axis, const Array& out) = 0;
  // Stable ascending order along `axis`, NaN last. `out` has the shape of `in`, and its dtype or, with `positions`,
  // int64.
  virtual void sort(const Array& in, int axis, bool positions, const Array& out) = 0;
  // Positions of the elements that are not zero, in C order. `out` is C-contiguous, int64, of shape (rank, their
  // number), which the caller has counted (count_nonzero).
  virtual void nonzero(const Array& in, const Array& out) = 0;
  // Inputs broadcast to `shape`; outputs of that shape; then the per-row outputs, which have length 1 along `axes`.
  virtual void rows(const catena::KernelDef& kernel, int loop, const Shape& shape, const Dims& axes,
                    std::span<const Input> inputs, std::span<const Array> outputs) = 0;
  // tensors[k] lists operand k of every tensor (C-contiguous, one dtype); hyper[h[i]] are the hyperparameters of tensor
  // i. `refresh` (or null) gives the hyperparameters of a later run where the call is captured (capture.h).
  virtual void multi_tensor(const catena::KernelDef& kernel, int loop, std::span<const std::span<const Array>> tensors,
                            std::span<const catena::Hyper> hyper, std::span<const std::int32_t> hyper_of_tensor,
                            const HyperRefresh* refresh) = 0;
  // Indexing by integer arrays along `axes` of `a` (calls.h); `loop` is the result shape, `base_axis[k]` says which
  // axis of `a` loop axis k walks, or -1 when an index array does. Index arrays broadcast to `loop`.
  virtual void gather(const Array& a, std::span<const Array> indices, const Dims& axes, const Shape& loop,
                      const Dims& base_axis, const Array& out) = 0;
  virtual void scatter(catena::ScatterMode mode, const Array& a, std::span<const Array> indices, const Dims& axes,
                       const Shape& loop, const Dims& base_axis, const Input& values) = 0;
  // out = a @ b over the last two axes, leading axes broadcast; rank >= 2, one dtype.
  virtual void matmul(const Array& a, const Array& b, const Array& out) = 0;
  // `refresh` (or null) gives the offset of a later run where the call is captured.
  virtual void random(catena::RandomKind kind, std::uint64_t seed, std::uint64_t offset, std::int64_t low,
                      std::int64_t high, const Array& out, const OffsetRefresh* refresh) = 0;

  // An optional interface by its type: E::kName names it. Null when this backend does not override it for `device`.
  template <class E>
  E* extension(Device device) {
    return static_cast<E*>(find_extension(E::kName, device));
  }

 protected:
  virtual void* find_extension(std::string_view name, Device device);
};

// The backend in which new arrays are made when nothing else says so. A function pointer, set by catena.h in the user's
// own translation unit (so autograd links to no array library); without it the first array creation throws RuntimeError
// saying what to include.
using BackendFactory = Backend& (*)();
CATENA_EXPORT void set_default_backend(BackendFactory factory) noexcept;
CATENA_EXPORT Backend& default_backend();

}  // namespace autograd
