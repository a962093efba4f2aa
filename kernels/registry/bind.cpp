#include <catena/kernels/registry/bind.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include <catena/kernels/base/overlap.h>

namespace catena {
namespace {

// The order of kinds that decides whether a host scalar is weak.
enum class Level : std::uint8_t { bool_, integer, floating, complex };

constexpr Level level_of(Dtype t) {
  switch (kind_of(t)) {
    case DtypeKind::bool_: return Level::bool_;
    case DtypeKind::floating: return Level::floating;
    case DtypeKind::complex: return Level::complex;
    default: return Level::integer;
  }
}
Level level_of(const Scalar& s) {
  switch (s.kind()) {
    case Scalar::Kind::bool_: return Level::bool_;
    case Scalar::Kind::floating: return Level::floating;
    case Scalar::Kind::complex: return Level::complex;
    default: return Level::integer;
  }
}

// The common dtype of the arrays among the inputs, and whether there are scalars.
struct Summary {
  bool any_array = false, any_scalar = false;
  Dtype arrays = Dtype::bool_;  // promotion of all array dtypes
  bool any_integer = false;     // integers that the arrays cannot hold are not weak

  explicit Summary(std::span<const Input> inputs, bool takes_any_integer = false) : any_integer(takes_any_integer) {
    for (const Input& in : inputs) {
      if (!in.is_array()) {
        any_scalar = true;
        continue;
      }
      const Dtype t = in.array().dtype;
      arrays = !any_array || t == arrays ? t : promote_types(arrays, t);
      any_array = true;
    }
  }
  bool is_weak(const Scalar& s) const {
    return any_array && level_of(s) <= level_of(arrays) && (!any_integer || s.fits(arrays));
  }
  // Returns the dtype of an input for the choice of a loop.
  Dtype of(const Input& in) const {
    if (in.is_array()) return in.array().dtype;
    if (is_weak(in.scalar())) return arrays;
    // Beside floats of at most 32 bits, a complex scalar counts as complex64.
    if (in.scalar().is_complex() && is_floating(arrays) && can_cast(arrays, Dtype::float32)) return Dtype::complex64;
    return in.scalar().natural_dtype();
  }
};

// Beside floating arrays, integer parameters of a kernel (strides, axes, exponents) have slots with integer types: a
// weak bool or integer scalar matches such slots, too. Its value is checked once the loop is known.
bool parameter_matches(const Summary& all, const Input& in, Dtype slot) {
  return !in.is_array() && all.is_weak(in.scalar()) && level_of(in.scalar()) <= level_of(slot) &&
         level_of(slot) < Level::floating && level_of(all.arrays) >= Level::floating;
}

bool holds_exactly(const Summary& all, std::span<const Input> inputs, const Loop& loop) {
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (all.of(inputs[k]) != loop.type[k] && !parameter_matches(all, inputs[k], loop.type[k])) return false;
  return true;
}

bool holds_safely(const Summary& all, std::span<const Input> inputs, const Loop& loop) {
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Dtype slot = loop.type[k];
    if (can_cast(all.of(inputs[k]), slot) || parameter_matches(all, inputs[k], slot)) continue;
    // Beside integer arrays, such a parameter may have a wider or narrower integer type than the arrays.
    if (!inputs[k].is_array() && all.is_weak(inputs[k].scalar()) && level_of(slot) == Level::integer) continue;
    return false;
  }
  return true;
}

// Returns the position of the first integer that does not fit its slot, or -1.
int find_misfit(std::span<const Input> inputs, const Loop& loop) {
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (!inputs[k].is_array() && level_of(inputs[k].scalar()) == Level::integer &&
        !inputs[k].scalar().fits(loop.type[k]))
      return static_cast<int>(k);
  return -1;
}

std::string dtype_list(std::span<const Input> inputs) {
  std::string text = "(";
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (k) text += ", ";
    text += name_of(inputs[k].is_array() ? inputs[k].array().dtype : inputs[k].scalar().natural_dtype());
  }
  return text + (inputs.size() == 1 ? ",)" : ")");
}

// True if the kernel refuses bool operands: array libraries differ in differences and negatives of bools, so they are
// not promoted to int8.
bool refuses(const KernelDef& def, std::span<const Input> inputs, const Summary& all) {
  bool only_bool = def.is(refuses_bool);
  for (const Input& in : inputs) only_bool &= all.of(in) == Dtype::bool_;
  return only_bool;
}

[[noreturn, gnu::cold]] void fail_no_loop(const KernelDef& def, std::span<const Input> inputs, const Summary& all) {
  const char* cure = "";
  if (refuses(def, inputs, all)) cure = inputs.size() == 1 ? "; use logical_not instead" : "; use bitwise_xor instead";
  fail<TypeError>(def.name, "no loop for ", dtype_list(inputs), cure);
}

int search_loop(const KernelDef& def, std::span<const Input> inputs, const Summary& all) {
  const int n = def.num_loops;
  if (refuses(def, inputs, all)) return -1;
  for (int i = 0; i < n; ++i)
    if (holds_exactly(all, inputs, def.loop_table[i])) return i;
  // bfloat16 loops are last in the search order, but must be chosen for inputs whose common dtype is bfloat16.
  Dtype joint = all.arrays;
  for (const Input& in : inputs) joint = promote_types(joint, all.of(in));
  if (joint == Dtype::bfloat16) {
    for (int i = 0; i < n; ++i) {
      const Loop& loop = def.loop_table[i];
      bool all_equal = true;
      for (std::size_t k = 0; k < inputs.size(); ++k) all_equal &= loop.type[k] == joint;
      if (all_equal) return i;
    }
  }
  for (int i = 0; i < n; ++i)
    if (holds_safely(all, inputs, def.loop_table[i])) return i;
  return -1;
}

// Returns the loop for arrays of one dtype beside which every host scalar is weak and fits; -1 if the loops must be
// searched.
int uniform_loop(const KernelDef& def, std::span<const Input> inputs) {
  if (int(inputs.size()) != def.nin + def.ninout) return -1;
  const ArrayHeader* first = nullptr;
  DtypeKind needed = DtypeKind::bool_;
  for (const Input& in : inputs) {
    if (!in.is_array()) needed = std::max(needed, least_kind(in.scalar()));
    else if (first == nullptr) first = &in.array();
    else if (in.array().dtype != first->dtype) return -1;
  }
  if (first == nullptr || kind_of(first->dtype) < needed) return -1;
  return def.loop_of(first->dtype);
}

}  // namespace

int choose_loop(const KernelDef& def, std::span<const Input> inputs) {
  const auto n = static_cast<int>(inputs.size());
  check<TypeError>(n >= def.nin && n <= def.nin + def.ninout, def.name, "takes ", int(def.nin), " inputs, ", n,
                   " were given");
  if (const int uniform = uniform_loop(def, inputs); uniform >= 0) return uniform;
  // All inputs are arrays and a loop has exactly their dtypes. The dtypes are compared as one 64-bit number.
  if (n > 0 && n <= 8) {
    std::uint64_t wanted = 0;
    bool only_arrays = true;
    for (int k = n - 1; k >= 0; --k) {
      const Input& in = inputs[std::size_t(k)];
      only_arrays &= in.is_array();
      wanted = wanted << 8 | (in.is_array() ? static_cast<std::uint64_t>(in.array().dtype) : 0);
    }
    const std::uint64_t mask = ~std::uint64_t(0) >> (64 - 8 * n);
    for (int i = 0; only_arrays && i < def.num_loops; ++i) {
      std::uint64_t types;
      std::memcpy(&types, def.loop_table[i].type.data(), sizeof(types));
      if ((types & mask) == wanted) return i;
    }
  }
  const Summary all(inputs);
  const int found = search_loop(def, inputs, all);
  if (found < 0) fail_no_loop(def, inputs, all);
  const int misfit = all.any_scalar ? find_misfit(inputs, def.loop_table[found]) : -1;
  if (misfit < 0) return found;
  if (def.is(takes_any_integer)) return search_loop(def, inputs, Summary(inputs, true));
  const auto k = static_cast<std::size_t>(misfit);
  fail<OverflowError>(def.name, "the integer ", inputs[k].scalar(), " does not fit ", def.loop_table[found].type[k],
                      ", the dtype it takes beside the arrays");
}

int choose_loop_by_output(const KernelDef& def, Dtype dtype) {
  // Without pure outputs, the dtypes of the in-outs decide.
  const int begin = def.nout > 0 ? def.first_output() : int(def.nin);
  const int end = def.first_output() + def.nout;
  for (int i = 0; i < def.num_loops; ++i) {
    bool all_equal = true;
    for (int k = begin; k < end; ++k) all_equal &= def.loop_table[i].type[std::size_t(k)] == dtype;
    if (all_equal) return i;
  }
  fail<TypeError>(def.name, "no loop with the output dtype ", dtype);
}

Dtype result_type(std::span<const Input> inputs) {
  const Summary all(inputs);
  if (all.any_array && !all.any_scalar) return all.arrays;
  check<ValueError>(!inputs.empty(), "result_type", "at least one array or scalar is needed");
  Dtype result = all.of(inputs[0]);
  for (const Input& in : inputs.subspan(1)) result = promote_types(result, all.of(in));
  return all.any_array ? promote_types(result, all.arrays) : result;
}

namespace {

// Broadcasts `loop` with `shape`, in place. Returns false if they do not broadcast.
bool broadcast_into(Shape& loop, const Shape& shape) {
  if (shape == loop) return true;
  const int missing = shape.size() - loop.size();
  if (missing > 0) {
    Shape wider = Shape::filled(shape.size(), 1);
    std::copy(loop.begin(), loop.end(), wider.begin() + missing);
    loop = wider;
  }
  const int shift = loop.size() - shape.size();
  for (int i = 0; i < shape.size(); ++i) {
    std::int64_t& n = loop[i + shift];
    if (shape[i] == n || shape[i] == 1) continue;
    if (n != 1) return false;
    n = shape[i];
  }
  return true;
}

[[noreturn, gnu::cold, gnu::noinline]] void fail_broadcast(std::string_view op, std::span<const Input> inputs,
                                                           std::span<ArrayHeader* const> outputs, std::uint16_t raw) {
  std::vector<const Shape*> shapes;
  int k = 0;
  for (const Input& in : inputs)
    if (const bool is_raw = (raw >> k++) & 1; in.is_array() && !is_raw) shapes.push_back(&in.array().shape);
  for (const ArrayHeader* out : outputs)
    if (const bool is_raw = (raw >> k++) & 1; !is_raw) shapes.push_back(&out->shape);
  std::string text;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (i) text += i + 1 == shapes.size() ? " and " : ", ";
    text += to_string(*shapes[i]);
  }
  fail<ValueError>(op, "shapes ", text, " do not broadcast together");
}

// Computes the strides of `a` for the shape `loop`. The caller guarantees that `a` broadcasts to it.
void loop_strides(const ArrayHeader& a, const Shape& loop, Strides& strides) {
  const int rank = loop.size(), shift = rank - a.shape.size();
  strides.resize(rank);
  for (int i = 0; i < shift; ++i) strides[i] = 0;
  for (int i = shift; i < rank; ++i) strides[i] = a.shape[i - shift] == 1 ? 0 : a.strides[i - shift];
}

}  // namespace

std::string index_message(std::string_view op, const Scalar& value, const IndexRule& rule) {
  if (rule.axis >= 0)
    return concat(op, ": the index ", value, " is out of range for axis ", rule.axis, " of length ", rule.high);
  const std::string label = concat(op, ": the label ", value, " is ");
  if (rule.ignores == 0) return concat(label, "not one of ", rule.high, " classes");
  return concat(label, "neither one of ", rule.high, " classes nor the ignored ", rule.ignored);
}
void fail_index(std::string_view op, const Scalar& value, const IndexRule& rule) {
  throw IndexError(index_message(op, value, rule));
}

Shape broadcast_shape(std::string_view op, std::span<const Input> inputs) {
  Shape loop;
  bool first = true;
  for (const Input& in : inputs) {
    if (!in.is_array()) continue;
    if (first) loop = in.array().shape;
    else if (!broadcast_into(loop, in.array().shape)) fail_broadcast(op, inputs, {}, 0);
    first = false;
  }
  return loop;
}

bool SameLayout::fits(const ArrayHeader& a) noexcept {
  if (a.size == 1 && a.shape.size() <= model_->shape.size()) return true;
  if (model_->size != 1 || model_->shape.size() > a.shape.size()) return false;
  model_ = &a;
  return true;
}

const ArrayHeader* same_layout(std::span<const Input> inputs, std::span<ArrayHeader* const> outputs) noexcept {
  SameLayout layout;
  for (const Input& in : inputs)
    if (in.is_array()) layout.add(in.array());
  for (const ArrayHeader* out : outputs) layout.add(*out);
  const ArrayHeader* const model = layout.model();
  const auto has_shape = [&](const ArrayHeader* out) { return out == model || out->shape == model->shape; };
  return model != nullptr && std::all_of(outputs.begin(), outputs.end(), has_shape) ? model : nullptr;
}

namespace {

// Returns the strides of a contiguous axis of elements of `itemsize` bytes; itemsize 0 gives the strides of a scalar.
const Strides& flat_strides(std::size_t itemsize) {
  static const Strides table[17] = {{0}, {1},  {2},  {3},  {4},  {5},  {6},  {7}, {8},
                                    {9}, {10}, {11}, {12}, {13}, {14}, {15}, {16}};
  return table[itemsize];
}

}  // namespace

void BoundCall::bind_flat(std::span<const Input> inputs, std::span<ArrayHeader* const> outputs, const Dtype* slots,
                          const ArrayHeader& model) {
  loop_.resize(1);
  loop_[0] = model.size;
  std::size_t k = 0;
  const auto add = [&](std::byte* data, Dtype dtype, bool immediate, bool repeated) {
    new (&operand_[k++]) BoundOperand{data, dtype, immediate, &loop_, &flat_strides(repeated ? 0 : itemsize(dtype))};
  };
  for (const Input& in : inputs) {
    if (in.is_array()) {
      add(in.array().data, in.array().dtype, false, in.array().size != model.size);
    } else {
      in.scalar().store(slots[k], cell_[k].bytes);
      add(cell_[k].bytes, slots[k], true, true);
    }
  }
  for (const ArrayHeader* out : outputs) add(out->data, out->dtype, false, false);
  n_ = static_cast<int>(k);
}

void BoundCall::bind(std::string_view op, std::span<const Input> inputs, std::span<ArrayHeader* const> outputs,
                     const Dtype* slots, std::uint16_t raw, const ArrayHeader* same_layout) {
  const auto total = inputs.size() + outputs.size();
  check<ValueError>(total <= kMaxOperands, op, total, " operands exceed the limit of ", kMaxOperands);
  if (same_layout != nullptr) return bind_flat(inputs, outputs, slots, *same_layout);
  for (std::size_t k = 0; k < total; ++k) {
    new (&operand_[k]) BoundOperand;
    new (&strides_[k]) Strides;
  }
  const auto is_raw = [raw](std::size_t k) { return ((raw >> k) & 1) != 0; };
  loop_ = Shape();
  bool first = true;
  const auto widen = [&](const Shape& shape) {
    if (first) loop_ = shape;
    else if (!broadcast_into(loop_, shape)) fail_broadcast(op, inputs, outputs, raw);
    first = false;
  };
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (inputs[k].is_array() && !is_raw(k)) widen(inputs[k].array().shape);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (!is_raw(k + inputs.size())) widen(outputs[k]->shape);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    check<ValueError>(is_raw(k + inputs.size()) || outputs[k]->shape == loop_, op, "the output has shape ",
                      outputs[k]->shape, ", the operands broadcast to ", loop_);
  const auto bind_array = [&](std::size_t k, const ArrayHeader& a) {
    if (is_raw(k)) {
      operand_[k] = operand_of(a);
      return;
    }
    loop_strides(a, loop_, strides_[k]);
    operand_[k] = {a.data, a.dtype, false, &loop_, &strides_[k]};
  };
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].is_array()) {
      bind_array(k, inputs[k].array());
      continue;
    }
    strides_[k] = Strides::filled(loop_.size(), 0);
    inputs[k].scalar().store(slots[k], cell_[k].bytes);
    operand_[k] = {cell_[k].bytes, slots[k], true, &loop_, &strides_[k]};
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) bind_array(k + inputs.size(), *outputs[k]);
  n_ = static_cast<int>(total);
}

bool same_view(const ArrayHeader& a, const ArrayHeader& b) noexcept {
  if (a.data != b.data || itemsize(a.dtype) != itemsize(b.dtype) || !(a.shape == b.shape)) return false;
  for (int i = 0; i < a.shape.size(); ++i)
    if (a.shape[i] != 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

bool elements_meet(const ArrayHeader& a, const ArrayHeader& b) noexcept {
  return (a.c_contiguous && b.c_contiguous) || share_elements({a.data, a.shape, a.strides, itemsize(a.dtype)},
                                                              {b.data, b.shape, b.strides, itemsize(b.dtype)});
}

void check_output_cast(std::string_view op, Dtype from, Dtype to, Casting casting) {
  if (from == to) return;
  check<TypeError>(can_cast(from, to, casting), op, "cannot cast the result from ", from, " to ", to,
                   " under casting '", name_of(casting), "'");
}

int merge_axes(Shape& loop, std::span<Strides> strides) {
  const int rank = loop.size();
  int kept = 0;
  for (int i = 0; i < rank; ++i) {
    if (loop[i] == 1) continue;
    bool merges = kept > 0;
    for (std::size_t k = 0; merges && k < strides.size(); ++k) merges = strides[k][kept - 1] == strides[k][i] * loop[i];
    if (merges) {
      loop[kept - 1] *= loop[i];
      for (Strides& s : strides) s[kept - 1] = s[i];
      continue;
    }
    loop[kept] = loop[i];
    for (Strides& s : strides) s[kept] = s[i];
    ++kept;
  }
  loop.resize(kept);
  for (Strides& s : strides) s.resize(kept);
  return kept;
}

}  // namespace catena
