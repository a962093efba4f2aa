// Generates texts for single kernels: reductions, scans, row-wise kernels, multi-tensor updates, random fills.
#include <algorithm>

#include <catena/kernels/registry/embedded.h>
#include <catena/ndarray/cuda/compiler/codegen_text.h>

namespace nd::cuda {

using catena::concat;
using catena::KernelDef;
using catena::KernelKind;
using catena::Loop;

namespace {

constexpr std::size_t kRegisterBytes = 512;  // per thread, for the elements of a row

// Adds struct <name>_elements, which computes an element of the loop's type T from the inputs. The element is rounded
// to the dtype that an array of the elements would have.
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

void add_reduction(GeneratedKernel& k, const KernelDef& def, const Loop& loop, const KernelKey& key,
                   const Surroundings& around) {
  add_header(k, "catena/kernels/device/reduction.h");
  const int inputs = static_cast<int>(around.inputs()), operands = static_cast<int>(around.operands());
  const int most = reduction_rank(around.inputs(), around.operands());
  const int kept = key.rank != 0 ? key.rank : most, reduced = key.reduced_rank != 0 ? key.reduced_rank : most;
  k.parameters = concat("catena::device::ReduceParameters<", inputs, ", ", operands, ", ", kept, ", ", reduced, ">");
  const int cells = (48 + 8 * operands + 15) / 16 * 16 + 16 * operands;
  k.parameter_bytes =
      static_cast<std::size_t>((cells + 8 * ((1 + operands) * kept + (1 + inputs) * reduced) + 15) / 16 * 16);
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

void add_row(GeneratedKernel& k, const KernelDef& def, const Loop& loop, const KernelKey& key) {
  add_header(k, "catena/kernels/device/row_wise.h");
  const int n = def.num_operands();
  const int kept = key.rank != 0 ? key.rank : int(catena::device::kGenericRank);
  const int reduced = key.reduced_rank != 0 ? key.reduced_rank : int(catena::device::kGenericRank);
  k.parameters = concat("catena::device::RowParameters<", n, ", ", kept, ", ", reduced, ">");
  k.parameter_bytes =
      static_cast<std::size_t>((32 + 8 * n + 15) / 16 * 16 + 16 * n + 8 * (n + 1) * (kept + reduced) + 15) / 16 * 16;
  std::string tags;
  std::size_t widest = 1,
              kept_bytes = 0;  // bytes: of the widest operand that advances along a row; of one element of all
  for (int j = 0; j < n; ++j) {
    const Dtype stored = key.dtypes[static_cast<std::size_t>(j)];
    const char* role = "Out";
    if (j < def.nin)
      role = (key.scalars >> j) & 1 ? "Scalar" : ((key.scalars >> (j + kPerRowBit)) & 1 ? "PerRow" : "In");
    const bool moves = j < def.nin + def.nout && role[0] != 'S' && role[0] != 'P';
    if (moves) widest = std::max(widest, catena::itemsize(stored));
    if (moves && j < def.nin) kept_bytes += catena::itemsize(stored);
    tags += tag(role, stored, loop.type[static_cast<std::size_t>(j)]);
  }
  const bool columns = key.form == Form::row_columns;
  const int width = key.reduced_rank != 0 && !columns ? static_cast<int>(16 / widest) : 1,
            elements = catena::device::kRowElements;
  // Rows over many axes stay in memory, because computing the address of each element would make the code too long;
  // rows with many wide inputs stay there because there are not enough registers.
  const bool in_registers = !columns && key.form != Form::row_long && key.reduced_rank != 0 &&
                            kept_bytes * static_cast<std::size_t>(elements) <= kRegisterBytes;
  add_function(
      k, concat("catena::device::rows<catena::k::", def.name, ", ", compute_name(loop.type[0]), ", catena::device::",
                columns ? "ThreadGroup" : (key.form == Form::row_warp ? "WarpGroup" : "BlockGroup"), ", ",
                index_name(key), ", ", int(key.rank), ", ", int(key.reduced_rank), ", ", width, ", ",
                in_registers ? elements / width : 0, ", ", list_of_indices(0, def.nin), ", ",
                list_of_indices(def.nin, def.nin + def.nout), ", ", list_of_indices(def.nin + def.nout, n), tags, ">"));
}

void add_multi_tensor(GeneratedKernel& k, const KernelDef& def, const Loop& loop) {
  add_header(k, "catena/kernels/device/multi_tensor.h");
  k.parameters = "catena::device::MultiTensorParameters";
  k.parameter_bytes = sizeof(catena::device::MultiTensorParameters);
  std::string tags;
  for (int j = 0; j < def.num_operands(); ++j) {
    const char* role =
        (def.shared >> j) & 1 ? "Shared" : (j < def.nin ? "In" : (j < def.first_output() ? "InOut" : "Out"));
    tags += tag(role, loop.type[static_cast<std::size_t>(j)], loop.type[static_cast<std::size_t>(j)]);
  }
  const int width = vector_width({loop.type.data(), static_cast<std::size_t>(def.num_operands())}, def.shared);
  add_function(k, concat("catena::device::multi_tensor<catena::k::", def.name, ", ", std::min(width, 4), tags, ">"));
}

void add_random(GeneratedKernel& k, const KernelDef& def, const Loop& loop, const KernelKey& key) {
  add_header(k, "catena/kernels/device/random.h");
  k.parameters = "catena::device::RandomParameters";
  k.parameter_bytes = sizeof(catena::device::RandomParameters);
  const bool range = def.nin == 4;  // seed, offset, low, high
  add_function(k, concat("catena::device::random_fill<catena::k::", def.name, ", ", type_name(key.dtypes[0]), ", ",
                         type_name(loop.type[static_cast<std::size_t>(def.first_output())]), ", ",
                         range ? "true" : "false", ", ", index_name(key), ">"));
}

void add_scan(GeneratedKernel& k, const KernelDef& def, const Loop& loop, const KernelKey& key) {
  add_header(k, "catena/kernels/device/scan.h");
  const int rank = key.rank != 0 ? key.rank : int(catena::device::kGenericRank);
  k.parameters = concat("catena::device::ScanParameters<", rank, ">");
  k.parameter_bytes = static_cast<std::size_t>(8 * (10 + 3 * rank));
  constexpr const char* functions[] = {"rows", "columns", "row_sums", "column_sums", "carries"};
  const auto function = functions[static_cast<int>(key.form) - static_cast<int>(Form::scan_rows)];
  add_function(k, concat("catena::device::Scan<catena::k::", def.name, ", ", type_name(key.dtypes[0]), ", ",
                         type_name(loop.type[0]), ", ", type_name(key.dtypes[1]), ", ", type_name(loop.type[1]), ", ",
                         int(key.rank), ">::", function));
}

}  // namespace

GeneratedKernel generate(const KernelDef& def, const Loop& loop, const KernelKey& key, const Surroundings& around) {
  GeneratedKernel k;
  const bool fused = around.pre != nullptr || around.post != nullptr;
  k.name = kernel_name(concat(around.pre != nullptr ? steps_name(*around.pre) + "_then_" : "", def.name,
                              around.post != nullptr ? "_then_" + steps_name(*around.post) : ""),
                       key);
  add_header(k, def.header);
  const bool fits =
      (def.is(catena::is_random) && key.form == Form::random) ||
      (def.kind == KernelKind::reduction && key.form >= Form::reduce_block && key.form <= Form::reduce_second) ||
      (def.kind == KernelKind::reduction && key.form >= Form::scan_rows && key.form <= Form::scan_carries && !fused) ||
      (def.kind == KernelKind::row_wise && key.form >= Form::row_block && key.form <= Form::row_columns) ||
      (def.kind == KernelKind::multi_tensor && key.form == Form::multi_tensor);
  catena::check<catena::ValueError>(fits, "code generation", "the form ", name_of(key.form),
                                    " does not fit the kernel ", def.name);
  k.body = fused ? description(def, loop, key, around) : description(def, loop, key);
  if (key.form == Form::random) add_random(k, def, loop, key);
  else if (key.form >= Form::scan_rows) add_scan(k, def, loop, key);
  else if (def.kind == KernelKind::reduction) add_reduction(k, def, loop, key, around);
  else if (def.kind == KernelKind::row_wise) add_row(k, def, loop, key);
  else add_multi_tensor(k, def, loop);
  return k;
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
  const std::size_t fixed = 64 + 24 * operands, per_axis = 8 * (2 + inputs + operands);
  return static_cast<int>(
      std::min<std::size_t>(catena::device::kGenericRank, (catena::device::kParameterBytes - fixed) / per_axis));
}

}  // namespace nd::cuda
