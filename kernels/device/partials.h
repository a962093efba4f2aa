// Partial results of one thread: 16 partial results are joined one after the other, then 16 of the joined ones, and so
// on, the earlier one always on the left. The rounding errors of a sum then hardly grow with its length. Each partial
// result is the combination of a few elements in registers.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::device {

enum : int { kGroup = 16 };  // elements that are combined one after the other

// The levels are separate members, because an array would be in memory.
template <class A> class Partials {
 public:
  template <class Join> ND_FN void add(A a, Join join) {
    if (!add_to(first_, in_first_, a, join)) return;
    if (!add_to(second_, in_second_, first_, join)) return;
    if (!add_to(third_, in_third_, second_, join)) return;
    last_ = in_last_ == 0 ? third_ : join(last_, third_);
    in_last_ = 1;
  }
  // Precondition: at least one partial result was added.
  template <class Join> ND_FN A total(Join join) const {
    A all;
    bool some = false;
    follow(all, some, last_, in_last_, join);
    follow(all, some, third_, in_third_, join);
    follow(all, some, second_, in_second_, join);
    follow(all, some, first_, in_first_, join);
    return all;
  }

 private:
  // Returns true if the level is full; it then counts as empty.
  template <class Join> static ND_FN bool add_to(A& level, int& count, const A& a, Join join) {
    level = count == 0 ? a : join(level, a);
    count = (count + 1) % kGroup;
    return count == 0;
  }
  template <class Join> static ND_FN void follow(A& all, bool& some, const A& level, int count, Join join) {
    if (count == 0) return;
    all = some ? join(all, level) : level;
    some = true;
  }

  A first_, second_, third_, last_;
  int in_first_ = 0, in_second_ = 0, in_third_ = 0, in_last_ = 0;
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
