// Partial results of one thread, joined as a binary tree, the earlier one always on the left: the rounding errors of a
// sum then grow with the logarithm of its length. A thread adds up a few elements in registers before each of them.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::device {

enum : int { kGroup = 16 };  // elements that are combined one after the other

template <class A> class Partials {
 public:
  template <class Join> ND_FN void add(A a, Join join) {
    int i = 0;
    for (; ((count_ >> i) & 1) != 0; ++i) a = join(at(i), a);
    at(i) = a;
    ++count_;
  }
  // Of at least one.
  template <class Join> ND_FN A total(Join join) {
    int i = 0;
    while (((count_ >> i) & 1) == 0) ++i;
    A a = at(i);
    for (++i; (count_ >> i) != 0; ++i)
      if (((count_ >> i) & 1) != 0) a = join(at(i), a);
    return a;
  }

 private:
  enum : int { kLevels = 40 };
  ND_FN A& at(int i) { return reinterpret_cast<A*>(memory_)[i]; }

  alignas(
      16) unsigned char memory_[kLevels * sizeof(A)];  // bit i of the count: level i holds the result of 2^i partials
  uint64_t count_ = 0;
};

template <class Body, class A>
concept joins = requires(A a) {
  Body::join(a, a);
};
// Whether the digits of a result depend on the order in which elements are combined.
template <class Body, class A>
concept rounds = (is_float<A> || is_complex<A> || joins<Body, A>)&&!requires {
  Body::any_order;
};

// Adds an element to an accumulator.
template <class Body, class A, class T> ND_FN void take(A& acc, T x, int64_t index) {
  if constexpr (requires { Body::add(acc, x); }) acc = Body::add(acc, x);
  else acc = Body::combine(acc, Body::template map<A>(x, index));
}
// Combines accumulators of any number of elements.
template <class Body> struct Joined {
  template <class A> static ND_FN A combine(A a, A b) {
    if constexpr (joins<Body, A>) return Body::join(a, b);
    else return Body::combine(a, b);
  }
  template <class A> ND_FN A operator()(A a, A b) const { return combine(a, b); }
};

}  // namespace catena::device
