// nd::show_config(): versions, libraries with their files, devices, caches and environment variables, for reports about
// problems (kernels/base/config.h).
#pragma once

#include <catena/kernels/base/config.h>

namespace nd {

using catena::config_text;
using catena::show_config;

namespace internal {

CATENA_EXPORT void list_config(catena::internal::ConfigList& list);
// Defined in the user's translation unit, because a linker drops objects of an archive that nothing refers to.
inline const bool config_is_listed = catena::internal::add_config(&list_config);

}  // namespace internal
}  // namespace nd
