// Row-wise kernels with sums over their other axes. If the loops of the kernel support the sums (KernelDef::sums), both
// are computed block by block of rows: the pass that writes adds up the sums of a block, and finally the sums of the
// blocks are added. Blocks depend on the shape alone, so the bits of a result do not depend on the layout of arrays or
// on the number of threads. Other sums are reductions of their own.
#include <algorithm>
#include <array>
#include <cstring>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/pointers.h>
#include <catena/kernels/base/small_vector.h>
#include <catena/ndarray/cpu/row_sums.h>
#include <catena/ndarray/cpu/run.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {
namespace {

using catena::BoundOperand;
using catena::Dtype;
using catena::Shape;
using catena::Strides;

constexpr std::int64_t kBlock = 64 * 1024;  // elements of an operand; several operands fit the cache of a core
constexpr std::int64_t kLeastRows = 16;     // rows of a block: its sums are then few compared with its elements
constexpr std::int64_t kSummands = 256;     // numbers that one lane adds up one after the other

std::int64_t elements_of_row(const Shape& shape, const catena::Dims& axes) {
  std::int64_t n = 1;
  for (const std::int64_t axis : axes) n *= shape[int(axis)];
  return n;
}

// Divides the shape without `axes` into blocks. A block has whole inner axes, a part of one axis, and single positions
// of the outer axes.
class Blocks {
 public:
  Blocks(const Shape& shape, const catena::Dims& axes, std::int64_t most_rows) : shape_(shape), block_(shape) {
    std::int64_t left = std::min(std::max(kLeastRows, kBlock / elements_of_row(shape, axes)), most_rows);
    for (int a = shape.size() - 1; a >= 0; --a) {
      if (std::find(axes.begin(), axes.end(), a) != axes.end()) continue;
      block_[a] = std::min(shape[a], left);
      left = std::max<std::int64_t>(1, left / block_[a]);
      count_ *= (shape[a] + block_[a] - 1) / block_[a];
    }
  }
  std::int64_t count() const { return count_; }

  struct Block {
    Shape first, shape;
    // Returns the operand restricted to the elements of the block.
    BoundOperand part(const BoundOperand& o) const {
      BoundOperand p = o;
      for (int a = 0; a < shape.size(); ++a) p.data += first[a] * (*o.strides)[a];
      p.shape = &shape;
      return p;
    }
  };
  Block operator[](std::int64_t i) const {
    Block b{Shape::filled(shape_.size(), 0), block_};
    for (int a = shape_.size() - 1; a >= 0; --a) {
      const std::int64_t along = (shape_[a] + block_[a] - 1) / block_[a];
      b.first[a] = i % along * block_[a];
      b.shape[a] = std::min(block_[a], shape_[a] - b.first[a]);
      i /= along;
    }
    return b;
  }

 private:
  Shape shape_, block_;
  std::int64_t count_ = 1;
};

Dtype sum_dtype(const catena::bound::Reduce& sum) {
  return catena::compute_dtype(sum.kernel->loop_table[sum.loop].type[1]);
}

// The sums of all blocks of one reduction, in the compute type of its loop. Each sum is stored as `lanes` neighbouring
// numbers.
class Partial {
 public:
  Partial(const catena::bound::Reduce& call, std::int64_t blocks, std::int64_t lanes)
      : call_(call),
        dtype_(sum_dtype(call)),
        lanes_(lanes),
        strides_(catena::c_strides(*call.out.shape, std::size_t(lanes) * catena::itemsize(dtype_))),
        bytes_(catena::size_of(*call.out.shape) * lanes * std::int64_t(catena::itemsize(dtype_))),
        memory_(std::size_t(blocks * bytes_)) {
    for (const std::int64_t axis : call.axes) strides_[int(axis)] = 0;
  }

  std::byte* zeros(std::int64_t i) const {
    std::byte* const of_block = memory_.data() + i * bytes_;
    std::memset(of_block, 0, std::size_t(bytes_));
    return of_block;
  }

  // Adds up the sums of the blocks, in ascending order.
  void finish(std::int64_t blocks) const {
    Shape in{blocks, lanes_}, out{1, 1};
    Strides in_strides{bytes_, std::int64_t(catena::itemsize(dtype_))}, out_strides{0, 0};
    for (int a = 0; a < strides_.size(); ++a) {
      in.push_back((*call_.out.shape)[a]);
      out.push_back(in.back());
      in_strides.push_back(strides_[a]);
      out_strides.push_back((*call_.out.strides)[a]);
    }
    catena::bound::Reduce all;
    all.kernel = call_.kernel;
    all.loop = call_.kernel->loop_of(dtype_);
    all.in = {memory_.data(), dtype_, false, &in, &in_strides};
    all.out = {call_.out.data, call_.out.dtype, false, &out, &out_strides};
    all.axes = {0, 1};
    run(all);
  }

 private:
  const catena::bound::Reduce& call_;
  const Dtype dtype_;
  const std::int64_t lanes_;
  Strides strides_;
  const std::int64_t bytes_;
  const Workspace memory_;
};

bool is_same(const BoundOperand& a, const BoundOperand& b) { return a.data == b.data && *a.strides == *b.strides; }

// True if `sum` equals the sum `known` of the kernel's loops, including the dtype in which they compute.
bool is_sum(const catena::bound::Reduce& sum, const catena::RowSum& known, const catena::bound::RowWise& rows) {
  const Dtype type = rows.kernel->loop_table[rows.loop].row_wise->type;
  if (sum_dtype(sum) != type) return false;
  if (known.map == nullptr) return sum.pre == nullptr && is_same(sum.in, rows.operands[known.input[0]]);
  if (sum.pre == nullptr || sum.pre->steps.size() != 1 || sum.pre->steps[0].kernel != known.map) return false;
  const catena::Step& step = sum.pre->steps[0];
  if (sum.pre->slots[step.slot[known.map->nin]] != type) return false;
  for (int k = 0; k < known.map->nin; ++k)
    if (!is_same(sum.pre_inputs[step.slot[std::size_t(k)]], rows.operands[known.input[std::size_t(k)]])) return false;
  return true;
}

// True if `sums` are exactly the sums that the loops of the row-wise kernel compute.
bool kernel_computes(const catena::bound::RowWise& rows, std::span<const catena::bound::Reduce> sums) {
  const std::span<const catena::RowSum> known = rows.kernel->sums;
  return !sums.empty() && std::equal(sums.begin(), sums.end(), known.begin(), known.end(),
                                     [&](const auto& sum, const auto& k) { return is_sum(sum, k, rows); });
}

using Partials = catena::SmallVector<catena::Owned<Partial>, catena::kMaxRowSums>;

Partials partials(std::span<const catena::bound::Reduce> sums, std::int64_t blocks, std::int64_t lanes) {
  Partials all;
  for (const catena::bound::Reduce& sum : sums) all.emplace_back(new Partial(sum, blocks, lanes));
  return all;
}

}  // namespace

void run(const catena::bound::RowWiseAndSums& call) {
  const catena::bound::RowWise& rows = call.rows;
  const std::span<const catena::bound::Reduce> sums = call.sums;
  if (!kernel_computes(rows, sums)) {
    run(rows);
    for (const catena::bound::Reduce& sum : sums) run(sum);
    return;
  }
  const std::int64_t row = elements_of_row(rows.shape, rows.axes);
  const std::int64_t lanes = row_sum_lanes(*rows.kernel->loop_table[rows.loop].row_wise, row);
  const Blocks blocks(rows.shape, rows.axes, kSummands * lanes);
  const Partials partial = partials(sums, blocks.count(), lanes);
  catena::parallel_for(blocks.count(), 1, [&](std::int64_t begin, std::int64_t end) {
    std::array<BoundOperand, catena::kMaxOperands> operands;
    for (std::int64_t i = begin; i < end; ++i) {
      const Blocks::Block block = blocks[i];
      std::transform(rows.operands.begin(), rows.operands.end(), operands.begin(),
                     [&](const BoundOperand& o) { return block.part(o); });
      const catena::bound::RowWise part{
          rows.kernel, rows.loop, block.shape, rows.axes, {operands.data(), rows.operands.size()}};
      RowSums at{{}, catena::size_of(rows.shape) / row};
      for (std::size_t k = 0; k < partial.size(); ++k) at.at[k] = partial[k]->zeros(i);
      rows_with_sums(part, at);
    }
  });
  for (const auto& p : partial) p->finish(blocks.count());
}

}  // namespace nd::cpu
