// Generates texts for kernels that their key describes completely: gather, scatter, checks of indices, matrix products,
// nonzero, sorting, joining.
#include <algorithm>

#include <catena/ndarray/cuda/compiler/codegen_text.h>

namespace nd::cuda {

using catena::concat;

namespace {

void add_gather(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/gather.h");
  const int axes = key.reduced_rank, room = std::max(axes, 1), rank = key.rank != 0 ? key.rank : gather_rank(axes);
  k.parameters = concat("catena::device::GatherParameters<", room, ", ", rank, ">");
  k.parameter_bytes = static_cast<std::size_t>(8 * (4 + 3 * room + 3 * rank + room * rank));
  std::string call = concat("catena::device::Indexed<", index_name(key), ", ", int(key.rank));
  for (int j = 0; j < axes; ++j) call += concat(", ", type_name(key.dtypes[static_cast<std::size_t>(j + 1)]));
  if (key.form == Form::scatter_add) call += concat(">::add<", type_name(key.dtypes[0]), ">");
  else call += concat(">::", name_of(key.form), "<", key.scalars, ">");
  add_function(k, call);
}

void add_matmul(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/matmul.h");
  const int rank = key.rank != 0 ? key.rank : int(catena::device::kGenericRank);
  k.parameters = concat("catena::device::MatmulParameters<", rank, ">");
  k.parameter_bytes = static_cast<std::size_t>(8 * (16 + 4 * rank));
  const char* function = "tiles";
  if (key.form == Form::matmul_rows) function = "narrow_rows";
  if (key.form == Form::matmul_columns) function = "narrow_columns";
  if (key.form == Form::matmul_second) function = "second";
  const bool light = key.form == Form::matmul_tiles && catena::itemsize(key.dtypes[0]) < 8;
  add_function(k, concat("catena::device::Matmul<", type_name(key.dtypes[0]), ", ", int(key.rank), ">::", function),
               light ? 2 : 0);
}

void add_nonzero(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/nonzero.h");
  const int rank = key.rank != 0 ? key.rank : int(catena::device::kGenericRank);
  k.parameters = concat("catena::device::NonzeroParameters<", rank, ">");
  k.parameter_bytes = static_cast<std::size_t>(8 * (7 + 2 * rank));
  add_function(k, concat("catena::device::Nonzero<", type_name(key.dtypes[0]), ", ", index_name(key), ", ",
                         int(key.rank), ">::", key.form == Form::nonzero_count ? "count" : "write"));
}

void add_offsets(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/nonzero.h");
  k.parameters = "catena::device::OffsetsParameters";
  k.parameter_bytes = sizeof(catena::device::OffsetsParameters);
  add_function(k, concat("catena::device::offsets<", type_name(key.dtypes[0]), ">"));
}

void add_index_check(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/index_check.h");
  const int rank = key.rank != 0 ? key.rank : int(catena::device::kGenericRank);
  k.parameters = concat("catena::device::IndexCheckParameters<", rank, ">");
  k.parameter_bytes = static_cast<std::size_t>(8 * (5 + 2 * rank)) + sizeof(catena::IndexRule);
  add_function(k, concat("catena::device::IndexCheck<", type_name(key.dtypes[0]), ", ", index_name(key), ", ",
                         int(key.rank), ">::run"));
}

void add_join(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/join.h");
  const int room = key.reduced_rank != 0 ? catena::device::kManyPieces : catena::device::kFewPieces;
  k.parameters = concat("catena::device::JoinParameters<", room, ">");
  k.parameter_bytes = static_cast<std::size_t>(8 * (6 + 5 * room));
  add_function(k, concat("catena::device::join<", key.scalars, ">"));
}

void add_sort(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/sort.h");
  if (key.form == Form::sort_count || key.form == Form::sort_move) {
    k.parameters = "catena::device::RadixParameters";
    k.parameter_bytes = sizeof(catena::device::RadixParameters);
    add_function(k, concat("catena::device::Radix<", type_name(key.dtypes[0]),
                           ">::", key.form == Form::sort_count ? "count" : "move"));
    return;
  }
  const int rank = key.rank != 0 ? key.rank : int(catena::device::kGenericRank);
  k.parameters = concat("catena::device::SortParameters<", rank, ">");
  k.parameter_bytes = static_cast<std::size_t>(8 * (12 + 3 * rank));
  const char* function = key.form == Form::sort_block ? "block" : (key.form == Form::sort_keys ? "keys" : "result");
  add_function(k, concat("catena::device::Sort<", type_name(key.dtypes[0]), ", ", int(key.rank), ">::", function));
}

}  // namespace

GeneratedKernel generate(const KernelKey& key) {
  catena::check<catena::ValueError>(key.form >= Form::gather, "code generation", "the form ", name_of(key.form),
                                    " needs a kernel or a program");
  const bool indexing = key.form <= Form::scatter_add;
  GeneratedKernel k;
  k.name = kernel_name("array", key);
  k.body = description("array -", key, indexing ? 1 + key.reduced_rank : 1);
  if (indexing) add_gather(k, key);
  else if (key.form <= Form::matmul_second) add_matmul(k, key);
  else if (key.form <= Form::nonzero_write) add_nonzero(k, key);
  else if (key.form == Form::offsets) add_offsets(k, key);
  else if (key.form == Form::index_check) add_index_check(k, key);
  else if (key.form == Form::join) add_join(k, key);
  else add_sort(k, key);
  return k;
}

int gather_rank(int axes) {
  const int room = std::max(axes, 1);
  return std::min(catena::kMaxRank, (catena::device::kParameterBytes / 8 - 4 - 3 * room) / (3 + room));
}

}  // namespace nd::cuda
