// Arrays with contents for tests, on the current device and in C order.
#pragma once

#include <cstdint>

#include <catena/ndarray/core/array.h>

namespace nd::testing {

// 1, 2, ... size. For bools: true for the even ones of these numbers.
CATENA_EXPORT Array shaped_arange(const Shape& shape, Dtype dtype = float32);
// size, ... 2, 1.
CATENA_EXPORT Array shaped_reverse_arange(const Shape& shape, Dtype dtype = float32);
// Uniform numbers in [0, scale), cast to the dtype; for bools: true and false, equally likely. For one seed, the
// numbers are the same on every device.
CATENA_EXPORT Array shaped_random(const Shape& shape, Dtype dtype = float32, double scale = 10, std::uint64_t seed = 0);

}  // namespace nd::testing
