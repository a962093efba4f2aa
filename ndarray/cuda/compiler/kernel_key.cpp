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

}  // namespace

std::string_view name_of(Form form) {
  // clang-format off
  constexpr std::string_view names[] = {
      "contiguous", "strided", "indexed",
      "reduce_block", "reduce_warp", "reduce_columns", "reduce_second",
      "row_block", "row_warp", "row_long", "row_columns",
      "multi_tensor", "random",
      "scan_rows", "scan_columns", "scan_row_sums", "scan_column_sums", "scan_carries",
      "gather", "scatter", "scatter_add",
      "matmul_tiles", "matmul_rows", "matmul_columns", "matmul_second",
      "nonzero_count", "nonzero_write", "offsets",
      "sort_block", "sort_keys", "sort_count", "sort_move", "sort_result",
      "index_check", "join",
  };
  // clang-format on
  static_assert(std::size(names) == static_cast<std::size_t>(Form::join) + 1);
  return names[static_cast<std::size_t>(form)];
}

std::uint64_t KernelKey::hash() const {
  Hash h;
  h << program << form << rank << reduced_rank << scalars << index32 << arch << text;
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
