// Row-wise kernels: plans and texts.
#include <algorithm>
#include <array>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/kernels/row_wise_operands.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>

namespace nd::cuda {

namespace device = catena::device;
using catena::concat;
using catena::KernelDef;
using catena::Loop;
using catena::Strides;

namespace {

// The operands of a kernel as its text needs them, read from the key.
struct RowOperands {
  std::size_t widest = 1;      // bytes of the widest operand that advances along a row
  std::size_t kept_bytes = 0;  // bytes of one element of each input that a thread keeps
  std::string bytes;           // per input the bytes of an element, 0 if it does not advance; a list
};
RowOperands row_operands(const KernelDef& def, const Loop& loop, const KernelKey& key) {
  RowOperands r;
  for (int j = 0; j < def.nin + def.nout; ++j) {
    const std::size_t stored = catena::itemsize(key.dtypes[static_cast<std::size_t>(j)]);
    const bool input = j < def.nin,
               moves = !input || (((key.scalars >> j) | (key.scalars >> (j + kPerRowBit))) & 1) == 0;
    if (moves) r.widest = std::max(r.widest, stored);
    if (!input) continue;
    // Elements that every phase reads are kept in the compute type, not in the stored one.
    const Dtype computed = catena::compute_dtype(loop.type[static_cast<std::size_t>(j)]);
    const std::size_t bytes = moves ? std::max(stored, catena::itemsize(computed)) : 0;
    if (((loop.row_wise->shared >> j) & 1) == 0) r.kept_bytes += bytes;
    r.bytes += concat(r.bytes.empty() ? "" : ", ", bytes);
  }
  return r;
}

// Registers of a thread for the elements that stay in them and for the addresses of the operands.
std::size_t registers_of(const KernelDef& def, std::size_t kept_bytes, std::int64_t elements) {
  constexpr std::size_t kPerOperand = 8, kRegister = 4;  // registers for the addresses of an operand; bytes
  return kept_bytes * static_cast<std::size_t>(elements) / kRegister +
         kPerOperand * static_cast<std::size_t>(def.num_operands());
}
constexpr std::size_t kRowRegisters = 176;  // of the 255 that a thread can have; the computation needs the others

// Returns how many elements each of `threads` threads gets of a row: 8 times a power of two, because 8 elements of two
// bytes are one access.
std::int64_t elements_of(std::int64_t count, std::int64_t threads) {
  std::int64_t elements = 8;
  while (elements * threads < count) elements *= 2;
  return elements;
}

std::int64_t rows_per_block(Form form) {
  switch (form) {
    case Form::row_part: return std::int64_t(device::kBlock) / std::int64_t(catena::kPartLanes);
    case Form::row_warp: return device::kBlock / device::kWarp;
    case Form::row_columns: return device::kBlock;
    default: return 1;
  }
}

// Chooses the threads for a row of `count` elements, the last axis of which has `inner`. A row of at most kPartRow
// elements would leave most threads of a warp without data. A warp needs no barrier to reduce a row; longer rows fit
// only in the registers of a block.
void choose_group(KernelKey& key, const KernelDef& def, const Loop& loop, std::int64_t count, std::int64_t inner) {
  constexpr std::int64_t of_warp = device::kRowElements * device::kWarp;
  const RowOperands operands = row_operands(def, loop, key);
  const std::int64_t in_block = elements_of(count, device::kBlock);
  if (count <= catena::kPartRow) key.form = Form::row_part;
  else if (count <= of_warp) key.form = Form::row_warp;
  else if (in_block <= device::kRowElements ||
           (in_block <= catena::kMostRowElements && registers_of(def, operands.kept_bytes, in_block) <= kRowRegisters))
    key.form = Form::row_block;
  else key.form = Form::row_long;
  if (key.form == Form::row_long || key.reduced_rank == 0) return;
  const std::int64_t threads = device::kBlock / rows_per_block(key.form);
  key.per_thread = static_cast<std::uint8_t>(elements_of(count, threads));
  std::size_t word = 16;  // bytes of the widest access, halved until runs divide the last axis
  while (word > operands.widest && inner % static_cast<std::int64_t>(word / operands.widest) != 0) word /= 2;
  key.word_bytes = static_cast<std::uint8_t>(word);
}

}  // namespace

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
  key.index32 = all_fit_int32(s, n);
  const Loop& loop = call.kernel->loop_table[call.loop];
  // Neighbouring threads should read neighbouring elements, where there are rows enough for all threads.
  if (rows >= 4 * device::kBlock && count <= device::kRowElements * device::kWarp &&
      distance(s.kept_stride[0].back()) < distance(s.reduced_stride[0].back()))
    key.form = Form::row_columns;
  else choose_group(key, *call.kernel, loop, count, s.reduced.empty() ? 1 : s.reduced.back());
  plan.grid_x = blocks(ceil_divide(rows, rows_per_block(key.form)), processors, 16);
  if (count == 0) plan.grid_x = 0;

  ParameterBlock& p = plan.parameters;
  p.put_head(
      device::RowWiseHead{.rows = rows, .count = count, .kept_rank = s.kept.size(), .reduced_rank = s.reduced.size()});
  put_operands(p, call.operands);
  const int kept = axes_of(key.rank), reduced = axes_of(key.reduced_rank);
  put_axes(p, s.kept, kept, 1);
  for (std::size_t k = 0; k < n; ++k) put_axes(p, s.kept_stride[k], kept, 0);
  put_axes(p, s.reduced, reduced, 1);
  for (std::size_t k = 0; k < n; ++k) put_axes(p, s.reduced_stride[k], reduced, 0);
  p.align(16);
  return plan;
}

namespace {

std::string group_name(Form form) {
  switch (form) {
    case Form::row_part: return concat("PartGroup<", int(catena::kPartLanes), ">");
    case Form::row_warp: return "WarpGroup";
    case Form::row_columns: return "ThreadGroup";
    default: return "BlockGroup";
  }
}

}  // namespace

void add_row_wise(GeneratedKernel& k, const KernelDef& def, const Loop& loop, const KernelKey& key) {
  add_header(k, "catena/kernels/device/row_wise.h");
  const int n = def.num_operands();
  const int kept = key.rank != 0 ? key.rank : int(catena::device::kGenericRank);
  const int reduced = key.reduced_rank != 0 ? key.reduced_rank : int(catena::device::kGenericRank);
  k.parameters = concat("catena::device::RowWiseParameters<", n, ", ", kept, ", ", reduced, ">");
  k.parameter_bytes = aligned_bytes(operand_bytes(sizeof(device::RowWiseHead), std::size_t(n)) +
                                    std::size_t(8 * (n + 1) * (kept + reduced)));
  std::string tags;
  for (int j = 0; j < n; ++j) {
    const char* role = "Out";
    if (j < def.nin)
      role = (key.scalars >> j) & 1 ? "Scalar" : ((key.scalars >> (j + kPerRowBit)) & 1 ? "PerRow" : "In");
    tags += tag(role, key.dtypes[static_cast<std::size_t>(j)], loop.type[static_cast<std::size_t>(j)]);
  }
  const RowOperands operands = row_operands(def, loop, key);
  const bool columns = key.form == Form::row_columns;
  const int word = key.word_bytes != 0 ? key.word_bytes : 16;
  const int width = key.reduced_rank != 0 && !columns ? word / static_cast<int>(operands.widest) : 1;
  const int elements = key.per_thread > 1 ? key.per_thread : int(device::kRowElements);
  // Rows over many axes stay in memory because the address computation of each element would make the code too long,
  // rows with many wide inputs because there are not enough registers.
  const bool in_registers = !columns && key.form != Form::row_long && key.reduced_rank != 0 &&
                            registers_of(def, operands.kept_bytes, elements) <= kRowRegisters;
  const int kept_elements = in_registers ? elements : 0;
  const std::string body = concat("catena::k::", def.name);
  // Addresses in rows over several axes need registers that are not counted: the assembler chooses.
  const std::string blocks = key.reduced_rank > 1
                                 ? "0"
                                 : concat("catena::device::RowResources<", body, ", ", kept_elements, ", ", width, ", ",
                                          n, ", catena::device::Indices<", operands.bytes, ">>::blocks");
  add_function(
      k,
      concat("catena::device::row_wise<", body, ", ", compute_name(loop.type[0]),
             ", catena::device::", group_name(key.form), ", ", index_name(key), ", ", int(key.rank), ", ",
             int(key.reduced_rank), ", ", width, ", ", kept_elements / width, ", ", list_of_indices(0, def.nin), ", ",
             list_of_indices(def.nin, def.nin + def.nout), ", ", list_of_indices(def.nin + def.nout, n), tags, ">"),
      blocks);
}

}  // namespace nd::cuda
