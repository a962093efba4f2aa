// Functions shared by layers with weights and a bias: checks of channels, the initial bias. Internal to this folder.
#pragma once

#include <optional>
#include <string>

#include <catena/nn/link.h>

namespace nn::internal {

inline Variable handle_of(const std::optional<Parameter>& b) {
  return b ? static_cast<const Variable&>(*b) : Variable();
}

// Returns the initial bias of options that have it as an initializer or as a number.
template <class Options> Initializer bias_initializer(const Options& o) {
  return o.initial_bias ? o.initial_bias : Initializer(o.bias);
}

// Returns the number of channels per group; ValueError unless the groups divide the channels.
inline std::int64_t grouped(const char* link, const char* what, std::int64_t channels, int groups) {
  catena::check<catena::ValueError>(groups >= 1, link, "there are ", groups, " groups; at least 1 is needed");
  catena::check<catena::ValueError>(channels % groups == 0, link, what, " is ", channels, ", which ", groups,
                                    " groups do not divide");
  return channels / groups;
}

// The name of the operation in errors of operator(); rethrow_at adds the link.
inline constexpr const char* kFirstCall = "the first call";

// Checks x in the first call of a link without a number of input channels.
inline void check_ndim(const Variable& x, int ndim) {
  if (x.ndim() != ndim)
    throw catena::InvalidType(catena::concat("x.ndim == ", ndim), catena::concat(x.ndim(), " != ", ndim));
}

// Returns the cause of an error if it is the dtype or the number of channels: a filter has the channels of one group
// along `axis`.
inline std::string filter_detail(const Variable& x, const Parameter& W, int axis, int groups) {
  if (!x || !W.is_initialized()) return {};
  if (x.ndim() == W.ndim() && x.shape(1) != W.shape(axis) * groups)
    return catena::concat("x has ", x.shape(1), " channels, W ", W.shape(axis) * groups);
  return dtype_detail(x, W);
}

}  // namespace nn::internal
