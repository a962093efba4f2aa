// Operators whose results are bools, and those that choose by them.
#include <array>

#include <catena/autograd/functions/math.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/onnx/import_operator.h>

namespace nn::onnx::importing {

namespace comparison {
namespace {

namespace kernels = catena::kernels;
using Call = const OperatorCall&;

template <const catena::KernelDef& kernel> Variables unary(Call c) {
  return {constant(autograd::apply(kernel, {c.input(0).data()}))};
}
template <const catena::KernelDef& kernel> Variables binary(Call c) {
  const auto [a, b] = on_one_device(c.input(0), c.input(1));
  return {constant(autograd::apply(kernel, {a.data(), b.data()}))};
}

Variables where(Call c) {
  const Variable &x = c.input(1), &y = c.input(2);
  if (x.dtype() != y.dtype()) c.refuse("its inputs are ", x.dtype(), " and ", y.dtype(), "; equal types are needed");
  const Variable& target = x.device() == autograd::Device{} ? y : x;
  const Variable condition = beside(c.input(0), target), a = beside(x, target), b = beside(y, target);
  if (is_floating(a)) return {autograd::where(condition, a, b)};
  return {constant(autograd::where(condition.data(), a.data(), b.data()))};
}

constexpr std::array kOperators = {
    Operator{"And", binary<kernels::logical_and>},
    Operator{"Equal", binary<kernels::equal>},
    Operator{"Greater", binary<kernels::greater>},
    Operator{"GreaterOrEqual", binary<kernels::greater_equal>},
    Operator{"IsNaN", unary<kernels::isnan>},
    Operator{"Less", binary<kernels::less>},
    Operator{"LessOrEqual", binary<kernels::less_equal>},
    Operator{"Not", unary<kernels::logical_not>},
    Operator{"Or", binary<kernels::logical_or>},
    Operator{"Where", where},
    Operator{"Xor", binary<kernels::logical_xor>},
};

}  // namespace
}  // namespace comparison

std::span<const Operator> comparison_operators() { return comparison::kOperators; }

}  // namespace nn::onnx::importing
