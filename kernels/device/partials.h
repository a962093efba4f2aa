// Partial results of one thread: 16 partial results are joined one after the other, then 16 of the joined ones, and so
// on, the earlier one always on the left. The rounding errors of a sum then hardly grow with its length. Each partial
// result is the combination of a few elements in registers.
#pragma once

#include <catena/kernels/device/parameters.h>
#include <catena/kernels/numeric.h>

namespace catena::device {

enum : int { kGroup = 16 };  // elements that are combined one after the other

// All loops over the levels are unrolled, so that they are in registers. Large accumulators, which are of double
// precision, have one level: their partial results are joined one after the other.
template <class A> class Partials {
 public:
  template <class Join> ND_FN void add(A a, Join join) {
    ND_UNROLL
    for (int k = 0; k < kLevels; ++k) {
      if (count_[k] > 0) a = join(level_[k], a);
      level_[k] = a;
      // A level that is full is empty from now on; the last one is never full.
      count_[k] = k + 1 < kLevels ? (count_[k] + 1) % kGroup : 1;
      if (count_[k] > 0) return;
    }
  }
  // Precondition: at least one partial result was added.
  template <class Join> ND_FN A total(Join join) const {
    A all;
    bool some = false;
    ND_UNROLL
    for (int k = kLevels - 1; k >= 0; --k) {
      if (count_[k] == 0) continue;
      all = some ? join(all, level_[k]) : level_[k];
      some = true;
    }
    return all;
  }

 private:
  enum : int { kLevels = int(sizeof(A)) > int(kLargeSum) ? 1 : 4 };
  A level_[kLevels];
  int count_[kLevels] = {};
};

template <class Body, class A>
concept joins = requires(A a) {
  Body::join(a, a);
};
// True if the digits of a result depend on the order in which elements are combined.
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
