// The parts that both variants of a reduction share: the kept and reduced axes, the inputs or the program that computes
// the elements, and reading them. The variants are in reduce.cpp (inner) and reduce_outer.cpp (outer).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/small_vector.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/bound_call.h>
#include <catena/ndarray/cpu/convert.h>
#include <catena/ndarray/cpu/interpreter.h>
#include <catena/ndarray/cpu/tuning.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {

using catena::BoundOperand;
using catena::itemsize;
using catena::kLanes;
using catena::ReductionLoop;
using catena::Shape;
using catena::Strides;

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
  // Number of elements from the current position to the end of the innermost axis.
  std::int64_t run() const { return shape_.empty() ? 1 : shape_.back() - position_[shape_.size() - 1]; }
  void advance(std::int64_t n) { advance_along(shape_.size() - 1, n); }  // n <= run()
  // Number of whole runs from the current position to the end of the axis before the innermost one.
  std::int64_t whole_runs() const {
    const int a = shape_.size() - 2;
    return a < 0 || position_[a + 1] != 0 ? 0 : shape_[a] - position_[a];
  }
  void advance_runs(std::int64_t n) { advance_along(shape_.size() - 2, n); }  // n <= whole_runs()

 private:
  void advance_along(int a, std::int64_t n) {
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
  void move(std::int64_t n, int axis) {
    for (std::size_t k = 0; k < strides_.size(); ++k) offset_[k] += n * strides_[k][axis];
  }

  const Shape& shape_;
  const std::span<const Strides> strides_;
  std::int64_t position_[catena::kMaxRank];
  std::int64_t offset_[catena::kMaxOperands];
};

// The addresses of the first input elements of one output element.
using Addresses = std::array<std::byte*, catena::kMaxOperands>;

// The inputs of a reduction: the reduced array, or the inputs of the program `pre` that computes its elements. `kept`
// and `reduced` have the strides over the merged axes: first of the `n` inputs; then, at `guide`, of the reduced array,
// whose strides determine the order of the axes; then, at `out`, of the output.
struct Inputs {
  std::span<const BoundOperand> all;
  std::size_t n, guide, out;
  catena::SmallVector<Strides, 3> kept, reduced;  // more inline elements would slow down reductions of a few elements

  explicit Inputs(const catena::bound::Reduce& call)
      : all(call.pre != nullptr ? call.pre_inputs : std::span(&call.in, 1)),
        n(all.size()),
        guide(n),
        out(n + 1),
        kept(n + 2),
        reduced(n + 2) {}
  std::span<const Strides> kept_strides() const { return {kept.data(), n}; }
  std::span<const Strides> reduced_strides() const { return {reduced.data(), n}; }
  Addresses addresses(const Odometer& at) const {
    Addresses p;
    for (std::size_t k = 0; k < n; ++k) p[k] = all[k].data + at.offset(k);
    return p;
  }
};

// Joins the accumulators of chunks as a binary tree, the earlier chunk always on the left: neighbouring chunks first,
// then neighbouring pairs of chunks. The rounding errors of a long sum then grow with the logarithm of its length.
//
// Chunks are added in order, with `width` accumulators each. `memory` must hold levels(chunks) rows of `width`
// accumulators, `bytes` apart.
class ChunkTree {
 public:
  ChunkTree(const ReductionLoop& table, std::int64_t width, std::size_t bytes, std::byte* memory)
      : table_(table), width_(width), bytes_(bytes), memory_(memory) {}
  static std::size_t levels(std::int64_t chunks) { return std::size_t(std::bit_width(std::uint64_t(chunks))); }
  void add(const std::byte* part);
  const std::byte* total();  // precondition: at least one chunk was added

 private:
  std::byte* level(int i) const { return memory_ + std::size_t(i) * bytes_; }

  const ReductionLoop& table_;
  const std::int64_t width_;
  const std::size_t bytes_;
  std::byte* const memory_;
  std::uint64_t chunks_ = 0;  // bit i: level i holds the result of 2^i chunks
};
// Joins the given chunks in the same order; the result replaces the first chunk.
void join_chunks(const ReductionLoop& table, std::byte* parts, std::int64_t chunks, std::int64_t width,
                 std::size_t bytes);

class Reducer {
 public:
  explicit Reducer(const catena::bound::Reduce& call);
  void run() const;

  static constexpr std::int64_t kChunk = catena::kMostFolded;

 private:
  void split_axes(const catena::bound::Reduce& call);
  // Returns the number of elements of a chunk: kChunk, or more if the order of elements does not matter, so that each
  // thread has few long chunks.
  std::int64_t chunk_length() const;
  bool use_outer_variant() const;
  // Strides of the reduced array along its innermost kept and reduced axes.
  std::int64_t kept_stride() const { return kept_.empty() ? 0 : inputs_.kept[0].back(); }
  std::int64_t reduced_stride() const { return reduced_.empty() ? in_item_ : inputs_.reduced[0].back(); }

  // ---- elements computed by a program ----
  // Offsets in the scratch memory of a thread that computes `n` elements at a time: elements as the loop reads them,
  // elements as the program stores them, copied inputs, the program's own tiles.
  struct Tiles {
    std::size_t elements = 0, stored = 0, collected = 0, program = 0, end = 0;
  };
  void prepare(const catena::Program& program);
  Tiles tiles(std::int64_t n, bool collected) const;
  // Computes elements first..first + n of the tile from inputs at ptr[k] + i * stride[k].
  void evaluate(const Tiles& t, std::byte* tile, std::byte* const* ptr, const std::int64_t* stride, std::int64_t first,
                std::int64_t n) const;
  // Computes elements begin..begin + n of the output at `in`.
  void evaluate_chunk(const Addresses& in, std::int64_t begin, std::int64_t n, const Tiles& t, std::byte* tile) const;
  // Copies short runs of the inputs that do not repeat one element, n <= kTile elements of each input. Stores the
  // addresses and strides of all inputs in `p` and `s`.
  void collect(const Addresses& in, Odometer& at, std::int64_t n, std::byte* tile, std::byte** p,
               std::int64_t* s) const;

  // ---- inner variant ----
  bool tiled() const { return pre_ || !direct_in_ || reduced_.size() > 1; }
  // Computes the accumulator of one chunk of the output at `in`.
  void reduce_chunk(const Addresses& in, std::int64_t chunk, std::byte* acc, const Tiles& t, std::byte* tile) const;
  void gather_chunk(const std::byte* in, std::int64_t begin, std::int64_t n, std::byte* tile) const;
  // Returns the result of all chunks of an output. `memory` holds 1 + ChunkTree::levels(chunks_) accumulators.
  const std::byte* reduce_chunks(const Addresses& in, std::byte* memory, const Tiles& t, std::byte* tile) const;
  void finish(const std::byte* acc, std::byte* out, std::int64_t stride, std::int64_t n) const;
  void run_inner() const;
  void run_inner_by_row(std::int64_t grain) const;
  void run_inner_by_chunk(const Tiles& t) const;
  void positions_of_single_elements() const;
  void copy_single_elements() const;

  // ---- outer variant ----
  struct OuterPlan;
  struct Strip;
  class Lanes;
  OuterPlan plan_outer() const;
  std::int64_t strip_width(std::int64_t most) const;
  bool has_few_chunks() const { return chunks_ < 4 * catena::available_threads(); }
  void combine_all_lanes(const Strip& s, std::byte* acc, std::int64_t lanes) const;
  const std::byte* evaluate_panel(const Strip& s, Odometer& at, std::int64_t m) const;
  const std::byte* gather_panel(const Strip& s, Odometer& at, std::int64_t n) const;
  const std::byte* reduce_chunk_outer(const Strip& s, std::int64_t chunk) const;
  void run_outer() const;

  static constexpr std::size_t kCollected = std::size_t(kTile) * catena::kMaxItemsize;

  const ReductionLoop& table_;
  const Dtype in_type_, out_type_, in_dtype_;
  const BoundOperand out_;
  Inputs inputs_;
  const bool direct_in_, direct_out_;
  const std::int64_t in_item_, out_item_, acc_;
  bool folds_prefetching_ = false;  // chunks are folded by ReductionLoop::fold_prefetching
  Load load_;
  Store store_;
  Shape reduced_, kept_;
  std::int64_t kept_step_ = 0, reduced_step_ = 0;  // strides of the reduced array along the innermost axes
  std::int64_t count_ = 0, divisor_ = 0, outputs_ = 0, chunk_ = kChunk, chunks_ = 1;
  std::optional<Interpreter> pre_;
  bool collects_ = false, copies_ = false;
  std::array<CastFn, catena::kMaxOperands> collect_;
};

}  // namespace nd::cpu
