// A link with the default options gives what its function gives with the default options and the link's parameters, for
// values of any size: a constant that one of them adds to a variance shows only where the variance is small.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions.h>
#include <catena/nn/links.h>
#include <catena/tests/support/framework_derivatives.h>

using namespace autograd;
using test::spread;

namespace {

// Deviations from those of ordinary values to one whose square is far below every eps.
const auto kScales = {1.0, 1e-2, 1e-3, 1e-5, 1e-8};

Array values_of(const Shape& shape, double scale, double first = 0) {
  return astype(spread(shape, -scale, scale, first), Dtype::float32);
}
void same(const Variable& link, const Variable& function) {
  BOOST_CHECK_NO_THROW(testing::assert_allclose(link.data(), function.data(), 1e-7, 1e-6));
}

BOOST_AUTO_TEST_SUITE(link_defaults)

// The rule of PyTorch: eps = 1e-5 is added to the variance.
BOOST_AUTO_TEST_CASE(layer_normalization) {
  for (const double scale : kScales) BOOST_TEST_CONTEXT("scale " << scale) {
      const Array x = values_of({4, 6}, scale);
      nn::LayerNormalization link(6);
      const Variable of_link = link(x), of_function = nn::layer_normalization(x, link.gamma, link.beta);
      same(of_link, of_function);
      const std::vector<double> v = to_vector<double>(astype(x, Dtype::float64));
      const std::vector<double> y = to_vector<double>(astype(of_function.data(), Dtype::float64));
      for (std::size_t row = 0; row < 4; ++row) {
        double mean = 0, var = 0;
        for (std::size_t i = 0; i < 6; ++i) mean += v[row * 6 + i] / 6;
        for (std::size_t i = 0; i < 6; ++i) var += (v[row * 6 + i] - mean) * (v[row * 6 + i] - mean) / 6;
        for (std::size_t i = 0; i < 6; ++i)
          BOOST_TEST(std::abs(y[row * 6 + i] - (v[row * 6 + i] - mean) / std::sqrt(var + 1e-5)) < 1e-5);
      }
    }
  // Both with the same eps, and the gradients.
  nn::LayerNormalization link(6, {.eps = 1e-3});
  Variable x(values_of({4, 6}, 1e-3)), z(values_of({4, 6}, 1e-3));
  Variable y = link(x), w = nn::layer_normalization(z, link.gamma, link.beta, 1e-3);
  same(y, w);
  for (Variable* v : {&y, &w}) {
    v->set_grad(values_of({4, 6}, 1, 3));
    v->backward();
  }
  BOOST_CHECK_NO_THROW(testing::assert_allclose(x.grad(), z.grad(), 0, 0));
}

BOOST_AUTO_TEST_CASE(batch_normalization) {
  for (const double scale : kScales) BOOST_TEST_CONTEXT("scale " << scale) {
      const Array x = values_of({8, 3}, scale);
      nn::BatchNormalization link(3);
      const Array zeros = autograd::arrays::zeros({3}, Dtype::float32);
      const auto [y, mean, var] = nn::batch_normalization(
          x, *link.gamma, *link.beta, {.running_mean = zeros, .running_var = zeros}, nn::return_statistics);
      same(link(x), y);
      same(Variable(link.avg_mean.array()), Variable(mean));
      same(Variable(link.avg_var.array()), Variable(var));
      same(link(x, {.test = true}),
           nn::fixed_batch_normalization(x, *link.gamma, *link.beta, Variable(mean), Variable(var)));
    }
}

BOOST_AUTO_TEST_CASE(other_links) {
  for (const double scale : kScales) BOOST_TEST_CONTEXT("scale " << scale) {
      const Array x = values_of({4, 6}, scale), image = values_of({2, 3, 5, 5}, scale);
      nn::Linear linear(6, 5);
      same(linear(x), nn::linear(x, linear.W, *linear.b));
      nn::PReLU prelu;
      same(prelu(x), nn::prelu(x, prelu.W));
      nn::Maxout maxout(6, 2, 3);
      same(maxout(x), nn::maxout(maxout.linear(x), 3));
      nn::Bilinear bilinear(6, 6, 2);
      same(bilinear(x, x), nn::bilinear(x, x, bilinear.W, *bilinear.V1, *bilinear.V2, *bilinear.b));
      nn::Scale along(1, Shape{6});
      same(along(x), autograd::scale(x, *along.W));
      nn::Bias shift(1, Shape{6});
      same(shift(x), autograd::bias(x, *shift.b));
      nn::Convolution2D convolution(3, 4, 3);
      same(convolution(image), nn::convolution_2d(image, convolution.W, *convolution.b));
      nn::Deconvolution2D deconvolution(3, 4, 3);
      same(deconvolution(image), nn::deconvolution_2d(image, deconvolution.W, *deconvolution.b));
      nn::DilatedConvolution2D dilated(3, 4, 3);
      same(dilated(image), nn::dilated_convolution_2d(image, dilated.W, *dilated.b));
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
