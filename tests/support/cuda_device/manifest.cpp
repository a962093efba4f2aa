#include <catena/tests/support/cuda_device/manifest.h>

#include <charconv>
#include <fstream>
#include <sstream>

#include <catena/kernels/base/error.h>

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

Form form_of(const std::string& name, const std::string& line) {
  for (int k = 0; k <= static_cast<int>(Form::sort_result); ++k)
    if (nd::cuda::name_of(static_cast<Form>(k)) == name) return static_cast<Form>(k);
  throw catena::ValueError("manifest: no form '" + name + "' in the line " + line);
}

// "rank=2"
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
  if (key.form <= Form::indexed) {
    const catena::EagerProgram program(def, number);
    key.program = nd::cuda::program_hash(program);
    return nd::cuda::generate(program, key);
  }
  key.program = nd::cuda::kernel_hash(def, def.loop_table[number]);
  return nd::cuda::generate(def, def.loop_table[number], key);
}

std::vector<std::string> manifest_lines() {
  std::ifstream file(CATENA_KERNEL_MANIFEST);
  catena::check<catena::IOError>(file.is_open(), "manifest", "cannot read ", CATENA_KERNEL_MANIFEST);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<nd::cuda::GeneratedKernel> manifest() {
  std::vector<nd::cuda::GeneratedKernel> kernels;
  for (const std::string& line : manifest_lines()) kernels.push_back(generate(line));
  return kernels;
}

}  // namespace cuda_device
