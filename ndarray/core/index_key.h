// The keys of basic indexing in namespace nd.
#pragma once

#include <concepts>

#include <catena/kernels/base/index_key.h>

namespace nd {

using catena::_;
using catena::ellipsis;
using catena::Key;
using catena::NewAxis;
using catena::newaxis;
using catena::NoneType;
using catena::Slice;
#ifndef None  // a macro of X11
using catena::None;
#endif
// Python's name of ellipsis: a(Ellipsis, 0).
inline constexpr catena::Ellipsis Ellipsis{};
// Python's function slice: a(slice(3)), a[slice(1, None)].
template <class... A> constexpr Slice slice(const A&... a) requires std::constructible_from<Slice, const A&...> {
  return Slice(a...);
}

}  // namespace nd
