// Array, the framework's handle of an array of any backend, and the default backend. The interface of backends is in
// backend.h.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <catena/autograd/backend/tensor_members.h>
#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/array_members.h>
#include <catena/kernels/base/element_members.h>
#include <catena/kernels/base/in_place_members.h>
#include <catena/kernels/base/scalar.h>
#include <catena/kernels/base/small_vector.h>

namespace autograd {

using catena::Axes;
using catena::Device;
using catena::Dims;
using catena::Dtype;
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
  Array(const Array&) noexcept = default;
  Array(Array&&) noexcept = default;
  Array& operator=(const Array&) & noexcept = default;
  Array& operator=(Array&&) & noexcept = default;
  void operator=(const Array&) && = delete;  // a copy is assigned to: not w.grad() = g, but w.set_grad(g)
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

// Makes the default backend, which creates new arrays if no other backend is given. catena.h sets this function pointer
// in the user's translation unit, so that autograd does not depend on an array library. Without it, the first creation
// of an array throws a RuntimeError that names the header to include.
using BackendFactory = Backend& (*)();
CATENA_EXPORT void set_default_backend(BackendFactory factory) noexcept;
CATENA_EXPORT Backend& default_backend();

}  // namespace autograd
