// Reductions, with programs before and after them: plans and texts.
#include <algorithm>
#include <array>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/embedded.h>
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

// The operands of a reduction in the order of its parameters. Strides are those over call.in.shape: along the reduced
// axes only inputs move, and what is one element for all of them does not move at all.
struct ReduceOperands {
  std::array<BoundOperand, catena::kMaxOperands> all;
  std::array<Strides, catena::kMaxOperands> own;
  std::array<const Strides*, catena::kMaxOperands + 1> strides{};  // the last one: which axes are the inner ones
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
  p.put_head(device::ReduceHead{.outputs = outputs,
                                .count = count,
                                .divisor = call.divisor(count),
                                .kept_rank = s.kept.size(),
                                .reduced_rank = s.reduced.size(),
                                .splits = splits,
                                .partial = nullptr});
  p.put_scratch(
      &device::ReduceHead::partial,
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

// ---- texts --------------------------------------------------------------------------------------
namespace {

// Adds struct <name>_elements, which computes an element of the loop's type T from the inputs; it is rounded to the
// dtype that an array of the elements would have.
void add_elements_program(GeneratedKernel& k, const Loop& loop, const Surroundings& around) {
  const catena::Program& program = *around.pre;
  std::string arguments;
  for (std::size_t j = 0; j < program.nin; ++j) arguments += concat(compute_name(program.slots[j]), " s", j, ", ");
  add_step_headers(k, program);
  k.body += concat("namespace {\nstruct ", k.name, "_elements {\n  static ND_FN void run(", arguments,
                   compute_name(loop.type[0]), "& element) {\n", slots_text(program, program.nin), steps_text(program),
                   "    element = catena::device::to_slot<", type_name(loop.type[0]), ">(catena::device::from_slot<",
                   type_name(around.element), ", ", type_name(program.slots[program.nin]), ">(s", int(program.nin),
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

}  // namespace

void add_reduction(GeneratedKernel& k, const KernelDef& def, const Loop& loop, const KernelKey& key,
                   const Surroundings& around) {
  add_header(k, "catena/kernels/device/reduction.h");
  const int inputs = static_cast<int>(around.inputs()), operands = static_cast<int>(around.operands());
  const int most = reduction_rank(around.inputs(), around.operands());
  const int kept = key.rank != 0 ? key.rank : most, reduced = key.reduced_rank != 0 ? key.reduced_rank : most;
  k.parameters = concat("catena::device::ReduceParameters<", inputs, ", ", operands, ", ", kept, ", ", reduced, ">");
  k.parameter_bytes = aligned_bytes(operand_bytes(sizeof(device::ReduceHead), around.operands()) +
                                    std::size_t(8 * ((1 + operands) * kept + (1 + inputs) * reduced)));
  if (around.pre != nullptr) add_elements_program(k, loop, around);
  if (around.post != nullptr) add_results_program(k, loop, *around.post);

  std::string input_tags, result_tags;
  for (int j = 0; j < operands; ++j) {
    const Dtype stored = key.dtypes[static_cast<std::size_t>(j)];
    const bool scalar = (key.scalars >> j) & 1,
               per_output = operands <= kPerRowBit && (key.scalars >> (j + kPerRowBit)) & 1;
    if (j < inputs) {
      const Dtype slot = around.pre != nullptr ? around.pre->slots[static_cast<std::size_t>(j)] : loop.type[0];
      input_tags += tag(scalar ? "Scalar" : (per_output ? "PerRow" : "In"), stored, slot);
    } else {
      const Dtype slot =
          around.post != nullptr ? around.post->slots[static_cast<std::size_t>(j - inputs + 1)] : loop.type[1];
      result_tags += tag(j + 1 == operands ? "Out" : (scalar ? "Scalar" : "In"), stored, slot);
    }
  }
  // The run length depends on the dtype of the reduced elements, so that it is the same as for an array of them.
  const std::size_t item = catena::itemsize(around.pre != nullptr ? around.element : key.dtypes[0]);
  const int run = item > 4 ? 4 : static_cast<int>(16 / item), width = around.pre != nullptr ? 4 : run;
  const char* function = "rows<catena::device::BlockGroup>";
  if (key.form == Form::reduce_warp) function = "rows<catena::device::WarpGroup>";
  if (key.form == Form::reduce_columns) function = "columns";
  if (key.form == Form::reduce_second) function = "second";
  const std::string none = "catena::device::Unchanged";
  add_function(k, concat("catena::device::Reduce<catena::k::", def.name, ", catena::device::Elements<",
                         around.pre != nullptr ? k.name + "_elements" : none, ", ", type_name(loop.type[0]), ", ", run,
                         ", ", width, ", ", list_of_indices(0, inputs), input_tags, ">, catena::device::Results<",
                         around.post != nullptr ? k.name + "_results" : none, ", ", type_name(loop.type[1]), ", ",
                         inputs, ", ", list_of_indices(0, operands - inputs), result_tags, ">, ", index_name(key), ", ",
                         int(key.rank), ", ", int(key.reduced_rank), ">::", function));
}

std::uint64_t reduction_hash(const KernelDef& def, const Loop& loop, const Surroundings& around) {
  const std::uint64_t hash = kernel_hash(def, loop);
  if (around.pre == nullptr && around.post == nullptr) return hash;
  const std::uint64_t parts[] = {hash, around.pre != nullptr ? program_hash(*around.pre) : 0,
                                 around.post != nullptr ? program_hash(*around.post) : 0,
                                 static_cast<std::uint64_t>(around.element)};
  return catena::fnv1a({reinterpret_cast<const char*>(parts), sizeof parts});
}

int reduction_rank(std::size_t inputs, std::size_t operands) {
  const std::size_t fixed = aligned_bytes(operand_bytes(sizeof(device::ReduceHead), operands)),
                    per_axis = 8 * (2 + inputs + operands);
  return static_cast<int>(
      std::min<std::size_t>(catena::device::kGenericRank, (catena::device::kParameterBytes - fixed) / per_axis));
}

}  // namespace nd::cuda
