#include "ndarray/cuda/codegen_text.h"

#include <algorithm>
#include <cstdio>

namespace nd::cuda {

using catena::concat;

std::string_view type_name(Dtype t) {
  constexpr std::string_view names[] = {"bool",     "int8_t",  "uint8_t",  "int16_t",         "uint16_t", "int32_t",         "uint32_t",
                                        "int64_t",  "uint64_t", "catena::float16", "float",   "double",   "catena::bfloat16"};
  catena::check<catena::TypeError>(static_cast<int>(t) < catena::kNumDtypes, "code generation", catena::name_of(t), " has no kernels");
  return names[static_cast<std::size_t>(t)];
}
std::string_view compute_name(Dtype t) { return type_name(catena::compute_dtype(t)); }
std::string_view index_name(const KernelKey& key) { return key.index32 ? "uint32_t" : "uint64_t"; }

// Alone in the name: what is computed. The hash of the key tells kernels of one program apart; architecture and compiler do not
// change the text and stay out of it.
std::string kernel_name(std::string_view what, KernelKey key) {
  key.arch = 0;
  key.text = 0;
  char hash[20];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(key.hash()));
  return concat(what, "_", name_of(key.form), "_", hash);
}

std::string description(std::string_view what, const KernelKey& key, int operands) {
  std::string dtypes;
  for (int k = 0; k < operands; ++k) dtypes += catena::char_of(key.dtypes[static_cast<std::size_t>(k)]);
  return concat("// kernel: ", what, " ", name_of(key.form), " rank=", int(key.rank), " reduced=", int(key.reduced_rank),
                " dtypes=", dtypes, " scalars=", key.scalars, " index=", key.index32 ? 32 : 64, "\n");
}
std::string description(const catena::KernelDef& def, const catena::Loop& loop, const KernelKey& key) {
  return description(concat(def.name, " ", catena::signature(def, loop)), key, def.num_operands());
}
std::string description(const catena::Program& program, const KernelKey& key) {
  const catena::Step& first = program.steps[0];
  const std::uint64_t hash = program_hash(program);
  if (program.steps.size() == 1 && hash == program_hash(catena::EagerProgram(*first.kernel, first.loop)))
    return description(*first.kernel, first.resolved(), key);
  char digits[20];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return description(concat("program ", digits), key, program.num_operands());
}

void add_header(GeneratedKernel& k, const std::string& header) {
  if (std::find(k.headers.begin(), k.headers.end(), header) == k.headers.end()) k.headers.push_back(header);
}

std::string list_of_indices(int begin, int end) {
  std::string s = "catena::device::Indices<";
  for (int k = begin; k < end; ++k) s += (k == begin ? "" : ", ") + std::to_string(k);
  return s + ">";
}

std::string tag(std::string_view name, Dtype stored, Dtype slot) {
  return concat(", catena::device::", name, "<", type_name(stored), ", ", type_name(slot), ">");
}

void add_function(GeneratedKernel& k, const std::string& call, int blocks) {
  k.body += concat("extern \"C\" __global__ void __launch_bounds__(", catena::device::kBlock, blocks > 0 ? concat(", ", blocks) : "", ") ",
                   k.name, "(const __grid_constant__ ", k.parameters, " p) {\n  ", call, "(p);\n}\n");
}

}  // namespace nd::cuda
