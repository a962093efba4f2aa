// Warnings: information for the caller of a function that succeeds.
#pragma once

#include <string_view>

#include <catena/kernels/base/dtype.h>

namespace catena {

// Receives a warning of a category ("DeprecationWarning", "FutureWarning", "ComplexWarning"...). The default handler
// prints each text once per process to standard error.
using WarningHandler = void (*)(std::string_view category, std::string_view message);
// Sets the handler of the process and returns the previous one; null restores the default. A handler may be called on
// any thread, and may throw to turn warnings into errors: a function warns before it changes anything.
CATENA_EXPORT WarningHandler set_warning_handler(WarningHandler handler) noexcept;
CATENA_EXPORT void warn(std::string_view category, std::string_view message);

// Announces by a FutureWarning that an interface may still change, unless such warnings are disabled. Process-wide.
CATENA_EXPORT void experimental(std::string_view api_name);
CATENA_EXPORT void set_disable_experimental_feature_warning(bool disable) noexcept;
CATENA_EXPORT bool disable_experimental_feature_warning() noexcept;

// Warns if values of dtype `from` lose their imaginary part in an array of dtype `to`.
CATENA_EXPORT void warn_of_lost_imaginary_part(std::string_view op, Dtype from, Dtype to);

}  // namespace catena
