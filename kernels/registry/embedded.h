// The text of the kernel headers at build time. Run-time compilers (NVRTC, the system's C++ compiler) receive it as
// named in-memory headers, so the machine that runs a program needs neither sources nor include paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <catena/kernels/base/export.h>

namespace catena {

// 64-bit FNV-1a. It can be continued: fnv1a(b, fnv1a(a)) is the hash of a followed by b.
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
      pieces;          // the text in parts, because compilers limit the length of a string literal
  std::size_t size;    // of the complete text
  std::uint64_t hash;  // the first 64 bits of the SHA-256 of the complete text

  std::string text() const {
    std::string whole;
    whole.reserve(size);
    for (std::string_view piece : pieces) whole += piece;
    return whole;
  }
};

// All headers under kernels/ except those of base/, formats/ and registry/, sorted by path. Table and texts have static
// storage duration.
CATENA_EXPORT std::span<const EmbeddedHeader> embedded_headers();

// Returns the header with that path, or nullptr.
CATENA_EXPORT const EmbeddedHeader* find_embedded_header(std::string_view path);

}  // namespace catena
