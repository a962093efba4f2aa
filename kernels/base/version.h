// The version of the project. This file is its only source; the build reads the three numbers from here.
#pragma once

#include <string_view>

#include <catena/kernels/base/export.h>

#define CATENA_VERSION_MAJOR 0
#define CATENA_VERSION_MINOR 2
#define CATENA_VERSION_PATCH 0

namespace catena {

// "MAJOR.MINOR.PATCH" of the headers a program was compiled with.
inline constexpr std::string_view kVersion = "0.2.0";

// Returns the version of the library with which the program runs.
CATENA_EXPORT std::string_view version();

}  // namespace catena
