// Batch normalization as a part of the layer before it.
#include <catena/nn/links/fusion.h>

#include <cmath>

#include <catena/nn/links.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using autograd::Dtype;

namespace {

std::vector<double> of(const Variable& v) { return autograd::to_vector<double>(v.data()); }

Variable input(const Shape& shape) {
  std::vector<double> v;
  std::int64_t size = 1;
  for (const std::int64_t n : shape) size *= n;
  for (std::int64_t i = 0; i < size; ++i) v.push_back(std::sin(double(i)));
  return Variable(autograd::array(v, shape));
}
nn::BatchNorm2d norm_of(int channels, bool affine = true) {
  nn::BatchNorm2d norm(channels, {.eps = 0.01, .affine = affine});
  norm.to_dtype(Dtype::float64);
  const auto assign = [](const Array& to, double first, double step) {
    std::vector<double> v;
    for (std::int64_t i = 0; i < to.size(); ++i) v.push_back(first + step * double(i));
    autograd::assign(to, autograd::array(v, to.shape()));
  };
  assign(norm.avg_mean.array(), -1, 0.7);
  assign(norm.avg_var.array(), 0.3, 0.4);
  if (affine) assign(norm.gamma.data(), 1.5, -0.6), assign(norm.beta.data(), 0.2, 0.5);
  norm.eval();
  return norm;
}
// The fused layer computes what both compute, and the given layer has not changed.
template <class L, class F> void check_fused(L layer, const F& fuse, const Shape& x, int channels) {
  layer.to_dtype(Dtype::float64);
  layer.eval();
  if (layer.b) autograd::fill(layer.b->data(), 0.7);
  for (const bool affine : {true, false}) {
    nn::BatchNorm2d norm = norm_of(channels, affine);
    const std::vector<double> before = of(layer.W);
    L fused = fuse(layer, norm);
    const std::vector<double> expected = of(norm(layer(input(x)))), found = of(fused(input(x)));
    BOOST_TEST_REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) BOOST_TEST(std::abs(found[i] - expected[i]) < 1e-12);
    BOOST_TEST(of(layer.W) == before, boost::test_tools::per_element());
  }
}
const auto conv = [](const auto& layer, const auto& norm) { return nn::utils::fuse_conv_bn_eval(layer, norm); };
const auto linear = [](const auto& layer, const auto& norm) { return nn::utils::fuse_linear_bn_eval(layer, norm); };

}  // namespace

BOOST_AUTO_TEST_SUITE(fusion)

BOOST_AUTO_TEST_CASE(layers_of_each_kind) {
  check_fused(nn::Conv2d(3, 4, 3, {.padding = 1}), conv, {2, 3, 5, 4}, 4);
  check_fused(nn::Conv2d(4, 4, 3, {.groups = 2, .bias = false}), conv, {2, 4, 5, 4}, 4);
  check_fused(nn::Conv1d(3, 4, 3), conv, {2, 3, 5}, 4);
  check_fused(nn::ConvTranspose2d(3, 5, 2), conv, {2, 3, 3, 4}, 5);
  check_fused(nn::Linear(3, 4), linear, {5, 3}, 4);
  check_fused(nn::Linear(3, 4, {.nobias = true}), linear, {5, 3}, 4);
}

// By hand: 2 x, then (y - 1) / sqrt(3 + 1) * 3 + 5.
BOOST_AUTO_TEST_CASE(values) {
  nn::Linear layer(1, 1, {.nobias = true, .initialW = 2.0});
  nn::BatchNorm1d norm(1, {.eps = 1});
  autograd::fill(norm.avg_mean.array(), 1);
  autograd::fill(norm.avg_var.array(), 3);
  autograd::fill(norm.gamma.data(), 3);
  autograd::fill(norm.beta.data(), 5);
  layer.eval();
  norm.eval();
  const nn::Linear fused = nn::utils::fuse_linear_bn_eval(layer, norm);
  BOOST_TEST(of(fused.W)[0] == 3);
  BOOST_TEST(of(fused.b.variable())[0] == 3.5);
  BOOST_TEST(!layer.b);
}

BOOST_AUTO_TEST_CASE(errors) {
  nn::Linear layer(3, 4), pending(4);
  nn::BatchNorm1d norm(4), other(3);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { nn::utils::fuse_linear_bn_eval(layer, norm); }), "eval()"));
  layer.eval(), pending.eval(), other.eval();
  BOOST_CHECK_THROW(nn::utils::fuse_linear_bn_eval(layer, norm), catena::ValueError);
  norm.eval();
  BOOST_CHECK_NO_THROW(nn::utils::fuse_linear_bn_eval(layer, norm));
  BOOST_CHECK_THROW(nn::utils::fuse_linear_bn_eval(layer, other), catena::ValueError);
  BOOST_CHECK_THROW(nn::utils::fuse_linear_bn_eval(pending, norm), catena::ValueError);
  nn::ConvTranspose2d grouped(4, 4, 2, {.groups = 2});
  grouped.eval();
  BOOST_CHECK_THROW(nn::utils::fuse_conv_bn_eval(grouped, norm), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
