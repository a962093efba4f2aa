// The arguments of constructors in texts of links. Internal to this folder.
#pragma once

#include <string>

#include <catena/nn/link.h>

namespace nn::internal {

// Returns "in_size=3, out_size=2" for a layer of the library, and the shapes of the link's own parameters for others.
std::string specs_of(const Link& link);

}  // namespace nn::internal
