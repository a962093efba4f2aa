#include <catena/ndarray/cuda/plans/codegen_text.h>

#include <algorithm>

#include <catena/kernels/base/text.h>
#include <catena/kernels/registry/kernel.h>

namespace nd::cuda {

using catena::concat;
using catena::KernelDef;
using catena::Program;
using catena::Step;

namespace {

Dtype slot_of(const Program& program, int k) { return program.slots[static_cast<std::size_t>(k)]; }

// True if a step after `step` reads slot `s`; the value must then be rounded as by a store.
bool read_later(const Program& program, std::size_t step, int s) {
  for (std::size_t j = step + 1; j < program.steps.size(); ++j) {
    const Step& later = program.steps[j];
    for (int k = 0; k < later.kernel->first_output(); ++k)
      if (later.slot[static_cast<std::size_t>(k)] == s) return true;
  }
  return false;
}

std::string step_text(const Program& program, std::size_t number) {
  const Step& step = program.steps[number];
  const KernelDef& def = *step.kernel;
  std::string before, after, arguments = def.kind == catena::KernelKind::indexed ? "index" : "";
  for (int k = 0; k < def.num_operands(); ++k) {
    const int s = step.slot[static_cast<std::size_t>(k)];
    const Dtype type = step.resolved().type[static_cast<std::size_t>(k)], slot = slot_of(program, s);
    const bool is_raw = ((def.raw >> k) & 1) != 0, written = k >= def.nin && !is_raw;
    if (!arguments.empty()) arguments += ", ";
    if (is_raw || catena::compute_dtype(type) == catena::compute_dtype(slot)) {
      arguments += concat("s", s);
    } else {
      arguments += concat("a", k);
      before += concat("    ", compute_name(type), " a", k);
      if (k < def.first_output())
        before += concat(" = catena::device::recast<", type_name(type), ", ", type_name(slot), ">(s", s, ")");
      before += ";\n";
      if (written)
        after +=
            concat("    s", s, " = catena::device::recast<", type_name(slot), ", ", type_name(type), ">(a", k, ");\n");
    }
    if (written && catena::compute_dtype(slot) != slot && read_later(program, number, s))
      after += concat("    s", s, " = catena::device::rounded<", type_name(slot), ">(s", s, ");\n");
  }
  const bool scoped = !before.empty();
  return concat(scoped ? "    {\n" : "", before, "    catena::k::", step.body(), "::run(", arguments, ");\n", after,
                scoped ? "    }\n" : "");
}

std::string hexadecimal(std::uint64_t v) { return catena::hexadecimal_text(v, 16); }

}  // namespace

std::string_view compute_name(Dtype t) { return type_name(catena::compute_dtype(t)); }
std::string_view index_name(const KernelKey& key) { return key.index32 ? "uint32_t" : "uint64_t"; }

// The name contains the operation and a hash of the key, which distinguishes kernels of one program. Architecture and
// compiler do not change the text and are not hashed.
std::string kernel_name(std::string_view what, KernelKey key) {
  key.arch = 0;
  key.toolchain = 0;
  return concat(what, "_", name_of(key.form), "_", hexadecimal(key.hash()));
}

std::string description(std::string_view what, const KernelKey& key, int operands) {
  std::string dtypes;
  for (int k = 0; k < operands; ++k) dtypes += catena::char_of(key.dtypes[static_cast<std::size_t>(k)]);
  return concat("// kernel: ", what, " ", name_of(key.form), " rank=", int(key.rank),
                " reduced=", int(key.reduced_rank), " per_thread=", int(key.per_thread),
                " index_arrays=", int(key.index_arrays), " word=", int(key.word_bytes), " many=", int(key.many_pieces),
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
  return description(concat("program ", hexadecimal(hash)), key, program.num_operands());
}
std::string description(const KernelDef& def, const catena::Loop& loop, const KernelKey& key,
                        const FusedPrograms& fused) {
  return description(concat("reduction ", hexadecimal(reduction_hash(def, loop, fused))), key,
                     static_cast<int>(fused.operands()));
}

std::string steps_text(const Program& program) {
  std::string text;
  for (std::size_t j = 0; j < program.steps.size(); ++j) text += step_text(program, j);
  return text;
}
std::string slots_text(const Program& program, int first) {
  std::string text;
  for (int k = first; k < static_cast<int>(program.slots.size()); ++k)
    text += concat("    ", compute_name(slot_of(program, k)), " s", k, ";\n");
  return text;
}
std::string steps_name(const Program& program) {
  const std::string first = program.steps[0].kernel->name;
  return program.steps.size() == 1 ? first : concat(first, "_and_", program.steps.size() - 1, "_more");
}
void add_step_headers(GeneratedKernel& k, const Program& program) {
  for (const Step& step : program.steps) add_header(k, step.kernel->header);
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

void add_function(GeneratedKernel& k, const std::string& call, std::string_view blocks, int threads) {
  k.body += concat("extern \"C\" __global__ void __launch_bounds__(", threads, blocks.empty() ? "" : ", ", blocks, ") ",
                   k.name, "(const __grid_constant__ ", k.parameters, " p) {\n  ", call, "(p);\n}\n");
}

}  // namespace nd::cuda
