// Statistics and sums of long rows in float32 beside float64: normalization, softmax, pooling and the gradients of
// parameters that are shared by many elements.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include <catena/catena.h>

namespace {

using autograd::Variable;
using nd::Array;
using nd::Dtype;
using nd::Shape;

bool on_cpu() { return nd::current_device().kind == nd::Device::Kind::cpu; }
std::int64_t many() { return on_cpu() ? 4'000'000 : 400'000; }

// Numbers around `center` in a range of 2 sqrt(3), so of deviation 1, in no order.
Array around(double center, const Shape& shape) {
  std::vector<float> x(static_cast<std::size_t>(catena::size_of(shape)));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = float(center + std::sqrt(3.0) * (2 * double((i * 2654435761u) % (1u << 24)) / double(1 << 24) - 1));
  return nd::array(x).reshape(shape);
}
struct Statistics {
  long double mean = 0, var = 0;
};
Statistics statistics_of(const Array& a) {
  Statistics s;
  const std::vector<double> x = a.astype(Dtype::float64).to_vector<double>();
  for (const double v : x) s.mean += v / static_cast<long double>(x.size());
  for (const double v : x) s.var += (v - s.mean) * (v - s.mean) / static_cast<long double>(x.size());
  return s;
}
double relative(const Array& got, long double exact) { return double(std::abs(got.item<double>() / exact - 1)); }

Variable parameter(double value, std::int64_t n) { return Variable(nd::full({n}, value, Dtype::float32)); }

BOOST_AUTO_TEST_SUITE(normalization_accuracy)

// Channels first, in pieces and in one, and channels last. The mean is a float32, so an element is off by its rounding
// error, half a unit of 1e4's last place.
BOOST_AUTO_TEST_CASE(batch_normalization_of_many_samples) {
  const std::int64_t n = many();
  const Array one = around(1e4, {4, 1, n / 4, 1}), many_channels = around(1e4, {n / 4, 4});
  for (const Array& x : {one, one.reshape({n, 1}), many_channels}) BOOST_TEST_CONTEXT(x.shape()) {
      const std::int64_t channels = x.shape()[1];
      Variable v(x), gamma = parameter(1, channels), beta = parameter(0, channels);
      auto [y, mean, var] = nn::batch_normalization(v, gamma, beta, {.decay = 0.0}, nn::return_statistics);
      const Statistics exact = statistics_of(x(nd::Slice(), 0));
      BOOST_TEST(relative(Array(mean)(0), exact.mean) < 1e-7);
      const double count = double(x.size()) / double(channels);
      BOOST_TEST(relative(Array(var)(0), exact.var * count / (count - 1)) < 1e-5);
      const Statistics of_result = statistics_of(Array(y.data())(nd::Slice(), 0));
      BOOST_TEST(std::abs(double(of_result.mean)) < 6e-4);
      BOOST_TEST(std::abs(double(of_result.var) - 1) < 1e-4);

      // gbeta is the sum of gy; ggamma the sum of gy xhat, here of about xhat^2.
      y.set_grad(Array(y.data()) * 0.1 + 0.1);
      y.backward();
      long double gbeta = 0, ggamma = 0;
      const std::vector<double> gy =
          (Array(y.data()) * 0.1 + 0.1)(nd::Slice(), 0).astype(Dtype::float64).to_vector<double>();
      const std::vector<double> xhat = Array(y.data())(nd::Slice(), 0).astype(Dtype::float64).to_vector<double>();
      for (std::size_t i = 0; i < gy.size(); ++i) {
        gbeta += gy[i];
        ggamma += gy[i] * xhat[i];
      }
      BOOST_TEST(relative(Array(beta.grad())(0), gbeta) < 3e-6);
      BOOST_TEST(relative(Array(gamma.grad())(0), ggamma) < 1e-5);
    }
}

BOOST_AUTO_TEST_CASE(layer_normalization_of_long_rows) {
  const std::int64_t n = many() / 4;
  const Array x = around(1e4, {2, n});
  Variable v(x);
  for (const nn::EpsAddedTo where : {nn::EpsAddedTo::variance, nn::EpsAddedTo::deviation}) {
    const Array y = nn::layer_normalization(v, parameter(1, n), parameter(0, n), 1e-6, where).data();
    for (const int row : {0, 1}) {
      const Statistics exact = statistics_of(x(row)), got = statistics_of(y(row));
      BOOST_TEST(std::abs(double(got.mean)) < 3e-6);
      BOOST_TEST(std::abs(double(got.var) - 1) < 1e-5);
      const long double first = (x(row, 7).item<double>() - exact.mean) / std::sqrt(exact.var);
      BOOST_TEST(double(std::abs(y(row, 7).item<double>() - first)) < 1e-5);
    }
  }
}

BOOST_AUTO_TEST_CASE(fixed_statistics_and_groups) {
  const std::int64_t n = many() / 4;
  const Array x = around(1e4, {n, 2});
  Variable gamma = parameter(2, 2), beta = parameter(0, 2);
  const Variable mean = parameter(1e4, 2), var = parameter(1, 2);
  Variable y = nn::fixed_batch_normalization(Variable(x), gamma, beta, mean, var);
  y.set_grad(nd::full({n, 2}, 0.1, Dtype::float32));
  y.backward();
  BOOST_TEST(relative(Array(beta.grad())(0), static_cast<long double>(0.1f) * n) < 3e-6);
}

BOOST_AUTO_TEST_CASE(softmax_of_long_rows) {
  const std::int64_t n = 4'000'000;
  const Array x = nd::zeros({2, n}, Dtype::float32);
  const Array y = nn::softmax(Variable(x)).data(), log_y = nn::log_softmax(Variable(x)).data();
  BOOST_TEST(relative(y(0, 3), 1.0L / n) < 3e-6);
  BOOST_TEST(relative(log_y(1, 3), -std::log(static_cast<long double>(n))) < 3e-7);

  // gx = y (gy - sum(y gy)), with equal gy: the sum is gy, but for the rounding of the sums.
  Variable v(x);
  Variable z = nn::softmax(v);
  z.set_grad(nd::full({2, n}, 1.0, Dtype::float32));
  z.backward();
  BOOST_TEST(std::abs(Array(v.grad())(1, n - 1).item<double>()) * double(n) < 3e-6);
  const std::vector<std::int32_t> labels{5, 6};
  BOOST_TEST(relative(nn::softmax_cross_entropy(Variable(x), nd::array(labels)).data(),
                      std::log(static_cast<long double>(n))) < 3e-7);
}

BOOST_AUTO_TEST_CASE(averages_of_large_windows) {
  const std::int64_t side = on_cpu() ? 1500 : 400;
  const Array x = nd::full({1, 2, side, side}, 0.1, Dtype::float32);
  Variable v(x);
  Variable y = nn::average_pooling_2d(v, int(side));
  BOOST_TEST(relative(Array(y.data())(0, 1, 0, 0), 0.1f) < 2e-6);
  Variable line(x.reshape({1, 2, side * side}));
  Variable z = nn::average_pooling_nd(line, int(side * side));
  BOOST_TEST(relative(Array(z.data())(0, 1, 0), 0.1f) < 2e-6);
}

// The gradients of W and b are sums over the samples.
BOOST_AUTO_TEST_CASE(gradients_of_linear_for_many_samples) {
  const std::int64_t n = many() / 4;
  for (const std::int64_t outputs : {1, 6}) BOOST_TEST_CONTEXT(outputs << " outputs") {
      Variable x(nd::full({n, 3}, 0.1, Dtype::float32)), W(nd::full({outputs, 3}, 0.5, Dtype::float32)),
          b(nd::zeros({outputs}, Dtype::float32));
      Variable y = nn::linear(x, W, b);
      y.set_grad(nd::full({n, outputs}, 0.3, Dtype::float32));
      y.backward();
      BOOST_TEST(relative(Array(W.grad())(0, 1), static_cast<long double>(0.1f) * 0.3f * n) < 3e-6);
      BOOST_TEST(relative(Array(b.grad())(0), static_cast<long double>(0.3f) * n) < 3e-6);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
