// PyTorch's members of arrays that compute each element: a.abs(), a.pow(2), a.sqrt().
#pragma once

namespace catena {
namespace internal {

// Outside of the class, whose members have these names, so that the functions of the array's namespace are found.
#define CATENA_ELEMENT_MEMBER(name) \
  template <class A> auto name##_of(const A& a) { return name(a); }
CATENA_ELEMENT_MEMBER(abs)
CATENA_ELEMENT_MEMBER(exp)
CATENA_ELEMENT_MEMBER(log)
CATENA_ELEMENT_MEMBER(sqrt)
CATENA_ELEMENT_MEMBER(square)
#undef CATENA_ELEMENT_MEMBER
template <class A, class E> auto pow_of(const A& a, const E& exponent) { return pow(a, exponent); }

}  // namespace internal

// The base of array classes. The results are those of the functions: arrays of nd for nd::Array, Variables for
// autograd::Array.
template <class Derived> class ElementMembers {
 public:
#define CATENA_ELEMENT_MEMBER(name) \
  template <class D = Derived> auto name() const { return internal::name##_of(static_cast<const D&>(*this)); }
  CATENA_ELEMENT_MEMBER(abs)
  CATENA_ELEMENT_MEMBER(exp)
  CATENA_ELEMENT_MEMBER(log)
  CATENA_ELEMENT_MEMBER(sqrt)
  CATENA_ELEMENT_MEMBER(square)
#undef CATENA_ELEMENT_MEMBER
  template <class E, class D = Derived> auto pow(const E& exponent) const {
    return internal::pow_of(static_cast<const D&>(*this), exponent);
  }
};

}  // namespace catena
