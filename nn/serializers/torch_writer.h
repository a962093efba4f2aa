// Files in the format of PyTorch's torch.save. Internal to this folder.
#pragma once

#include <string>

#include <catena/nn/serializers/state_dict.h>

namespace nn::serializers::internal {

// Writes a zip archive with a pickle of a dictionary of the parts and their storages, atomically; a part without a name
// is the whole dictionary. The keys of a link are PyTorch's names. TypeError for a null array, and for a dtype that
// PyTorch has no storage of.
void write_torch(const std::string& filename, const NamedStates& parts);

}  // namespace nn::serializers::internal
