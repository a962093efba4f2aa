// Shared by the layers with weights and a bias: the checks of their channels, the initial bias. Internal to this
// folder.
#pragma once

#include <optional>
#include <string>

#include <catena/nn/link.h>

namespace nn::internal {

inline Variable handle_of(const std::optional<Parameter>& b) {
  return b ? static_cast<const Variable&>(*b) : Variable();
}

// Options have the initial bias as an initializer, or as a number.
template <class Options> Initializer bias_initializer(const Options& o) {
  return o.initial_bias ? o.initial_bias : Initializer(o.bias);
}

// The channels of a group; ValueError unless the groups divide them.
inline std::int64_t grouped(const char* link, const char* what, std::int64_t channels, int groups) {
  catena::check<catena::ValueError>(groups >= 1, link, "there are ", groups, " groups; at least 1 is needed");
  catena::check<catena::ValueError>(channels % groups == 0, link, what, " is ", channels, ", which ", groups,
                                    " groups do not divide");
  return channels / groups;
}

// How errors call what happens in operator(), whose link is named by rethrow_at.
inline constexpr const char* kFirstCall = "the first call";

// For the first call of a link without a number of input channels.
inline void check_ndim(const Variable& x, int ndim) {
  if (x.ndim() != ndim)
    throw catena::InvalidType(catena::concat("x.ndim == ", ndim), catena::concat(x.ndim(), " != ", ndim));
}

// The reason of a failure where it is the number of channels, of which a filter has that of a group along `axis`, or
// the dtype.
inline std::string filter_detail(const Variable& x, const Parameter& W, int axis, int groups) {
  if (!x || !W.is_initialized()) return {};
  if (x.ndim() == W.ndim() && x.shape(1) != W.shape(axis) * groups)
    return catena::concat("x has ", x.shape(1), " channels, W ", W.shape(axis) * groups);
  return dtype_detail(x, W);
}

}  // namespace nn::internal
