// Row kernels with sums over their other axes: both are computed for one block of rows after the other, so that its
// operands come from memory once. The sums of the blocks are added at the end. Blocks depend on the shape alone, so the
// bits of a result do not depend on the layout of arrays or on the number of threads.
#include <algorithm>
#include <array>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/pointers.h>
#include <catena/kernels/base/small_vector.h>
#include <catena/ndarray/cpu/cpu_backend.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {
namespace {

using catena::BoundOperand;
using catena::Dtype;
using catena::Shape;
using catena::Strides;

constexpr std::int64_t kBlock = 64 * 1024;  // elements of an operand; several of them fit the cache of a core
constexpr std::int64_t kLeastRows = 16;     // of a block: its sums are then few beside its elements
constexpr std::int64_t kLeastBlocks = 8;    // for fewer, the caches hold all operands

// The shape without `axes`, cut into blocks: whole inner axes, a part of one, single positions of the outer ones.
class Blocks {
 public:
  Blocks(const Shape& shape, const catena::Dims& axes) : shape_(shape), block_(shape) {
    std::int64_t row = 1;
    for (const std::int64_t axis : axes) row *= shape[int(axis)];
    std::int64_t left = std::max(kLeastRows, kBlock / std::max<std::int64_t>(1, row));
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
    // The same operand over the elements of the block.
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

// The sums of all blocks of one reduction, as its loop accumulates them.
class Partial {
 public:
  Partial(const catena::bound::Reduce& call, std::int64_t blocks)
      : call_(call),
        dtype_(catena::compute_dtype(call.kernel->loop_table[call.loop].type[1])),
        strides_(catena::c_strides(*call.out.shape, catena::itemsize(dtype_))),
        bytes_(catena::size_of(*call.out.shape) * std::int64_t(catena::itemsize(dtype_))),
        memory_(std::size_t(blocks * bytes_)) {
    for (const std::int64_t axis : call.axes) strides_[int(axis)] = 0;
  }

  catena::bound::Reduce of_block(const Blocks::Block& block, std::int64_t i,
                                 std::array<BoundOperand, catena::kMaxOperands>& inputs) const {
    catena::bound::Reduce part = call_;
    if (call_.pre == nullptr) part.in = block.part(call_.in);
    else part.in.shape = &block.shape;
    std::transform(call_.pre_inputs.begin(), call_.pre_inputs.end(), inputs.begin(),
                   [&](const BoundOperand& o) { return block.part(o); });
    part.pre_inputs = {inputs.data(), call_.pre_inputs.size()};
    part.out = {memory_.data() + i * bytes_, dtype_, false, call_.out.shape, &strides_};
    return part;
  }

  // Adds the blocks up in their order.
  void finish(CpuBackend& backend, std::int64_t blocks, StreamRef stream) const {
    Shape in{blocks}, out{1};
    Strides in_strides{bytes_}, out_strides{0};
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
    all.axes = {0};
    backend.reduce(all, stream);
  }

 private:
  const catena::bound::Reduce& call_;
  const Dtype dtype_;
  Strides strides_;
  const std::int64_t bytes_;
  const Workspace memory_;
};

}  // namespace

void CpuBackend::rows_and_sums(const catena::bound::Rows& rows, std::span<const catena::bound::Reduce> sums,
                               StreamRef stream) {
  const Blocks blocks(rows.shape, rows.axes);
  if (blocks.count() < kLeastBlocks) return Executor::rows_and_sums(rows, sums, stream);
  catena::SmallVector<catena::Owned<Partial>, 2> partial;
  for (const catena::bound::Reduce& sum : sums) partial.emplace_back(new Partial(sum, blocks.count()));
  catena::parallel_for(blocks.count(), 1, [&](std::int64_t begin, std::int64_t end) {
    std::array<BoundOperand, catena::kMaxOperands> operands;
    for (std::int64_t i = begin; i < end; ++i) {
      const Blocks::Block block = blocks[i];
      std::transform(rows.operands.begin(), rows.operands.end(), operands.begin(),
                     [&](const BoundOperand& o) { return block.part(o); });
      this->rows({rows.kernel, rows.loop, block.shape, rows.axes, {operands.data(), rows.operands.size()}}, stream);
      for (const auto& p : partial) reduce(p->of_block(block, i, operands), stream);
    }
  });
  for (const auto& p : partial) p->finish(*this, blocks.count(), stream);
}

}  // namespace nd::cpu
