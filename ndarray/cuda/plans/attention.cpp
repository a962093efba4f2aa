#include <catena/ndarray/cuda/plans/attention.h>

#include <algorithm>
#include <cmath>

#include <catena/kernels/device/attention_parameters.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/execute.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>
#include <catena/ndarray/cuda/runtime/context.h>

namespace nd::cuda {
namespace {

namespace device = catena::device;
using catena::ArrayHeader;
using catena::concat;

// Fields of KernelKey: rank: columns / 16; per_thread: 1 for the gradient of k, 2 for that of v, 3 for both;
// word_bytes: bytes of an element of the mask, 0 for none; many_pieces: tensor cores.
enum : std::uint8_t { kOfKeys = 1, kOfValues = 2 };

int depth_of(const KernelKey& key) { return int(key.rank) * 16; }

// The work of a block on tensor cores (TensorTiles, kernels/device/attention_tiles.h). `kept`: columns / 16 of
// the rows that a warp owns in registers; `blocks`: that a multiprocessor holds at once.
struct Tiling {
  int columns, warps, groups, kept, blocks;
};
// A warp with two groups loads half as much of the tiles as two warps with one. The tilings are those with the most
// warps whose registers are not spilled: a multiprocessor has 65536, and a block 48 KiB of static shared memory.
Tiling tiling_of(const KernelKey& key) {
  const int depth = depth_of(key), all = depth / 16;
  Tiling t{32, 4, 2, all, 2};
  if (key.form == Form::attention) {
    if (depth <= 32) t.blocks = 4;
    if (depth == 64) t.kept = 3, t.blocks = 3;
    if (depth == 128) t.columns = 16;
  } else if (key.form == Form::attention_queries) {
    if (depth <= 32) t.blocks = depth == 16 ? 4 : 3;
    if (depth == 64) t = {32, 3, 2, 0, 4};
    if (depth > 64) t.groups = 1, t.blocks = depth == 96 ? 3 : 2;
  } else {
    if (depth == 16) t.blocks = 3;
    if (depth == 64) t.columns = 16, t.kept = 0;
    if (depth > 64) t.groups = 1;
  }
  // The addresses and the elements of a mask take registers, too.
  if (key.word_bytes != 0) t.blocks = 2;
  return t;
}

// The work of a block, with or without tensor cores, for the columns of the operands.
struct Division {
  std::string tiles;  // the type
  int rows, threads, blocks;
  explicit Division(const KernelKey& key) {
    const int depth = depth_of(key);
    const std::string first = concat(type_name(key.dtypes[0]), ", ", depth, ", ");
    if (key.many_pieces) {
      const Tiling t = tiling_of(key);
      tiles =
          concat("catena::device::TensorTiles<", first, t.columns, ", ", t.warps, ", ", t.groups, ", ", t.kept, ">");
      rows = 16 * t.warps * t.groups;
      threads = device::kWarp * t.warps;
      blocks = t.blocks;
    } else {
      // Shared memory holds the rows that the block owns, two tiles, and the weights: less than 48 KiB.
      const int own_rows = depth <= 32 ? 4 : depth <= 96 ? 2 : 1, own_columns = depth <= 64 ? 2 : 1;
      tiles = concat("catena::device::FmaTiles<", first, own_rows, ", ", own_columns, ">");
      rows = 16 * own_rows;
      threads = device::kBlock;
      blocks = 2;
    }
  }
};

device::AttentionOperand operand_of(const ArrayHeader& a) {
  device::AttentionOperand o{};
  o.data = reinterpret_cast<char*>(a.data);
  const int rank = a.shape.size(), axes = rank - 3;
  const auto stride = [&](int axis) { return a.shape[axis] == 1 ? 0 : a.strides[axis]; };
  for (int k = 0; k < axes; ++k) o.axis[k] = stride(k);
  o.group = stride(rank - 3);
  o.row = stride(rank - 2);
  return o;
}

device::AttentionParameters parameters_of(const Attention& a, const ArrayHeader& log_sums) {
  device::AttentionParameters p{};
  const int rank = a.q.shape.size(), axes = rank - 3;
  p.heads = 1;
  for (int k = 0; k < device::kAttentionAxes; ++k) {
    p.length[k] = k < axes ? a.q.shape[k] : 1;
    p.heads *= p.length[k];
  }
  p.groups = a.q.shape[rank - 3];
  p.queries = a.q.shape[rank - 2];
  p.keys = a.k.shape[rank - 2];
  p.causal = a.causal ? 1 : 0;
  p.window = a.window;
  p.offset = a.offset;
  p.scale = float(a.scale);
  p.scale2 = float(a.scale * 1.4426950408889634);
  p.unit = std::max(std::abs(p.scale2), 1e-37f);
  p.q = operand_of(a.q);
  p.k = operand_of(a.k);
  p.v = operand_of(a.v);
  if (a.mask != nullptr) {
    p.mask = operand_of(*a.mask);
    p.mask_column = a.mask->shape[rank - 1] == 1 ? 0 : a.mask->strides[rank - 1];
  }
  p.log_sums = reinterpret_cast<float*>(log_sums.data);
  return p;
}

void launch(AttentionPass pass, const Attention& a, const device::AttentionParameters& p, StreamRef stream) {
  const bool narrow = catena::itemsize(a.q.dtype) == 2;
  LaunchPlan plan;
  plan.key = attention_key(pass, a.q.dtype, a.q.shape.back(), a.mask != nullptr ? &a.mask->dtype : nullptr,
                           narrow && properties(stream.device.id).arch >= 80);
  const bool of_queries = pass == AttentionPass::forward || pass == AttentionPass::queries;
  const Division division(plan.key);
  const std::int64_t rows = division.rows;
  const std::int64_t items =
      p.heads * (of_queries ? p.groups * ceil_divide(p.queries, rows) : ceil_divide(p.keys, rows));
  plan.parameters.put_head(p);
  plan.grid_x = static_cast<std::uint32_t>(items);
  plan.block_x = static_cast<std::uint32_t>(division.threads);
  launch_plan(plan, stream);
}

}  // namespace

bool takes_attention(const Attention& a) {
  const Dtype t = a.q.dtype;
  const std::int64_t depth = a.q.shape.back();
  const int rank = a.q.shape.size();
  const bool fits = depth == 16 || depth == 32 || depth == 64 || depth == 96 || depth == 128;
  constexpr std::int64_t kLongest = std::int64_t(1) << 30;  // the kernels count positions and blocks in 32 bits
  const bool of_mask = a.mask == nullptr || a.mask->dtype == Dtype::bool_ || a.mask->dtype == t;
  return of_mask && (t == Dtype::float16 || t == Dtype::bfloat16 || t == Dtype::float32) && fits &&
         a.v.shape.back() == depth && rank - 3 <= device::kAttentionAxes && a.q.shape[rank - 2] < kLongest &&
         a.k.shape[rank - 2] < kLongest && catena::size_of(a.q.shape) / depth < kLongest &&
         catena::size_of(a.k.shape) / depth < kLongest;
}

bool has_attention_rows(const ArrayHeader& a) {
  const int rank = a.shape.size();
  if (reinterpret_cast<std::uintptr_t>(a.data) % device::kAccess != 0) return false;
  for (int k = 0; k + 1 < rank; ++k)
    if (a.shape[k] > 1 && a.strides[k] % device::kAccess != 0) return false;
  // Offsets in a tile have 32 bits.
  return a.strides[rank - 1] == std::int64_t(catena::itemsize(a.dtype)) && distance(a.strides[rank - 2]) < (1 << 24);
}

void attention(const Attention& a, const ArrayHeader& y, const ArrayHeader& log_sums, StreamRef stream) {
  device::AttentionParameters p = parameters_of(a, log_sums);
  p.y = operand_of(y);
  launch(AttentionPass::forward, a, p, stream);
}

void attention_backward(const Attention& a, const ArrayHeader& y, const ArrayHeader& log_sums,
                        const ArrayHeader& row_numbers, const ArrayHeader& gy, const ArrayHeader& gq,
                        const ArrayHeader& gk, const ArrayHeader& gv, StreamRef stream) {
  device::AttentionParameters p = parameters_of(a, log_sums);
  p.y = operand_of(y);
  p.gy = operand_of(gy);
  p.gq = operand_of(gq);
  p.gk = operand_of(gk);
  p.gv = operand_of(gv);
  p.row_numbers = reinterpret_cast<float*>(row_numbers.data);
  launch(AttentionPass::queries, a, p, stream);
  // The registers of a thread do not hold the results of both gradients with more columns.
  if (a.q.shape.back() <= 64) return launch(AttentionPass::keys_and_values, a, p, stream);
  launch(AttentionPass::keys, a, p, stream);
  launch(AttentionPass::values, a, p, stream);
}

KernelKey attention_key(AttentionPass pass, Dtype dtype, std::int64_t depth, const Dtype* mask, bool tensor_cores) {
  KernelKey key;
  key.form = pass == AttentionPass::forward   ? Form::attention
             : pass == AttentionPass::queries ? Form::attention_queries
                                              : Form::attention_keys;
  key.dtypes[0] = dtype;
  key.rank = static_cast<std::uint8_t>(depth / 16);
  key.per_thread = pass == AttentionPass::keys     ? kOfKeys
                   : pass == AttentionPass::values ? kOfValues
                                                   : kOfKeys | kOfValues;
  key.word_bytes = mask != nullptr ? static_cast<std::uint8_t>(catena::itemsize(*mask)) : 0;
  key.many_pieces = tensor_cores;
  return key;
}

void add_attention(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/attention.h");
  set_parameters<device::AttentionParameters>(k, "AttentionParameters");
  const Division division(key);
  const std::string_view mask = key.word_bytes == 0 ? "none" : key.word_bytes == 1 ? "seen" : "added";
  std::string function = key.form == Form::attention ? "forward" : "queries";
  if (key.form == Form::attention_keys)
    function = concat("keys<", (key.per_thread & kOfKeys) != 0 ? "true" : "false", ", ",
                      (key.per_thread & kOfValues) != 0 ? "true" : "false", ">");
  add_function(
      k,
      concat("catena::device::Attention<", division.tiles, ", catena::device::AttentionMask::", mask, ">::", function),
      concat(division.blocks), division.threads);
}

}  // namespace nd::cuda
