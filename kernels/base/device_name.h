// Devices by their names.
#pragma once

#include <string_view>

#include <catena/kernels/base/array_header.h>

namespace catena {

// "cpu"; "cuda", which is `current` if that is a GPU, else the first one; "cuda:1". Chainer's names are "@numpy",
// "@intel64" and "@cupy:1". ValueError for other names, with `op` before its message.
CATENA_EXPORT Device device_from_name(std::string_view op, std::string_view name, Device current = {});

}  // namespace catena
