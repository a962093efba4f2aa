// The part of catena::show_config() about data sets: libraries for images and downloads, their environment variables.
#pragma once

#include <catena/kernels/base/config.h>

namespace training::datasets::internal {

CATENA_EXPORT void list_config(catena::internal::ConfigList& list);
// In the user's own translation unit: an archive would lose an object that nothing refers to.
inline const bool config_is_listed = catena::internal::add_config(&list_config);

}  // namespace training::datasets::internal
