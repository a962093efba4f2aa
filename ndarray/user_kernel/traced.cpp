// The functions and operators of traced values: each call adds a step to the trace.
#include <optional>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/engine/clip_bounds.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/user_kernel/fusion.h>
#include <catena/ndarray/user_kernel/trace.h>

namespace nd {
namespace internal {

using catena::check;
using catena::KernelDef;
using catena::TypeError;
using catena::ValueError;

namespace {

// Adds a step to the trace of its operands: the trace, and the number of the first result.
std::pair<Trace*, int> add_step(const KernelDef& def, std::initializer_list<TracedOperand> in) try {
  Trace* trace = nullptr;
  for (const TracedOperand& x : in) {
    if (x.trace() == nullptr) continue;
    check<ValueError>(trace == nullptr || trace == x.trace(), def.name, "values of two fused calls meet");
    trace = x.trace();
  }
  check<TypeError>(trace != nullptr, def.name, "there is no traced value");
  Trace::State& state = trace->state();
  catena::SmallVector<int, 4> values;
  catena::SmallVector<catena::Input, 4> inputs;
  for (const TracedOperand& x : in) values.push_back(state.value_of(x));
  for (int v : values) inputs.push_back(state.input(v));
  return {trace, state.add_step(def, catena::choose_loop(def, inputs), std::move(values))};
} catch (...) {
  catena::rethrow_standard(kFusedName);
}

Traced trace_step(const KernelDef& def, std::initializer_list<TracedOperand> in) {
  const auto [trace, first] = add_step(def, in);
  return {trace, first};
}

// For a kernel with two outputs.
std::pair<Traced, Traced> trace_pair(const KernelDef& def, std::initializer_list<TracedOperand> in) {
  const auto [trace, first] = add_step(def, in);
  return {Traced(trace, first), Traced(trace, first + 1)};
}

const KernelDef& kernel_of(NumberOperation op) {
  using Op = NumberOperation;
  namespace k = catena::kernels;
  switch (op) {
    case Op::negate: return k::negative;
    case Op::invert: return k::invert;
    case Op::convert: return k::copy;
    case Op::add: return k::add;
    case Op::subtract: return k::subtract;
    case Op::multiply: return k::multiply;
    case Op::divide: return k::true_divide;
    case Op::remainder: return k::remainder;
    case Op::bit_and: return k::bitwise_and;
    case Op::bit_or: return k::bitwise_or;
    case Op::bit_xor: return k::bitwise_xor;
    case Op::shift_left: return k::left_shift;
    case Op::shift_right: return k::right_shift;
    case Op::equal: return k::equal;
    case Op::not_equal: return k::not_equal;
    case Op::less: return k::less;
    case Op::less_equal: return k::less_equal;
    case Op::greater: return k::greater;
    case Op::greater_equal: return k::greater_equal;
  }
  catena::fail<ValueError>(kFusedName, "there is no operation number ", int(op));
}

}  // namespace

Traced trace_operator(NumberOperation op, const TracedOperand& a, const TracedOperand& b) {
  Trace* const trace = a.trace() != nullptr ? a.trace() : b.trace();
  if (a.trace() == nullptr || b.trace() == nullptr || a.trace() == b.trace())
    if (const std::optional<int> number = trace->state().compute_number(op, a, b)) return {trace, *number};
  const KernelDef& def = kernel_of(op);
  return def.nin == 1 ? trace_step(def, {a}) : trace_step(def, {a, b});
}

Traced& trace_in_place(NumberOperation op, Traced& a, const TracedOperand& b) {
  const Traced value = trace_operator(op, a, b);
  if (value.trace() == a.trace())
    if (const auto number = value.trace()->state().compute_number(NumberOperation::convert, value, a))
      return a = {value.trace(), *number};
  catena::check_output_cast(kFusedName, value.dtype(), a.dtype(), Casting::same_kind);
  return a = value.astype(a.dtype());
}

}  // namespace internal

Dtype Traced::dtype() const { return trace_->state().values[static_cast<std::size_t>(value_)].dtype; }

Traced Traced::astype(Dtype dtype) const {
  const auto& value = trace_->state().values[static_cast<std::size_t>(value_)];
  if (value.dtype == dtype && !value.constant) return *this;
  return {trace_, trace_->state().copied(value_, dtype)};
}

Traced Traced::copy() const { return {trace_, trace_->state().copied(value_, dtype())}; }

using internal::trace_pair;
using internal::trace_step;

#define CATENA_UNARY(name) \
  Traced name(const Traced& x) { return trace_step(catena::kernels::name, {x}); }
#define CATENA_BINARY(name)                                                                               \
  Traced name(const Traced& x1, const Traced& x2) { return trace_step(catena::kernels::name, {x1, x2}); } \
  Traced name(const Traced& x1, const Scalar& x2) { return trace_step(catena::kernels::name, {x1, x2}); } \
  Traced name(const Scalar& x1, const Traced& x2) { return trace_step(catena::kernels::name, {x1, x2}); }
#include <catena/kernels/lists/elementwise.inc>
#undef CATENA_UNARY
#undef CATENA_BINARY

std::pair<Traced, Traced> divmod(const Traced& x1, const TracedOperand& x2) {
  return trace_pair(catena::kernels::divmod, {x1, x2});
}
std::pair<Traced, Traced> divmod(const Scalar& x1, const Traced& x2) {
  return trace_pair(catena::kernels::divmod, {x1, x2});
}
std::pair<Traced, Traced> modf(const Traced& x) { return trace_pair(catena::kernels::modf, {x}); }
std::pair<Traced, Traced> frexp(const Traced& x) { return trace_pair(catena::kernels::frexp, {x}); }

Traced nextafter(const Traced& x1, const TracedOperand& x2) { return trace_step(catena::kernels::nextafter, {x1, x2}); }
Traced nextafter(const Scalar& x1, const Traced& x2) { return trace_step(catena::kernels::nextafter, {x1, x2}); }

Traced clip(const Traced& a, const TracedOperand& a_min, const TracedOperand& a_max) {
  const auto is_elsewhere = [&](const TracedOperand& x) { return x.trace() != nullptr && x.trace() != a.trace(); };
  if (is_elsewhere(a_min) || is_elsewhere(a_max)) return trace_step(catena::kernels::clip, {a, a_min, a_max});
  internal::Trace::State& state = a.trace()->state();
  const auto given = [&](const TracedOperand& x) {
    return x.trace() != nullptr ? state.input(x.value()) : catena::Input(x.constant().value);
  };
  const internal::ClipBounds bounds = internal::clip_bounds(state.input(a.value()), given(a_min), given(a_max));
  const auto bound = [&](const TracedOperand& x, const catena::Input& used) {
    if (used.is_array() || used.scalar() == given(x).scalar()) return x;
    state.fixes_numbers |= x.trace() != nullptr;
    return TracedOperand(used.scalar());
  };
  return trace_step(catena::kernels::clip, {a, bound(a_min, bounds.low), bound(a_max, bounds.high)});
}

Traced where(const Traced& condition, const TracedOperand& x, const TracedOperand& y) {
  return trace_step(catena::kernels::where, {condition.astype(bool_), x, y});
}

}  // namespace nd
