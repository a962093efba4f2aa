// nn::linear with a bias: on a CUDA device one call of cuBLASLt for the dtypes whose bias the library adds, and on
// every device the sum of the products and the bias, rounded once for 16-bit floats.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <string>
#include <vector>

#include <catena/catena.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/cuda_device/launches.h>

using autograd::Array;
using autograd::Dtype;
using autograd::Shape;
using autograd::Variable;
using cuda_device::Control;
using cuda_device::launches_of;

namespace {

// Numbers with few bits, so that the sums are exact in float32.
Array numbers(const Shape& shape, Dtype dtype, int seed) {
  std::vector<float> v;
  for (std::int64_t i = 0; i < catena::size_of(shape); ++i) v.push_back(float((i * 37 + seed * 11) % 17 - 8) / 8);
  return autograd::astype(autograd::array(v, shape), dtype);
}

// x W^T + b in double precision.
std::vector<double> expected(const Array& x, const Array& W, const Array& b) {
  const auto at_x = autograd::to_vector<double>(x), at_w = autograd::to_vector<double>(W),
             at_b = autograd::to_vector<double>(b);
  const auto rows = std::size_t(x.shape(0)), outputs = std::size_t(W.shape(0)), inputs = std::size_t(W.shape(1));
  std::vector<double> y;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t o = 0; o < outputs; ++o) {
      double sum = at_b[o];
      for (std::size_t k = 0; k < inputs; ++k) sum += at_x[i * inputs + k] * at_w[o * inputs + k];
      y.push_back(sum);
    }
  return y;
}

void check(const Array& x, const Array& W, const Array& b, const char* what) {
  const Array y = nn::linear(x, W, b).data();
  const auto values = autograd::to_vector<double>(y), wanted = expected(x, W, b);
  BOOST_TEST(y.dtype() == x.dtype());
  BOOST_REQUIRE(values.size() == wanted.size());
  const double half_ulp = x.dtype() == Dtype::bfloat16 ? 0x1p-9 : x.dtype() == Dtype::float16 ? 0x1p-12 : 0x1p-24;
  for (std::size_t i = 0; i < values.size(); ++i)
    BOOST_TEST(std::abs(values[i] - wanted[i]) <= half_ulp * 2 * std::abs(wanted[i]),
               what << " " << x.dtype() << " element " << i << ": " << values[i] << ", expected " << wanted[i]);
}

bool on_software_cuda() {
  return Control::available() && autograd::arrays::ones({1}).device().kind == autograd::Device::Kind::cuda;
}

BOOST_AUTO_TEST_SUITE(linear_launches)

BOOST_AUTO_TEST_CASE(values) {
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
    for (const std::int64_t rows : {1, 2, 33})
      for (const std::int64_t outputs : {1, 3, 8, 40})
        for (const std::int64_t inputs : {1, 7, 24})
          check(numbers({rows, inputs}, dtype, 1), numbers({outputs, inputs}, dtype, 2), numbers({outputs}, dtype, 3),
                "contiguous");
    const Array x = numbers({6, 10}, dtype, 1), W = numbers({4, 10}, dtype, 2), b = numbers({5}, dtype, 3);
    check(autograd::transpose(numbers({10, 6}, dtype, 4)), W, autograd::slice(b, 0, 0, 4), "transposed x");
    check(x, autograd::transpose(numbers({10, 4}, dtype, 5)), autograd::slice(b, 0, 0, 4), "transposed W");
    check(x, W, autograd::slice(b, 0, 1, 5), "a bias that is not aligned");
    check(x, W, autograd::reshape(autograd::slice(numbers({4, 3}, dtype, 6), 1, 1, 2), {4}), "a column as bias");
  }
}

BOOST_AUTO_TEST_CASE(one_launch) {
  if (!on_software_cuda()) return;
  const std::vector<std::string> one = {"cublasLtMatmul"};
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32}) {
    const Variable x(numbers({5, 12}, dtype, 1)), W(numbers({9, 12}, dtype, 2)), b(numbers({9}, dtype, 3));
    BOOST_TEST(launches_of([&] { nn::linear(x, W, b); }) == one, boost::test_tools::per_element());
    const auto without_graph = autograd::no_backprop_mode();
    BOOST_TEST(launches_of([&] { nn::linear(x, W, b); }) == one, boost::test_tools::per_element());
  }
}

// Sums that are so long that they are computed in pieces: the rounding error stays as that of nn::linear without bias.
BOOST_AUTO_TEST_CASE(long_sums) {
  const std::int64_t inputs = 20000;
  const Array x = autograd::arrays::full({1, inputs}, 0.1f, Dtype::float32),
              W = autograd::arrays::full({2, inputs}, 1, Dtype::float32),
              b = autograd::arrays::full({2}, 3, Dtype::float32);
  const double sum = double(0.1f) * double(inputs) + 3;
  for (const double y : autograd::to_vector<double>(nn::linear(x, W, b).data()))
    BOOST_TEST(std::abs(y - sum) < 1e-5 * sum);
}

BOOST_AUTO_TEST_CASE(operands_on_two_devices) {
  if (!on_software_cuda()) return;
  const Array x = numbers({2, 3}, Dtype::float32, 1), W = numbers({4, 3}, Dtype::float32, 2);
  const Array b = autograd::to_device(numbers({4}, Dtype::float32, 3), autograd::Device{});
  BOOST_CHECK_THROW(nn::linear(x, W, b), catena::Error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
