// Helpers for tests of user functions. They need no test framework: every failure is an AssertionError.
//
//   if (!testing::attr::gpu()) return;                        // "skipped: ..." on standard output
//   testing::unary_math_function_unittest(exp);
//   testing::condition::retry(3, [] { ... });
//   testing::parameterize(testing::product({{"dtype", {Dtype::float16, Dtype::float32}}, {"n", {1, 2}}}),
//                         [](const testing::ParameterSet& p) { ... p.get<int>("n") ... });
#pragma once

#include <string_view>
#include <vector>

#include <catena/autograd/operators.h>
#include <catena/autograd/unary_function.h>
#include <catena/autograd/variable.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/parameter_set.h>
#include <catena/kernels/base/testing.h>

namespace autograd::testing {

namespace condition = catena::testing::condition;  // repeat, retry, repeat_with_success_at_least
using catena::testing::parameterize;
using catena::testing::ParameterSet;
using catena::testing::product;
using catena::testing::product_dict;

// ---- requirements of tests ----------------------------------------------------------------------
// True if the machine meets the named requirement. If not, a line on standard output gives the reason why the test is
// skipped. Requirements in the environment variable CATENA_TEST_SKIP, as in "slow,gpu", count as not met; without gpu,
// cudnn and multi_gpu are not met either.
namespace attr {
CATENA_EXPORT bool gpu();                 // a CUDA device
CATENA_EXPORT bool cudnn();               // a CUDA device and cuDNN
CATENA_EXPORT bool multi_gpu(int count);  // at least `count` CUDA devices
CATENA_EXPORT bool slow();                // slow tests are not skipped
}  // namespace attr
// Requirements are "<name>" or, for catena, "catena>=0.1" with one of == != <= >= < >. Names are catena, cpu, cuda and
// cudnn; any other name counts as not installed. ValueError for a text of another form.
CATENA_EXPORT bool with_requires(const std::vector<std::string_view>& requirements);

// ---- functions ----------------------------------------------------------------------------------
// The expected values and the inputs of a test of a differentiable function of one variable.
struct UnaryMathFunction {
  // Returns the expected value of an element. Default: the function of <cmath> whose name is the label; ValueError if
  // there is none.
  catena::Function<double(double)> func_expected = {};
  std::string label_expected = {};  // default: the label of func's node in lower case
  // Returns x and the gradient of y. Default: uniform numbers between -1 and 1.
  catena::Function<Arrays(const Shape& shape, Dtype dtype)> make_data = {};
};
// Tests a differentiable elementwise function of one variable: values, dtypes, gradients and the label, for arrays of
// the shapes (3, 2) and () and of float16, float32 and float64, on the CPU and on cuda:0, if there is one. Values may
// differ by 1e-4 (1e-4 + 1e-4 |y|), in float16 by 1e-3 |y|; gradients by that or, in float16, by 2^-4. A case is
// repeated with other numbers at most twice. AssertionError names the case.
CATENA_EXPORT void unary_math_function_unittest(const UnaryFunction& func, const UnaryMathFunction& expected = {});

// ---- assertions ---------------------------------------------------------------------------------

// Throws an AssertionError unless |x - y| <= atol + rtol |y| for every element. NaN equals NaN. Shapes must be equal,
// or one array has a single element. Devices and dtypes may differ. The message shows the largest difference and its
// position.
CATENA_EXPORT void assert_allclose(const Array& x, const Array& y, double atol = 1e-5, double rtol = 1e-4,
                                   bool verbose = true);
// A template, because the array of another library converts to Array and to Variable.
template <std::convertible_to<Variable> X, std::convertible_to<Variable> Y>
requires(VariableLike<X> || VariableLike<Y>) void assert_allclose(const X& x, const Y& y, double atol = 1e-5,
                                                                  double rtol = 1e-4, bool verbose = true) {
  assert_allclose(Variable(x).data(), Variable(y).data(), atol, rtol, verbose);
}
template <class X, class Y>
requires std::is_arithmetic_v<X> && std::is_arithmetic_v<Y>
void assert_allclose(X x, Y y, double atol = 1e-5, double rtol = 1e-4, bool verbose = true) {
  assert_allclose(array<double>({double(x)}, {}), array<double>({double(y)}, {}), atol, rtol, verbose);
}
template <class Y>
requires std::is_arithmetic_v<Y>
void assert_allclose(const Array& x, Y y, double atol = 1e-5, double rtol = 1e-4, bool verbose = true) {
  assert_allclose(x, array<double>({double(y)}, {}), atol, rtol, verbose);
}
template <class X>
requires std::is_arithmetic_v<X>
void assert_allclose(X x, const Array& y, double atol = 1e-5, double rtol = 1e-4, bool verbose = true) {
  assert_allclose(array<double>({double(x)}, {}), y, atol, rtol, verbose);
}

// torch.testing.assert_close, with PyTorch's bounds for float32: assert_close(x, y, {.rtol = 1e-4, .atol = 1e-5}).
struct AssertCloseOptions {
  double rtol = 1.3e-6, atol = 1e-5;
};
template <std::convertible_to<Variable> X, std::convertible_to<Variable> Y>
void assert_close(const X& x, const Y& y, const AssertCloseOptions& o = {}) {
  assert_allclose(Variable(x).data(), Variable(y).data(), o.atol, o.rtol);
}

}  // namespace autograd::testing
