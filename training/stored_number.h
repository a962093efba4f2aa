// Checks of numbers in snapshots, because a file may contain any. Internal to training and training/extensions.
#pragma once

#include <cstdint>
#include <string_view>

#include <catena/nn/serializers/serializer.h>

namespace training::internal {

// Reads or writes a number of iterations, sweeps or calls. Throws a ValueError, which begins with `who`, for a stored
// number below 0 or above 2^53, with which a training would never end or would overflow. `value` is then unchanged.
CATENA_EXPORT void serialize_count(nn::Serializer& s, std::string_view key, std::int64_t& value, std::string_view who);
// Reads or writes a position in sweeps over the data; in some files -1 means "not known". ValueError for a stored
// position that is not finite, below -1 or above 2^53.
CATENA_EXPORT void serialize_progress(nn::Serializer& s, std::string_view key, double& value, std::string_view who);

}  // namespace training::internal
