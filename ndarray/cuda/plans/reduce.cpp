// Reductions, with programs before and after them: plans and texts.
#include <algorithm>
#include <array>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/embedded.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>

namespace nd::cuda {

namespace device = catena::device;
using catena::BoundOperand;
using catena::concat;
using catena::KernelDef;
using catena::Loop;
using catena::Strides;

// ---- plans --------------------------------------------------------------------------------------
namespace {

// The operands of a reduction in the order of its parameters. Strides are those over call.in.shape. Along the reduced
// axes, all operands but the inputs have stride 0. In a call with programs, operands with one element for the whole
// loop have stride 0 along every axis.
struct ReduceOperands {
  std::array<BoundOperand, catena::kMaxOperands> all;
  std::array<Strides, catena::kMaxOperands> own;
  std::array<const Strides*, catena::kMaxOperands + 1> strides{};  // the last one: which axes are the inner ones
  std::size_t n, inputs;
  std::uint16_t scalars = 0;

  ReduceOperands(const catena::bound::Reduce& call, const FusedPrograms& fused)
      : n(fused.operands()), inputs(fused.inputs()) {
    catena::check<catena::ValueError>(n <= all.size(), call.kernel->name, n, " operands exceed the limit of ",
                                      all.size());
    if (call.pre != nullptr) std::copy(call.pre_inputs.begin(), call.pre_inputs.end(), all.begin());
    else all[0] = call.in;
    std::copy(call.post_inputs.begin(), call.post_inputs.end(), all.begin() + std::ptrdiff_t(inputs));
    all[n - 1] = call.out;
    const bool is_fused = call.pre != nullptr || call.post != nullptr;
    for (std::size_t k = 0; k < n; ++k) {
      own[k] = *all[k].strides;
      if (k >= inputs)
        for (std::int64_t a : call.axes) own[k][static_cast<int>(a)] = 0;
      strides[k] = &own[k];
      if (!is_fused || k + 1 == n) continue;
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
  const int most_axes = reduction_rank(x.inputs, x.n);
  const int kept = key.rank != 0 ? key.rank : most_axes, reduced = key.reduced_rank != 0 ? key.reduced_rank : most_axes;
  catena::check<catena::ValueError>(s.kept.size() <= kept && s.reduced.size() <= reduced, "kernel launch",
                                    "a reduction with ", x.n, " operands over ", s.reduced.size(), " of ",
                                    s.kept.size() + s.reduced.size(), " axes that do not merge exceeds the limit of ",
                                    most_axes, " axes each");
  put_axes(p, s.kept, kept, 1);
  for (std::size_t k = 0; k < x.n; ++k) put_axes(p, s.kept_stride[k], kept, 0);
  put_axes(p, s.reduced, reduced, 1);
  for (std::size_t k = 0; k < x.inputs; ++k) put_axes(p, s.reduced_stride[k], reduced, 0);
  p.align(16);
}

// The elements of a run, which one thread takes one after the other (Elements in kernels/device/reduction.h). It
// depends on the dtype of the reduced elements, so that it is the same for a program that computes them as for an array
// of them.
int run_of(std::size_t item) { return item > 4 ? 4 : static_cast<int>(16 / item); }

// The work of the blocks: the outputs are divided among `items` blocks, and the elements of an output into `splits`
// parts of `part` elements.
struct SplitPlan {
  std::int64_t items, splits, part;
};
// items_for_order: the block count by which the number of splits is chosen; within a form it is the same for operands
// of any layout.
struct BlockCounts {
  std::int64_t items, items_for_order, threads_per_output;
};

constexpr std::uint8_t kWholeBlock = 63;  // KernelKey::word_bytes: the threads of a block
std::uint8_t threads_field(std::int64_t threads) {
  if (threads == device::kWarp) return 0;
  return threads == device::kBlock ? kWholeBlock : static_cast<std::uint8_t>(threads);
}

constexpr std::int64_t kShortReduction = 1024;  // elements that a warp reduces; if there are few outputs, the column
                                                // form is used only above this length
constexpr std::int64_t kRunsPerThread = 4;      // of a short row: 64 bytes, which a thread loads at once
constexpr std::int64_t kAcrossBytes = 32;       // of the accumulators of all outputs of a thread, to stay in registers
constexpr std::int64_t kMostAcross = 8;         // outputs of a thread: their partial results fill 40 registers
constexpr std::int64_t kWide = 16;              // bytes of the widest access

// The largest power of two up to `most` that divides n.
std::int64_t dividing(std::int64_t n, std::int64_t most) {
  std::int64_t r = 1;
  while (2 * r <= most && n % (2 * r) == 0) r *= 2;
  return r;
}

// Sets the form for reductions that keep the innermost axis. A thread computes several neighbouring outputs, so that it
// loads up to 16 bytes at once. Within this form, the order of combination depends on the number of outputs and the
// dtype of the reduced elements, not on the layout of the operands: it is the same for a program as for an array of its
// results.
void plan_columns(const SplitAxes& s, const ReduceOperands& x, const catena::bound::Reduce& call, KernelKey& key,
                  std::int64_t outputs, std::size_t item, BlockCounts& counts) {
  const auto sum = static_cast<std::int64_t>(call.kernel->loop_table[call.loop].reduction->acc_bytes);
  const std::int64_t most = std::min<std::int64_t>({kWide / std::int64_t(item), kAcrossBytes / sum, kMostAcross});
  const std::int64_t together = dividing(outputs, most), columns = outputs / together;
  std::int64_t across = device::kWarp;
  if (columns >= kBlocks * device::kBlock) across = device::kBlock;
  while (across <= device::kWarp && across / 2 >= columns) across /= 2;
  counts.threads_per_output = device::kBlock / across;
  counts.items_for_order = ceil_divide(outputs, across * together);

  // A thread computes a program for at most four outputs at once.
  std::int64_t here = call.pre != nullptr ? std::min<std::int64_t>(most, 4) : most;
  for (std::size_t k = 0; k < x.inputs; ++k)
    if (((x.scalars >> k) & 1) == 0) here = std::min(here, kWide / std::int64_t(catena::itemsize(x.all[k].dtype)));
  if ((x.scalars >> kPerRowBit) != 0) here = 1;
  here = dividing(s.kept.back(), here);
  key.form = Form::reduce_columns;
  key.per_thread = static_cast<std::uint8_t>(here);
  key.word_bytes = threads_field(across);
  counts.items = ceil_divide(outputs, across * here);
}

// Chooses the form, so that neighbouring threads read neighbouring elements, and divides the work among blocks. Neither
// depends on the device, so that the order of combination does not, either.
SplitPlan plan_splits(const SplitAxes& s, const ReduceOperands& x, const catena::bound::Reduce& call, KernelKey& key,
                      std::int64_t outputs, std::int64_t count) {
  const std::size_t item = catena::itemsize(call.pre != nullptr ? call.in.dtype : x.all[0].dtype);
  const int run = run_of(item);
  BlockCounts counts;
  const bool many = outputs >= device::kWarp || (outputs > 1 && count > kShortReduction);
  if (many && distance(s.kept_stride[x.n].back()) < distance(s.reduced_stride[x.n].back())) {
    plan_columns(s, x, call, key, outputs, item, counts);
  } else if (count <= kShortReduction && outputs > 1) {
    key.form = Form::reduce_warp;
    std::int64_t threads = 1;
    while (threads < device::kWarp && threads * kRunsPerThread * run < count) threads *= 2;
    key.word_bytes = threads_field(threads);
    counts = {ceil_divide(outputs, device::kBlock / threads),
              threads == device::kWarp ? ceil_divide(outputs, device::kBlock / device::kWarp) : kBlocks, threads};
  } else {
    key.form = Form::reduce_block;
    counts = {outputs, outputs, device::kBlock};
  }
  std::int64_t splits = 1;
  if (counts.items_for_order < kBlocks && outputs > 0)
    splits = std::clamp<std::int64_t>(count / (counts.threads_per_output * 16), 1,
                                      kBlocks / std::max<std::int64_t>(counts.items_for_order, 1));
  return {counts.items, splits, ceil_divide(ceil_divide(count, splits), run) * run};
}

}  // namespace

Sequence plan_reduce(const catena::bound::Reduce& call, int processors, const BlockCounters& counters) {
  Sequence sequence;
  LaunchPlan& plan = sequence.launches.emplace_back();
  plan.kernel = call.kernel;
  plan.loop = call.loop;
  plan.fused = {call.pre, call.post, call.in.dtype};
  const catena::Loop& loop = call.kernel->loop_table[call.loop];
  const ReduceOperands x(call, plan.fused);
  const SplitAxes s = split_axes(*call.in.shape, call.axes, {x.strides.data(), x.n + 1});
  const std::int64_t outputs = catena::size_of(s.kept), count = catena::size_of(s.reduced);
  KernelKey& key = plan.key;
  key.program = reduction_hash(*call.kernel, loop, plan.fused);
  for (std::size_t k = 0; k < x.n; ++k) key.dtypes[k] = x.all[k].dtype;
  key.scalars = x.scalars;
  key.rank = rank_class(s.kept.size(), device::kMaxExactRank);
  key.reduced_rank = rank_class(s.reduced.size(), device::kMaxExactRank);
  key.index32 = all_fit_int32(s, x.n);

  const SplitPlan split = plan_splits(s, x, call, plan.key, outputs, count);
  plan.grid_x = blocks(split.items, processors, 16);
  plan.grid_y = static_cast<std::uint32_t>(split.splits);
  const std::int64_t splits = split.splits;
  key.many_pieces = splits > 1;
  std::uint32_t* const blocks_done = splits > 1 && counters && plan.grid_x <= kCounters ? counters() : nullptr;

  ParameterBlock& p = plan.parameters;
  p.put_head(device::ReduceHead{.outputs = outputs,
                                .count = count,
                                .divisor = call.divisor(count),
                                .kept_rank = static_cast<std::int32_t>(s.kept.size()),
                                .reduced_rank = static_cast<std::int32_t>(s.reduced.size()),
                                .splits = splits,
                                .part = split.part,
                                .partial = nullptr,
                                .blocks_done = blocks_done});
  p.put_scratch(
      &device::ReduceHead::partial,
      sequence.reserve(splits > 1 ? static_cast<std::size_t>(outputs * splits) * loop.reduction->acc_bytes : 0));
  put_reduction(p, x, s, key);
  if (splits > 1 && blocks_done == nullptr) {
    LaunchPlan& second = sequence.launches.emplace_back(plan);
    second.key.form = Form::reduce_second;
    second.key.per_thread = 1;
    second.key.many_pieces = false;
    // A warp would read its partial results in a long sequence of accesses, each waiting for the one before.
    second.key.word_bytes = splits > device::kSplitsOfWarp ? kWholeBlock : 0;
    const std::int64_t per_block = second.key.word_bytes == kWholeBlock ? 1 : device::kBlock / device::kWarp;
    second.grid_x = blocks(ceil_divide(outputs, per_block), processors, 16);
    second.grid_y = 1;
  }
  return sequence;
}

// ---- texts --------------------------------------------------------------------------------------
namespace {

// Adds struct <name>_elements, which computes an element of the loop's type T from the inputs; it is rounded to the
// dtype that an array of the elements would have.
void add_elements_program(GeneratedKernel& k, const Loop& loop, const FusedPrograms& fused) {
  const catena::Program& program = *fused.pre;
  std::string arguments;
  for (std::size_t j = 0; j < program.nin; ++j) arguments += concat(compute_name(program.slots[j]), " s", j, ", ");
  add_step_headers(k, program);
  k.body += concat("namespace {\nstruct ", k.name, "_elements {\n  static ND_FN void run(", arguments,
                   compute_name(loop.type[0]), "& element) {\n", slots_text(program, program.nin), steps_text(program),
                   "    element = catena::device::to_slot<", type_name(loop.type[0]), ">(catena::device::from_slot<",
                   type_name(fused.element), ", ", type_name(program.slots[program.nin]), ">(s", int(program.nin),
                   "));\n  }\n};\n}  // namespace\n");
}

// Adds struct <name>_results, which computes the result from the reduced value, rounded to the loop's type R, and the
// further inputs.
void add_results_program(GeneratedKernel& k, const Loop& loop, const catena::Program& program) {
  std::string arguments = concat(compute_name(loop.type[1]), " reduced");
  for (std::size_t j = 1; j <= program.nin; ++j)
    arguments += concat(", ", compute_name(program.slots[j]), j < program.nin ? " s" : "& s", j);
  add_step_headers(k, program);
  k.body +=
      concat("namespace {\nstruct ", k.name, "_results {\n  static ND_FN void run(", arguments, ") {\n    ",
             compute_name(program.slots[0]), " s0 = catena::device::to_slot<", type_name(program.slots[0]),
             ">(catena::device::from_slot<", type_name(loop.type[1]), ", ", type_name(loop.type[1]), ">(reduced));\n",
             slots_text(program, program.nin + 1), steps_text(program), "  }\n};\n}  // namespace\n");
}

// Blocks per multiprocessor for which the threads have registers, if their accumulators are large. More warps hide more
// of the time in which a warp waits for its elements.
constexpr std::string_view kBlocksOfLargeSums = "4";

// word_bytes is the number of threads; 0 means 32, the threads of a warp, and kWholeBlock those of a block.
std::string skeleton_of(const KernelKey& key) {
  const int threads = key.word_bytes == 0             ? int(device::kWarp)
                      : key.word_bytes == kWholeBlock ? int(device::kBlock)
                                                      : int(key.word_bytes);
  const std::string_view group = threads == device::kBlock ? "BlockGroup" : "WarpGroup";
  const std::string_view split = key.many_pieces ? "true" : "false";
  if (key.form == Form::reduce_block) return concat("rows<catena::device::BlockGroup, ", split, ">");
  if (key.form == Form::reduce_second) return concat("second<catena::device::", group, ">");
  if (key.form == Form::reduce_columns) return concat("columns<", threads, ", ", int(key.per_thread), ", ", split, ">");
  if (threads == device::kWarp) return concat("rows<catena::device::WarpGroup, ", split, ">");
  return concat("rows<catena::device::LaneGroup<", threads, ">, ", split, ">");
}

}  // namespace

void add_reduction(GeneratedKernel& k, const KernelDef& def, const Loop& loop, const KernelKey& key,
                   const FusedPrograms& fused) {
  add_header(k, "catena/kernels/device/reduction.h");
  const int inputs = static_cast<int>(fused.inputs()), operands = static_cast<int>(fused.operands());
  const int most = reduction_rank(fused.inputs(), fused.operands());
  const int kept = key.rank != 0 ? key.rank : most, reduced = key.reduced_rank != 0 ? key.reduced_rank : most;
  k.parameters = concat("catena::device::ReduceParameters<", inputs, ", ", operands, ", ", kept, ", ", reduced, ">");
  k.parameter_bytes = aligned_bytes(operand_bytes(sizeof(device::ReduceHead), fused.operands()) +
                                    std::size_t(8 * ((1 + operands) * kept + (1 + inputs) * reduced)));
  if (fused.pre != nullptr) add_elements_program(k, loop, fused);
  if (fused.post != nullptr) add_results_program(k, loop, *fused.post);

  std::string input_tags, result_tags;
  for (int j = 0; j < operands; ++j) {
    const Dtype stored = key.dtypes[static_cast<std::size_t>(j)];
    const bool scalar = (key.scalars >> j) & 1,
               per_output = operands <= kPerRowBit && (key.scalars >> (j + kPerRowBit)) & 1;
    if (j < inputs) {
      const Dtype slot = fused.pre != nullptr ? fused.pre->slots[static_cast<std::size_t>(j)] : loop.type[0];
      input_tags += tag(scalar ? "Scalar" : (per_output ? "PerRow" : "In"), stored, slot);
    } else {
      const Dtype slot =
          fused.post != nullptr ? fused.post->slots[static_cast<std::size_t>(j - inputs + 1)] : loop.type[1];
      result_tags += tag(j + 1 == operands ? "Out" : (scalar ? "Scalar" : "In"), stored, slot);
    }
  }
  const int run = run_of(catena::itemsize(fused.pre != nullptr ? fused.element : key.dtypes[0])),
            width = fused.pre != nullptr ? 4 : run;
  const std::string none = "catena::device::Unchanged";
  add_function(k,
               concat("catena::device::Reduce<catena::k::", def.name, ", catena::device::Elements<",
                      fused.pre != nullptr ? k.name + "_elements" : none, ", ", type_name(loop.type[0]), ", ", run,
                      ", ", width, ", ", list_of_indices(0, inputs), input_tags, ">, catena::device::Results<",
                      fused.post != nullptr ? k.name + "_results" : none, ", ", type_name(loop.type[1]), ", ", inputs,
                      ", ", list_of_indices(0, operands - inputs), result_tags, ">, ", index_name(key), ", ",
                      int(key.rank), ", ", int(key.reduced_rank), ">::", skeleton_of(key)),
               loop.reduction->acc_bytes > device::kLargeSum ? kBlocksOfLargeSums : "");
}

std::uint64_t reduction_hash(const KernelDef& def, const Loop& loop, const FusedPrograms& fused) {
  const std::uint64_t hash = kernel_hash(def, loop);
  if (fused.pre == nullptr && fused.post == nullptr) return hash;
  const std::uint64_t parts[] = {hash, fused.pre != nullptr ? program_hash(*fused.pre) : 0,
                                 fused.post != nullptr ? program_hash(*fused.post) : 0,
                                 static_cast<std::uint64_t>(fused.element)};
  return catena::fnv1a({reinterpret_cast<const char*>(parts), sizeof parts});
}

int reduction_rank(std::size_t inputs, std::size_t operands) {
  const std::size_t fixed = aligned_bytes(operand_bytes(sizeof(device::ReduceHead), operands)),
                    per_axis = 8 * (2 + inputs + operands);
  return static_cast<int>(
      std::min<std::size_t>(catena::device::kGenericRank, (catena::device::kParameterBytes - fixed) / per_axis));
}

}  // namespace nd::cuda
