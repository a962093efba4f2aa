// PyTorch's functions that write the elements of their first argument and return it: exp_(x), clamp_(x, 0, 1),
// fill_(x, 1). They are the members of these names, of variables and arrays, with their conditions and errors
// (autograd/torch_members.inc, kernels/base/in_place_members.h).
#pragma once

#include <vector>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/in_place_members.h>

namespace autograd {

#define CATENA_IN_PLACE(name)                                                                            \
  template <class T, class... A> const T& name##_(const T& x, const A&... arguments) requires requires { \
    x.name##_(arguments...);                                                                             \
  }                                                                                                      \
  {                                                                                                      \
    x.name##_(arguments...);                                                                             \
    return x;                                                                                            \
  }
// Of the elements alone.
CATENA_IN_PLACE_FUNCTIONS(CATENA_IN_PLACE)
// Of the elements and of an array or a number.
CATENA_IN_PLACE_OPERATIONS(CATENA_IN_PLACE)
// Of the members of torch_members.inc.
CATENA_IN_PLACE_RELATIVES(CATENA_IN_PLACE)
// Other members, and two names of members above.
// clang-format off
CATENA_IN_PLACE(clamp) CATENA_IN_PLACE(clip) CATENA_IN_PLACE(detach) CATENA_IN_PLACE(as_strided)
CATENA_IN_PLACE(resize_as) CATENA_IN_PLACE(negative) CATENA_IN_PLACE(absolute)
// clang-format on
#undef CATENA_IN_PLACE
    // With options in braces: clamp_(x, {.min = 0}).
    template <class T>
    const T& clamp_(const T& x, const catena::ClampRange& range) requires requires {
  x.clamp_(range);
}
{ return clamp_<T, catena::ClampRange>(x, range); }
template <class T> const T& clip_(const T& x, const catena::ClampRange& range) requires requires { x.clip_(range); }
{ return clip_<T, catena::ClampRange>(x, range); }
inline const Variable& addmv_(const Variable& x, const Variable& a, const Variable& b, const BetaAlphaOptions& o) {
  return x.addmv_(a, b, o);
}
// index_put_(x, {Slice(), 0}, 1)
template <class V>
const Variable& index_put_(const Variable& x, const std::vector<IndexItem>& items, const V& values,
                           bool accumulate = false) {
  return x.index_put_(items, values, accumulate);
}

}  // namespace autograd
