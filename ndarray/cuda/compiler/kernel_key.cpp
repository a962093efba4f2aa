#include <catena/ndarray/cuda/compiler/kernel_key.h>

#include <iterator>

#include <catena/kernels/registry/embedded.h>

namespace nd::cuda {
namespace {

// Hashes field by field, because padding bytes are indeterminate.
class Hash {
 public:
  template <class T> Hash& operator<<(const T& value) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t k = 0; k < sizeof(T); ++k, bits >>= 8) {
      const char byte = static_cast<char>(bits & 0xff);
      hash_ = catena::fnv1a({&byte, 1}, hash_);
    }
    return *this;
  }
  operator std::uint64_t() const { return hash_; }

 private:
  std::uint64_t hash_ = catena::fnv1a({});
};

struct FormEntry {
  Form form;
  Family family;
  std::string_view name;
};
constexpr FormEntry kForms[] = {
    {Form::contiguous, Family::elementwise, "contiguous"},
    {Form::strided, Family::elementwise, "strided"},
    {Form::indexed, Family::elementwise, "indexed"},
    {Form::indexed_apart, Family::elementwise, "indexed_apart"},
    {Form::recurrence, Family::elementwise, "recurrence"},
    {Form::reduce_block, Family::reduce, "reduce_block"},
    {Form::reduce_warp, Family::reduce, "reduce_warp"},
    {Form::reduce_columns, Family::reduce, "reduce_columns"},
    {Form::reduce_second, Family::reduce, "reduce_second"},
    {Form::row_block, Family::row_wise, "row_block"},
    {Form::row_warp, Family::row_wise, "row_warp"},
    {Form::row_part, Family::row_wise, "row_part"},
    {Form::row_long, Family::row_wise, "row_long"},
    {Form::row_columns, Family::row_wise, "row_columns"},
    {Form::multi_tensor, Family::multi_tensor, "multi_tensor"},
    {Form::random, Family::random, "random"},
    {Form::scan_rows, Family::scan, "scan_rows"},
    {Form::scan_columns, Family::scan, "scan_columns"},
    {Form::scan_chain, Family::scan, "scan_chain"},
    {Form::scan_column_sums, Family::scan, "scan_column_sums"},
    {Form::scan_carries, Family::scan, "scan_carries"},
    {Form::gather, Family::gather, "gather"},
    {Form::scatter, Family::gather, "scatter"},
    {Form::scatter_add, Family::gather, "scatter_add"},
    {Form::scatter_add_few, Family::gather, "scatter_add_few"},
    {Form::matmul_tiles, Family::matmul, "matmul_tiles"},
    {Form::matmul_rows, Family::matmul, "matmul_rows"},
    {Form::matmul_columns, Family::matmul, "matmul_columns"},
    {Form::matmul_second, Family::matmul, "matmul_second"},
    {Form::nonzero_count, Family::nonzero, "nonzero_count"},
    {Form::nonzero_count_bytes, Family::nonzero, "nonzero_count_bytes"},
    {Form::nonzero_write, Family::nonzero, "nonzero_write"},
    {Form::compress_write, Family::compress, "compress_write"},
    {Form::offsets, Family::offsets, "offsets"},
    {Form::clear, Family::offsets, "clear"},
    {Form::sort_block, Family::sort, "sort_block"},
    {Form::sort_count, Family::sort, "sort_count"},
    {Form::sort_move, Family::sort, "sort_move"},
    {Form::select_count, Family::sort, "select_count"},
    {Form::select_move, Family::sort, "select_move"},
    {Form::index_check, Family::index_check, "index_check"},
    {Form::join, Family::join, "join"},
    {Form::depthwise, Family::depthwise, "depthwise"},
    {Form::depthwise_data, Family::depthwise, "depthwise_data"},
    {Form::depthwise_filter, Family::depthwise, "depthwise_filter"},
    {Form::fft_stage, Family::fft, "fft_stage"},
    {Form::attention, Family::attention, "attention"},
    {Form::attention_queries, Family::attention, "attention_queries"},
    {Form::attention_keys, Family::attention, "attention_keys"},
};
constexpr bool in_order() {
  for (std::size_t k = 0; k < std::size(kForms); ++k)
    if (kForms[k].form != static_cast<Form>(k)) return false;
  return std::size(kForms) == static_cast<std::size_t>(Form::end);
}
static_assert(in_order(), "kForms has one entry for each form, in the order of the enumeration");
static_assert(std::size(kForms) <= 64, "a packed key has six bits for the form");

}  // namespace

std::string_view name_of(Form form) { return kForms[static_cast<std::size_t>(form)].name; }
Family family_of(Form form) { return kForms[static_cast<std::size_t>(form)].family; }

std::uint64_t KernelKey::hash() const {
  Hash h;
  h << program << form << rank << reduced_rank << per_thread << index_arrays << word_bytes << many_pieces << index32
    << scalars << arch << toolchain;
  for (Dtype t : dtypes) h << t;
  return h;
}

std::uint64_t program_hash(const catena::Program& program) {
  Hash h;
  h << program.nin << program.ninout << program.nout << program.slots.size() << program.steps.size();
  for (Dtype t : program.slots) h << t;
  for (const catena::Step& step : program.steps) {
    h << step.kernel->id;
    for (int k = 0; k < step.kernel->num_operands(); ++k)
      h << step.resolved().type[static_cast<std::size_t>(k)] << step.slot[static_cast<std::size_t>(k)];
  }
  return h;
}

std::uint64_t kernel_hash(const catena::KernelDef& def, const catena::Loop& loop) {
  Hash h;
  h << def.id;
  for (int k = 0; k < def.num_operands(); ++k) h << loop.type[static_cast<std::size_t>(k)];
  return h;
}

}  // namespace nd::cuda
