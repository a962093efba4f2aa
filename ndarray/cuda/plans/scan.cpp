// Running results: plans and texts.
#include <algorithm>
#include <array>

#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>

namespace nd::cuda {
namespace {

namespace device = catena::device;
using catena::concat;
using catena::KernelDef;
using catena::Loop;
using catena::Shape;
using catena::Strides;

constexpr std::int64_t kShortRow = 64;       // elements of a row that one thread may scan
constexpr std::int64_t kLeastOfThread = 64;  // elements of a part of a row per thread
// The accumulators that a thread of a chain keeps in registers: their bytes, and their number, since a smaller one has
// a register of its own, too.
constexpr std::int64_t kKeptBytes = 128, kKeptItems = 32;

// The elements that a thread of a chain keeps in registers: neighbours that are loaded at once, in several rounds.
struct Kept {
  Kept(const Loop& loop, Dtype in, Dtype out) {
    const auto acc = static_cast<std::int64_t>(loop.reduction->acc_bytes);
    wide = device::kAccess / static_cast<std::int64_t>(std::max(catena::itemsize(in), catena::itemsize(out)));
    const std::int64_t most = std::min(kKeptBytes / acc, kKeptItems);
    rounds = std::max(most / wide, std::int64_t(1));
  }
  std::int64_t piece() const { return rounds * wide * device::kBlock; }  // elements of a block
  std::int64_t wide, rounds;
};

}  // namespace

Sequence plan_scan(const catena::bound::Scan& call, int processors) {
  Shape kept = *call.in.shape;
  std::array<Strides, 2> strides{*call.in.strides, *call.out.strides};
  const std::int64_t count = kept[call.axis], in_step = strides[0][call.axis], out_step = strides[1][call.axis];
  kept.erase(call.axis);
  for (Strides& s : strides) s.erase(call.axis);
  catena::merge_axes(kept, strides);
  at_least_one_axis(kept, strides);
  const std::int64_t rows = catena::size_of(kept);
  Sequence sequence;
  if (rows == 0 || count == 0) return sequence;

  const catena::Loop& loop = call.kernel->loop_table[call.loop];
  LaunchPlan plan;
  plan.kernel = call.kernel;
  plan.loop = call.loop;
  plan.key.program = kernel_hash(*call.kernel, loop);
  plan.key.dtypes[0] = call.in.dtype;
  plan.key.dtypes[1] = call.out.dtype;
  plan.key.rank = rank_class(kept.size(), device::kMaxExactRank);
  // Neighbouring threads should read neighbouring elements.
  const bool columns = rows >= device::kWarp && (count <= kShortRow || distance(strides[0].back()) < distance(in_step));
  const std::int64_t acc = static_cast<std::int64_t>(loop.reduction->acc_bytes),
                     chained = Kept(loop, call.in.dtype, call.out.dtype).piece();
  const bool chain = !columns && rows < kBlocks && count > chained;
  const std::int64_t workers = kBlocks * (device::kBlock / 2);
  const std::int64_t wanted =
      !columns || rows >= workers ? 1 : std::clamp<std::int64_t>(count / kLeastOfThread, 1, workers / rows);
  const std::int64_t piece = chain ? chained : ceil_divide(ceil_divide(count, wanted), kLeastOfThread) * kLeastOfThread,
                     splits = ceil_divide(count, piece), groups = chain ? ceil_divide(splits, device::kWarp) : 0;
  const std::int64_t items = columns ? ceil_divide(rows * splits, device::kBlock) : rows * splits;

  ParameterBlock& p = plan.parameters;
  p.put_head(device::ScanHead{.rows = rows,
                              .count = count,
                              .rank = kept.size(),
                              .splits = splits,
                              .piece = piece,
                              .groups = groups,
                              .in_step = in_step,
                              .out_step = out_step,
                              .in = call.in.data,
                              .out = call.out.data,
                              .partial = nullptr,
                              .flags = nullptr});
  const std::int64_t flags = chain ? rows * (splits + groups) + device::kTaken : 0;
  const std::size_t first_flag = sequence.reserve(static_cast<std::size_t>(flags) * sizeof(std::uint32_t));
  p.put_scratch(&device::ScanHead::flags, first_flag);
  p.put_scratch(&device::ScanHead::partial,
                sequence.reserve(splits > 1 ? static_cast<std::size_t>(rows * (splits + 2 * groups) * acc) : 0));
  const int rank = axes_of(plan.key.rank);
  put_axes(p, kept, rank, 1);
  for (const Strides& s : strides) put_axes(p, s, rank, 0);
  const auto add = [&](Form form, std::int64_t needed) {
    plan.key.form = form;
    plan.grid_x = blocks(needed, processors, 16);
    sequence.launches.push_back(plan);
  };
  if (chain) {
    sequence.launches.push_back(plan_clear(flags, first_flag, processors));
    add(Form::scan_chain, items);
    return sequence;
  }
  if (splits > 1) {
    add(Form::scan_column_sums, items);
    add(Form::scan_carries, rows);
  }
  add(columns ? Form::scan_columns : Form::scan_rows, items);
  return sequence;
}

void add_scan(GeneratedKernel& k, const KernelDef& def, const Loop& loop, const KernelKey& key) {
  add_header(k, "catena/kernels/device/scan.h");
  set_parameters<device::ScanParameters>(k, "ScanParameters", key.rank);
  const std::string_view function = name_of(key.form).substr(std::string_view("scan_").size());
  const std::string rounds =
      key.form == Form::scan_chain ? concat(", ", Kept(loop, key.dtypes[0], key.dtypes[1]).rounds) : "";
  add_function(k,
               concat("catena::device::Scan<catena::k::", def.name, ", ", type_name(key.dtypes[0]), ", ",
                      type_name(loop.type[0]), ", ", type_name(key.dtypes[1]), ", ", type_name(loop.type[1]), ", ",
                      int(key.rank), rounds, ">::", function),
               key.form != Form::scan_chain ? "" : (loop.reduction->acc_bytes > 4 ? "2" : "3"));
}

}  // namespace nd::cuda
