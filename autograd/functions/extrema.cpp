#include <catena/autograd/functions/extrema.h>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/variable_node.h>

namespace autograd {
namespace {

class Extremum final : public FunctionNode {
 public:
  Extremum(const catena::KernelDef& kernel, const char* label, const Dims& axes, bool keepdims)
      : kernel_(kernel), label_(label), axes_(axes), keepdims_(keepdims) {}
  std::string label() const override { return label_; }
  void check_type_forward(const type_check::TypeInfoTuple& in_types) const override {
    using namespace type_check;
    expect(in_types.size() == 1, in_types[0].dtype.kind() != 'c');
  }
  Arrays forward(const Arrays& x) override {
    retain_inputs({0});
    retain_outputs({0});
    return {reduce(kernel_, x[0], axes_, keepdims_)};
  }
  Variables backward(const Targets&, const Variables& gy) override {
    if (!catena::is_floating(input_dtype(0))) return {Variable()};
    const Array x = retained_input(0).data();
    const Shape kept = catena::reduced_shape(x.shape(), axes_, true);
    const Array y = reshape(retained_output(0).data(), kept);
    const Array both_nan =
        apply(catena::kernels::logical_and, {apply(catena::kernels::isnan, {x}), apply(catena::kernels::isnan, {y})});
    const Array chosen =
        astype(apply(catena::kernels::logical_or, {apply(catena::kernels::equal, {x, y}), both_nan}), x.dtype());
    const Array share = chosen / sum(chosen, axes_, true);
    return {broadcast_to(reshape(gy[0], kept), x.shape()) * internal::constant_variable(share)};
  }

 private:
  const catena::KernelDef& kernel_;
  const char* const label_;
  const Dims axes_;
  const bool keepdims_;
};

Variable extremum(const catena::KernelDef& kernel, const char* label, const Variable& x, const Axes& axes,
                  bool keepdims) {
  const Dims along = catena::reduced_axes(label, axes, x.ndim());
  return apply_node<Extremum>({x}, kernel, label, along, keepdims)[0];
}

}  // namespace

Variable amax(const Variable& x, const Axes& axes, bool keepdims) {
  return extremum(catena::kernels::amax, "amax", x, axes, keepdims);
}
Variable amin(const Variable& x, const Axes& axes, bool keepdims) {
  return extremum(catena::kernels::amin, "amin", x, axes, keepdims);
}

}  // namespace autograd
