#include "ndarray/cuda/codegen.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdio>

#include "kernels/device/parameters.h"
#include "kernels/host/error.h"

namespace nd::cuda {
namespace {

using catena::concat;
using catena::KernelDef;
using catena::KernelKind;
using catena::Loop;
using catena::Program;
using catena::Step;

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

// The function itself: `call` is the skeleton with its template arguments.
void add_function(GeneratedKernel& k, const std::string& call) {
  k.body += concat("extern \"C\" __global__ void __launch_bounds__(", catena::device::kBlock, ") ", k.name, "(const __grid_constant__ ",
                   k.parameters, " p) {\n  ", call, "(p);\n}\n");
}

// Type and size of the parameters of a loop over N operands.
void set_loop_parameters(GeneratedKernel& k, Form form, int operands, int rank, int raw) {
  const std::size_t n = static_cast<std::size_t>(operands), r = static_cast<std::size_t>(rank), m = static_cast<std::size_t>(raw);
  const std::size_t cells = (16 + 8 * n + 15) / 16 * 16 + 16 * n;
  std::size_t bytes = cells;
  if (form == Form::contiguous) {
    k.parameters = concat("catena::device::ContiguousParameters<", operands, ">");
  } else if (form == Form::strided) {
    k.parameters = concat("catena::device::StridedParameters<", operands, ", ", rank, ">");
    bytes += 8 * r * (n + 1);
  } else {
    // Without raw operands the arrays for them still have one row: C++ knows no empty ones.
    k.parameters = concat("catena::device::IndexedParameters<", operands, ", ", rank, ", ", std::max(raw, 1), ">");
    bytes += 8 * r * (n + 1) + 2 * 8 * catena::device::kMaxRawRank * std::max<std::size_t>(m, 1);
  }
  k.parameter_bytes = (bytes + 15) / 16 * 16;
}

// ---- programs --------------------------------------------------------------------------------------------------------------
class ProgramText {
 public:
  ProgramText(const Program& program, const KernelKey& key) : program_(program), key_(key), indexing_(indexing_of(program)) {}

  GeneratedKernel generate() {
    const int n = program_.num_operands();
    catena::check<catena::ValueError>(n >= 1 && n <= catena::kMaxOperands, "code generation", "a program of ", n, " operands, the limit is ",
                                      catena::kMaxOperands);
    const KernelDef& first = *program_.steps[0].kernel;
    const std::size_t steps = program_.steps.size();
    kernel_.name = kernel_name(steps == 1 ? std::string(first.name) : concat(first.name, "_and_", steps - 1, "_more"), key_);
    for (const Step& step : program_.steps) add_header(kernel_, step.kernel->header);
    add_header(kernel_, "kernels/device/elementwise.h");
    add_program();
    add_kernel();
    return std::move(kernel_);
  }

 private:
  int raw_number(int operand) const { return std::popcount(indexing_.raw & ((1u << operand) - 1)); }
  bool raw(int operand) const { return operand < program_.num_operands() && ((indexing_.raw >> operand) & 1) != 0; }
  Dtype slot(int k) const { return program_.slots[static_cast<std::size_t>(k)]; }

  // True when a step after `step` reads slot `s`: the value must then be what a store would have left.
  bool read_later(std::size_t step, int s) const {
    for (std::size_t j = step + 1; j < program_.steps.size(); ++j) {
      const Step& later = program_.steps[j];
      for (int k = 0; k < later.kernel->first_output(); ++k)
        if (later.slot[static_cast<std::size_t>(k)] == s) return true;
    }
    return false;
  }

  // struct <name>_program { static void run(<slots that are operands>) { <steps> } };
  void add_program() {
    const int n = program_.num_operands();
    std::string arguments = indexing_.indexed ? "const I& index" : "";
    for (int k = 0; k < n; ++k) {
      if (!arguments.empty()) arguments += ", ";
      if (raw(k)) arguments += concat("const catena::View<", type_name(slot(k)), ">& s", k);
      else arguments += concat(compute_name(slot(k)), k < program_.nin ? " s" : "& s", k);
    }
    std::string& t = kernel_.body;
    t += concat("namespace {\nstruct ", kernel_.name, "_program {\n  ", indexing_.indexed ? "template <class I> " : "",
                "static ND_FN void run(", arguments, ") {\n");
    for (int k = n; k < static_cast<int>(program_.slots.size()); ++k) t += concat("    ", compute_name(slot(k)), " s", k, ";\n");
    for (std::size_t j = 0; j < program_.steps.size(); ++j) add_step(j);
    t += "  }\n};\n}  // namespace\n";
  }

  void add_step(std::size_t number) {
    const Step& step = program_.steps[number];
    const KernelDef& def = *step.kernel;
    std::string before, after, arguments = def.kind == KernelKind::indexed ? "index" : "";
    for (int k = 0; k < def.num_operands(); ++k) {
      const int s = step.slot[static_cast<std::size_t>(k)];
      const Dtype type = step.resolved().type[static_cast<std::size_t>(k)];
      const bool is_raw = ((def.raw >> k) & 1) != 0, written = k >= def.nin && !is_raw;
      if (!arguments.empty()) arguments += ", ";
      if (is_raw || catena::compute_dtype(type) == catena::compute_dtype(slot(s))) {
        arguments += concat("s", s);
      } else {
        arguments += concat("a", k);
        before += concat("    ", compute_name(type), " a", k);
        if (k < def.first_output()) before += concat(" = catena::device::recast<", type_name(type), ", ", type_name(slot(s)), ">(s", s, ")");
        before += ";\n";
        if (written) after += concat("    s", s, " = catena::device::recast<", type_name(slot(s)), ", ", type_name(type), ">(a", k, ");\n");
      }
      if (written && catena::compute_dtype(slot(s)) != slot(s) && read_later(number, s))
        after += concat("    s", s, " = catena::device::rounded<", type_name(slot(s)), ">(s", s, ");\n");
    }
    const bool scoped = !before.empty();
    kernel_.body += concat(scoped ? "    {\n" : "", before, "    catena::k::", def.name, "::run(", arguments, ");\n", after, scoped ? "    }\n" : "");
  }

  void add_kernel() {
    const int n = program_.num_operands(), num_raw = std::popcount(indexing_.raw);
    const Form form = key_.form;
    catena::check<catena::ValueError>((form == Form::indexed) == indexing_.indexed && form <= Form::indexed, "code generation", "the form ",
                                      name_of(form), " does not fit the program of ", program_.steps[0].kernel->name);
    const int rank = key_.rank != 0 ? key_.rank : generic_rank(n, num_raw);
    set_loop_parameters(kernel_, form, n, rank, num_raw);
    std::string tags;
    for (int k = 0; k < n; ++k) {
      const Dtype stored = key_.dtypes[static_cast<std::size_t>(k)];
      if (raw(k)) tags += concat(", catena::device::Raw<", type_name(slot(k)), ", ", raw_number(k), ">");
      else if (k < program_.nin) tags += tag((key_.scalars >> k) & 1 ? "Scalar" : "In", stored, slot(k));
      else tags += tag(k < program_.nin + program_.ninout ? "InOut" : "Out", stored, slot(k));
    }
    const int argument = form == Form::contiguous ? width() : key_.rank;
    add_function(kernel_, concat("catena::device::", name_of(form), "<", kernel_.name, "_program, ", index_name(key_), ", ", argument, tags, ">"));
  }
  // Bodies that call mathematical functions are long and wait for arithmetic: fewer copies of them.
  int width() const {
    const int full = vector_width({key_.dtypes.data(), static_cast<std::size_t>(program_.num_operands())}, key_.scalars);
    const bool heavy = std::any_of(program_.steps.begin(), program_.steps.end(), [](const Step& s) { return s.kernel->transcendental; });
    return heavy ? std::min(full, 4) : full;
  }

  const Program& program_;
  const KernelKey& key_;
  Indexing indexing_;
  GeneratedKernel kernel_;
};

// ---- reductions, rows, multi-tensor ------------------------------------------------------------------------------------------
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
  add_function(k, concat("catena::device::Reduce<catena::k::", def.name, ", ", type_name(key.dtypes[0]), ", ", type_name(loop.type[0]), ", ",
                         type_name(key.dtypes[1]), ", ", type_name(loop.type[1]), ", ", index_name(key), ", ", int(key.rank), ", ",
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
  for (int j = 0; j < n; ++j) {
    const char* role = j < def.nin ? ((key.scalars >> j) & 1 ? "Scalar" : "In") : "Out";
    tags += tag(role, key.dtypes[static_cast<std::size_t>(j)], loop.type[static_cast<std::size_t>(j)]);
  }
  add_function(k, concat("catena::device::rows<catena::k::", def.name, ", ", compute_name(loop.type[0]), ", catena::device::",
                         key.form == Form::row_warp ? "WarpGroup" : "BlockGroup", ", ", index_name(key), ", ", int(key.rank), ", ",
                         int(key.reduced_rank), ", ", list_of_indices(0, def.nin), ", ", list_of_indices(def.nin, def.nin + def.nout), ", ",
                         list_of_indices(def.nin + def.nout, n), tags, ">"));
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

}  // namespace

std::string GeneratedKernel::source() const { return batch_source({this, 1}); }

std::string batch_source(std::span<const GeneratedKernel> kernels) {
  std::vector<std::string> headers;
  for (const GeneratedKernel& k : kernels)
    for (const std::string& header : k.headers)
      if (std::find(headers.begin(), headers.end(), header) == headers.end()) headers.push_back(header);
  std::string text;
  for (const std::string& header : headers) text += "#include \"" + header + "\"\n";
  for (const GeneratedKernel& k : kernels) text += k.body;
  return text;
}

GeneratedKernel generate(const Program& program, const KernelKey& key) { return ProgramText(program, key).generate(); }

GeneratedKernel generate(const KernelDef& def, const Loop& loop, const KernelKey& key) {
  GeneratedKernel k;
  k.name = kernel_name(def.name, key);
  add_header(k, def.header);
  const bool fits = (def.kind == KernelKind::reduction && key.form >= Form::reduce_block && key.form <= Form::reduce_second) ||
                    (def.kind == KernelKind::row && (key.form == Form::row_block || key.form == Form::row_warp)) ||
                    (def.kind == KernelKind::multi_tensor && key.form == Form::multi_tensor);
  catena::check<catena::ValueError>(fits, "code generation", "the form ", name_of(key.form), " does not fit the kernel ", def.name);
  if (def.kind == KernelKind::reduction) add_reduction(k, def, loop, key);
  else if (def.kind == KernelKind::row) add_row(k, def, loop, key);
  else add_multi_tensor(k, def, loop);
  return k;
}

int vector_width(std::span<const Dtype> operands, unsigned scalars) {
  std::size_t widest = 1;
  for (std::size_t k = 0; k < operands.size(); ++k)
    if (((scalars >> k) & 1) == 0) widest = std::max(widest, catena::itemsize(operands[k]));
  return static_cast<int>(16 / widest);
}

int generic_rank(int operands, int raw_operands) {
  const int fixed = 16 + 8 * (operands + operands % 2) + 16 * operands + 2 * 8 * catena::device::kMaxRawRank * std::max(raw_operands, 1);
  return std::min(catena::kMaxRank, (catena::device::kParameterBytes - fixed) / (8 * (operands + 1)));
}

Indexing indexing_of(const Program& program) {
  Indexing r;
  for (const Step& step : program.steps) {
    r.indexed |= step.kernel->kind == KernelKind::indexed;
    for (int k = 0; k < step.kernel->num_operands(); ++k)
      if ((step.kernel->raw >> k) & 1) r.raw |= 1u << step.slot[static_cast<std::size_t>(k)];
  }
  return r;
}

}  // namespace nd::cuda
