// Words for moving elements: only the size of an element matters, not its meaning.
#pragma once

#include <cstddef>
#include <cstdint>

#include <catena/kernels/base/dtype.h>

namespace catena {

struct Word16 {
  std::uint64_t half[2];
};

// Calls f(type_tag<Word>{}) with the word of that size: 1, 2, 4, 8 or 16 bytes.
template <class F> constexpr decltype(auto) visit_word(std::size_t bytes, F&& f) {
  switch (bytes) {
    case 1: return f(type_tag<std::uint8_t>{});
    case 2: return f(type_tag<std::uint16_t>{});
    case 4: return f(type_tag<std::uint32_t>{});
    case 8: return f(type_tag<std::uint64_t>{});
    default: return f(type_tag<Word16>{});
  }
}

}  // namespace catena
