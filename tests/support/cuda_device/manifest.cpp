#include <catena/tests/support/cuda_device/manifest.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <sstream>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/cuda/plans/attention.h>

namespace cuda_device {
namespace {

using catena::Dtype;
using catena::KernelDef;
using nd::cuda::Form;
using nd::cuda::KernelKey;

catena::Step step(const char* kernel, const char* loop, std::initializer_list<int> slots) {
  catena::Step s;
  s.kernel = &catena::find_kernel(kernel);
  s.loop = static_cast<std::uint16_t>(loop_number(*s.kernel, loop));
  int k = 0;
  for (int slot : slots) s.slot[static_cast<std::size_t>(k++)] = static_cast<std::uint8_t>(slot);
  return s;
}

std::vector<NamedProgram> make_programs() {
  constexpr Dtype e = Dtype::float16, f = Dtype::float32, d = Dtype::float64;
  return {
      // ((a * b) + a) * b, every step rounded to float16
      {"half_chain",
       {step("multiply", "ee->e", {0, 1, 3}), step("add", "ee->e", {3, 0, 4}), step("multiply", "ee->e", {4, 1, 2})},
       {e, e, e, e, e},
       2,
       1},
      // float16 sums feed a float64 product that is read as float32
      {"mixed_chain",
       {step("add", "ee->e", {0, 0, 3}), step("multiply", "dd->d", {3, 1, 4}), step("add", "ff->f", {4, 1, 2})},
       {e, f, f, e, d},
       2,
       1},
  };
}

// ---- the list ---------------------------------------------------------------------------------------------------
using D = Dtype;
constexpr Dtype kDtypes[] = {D::bool_, D::int8,   D::uint8,   D::int16,    D::uint16,  D::int32,  D::uint32,
                             D::int64, D::uint64, D::float16, D::bfloat16, D::float32, D::float64};

KernelKey key_of(Form form, std::initializer_list<Dtype> dtypes, int rank, int reduced_rank = 1, bool index32 = true) {
  KernelKey key;
  key.form = form;
  std::copy(dtypes.begin(), dtypes.end(), key.dtypes.begin());
  key.rank = static_cast<std::uint8_t>(rank);
  key.reduced_rank = static_cast<std::uint8_t>(reduced_rank);
  key.index32 = index32;
  return key;
}

void add_indexing(std::vector<KernelKey>& keys) {
  for (Form form : {Form::gather, Form::scatter}) {
    const auto moves = [&](int bytes, std::initializer_list<Dtype> indices, int rank, int axes = 1,
                           bool index32 = true) {
      KernelKey key = key_of(form, {}, rank, 1, index32);
      std::copy(indices.begin(), indices.end(), key.dtypes.begin() + 1);
      key.index_arrays = static_cast<std::uint8_t>(axes);
      key.word_bytes = static_cast<std::uint8_t>(bytes);
      keys.push_back(key);
    };
    for (int bytes : {1, 2, 4, 8, 16}) moves(bytes, {D::int64}, 2);
    for (Dtype index : {D::int8, D::uint8, D::int16, D::uint16, D::int32, D::uint32, D::uint64}) moves(4, {index}, 2);
    moves(4, {D::int64}, 1);
    moves(16, {D::int64}, 1);
    moves(4, {}, 2, 0);
    moves(4, {D::int32, D::int64}, 2, 2);
    moves(4, {D::int64, D::int32}, 4, 2);
    moves(4, {D::int64}, 2, 1, false);
    moves(4, {D::int64}, 0, 1, false);
    moves(4, {D::int32}, 0);
  }
  const auto adds = [&](std::initializer_list<Dtype> dtypes, int rank, bool index32 = true) {
    KernelKey key = key_of(Form::scatter_add, dtypes, rank, 1, index32);
    key.index_arrays = static_cast<std::uint8_t>(dtypes.size() - 1);
    keys.push_back(key);
  };
  for (Dtype t : kDtypes) adds({t, D::int64}, 2);
  for (Dtype index : {D::int8, D::uint8, D::int16, D::uint16, D::int32, D::uint32, D::uint64})
    adds({D::float32, index}, 2);
  adds({D::float32, D::int64}, 1);
  adds({D::float32, D::int64, D::int32}, 0, false);
  for (Dtype t : {D::int64, D::float32, D::float64}) {
    KernelKey key = key_of(Form::scatter_add_few, {t, D::int64}, 1);
    key.index_arrays = 1;
    keys.push_back(key);
  }
}

// The generated kernels of one registered kernel in the layouts that tests have most: contiguous and along one axis,
// reduced along one or two. Of the two 16-bit floats one is enough here, of further layouts one or two dtypes; kernels
// that are no function of ndarray are float32 in most programs.
class KernelsOfOne {
 public:
  KernelsOfOne(const catena::RegisteredKernel& kernel, int loop, std::vector<nd::cuda::GeneratedKernel>& all)
      : def_(kernel), use_(kernel.use), number_(loop), loop_(def_.loop_table[loop]), all_(all) {}

  void add() {
    const auto operands = std::span(loop_.type).first(static_cast<std::size_t>(def_.num_operands()));
    if (std::find(operands.begin(), operands.end(), D::bfloat16) != operands.end()) return;
    if (def_.is(catena::is_random)) return add_random();
    if (use_ == catena::KernelUse::internal && !def_.is(catena::is_copy) && operands[0] != D::float32) return;
    if (def_.kind == catena::KernelKind::elementwise) add_elementwise();
    if (def_.kind == catena::KernelKind::reduction) add_reduction();
  }

 private:
  void add_elementwise() {
    const bool bounds = use_ == catena::KernelUse::own && def_.nin == 3 && loop_.type[1] == loop_.type[0] &&
                        loop_.type[2] == loop_.type[0];  // clip
    const unsigned numbers = bounds ? 1 << 1 | 1 << 2 : 0;
    program(Form::contiguous, 1, numbers);
    if (use_ == catena::KernelUse::internal && !def_.is(catena::is_copy)) return;
    program(Form::strided, 1, numbers);
    if (!def_.is(catena::is_copy)) return;
    program(Form::contiguous, 1, 1);  // fill
    for (int rank : {2, 3, 4}) program(Form::strided, rank);
    for (Dtype from : kDtypes)
      if (from != loop_.type[0]) program(Form::contiguous, 1, 0, from);
  }

  void add_reduction() {
    const bool sample = loop_.type[0] == D::float32 || loop_.type[0] == D::int64;
    simple(Form::reduce_block, 1, 1);
    simple(Form::reduce_block, 1, 2);
    simple(Form::reduce_warp, 1, 1);
    if (def_.is(catena::may_scan)) simple(Form::scan_rows, 1, 1);
    if (!sample) return;
    simple(Form::reduce_block, 1, 3);
    simple(Form::reduce_warp, 1, 2);
    simple(Form::reduce_warp, 2, 1);
    if (loop_.type[0] == D::int64) return;
    simple(Form::reduce_columns, 1, 1);
    simple(Form::reduce_second, 1, 1);
    if (def_.is(catena::may_scan))
      for (Form form : {Form::scan_columns, Form::scan_chain, Form::scan_column_sums, Form::scan_carries})
        simple(form, 1, 1);
  }

  void add_random() {
    const Dtype out = loop_.type[static_cast<std::size_t>(def_.first_output())];
    for (Dtype stored : {out, D::float16, D::bfloat16}) {
      if (stored != out && out != D::float32) continue;  // 16-bit floats are rounded from float32
      KernelKey key = key_of(def_, loop_, Form::random, 1);
      key.dtypes = {stored};
      all_.push_back(nd::cuda::generate(def_, loop_, key));
    }
  }

  // `from`: dtype of the first input in memory, if it is not that of the loop.
  void program(Form form, int rank, unsigned scalars = 0, std::optional<Dtype> from = {}) {
    const catena::EagerProgram program(def_, number_);
    KernelKey key = key_of(def_, loop_, form, rank);
    key.dtypes[0] = from.value_or(key.dtypes[0]);
    key.program = nd::cuda::program_hash(program);
    key.scalars = static_cast<std::uint16_t>(scalars);
    all_.push_back(nd::cuda::generate(program, key));
  }
  void simple(Form form, int rank, int reduced_rank) {
    all_.push_back(nd::cuda::generate(def_, loop_, key_of(def_, loop_, form, rank, reduced_rank)));
  }
  static KernelKey key_of(const KernelDef& def, const catena::Loop& loop, Form form, int rank, int reduced_rank = 1) {
    return cuda_device::key_of(def, loop, form, rank, reduced_rank);
  }

  const KernelDef& def_;
  catena::KernelUse use_;
  int number_;
  const catena::Loop& loop_;
  std::vector<nd::cuda::GeneratedKernel>& all_;
};

// ---- lines ------------------------------------------------------------------------------------------------------
Form form_of(const std::string& name, const std::string& line) {
  for (int k = 0; k < static_cast<int>(Form::end); ++k)
    if (nd::cuda::name_of(static_cast<Form>(k)) == name) return static_cast<Form>(k);
  throw catena::ValueError("manifest: no form '" + name + "' in the line " + line);
}

// Parses "rank=2".
void read_field(const std::string& word, KernelKey& key, const std::string& line) {
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (name == "dtypes") {
    catena::check<catena::ValueError>(value.size() <= key.dtypes.size(), "manifest", value.size(),
                                      " dtypes in the line ", line);
    for (std::size_t k = 0; k < value.size(); ++k) key.dtypes[k] = catena::dtype_from_char(value[k]);
    return;
  }
  int number = -1;
  std::from_chars(value.data(), value.data() + value.size(), number);
  if (name == "rank") key.rank = static_cast<std::uint8_t>(number);
  else if (name == "reduced") key.reduced_rank = static_cast<std::uint8_t>(number);
  else if (name == "per_thread") key.per_thread = static_cast<std::uint8_t>(number);
  else if (name == "index_arrays") key.index_arrays = static_cast<std::uint8_t>(number);
  else if (name == "word") key.word_bytes = static_cast<std::uint8_t>(number);
  else if (name == "many") key.many_pieces = number != 0;
  else if (name == "scalars") key.scalars = static_cast<std::uint16_t>(number);
  else if (name == "index") key.index32 = number == 32;
  else throw catena::ValueError("manifest: no field '" + name + "' in the line " + line);
}

}  // namespace

const std::vector<NamedProgram>& named_programs() {
  static const std::vector<NamedProgram> programs = make_programs();
  return programs;
}

const NamedProgram& named_program(const std::string& name) {
  for (const NamedProgram& p : named_programs())
    if (p.name == name) return p;
  throw catena::ValueError("manifest: there is no program named " + name);
}

int loop_number(const KernelDef& def, const std::string& signature) {
  for (int k = 0; k < def.num_loops; ++k)
    if (catena::signature(def, def.loop_table[k]) == signature) return k;
  throw catena::ValueError(std::string("manifest: ") + def.name + " has no loop " + signature);
}

nd::cuda::GeneratedKernel generate(const std::string& line) {
  std::istringstream words(line);
  std::string kernel, loop, form, word;
  words >> kernel >> loop >> form;
  KernelKey key;
  key.form = form_of(form, line);
  while (words >> word) read_field(word, key, line);
  if (kernel == "array") return nd::cuda::generate(key);
  if (kernel == "program") {
    const catena::Program program = named_program(loop).program();
    key.program = nd::cuda::program_hash(program);
    return nd::cuda::generate(program, key);
  }
  const KernelDef& def = catena::find_kernel(kernel);
  const int number = loop_number(def, loop);
  if (nd::cuda::family_of(key.form) == nd::cuda::Family::elementwise) {
    const catena::EagerProgram program(def, number);
    key.program = nd::cuda::program_hash(program);
    return nd::cuda::generate(program, key);
  }
  key.program = nd::cuda::kernel_hash(def, def.loop_table[number]);
  return nd::cuda::generate(def, def.loop_table[number], key);
}

KernelKey key_of(const KernelDef& def, const catena::Loop& loop, Form form, int rank, int reduced_rank) {
  KernelKey key;
  key.program = nd::cuda::kernel_hash(def, loop);
  key.dtypes = loop.type;
  key.form = form;
  key.rank = static_cast<std::uint8_t>(rank);
  key.reduced_rank = static_cast<std::uint8_t>(reduced_rank);
  return key;
}

// For every number of columns, on tensor cores and without them.
void add_attention(std::vector<KernelKey>& keys) {
  using nd::cuda::AttentionPass;
  const Dtype mask = D::bool_;
  for (const int depth : {16, 32, 64, 96, 128})
    for (const bool tensor_cores : {false, true})
      for (const AttentionPass pass : {AttentionPass::forward, AttentionPass::queries, AttentionPass::keys,
                                       AttentionPass::values, AttentionPass::keys_and_values}) {
        const bool both = pass == AttentionPass::keys_and_values,
                   one = pass == AttentionPass::keys || pass == AttentionPass::values;
        if ((both && depth > 64) || (one && depth <= 64)) continue;
        const Dtype t = tensor_cores ? D::float16 : D::float32;
        keys.push_back(nd::cuda::attention_key(pass, t, depth, depth == 32 ? &mask : nullptr, tensor_cores));
      }
}

std::vector<KernelKey> structural_keys() {
  std::vector<KernelKey> keys;
  add_indexing(keys);
  for (Dtype t : kDtypes) {
    for (Form form : {Form::matmul_tiles, Form::matmul_rows, Form::matmul_columns, Form::matmul_second,
                      Form::nonzero_count, Form::nonzero_write, Form::sort_block, Form::sort_count})
      keys.push_back(key_of(form, {t}, 1));
  }
  for (Form form : {Form::matmul_tiles, Form::nonzero_write, Form::sort_block})
    keys.push_back(key_of(form, {D::float32}, 0, 1, false));
  for (Form form :
       {Form::matmul_tiles, Form::matmul_columns, Form::nonzero_count, Form::nonzero_write, Form::sort_block})
    keys.push_back(key_of(form, {D::float32}, 2));
  for (Form form : {Form::nonzero_count_bytes, Form::offsets}) keys.push_back(key_of(form, {}, 1));
  for (Dtype t : {D::int8, D::uint8, D::int16, D::uint16, D::int32, D::uint32, D::int64, D::uint64})
    keys.push_back(key_of(Form::index_check, {t}, 1));
  keys.push_back(key_of(Form::index_check, {D::int64}, 2));
  keys.push_back(key_of(Form::index_check, {D::int64}, 0, 1, false));
  for (std::uint8_t bytes : {1, 2, 4, 8, 16})
    for (bool many : {false, true}) {
      KernelKey key = key_of(Form::join, {}, 1);
      key.many_pieces = many;
      key.word_bytes = bytes;
      keys.push_back(key);
    }
  keys.push_back(key_of(Form::clear, {}, 1));
  for (Dtype places : {D::bool_, D::int64}) {
    for (Dtype t : kDtypes) keys.push_back(key_of(Form::sort_move, {t, places}, 1));
    for (Dtype t : {D::bool_, D::int8, D::uint16, D::float16, D::float32, D::int64})
      keys.push_back(key_of(Form::select_move, {t, places}, 1));
  }
  keys.push_back(key_of(Form::sort_move, {D::float32}, 2));
  keys.push_back(key_of(Form::sort_move, {D::float32}, 1, 1, false));
  for (Dtype t : {D::bool_, D::int8, D::uint16, D::float16, D::float32, D::int64})
    keys.push_back(key_of(Form::select_count, {t}, 1));
  for (std::uint8_t bytes : {1, 2, 4, 8, 16}) {
    KernelKey key = key_of(Form::compress_write, {}, 1);
    key.word_bytes = bytes;
    keys.push_back(key);
  }
  for (Dtype t : {D::float16, D::float32})
    for (int stride : {1, 2})
      for (bool last : {false, true})
        for (Form form : {Form::depthwise, Form::depthwise_data, Form::depthwise_filter}) {
          if (form == Form::depthwise_data && stride == 1) continue;
          KernelKey key = key_of(form, {t}, stride);
          key.per_thread = 3;
          key.many_pieces = last;
          keys.push_back(key);
        }
  for (Dtype t : {D::complex64, D::complex128}) keys.push_back(key_of(Form::fft_stage, {t}, 1));
  add_attention(keys);
  return keys;
}

std::vector<nd::cuda::GeneratedKernel> manifest() {
  std::vector<nd::cuda::GeneratedKernel> all;
  for (const catena::RegisteredKernel& kernel : catena::all_kernels())
    for (int loop = 0; loop < kernel.kernel->num_loops; ++loop) KernelsOfOne(kernel, loop, all).add();
  for (const KernelKey& key : structural_keys()) all.push_back(nd::cuda::generate(key));
  for (const NamedProgram& named : named_programs()) {
    const catena::Program program = named.program();
    for (const auto& [form, rank] : {std::pair{Form::contiguous, 1}, std::pair{Form::strided, 2}}) {
      KernelKey key;
      key.program = nd::cuda::program_hash(program);
      std::copy_n(program.slots.begin(), program.num_operands(), key.dtypes.begin());
      key.form = form;
      key.rank = static_cast<std::uint8_t>(rank);
      all.push_back(nd::cuda::generate(program, key));
    }
  }
  return all;
}

}  // namespace cuda_device
