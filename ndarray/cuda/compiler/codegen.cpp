#include <catena/ndarray/cuda/compiler/codegen.h>

#include <algorithm>
#include <bit>

#include <catena/ndarray/cuda/compiler/codegen_text.h>

namespace nd::cuda {

using catena::concat;
using catena::KernelKind;
using catena::Program;
using catena::Step;

namespace {

// Sets type and size of the parameters of a loop over `operands` operands.
void set_loop_parameters(GeneratedKernel& k, Form form, int operands, int rank, int raw) {
  const std::size_t n = static_cast<std::size_t>(operands), r = static_cast<std::size_t>(rank),
                    m = static_cast<std::size_t>(raw);
  const std::size_t cells = (16 + 8 * n + 15) / 16 * 16 + 16 * n;
  std::size_t bytes = cells;
  if (form == Form::contiguous) {
    k.parameters = concat("catena::device::ContiguousParameters<", operands, ">");
  } else if (form == Form::strided) {
    k.parameters = concat("catena::device::StridedParameters<", operands, ", ", rank, ">");
    bytes += 8 * r * (n + 1);
  } else {
    // Without raw operands, the arrays for them have one element, because arrays of length 0 are not allowed.
    k.parameters = concat("catena::device::IndexedParameters<", operands, ", ", rank, ", ", std::max(raw, 1), ">");
    bytes += 8 * r * (n + 1) + 2 * 8 * catena::device::kMaxRawRank * std::max<std::size_t>(m, 1);
  }
  k.parameter_bytes = (bytes + 15) / 16 * 16;
}

// ---- programs -----------------------------------------------------------------------------------
class ProgramText {
 public:
  ProgramText(const Program& program, const KernelKey& key)
      : program_(program), key_(key), indexing_(indexing_of(program)), moves_halves_(copies_halves(program, key)) {}

  GeneratedKernel generate() {
    const int n = program_.num_operands();
    catena::check<catena::ValueError>(n >= 1 && n <= catena::kMaxOperands, "code generation", "a program of ", n,
                                      " operands, the limit is ", catena::kMaxOperands);
    kernel_.name = kernel_name(steps_name(program_), key_);
    add_step_headers(kernel_, program_);
    add_header(kernel_, "catena/kernels/device/elementwise.h");
    kernel_.body = description(program_, key_);
    add_program();
    add_kernel();
    return std::move(kernel_);
  }

 private:
  int raw_number(int operand) const { return std::popcount(indexing_.raw & ((1u << operand) - 1)); }
  bool raw(int operand) const { return operand < program_.num_operands() && ((indexing_.raw >> operand) & 1) != 0; }
  // A copy between equal dtypes moves bits; 16-bit floats would pass through float32, which changes a NaN.
  static bool copies_halves(const Program& program, const KernelKey& key) {
    const Dtype t = key.dtypes[0];
    return program.steps.size() == 1 && program.steps[0].kernel->is(catena::is_copy) && program.num_operands() == 2 &&
           catena::compute_dtype(t) != t && key.dtypes[1] == t && program.slots[0] == t && program.slots[1] == t;
  }
  Dtype moved(Dtype t) const { return moves_halves_ ? Dtype::uint16 : t; }
  Dtype slot(int k) const { return moved(program_.slots[static_cast<std::size_t>(k)]); }

  // Adds struct <name>_program { static void run(<slots that are operands>) { <steps> } };
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
    t += slots_text(program_, n) + steps_text(program_) + "  }\n};\n}  // namespace\n";
  }

  void add_kernel() {
    const int n = program_.num_operands(), num_raw = std::popcount(indexing_.raw);
    const Form form = key_.form;
    catena::check<catena::ValueError>((form == Form::indexed) == indexing_.indexed && form <= Form::indexed,
                                      "code generation", "the form ", name_of(form), " does not fit the program of ",
                                      program_.steps[0].kernel->name);
    const int rank = key_.rank != 0 ? key_.rank : generic_rank(n, num_raw);
    set_loop_parameters(kernel_, form, n, rank, num_raw);
    std::string tags;
    for (int k = 0; k < n; ++k) {
      const Dtype stored = moved(key_.dtypes[static_cast<std::size_t>(k)]);
      if (raw(k)) tags += concat(", catena::device::Raw<", type_name(slot(k)), ", ", raw_number(k), ">");
      else if (k < program_.nin) tags += tag((key_.scalars >> k) & 1 ? "Scalar" : "In", stored, slot(k));
      else tags += tag(k < program_.nin + program_.ninout ? "InOut" : "Out", stored, slot(k));
    }
    std::string arguments = std::to_string(form == Form::contiguous ? width() : key_.rank);
    if (form != Form::contiguous) arguments += concat(", ", int(key_.reduced_rank));
    add_function(kernel_, concat("catena::device::", name_of(form), "<", kernel_.name, "_program, ", index_name(key_),
                                 ", ", arguments, tags, ">"));
  }
  // Number of elements per thread.
  int width() const {
    const int full =
        vector_width({key_.dtypes.data(), static_cast<std::size_t>(program_.num_operands())}, key_.scalars);
    return is_heavy(program_) ? std::min(full, kHeavyWidth) : full;
  }

  const Program& program_;
  const KernelKey& key_;
  Indexing indexing_;
  bool moves_halves_;
  GeneratedKernel kernel_;
};

}  // namespace

std::string GeneratedKernel::source() const { return batch_source({this, 1}); }

std::string batch_source(std::span<const GeneratedKernel> kernels) {
  std::vector<std::string> headers;
  for (const GeneratedKernel& k : kernels)
    for (const std::string& header : k.headers)
      if (std::find(headers.begin(), headers.end(), header) == headers.end()) headers.push_back(header);
  std::string text;
  for (const std::string& header : headers) text += "#include <" + header + ">\n";
  for (const GeneratedKernel& k : kernels) text += k.body;
  return text;
}

GeneratedKernel generate(const Program& program, const KernelKey& key) { return ProgramText(program, key).generate(); }

int vector_width(std::span<const Dtype> operands, unsigned scalars) {
  std::size_t widest = 1;
  for (std::size_t k = 0; k < operands.size(); ++k)
    if (((scalars >> k) & 1) == 0) widest = std::max(widest, catena::itemsize(operands[k]));
  return static_cast<int>(16 / widest);
}

int generic_rank(int operands, int raw_operands) {
  const int fixed = 16 + 8 * (operands + operands % 2) + 16 * operands +
                    2 * 8 * catena::device::kMaxRawRank * std::max(raw_operands, 1);
  return std::min(catena::kMaxRank, (catena::device::kParameterBytes - fixed) / (8 * (operands + 1)));
}

bool is_heavy(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(),
                     [](const Step& s) { return s.kernel->transcendental; });
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
