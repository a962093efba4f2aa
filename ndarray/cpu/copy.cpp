#include <catena/ndarray/cpu/copy.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/word.h>
#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/convert.h>
#include <catena/ndarray/cpu/stream_store.h>
#include <catena/ndarray/cpu/walk.h>

namespace nd::cpu {
namespace {

using catena::BoundOperand;
using catena::Shape;
using catena::Strides;

constexpr std::int64_t kGrainBytes = 256 * 1024;
constexpr std::int64_t kPage = 4096;

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

// A transposing copy of one matrix, or of one matrix per position along the other axes, `outer`.
class TransposedCopy {
 public:
  TransposedCopy(std::byte* to, const Strides& to_strides, const std::byte* from, const Strides& from_strides,
                 const Shape& shape, Transposition t, std::size_t itemsize)
      : to_(to),
        from_(from),
        outer_(shape),
        to_outer_(to_strides),
        from_outer_(from_strides),
        rows_(shape[t.row]),
        columns_(shape[t.column]),
        to_row_(to_strides[t.row]),
        from_row_(from_strides[t.column]),
        item_(static_cast<std::int64_t>(itemsize)) {
    for (int a : {std::max(t.row, t.column), std::min(t.row, t.column)}) {
      outer_.erase(a);
      to_outer_.erase(a);
      from_outer_.erase(a);
    }
    n_outer_ = catena::size_of(outer_);
  }

  void run() const {
    if (is_streamed()) run_streamed();
    else run_in_cache();
  }

 private:
  struct Matrix {
    std::byte* to;
    const std::byte* from;
  };
  Matrix matrix(std::int64_t index) const {
    Matrix m{to_, from_};
    for (int a = outer_.size() - 1; a >= 0; --a) {
      m.to += index % outer_[a] * to_outer_[a];
      m.from += index % outer_[a] * from_outer_[a];
      index /= outer_[a];
    }
    return m;
  }
  void block(std::byte* to, std::int64_t to_row, const Matrix& m, std::int64_t row, std::int64_t column,
             std::int64_t rows, std::int64_t columns) const {
    transpose_block(to, to_row, m.from + column * from_row_ + row * item_, from_row_, rows, columns,
                    static_cast<std::size_t>(item_));
  }

  // Copies in chunks of a page of rows, which are read along the rows because the hardware can prefetch these, and in
  // strips of four cache lines of columns, or of more if a unit of work would be too small.
  void run_in_cache() const {
    constexpr std::int64_t kWidth = 4 * kLine, kUnitBytes = 32 * 1024;
    const std::int64_t chunk = std::min(kPage / item_, rows_), chunks = (rows_ + chunk - 1) / chunk;
    const std::int64_t lines = std::max(kWidth, kUnitBytes / chunk) / kLine, width = lines * kLine / item_;
    const std::int64_t strips = (columns_ + width - 1) / width;
    const std::int64_t grain = std::max<std::int64_t>(1, kGrainBytes / (chunk * std::min(width, columns_) * item_));
    catena::parallel_for(n_outer_ * chunks * strips, grain, [&](std::int64_t b, std::int64_t e) {
      for (std::int64_t k = b; k < e; ++k) {
        const Matrix m = matrix(k / strips / chunks);
        const std::int64_t row = k / strips % chunks * chunk, column = k % strips * width;
        block(m.to + row * to_row_ + column * item_, to_row_, m, row, column, std::min(chunk, rows_ - row),
              std::min(width, columns_ - column));
      }
    });
  }

  bool is_streamed() const {
    bool aligned = is_line_aligned(to_) && to_row_ % kLine == 0;
    for (std::int64_t s : to_outer_) aligned &= s % kLine == 0;
    return aligned && columns_ * item_ >= kLine && is_worth_streaming(n_outer_ * rows_ * columns_ * item_);
  }

  // For outputs larger than the caches. Copies strips of two cache lines of columns and chunks of a page of rows:
  // `from` is read a few rows at a time, which the hardware can prefetch; `to` gets whole cache lines by non-temporal
  // stores, neighbouring lines together so that they hit the same DRAM row.
  void run_streamed() const {
    constexpr std::int64_t kWidth = 2 * kLine, kRows = 32;
    const std::int64_t line = kLine / item_, width = kWidth / item_, chunk = kPage / item_;
    const std::int64_t strips = (columns_ + width - 1) / width, chunks = (rows_ + chunk - 1) / chunk;
    catena::parallel_for(n_outer_ * chunks * strips, 1, [&](std::int64_t b, std::int64_t e) {
      alignas(kLine) std::byte tile[kRows * kWidth];
      for (std::int64_t k = b; k < e; ++k) {
        const Matrix m = matrix(k / strips / chunks);
        const std::int64_t column = k % strips * width, columns = std::min(width, columns_ - column),
                           whole = columns / line * line;
        const std::int64_t first = k / strips % chunks * chunk, last = std::min(first + chunk, rows_);
        for (std::int64_t row = first; row < last; row += kRows) {
          const std::int64_t n = std::min(kRows, last - row);
          std::byte* to = m.to + row * to_row_ + column * item_;
          block(tile, kWidth, m, row, column, n, whole);
          stream_rows(to, to_row_, tile, kWidth, n, whole * item_);
          if (whole < columns) block(to + whole * item_, to_row_, m, row, column + whole, n, columns - whole);
        }
      }
      stream_fence();
    });
  }

  std::byte* to_;
  const std::byte* from_;
  Shape outer_;
  Strides to_outer_, from_outer_;
  std::int64_t rows_, columns_, to_row_, from_row_, item_, n_outer_;
};

// With a row length known at compile time, the copy of a row is a few move instructions.
template <std::size_t kBytes>
void copy_known(std::byte* to, std::int64_t to_row, const std::byte* from, std::int64_t from_row, std::int64_t rows) {
  for (std::int64_t r = 0; r < rows; ++r) std::memcpy(to + r * to_row, from + r * from_row, kBytes);
}

// Stores whole vectors. The next row overwrites the excess of a vector; near the end of `to`, stores are exact.
template <class T>
CATENA_MULTIARCH void repeat(std::byte* to, const std::byte* from, std::int64_t step, std::int64_t count,
                             std::int64_t times) {
  constexpr std::int64_t kVector = 64 / std::int64_t(sizeof(T));
  const std::int64_t whole = (times + kVector - 1) / kVector * kVector, all = count * times;
  T* y = reinterpret_cast<T*>(to);
  std::int64_t r = 0;
  for (; r * times + whole <= all; ++r, y += times, from += step) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    for (std::int64_t i = 0; i < whole; i += kVector)
#pragma GCC unroll 1
      for (std::int64_t j = 0; j < kVector; ++j) y[i + j] = value;
  }
  const CastFn last = catena::copy_function(sizeof(T));
  for (; r < count; ++r, y += times, from += step)
    last(from, 0, reinterpret_cast<std::byte*>(y), std::int64_t(sizeof(T)), times);
}

}  // namespace

void repeat_each(std::byte* to, const std::byte* from, std::int64_t step, std::int64_t count, std::int64_t times,
                 std::size_t itemsize) {
  catena::visit_word(itemsize, [&](auto word) { repeat<typename decltype(word)::type>(to, from, step, count, times); });
}

void copy_rows(std::byte* to, std::int64_t to_row, const std::byte* from, std::int64_t from_row, std::int64_t rows,
               std::int64_t bytes) {
  if (to_row == bytes && from_row == bytes) {
    copy_bytes(to, from, rows * bytes);
    return;
  }
  switch (bytes) {
    case 4: return copy_known<4>(to, to_row, from, from_row, rows);
    case 8: return copy_known<8>(to, to_row, from, from_row, rows);
    case 16: return copy_known<16>(to, to_row, from, from_row, rows);
    case 32: return copy_known<32>(to, to_row, from, from_row, rows);
    case 64: return copy_known<64>(to, to_row, from, from_row, rows);
    case 128: return copy_known<128>(to, to_row, from, from_row, rows);
    default:
      for (std::int64_t r = 0; r < rows; ++r) copy_bytes(to + r * to_row, from + r * from_row, bytes);
  }
}

void copy_elements(std::byte* to, const Strides& to_strides, const std::byte* from, const Strides& from_strides,
                   const Shape& shape, std::size_t itemsize) {
  if (catena::size_of(shape) == 0) return;
  const auto item = static_cast<std::int64_t>(itemsize);
  Shape merged = shape;
  Strides both[2] = {to_strides, from_strides};
  catena::merge_axes(merged, both);
  const Transposition t = find_transposition(merged, both[0], both[1], item);
  if (t.found()) return TransposedCopy(to, both[0], from, both[1], merged, t, itemsize).run();

  const BoundOperand operands[2] = {{const_cast<std::byte*>(from), {}, false, &shape, &from_strides},
                                    {to, {}, false, &shape, &to_strides}};
  const Walk walk(operands, shape, 1);
  const CastFn strided = catena::copy_function(itemsize);
  const std::int64_t grain = walk.grain(kGrainBytes / item);
  const bool streamed = is_worth_streaming(catena::size_of(shape) * item);
  catena::parallel_for(walk.units(), grain, [&](std::int64_t b, std::int64_t e) {
    walk.run(b, e, [&](std::byte* const* p, const std::int64_t* s, std::int64_t n) {
      if (s[1] == item && s[0] == item) {
        if (streamed) stream_copy(p[1], p[0], n * item);
        else if (p[0] != p[1]) copy_bytes(p[1], p[0], n * item);
      } else {
        strided(p[0], s[0], p[1], s[1], n);
      }
    });
    if (streamed) stream_fence();
  });
}

}  // namespace nd::cpu
