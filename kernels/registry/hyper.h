// The numbers of a kernel that are the same for all elements, such as the learning rate of an optimizer.
#pragma once

#include <array>

namespace catena {

inline constexpr int kMaxHyper = 8;
using Hyper = std::array<double, kMaxHyper>;

}  // namespace catena
