// Reductions. The elements of one output are numbered in C order of the reduced axes and cut into chunks of kChunk;
// inside a chunk element i goes to lane i % kLanes, and chunks are combined in their order. Neither the layout of the
// array, nor the number of threads, nor which of the two forms below is chosen changes that order, so it does not
// change a bit of the result.
//
//   inner form   one output at a time; a chunk is contiguous, or is gathered into a tile
//   outer form   a row of neighbouring outputs at a time, one accumulator each
//
// Where a program gives the elements, it runs over a chunk of one output, or over a row of them, right before they are
// combined.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/small_vector.h>
#include <catena/kernels/rows/bind.h>
#include <catena/ndarray/cpu/convert.h>
#include <catena/ndarray/cpu/cpu_backend.h>
#include <catena/ndarray/cpu/interpreter.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {
namespace {

using catena::BoundOperand;
using catena::compute_dtype;
using catena::Dims;
using catena::itemsize;
using catena::kLanes;
using catena::ReductionLoop;
using catena::Shape;
using catena::Strides;

constexpr std::int64_t kChunk = 4096;
constexpr std::int64_t kGrain = 32 * 1024;

constexpr std::int64_t kShortRun = 64;     // elements of a program's inputs that are better collected with others
constexpr std::int64_t kShortRow = 128;    // outputs for which it is not worth running a program
constexpr std::int64_t kNarrowStrip = 64;  // outputs of the narrowest strip that a row is cut into

// Walks positions of a few axes in C order, with a byte offset for each of several operands.
class Odometer {
 public:
  Odometer(const Shape& shape, std::span<const Strides> strides, std::int64_t start)
      : shape_(shape), strides_(strides) {
    std::fill_n(offset_, strides.size(), 0);
    for (int a = shape.size() - 1; a >= 0; --a) {
      position_[a] = start % shape[a];
      move(position_[a], a);
      start /= shape[a];
    }
  }
  std::int64_t offset(std::size_t k = 0) const { return offset_[k]; }
  // Elements from here to the end of the innermost axis.
  std::int64_t run() const { return shape_.empty() ? 1 : shape_.back() - position_[shape_.size() - 1]; }
  void advance(std::int64_t n) {  // n <= run()
    int a = shape_.size() - 1;
    if (a < 0) return;
    position_[a] += n;
    move(n, a);
    while (a > 0 && position_[a] == shape_[a]) {
      move(-shape_[a], a);
      move(1, a - 1);
      position_[a] = 0;
      ++position_[--a];
    }
  }

 private:
  void move(std::int64_t n, int axis) {
    for (std::size_t k = 0; k < strides_.size(); ++k) offset_[k] += n * strides_[k][axis];
  }

  const Shape& shape_;
  const std::span<const Strides> strides_;
  std::int64_t position_[catena::kMaxRank];
  std::int64_t offset_[catena::kMaxOperands];
};

// Where the inputs of an output begin.
using Place = std::array<std::byte*, catena::kMaxOperands>;

// The arrays that elements come from: the one that is reduced, or the inputs of the program that gives them. Strides
// are those over the merged axes; behind those of the inputs stand those of the array that is reduced, which tell the
// inner axes, and those of the output.
struct Inputs {
  std::span<const BoundOperand> all;
  std::size_t n, guide, out;
  catena::SmallVector<Strides, 3> kept, reduced;  // a reduction of a few elements would notice more of them

  explicit Inputs(const catena::bound::Reduce& call)
      : all(call.pre != nullptr ? call.pre_inputs : std::span(&call.in, 1)),
        n(all.size()),
        guide(n),
        out(n + 1),
        kept(n + 2),
        reduced(n + 2) {}
  std::span<const Strides> kept_strides() const { return {kept.data(), n}; }
  std::span<const Strides> reduced_strides() const { return {reduced.data(), n}; }
  Place place(const Odometer& at) const {
    Place p;
    for (std::size_t k = 0; k < n; ++k) p[k] = all[k].data + at.offset(k);
    return p;
  }
};

class Reducer {
 public:
  explicit Reducer(const catena::bound::Reduce& call)
      : table_(*call.kernel->loop_table[call.loop].reduction),
        in_type_(call.kernel->loop_table[call.loop].type[0]),
        out_type_(call.kernel->loop_table[call.loop].type[1]),
        in_dtype_(call.in.dtype),
        out_(call.out),
        inputs_(call),
        direct_in_(is_direct(in_dtype_, in_type_)),
        direct_out_(is_direct(call.out.dtype, out_type_)),
        in_item_(static_cast<std::int64_t>(itemsize(compute_dtype(in_type_)))),
        out_item_(static_cast<std::int64_t>(itemsize(compute_dtype(out_type_)))),
        acc_(table_.acc_bytes) {
    if (!direct_in_) load_ = Load(in_dtype_, in_type_);
    if (!direct_out_) store_ = Store(out_type_, out_.dtype);
    split_axes(call);
    count_ = catena::size_of(reduced_);
    outputs_ = catena::size_of(kept_);
    chunks_ = std::max<std::int64_t>(1, (count_ + kChunk - 1) / kChunk);
    if (call.pre != nullptr) prepare(*call.pre);
  }

  void run() const {
    if (outputs_ == 0) return;
    if (use_outer_form()) run_outer();
    else run_inner();
  }

 private:
  void split_axes(const catena::bound::Reduce& call) {
    const Shape& shape = *call.in.shape;
    auto &kept = inputs_.kept, &reduced = inputs_.reduced;
    const std::size_t guide = inputs_.guide, out = inputs_.out;
    for (int a = 0; a < shape.size(); ++a) {
      const bool is_reduced = std::find(call.axes.begin(), call.axes.end(), a) != call.axes.end();
      (is_reduced ? reduced_ : kept_).push_back(shape[a]);
      auto& strides = is_reduced ? reduced : kept;
      for (std::size_t k = 0; k < inputs_.n; ++k) strides[k].push_back((*inputs_.all[k].strides)[a]);
      strides[guide].push_back((*call.in.strides)[a]);
      if (!is_reduced) strides[out].push_back((*out_.strides)[a]);
    }
    // Outputs are independent: their axes may be taken in any order, the smallest stride of the input innermost.
    for (int b = 1; b < kept_.size(); ++b)
      for (int a = b; a > 0 && std::llabs(kept[guide][a - 1]) < std::llabs(kept[guide][a]) && kept_[a - 1] > 1; --a) {
        std::swap(kept_[a - 1], kept_[a]);
        for (std::size_t k = 0; k <= out; ++k) std::swap(kept[k][a - 1], kept[k][a]);
      }
    catena::merge_axes(kept_, {kept.data(), out + 1});
    catena::merge_axes(reduced_, {reduced.data(), guide + 1});
    kept_step_ = kept_.empty() ? 0 : std::llabs(kept[guide].back());
    reduced_step_ = reduced_.empty() ? 0 : std::llabs(reduced[guide].back());
  }

  bool use_outer_form() const {
    if (kept_.empty() || count_ == 0) return false;
    const std::int64_t row = kept_.back(), inner = reduced_.empty() ? 1 : reduced_.back();
    // Few elements per output: the lanes of the inner form would hardly be used.
    if (count_ < kLanes && row >= 16) return true;
    return row >= (pre_ ? kShortRow : 8) && kept_step_ < reduced_step_ && (kept_step_ <= in_item_ || inner < kLanes);
  }

  // ---- elements that a program gives ----
  void prepare(const catena::Program& program) {
    std::array<BoundOperand, catena::kMaxOperands> operands;
    std::copy(inputs_.all.begin(), inputs_.all.end(), operands.begin());
    operands[inputs_.n] = {nullptr, in_dtype_, false, nullptr, nullptr};
    pre_.emplace(program, std::span<const BoundOperand>(operands.data(), inputs_.n + 1), kTile);
    collects_ = reduced_.size() > 1 && reduced_.back() < kShortRun;
    for (std::size_t k = 0; k < inputs_.n; ++k) {
      const Strides& strides = inputs_.reduced[k];
      const bool moves = std::any_of(strides.begin(), strides.end(), [](std::int64_t s) { return s != 0; });
      collect_[k] = collects_ && moves ? catena::cast_function(inputs_.all[k].dtype, inputs_.all[k].dtype) : nullptr;
    }
  }
  // Scratch memory of a thread that has `n` elements at once: as the loop reads them, as the program stores them, as it
  // gets its inputs.
  struct Tiles {
    std::size_t elements = 0, stored = 0, collected = 0, program = 0, end = 0;
  };
  Tiles tiles(std::int64_t n) const {
    const auto size = static_cast<std::size_t>(n);
    Tiles t;
    t.end = round_up_64(size * std::size_t(in_item_));
    if (!pre_) return t;
    if (!direct_in_) {
      t.stored = t.end;
      t.end += round_up_64(size * itemsize(in_dtype_));
    }
    t.collected = t.end;
    if (collects_) t.end += inputs_.n * kCollected;
    t.program = t.end;
    t.end += pre_->tile_bytes();
    return t;
  }
  // Elements first..first + n of the tile, from inputs at ptr[k] + i * stride[k].
  void evaluate(const Tiles& t, std::byte* tile, std::byte* const* ptr, const std::int64_t* stride, std::int64_t first,
                std::int64_t n) const {
    const auto item = static_cast<std::int64_t>(itemsize(in_dtype_));
    std::byte* p[catena::kMaxOperands];
    std::int64_t s[catena::kMaxOperands];
    std::copy_n(ptr, inputs_.n, p);
    std::copy_n(stride, inputs_.n, s);
    p[inputs_.n] = tile + t.stored + first * item;
    s[inputs_.n] = item;
    pre_->run(tile + t.program, p, s, n);
    if (!direct_in_) load_(p[inputs_.n], item, tile + t.elements + first * in_item_, n);
  }
  // Elements begin..begin + n of the output at `in`.
  void evaluate_chunk(const Place& in, std::int64_t begin, std::int64_t n, const Tiles& t, std::byte* tile) const {
    Odometer at(reduced_, inputs_.reduced_strides(), begin);
    std::byte* p[catena::kMaxOperands];
    std::int64_t s[catena::kMaxOperands];
    for (std::int64_t i = 0; i < n;) {
      const std::int64_t piece = std::min(collects_ ? kTile : at.run(), n - i);
      for (std::size_t k = 0; k < inputs_.n; ++k) {
        p[k] = in[k] + at.offset(k);
        s[k] = reduced_.empty() ? 0 : inputs_.reduced[k].back();
      }
      if (collects_) collect(in, at, piece, tile + t.collected, p, s);
      else at.advance(piece);
      evaluate(t, tile, p, s, i, piece);
      i += piece;
    }
  }
  // Copies short runs of the inputs that move, n <= kTile elements of each, and says where they are.
  void collect(const Place& in, Odometer& at, std::int64_t n, std::byte* tile, std::byte** p, std::int64_t* s) const {
    for (std::int64_t i = 0; i < n;) {
      const std::int64_t m = std::min(at.run(), n - i);
      for (std::size_t k = 0; k < inputs_.n; ++k) {
        if (collect_[k] == nullptr) continue;
        const auto item = static_cast<std::int64_t>(itemsize(inputs_.all[k].dtype));
        collect_[k](in[k] + at.offset(k), inputs_.reduced[k].back(), tile + k * kCollected + i * item, item, m);
      }
      at.advance(m);
      i += m;
    }
    for (std::size_t k = 0; k < inputs_.n; ++k) {
      if (collect_[k] == nullptr) continue;
      p[k] = tile + k * kCollected;
      s[k] = static_cast<std::int64_t>(itemsize(inputs_.all[k].dtype));
    }
  }

  // ---- inner form ----
  // The accumulator of one chunk of the output at `in`.
  void reduce_chunk(const Place& in, std::int64_t chunk, std::byte* acc, const Tiles& t, std::byte* tile) const {
    const std::int64_t begin = chunk * kChunk, n = std::min(kChunk, count_ - begin);
    table_.init(acc, 1);
    if (n <= 0) return;
    if (!tiled()) {
      const std::int64_t stride = reduced_.empty() ? in_item_ : inputs_.reduced[0][0];
      return table_.reduce(acc, in[0] + begin * stride, stride, begin, n);
    }
    if (pre_) evaluate_chunk(in, begin, n, t, tile);
    else gather_chunk(in[0], begin, n, tile);
    table_.reduce(acc, tile, in_item_, begin, n);
  }
  bool tiled() const { return pre_ || !direct_in_ || reduced_.size() > 1; }

  void gather_chunk(const std::byte* in, std::int64_t begin, std::int64_t n, std::byte* tile) const {
    const std::int64_t stride = reduced_.empty() ? 0 : inputs_.reduced[0].back();
    if (reduced_.size() <= 1) return load_(in + begin * stride, stride, tile, n);
    Odometer at(reduced_, inputs_.reduced_strides(), begin);
    const CastFn gather = direct_in_ ? catena::cast_function(in_dtype_, in_dtype_) : nullptr;
    for (std::int64_t i = 0; i < n;) {
      const std::int64_t m = std::min(at.run(), n - i);
      if (gather) gather(in + at.offset(), stride, tile + i * in_item_, in_item_, m);
      else load_(in + at.offset(), stride, tile + i * in_item_, m);
      at.advance(m);
      i += m;
    }
  }

  void finish(const std::byte* acc, std::byte* out, std::int64_t stride, std::int64_t n) const {
    if (direct_out_) return table_.finish(acc, count_, out, stride, n);
    alignas(64) std::byte tile[kTile * catena::kMaxItemsize];
    for (std::int64_t j = 0; j < n; j += kTile) {
      const std::int64_t m = std::min(kTile, n - j);
      table_.finish(acc + j * acc_, count_, tile, out_item_, m);
      store_(tile, out + j * stride, stride, m);
    }
  }

  void run_inner() const {
    const bool by_chunk = chunks_ > 1 && outputs_ < 4 * catena::max_threads();
    const Tiles t = tiled() ? tiles(std::min(kChunk, count_)) : Tiles{};
    if (by_chunk) return run_inner_by_chunk(t);
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(count_, kLanes));
    catena::parallel_for(outputs_, grain, [&](std::int64_t b, std::int64_t e) {
      // Two accumulators; almost always small.
      alignas(64) std::byte small[512];
      const bool is_small = 2 * round_up_64(std::size_t(acc_)) <= sizeof(small);
      const Workspace heap(t.end + (is_small ? 0 : 2 * round_up_64(std::size_t(acc_))));
      std::byte* total = is_small ? small : heap.data() + t.end;
      std::byte* part = total + round_up_64(std::size_t(acc_));
      Odometer in(kept_, inputs_.kept_strides(), b), out(kept_, {&inputs_.kept[inputs_.out], 1}, b);
      for (std::int64_t k = b; k < e; ++k) {
        const Place place = inputs_.place(in);
        reduce_chunk(place, 0, total, t, heap.data());
        if (chunks_ > 1) combine_rest(place, total, part, t, heap.data());
        finish(total, out_.data + out.offset(), out_item_, 1);
        in.advance(1);
        out.advance(1);
      }
    });
  }

  // total <- identity + chunk 0 + chunk 1 + ...: what the parallel forms do, too.
  void combine_rest(const Place& in, std::byte* total, std::byte* part, const Tiles& t, std::byte* tile) const {
    std::memcpy(part, total, std::size_t(acc_));
    table_.init(total, 1);
    table_.combine(total, part, 1);
    for (std::int64_t c = 1; c < chunks_; ++c) {
      reduce_chunk(in, c, part, t, tile);
      table_.combine(total, part, 1);
    }
  }

  void run_inner_by_chunk(const Tiles& t) const {
    const std::int64_t cells = outputs_ * chunks_;
    const Workspace parts{std::size_t(cells * acc_)};
    catena::parallel_for(cells, kGrain / kChunk, [&](std::int64_t b, std::int64_t e) {
      const Workspace tile(t.end);
      // All outputs of one chunk together: they may share its cache lines.
      for (std::int64_t k = b; k < e; ++k) {
        const std::int64_t output = k % outputs_, chunk = k / outputs_;
        const Odometer in(kept_, inputs_.kept_strides(), output);
        reduce_chunk(inputs_.place(in), chunk, parts.data() + (output * chunks_ + chunk) * acc_, t, tile.data());
      }
    });
    const Workspace total{std::size_t(acc_)};
    for (std::int64_t k = 0; k < outputs_; ++k) {
      table_.init(total.data(), 1);
      for (std::int64_t c = 0; c < chunks_; ++c)
        table_.combine(total.data(), parts.data() + (k * chunks_ + c) * acc_, 1);
      const Odometer out(kept_, {&inputs_.kept[inputs_.out], 1}, k);
      finish(total.data(), out_.data + out.offset(), out_item_, 1);
    }
  }

  // ---- outer form ----
  // Rows of accumulators that one thread needs at once: the depth of the tree over the lanes, and the result.
  static constexpr int kRows = 7;

  // One row of outputs, `width` of them from `in` on.
  struct Strip {
    Place in;
    std::int64_t width;
    std::byte* rows;  // kRows * width accumulators
    std::byte* tile;
    const Tiles& layout;
  };

  std::byte* row(const Strip& s, int i) const {
    return s.rows + std::int64_t(round_up_64(std::size_t(s.width * acc_))) * i;
  }

  // Lane `lane` of the tree at `level` (kLanes = the lane itself), as combine_lanes makes it, into accumulator row
  // `to`. Lanes that no element of the chunk goes to would add the identity.
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
    if (reduced_.size() == 1 && !pre_) {
      const std::int64_t step = inputs_.reduced[0][0];
      for (std::int64_t i = lane; i < n; i += kLanes) accumulate(s, acc, (begin + i) * step, begin + i);
      return;
    }
    Odometer at(reduced_, inputs_.reduced_strides(), begin + lane);
    for (std::int64_t i = lane;;) {
      if (pre_) accumulate_evaluated(s, acc, at, begin + i);
      else accumulate(s, acc, at.offset(), begin + i);
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
    const std::int64_t stride = inputs_.kept[0].back();
    if (direct_in_) return table_.accumulate(acc, s.in[0] + offset, stride, index, s.width);
    for (std::int64_t j = 0; j < s.width; j += kTile) {
      const std::int64_t m = std::min(kTile, s.width - j);
      load_(s.in[0] + offset + j * stride, stride, s.tile, m);
      table_.accumulate(acc + j * acc_, s.tile, in_item_, index, m);
    }
  }
  void accumulate_evaluated(const Strip& s, std::byte* acc, const Odometer& at, std::int64_t index) const {
    std::byte* p[catena::kMaxOperands];
    std::int64_t stride[catena::kMaxOperands];
    for (std::size_t k = 0; k < inputs_.n; ++k) {
      p[k] = s.in[k] + at.offset(k);
      stride[k] = inputs_.kept[k].back();
    }
    for (std::int64_t j = 0; j < s.width; j += kTile) {
      const std::int64_t m = std::min(kTile, s.width - j);
      evaluate(s.layout, s.tile, p, stride, 0, m);
      table_.accumulate(acc + j * acc_, s.tile, in_item_, index, m);
      for (std::size_t k = 0; k < inputs_.n; ++k) p[k] += m * stride[k];
    }
  }

  // Row 1 <- the accumulators of one chunk. Uses the rows behind it.
  void reduce_chunk_outer(const Strip& s, std::int64_t chunk) const {
    const std::int64_t begin = chunk * kChunk, n = std::min(kChunk, count_ - begin);
    reduce_lanes(s, begin, n, 0, 1, 1);
  }

  // Outputs of a strip: whole lines, no more than caches hold. Where neither rows nor chunks are enough for all
  // threads, each has its share of every row.
  std::int64_t strip_width() const {
    const std::int64_t row_length = kept_.back(), rows = outputs_ / row_length, threads = catena::max_threads();
    const std::int64_t most = std::max<std::int64_t>(16, 16 * 1024 / acc_),
                       least = pre_ || chunks_ > 1 ? kTile : kNarrowStrip;
    std::int64_t pieces = (row_length + most - 1) / most;
    const bool shared = rows < 4 * threads && rows % threads != 0 && has_few_chunks() && outputs_ * count_ > kGrain;
    if (shared) pieces = (pieces + threads - 1) / threads * threads;
    const std::int64_t share = ((row_length + pieces - 1) / pieces + kNarrowStrip - 1) / kNarrowStrip * kNarrowStrip;
    return std::min(row_length, std::min(most, std::max(share, least)));
  }
  bool has_few_chunks() const { return chunks_ < 4 * catena::max_threads(); }

  void run_outer() const {
    const std::int64_t row_length = kept_.back();
    const std::int64_t width = strip_width();
    const std::int64_t strips_per_row = (row_length + width - 1) / width;
    const std::int64_t strips = outputs_ / row_length * strips_per_row, threads = catena::max_threads();
    const bool by_chunk = chunks_ > 1 && strips < 2 * threads && !(has_few_chunks() && strips % threads == 0);
    const std::size_t row_bytes = round_up_64(std::size_t(width * acc_));
    Shape outer = kept_;
    auto outer_strides = inputs_.kept;
    outer.pop_back();
    for (std::size_t k = 0; k <= inputs_.out; ++k) outer_strides[k].resize(outer.size());
    const std::int64_t out_stride = inputs_.kept[inputs_.out].back();
    const Tiles t = direct_in_ && !pre_ ? Tiles{} : tiles(kTile);

    const auto strip_at = [&](std::int64_t k, std::byte* rows, std::byte* tile) {
      const std::int64_t first = k % strips_per_row * width;
      const Odometer in(outer, {outer_strides.data(), inputs_.n}, k / strips_per_row);
      Strip s{inputs_.place(in), std::min(width, row_length - first), rows, tile, t};
      for (std::size_t i = 0; i < inputs_.n; ++i) s.in[i] += first * inputs_.kept[i].back();
      return s;
    };
    const auto write = [&](std::int64_t k, const Strip& s, const std::byte* acc) {
      const std::int64_t first = k % strips_per_row * width;
      const Odometer out(outer, {&outer_strides[inputs_.out], 1}, k / strips_per_row);
      finish(acc, out_.data + out.offset() + first * out_stride, out_stride, s.width);
    };
    if (!by_chunk) {
      const std::int64_t grain = std::max<std::int64_t>(1, kGrain / (width * count_));
      catena::parallel_for(strips, grain, [&](std::int64_t b, std::int64_t e) {
        const Workspace memory((kRows + 1) * row_bytes + t.end);
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
    const auto part = [&](std::int64_t k, std::int64_t c) {
      return parts.data() + std::size_t(k * chunks_ + c) * row_bytes;
    };
    catena::parallel_for(
        strips * chunks_, std::max<std::int64_t>(1, kGrain / (width * kChunk)), [&](std::int64_t b, std::int64_t e) {
          const Workspace memory((kRows + 1) * row_bytes + t.end);
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

  static constexpr std::size_t kCollected = kTile * 8;

  const ReductionLoop& table_;
  const Dtype in_type_, out_type_, in_dtype_;
  const BoundOperand out_;
  Inputs inputs_;
  const bool direct_in_, direct_out_;
  const std::int64_t in_item_, out_item_, acc_;
  Load load_;
  Store store_;
  Shape reduced_, kept_;
  std::int64_t kept_step_ = 0, reduced_step_ = 0;  // of the array that is reduced, along the innermost axes
  std::int64_t count_ = 0, outputs_ = 0, chunks_ = 1;
  std::optional<Interpreter> pre_;
  bool collects_ = false;
  std::array<CastFn, catena::kMaxOperands> collect_;
};

// One chunk of one output, along one axis, from elements of the loop's own types.
bool reduce_one(const catena::bound::Reduce& call) {
  const Shape& shape = *call.in.shape;
  if (shape.size() != 1 || call.axes.size() != 1 || shape[0] > kChunk || call.pre != nullptr) return false;
  const catena::Loop& loop = call.kernel->loop_table[call.loop];
  if (!is_direct(call.in.dtype, loop.type[0]) || !is_direct(call.out.dtype, loop.type[1])) return false;
  const ReductionLoop& table = *loop.reduction;
  alignas(64) std::byte acc[64];
  if (table.acc_bytes > sizeof(acc)) return false;
  table.init(acc, 1);
  if (shape[0] > 0) table.reduce(acc, call.in.data, (*call.in.strides)[0], 0, shape[0]);
  table.finish(acc, shape[0], call.out.data, 0, 1);
  return true;
}

}  // namespace

void CpuBackend::reduce(const catena::bound::Reduce& call, StreamRef stream) {
  if (call.post == nullptr) {
    if (!reduce_one(call)) Reducer(call).run();
    return;
  }
  // The reduced values are few beside what is reduced: another pass over them costs little.
  const Dtype type = call.kernel->loop_table[call.loop].type[1];
  const Shape& shape = *call.out.shape;
  const Strides strides = catena::c_strides(shape, itemsize(type));
  const Workspace values(std::max<std::size_t>(1, std::size_t(catena::size_of(shape)) * itemsize(type)));
  catena::bound::Reduce before = call;
  before.post = nullptr;
  before.out = {values.data(), type, false, &shape, &strides};
  Reducer(before).run();
  std::array<BoundOperand, catena::kMaxOperands> operands{before.out};
  std::copy(call.post_inputs.begin(), call.post_inputs.end(), operands.begin() + 1);
  operands[call.post_inputs.size() + 1] = call.out;
  elementwise(*call.post, {operands.data(), call.post_inputs.size() + 2}, shape, stream);
}

}  // namespace nd::cpu
