// Running sums, products and sums of exponentials.
#include <array>
#include <limits>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array/parts.h>
#include <catena/autograd/functions/math.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>

namespace autograd {

using internal::part;
using type_check::TypeInfoTuple;

namespace {

Array scanned(const catena::KernelDef& kernel, const Array& x, int axis, bool reverse) {
  const Input input(*x.get());
  const int loop = catena::choose_loop(kernel, {&input, 1});
  const Array y = x.backend().empty(x.shape(), kernel.loop_table[loop].type[1], x.device());
  const Array from = reverse ? internal::reversed(x, axis) : x, to = reverse ? internal::reversed(y, axis) : y;
  x.backend().execute(catena::call::Scan{&kernel, loop, from.get(), axis, to.get()});
  return y;
}

class CumSum final : public FunctionNode, public internal::HasOptions {
 public:
  CumSum(int axis, bool reverse) : axis_(axis), reverse_(reverse) {}
  std::string label() const override { return "CumSum"; }
  void options(internal::FunctionOptions& o) const override {
    o.integer("axis", axis_);
    o.integer("reverse", reverse_);
  }
  Arrays forward(const Arrays& x) override { return {scanned(catena::kernels::sum, x[0], axis_, reverse_)}; }
  Variables backward(const Targets&, const Variables& gy) override {
    return apply_node<CumSum>({gy[0]}, axis_, !reverse_);
  }

 private:
  int axis_;
  bool reverse_;
};

// s[0] = b[0] and s[j] = b[j] + c[j - 1] s[j - 1]; from the end: s[n - 1] = b[n - 1] and s[j] = b[j] + c[j] s[j + 1].
// The axis has the length n >= 1 in b and s, and n - 1 in c.
class LinearRecurrence final : public FunctionNode {
 public:
  LinearRecurrence(int axis, bool from_end) : axis_(axis), from_end_(from_end) {}
  std::string label() const override { return "LinearRecurrence"; }
  Arrays forward(const Arrays& in) override {
    retain_inputs({0});
    retain_outputs({0});
    // The axis comes first, and the other elements are adjacent.
    const Array c = ordered(in[0]), b = ordered(in[1]);
    const Array s = b.backend().empty(b.shape(), b.dtype(), b.device()),
                first = from_end_ ? internal::reversed(s, 0) : s;
    const std::int64_t n = b.shape(0);
    assign(slice(first, 0, 0, 1), slice(b, 0, 0, 1));
    if (n > 1) run(slice(first, 0, 0, n - 1), c, slice(b, 0, 1, n), slice(first, 0, 1, n));
    return {transpose(s, catena::rolled_axes("cumprod", 0, axis_ + 1, s.ndim()))};
  }
  Variables backward(const Targets& targets, const Variables& gs) override {
    const Variable c = retained_input(0), s = retained_output(0);
    const std::int64_t n = s.shape(axis_);
    const Variable gb = apply_node<LinearRecurrence>({c, gs[0]}, axis_, !from_end_)[0];
    Variables gradients;
    for (const int target : targets) {
      if (target == 1) gradients.push_back(gb);
      else if (from_end_) gradients.push_back(part(gb, axis_, 0, n - 1) * part(s, axis_, 1, n));
      else gradients.push_back(part(gb, axis_, 1, n) * part(s, axis_, 0, n - 1));
    }
    return gradients;
  }

 private:
  Array ordered(const Array& a) const {
    const Array first = contiguous(transpose(a, catena::rolled_axes("cumprod", axis_, 0, a.ndim())));
    return from_end_ ? internal::reversed(first, 0) : first;
  }
  // next = b + c before, at one position after the other.
  static void run(const Array& before, const Array& c, const Array& b, const Array& next) {
    const Input inputs[] = {Input(*before.get()), Input(*c.get()), Input(*b.get())};
    const auto loop_of = [&](const catena::KernelDef& kernel) {
      return static_cast<std::uint16_t>(catena::choose_loop(kernel, {inputs, 2}));
    };
    const std::array<catena::Step, 2> steps = {{
        {&catena::kernels::multiply, loop_of(catena::kernels::multiply), {0, 1, 4}},
        {&catena::kernels::add, loop_of(catena::kernels::add), {4, 2, 3}},
    }};
    std::array<Dtype, 5> slots;
    slots.fill(b.dtype());
    catena::Program program;
    program.steps = steps;
    program.slots = slots;
    program.nin = 3;
    program.nout = 1;
    catena::ArrayHeader* const out = next.get();
    next.backend().execute(catena::call::Recurrence{{&program, inputs, {&out, 1}}});
  }

  int axis_;
  bool from_end_;
};

Variable recurrence_from_end(const Variable& c, const Variable& b, int axis) {
  return apply_node<LinearRecurrence>({c, b}, axis, true)[0];
}

// With P[j] the product of the elements before j, and S[j] the sum over i >= j of gy[i] times the elements from j + 1
// to i, the gradient of element j is P[j] S[j]. No element is divided by.
class CumProd final : public FunctionNode {
 public:
  explicit CumProd(int axis) : axis_(axis) {}
  std::string label() const override { return "CumProd"; }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0});
    retain_outputs({0});
    return {scanned(catena::kernels::prod, x[0], axis_, false)};
  }
  Variables backward(const Targets&, const Variables& gy) override {
    const Variable x = retained_input(0), y = retained_output(0);
    const std::int64_t n = x.shape(axis_);
    if (n <= 1) return {gy[0]};
    const Variable s = recurrence_from_end(part(x, axis_, 1, n), gy[0], axis_);
    return {concat({part(s, axis_, 0, 1), part(y, axis_, 0, n - 1) * part(s, axis_, 1, n)}, axis_)};
  }

 private:
  int axis_;
};

// With T[j] the sum over i >= j of gy[i] exp(y[j] - y[i]), the gradient of element j is exp(x[j] - y[j]) T[j]. All
// these exponents are at most 0, because y does not decrease.
class LogCumSumExp final : public FunctionNode {
 public:
  explicit LogCumSumExp(int axis) : axis_(axis) {}
  std::string label() const override { return "LogCumSumExp"; }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace type_check;
    expect(in_types[0].dtype.kind() == 'f');
  }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0});
    retain_outputs({0});
    const Array from = contiguous(transpose(x[0], catena::rolled_axes("logcumsumexp", axis_, 0, x[0].ndim())));
    const std::int64_t n = from.shape(0);
    const Array y = copy(from);
    if (n > 1) {
      const Array next = slice(y, 0, 1, n);
      apply_in_order(catena::kernels::logaddexp, std::array<Operand, 2>{slice(y, 0, 0, n - 1), slice(from, 0, 1, n)},
                     {&next, 1});
    }
    return {transpose(y, catena::rolled_axes("logcumsumexp", 0, axis_ + 1, y.ndim()))};
  }
  Variables backward(const Targets&, const Variables& gy) override {
    const Variable x = retained_input(0), y = retained_output(0);
    const std::int64_t n = x.shape(axis_);
    // Where y is -inf, so are x and all elements before; with 0 in its place the terms are exp(-inf), not NaN.
    const Array empty = apply(catena::kernels::equal, {y.data(), -std::numeric_limits<double>::infinity()});
    const Variable shift = where(empty, 0, y), share = exp(x - shift);
    if (n <= 1) return {share * gy[0]};
    const Variable c = exp(part(y, axis_, 0, n - 1) - part(shift, axis_, 1, n));
    return {share * recurrence_from_end(c, gy[0], axis_)};
  }

 private:
  int axis_;
};

// Calls f with x, flattened if there is no axis, and the axis counted from the front.
template <class F> Variable along(const char* label, const Variable& x, std::optional<int> axis, F f) {
  if (!axis) return f(flatten(x), 0);
  return f(x, internal::checked_axis(label, label, x, *axis));
}
// The same; 16-bit floats are computed in float32 and rounded once.
template <class F> Variable along_wide(const char* label, const Variable& x, std::optional<int> axis, F f) {
  if (!x || !catena::is_floating(x.dtype()) || catena::itemsize(x.dtype()) >= 4) return along(label, x, axis, f);
  return cast(along(label, cast(x, Dtype::float32), axis, f), x.dtype());
}

}  // namespace

Variable cumsum(const Variable& x, std::optional<int> axis) {
  return along("CumSum", x, axis, [](const Variable& v, int at) { return apply_node<CumSum>({v}, at, false)[0]; });
}

Variable cumprod(const Variable& x, std::optional<int> axis) {
  return along_wide("CumProd", x, axis, [](const Variable& v, int at) { return apply_node<CumProd>({v}, at)[0]; });
}

Variable logcumsumexp(const Variable& x, std::optional<int> axis) {
  return along_wide("LogCumSumExp", x, axis,
                    [](const Variable& v, int at) { return apply_node<LogCumSumExp>({v}, at)[0]; });
}

}  // namespace autograd
