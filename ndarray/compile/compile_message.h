// The message of a CompileError, which holds the compiler's output and the source: of each as much as a person reads.
#pragma once

#include <cstdint>
#include <string>

#include <catena/kernels/base/export.h>

namespace nd::compile {

inline constexpr std::size_t kMostShown = 65536;

// The beginning of a text of `size` bytes, of which `text` may be the beginning already. A text that is cut says so.
CATENA_EXPORT std::string beginning_of(std::string text, std::uintmax_t size);
CATENA_EXPORT std::string beginning_of(std::string text);

}  // namespace nd::compile
