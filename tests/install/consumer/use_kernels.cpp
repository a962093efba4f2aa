// The bottom library alone: its version, the embedded texts, and an exception that is thrown inside it and caught here.
#include <cstdio>

#include "kernels/host/dtype.h"
#include "kernels/host/embedded.h"
#include "kernels/host/error.h"
#include "kernels/host/version.h"

int main() {
  if (catena::version() != catena::kVersion) return 1;
  const catena::EmbeddedHeader* prelude = catena::find_embedded_header("kernels/prelude.h");
  if (prelude == nullptr || prelude->text().size() != prelude->size || catena::fnv1a(prelude->text()) != prelude->hash) return 2;
  try {
    catena::dtype_from_name("float17");
    return 3;
  } catch (const catena::TypeError& error) {
    std::printf("caught: %s\n", error.what());
  }
  return 0;
}
