// The keys of basic indexing in namespace nd.
#pragma once

#include <catena/kernels/base/index_key.h>

namespace nd {

using catena::_;
using catena::Ellipsis;
using catena::ellipsis;
using catena::Key;
using catena::NewAxis;
using catena::newaxis;
using catena::Slice;

// The type of None.
struct NoneType : NewAxis {
  template <class T> constexpr operator std::optional<T>() const { return {}; }
  operator catena::Axes() const { return {}; }
};
#ifndef None  // a macro of X11
// Python's None: a new axis among keys, and an absent bound, axis or other option elsewhere: a(None, 0),
// Slice(-3, None), a.sum(None).
inline constexpr NoneType None{};
#endif

}  // namespace nd
