// Checks strides, paddings and dilations, for functions and links. Internal to this library.
#pragma once

#include <string_view>

#include <catena/nn/functions/lengths.h>

namespace nn::internal {

// Throws a ValueError for strides and dilations below 1 and negative paddings, and an AssertionError unless there is
// one length for all of `axes` or one for each.
template <class Options> void check_geometry(std::string_view op, const Options& o, int axes) {
  const auto at_least = [&](std::string_view name, const catena::Dims& lengths, std::int64_t least) {
    for (const std::int64_t n : lengths)
      catena::check<catena::ValueError>(n >= least, op, name, " is ", lengths, "; at least ", least, " is needed");
  };
  at_least("stride", Lengths(o.stride).of(op, "stride", axes), 1);
  at_least("pad", Lengths(o.pad).of(op, "pad", axes), 0);
  if constexpr (requires { o.dilate; }) at_least("dilate", Lengths(o.dilate).of(op, "dilate", axes), 1);
}

}  // namespace nn::internal
