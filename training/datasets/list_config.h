// The part of catena::show_config() for data sets: libraries for images and downloads, and environment variables.
#pragma once

#include <catena/kernels/base/config.h>

namespace training::datasets::internal {

CATENA_EXPORT void list_config(catena::internal::ConfigList& list);
// Defined in the user's translation unit, because a linker drops an object of an archive to which nothing refers.
inline const bool config_is_listed = catena::internal::add_config(&list_config);

}  // namespace training::datasets::internal
