// Single random numbers on the host. Internal to training and training/transforms.
#pragma once

#include <cstdint>

#include <catena/autograd/array.h>

namespace training::internal {

// Returns a uniform number from low to high.
double uniform(autograd::Generator& g, double low, double high);
// Returns a uniform integer from low to high, both included. The bias is below 2^-32 for any range of indices.
std::int64_t integer(autograd::Generator& g, std::int64_t low, std::int64_t high);

}  // namespace training::internal
