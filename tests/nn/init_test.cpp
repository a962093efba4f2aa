// The functions of nn::init: bounds, means and deviations of what they draw, against the formulas.
#include <catena/nn/init.h>

#include <cmath>

#include <catena/nn/links/convolution_2d.h>
#include <catena/nn/links/linear.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
namespace init = nn::init;

namespace {

struct Drawn {
  double mean = 0, deviation = 0, least = INFINITY, greatest = -INFINITY;
  explicit Drawn(const Variable& w) {
    const std::vector<double> v = autograd::to_vector<double>(w.data());
    for (const double x : v) {
      mean += x / double(v.size());
      least = std::min(least, x);
      greatest = std::max(greatest, x);
    }
    for (const double x : v) deviation += (x - mean) * (x - mean) / double(v.size());
    deviation = std::sqrt(deviation);
  }
};

// 40000 numbers: the deviation of their mean is a two-hundredth of theirs, that of their deviation less.
void check(const Variable& w, double mean, double deviation) {
  const Drawn drawn(w);
  BOOST_TEST(std::abs(drawn.mean - mean) < 0.025 * deviation);
  BOOST_TEST(std::abs(drawn.deviation / deviation - 1) < 0.025);
}
void check_uniform(const Variable& w, double low, double high) {
  check(w, (low + high) / 2, (high - low) / std::sqrt(12.0));
  const Drawn drawn(w);
  BOOST_TEST(drawn.least >= low - 1e-6);
  BOOST_TEST(drawn.greatest <= high + 1e-6);
  BOOST_TEST(drawn.least < low + 0.01 * (high - low));
  BOOST_TEST(drawn.greatest > high - 0.01 * (high - low));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(init_functions)

BOOST_AUTO_TEST_CASE(distributions) {
  autograd::seed(5);
  nn::Linear link(400, 100);  // fan_in 400, fan_out 100
  const Variable w = link.W;
  const Array data = w.data();
  const double glorot = std::sqrt(6.0 / 500), he = std::sqrt(3.0 / 400);
  init::xavier_uniform_(w), check_uniform(w, -glorot, glorot);
  init::xavier_uniform_(w, 3), check_uniform(w, -3 * glorot, 3 * glorot);
  init::xavier_normal_(w, 2), check(w, 0, 2 * std::sqrt(2.0 / 500));
  init::xavier_normal_(w), check(w, 0, std::sqrt(2.0 / 500));
  init::kaiming_uniform_(w), check_uniform(w, -std::sqrt(2.0) * he, std::sqrt(2.0) * he);
  init::kaiming_uniform_(w, 1), check_uniform(w, -he, he);
  init::kaiming_normal_(w), check(w, 0, std::sqrt(2.0 / 400));
  init::kaiming_normal_(w, 1), check(w, 0, std::sqrt(1.0 / 400));
  init::uniform_(w), check_uniform(w, 0, 1);
  init::uniform_(w, -3, 5), check_uniform(w, -3, 5);
  init::normal_(w), check(w, 0, 1);
  init::normal_(w, 4, 0.5), check(w, 4, 0.5);
  BOOST_TEST(w.data().get() == data.get());  // in place
}

BOOST_AUTO_TEST_CASE(older_names) {
  autograd::seed(5);
  nn::Linear link(400, 100);
  const Variable w = link.W;
  const Array data = w.data();
  const double glorot = std::sqrt(6.0 / 500), he = std::sqrt(3.0 / 400);
  init::xavier_uniform(w), check_uniform(w, -glorot, glorot);
  init::xavier_uniform(w, {.gain = 3}), check_uniform(w, -3 * glorot, 3 * glorot);
  init::xavier_normal(w, 2), check(w, 0, 2 * std::sqrt(2.0 / 500));
  init::xavier_normal(w, {.gain = 3}), check(w, 0, 3 * std::sqrt(2.0 / 500));
  init::kaiming_uniform(w, 1), check_uniform(w, -he, he);
  init::kaiming_uniform(w, {.nonlinearity = "relu"}), check_uniform(w, -std::sqrt(2.0) * he, std::sqrt(2.0) * he);
  init::kaiming_normal(w), check(w, 0, std::sqrt(2.0 / 400));
  init::kaiming_normal(w, {.mode = "fan_out"}), check(w, 0, std::sqrt(2.0 / 100));
  init::uniform(w, -3, 5), check_uniform(w, -3, 5);
  init::uniform(w, {.a = 2, .b = 3}), check_uniform(w, 2, 3);
  init::normal(w, 4, 0.5), check(w, 4, 0.5);
  init::normal(w, {.mean = -4, .std = 2}), check(w, -4, 2);
  BOOST_TEST(w.data().get() == data.get());  // in place
  const auto sum = [&w] { return autograd::to_vector<double>(autograd::sum(w.data()))[0]; };
  init::constant(w, 0.5);
  BOOST_TEST(sum() == 0.5 * 40000);
  init::eye(w);
  BOOST_TEST(sum() == 100);
  init::orthogonal(w, 2);  // 100 orthogonal rows of length 2
  BOOST_TEST(std::abs(autograd::to_vector<double>(autograd::sum(w.data() * w.data()))[0] - 400) < 0.1);
  init::orthogonal(w, {.gain = 3});
  BOOST_TEST(std::abs(autograd::to_vector<double>(autograd::sum(w.data() * w.data()))[0] - 900) < 0.1);
  const auto zeros_of = [&w] {
    int count = 0;
    for (const double v : autograd::to_vector<double>(w.data())) count += v == 0;
    return count;
  };
  init::sparse(w, 0.25);
  BOOST_TEST(zeros_of() == 10000);
  init::sparse(w, {.sparsity = 0.5, .std = 2});
  BOOST_TEST(zeros_of() == 20000);
  const nn::Convolution2D conv(4, 4, 3, {.groups = 2});
  init::dirac(conv.W, 2);
  BOOST_TEST(autograd::to_vector<double>(autograd::sum(conv.W.data()))[0] == 4);
}

// The positions of a filter count in both fans, as in PyTorch.
BOOST_AUTO_TEST_CASE(xavier_of_convolutions) {
  autograd::seed(6);
  const nn::Convolution2D conv(100, 100, 2);
  init::xavier_normal_(conv.W), check(conv.W, 0, std::sqrt(2.0 / 800));
  init::xavier_uniform_(conv.W), check_uniform(conv.W, -std::sqrt(6.0 / 800), std::sqrt(6.0 / 800));
}

BOOST_AUTO_TEST_CASE(values) {
  nn::Linear link(3, 3);
  init::constant_(link.W, 0.5);
  BOOST_TEST(Drawn(link.W).least == 0.5);
  init::constant_(*link.b, 2);
  BOOST_TEST(Drawn(*link.b).greatest == 2);
  init::ones_(link.W);
  BOOST_TEST(Drawn(link.W).least == 1);
  init::zeros_(link.W);
  BOOST_TEST(Drawn(link.W).greatest == 0);
  init::eye_(link.W);
  BOOST_TEST(autograd::to_vector<double>(link.W.data()) == (std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1}),
             boost::test_tools::per_element());
  init::orthogonal_(link.W, 2);
  const std::vector<double> q = autograd::to_vector<double>(link.W.data());
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      double product = 0;
      for (std::size_t k = 0; k < 3; ++k) product += q[3 * i + k] * q[3 * j + k];
      BOOST_TEST(std::abs(product - (i == j ? 4 : 0)) < 1e-5);
    }
}

BOOST_AUTO_TEST_CASE(errors) {
  nn::Linear pending(3), link(2, 2);
  BOOST_TEST(message_of<catena::ValueError>([&] { init::normal_(pending.W); }).find("no values yet") !=
             std::string::npos);
  BOOST_CHECK_THROW(init::uniform_(link.W, 1, 0), catena::ValueError);
  BOOST_CHECK_THROW(init::normal_(link.W, 0, -1), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
