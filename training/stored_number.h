// Numbers of snapshots, of which a file may hold any, and the way back from a load that fails. Internal to training and
// training/extensions.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>

#include <catena/nn/serializers/serializer.h>

namespace training::internal {

// Members that a load is about to change: if it fails after all, they get back the values that they have now. Without
// effect when saving.
template <class... T> void restore_on_rollback(nn::Serializer& s, T&... members) {
  if (s.is_writer()) return;
  s.on_rollback([&members..., before = std::tuple<T...>(members...)] { std::tie(members...) = before; });
}

// Reads or writes a number of iterations, sweeps or calls. ValueError, which begins with `who`, for a stored one below
// 0 or above 2^53: a training would go on for ever until it reaches its end, or overflow. `value` is then unchanged.
CATENA_EXPORT void serialize_count(nn::Serializer& s, std::string_view key, std::int64_t& value, std::string_view who);
// Reads or writes a position in sweeps over the data; in some files -1 means "not known". ValueError for a stored
// position that is not finite, below -1 or above 2^53.
CATENA_EXPORT void serialize_progress(nn::Serializer& s, std::string_view key, double& value, std::string_view who);

}  // namespace training::internal
