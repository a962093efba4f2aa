// Initializers of later versions of Chainer and of PyTorch: distributions, filters, generators.
#include <cmath>

#include <catena/nn/functions/connection.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
namespace init = nn::initializers;

namespace {

struct Sample {
  double mean = 0, deviation = 0, largest = 0;
};
Sample sample_of(const nn::Initializer& initializer, const Shape& shape = {400, 30, 3}) {
  const std::vector<double> v = values(nn::generate_array(initializer, shape));
  Sample s;
  for (const double x : v) s.mean += x / double(v.size());
  for (const double x : v) {
    s.deviation += (x - s.mean) * (x - s.mean) / double(v.size());
    s.largest = std::max(s.largest, std::fabs(x));
  }
  s.deviation = std::sqrt(s.deviation);
  return s;
}

// The shape of sample_of: fan_in 90, fan_out by PyTorch 1200.
void check_normal(const nn::Initializer& initializer, double deviation) {
  const Sample s = sample_of(initializer);
  BOOST_TEST(std::fabs(s.deviation - deviation) < 0.03 * deviation);
  BOOST_TEST(std::fabs(s.mean) < 5 * deviation / std::sqrt(36000.0));
  BOOST_TEST(s.largest > 3 * deviation);
}
void check_uniform(const nn::Initializer& initializer, double bound) {
  const Sample s = sample_of(initializer);
  BOOST_TEST(std::fabs(s.deviation - bound / std::sqrt(3.0)) < 0.03 * bound);
  BOOST_TEST(s.largest <= bound * (1 + 1e-6));
  BOOST_TEST(s.largest > 0.99 * bound);
}

std::vector<double> filter(const nn::Initializer& initializer, const Shape& shape) {
  return values(nn::generate_array(initializer, shape));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_initializers)

BOOST_AUTO_TEST_CASE(distributions) {
  check_normal(init::LeCunNormal(), std::sqrt(1 / 90.0));
  check_normal(init::LeCunNormal(2.0), 2 * std::sqrt(1 / 90.0));
  check_normal(init::KaimingNormal(), std::sqrt(2 / 90.0));
  check_normal(init::KaimingNormal({.mode = "fan_out", .nonlinearity = "relu"}), std::sqrt(2 / 1200.0));
  check_normal(init::KaimingNormal({.a = 0.5}), std::sqrt(2 / (1.25 * 90)));
  check_uniform(init::KaimingUniform(), std::sqrt(6 / 90.0));
  check_uniform(init::KaimingUniform({.a = std::sqrt(5.0)}), 1 / std::sqrt(90.0));  // PyTorch's layers
  check_uniform(init::KaimingUniform({.nonlinearity = "tanh"}), 5.0 / 3 * std::sqrt(3 / 90.0));
  check_normal(init::XavierNormal(), std::sqrt(2 / 1290.0));
  check_uniform(init::XavierUniform(2.0), 2 * std::sqrt(6 / 1290.0));
  check_uniform(init::TorchDefault(), 1 / std::sqrt(90.0));
  check_uniform(init::TorchDefaultBias(16), 0.25);
  for (const double x : values(nn::generate_array(init::NaN({.dtype = Dtype::float64}), {3})))
    BOOST_TEST(std::isnan(x));
  BOOST_TEST(
      (nn::generate_array(init::XavierNormal(1.0, {.dtype = Dtype::float16}), {2, 2}).dtype() == Dtype::float16));
  BOOST_TEST((nn::generate_array(init::KaimingNormal({.dtype = Dtype::float64}), {2, 2}).dtype() == Dtype::float64));
}

BOOST_AUTO_TEST_CASE(truncated_normal) {
  // The deviation of a normal distribution cut at two deviations is 0.8796 of the whole one's.
  const Sample s = sample_of(init::TruncatedNormal(0.5));
  BOOST_TEST(std::fabs(s.deviation - 0.5 * 0.87962566) < 0.01);
  BOOST_TEST(s.largest <= 1);
  BOOST_TEST(s.largest > 0.99);
  const std::vector<double> v = values(nn::generate_array(init::TruncatedNormal(1.0, 0.5, 3.0), {20000}));
  double mean = 0;
  for (const double x : v) {
    BOOST_REQUIRE(x >= 0.5);
    BOOST_REQUIRE(x <= 3.0);
    mean += x / double(v.size());
  }
  const double density = (std::exp(-0.125) - std::exp(-4.5)) / std::sqrt(2 * M_PI);
  const double probability = (std::erf(3 / std::sqrt(2.0)) - std::erf(0.5 / std::sqrt(2.0))) / 2;
  BOOST_TEST(std::fabs(mean - density / probability) < 0.02);
  BOOST_CHECK_THROW(init::TruncatedNormal(1.0, 2.0, 2.0), catena::ValueError);
  BOOST_CHECK_THROW(init::TruncatedNormal(0.0, -1.0, 1.0), catena::ValueError);
  BOOST_TEST(has(message_of<catena::ValueError>([] { init::TruncatedNormal(-1.0); }), "scale is -1"));
}

BOOST_AUTO_TEST_CASE(gains) {
  BOOST_TEST(init::calculate_gain("linear") == 1);
  BOOST_TEST(init::calculate_gain("sigmoid") == 1);
  BOOST_TEST(init::calculate_gain("tanh") == 5.0 / 3);
  BOOST_TEST(init::calculate_gain("relu") == std::sqrt(2.0));
  BOOST_TEST(init::calculate_gain("leaky_relu") == std::sqrt(2 / 1.0001));
  BOOST_TEST(init::calculate_gain("leaky_relu", 1) == 1);
  BOOST_TEST(init::calculate_gain("selu") == 0.75);
  BOOST_TEST(has(message_of<catena::ValueError>([] { init::calculate_gain("swish"); }), "swish"));
  BOOST_CHECK_THROW(init::KaimingNormal({.mode = "fan"}), catena::ValueError);
  BOOST_CHECK_THROW(init::TorchDefaultBias(0), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(filters_that_resize) {
  const std::vector<double> three{0.5, 1, 0.5}, four{0.25, 0.75, 0.75, 0.25};
  const std::vector<double> up = filter(init::UpsamplingDeconvFilter(), {2, 2, 3, 4});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      BOOST_TEST(up[i * 4 + j] == three[i] * four[j]);
      BOOST_TEST(up[12 + i * 4 + j] == 0);
      BOOST_TEST(up[36 + i * 4 + j] == three[i] * four[j]);
    }
  const std::vector<double> down = filter(init::DownsamplingConvFilter({.dtype = Dtype::float64}), {2, 1, 4});
  for (std::size_t j = 0; j < 4; ++j) BOOST_TEST(down[j] == four[j] / 2);
  for (std::size_t j = 0; j < 4; ++j) BOOST_TEST(down[4 + j] == four[j] / 2);
  // A ramp stays one: the transposed convolution with stride 2 interpolates.
  nn::Deconvolution1D twice(1, 1, 4,
                            {.stride = 2, .pad = 1, .nobias = true, .initialW = init::UpsamplingDeconvFilter()});
  const std::vector<double> y = values(twice(Variable(floats({0, 4, 8, 12}, {1, 1, 4}))).data());
  for (std::size_t i = 1; i < 7; ++i) BOOST_TEST(y[i] == 2 * double(i) - 1);
  BOOST_CHECK_THROW(init::UpsamplingDeconvFilter({.interpolation = "cubic"}), catena::ValueError);
  BOOST_CHECK_THROW(filter(init::UpsamplingDeconvFilter(), {2, 2}), catena::ValueError);
  BOOST_CHECK_THROW(filter(init::DownsamplingConvFilter(), {2, 3, 3}), catena::ValueError);
}

// An initializer with a generator of its own draws from it, and not from the thread's.
BOOST_AUTO_TEST_CASE(generators) {
  using Make = nn::Initializer (*)(autograd::Generator*);
  const Make all[] = {[](autograd::Generator* g) { return init::Normal(1.0, {.rng = g}); },
                      [](autograd::Generator* g) { return init::LeCunNormal(1.0, {.rng = g}); },
                      [](autograd::Generator* g) { return init::GlorotNormal(1.0, {.rng = g}); },
                      [](autograd::Generator* g) { return init::HeNormal(1.0, {.rng = g}); },
                      [](autograd::Generator* g) { return init::Uniform(1.0, {.rng = g}); },
                      [](autograd::Generator* g) { return init::LeCunUniform(1.0, {.rng = g}); },
                      [](autograd::Generator* g) { return init::GlorotUniform(1.0, {.rng = g}); },
                      [](autograd::Generator* g) { return init::HeUniform(1.0, {.rng = g}); },
                      [](autograd::Generator* g) { return init::Orthogonal(1.0, {.rng = g}); },
                      [](autograd::Generator* g) { return init::TruncatedNormal(1.0, {.rng = g}); },
                      [](autograd::Generator* g) { return init::KaimingNormal({.rng = g}); },
                      [](autograd::Generator* g) { return init::KaimingUniform({.rng = g}); },
                      [](autograd::Generator* g) { return init::XavierNormal(1.0, {.rng = g}); },
                      [](autograd::Generator* g) { return init::XavierUniform(1.0, {.rng = g}); },
                      [](autograd::Generator* g) { return init::TorchDefault({.rng = g}); },
                      [](autograd::Generator* g) { return init::TorchDefaultBias(4, {.rng = g}); }};
  for (const Make make : all) {
    autograd::Generator one(7), two(7);
    const std::uint64_t of_thread = autograd::default_generator().offset;
    const Array a = nn::generate_array(make(&one), {3, 4}), b = nn::generate_array(make(&two), {3, 4});
    BOOST_TEST(same_bits(a, b));
    BOOST_TEST(one.offset > 0u);
    BOOST_TEST(autograd::default_generator().offset == of_thread);
    BOOST_TEST(!same_bits(nn::generate_array(make(&one), {3, 4}), a));
    BOOST_TEST(!same_bits(nn::generate_array(make(nullptr), {3, 4}), a));
    BOOST_TEST(autograd::default_generator().offset > of_thread);
  }
}

BOOST_AUTO_TEST_SUITE_END()
