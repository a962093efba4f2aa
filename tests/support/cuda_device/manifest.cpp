#include "tests/support/cuda_device/manifest.h"

#include "kernels/host/error.h"

namespace cuda_device {
namespace {

using catena::Dtype;
using catena::KernelDef;
using catena::KernelKind;
using nd::cuda::Form;
using nd::cuda::KernelKey;

// One line per kernel: row (or named program) and loop, form, ranks (0: known at run time), operand dtypes in memory when they differ
// from the loop's, inputs that are scalars, index width.
struct Line {
  const char* kernel;
  const char* loop;
  Form form;
  int rank = 1, reduced_rank = 1;
  const char* dtypes = "";
  unsigned scalars = 0;
  bool index32 = true;
};

constexpr Line kLines[] = {
    {"add", "ff->f", Form::contiguous},
    {"add", "ff->f", Form::contiguous, 1, 1, "", 2},
    {"add", "ff->f", Form::contiguous, 1, 1, "", 0, false},
    {"add", "ee->e", Form::contiguous},
    {"add", "EE->E", Form::contiguous},
    {"add", "ll->l", Form::contiguous},
    {"add", "\?\?->?", Form::contiguous},
    {"multiply", "ff->f", Form::contiguous, 1, 1, "bfd"},
    {"multiply", "ee->e", Form::contiguous, 1, 1, "dfi"},
    {"tanh", "f->f", Form::contiguous},
    {"add", "ff->f", Form::strided, 1},
    {"add", "ff->f", Form::strided, 2},
    {"add", "ff->f", Form::strided, 2, 1, "", 2},
    {"add", "ff->f", Form::strided, 2, 1, "", 0, false},
    {"add", "ff->f", Form::strided, 3},
    {"add", "ff->f", Form::strided, 4},
    {"add", "ff->f", Form::strided, 0},
    {"add", "ee->e", Form::strided, 2},
    {"half_chain", "", Form::contiguous},
    {"half_chain", "", Form::strided, 2},
    {"mixed_chain", "", Form::contiguous},
    {"im2col_2d", "*fllllll->f", Form::indexed, 6, 1, "", 0x7e},
    {"im2col_2d", "*ellllll->e", Form::indexed, 6, 1, "", 0x7e},
    {"dropout", "fLLf->f", Form::indexed, 2, 1, "", 0xe},
    {"dropout", "fLLf->f", Form::indexed, 0, 1, "", 0xe},
    {"sum", "f->f", Form::reduce_block},
    {"sum", "f->f", Form::reduce_warp},
    {"sum", "f->f", Form::reduce_columns},
    {"sum", "f->f", Form::reduce_second},
    {"sum", "f->f", Form::reduce_warp, 2, 2},
    {"sum", "f->f", Form::reduce_warp, 0, 0},
    {"sum", "e->e", Form::reduce_warp},
    {"argmax", "f->l", Form::reduce_block},
    {"argmax", "f->l", Form::reduce_warp},
    {"argmax", "f->l", Form::reduce_columns},
    {"argmax", "f->l", Form::reduce_second},
    {"any", "f->?", Form::reduce_block},
    {"softmax", "f->f", Form::row_warp},
    {"softmax", "f->f", Form::row_block},
    {"softmax", "e->e", Form::row_warp},
    {"softmax", "f->f", Form::row_warp, 2, 2},
    {"softmax", "f->f", Form::row_warp, 0, 0},
    {"batch_norm_fwd", "ffff->f;fff", Form::row_block, 1, 2, "", 8},
    {"sgd_update", "f&f->", Form::multi_tensor},
    {"adam_update", "f&fff->", Form::multi_tensor},
    {"adam_update", "e&eee->", Form::multi_tensor},
    {"scale_by", "@f&f->", Form::multi_tensor},
};

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
       {e, e, e, e, e}, 2, 1},
      // float16 sums feed a float64 product that is read as float32
      {"mixed_chain",
       {step("add", "ee->e", {0, 0, 3}), step("multiply", "dd->d", {3, 1, 4}), step("add", "ff->f", {4, 1, 2})},
       {e, f, f, e, d}, 2, 1},
  };
}

nd::cuda::GeneratedKernel generate(const Line& line) {
  KernelKey key;
  key.form = line.form;
  key.rank = static_cast<std::uint8_t>(line.rank);
  key.reduced_rank = static_cast<std::uint8_t>(line.reduced_rank);
  key.scalars = static_cast<std::uint16_t>(line.scalars);
  key.index32 = line.index32;
  const auto set_dtypes = [&](std::span<const Dtype> types) {
    std::copy(types.begin(), types.end(), key.dtypes.begin());
    for (std::size_t k = 0; line.dtypes[k] != '\0'; ++k) key.dtypes[k] = catena::dtype_from_char(line.dtypes[k]);
  };
  if (*line.loop == '\0') {
    const catena::Program program = named_program(line.kernel).program();
    set_dtypes(program.slots.first(static_cast<std::size_t>(program.num_operands())));
    key.program = nd::cuda::program_hash(program);
    return nd::cuda::generate(program, key);
  }
  const KernelDef& def = catena::find_kernel(line.kernel);
  const int number = loop_number(def, line.loop);
  const catena::Loop& loop = def.loop_table[number];
  set_dtypes({loop.type.data(), static_cast<std::size_t>(def.num_operands())});
  if (def.kind == KernelKind::elementwise || def.kind == KernelKind::indexed) {
    const catena::EagerProgram program(def, number);
    key.program = nd::cuda::program_hash(program);
    return nd::cuda::generate(program, key);
  }
  key.program = nd::cuda::kernel_hash(def, loop);
  return nd::cuda::generate(def, loop, key);
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

std::vector<nd::cuda::GeneratedKernel> manifest() {
  std::vector<nd::cuda::GeneratedKernel> kernels;
  for (const Line& line : kLines) kernels.push_back(generate(line));
  return kernels;
}

}  // namespace cuda_device
