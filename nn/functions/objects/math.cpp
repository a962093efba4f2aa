#include <catena/nn/functions/objects/math.h>

namespace nn::functions {

Clip::Clip(double x_min, double x_max)
    : FunctionObjectOf("Clip", {1}, node, [=](const Variables& x) { return clip(x[0], x_min, x_max); }) {}
Identity::Identity() : FunctionObjectOf("Identity", {1, many}, node, [](const Variables& x) { return identity(x); }) {}
LinearInterpolate::LinearInterpolate()
    : FunctionObjectOf("LinearInterpolate", {3}, node,
                       [](const Variables& x) { return linear_interpolate(x[0], x[1], x[2]); }) {}
LogSumExp::LogSumExp(const Axes& axis)
    : FunctionObjectOf("LogSumExp", {1}, node, [=](const Variables& x) { return logsumexp(x[0], axis); }) {}
MatMul::MatMul(bool transa, bool transb)
    : FunctionObjectOf("MatMul", {2}, node, [=](const Variables& x) { return matmul(x[0], x[1], transa, transb); }) {}
BatchMatMul::BatchMatMul(bool transa, bool transb)
    : FunctionObjectOf("BatchMatMul", {2}, node,
                       [=](const Variables& x) { return batch_matmul(x[0], x[1], transa, transb); }) {}
Max::Max(const Axes& axis, bool keepdims)
    : FunctionObjectOf("Max", {1}, node, [=](const Variables& x) { return max(x[0], axis, keepdims); }) {}
Min::Min(const Axes& axis, bool keepdims)
    : FunctionObjectOf("Min", {1}, node, [=](const Variables& x) { return min(x[0], axis, keepdims); }) {}
ArgMax::ArgMax(std::optional<int> axis)
    : FunctionObjectOf("ArgMax", {1}, node, [=](const Variables& x) { return argmax(x[0], axis); }) {}
ArgMin::ArgMin(std::optional<int> axis)
    : FunctionObjectOf("ArgMin", {1}, node, [=](const Variables& x) { return argmin(x[0], axis); }) {}
Sum::Sum(const Axes& axis, bool keepdims)
    : FunctionObjectOf("Sum", {1}, node, [=](const Variables& x) { return sum(x[0], axis, keepdims); }) {}

}  // namespace nn::functions
