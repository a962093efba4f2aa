#include <catena/ndarray/cuda/plans/plan.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/cuda/compiler/codegen_text.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>

namespace nd::cuda {
namespace {

namespace device = catena::device;
using catena::BoundOperand;
using catena::Dims;
using catena::Shape;
using catena::Strides;

constexpr std::uint8_t kIndexedTogether = 4;  // elements per thread; also the number of random numbers per counter

bool is_fixed(const BoundOperand& o, std::int64_t n) {
  if (o.immediate) return true;
  return n > 1 && std::all_of(o.strides->begin(), o.strides->end(), [](std::int64_t s) { return s == 0; });
}

// True if the operand has one element per row.
bool is_fixed_along(const BoundOperand& o, const Dims& axes) {
  return std::all_of(axes.begin(), axes.end(), [&](std::int64_t a) { return (*o.strides)[static_cast<int>(a)] == 0; });
}

// Puts data[N] and cell[N]: an immediate operand has no address; its value is in the cell.
void put_operands(ParameterBlock& p, std::span<const BoundOperand> operands) {
  for (const BoundOperand& o : operands) p.put(o.immediate ? nullptr : static_cast<const void*>(o.data));
  p.align(16);
  for (const BoundOperand& o : operands) {
    device::Cell cell{};
    if (o.immediate) std::memcpy(cell.bytes, o.data, catena::itemsize(o.dtype));
    p.append(&cell, sizeof cell);
  }
}

struct SplitAxes {
  Shape kept, reduced;
  std::array<Strides, catena::kMaxOperands + 1> kept_stride, reduced_stride;
};
// Splits the axes of `shape` into kept and reduced axes and merges the axes of each group, for several operands.
SplitAxes split_axes(const Shape& shape, const Dims& axes, std::span<const Strides* const> strides) {
  SplitAxes s;
  const std::size_t n = strides.size();
  for (int a = 0; a < shape.size(); ++a) {
    const bool reduced = std::find(axes.begin(), axes.end(), a) != axes.end();
    (reduced ? s.reduced : s.kept).push_back(shape[a]);
    for (std::size_t k = 0; k < n; ++k) (reduced ? s.reduced_stride : s.kept_stride)[k].push_back((*strides[k])[a]);
  }
  catena::merge_axes(s.kept, {s.kept_stride.data(), n});
  catena::merge_axes(s.reduced, {s.reduced_stride.data(), n});
  at_least_one_axis(s.kept, {s.kept_stride.data(), n});
  at_least_one_axis(s.reduced, {s.reduced_stride.data(), n});
  return s;
}
bool all_near(const SplitAxes& s, std::size_t operands) {
  Shape all = s.kept;
  for (std::int64_t d : s.reduced) all.push_back(d);
  if (catena::size_of(all) > kMax31) return false;
  for (std::size_t k = 0; k < operands; ++k) {
    Strides strides = s.kept_stride[k];
    for (std::int64_t d : s.reduced_stride[k]) strides.push_back(d);
    if (!near(all, strides)) return false;
  }
  return true;
}

void plan_indexed(LaunchPlan& plan, std::span<const BoundOperand> operands, const Shape& loop, unsigned raw) {
  const int n = static_cast<int>(operands.size()), num_raw = std::popcount(raw);
  Shape shape = loop;
  if (shape.empty()) shape.push_back(1);
  plan.key.form = Form::indexed;
  plan.key.rank = rank_class(shape.size(), device::kMaxIndexedRank);
  const int rank = plan.key.rank != 0 ? plan.key.rank : generic_rank(n, num_raw);
  catena::check<catena::ValueError>(shape.size() <= rank, "kernel launch", "a loop of ", n, " operands over ",
                                    shape.size(), " axes exceeds the limit of ", rank, " axes");
  ParameterBlock& p = plan.parameters;
  put_axes(p, shape, rank, 1);
  for (const BoundOperand& o : operands) put_axes(p, o.immediate ? Dims() : *o.strides, rank, 0);
  for (int field = 0; field < 2; ++field) {
    for (int k = 0; k < n; ++k) {
      if (((raw >> k) & 1) == 0) continue;
      const BoundOperand& o = operands[static_cast<std::size_t>(k)];
      catena::check<catena::ValueError>(o.shape->size() <= device::kMaxRawRank, "kernel launch", "raw operand ", k,
                                        " has ", o.shape->size(), " axes, the limit is ", device::kMaxRawRank);
      put_axes(p, field == 0 ? *o.shape : *o.strides, device::kMaxRawRank, field == 0 ? 1 : 0);
    }
    if (num_raw == 0) put_axes(p, {}, device::kMaxRawRank, 0);
  }
  bool contiguous = true;
  for (int k = 0; k < n; ++k) {
    const BoundOperand& o = operands[static_cast<std::size_t>(k)];
    if (((raw >> k) & 1) != 0 || o.immediate) continue;
    plan.key.index32 &= near(shape, *o.strides);
    contiguous &=
        ((plan.key.scalars >> k) & 1) != 0 || catena::is_c_contiguous(loop, *o.strides, catena::itemsize(o.dtype));
  }
  plan.key.reduced_rank = contiguous ? kIndexedTogether : 1;
  p.align(16);
}

// If one operand is contiguous along the last axis and another one along an earlier axis, makes that axis the first and
// returns the number of elements along it that a thread computes, so that it uses whole memory sectors of the other
// operand. Otherwise returns 1.
int put_crossing_axis_first(const catena::Program& program, std::span<const BoundOperand> operands, unsigned scalars,
                            Shape& shape, std::span<Strides> strides) {
  constexpr std::int64_t kSector = 32, kMost = 16, kWarp = 32;
  const int last = shape.size() - 1;
  int crossing = -1;
  std::int64_t together = kMost;
  bool along_last = false;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (((scalars >> k) & 1) != 0 || operands[k].immediate) continue;
    const auto item = static_cast<std::int64_t>(catena::itemsize(operands[k].dtype));
    together = std::min(together, std::max<std::int64_t>(2 * kSector / item, 4));
    along_last |= strides[k][last] == item;
    if (distance(strides[k][last]) < kSector) continue;
    for (int a = 0; a < last; ++a)
      if (strides[k][a] == item) crossing = a;
  }
  if (!along_last || crossing < 0 || shape[last] < kWarp) return 1;
  if (is_heavy(program)) together = kHeavyWidth;
  if (shape[crossing] < together) return 1;
  std::rotate(shape.begin(), shape.begin() + crossing, shape.begin() + crossing + 1);
  for (Strides& s : strides) std::rotate(s.begin(), s.begin() + crossing, s.begin() + crossing + 1);
  return static_cast<int>(together);
}

void plan_strided(LaunchPlan& plan, std::span<const BoundOperand> operands, const Shape& shape,
                  std::span<const Strides> strides) {
  const int n = static_cast<int>(operands.size());
  plan.key.form = Form::strided;
  plan.key.rank = rank_class(shape.size(), device::kMaxExactRank);
  const int rank = plan.key.rank != 0 ? plan.key.rank : generic_rank(n, 0);
  catena::check<catena::ValueError>(shape.size() <= rank, "kernel launch", "a loop of ", n, " operands over ",
                                    shape.size(), " axes that do not merge exceeds the limit of ", rank, " axes");
  ParameterBlock& p = plan.parameters;
  put_axes(p, shape, rank, 1);
  for (const Strides& s : strides) {
    put_axes(p, s, rank, 0);
    plan.key.index32 &= near(shape, s);
  }
  p.align(16);
}

}  // namespace

LaunchPlan plan_elementwise(const catena::Program& program, std::span<const BoundOperand> operands, const Shape& loop,
                            int processors) {
  const std::int64_t n = catena::size_of(loop);
  const Indexing indexing = indexing_of(program);
  LaunchPlan plan;
  plan.program = &program;
  plan.key.program = program_hash(program);
  plan.key.index32 = n <= kMax31;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    plan.key.dtypes[k] = operands[k].dtype;
    if (k < program.nin && ((indexing.raw >> k) & 1) == 0 && is_fixed(operands[k], n))
      plan.key.scalars |= std::uint16_t(1u << k);
  }

  Shape shape = loop;
  std::array<Strides, catena::kMaxOperands> strides;
  for (std::size_t k = 0; k < operands.size(); ++k)
    strides[k] =
        (plan.key.scalars >> k) & 1 || (indexing.raw >> k) & 1 ? Strides::filled(loop.size(), 0) : *operands[k].strides;
  const std::span<Strides> used{strides.data(), operands.size()};
  if (!indexing.indexed) {
    catena::merge_axes(shape, used);
    at_least_one_axis(shape, used);
  }
  ParameterBlock& p = plan.parameters;
  p.put(n);
  p.put(std::int64_t(std::max(shape.size(), 1)));
  put_operands(p, operands);
  int width = 1;
  if (indexing.indexed) {
    plan_indexed(plan, operands, loop, indexing.raw);
    width = plan.key.reduced_rank;
  } else {
    bool contiguous = shape.size() == 1;
    for (std::size_t k = 0; k < operands.size(); ++k)
      contiguous &=
          (plan.key.scalars >> k) & 1 || n == 1 || strides[k][0] == std::int64_t(catena::itemsize(operands[k].dtype));
    if (contiguous) {
      width = vector_width({plan.key.dtypes.data(), operands.size()}, plan.key.scalars);
    } else {
      width = put_crossing_axis_first(program, operands, plan.key.scalars, shape, used);
      plan.key.reduced_rank = static_cast<std::uint8_t>(width);
      plan_strided(plan, operands, shape, used);
    }
  }
  plan.grid_x = blocks(ceil_divide(n, std::int64_t(device::kBlock) * width), processors, 16);
  return plan;
}

namespace {

// The operands of a reduction in the order of its parameters, with strides over call.in.shape. Along the reduced axes,
// only the inputs have strides other than 0; operands with a single element have none.
struct ReduceOperands {
  std::array<BoundOperand, catena::kMaxOperands> all;
  std::array<Strides, catena::kMaxOperands> own;
  std::array<const Strides*, catena::kMaxOperands + 1> strides{};  // the last one determines the inner axes
  std::size_t n, inputs;
  std::uint16_t scalars = 0;

  ReduceOperands(const catena::bound::Reduce& call, const Surroundings& around)
      : n(around.operands()), inputs(around.inputs()) {
    catena::check<catena::ValueError>(n <= all.size(), call.kernel->name, n, " operands exceed the limit of ",
                                      all.size());
    if (call.pre != nullptr) std::copy(call.pre_inputs.begin(), call.pre_inputs.end(), all.begin());
    else all[0] = call.in;
    std::copy(call.post_inputs.begin(), call.post_inputs.end(), all.begin() + std::ptrdiff_t(inputs));
    all[n - 1] = call.out;
    const bool fused = call.pre != nullptr || call.post != nullptr;
    for (std::size_t k = 0; k < n; ++k) {
      own[k] = *all[k].strides;
      if (k >= inputs)
        for (std::int64_t a : call.axes) own[k][static_cast<int>(a)] = 0;
      strides[k] = &own[k];
      if (!fused || k + 1 == n) continue;
      if (is_fixed(all[k], 2)) {
        scalars |= std::uint16_t(1u << k);
        std::fill(own[k].begin(), own[k].end(), 0);
      } else if (n <= kPerRowBit && k < inputs && is_fixed_along(all[k], call.axes)) {
        scalars |= std::uint16_t(1u << (k + kPerRowBit));
      }
    }
    strides[n] = call.in.strides;
  }
};

void put_reduction(ParameterBlock& p, const ReduceOperands& x, const SplitAxes& s, const KernelKey& key) {
  put_operands(p, {x.all.data(), x.n});
  const int room = reduction_rank(x.inputs, x.n);
  const int kept = key.rank != 0 ? key.rank : room, reduced = key.reduced_rank != 0 ? key.reduced_rank : room;
  catena::check<catena::ValueError>(s.kept.size() <= kept && s.reduced.size() <= reduced, "kernel launch",
                                    "a reduction with ", x.n, " operands over ", s.reduced.size(), " of ",
                                    s.kept.size() + s.reduced.size(), " axes that do not merge exceeds the limit of ",
                                    room, " axes each");
  put_axes(p, s.kept, kept, 1);
  for (std::size_t k = 0; k < x.n; ++k) put_axes(p, s.kept_stride[k], kept, 0);
  put_axes(p, s.reduced, reduced, 1);
  for (std::size_t k = 0; k < x.inputs; ++k) put_axes(p, s.reduced_stride[k], reduced, 0);
  p.align(16);
}

}  // namespace

Sequence plan_reduce(const catena::bound::Reduce& call, int processors) {
  Sequence sequence;
  LaunchPlan& plan = sequence.launches.emplace_back();
  plan.kernel = call.kernel;
  plan.loop = call.loop;
  plan.around = {call.pre, call.post, call.in.dtype};
  const catena::Loop& loop = call.kernel->loop_table[call.loop];
  const ReduceOperands x(call, plan.around);
  const SplitAxes s = split_axes(*call.in.shape, call.axes, {x.strides.data(), x.n + 1});
  const std::int64_t outputs = catena::size_of(s.kept), count = catena::size_of(s.reduced);
  KernelKey& key = plan.key;
  key.program = reduction_hash(*call.kernel, loop, plan.around);
  for (std::size_t k = 0; k < x.n; ++k) key.dtypes[k] = x.all[k].dtype;
  key.scalars = x.scalars;
  key.rank = rank_class(s.kept.size(), device::kMaxExactRank);
  key.reduced_rank = rank_class(s.reduced.size(), device::kMaxExactRank);
  key.index32 = all_near(s, x.n);

  // Neighbouring threads should read neighbouring elements.
  std::int64_t outputs_per_block = 1, threads_per_output = device::kBlock;
  if (outputs >= device::kWarp && distance(s.kept_stride[x.n].back()) < distance(s.reduced_stride[x.n].back())) {
    key.form = Form::reduce_columns;
    outputs_per_block = device::kWarp;
    threads_per_output = device::kBlock / device::kWarp;
  } else if (count <= 1024 && outputs > 1) {
    key.form = Form::reduce_warp;
    outputs_per_block = device::kBlock / device::kWarp;
    threads_per_output = device::kWarp;
  } else {
    key.form = Form::reduce_block;
  }
  const std::int64_t items = ceil_divide(outputs, outputs_per_block);
  std::int64_t splits = 1;
  if (items < kBlocks && items > 0)
    splits = std::clamp<std::int64_t>(count / (threads_per_output * 16), 1, kBlocks / items);
  plan.grid_x = blocks(items, processors, 16);
  plan.grid_y = static_cast<std::uint32_t>(splits);

  ParameterBlock& p = plan.parameters;
  for (std::int64_t v : {outputs, count, std::int64_t(s.kept.size()), std::int64_t(s.reduced.size()), splits}) p.put(v);
  p.put_scratch(
      sequence.reserve(splits > 1 ? static_cast<std::size_t>(outputs * splits) * loop.reduction->acc_bytes : 0));
  put_reduction(p, x, s, key);
  if (splits > 1) {
    LaunchPlan& second = sequence.launches.emplace_back(plan);
    second.key.form = Form::reduce_second;
    second.grid_x = blocks(ceil_divide(outputs, device::kBlock / device::kWarp), processors, 16);
    second.grid_y = 1;
  }
  return sequence;
}

LaunchPlan plan_row_wise(const catena::bound::RowWise& call, int processors) {
  const std::size_t n = call.operands.size();
  LaunchPlan plan;
  plan.kernel = call.kernel;
  plan.loop = call.loop;
  KernelKey& key = plan.key;
  key.program = kernel_hash(*call.kernel, call.kernel->loop_table[call.loop]);
  Strides none = Strides::filled(call.shape.size(), 0);
  std::array<const Strides*, catena::kMaxOperands> strides{};
  for (std::size_t k = 0; k < n; ++k) {
    key.dtypes[k] = call.operands[k].dtype;
    const bool fixed = k < call.kernel->nin && is_fixed(call.operands[k], 2);
    if (fixed) key.scalars |= std::uint16_t(1u << k);
    else if (k < std::min<std::size_t>(call.kernel->nin, kPerRowBit) && is_fixed_along(call.operands[k], call.axes))
      key.scalars |= std::uint16_t(1u << (k + kPerRowBit));
    strides[k] = fixed ? &none : call.operands[k].strides;
  }
  const SplitAxes s = split_axes(call.shape, call.axes, {strides.data(), n});
  const std::int64_t rows = catena::size_of(s.kept), count = catena::size_of(s.reduced);
  key.rank = rank_class(s.kept.size(), device::kMaxExactRank);
  key.reduced_rank = rank_class(s.reduced.size(), device::kMaxExactRank);
  key.index32 = all_near(s, n);
  constexpr std::int64_t of_warp = device::kRowElements * device::kWarp,
                         of_block = device::kRowElements * device::kBlock;
  key.form = count <= of_warp ? Form::row_warp : (count <= of_block ? Form::row_block : Form::row_long);
  std::int64_t rows_per_block = key.form == Form::row_warp ? device::kBlock / device::kWarp : 1;
  // Neighbouring threads should read neighbouring elements, if there are enough rows for all threads.
  if (rows >= 4 * device::kBlock && count <= of_warp &&
      distance(s.kept_stride[0].back()) < distance(s.reduced_stride[0].back())) {
    key.form = Form::row_columns;
    rows_per_block = device::kBlock;
  }
  plan.grid_x = blocks(ceil_divide(rows, rows_per_block), processors, 16);
  if (count == 0) plan.grid_x = 0;

  ParameterBlock& p = plan.parameters;
  for (std::int64_t v : {rows, count, std::int64_t(s.kept.size()), std::int64_t(s.reduced.size())}) p.put(v);
  put_operands(p, call.operands);
  const int kept = axes_of(key.rank), reduced = axes_of(key.reduced_rank);
  put_axes(p, s.kept, kept, 1);
  for (std::size_t k = 0; k < n; ++k) put_axes(p, s.kept_stride[k], kept, 0);
  put_axes(p, s.reduced, reduced, 1);
  for (std::size_t k = 0; k < n; ++k) put_axes(p, s.reduced_stride[k], reduced, 0);
  p.align(16);
  return plan;
}

}  // namespace nd::cuda
