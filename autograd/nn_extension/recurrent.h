// Of recurrent networks. Internal to autograd/nn_extension.
#pragma once

#include <cstdint>

#include <catena/autograd/nn_extension.h>

namespace autograd {

inline std::int64_t directions_of(const RnnSpec& spec) { return spec.bidirectional ? 2 : 1; }

}  // namespace autograd
