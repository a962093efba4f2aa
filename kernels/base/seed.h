// Seeds of random generators for both libraries.
#pragma once

#include <cstdint>

#include <catena/kernels/base/export.h>

namespace catena {

// Returns 64 bits from the operating system.
CATENA_EXPORT std::uint64_t entropy();

// Returns the number in the environment variable CHAINER_SEED, which is read at every call; entropy() if it is unset or
// empty. ValueError unless all of its text is an unsigned 64-bit integer.
CATENA_EXPORT std::uint64_t initial_seed();

}  // namespace catena
