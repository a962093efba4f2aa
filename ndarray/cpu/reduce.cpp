// Reductions. The elements of one output are numbered in C order of the reduced axes and cut into chunks of kChunk; inside a chunk
// element i goes to lane i % kLanes, and chunks are combined in their order. Neither the layout of the array, nor the number of
// threads, nor which of the two forms below is chosen changes that order, so it does not change a bit of the result.
//
//   inner form   one output at a time; a chunk is contiguous, or is gathered into a tile
//   outer form   a row of neighbouring outputs at a time, one accumulator each
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/host/bind.h"
#include "kernels/host/parallel.h"
#include "ndarray/cpu/convert.h"
#include "ndarray/cpu/cpu_backend.h"
#include "ndarray/cpu/workspace.h"

namespace nd::cpu {
namespace {

using catena::compute_dtype;
using catena::Dims;
using catena::itemsize;
using catena::kLanes;
using catena::Operand;
using catena::ReductionLoop;
using catena::Shape;
using catena::Strides;

constexpr std::int64_t kChunk = 4096;
constexpr std::int64_t kGrain = 32 * 1024;

// Walks positions of a few axes in C order, with one byte offset.
class Odometer {
 public:
  Odometer(const Shape& shape, const Strides& strides, std::int64_t start) : shape_(shape), strides_(strides) {
    for (int a = shape.size() - 1; a >= 0; --a) {
      position_[a] = start % shape[a];
      offset_ += position_[a] * strides[a];
      start /= shape[a];
    }
  }
  std::int64_t offset() const { return offset_; }
  // Elements from here to the end of the innermost axis.
  std::int64_t run() const { return shape_.empty() ? 1 : shape_.back() - position_[shape_.size() - 1]; }
  void advance(std::int64_t n) {  // n <= run()
    int a = shape_.size() - 1;
    if (a < 0) return;
    position_[a] += n;
    offset_ += n * strides_[a];
    while (a > 0 && position_[a] == shape_[a]) {
      offset_ += strides_[a - 1] - shape_[a] * strides_[a];
      position_[a] = 0;
      ++position_[--a];
    }
  }

 private:
  const Shape& shape_;
  const Strides& strides_;
  std::int64_t position_[catena::kMaxRank];
  std::int64_t offset_ = 0;
};

class Reducer {
 public:
  explicit Reducer(const catena::ReduceCall& call)
      : table_(*call.kernel->loop_table[call.loop].reduction),
        in_type_(call.kernel->loop_table[call.loop].type[0]),
        out_type_(call.kernel->loop_table[call.loop].type[1]),
        in_(call.in),
        out_(call.out),
        direct_in_(is_direct(call.in.dtype, in_type_)),
        direct_out_(is_direct(call.out.dtype, out_type_)),
        in_item_(static_cast<std::int64_t>(itemsize(compute_dtype(in_type_)))),
        out_item_(static_cast<std::int64_t>(itemsize(compute_dtype(out_type_)))),
        acc_(table_.acc_bytes) {
    if (!direct_in_) load_ = Load(in_.dtype, in_type_);
    if (!direct_out_) store_ = Store(out_type_, out_.dtype);
    split_axes(call.axes);
    count_ = catena::size_of(reduced_);
    outputs_ = catena::size_of(kept_);
    chunks_ = std::max<std::int64_t>(1, (count_ + kChunk - 1) / kChunk);
  }

  void run() const {
    if (outputs_ == 0) return;
    if (use_outer_form()) run_outer();
    else run_inner();
  }

 private:
  void split_axes(const Dims& axes) {
    const Shape& shape = *in_.shape;
    Strides kept_strides[2];
    for (int a = 0; a < shape.size(); ++a) {
      if (std::find(axes.begin(), axes.end(), a) != axes.end()) {
        reduced_.push_back(shape[a]);
        reduced_strides_.push_back((*in_.strides)[a]);
      } else {
        kept_.push_back(shape[a]);
        kept_strides[0].push_back((*in_.strides)[a]);
        kept_strides[1].push_back((*out_.strides)[a]);
      }
    }
    // Outputs are independent: their axes may be taken in any order, the smallest stride of the input innermost.
    for (int b = 1; b < kept_.size(); ++b)
      for (int a = b; a > 0 && std::llabs(kept_strides[0][a - 1]) < std::llabs(kept_strides[0][a]) && kept_[a - 1] > 1; --a) {
        std::swap(kept_[a - 1], kept_[a]);
        for (Strides& s : kept_strides) std::swap(s[a - 1], s[a]);
      }
    catena::merge_axes(kept_, kept_strides);
    kept_in_ = kept_strides[0];
    kept_out_ = kept_strides[1];
    catena::merge_axes(reduced_, {&reduced_strides_, 1});
  }

  bool use_outer_form() const {
    if (kept_.empty() || count_ == 0) return false;
    const std::int64_t row = kept_.back(), inner = reduced_.empty() ? 1 : reduced_.back();
    const std::int64_t in_step = std::llabs(kept_in_.back()), reduced_step = reduced_.empty() ? 0 : std::llabs(reduced_strides_.back());
    // Few elements per output: the lanes of the inner form would hardly be used.
    if (count_ < kLanes && row >= 16) return true;
    return row >= 8 && in_step < reduced_step && (in_step <= in_item_ || inner < kLanes);
  }

  // ---- inner form ----
  // The accumulator of one chunk of the output at `in`.
  void reduce_chunk(const std::byte* in, std::int64_t chunk, std::byte* acc, std::byte* tile) const {
    const std::int64_t begin = chunk * kChunk, n = std::min(kChunk, count_ - begin);
    table_.init(acc, 1);
    if (n <= 0) return;
    if (direct_in_ && reduced_.size() <= 1) {
      const std::int64_t stride = reduced_.empty() ? in_item_ : reduced_strides_[0];
      return table_.reduce(acc, in + begin * stride, stride, begin, n);
    }
    Odometer at(reduced_, reduced_strides_, begin);
    const std::int64_t stride = reduced_.empty() ? 0 : reduced_strides_.back();
    const CastFn gather = direct_in_ ? catena::cast_function(in_.dtype, in_.dtype) : nullptr;
    for (std::int64_t i = 0; i < n;) {
      const std::int64_t m = std::min(at.run(), n - i);
      if (gather) gather(in + at.offset(), stride, tile + i * in_item_, in_item_, m);
      else load_(in + at.offset(), stride, tile + i * in_item_, m);
      at.advance(m);
      i += m;
    }
    table_.reduce(acc, tile, in_item_, begin, n);
  }

  void finish(const std::byte* acc, std::byte* out, std::int64_t stride, std::int64_t n) const {
    if (direct_out_) return table_.finish(acc, count_, out, stride, n);
    alignas(64) std::byte tile[kTile * 8];
    for (std::int64_t j = 0; j < n; j += kTile) {
      const std::int64_t m = std::min(kTile, n - j);
      table_.finish(acc + j * acc_, count_, tile, out_item_, m);
      store_(tile, out + j * stride, stride, m);
    }
  }

  void run_inner() const {
    const bool by_chunk = chunks_ > 1 && outputs_ < 4 * catena::max_threads();
    const std::int64_t tile_bytes = static_cast<std::int64_t>(round_up_64(std::size_t(std::min(kChunk, count_) * in_item_)));
    if (by_chunk) return run_inner_by_chunk(tile_bytes);
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(count_, kLanes));
    catena::parallel_for(outputs_, grain, [&](std::int64_t b, std::int64_t e) {
      // Two accumulators; almost always small.
      alignas(64) std::byte small[512];
      const bool is_small = 2 * round_up_64(std::size_t(acc_)) <= sizeof(small);
      const bool tiled = !direct_in_ || reduced_.size() > 1;
      const Workspace heap((is_small ? 0 : 2 * round_up_64(std::size_t(acc_))) + (tiled ? std::size_t(tile_bytes) : 0));
      std::byte* total = is_small ? small : heap.data() + (tiled ? tile_bytes : 0);
      std::byte* part = total + round_up_64(std::size_t(acc_));
      Odometer in(kept_, kept_in_, b), out(kept_, kept_out_, b);
      for (std::int64_t k = b; k < e; ++k) {
        const std::byte* p = in_.data + in.offset();
        reduce_chunk(p, 0, total, heap.data());
        if (chunks_ > 1) combine_rest(p, total, part, heap.data());
        finish(total, out_.data + out.offset(), out_item_, 1);
        in.advance(1);
        out.advance(1);
      }
    });
  }

  // total <- identity + chunk 0 + chunk 1 + ...: what the parallel forms do, too.
  void combine_rest(const std::byte* p, std::byte* total, std::byte* part, std::byte* tile) const {
    std::memcpy(part, total, std::size_t(acc_));
    table_.init(total, 1);
    table_.combine(total, part, 1);
    for (std::int64_t c = 1; c < chunks_; ++c) {
      reduce_chunk(p, c, part, tile);
      table_.combine(total, part, 1);
    }
  }

  void run_inner_by_chunk(std::int64_t tile_bytes) const {
    const std::int64_t cells = outputs_ * chunks_;
    const Workspace parts{std::size_t(cells * acc_)};
    const bool tiled = !direct_in_ || reduced_.size() > 1;
    catena::parallel_for(cells, kGrain / kChunk, [&](std::int64_t b, std::int64_t e) {
      const Workspace tile(tiled ? std::size_t(tile_bytes) : 0);
      // All outputs of one chunk together: they may share its cache lines.
      for (std::int64_t k = b; k < e; ++k) {
        const std::int64_t output = k % outputs_, chunk = k / outputs_;
        const Odometer in(kept_, kept_in_, output);
        reduce_chunk(in_.data + in.offset(), chunk, parts.data() + (output * chunks_ + chunk) * acc_, tile.data());
      }
    });
    const Workspace total{std::size_t(acc_)};
    for (std::int64_t k = 0; k < outputs_; ++k) {
      table_.init(total.data(), 1);
      for (std::int64_t c = 0; c < chunks_; ++c) table_.combine(total.data(), parts.data() + (k * chunks_ + c) * acc_, 1);
      const Odometer out(kept_, kept_out_, k);
      finish(total.data(), out_.data + out.offset(), out_item_, 1);
    }
  }

  // ---- outer form ----
  // Rows of accumulators that one thread needs at once: the depth of the tree over the lanes, and the result.
  static constexpr int kRows = 7;

  // One row of outputs, `width` of them from `in` on.
  struct Strip {
    const std::byte* in;
    std::int64_t stride;  // of the input from output to output
    std::int64_t width;
    std::byte* rows;  // kRows * width accumulators
    std::byte* tile;
  };

  std::byte* row(const Strip& s, int i) const { return s.rows + std::int64_t(round_up_64(std::size_t(s.width * acc_))) * i; }

  // Lane `lane` of the tree at `level` (kLanes = the lane itself), as combine_lanes makes it, into accumulator row `to`. Lanes
  // that no element of the chunk goes to would add the identity.
  void reduce_lanes(const Strip& s, std::int64_t begin, std::int64_t n, int lane, int level, int to) const {
    std::byte* acc = row(s, to);
    if (level < kLanes) {
      reduce_lanes(s, begin, n, lane, 2 * level, to);
      if (lane + level >= n) return;
      reduce_lanes(s, begin, n, lane + level, 2 * level, to + 1);
      table_.combine(acc, row(s, to + 1), s.width);
      return;
    }
    table_.init(acc, s.width);
    if (reduced_.size() == 1) {
      const std::int64_t step = reduced_strides_[0];
      for (std::int64_t i = lane; i < n; i += kLanes) accumulate(s, acc, (begin + i) * step, begin + i);
      return;
    }
    Odometer at(reduced_, reduced_strides_, begin + lane);
    for (std::int64_t i = lane;;) {
      accumulate(s, acc, at.offset(), begin + i);
      i += kLanes;
      if (i >= n) break;
      for (std::int64_t skip = kLanes; skip > 0;) {
        const std::int64_t m = std::min(skip, at.run());
        at.advance(m);
        skip -= m;
      }
    }
  }

  void accumulate(const Strip& s, std::byte* acc, std::int64_t offset, std::int64_t index) const {
    if (direct_in_) return table_.accumulate(acc, s.in + offset, s.stride, index, s.width);
    for (std::int64_t j = 0; j < s.width; j += kTile) {
      const std::int64_t m = std::min(kTile, s.width - j);
      load_(s.in + offset + j * s.stride, s.stride, s.tile, m);
      table_.accumulate(acc + j * acc_, s.tile, in_item_, index, m);
    }
  }

  // Row 1 <- the accumulators of one chunk. Uses the rows behind it.
  void reduce_chunk_outer(const Strip& s, std::int64_t chunk) const {
    const std::int64_t begin = chunk * kChunk, n = std::min(kChunk, count_ - begin);
    reduce_lanes(s, begin, n, 0, 1, 1);
  }

  void run_outer() const {
    const std::int64_t row_length = kept_.back();
    const std::int64_t most = std::max<std::int64_t>(16, 16 * 1024 / acc_);
    const std::int64_t width = std::min(row_length, most);
    const std::int64_t strips_per_row = (row_length + width - 1) / width;
    const std::int64_t strips = outputs_ / row_length * strips_per_row;
    const bool by_chunk = chunks_ > 1 && strips < 2 * catena::max_threads();
    const std::size_t row_bytes = round_up_64(std::size_t(width * acc_));
    Shape outer = kept_;
    Strides outer_in = kept_in_, outer_out = kept_out_;
    outer.pop_back();
    outer_in.pop_back();
    outer_out.pop_back();

    const auto strip_at = [&](std::int64_t k, std::byte* rows, std::byte* tile) {
      const std::int64_t first = k % strips_per_row * width;
      const Odometer in(outer, outer_in, k / strips_per_row);
      return Strip{in_.data + in.offset() + first * kept_in_.back(), kept_in_.back(), std::min(width, row_length - first), rows, tile};
    };
    const auto write = [&](std::int64_t k, const Strip& s, const std::byte* acc) {
      const std::int64_t first = k % strips_per_row * width;
      const Odometer out(outer, outer_out, k / strips_per_row);
      finish(acc, out_.data + out.offset() + first * kept_out_.back(), kept_out_.back(), s.width);
    };
    const std::size_t tile_bytes = direct_in_ ? 0 : std::size_t(kTile * in_item_);
    if (!by_chunk) {
      const std::int64_t grain = std::max<std::int64_t>(1, kGrain / (width * count_));
      catena::parallel_for(strips, grain, [&](std::int64_t b, std::int64_t e) {
        const Workspace memory((kRows + 1) * row_bytes + tile_bytes);
        for (std::int64_t k = b; k < e; ++k) {
          const Strip s = strip_at(k, memory.data(), memory.data() + (kRows + 1) * row_bytes);
          reduce_chunk_outer(s, 0);
          if (chunks_ == 1) {
            write(k, s, row(s, 1));
            continue;
          }
          table_.init(row(s, 0), s.width);
          table_.combine(row(s, 0), row(s, 1), s.width);
          for (std::int64_t c = 1; c < chunks_; ++c) {
            reduce_chunk_outer(s, c);
            table_.combine(row(s, 0), row(s, 1), s.width);
          }
          write(k, s, row(s, 0));
        }
      });
      return;
    }
    const Workspace parts(std::size_t(strips * chunks_) * row_bytes);
    const auto part = [&](std::int64_t k, std::int64_t c) { return parts.data() + std::size_t(k * chunks_ + c) * row_bytes; };
    catena::parallel_for(strips * chunks_, std::max<std::int64_t>(1, kGrain / (width * kChunk)), [&](std::int64_t b, std::int64_t e) {
      const Workspace memory((kRows + 1) * row_bytes + tile_bytes);
      for (std::int64_t i = b; i < e; ++i) {
        const Strip s = strip_at(i / chunks_, memory.data(), memory.data() + (kRows + 1) * row_bytes);
        reduce_chunk_outer(s, i % chunks_);
        std::memcpy(part(i / chunks_, i % chunks_), row(s, 1), std::size_t(s.width * acc_));
      }
    });
    const Workspace total(row_bytes);
    for (std::int64_t k = 0; k < strips; ++k) {
      const Strip s = strip_at(k, nullptr, nullptr);
      table_.init(total.data(), s.width);
      for (std::int64_t c = 0; c < chunks_; ++c) table_.combine(total.data(), part(k, c), s.width);
      write(k, s, total.data());
    }
  }

  const ReductionLoop& table_;
  const Dtype in_type_, out_type_;
  const Operand in_, out_;
  const bool direct_in_, direct_out_;
  const std::int64_t in_item_, out_item_, acc_;
  Load load_;
  Store store_;
  Shape reduced_, kept_;
  Strides reduced_strides_, kept_in_, kept_out_;
  std::int64_t count_ = 0, outputs_ = 0, chunks_ = 1;
};

}  // namespace

void CpuBackend::reduce(const catena::ReduceCall& call, StreamRef) { Reducer(call).run(); }

}  // namespace nd::cpu
