// Elementwise and indexed programs: plans and texts.
#include <algorithm>
#include <array>
#include <bit>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>

namespace nd::cuda {

namespace device = catena::device;
using catena::BoundOperand;
using catena::concat;
using catena::Dims;
using catena::KernelKind;
using catena::Program;
using catena::Shape;
using catena::Step;
using catena::Strides;

// ---- plans --------------------------------------------------------------------------------------
namespace {

constexpr int kIndexedTogether = 4;  // most elements per thread, whose positions are computed one by one

void plan_indexed(LaunchPlan& plan, std::span<const BoundOperand> operands, const Shape& loop, unsigned raw) {
  const int n = static_cast<int>(operands.size()), num_raw = std::popcount(raw);
  Shape shape = loop;
  if (shape.empty()) shape.push_back(1);
  plan.key.form = Form::indexed;
  plan.key.rank = rank_class(shape.size(), device::kMaxIndexedRank);
  const int rank = plan.key.rank != 0 ? plan.key.rank : generic_rank(n, num_raw);
  catena::check<catena::ValueError>(shape.size() <= rank, "kernel launch", "a loop of ", n, " operands over ",
                                    shape.size(), " axes exceeds the limit of ", rank, " axes");
  ParameterBlock& p = plan.parameters;
  put_axes(p, shape, rank, 1);
  for (const BoundOperand& o : operands) put_axes(p, o.immediate ? Dims() : *o.strides, rank, 0);
  for (int field = 0; field < 2; ++field) {
    for (int k = 0; k < n; ++k) {
      if (((raw >> k) & 1) == 0) continue;
      const BoundOperand& o = operands[static_cast<std::size_t>(k)];
      catena::check<catena::ValueError>(o.shape->size() <= device::kMaxRawRank, "kernel launch", "raw operand ", k,
                                        " has ", o.shape->size(), " axes, the limit is ", device::kMaxRawRank);
      put_axes(p, field == 0 ? *o.shape : *o.strides, device::kMaxRawRank, field == 0 ? 1 : 0);
    }
    if (num_raw == 0) put_axes(p, {}, device::kMaxRawRank, 0);
  }
  bool contiguous = true;
  std::int64_t raw_elements = 0;
  for (int k = 0; k < n; ++k) {
    const BoundOperand& o = operands[static_cast<std::size_t>(k)];
    if (((raw >> k) & 1) != 0) {
      plan.key.index32 &= fits_int32(*o.shape, *o.strides);
      raw_elements += catena::size_of(*o.shape);
    }
    if (((raw >> k) & 1) != 0 || o.immediate) continue;
    plan.key.index32 &= fits_int32(shape, *o.strides);
    contiguous &=
        ((plan.key.scalars >> k) & 1) != 0 || catena::is_c_contiguous(loop, *o.strides, catena::itemsize(o.dtype));
  }
  // One access of 16 bytes per operand: with two of them, which are 32 bytes apart in neighbouring threads, each would
  // write half of every sector of memory. If most accesses are those of raw operands, their sectors decide.
  int width = kIndexedTogether;
  const bool apart = contiguous && raw_elements > catena::size_of(loop);
  if (apart) plan.key.form = Form::indexed_apart;
  for (int k = 0; k < n && !apart; ++k)
    if (((raw | plan.key.scalars) >> k & 1) == 0 && !operands[static_cast<std::size_t>(k)].immediate)
      width = std::min(width, static_cast<int>(16 / catena::itemsize(operands[static_cast<std::size_t>(k)].dtype)));
  plan.key.per_thread = static_cast<std::uint8_t>(contiguous ? width : 1);
  p.align(16);
}

// Where one operand is contiguous along the last axis and another one along an earlier one, which is then made the
// first: the number of elements along it that a thread computes, such that it uses whole sectors of memory of the
// latter; else 1.
int put_crossing_axis_first(const catena::Program& program, std::span<const BoundOperand> operands, unsigned scalars,
                            Shape& shape, std::span<Strides> strides) {
  constexpr std::int64_t kSector = 32, kMost = 16, kWarp = 32;
  const int last = shape.size() - 1;
  int crossing = -1;
  std::int64_t together = kMost;
  bool along_last = false;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (((scalars >> k) & 1) != 0 || operands[k].immediate) continue;
    const auto item = static_cast<std::int64_t>(catena::itemsize(operands[k].dtype));
    together = std::min(together, std::max<std::int64_t>(2 * kSector / item, 4));
    along_last |= strides[k][last] == item;
    if (distance(strides[k][last]) < kSector) continue;
    for (int a = 0; a < last; ++a)
      if (strides[k][a] == item) crossing = a;
  }
  if (!along_last || crossing < 0 || shape[last] < kWarp) return 1;
  if (is_heavy(program)) together = kHeavyWidth;
  if (shape[crossing] < together) return 1;
  std::rotate(shape.begin(), shape.begin() + crossing, shape.begin() + crossing + 1);
  for (Strides& s : strides) std::rotate(s.begin(), s.begin() + crossing, s.begin() + crossing + 1);
  return static_cast<int>(together);
}

void plan_strided(LaunchPlan& plan, std::span<const BoundOperand> operands, const Shape& shape,
                  std::span<const Strides> strides) {
  const int n = static_cast<int>(operands.size());
  plan.key.form = Form::strided;
  plan.key.rank = rank_class(shape.size(), device::kMaxExactRank);
  const int rank = plan.key.rank != 0 ? plan.key.rank : generic_rank(n, 0);
  catena::check<catena::ValueError>(shape.size() <= rank, "kernel launch", "a loop of ", n, " operands over ",
                                    shape.size(), " axes that do not merge exceeds the limit of ", rank, " axes");
  ParameterBlock& p = plan.parameters;
  put_axes(p, shape, rank, 1);
  for (const Strides& s : strides) {
    put_axes(p, s, rank, 0);
    plan.key.index32 &= fits_int32(shape, s);
  }
  p.align(16);
}

}  // namespace

LaunchPlan plan_elementwise(const catena::Program& program, std::span<const BoundOperand> operands, const Shape& loop,
                            int processors) {
  const std::int64_t n = catena::size_of(loop);
  const Indexing indexing = indexing_of(program);
  LaunchPlan plan;
  plan.program = &program;
  plan.key.program = program_hash(program);
  plan.key.index32 = n <= kMax31;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    plan.key.dtypes[k] = operands[k].dtype;
    if (k < program.nin && ((indexing.raw >> k) & 1) == 0 && is_fixed(operands[k], n))
      plan.key.scalars |= std::uint16_t(1u << k);
  }

  Shape shape = loop;
  std::array<Strides, catena::kMaxOperands> strides;
  for (std::size_t k = 0; k < operands.size(); ++k)
    strides[k] =
        (plan.key.scalars >> k) & 1 || (indexing.raw >> k) & 1 ? Strides::filled(loop.size(), 0) : *operands[k].strides;
  const std::span<Strides> used{strides.data(), operands.size()};
  if (!indexing.indexed) {
    catena::merge_axes(shape, used);
    at_least_one_axis(shape, used);
  }
  ParameterBlock& p = plan.parameters;
  p.put_head(device::ElementwiseHead{.n = n, .rank = std::max(shape.size(), 1)});
  put_operands(p, operands);
  int width = 1;
  if (indexing.indexed) {
    plan_indexed(plan, operands, loop, indexing.raw);
    width = plan.key.per_thread;
  } else {
    bool contiguous = shape.size() == 1;
    for (std::size_t k = 0; k < operands.size(); ++k)
      contiguous &=
          (plan.key.scalars >> k) & 1 || n == 1 || strides[k][0] == std::int64_t(catena::itemsize(operands[k].dtype));
    if (contiguous) {
      width = vector_width({plan.key.dtypes.data(), operands.size()}, plan.key.scalars);
    } else {
      width = put_crossing_axis_first(program, operands, plan.key.scalars, shape, used);
      plan.key.per_thread = static_cast<std::uint8_t>(width);
      plan_strided(plan, operands, shape, used);
    }
  }
  plan.grid_x = blocks(ceil_divide(n, std::int64_t(device::kBlock) * width), processors, 16);
  return plan;
}

// ---- texts --------------------------------------------------------------------------------------
namespace {

// Sets type and size of the parameters of a loop over `operands` operands.
void set_loop_parameters(GeneratedKernel& k, Form form, int operands, int rank, int raw) {
  const std::size_t n = static_cast<std::size_t>(operands), r = static_cast<std::size_t>(rank),
                    m = static_cast<std::size_t>(raw);
  std::size_t bytes = operand_bytes(sizeof(device::ElementwiseHead), n);
  if (form == Form::contiguous) {
    k.parameters = concat("catena::device::ContiguousParameters<", operands, ">");
  } else if (form == Form::strided || form == Form::recurrence) {
    k.parameters = concat("catena::device::StridedParameters<", operands, ", ", rank, ">");
    bytes += 8 * r * (n + 1);
  } else {
    // Without raw operands, the arrays for them have one row, because arrays of length 0 are not allowed.
    k.parameters = concat("catena::device::IndexedParameters<", operands, ", ", rank, ", ", std::max(raw, 1), ">");
    bytes += 8 * r * (n + 1) + 2 * 8 * catena::device::kMaxRawRank * std::max<std::size_t>(m, 1);
  }
  k.parameter_bytes = aligned_bytes(bytes);
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
    add_header(kernel_, key_.form == Form::recurrence ? "catena/kernels/device/recurrence.h"
                                                      : "catena/kernels/device/elementwise.h");
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
  std::string view_name(int k) const {
    return concat(key_.index32 ? "catena::device::NearView<" : "catena::View<", type_name(slot(k)), ">");
  }
  Dtype moved(Dtype t) const { return moves_halves_ ? Dtype::uint16 : t; }
  Dtype slot(int k) const { return moved(program_.slots[static_cast<std::size_t>(k)]); }

  // Adds struct <name>_program { static void run(<slots that are operands>) { <steps> } };
  void add_program() {
    const int n = program_.num_operands();
    std::string arguments = indexing_.indexed ? "const I& index" : "";
    for (int k = 0; k < n; ++k) {
      if (!arguments.empty()) arguments += ", ";
      if (raw(k)) arguments += concat("const ", view_name(k), "& s", k);
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
    catena::check<catena::ValueError>((form == Form::indexed || form == Form::indexed_apart) == indexing_.indexed &&
                                          family_of(form) == Family::elementwise,
                                      "code generation", "the form ", name_of(form), " does not fit the program of ",
                                      program_.steps[0].kernel->name);
    const int rank = key_.rank != 0 ? key_.rank : generic_rank(n, num_raw);
    set_loop_parameters(kernel_, form, n, rank, num_raw);
    std::string tags;
    for (int k = 0; k < n; ++k) {
      const Dtype stored = moved(key_.dtypes[static_cast<std::size_t>(k)]);
      if (raw(k)) tags += concat(", catena::device::Raw<", view_name(k), ", ", raw_number(k), ">");
      else if (k < program_.nin) tags += tag((key_.scalars >> k) & 1 ? "Scalar" : "In", stored, slot(k));
      else tags += tag(k < program_.nin + program_.ninout ? "InOut" : "Out", stored, slot(k));
    }
    std::string arguments = std::to_string(form == Form::contiguous ? width() : key_.rank);
    if (form == Form::strided || indexing_.indexed) arguments += concat(", ", int(key_.per_thread));
    add_function(kernel_, concat("catena::device::", name_of(form), "<", kernel_.name, "_program, ", index_name(key_),
                                 ", ", arguments, tags, ">"));
  }
  // Elements per thread.
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

GeneratedKernel generate(const Program& program, const KernelKey& key) { return ProgramText(program, key).generate(); }

int vector_width(std::span<const Dtype> operands, unsigned scalars) {
  std::size_t widest = 1;
  for (std::size_t k = 0; k < operands.size(); ++k)
    if (((scalars >> k) & 1) == 0) widest = std::max(widest, catena::itemsize(operands[k]));
  return static_cast<int>(16 / widest);
}

int generic_rank(int operands, int raw_operands) {
  const int fixed = int(operand_bytes(sizeof(device::ElementwiseHead), std::size_t(operands))) +
                    2 * 8 * device::kMaxRawRank * std::max(raw_operands, 1);
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
