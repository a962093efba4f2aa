// The text of the kernel headers, as they were at build time. Run-time compilers (NVRTC, the system's C++ compiler) get
// it as named in-memory headers, so no source folder and no include path is needed where the program runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <catena/kernels/base/export.h>

namespace catena {

// FNV-1a, 64 bits. It may be continued: fnv1a(b, fnv1a(a)) is the hash of a followed by b.
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = 14695981039346656037ULL) {
  for (char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return hash;
}

struct EmbeddedHeader {
  const char* path;  // as in an #include: "catena/kernels/elementwise/arithmetic.h"
  std::span<const std::string_view>
      pieces;          // compilers limit the length of a string literal, so a text comes in pieces
  std::size_t size;    // of the whole text
  std::uint64_t hash;  // fnv1a of the whole text

  std::string text() const {
    std::string whole;
    whole.reserve(size);
    for (std::string_view piece : pieces) whole += piece;
    return whole;
  }
};

// Every header under kernels/ except those of base/, formats/ and rows/, ordered by path. The table and the texts live
// as long as the program.
CATENA_EXPORT std::span<const EmbeddedHeader> embedded_headers();

// The header of that path, or null.
CATENA_EXPORT const EmbeddedHeader* find_embedded_header(std::string_view path);

}  // namespace catena
