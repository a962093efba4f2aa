// Texts of the kernels that run the bodies of one row of the registry: reductions, scans, row kernels, multi-tensor updates, random fills.
#include <algorithm>

#include "ndarray/cuda/codegen_text.h"

namespace nd::cuda {

using catena::concat;
using catena::KernelDef;
using catena::KernelKind;
using catena::Loop;

namespace {

constexpr std::size_t kRegisterBytes = 512;  // of a thread, for the elements of a row

void add_reduction(GeneratedKernel& k, const KernelDef& def, const Loop& loop, const KernelKey& key) {
  add_header(k, "kernels/device/reduction.h");
  const int kept = key.rank != 0 ? key.rank : catena::device::kGenericRank;
  const int reduced = key.reduced_rank != 0 ? key.reduced_rank : catena::device::kGenericRank;
  k.parameters = concat("catena::device::ReduceParameters<", kept, ", ", reduced, ">");
  k.parameter_bytes = static_cast<std::size_t>(8 * (8 + 3 * kept + 2 * reduced));
  const char* function = "rows<catena::device::BlockGroup>";
  if (key.form == Form::reduce_warp) function = "rows<catena::device::WarpGroup>";
  if (key.form == Form::reduce_columns) function = "columns";
  if (key.form == Form::reduce_second) function = "second";
  add_function(k, concat("catena::device::Reduce<catena::k::", def.name, ", ", type_name(key.dtypes[0]), ", ", type_name(loop.type[0]),
                         ", ", type_name(key.dtypes[1]), ", ", type_name(loop.type[1]), ", ", index_name(key), ", ", int(key.rank), ", ",
                         int(key.reduced_rank), ">::", function));
}

void add_row(GeneratedKernel& k, const KernelDef& def, const Loop& loop, const KernelKey& key) {
  add_header(k, "kernels/device/row.h");
  const int n = def.num_operands();
  const int kept = key.rank != 0 ? key.rank : catena::device::kGenericRank;
  const int reduced = key.reduced_rank != 0 ? key.reduced_rank : catena::device::kGenericRank;
  k.parameters = concat("catena::device::RowParameters<", n, ", ", kept, ", ", reduced, ">");
  k.parameter_bytes = static_cast<std::size_t>((32 + 8 * n + 15) / 16 * 16 + 16 * n + 8 * (n + 1) * (kept + reduced) + 15) / 16 * 16;
  std::string tags;
  std::size_t widest = 1, kept_bytes = 0;  // of the operands that move along a row; of one element of the inputs among them
  for (int j = 0; j < n; ++j) {
    const Dtype stored = key.dtypes[static_cast<std::size_t>(j)];
    const char* role = "Out";
    if (j < def.nin) role = (key.scalars >> j) & 1 ? "Scalar" : ((key.scalars >> (j + kPerRowBit)) & 1 ? "PerRow" : "In");
    const bool moves = j < def.nin + def.nout && role[0] != 'S' && role[0] != 'P';
    if (moves) widest = std::max(widest, catena::itemsize(stored));
    if (moves && j < def.nin) kept_bytes += catena::itemsize(stored);
    tags += tag(role, stored, loop.type[static_cast<std::size_t>(j)]);
  }
  const bool columns = key.form == Form::row_columns;
  const int width = key.reduced_rank != 0 && !columns ? static_cast<int>(16 / widest) : 1, elements = catena::device::kRowElements;
  // Rows over many axes: the code that finds each element would be too long. Many wide inputs: more than there are registers.
  const bool in_registers =
      !columns && key.form != Form::row_long && key.reduced_rank != 0 && kept_bytes * static_cast<std::size_t>(elements) <= kRegisterBytes;
  add_function(k, concat("catena::device::rows<catena::k::", def.name, ", ", compute_name(loop.type[0]),
                         ", catena::device::", columns ? "ThreadGroup" : (key.form == Form::row_warp ? "WarpGroup" : "BlockGroup"), ", ",
                         index_name(key), ", ", int(key.rank), ", ", int(key.reduced_rank), ", ", width, ", ",
                         in_registers ? elements / width : 0, ", ", list_of_indices(0, def.nin), ", ",
                         list_of_indices(def.nin, def.nin + def.nout), ", ", list_of_indices(def.nin + def.nout, n), tags, ">"));
}

void add_multi_tensor(GeneratedKernel& k, const KernelDef& def, const Loop& loop) {
  add_header(k, "kernels/device/multi_tensor.h");
  k.parameters = "catena::device::MultiTensorParameters";
  k.parameter_bytes = sizeof(catena::device::MultiTensorParameters);
  std::string tags;
  for (int j = 0; j < def.num_operands(); ++j) {
    const char* role = (def.shared >> j) & 1 ? "Shared" : (j < def.nin ? "In" : (j < def.first_output() ? "InOut" : "Out"));
    tags += tag(role, loop.type[static_cast<std::size_t>(j)], loop.type[static_cast<std::size_t>(j)]);
  }
  const int width = vector_width({loop.type.data(), static_cast<std::size_t>(def.num_operands())}, def.shared);
  add_function(k, concat("catena::device::multi_tensor<catena::k::", def.name, ", ", std::min(width, 4), tags, ">"));
}

void add_random(GeneratedKernel& k, const KernelDef& def, const Loop& loop, const KernelKey& key) {
  add_header(k, "kernels/device/random.h");
  k.parameters = "catena::device::RandomParameters";
  k.parameter_bytes = sizeof(catena::device::RandomParameters);
  const bool range = def.nin == 4;  // seed, offset, low, high
  add_function(k, concat("catena::device::random_fill<catena::k::", def.name, ", ", type_name(key.dtypes[0]), ", ",
                         type_name(loop.type[static_cast<std::size_t>(def.first_output())]), ", ", range ? "true" : "false", ", ",
                         index_name(key), ">"));
}

void add_scan(GeneratedKernel& k, const KernelDef& def, const Loop& loop, const KernelKey& key) {
  add_header(k, "kernels/device/scan.h");
  const int rank = key.rank != 0 ? key.rank : catena::device::kGenericRank;
  k.parameters = concat("catena::device::ScanParameters<", rank, ">");
  k.parameter_bytes = static_cast<std::size_t>(8 * (10 + 3 * rank));
  constexpr const char* functions[] = {"rows", "columns", "row_sums", "column_sums", "carries"};
  const auto function = functions[static_cast<int>(key.form) - static_cast<int>(Form::scan_rows)];
  add_function(k, concat("catena::device::Scan<catena::k::", def.name, ", ", type_name(key.dtypes[0]), ", ", type_name(loop.type[0]), ", ",
                         type_name(key.dtypes[1]), ", ", type_name(loop.type[1]), ", ", int(key.rank), ">::", function));
}

}  // namespace

GeneratedKernel generate(const KernelDef& def, const Loop& loop, const KernelKey& key) {
  GeneratedKernel k;
  k.name = kernel_name(def.name, key);
  add_header(k, def.header);
  const bool fits = (std::string_view(def.header) == "kernels/random.h" && key.form == Form::random) ||
                    (def.kind == KernelKind::reduction && key.form >= Form::reduce_block && key.form <= Form::reduce_second) ||
                    (def.kind == KernelKind::reduction && key.form >= Form::scan_rows && key.form <= Form::scan_carries) ||
                    (def.kind == KernelKind::row && key.form >= Form::row_block && key.form <= Form::row_columns) ||
                    (def.kind == KernelKind::multi_tensor && key.form == Form::multi_tensor);
  catena::check<catena::ValueError>(fits, "code generation", "the form ", name_of(key.form), " does not fit the kernel ", def.name);
  k.body = description(def, loop, key);
  if (key.form == Form::random) add_random(k, def, loop, key);
  else if (key.form >= Form::scan_rows) add_scan(k, def, loop, key);
  else if (def.kind == KernelKind::reduction) add_reduction(k, def, loop, key);
  else if (def.kind == KernelKind::row) add_row(k, def, loop, key);
  else add_multi_tensor(k, def, loop);
  return k;
}

}  // namespace nd::cuda
