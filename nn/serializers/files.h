// The functions of files as names of nn: nn::save_npz(path, model).
#pragma once

#include <catena/nn/serializers/hdf5.h>
#include <catena/nn/serializers/npz.h>
#include <catena/nn/serializers/safetensors.h>

namespace nn {

using serializers::load_hdf5;
using serializers::load_npz;
using serializers::load_safetensors;
using serializers::save_hdf5;
using serializers::save_npz;
using serializers::save_safetensors;

}  // namespace nn
