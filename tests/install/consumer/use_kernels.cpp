// The bottom library alone: its version, the embedded texts, and an exception that is thrown inside it and caught here.
#include <cstdio>

#include <catena/kernels/base/dtype.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/version.h>
#include <catena/kernels/registry/embedded.h>

int main() {
  if (catena::version() != catena::kVersion) return 1;
  const catena::EmbeddedHeader* prelude = catena::find_embedded_header("catena/kernels/prelude.h");
  if (prelude == nullptr || prelude->text().size() != prelude->size || prelude->hash == 0) return 2;
  try {
    catena::dtype_from_name("float17");
    return 3;
  } catch (const catena::TypeError& error) {
    std::printf("caught: %s\n", error.what());
  }
  return 0;
}
