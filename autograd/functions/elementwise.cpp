#include <catena/autograd/functions/elementwise.h>

#include <algorithm>
#include <array>

#include <catena/autograd/autocast.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/config.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/hooks.h>
#include <catena/autograd/promotion.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/error_context.h>

namespace autograd {

using internal::Access;

namespace {

Array run_kernel(const ElementwiseFunction& function, std::span<const Array* const> x, std::span<const Constant> c) {
  const catena::KernelDef& kernel = *function.kernel;
  const auto operand = [](const Constant& k) { return k.is_array() ? Operand(k.array()) : Operand(k.scalar()); };
  if (c.empty()) return x.size() == 1 ? apply(kernel, {*x[0]}) : apply(kernel, {*x[0], *x[1]});
  const Operand first = operand(c[0]);
  if (c.size() == 1) return function.constant_first ? apply(kernel, {first, *x[0]}) : apply(kernel, {*x[0], first});
  return apply(kernel, {*x[0], first, operand(c[1])});
}

bool broadcast_together(const Shape& a, const Shape& b) {
  for (int i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const std::int64_t p = a[a.size() - i], q = b[b.size() - i];
    if (p != q && p != 1 && q != 1) return false;
  }
  return true;
}

class Elementwise final : public FunctionNode, public internal::HasOptions {
 public:
  Elementwise(const ElementwiseFunction& function, std::size_t inputs, std::span<const Constant> c)
      : function_(function), num_constants_(c.size()) {
    std::copy(c.begin(), c.end(), constants_.begin());
    for (std::size_t k = 0; k < c.size(); ++k)
      if (c[k].is_array()) versions_[k] = internal::version_of(c[k].array());
    if (function.retain & kRetainX) retain_inputs({0});
    if ((function.retain & kRetainX1) && inputs > 1) retain_inputs({1});
    if (function.retain & kRetainY) retain_outputs({0});
  }

  std::string label() const override {
    std::string text = function_.label;
    if (const std::size_t at = text.find('$'); at != std::string::npos) text.replace(at, 1, constants_[0].label());
    return text;
  }
  void options(internal::FunctionOptions& o) const override {
    o.function(function_.kernel->name);
    if (function_.constant_first) o.integer("constant_first", 1);
    for (const Constant& c : constants()) o.constant(&c == constants().data() ? "c0" : "c1", c);
  }

  // Called only if the fast check below has failed.
  void check_type_forward(const type_check::TypeInfoTuple& in_types) const override {
    using namespace type_check;
    if (function_.dtypes == InputDtypes::real) expect(in_types[0].dtype.kind() != 'c');
    else if (function_.dtypes != InputDtypes::any) expect(in_types[0].dtype.kind() == 'f');
    if (in_types.count() < 2) return;
    if (function_.same_shape)
      return expect(in_types[1].dtype == in_types[0].dtype, in_types[1].shape == in_types[0].shape);
    expect(in_types[0].dtype == in_types[1].dtype);
    if (!broadcast_together(in_types.shape(0), in_types.shape(1)))
      throw catena::InvalidType("in_types[0].shape and in_types[1].shape broadcast together",
                                catena::concat(in_types.shape(0), " and ", in_types.shape(1)));
  }

  Arrays forward(const Arrays& x) override {
    if (function_.retain & kRetainX) retain_inputs({0});
    if ((function_.retain & kRetainX1) && x.size() > 1) retain_inputs({1});
    if (function_.retain & kRetainY) retain_outputs({0});
    const Array* in[2] = {&x[0], x.size() > 1 ? &x[1] : nullptr};
    return {run_kernel(function_, {in, x.size()}, constants())};
  }

  Variables backward(const Targets& targets, const Variables& gy) override {
    Variables gx(targets.size());
    if (!gy[0]) return gx;
    for (std::size_t k = 0; k < num_constants_; ++k)
      if (constants_[k].is_array()) check_unchanged(constants_[k].array(), versions_[k], "the constant array");
    const bool fused = function_.fused != nullptr && !needs_double_backprop();
    ElementwiseValues v{{}, {}, {}, gy[0], constants()};
    if (function_.retain & kRetainX) v.x0 = retained_input(0);
    if ((function_.retain & kRetainX1) && num_inputs() > 1) v.x1 = retained_input(1);
    if (function_.retain & kRetainY) v.y = retained_output(0);
    for (std::size_t k = 0; k < targets.size(); ++k) {
      gx[k] = fused ? run_fused(targets[k], v, gradient_is_spare() && num_inputs() == 1)
                    : function_.gradient(targets[k], v);
      if (num_inputs() > 1 && gx[k] && gx[k].shape() != input_shape(targets[k]))
        gx[k] = sum_to(gx[k], input_shape(targets[k]));
    }
    return gx;
  }

  Variable connect(const internal::GraphMode& mode, std::span<const Variable> inputs, const Arrays& in,
                   const Array& out) {
    return connect_single(mode, inputs, in, out);
  }
  void fail_types(const Arrays& in) const { check_types(type_check::TypeInfoTuple(in)); }

 private:
  std::span<const Constant> constants() const { return {constants_.data(), num_constants_}; }
  Variable run_fused(int target, const ElementwiseValues& v, bool overwrite_gy) const {
    const auto data = [](const Variable& a) { return a ? a.data() : Array(); };
    return internal::constant_variable(
        function_.fused(target, {data(v.x0), data(v.x1), data(v.y), v.gy.data(), v.c, overwrite_gy}));
  }

  const ElementwiseFunction& function_;
  std::size_t num_constants_;
  std::array<Constant, 2> constants_;
  std::array<std::uint32_t, 2> versions_{};
};

bool is_input_dtype(Dtype dtype, InputDtypes of) {
  if (of == InputDtypes::any || catena::is_floating(dtype)) return true;
  return of == InputDtypes::real && catena::is_exact(dtype);
}
bool types_fit(const ElementwiseFunction& function, std::span<const Array* const> x) {
  if (!is_input_dtype(x[0]->dtype(), function.dtypes)) return false;
  if (x.size() < 2) return true;
  return x[0]->dtype() == x[1]->dtype() &&
         (x[0]->shape() == x[1]->shape() || (!function.same_shape && broadcast_together(x[0]->shape(), x[1]->shape())));
}

Variable call(const ElementwiseFunction& function, std::span<const Variable> inputs, std::span<const Constant> c) try {
  const internal::GraphMode mode = internal::graph_mode_of(inputs);
  const internal::Modes& modes = internal::modes();
  if (modes.autocast != nullptr) [[unlikely]]
    if (const std::optional<Variables> converted = internal::autocast_inputs(function.label, inputs))
      return call(function, *converted, c);
  // Hooks and debug mode are rare and use the general path.
  if (!modes.in_backward_rule && (internal::thread_hooks() != nullptr || is_debug())) [[unlikely]] {
    Variables list;
    for (const Variable& v : inputs) list.push_back(v);
    return apply_node<Elementwise>(list, function, inputs.size(), c)[0];
  }
  const Array* x[2] = {&Access::node(inputs[0])->data, nullptr};
  if (inputs.size() > 1) x[1] = &Access::node(inputs[1])->data;
  const std::span<const Array* const> xs(x, inputs.size());
  const auto arrays = [&] {
    Arrays list;
    for (const Array* a : xs) list.push_back(*a);
    return list;
  };
  if (internal::checks_types(modes) && !types_fit(function, xs)) [[unlikely]]
    make_node<Elementwise>(function, inputs.size(), c)->fail_types(arrays());
  if (xs.size() > 1 && ((*x[0])->owner != (*x[1])->owner || x[0]->device() != x[1]->device())) [[unlikely]]
    check_same_device(make_node<Elementwise>(function, inputs.size(), c)->label(), arrays());
  const Array out = run_kernel(function, xs, c);
  if (mode.graph) return make_node<Elementwise>(function, inputs.size(), c)->connect(mode, inputs, arrays(), out);
  const Variable y = internal::constant_variable(out);
  Access::node(y)->volatile_flag = mode.flag;
  Access::node(y)->requires_grad = mode.requires_grad;
  return y;
} catch (...) {
  catena::rethrow_standard(function.kernel->name);
}

class Masked final : public FunctionNode, public internal::HasOptions {
 public:
  explicit Masked(const Array& condition) : condition_(condition) {}
  std::string label() const override { return "masked"; }
  void options(internal::FunctionOptions& o) const override { o.array("condition", condition_); }
  Arrays forward(const Arrays& g) override { return {where(condition_, g[0], 0)}; }
  Variables backward(const Targets&, const Variables& gy) override { return {masked(gy[0], condition_)}; }

 private:
  Array condition_;
};

// Converts as NumPy's astype does: 300 as int8 wraps, 1.5 as int32 is 1. Floating dtypes take any number unchanged.
Scalar as_dtype(const Scalar& s, Dtype t) {
  if (catena::is_floating(t)) return s;
  return catena::visit_dtype(t, [&](auto tag) { return Scalar(s.to<typename decltype(tag)::type>()); });
}

// True if x must be broadcast to the shape that it has together with the array constant. Shapes that do not fit are
// left to internal::converted, which refuses them.
bool enlarges(const Constant& c, const Variable& x) {
  if (!c.is_array()) return false;
  const Shape &from = c.array().shape(), &to = x.data().shape();
  return !catena::broadcasts_to(from, to) && broadcast_together(from, to);
}

}  // namespace

Array ElementwiseArrays::result(const catena::KernelDef& kernel, std::initializer_list<Operand> inputs) const {
  if (!overwrite_gy) return apply(kernel, inputs);
  apply_into(kernel, {inputs.begin(), inputs.size()}, {&gy, 1});
  return gy;
}

Variable elementwise(const ElementwiseFunction& function, const Variable& x) {
  if (function.dtypes == InputDtypes::converted && x && catena::is_exact(x.dtype())) [[unlikely]] {
    const Variable converted = cast(x, get_dtype());
    return call(function, {&converted, 1}, {});
  }
  return call(function, {&x, 1}, {});
}

Variable elementwise(const ElementwiseFunction& function, const Variable& x0, const Variable& x1) {
  if (x0 && x1 && x0.dtype() != x1.dtype() && (catena::is_exact(x0.dtype()) || catena::is_exact(x1.dtype())))
      [[unlikely]] {
    const Dtype dtype = internal::promoted(x0.dtype(), x1.dtype());
    const Variable a = cast(x0, dtype), b = cast(x1, dtype);
    return call(function, internal::BorrowedPair(a, b), {});
  }
  return call(function, internal::BorrowedPair(x0, x1), {});
}

Variable elementwise(const ElementwiseFunction& function, const Variable& x, const Constant& c) {
  return elementwise(function, x, {&c, 1});
}

Variable elementwise(const ElementwiseFunction& function, const Variable& x, std::span<const Constant> c) {
  catena::check<catena::ValueError>(c.size() <= 2, function.label, c.size(),
                                    " constants given; a function takes at most two");
  for (const Constant& k : c)
    if (enlarges(k, x)) [[unlikely]]
      return elementwise(
          function, broadcast_to(x, catena::broadcast_shapes(function.label, k.array().shape(), x.data().shape())), c);
  Constant own[2];
  for (std::size_t k = 0; k < c.size(); ++k) own[k] = internal::converted(function.label, c[k], x);
  return call(function, {&x, 1}, {own, c.size()});
}

Variable masked(const Variable& g, const Array& condition) {
  if (!internal::graph_mode_of({&g, 1}).graph) return internal::constant_variable(where(condition, g.data(), 0));
  return apply_node<Masked>({g}, condition)[0];
}

Variable reciprocal_or_0(const Variable& x) {
  const Array is_zero = apply(catena::kernels::equal, {x.data(), 0});
  return masked(1.0 / (x + astype(is_zero, x.dtype())), apply(catena::kernels::logical_not, {is_zero}));
}

Variable zeros_of(const Variable& g) { return internal::constant_variable(zeros_like(g.data())); }

namespace internal {

Constant converted(const char* op, const Constant& c, const Variable& x) {
  const Array& data = x.data();
  if (!c.is_array()) return as_dtype(c.scalar(), data.dtype());
  const Array& a = c.array();
  catena::check<catena::TypeError>(same_backend(a, data) && a.device() == data.device(), op, "the variable lives on ",
                                   data.device(), " (", data.backend().name(), "), the constant array on ", a.device(),
                                   " (", a.backend().name(), ")");
  catena::check<catena::ValueError>(catena::broadcasts_to(a.shape(), data.shape()), op,
                                    "Failed to broadcast arrays: a constant of shape ", a.shape(),
                                    " does not broadcast to the shape ", data.shape(), " of the variable");
  return astype(a, data.dtype());
}

}  // namespace internal
}  // namespace autograd
