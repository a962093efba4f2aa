// nd::Array <-> autograd::Array. Both are handles to the same header, so a conversion costs a check and a reference
// count. Elements are shared: a write through one handle is visible through the other.
//
//   nd::Array x = nd::ones({2, 3});
//   autograd::Array y = x;
//   nd::Array z = y;                 // the header of x again
#pragma once

#include <atomic>
#include <concepts>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/ndarray_backend/ndarray_backend.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/core/storage.h>

namespace autograd {

template <> struct foreign_array<nd::Array> {
  static Array from(const nd::Array& a) {
    if (nd::array_owner().framework.load(std::memory_order_acquire) == nullptr) [[unlikely]]
      ndarray_backend();
    return Array(retained(a));
  }
  // ValueError for an array of another library; copy_across copies its elements.
  static nd::Array to(const Array& a) {
    catena::check<catena::ValueError>(!a || a->owner == &nd::array_owner(), "nd::Array", "the array was made by ",
                                      a ? a->owner->name : "", ", not by ndarray");
    return nd::Array(retained(a));
  }

 private:
  static catena::ArrayHeader* retained(const catena::HeaderRef& a) noexcept {
    catena::ArrayHeader* const h = a.get();
    if (h) h->refs.fetch_add(1, std::memory_order_relaxed);
    return h;
  }
};

// Classes that are nd::Arrays, such as the result of a kernel.
template <std::derived_from<nd::Array> A>
requires(!std::same_as<A, nd::Array>) struct foreign_array<A> {
  static Array from(const A& a) { return foreign_array<nd::Array>::from(nd::Array(a)); }
};

}  // namespace autograd
