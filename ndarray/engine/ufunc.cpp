#include <catena/ndarray/engine/ufunc.h>

#include <algorithm>
#include <array>
#include <atomic>

#include <catena/kernels/base/error_context.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/memory/memory_pool.h>

namespace nd {

using catena::ArrayHeader;
using catena::check;
using catena::fail;
using catena::KernelDef;

namespace internal {
namespace {

constexpr int kMaxInputs = 8, kMaxOutputs = 4;
constexpr std::size_t kMaxFlat = 3;  // inputs of a call on the fast path

// The inputs as kernels/registry/bind.h expects them, on the stack.
class Inputs {
 public:
  Inputs(const KernelDef& def, std::span<const Operand> in) : n_(in.size()) {
    if (in.size() != def.nin || in.size() > kMaxInputs) [[unlikely]]
      fail<TypeError>(def.name, "takes ", int(def.nin), " inputs, ", in.size(), " were given");
    for (std::size_t k = 0; k < n_; ++k) list_[k].input = in[k];
  }
  operator std::span<const catena::Input>() const { return {&list_[0].input, n_}; }
  catena::Input& operator[](std::size_t k) { return list_[k].input; }

 private:
  union Cell {  // constructs only the n_ inputs in use
    catena::Input input;
    Cell() {}
  };
  static_assert(std::is_trivially_copyable_v<catena::Input> && sizeof(Cell) == sizeof(catena::Input));
  std::size_t n_;
  std::array<Cell, kMaxInputs> list_;
};

// The function that frees a storage. It identifies memory of the pool, the only memory that is used by nothing but its
// arrays.
using Destroy = void (*)(catena::Storage*);
Destroy pool_destroy() {
  static const Destroy destroy = [] {
    catena::Storage* s = memory_pool(Device::Kind::cpu).allocate(1);
    const Destroy d = s->destroy;
    catena::release(s);
    return d;
  }();
  return destroy;
}

// True if the result may reuse the memory of an expiring operand: no other reference to it exists. On the CPU only,
// where using a new block causes cache misses; on other devices, work of other streams might still read the old
// content.
bool can_lend(const Operand& o, const Shape& shape, Dtype dtype) {
  if (o.expiring() == nullptr) return false;
  const ArrayHeader& h = *o.header();
  const catena::Storage* s = h.storage;
  return h.dtype == dtype && h.c_contiguous && h.device.kind == Device::Kind::cpu && s != nullptr &&
         h.data == s->data && catena::is_sole_reference(h) && s->destroy == pool_destroy() && h.shape == shape;
}

Array* find_donated_buffer(std::span<const Operand> in, const Shape& shape, Dtype dtype) {
  for (const Operand& o : in)
    if (can_lend(o, shape, dtype)) return o.expiring();
  return nullptr;
}

// ---- fast path: operations on small arrays, with as little set-up as possible ----

// Executes a call on arrays of the layout of `model`. `out` is one of them, or null.
Array apply_flat(const KernelDef& def, int loop, std::span<const Operand> in, const ArrayHeader& model,
                 const Array* out) {
  const Dtype out_dtype = out ? out->dtype() : def.loop_table[loop].type[in.size()];
  Array* donated = out ? nullptr : find_donated_buffer(in, model.shape, out_dtype);
  Array result;
  if (out) result = *out;
  else if (!donated) result = Array(new_array(model.shape, out_dtype, model.device, def.name));
  ArrayHeader* const output = donated ? donated->get() : result.get();
  const catena::EagerProgram program(def, loop);
  execute(catena::call::Elementwise{&program, Inputs(def, in), {&output, 1}, {}, &model});
  if (donated) {
    result = std::move(*donated);
    catena::take_ownership(*result.get());
  }
  return result;
}

// For a given options.dtype: returns the first loop with that output dtype whose inputs can hold the operands, else the
// first loop with that output dtype.
int choose_loop_of_dtype(const KernelDef& def, std::span<const catena::Input> inputs, Dtype dtype) {
  bool fixed_output = def.num_loops > 1;  // predicates: the output does not identify the loop
  for (int i = 1; i < def.num_loops; ++i)
    fixed_output &= def.loop_table[i].type[std::size_t(def.first_output())] ==
                    def.loop_table[0].type[std::size_t(def.first_output())];
  if (fixed_output && def.loop_table[0].type[std::size_t(def.first_output())] == dtype)
    return catena::choose_loop(def, inputs);
  const auto holds = [&](std::size_t k, Dtype slot) {
    if (inputs[k].is_array()) return catena::can_cast(inputs[k].array().dtype, slot);
    return catena::kind_of(slot) >= catena::least_kind(inputs[k].scalar()) ||
           catena::can_cast(inputs[k].scalar().natural_dtype(), slot, Casting::same_kind);
  };
  for (int i = 0; i < def.num_loops; ++i) {
    const catena::Loop& loop = def.loop_table[i];
    bool fits = true;
    for (int k = 0; k < def.nout; ++k) fits &= loop.type[std::size_t(def.first_output() + k)] == dtype;
    for (std::size_t k = 0; fits && k < inputs.size(); ++k) fits = holds(k, loop.type[k]);
    if (fits) return i;
  }
  return catena::choose_loop_by_output(def, dtype);
}

// Returns the common shape of inputs and given outputs; ValueError if a given output does not have it.
Shape common_shape(const KernelDef& def, std::span<const catena::Input> inputs, std::span<const Array> out) {
  Shape shape = catena::broadcast_shape(def.name, inputs);
  for (const Array& o : out) {
    if (o.is_null() || o.shape() == shape) continue;
    check<ValueError>(catena::broadcasts_to(shape, o.shape()), def.name, "the output has shape ", o.shape(),
                      ", the operands broadcast to ", shape);
    shape = o.shape();
  }
  return shape;
}

void check_outputs(const KernelDef& def, int loop, std::span<const Array> out, Casting casting) {
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (out[k].is_null()) continue;
    catena::check_output_cast(def.name, def.loop_table[loop].type[std::size_t(def.first_output()) + k], out[k].dtype(),
                              casting);
    check_output_layout(def.name, *out[k].get());
    for (std::size_t j = 0; j < k; ++j)
      check<ValueError>(out[j].is_null() || !out[k].shares_memory(out[j]), def.name, "outputs ", j, " and ", k,
                        " share memory");
  }
}

}  // namespace

Device common_device(std::string_view op, std::span<const Operand> in, std::span<const Array> out) {
  OneDevice one(op);
  for (const Operand& o : in) one.add(o.header());
  for (const Array& o : out) one.add(o.get());
  return one.get();
}

LoopRunner::~LoopRunner() = default;

void apply_ufunc(const KernelDef& def, std::span<const Operand> in, std::span<Array> out, std::optional<Dtype> dtype,
                 Casting casting, const LoopRunner* runner) try {
  Inputs inputs(def, in);
  check<TypeError>(out.size() == def.nout && out.size() <= kMaxOutputs, def.name, "has ", int(def.nout), " outputs, ",
                   out.size(), " were given");
  const int loop = dtype ? choose_loop_of_dtype(def, inputs, *dtype) : catena::choose_loop(def, inputs);
  const Dtype* slots = def.loop_table[loop].type.data();
  for (std::size_t k = 0; dtype && k < in.size(); ++k) {
    if (in[k].is_array()) catena::warn_of_lost_imaginary_part(def.name, in[k].header()->dtype, slots[k]);
    else catena::check_fits(def.name, in[k].scalar(), slots[k]);
  }
  check_outputs(def, loop, out, casting);
  const Shape shape = common_shape(def, inputs, out);
  const Device device = common_device(def.name, in, out);

  std::array<Array, kMaxOutputs> results;
  std::array<ArrayHeader*, kMaxOutputs> outputs;
  for (std::size_t k = 0; k < out.size(); ++k) {
    results[k] = out[k].is_null()
                     ? Array(new_array(shape, slots[std::size_t(def.first_output()) + k], device, def.name))
                     : out[k];
    outputs[k] = results[k].get();
  }
  if (runner == nullptr) {
    const catena::EagerProgram program(def, loop);
    execute(catena::call::Elementwise{&program, inputs, {outputs.data(), out.size()}, def.name});
  } else if (catena::size_of(shape) != 0) {
    runner->run(loop, in, {results.data(), out.size()});
  }
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = std::move(results[k]);
} catch (...) {
  catena::rethrow_standard(def.name);
}

namespace {

// Executes the call on the fast path, with or without an output. Returns a null array if the path does not apply.
Array try_flat(const KernelDef& def, std::span<const Operand> in, const Array* out, Casting casting) {
  if (in.size() > kMaxFlat) return {};
  catena::SameLayout layout;
  const ArrayHeader* first = nullptr;
  catena::DtypeKind needed = catena::DtypeKind::bool_;
  bool uniform = in.size() == def.nin;  // all arrays have one dtype, beside which every scalar is weak and fits
  for (const Operand& o : in) {
    const ArrayHeader* h = o.header();
    if (h == nullptr) {
      needed = std::max(needed, catena::least_kind(o.scalar()));
      continue;
    }
    if (first == nullptr) first = h;
    uniform &= h->dtype == first->dtype;
    layout.add(*h);
  }
  if (out) layout.add(*out->get());
  const ArrayHeader* const model = layout.model();
  if (model == nullptr || first == nullptr) return {};
  if (out) {
    if (!(out->shape() == model->shape)) return {};
    for (const Operand& o : in)
      if (o.is_array() && o.header() != out->get() && catena::overlaps(*o.header(), *out->get())) return {};
  }
  int loop = uniform && catena::kind_of(first->dtype) >= needed ? def.loop_of(first->dtype) : -1;
  if (loop < 0) loop = catena::choose_loop(def, Inputs(def, in));
  if (out) catena::check_output_cast(def.name, def.loop_table[loop].type[in.size()], out->dtype(), casting);
  return apply_flat(def, loop, in, *model, out);
}

Array apply_single(const KernelDef& def, std::span<const Operand> in, const Array* out, Casting casting) {
  Array result = try_flat(def, in, out, casting);
  if (!result.is_null()) return result;
  if (out) result = *out;
  apply_ufunc(def, in, {&result, 1}, {}, casting);
  return result;
}

}  // namespace

Array apply_ufunc(const KernelDef& def, std::span<const Operand> in, const UfuncOptions& options) {
  if (!options.dtype) return apply_single(def, in, options.out.is_null() ? nullptr : &options.out, options.casting);
  Array out = options.out;
  apply_ufunc(def, in, {&out, 1}, options.dtype, options.casting);
  return out;
}

std::pair<Array, Array> apply_ufunc(const KernelDef& def, std::span<const Operand> in,
                                    const UfuncPairOptions& options) {
  check<ValueError>(options.out.first.is_null() == options.out.second.is_null(), def.name,
                    "both outputs must be given or none");
  Array out[2] = {options.out.first, options.out.second};
  apply_ufunc(def, in, out, options.dtype, options.casting);
  return {std::move(out[0]), std::move(out[1])};
}

Array apply_unary(const KernelDef& def, const Operand& x) {
  return apply_single(def, {&x, 1}, nullptr, Casting::same_kind);
}

Array apply_binary(const KernelDef& def, const Operand& a, const Operand& b) {
  const Operand in[2] = {a, b};
  return apply_single(def, in, nullptr, Casting::same_kind);
}

void apply_in_place(const KernelDef& def, const Array& a, const Operand& b) {
  const Operand in[2] = {a, b};
  apply_single(def, in, &a, Casting::same_kind);
}

}  // namespace internal

// ---- ufunc objects ------------------------------------------------------------------------------
namespace {

constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"abs", "absolute"},   {"acos", "arccos"},     {"acosh", "arccosh"},      {"asin", "arcsin"},
    {"asinh", "arcsinh"},  {"atan", "arctan"},     {"atan2", "arctan2"},      {"atanh", "arctanh"},
    {"conj", "conjugate"}, {"degrees", "rad2deg"}, {"divide", "true_divide"}, {"mod", "remainder"},
    {"pow", "power"},      {"radians", "deg2rad"}, {"sqrt_fixed", "sqrt"},
};

}  // namespace

ufunc::ufunc(std::string_view name) {
  for (const auto& [alias, target] : kAliases)
    if (name == alias) name = target;
  const catena::RegisteredKernel* const kernel = catena::find_registered_if_any(name);
  check<KeyError>(kernel != nullptr && kernel->use != catena::KernelUse::internal, "ufunc",
                  "there is no elementwise function named \"", name, '"');
  def_ = kernel->kernel;
  check<TypeError>(def_->kind == catena::KernelKind::elementwise && def_->ninout == 0 && def_->raw == 0 &&
                       def_->nin <= internal::kMaxInputs,
                   "ufunc", name, " is not a plain elementwise function");
}

std::string_view ufunc::name() const noexcept { return def_->name; }
int ufunc::nin() const noexcept { return def_->nin; }
int ufunc::nout() const noexcept { return def_->nout; }
std::vector<std::string> ufunc::types() const {
  std::vector<std::string> list;
  for (const catena::Loop& loop : def_->loops()) list.push_back(catena::signature(*def_, loop));
  return list;
}

std::string ufunc::to_string() const { return "<ufunc '" + std::string(name()) + "'>"; }

std::vector<Array> ufunc::call(std::span<const Operand> args, const UfuncOptions& options) const try {
  const auto n = static_cast<int>(args.size());
  check<TypeError>(n == nin() || n == nargs(), name(), "takes ", nin(), " inputs, or ", nargs(),
                   " arguments with outputs; ", n, " were given");
  std::vector<Array> out(static_cast<std::size_t>(nout()));
  if (!options.out.is_null()) {
    check<ValueError>(nout() == 1, name(), "has ", nout(), " outputs, which must be given as arguments");
    check<ValueError>(n == nin(), name(), "the output is given twice");
    out[0] = options.out;
  }
  for (int k = nin(); k < n; ++k) {
    check<TypeError>(args[std::size_t(k)].is_array(), name(), "an output must be an array");
    out[std::size_t(k - nin())] = args[std::size_t(k)].array();
  }
  const std::span<const Operand> in = args.first(std::size_t(nin()));
  internal::apply_ufunc(*def_, in, out, options.dtype, options.casting, runner_);
  return out;
} catch (...) {
  catena::rethrow_standard(name());
}

Array ufunc::apply(std::span<const Operand> in, const UfuncOptions& options) const {
  check<TypeError>(nout() == 1, name(), "has ", nout(), " outputs; use call");
  if (static_cast<int>(in.size()) == nargs()) return call(in, options)[0];
  if (runner_ == nullptr) return internal::apply_ufunc(*def_, in, options);
  Array out = options.out;
  internal::apply_ufunc(*def_, in, {&out, 1}, options.dtype, options.casting, runner_);
  return out;
}

Array ufunc::operator()(const Operand& x, const UfuncOptions& options) const { return apply({&x, 1}, options); }

Array ufunc::operator()(const Operand& x1, const UnbracedOperand& x2, const UfuncOptions& options) const {
  const Operand in[2] = {x1, x2};
  return apply(in, options);
}

Array ufunc::operator()(const Operand& x1, const UnbracedOperand& x2, const UnbracedOperand& x3,
                        const UfuncOptions& options) const {
  const Operand in[3] = {x1, x2, x3};
  return apply(in, options);
}

}  // namespace nd
