// Seeds of random generators: where the first one of a process comes from. Both libraries ask here.
#pragma once

#include <cstdint>

#include <catena/kernels/base/export.h>

namespace catena {

// 64 bits from the operating system.
CATENA_EXPORT std::uint64_t entropy();

// The environment variable CHAINER_SEED, read at every call; entropy() where it is unset or empty. ValueError unless
// all of its text is an unsigned 64-bit integer.
CATENA_EXPORT std::uint64_t initial_seed();

}  // namespace catena
