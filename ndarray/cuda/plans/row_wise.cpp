// Row-wise kernels: plans and texts.
#include <algorithm>
#include <array>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>

namespace nd::cuda {

namespace device = catena::device;
using catena::concat;
using catena::KernelDef;
using catena::Loop;
using catena::Strides;

namespace {
constexpr std::size_t kRowRegisters = 176;  // of a thread at most, for the elements of a row and their addresses
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
  // Neighbouring threads should read neighbouring elements, where there are rows enough for all threads.
  if (rows >= 4 * device::kBlock && count <= of_warp &&
      distance(s.kept_stride[0].back()) < distance(s.reduced_stride[0].back())) {
    key.form = Form::row_columns;
    rows_per_block = device::kBlock;
  }
  plan.grid_x = blocks(ceil_divide(rows, rows_per_block), processors, 16);
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

// The blocks of a row kernel that a multiprocessor must have registers for at once, an expression; none: the assembler
// chooses. `registers`: those of a thread for elements that stay in them and for addresses; 0 if none stay. For
// architectures from 10.0 on the assembler uses more registers for the same text, and its own choice of their number
// makes some kernels spill.
std::string_view blocks_of_row(std::size_t registers) {
  if (registers == 0) return "3";
  if (registers <= 64) return "__CUDA_ARCH__ < 1000 ? 3 : 2";
  return registers > 128 ? "__CUDA_ARCH__ < 1000 ? 0 : 1" : "";
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
  std::size_t widest = 1,
              kept_bytes = 0;  // bytes: the widest operand that advances along a row; one element of each such input
  for (int j = 0; j < n; ++j) {
    const Dtype stored = key.dtypes[static_cast<std::size_t>(j)];
    const char* role = "Out";
    if (j < def.nin)
      role = (key.scalars >> j) & 1 ? "Scalar" : ((key.scalars >> (j + kPerRowBit)) & 1 ? "PerRow" : "In");
    const bool moves = j < def.nin + def.nout && role[0] != 'S' && role[0] != 'P';
    if (moves) widest = std::max(widest, catena::itemsize(stored));
    // The compiler keeps what is read in every phase as it is computed with, not as it is stored.
    const Dtype computed = catena::compute_dtype(loop.type[static_cast<std::size_t>(j)]);
    if (moves && j < def.nin) kept_bytes += std::max(catena::itemsize(stored), catena::itemsize(computed));
    tags += tag(role, stored, loop.type[static_cast<std::size_t>(j)]);
  }
  const bool columns = key.form == Form::row_columns;
  const int width = key.reduced_rank != 0 && !columns ? static_cast<int>(16 / widest) : 1,
            elements = catena::device::kRowElements;
  // Rows over many axes stay in memory because the address computation of each element would make the code too long,
  // rows with many wide inputs because there are not enough registers.
  constexpr std::size_t kPerOperand = 8, kRegister = 4;  // registers for the addresses of an operand; bytes
  const std::size_t registers =
      kept_bytes * static_cast<std::size_t>(elements) / kRegister + kPerOperand * static_cast<std::size_t>(n);
  const bool in_registers =
      !columns && key.form != Form::row_long && key.reduced_rank != 0 && registers <= kRowRegisters;
  add_function(
      k,
      concat("catena::device::row_wise<catena::k::", def.name, ", ", compute_name(loop.type[0]),
             ", catena::device::", columns ? "ThreadGroup" : (key.form == Form::row_warp ? "WarpGroup" : "BlockGroup"),
             ", ", index_name(key), ", ", int(key.rank), ", ", int(key.reduced_rank), ", ", width, ", ",
             in_registers ? elements / width : 0, ", ", list_of_indices(0, def.nin), ", ",
             list_of_indices(def.nin, def.nin + def.nout), ", ", list_of_indices(def.nin + def.nout, n), tags, ">"),
      blocks_of_row(in_registers ? registers : 0));
}

}  // namespace nd::cuda
