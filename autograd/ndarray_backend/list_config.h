// The framework's part of catena::show_config(): cuDNN and the framework's environment variables.
#pragma once

#include <catena/kernels/base/config.h>

namespace autograd::internal {

CATENA_EXPORT void list_config(catena::internal::ConfigList& list);
// Defined in the user's translation unit, because a linker drops an object of an archive to which nothing refers.
inline const bool config_is_listed = catena::internal::add_config(&list_config);

}  // namespace autograd::internal
