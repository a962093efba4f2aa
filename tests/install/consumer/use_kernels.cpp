// The bottom library alone: its version, the embedded texts, and an exception that is thrown inside it and caught here.
#include <cstdint>
#include <cstdio>
#include <set>

#include <catena/kernels/base/dtype.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/version.h>
#include <catena/kernels/registry/embedded.h>

int main() {
  if (catena::version() != catena::kVersion) return 1;
  if (catena::find_embedded_header("catena/kernels/prelude.h") == nullptr) return 2;
  std::set<std::uint64_t> hashes;
  for (const catena::EmbeddedHeader& header : catena::embedded_headers())
    if (header.text().size() != header.size || !hashes.insert(header.hash).second) return 2;
  try {
    catena::dtype_from_name("float17");
    return 3;
  } catch (const catena::TypeError& error) {
    std::printf("caught: %s\n", error.what());
  }
  return 0;
}
