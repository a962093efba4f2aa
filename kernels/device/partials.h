// Partial results of one thread: 16 partial results are joined one after the other, then 16 of the joined ones, and so
// on. The left operand of a join is the result of earlier elements. The rounding errors of a sum then hardly grow with
// its length. Each partial result is the combination of a few elements in registers.
#pragma once

#include <catena/kernels/device/parameters.h>
#include <catena/kernels/numeric.h>

namespace catena::device {

enum : int { kGroupBits = 4, kGroup = 1 << kGroupBits };  // elements that are combined one after the other

// Digit k, to the base kGroup, of the number of partial results is the number of those that level k has combined. All
// loops over the levels are unrolled, so that they are in registers.
template <class A> class Partials {
 public:
  template <class Join> ND_FN void add(A a, Join join) {
    ND_UNROLL
    for (int k = 0; k < kLevels; ++k) {
      if (digit(k) != 0) a = join(level_[k], a);
      level_[k] = a;
      // A level that is full is empty from now on; the last one is never full.
      if (k + 1 == kLevels || digit(k) != kGroup - 1) break;
    }
    ++count_;
  }
  // Precondition: at least one partial result was added.
  template <class Join> ND_FN A total(Join join) const {
    A all;
    bool some = false;
    ND_UNROLL
    for (int k = kLevels - 1; k >= 0; --k) {
      if (digit(k) == 0) continue;
      all = some ? join(all, level_[k]) : level_[k];
      some = true;
    }
    return all;
  }

 private:
  enum : int { kLevels = 4 };
  ND_FN unsigned digit(int k) const {
    const unsigned rest = count_ >> (kGroupBits * k);
    return k + 1 < kLevels ? rest % kGroup : rest;
  }
  A level_[kLevels];
  unsigned count_ = 0;
};

// Large accumulators, which are of double precision, have one level.
template <class A>
requires(sizeof(A) > int(kLargeSum)) class Partials<A> {
 public:
  template <class Join> ND_FN void add(A a, Join join) {
    all_ = some_ ? join(all_, a) : a;
    some_ = true;
  }
  template <class Join> ND_FN A total(Join) const { return all_; }

 private:
  A all_;
  bool some_ = false;
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
