#include "ndarray/cpu/copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/host/parallel.h"
#include "ndarray/cpu/convert.h"
#include "ndarray/cpu/walk.h"

namespace nd::cpu {
namespace {

using catena::Operand;
using catena::Shape;
using catena::Strides;

constexpr std::int64_t kGrainBytes = 256 * 1024;

Dtype bits_of(std::size_t itemsize) {
  return itemsize == 1 ? Dtype::uint8 : itemsize == 2 ? Dtype::uint16 : itemsize == 4 ? Dtype::uint32 : Dtype::uint64;
}

template <class T> void fill(std::byte* to, const std::byte* from, std::int64_t n) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  std::fill_n(reinterpret_cast<T*>(to), n, value);
}

void fill_run(std::byte* to, const std::byte* from, std::int64_t n, std::size_t itemsize) {
  switch (itemsize) {
    case 1: return fill<std::uint8_t>(to, from, n);
    case 2: return fill<std::uint16_t>(to, from, n);
    case 4: return fill<std::uint32_t>(to, from, n);
    default: return fill<std::uint64_t>(to, from, n);
  }
}

// The two axes of a transposing copy: `column` is contiguous in `to`, `row` is contiguous in `from`.
struct Transposition {
  int row = -1, column = -1;
  bool found() const { return row >= 0 && column >= 0; }
};

Transposition find_transposition(const Shape& shape, const Strides& to, const Strides& from, std::int64_t item) {
  constexpr std::int64_t kWorthwhile = 4;
  Transposition t;
  for (int a = 0; a < shape.size(); ++a) {
    if (shape[a] < kWorthwhile) continue;
    if (to[a] == item && from[a] != item && from[a] != 0) t.column = a;
    if (from[a] == item && to[a] != item) t.row = a;
  }
  return t;
}

void copy_transposed(std::byte* to, Strides to_strides, const std::byte* from, Strides from_strides, Shape shape, Transposition t,
                     std::size_t itemsize) {
  const std::int64_t rows = shape[t.row], columns = shape[t.column];
  const std::int64_t to_row = to_strides[t.row], from_row = from_strides[t.column];
  const auto item = static_cast<std::int64_t>(itemsize);
  for (int a : {std::max(t.row, t.column), std::min(t.row, t.column)}) {
    shape.erase(a);
    to_strides.erase(a);
    from_strides.erase(a);
  }
  // Strips of a few rows of `to`: each reads one or two lines of every row of `from`.
  const std::int64_t strip = std::max<std::int64_t>(128 / item, 16), strips = (rows + strip - 1) / strip;
  const std::int64_t outer = catena::size_of(shape);
  const std::int64_t grain = std::max<std::int64_t>(1, kGrainBytes / (strip * columns * item));
  catena::parallel_for(outer * strips, grain, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t k = b; k < e; ++k) {
      std::int64_t rest = k / strips, to_offset = 0, from_offset = 0;
      for (int a = shape.size() - 1; a >= 0; --a) {
        to_offset += rest % shape[a] * to_strides[a];
        from_offset += rest % shape[a] * from_strides[a];
        rest /= shape[a];
      }
      const std::int64_t first = k % strips * strip, n = std::min(strip, rows - first);
      transpose_block(to + to_offset + first * to_row, to_row, from + from_offset + first * item, from_row, n, columns, itemsize);
    }
  });
}

}  // namespace

void copy_elements(std::byte* to, const Strides& to_strides, const std::byte* from, const Strides& from_strides, const Shape& shape,
                   std::size_t itemsize) {
  if (catena::size_of(shape) == 0) return;
  const auto item = static_cast<std::int64_t>(itemsize);
  Shape merged = shape;
  Strides both[2] = {to_strides, from_strides};
  catena::merge_axes(merged, both);
  const Transposition t = find_transposition(merged, both[0], both[1], item);
  if (t.found()) return copy_transposed(to, both[0], from, both[1], merged, t, itemsize);

  const Operand operands[2] = {{const_cast<std::byte*>(from), bits_of(itemsize), false, &shape, &from_strides},
                               {to, bits_of(itemsize), false, &shape, &to_strides}};
  const Walk walk(operands, shape, 1);
  const CastFn strided = catena::cast_function(bits_of(itemsize), bits_of(itemsize));
  const std::int64_t grain = walk.grain(kGrainBytes / item);
  catena::parallel_for(walk.units(), grain, [&](std::int64_t b, std::int64_t e) {
    walk.run(b, e, [&](std::byte* const* p, const std::int64_t* s, std::int64_t n) {
      if (s[1] == item && s[0] == item) {
        if (p[0] != p[1]) std::memcpy(p[1], p[0], static_cast<std::size_t>(n * item));
      } else if (s[1] == item && s[0] == 0) {
        fill_run(p[1], p[0], n, itemsize);
      } else {
        strided(p[0], s[0], p[1], s[1], n);
      }
    });
  });
}

}  // namespace nd::cpu
