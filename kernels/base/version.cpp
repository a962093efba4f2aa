#include <catena/kernels/base/version.h>

#define CATENA_TEXT(x) #x
#define CATENA_JOIN(a, b, c) CATENA_TEXT(a) "." CATENA_TEXT(b) "." CATENA_TEXT(c)

namespace catena {

static_assert(kVersion == CATENA_JOIN(CATENA_VERSION_MAJOR, CATENA_VERSION_MINOR, CATENA_VERSION_PATCH));

std::string_view version() { return kVersion; }

}  // namespace catena
