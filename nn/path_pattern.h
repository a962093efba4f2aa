// Patterns of the paths of parameters and links, as shells have them.
#pragma once

#include <string_view>

#include <catena/kernels/base/export.h>

namespace nn {

// True if the pattern matches the path of a parameter ("/encoder/l1/W") or of a link above it ("/encoder/l1"): `*`
// stands for any characters, slashes included, `?` for one character, `[abc]` for one of these, `[!abc]` for another
// one, `[a-z]` for one of a range. A pattern that begins neither with a slash nor with a `*` begins at the root:
// "encoder/*" is "/encoder/*".
CATENA_EXPORT bool path_matches(std::string_view pattern, std::string_view path) noexcept;

}  // namespace nn
