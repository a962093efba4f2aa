// Linear over the last axis, and layers and pooling over one and three spatial axes.
#include <boost/test/unit_test.hpp>

#include <catena/autograd/debug.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions.h>
#include <catena/nn/links.h>
#include <catena/tests/support/framework_derivatives.h>

using namespace autograd;
using test::spread;

namespace {

auto says(const std::string& text) {
  return [text](const catena::Error& e) {
    BOOST_TEST_INFO(e.what());
    return std::string(e.what()).find(text) != std::string::npos;
  };
}
void same(const Variable& a, const Variable& b) {
  BOOST_CHECK_NO_THROW(testing::assert_allclose(a.data(), b.data(), 1e-6, 1e-6));
}

std::vector<std::string> texts;
void keep_text(std::string_view, std::string_view text) { texts.emplace_back(text); }
struct KeptTexts {
  KeptTexts() : before(catena::set_warning_handler(keep_text)) { texts.clear(); }
  ~KeptTexts() { catena::set_warning_handler(before); }
  catena::WarningHandler before;
};

BOOST_AUTO_TEST_SUITE(spatial_axes)

BOOST_AUTO_TEST_CASE(linear_keeps_batch_axes) {
  const Array x = spread({2, 3, 2, 2}), b = spread({5}, -1, 1, 2);
  struct Kept {
    int axes;
    std::int64_t columns;
    Shape y;
  };
  for (const Kept& k : {Kept{1, 12, {2, 5}}, Kept{2, 4, {2, 3, 5}}, Kept{3, 2, {2, 3, 2, 5}}, Kept{-1, 2, {2, 3, 2, 5}},
                        Kept{-2, 4, {2, 3, 5}}})
    BOOST_TEST_CONTEXT(k.axes) {
      const Array W = spread({5, k.columns}, -1, 1, 1);
      const auto f = [&](const Variables& v) { return Variables{nn::linear(v[0], v[1], v[2], k.axes)}; };
      const Variable y = f({Variable(x), Variable(W), Variable(b)})[0];
      BOOST_TEST(y.shape() == k.y);
      const std::vector<double> xs = to_vector<double>(x), ws = to_vector<double>(W), bs = to_vector<double>(b),
                                ys = to_vector<double>(y.data());
      for (std::size_t i = 0; i < ys.size(); ++i) {
        double s = bs[i % 5];
        for (std::size_t c = 0; c < std::size_t(k.columns); ++c)
          s += xs[i / 5 * std::size_t(k.columns) + c] * ws[i % 5 * std::size_t(k.columns) + c];
        BOOST_TEST(ys[i] == s, boost::test_tools::tolerance(1e-10));
      }
      test::check_derivatives("linear", f, {x, W, b}, {.atol16 = 1e-2, .rtol16 = 1e-2});
    }
  const Variable v(arrays::ones({2, 3, 4})), W(arrays::ones({5, 4}));
  BOOST_TEST(nn::linear(Variable(arrays::ones({0, 3, 4})), W, {}, -1).shape() == (Shape{0, 3, 5}));
  BOOST_CHECK_EXCEPTION(nn::linear(v, W, {}, 3), catena::ValueError, says("n_batch_axes is 3 for x (2, 3, 4)"));
  BOOST_CHECK_THROW(nn::linear(v, W, {}, 0), catena::ValueError);
  BOOST_CHECK_THROW(nn::linear(v, W, {}, -3), catena::ValueError);
  BOOST_CHECK_EXCEPTION(nn::linear(v, W), catena::InvalidType, says("with n_batch_axes = -1 W is applied to"));
}

BOOST_AUTO_TEST_CASE(linear_link_of_more_than_two_axes) {
  const KeptTexts kept;
  const Variable x(arrays::ones({2, 3, 4})), image(arrays::ones({2, 3, 4, 1}));
  nn::Linear none(5), last(5, {.n_batch_axes = -1}), flat(5, {.n_batch_axes = 1}), of_call(5), sized(4, 5);
  BOOST_CHECK_EXCEPTION(none(x), catena::ValueError,
                        says("x has the shape (2, 3, 4): {.n_batch_axes = -1} applies W (5, 4) to its last axis, "
                             "{.n_batch_axes = 1} flattens it for W (5, 12)"));
  BOOST_TEST(!none.W.is_initialized());
  BOOST_TEST(last(x).shape() == (Shape{2, 3, 5}));
  BOOST_TEST(last.W.shape() == (Shape{5, 4}));
  BOOST_TEST(flat(x).shape() == (Shape{2, 5}));
  BOOST_TEST(flat.W.shape() == (Shape{5, 12}));
  BOOST_TEST(of_call(x, 2).shape() == (Shape{2, 3, 5}));
  BOOST_TEST(sized(x).shape() == (Shape{2, 3, 5}));
  const Variable other(arrays::ones({2, 3, 5}));
  BOOST_CHECK_EXCEPTION(sized(other), catena::InvalidType, says("Linear: x has 15 columns, W 4\n"));
  BOOST_TEST(sized(x, -1).shape() == (Shape{2, 3, 5}));
  // A W that exists says what is meant.
  BOOST_TEST(nn::Linear(12, 5)(x).shape() == (Shape{2, 5}));
  BOOST_TEST(texts.empty());
  // Images are flattened, as in Chainer, with a warning where the call decides the shape of W.
  BOOST_TEST(none(image).shape() == (Shape{2, 5}));
  BOOST_REQUIRE(texts.size() == 1);
  BOOST_TEST(texts[0].starts_with("Linear: x of 4 axes is flattened to two"), texts[0]);
  none(image);
  nn::Linear(5, {.n_batch_axes = 1})(image);
  BOOST_TEST(texts.size() == 1);
}

BOOST_AUTO_TEST_CASE(convolution_links) {
  const Variable line(astype(spread({2, 3, 7}), Dtype::float32)),
      volume(astype(spread({1, 3, 4, 3, 5}), Dtype::float32));
  nn::Convolution1D a(3, 4, 3, {.pad = 1}), placed(3, 4, 3, 2, 1), lazy(4, 3), grouped(3, 6, 3, {.groups = 3});
  BOOST_TEST(a.b.has_value());
  BOOST_TEST(a.W.shape() == (Shape{4, 3, 3}));
  same(a(line), nn::convolution_1d(line, a.W, *a.b, 1, 1));
  same(placed(line), nn::convolution_nd(line, placed.W, *placed.b, 2, 1));
  BOOST_TEST(lazy(line).shape() == (Shape{2, 4, 5}));
  BOOST_TEST(grouped.W.shape() == (Shape{6, 1, 3}));
  BOOST_TEST(!nn::Convolution1D(3, 4, 3, {.nobias = true}).b.has_value());
  nn::Convolution3D c(3, 4, {2, 1, 3}, {.stride = {1, 2, 1}, .initial_bias = 0.5});
  same(c(volume), nn::convolution_3d(volume, c.W, *c.b, {1, 2, 1}));
  nn::Deconvolution1D d(3, 4, 4, 2, 1), unbiased(3, 4, 4, {.initial_bias = {}});
  same(d(line), nn::deconvolution_1d(line, d.W, *d.b, 2, 1));
  BOOST_TEST(!unbiased.b.has_value());
  nn::Deconvolution3D e(3, 2, 2);
  same(e(volume), nn::deconvolution_3d(volume, e.W, *e.b));
  BOOST_CHECK_THROW(a(volume), catena::InvalidType);
  BOOST_CHECK_THROW(nn::Convolution3D(3, 4, 2)(line), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(ranks_are_checked) {
  const Variable image(arrays::ones({1, 2, 4, 4})), W(arrays::ones({2, 2, 3, 3}));
  BOOST_CHECK_THROW(nn::convolution_1d(image, W), catena::InvalidType);
  BOOST_CHECK_THROW(nn::convolution_3d(image, W), catena::InvalidType);
  BOOST_CHECK_THROW(nn::deconvolution_1d(image, W), catena::InvalidType);
  BOOST_CHECK_THROW(nn::deconvolution_3d(image, W), catena::InvalidType);
  BOOST_CHECK_THROW(nn::max_pooling_1d(image, 2), catena::InvalidType);
  BOOST_CHECK_THROW(nn::max_pooling_3d(image, 2), catena::InvalidType);
  BOOST_CHECK_THROW(nn::average_pooling_1d(image, 2), catena::InvalidType);
  BOOST_CHECK_THROW(nn::average_pooling_3d(image, 2), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(pooling_by_position) {
  const Variable line(spread({2, 2, 7})), volume(spread({1, 2, 4, 3, 5}));
  same(nn::max_pooling_1d(line, 3, 2, 1), nn::max_pooling_nd(line, 3, 2, 1));
  same(nn::max_pooling_1d(line, 3, 2, 1, false),
       nn::max_pooling_1d(line, 3, {.stride = 2, .pad = 1, .cover_all = false}));
  same(nn::average_pooling_1d(line, 3, 2, 1), nn::average_pooling_nd(line, 3, 2, 1));
  same(nn::max_pooling_3d(volume, {2, 1, 2}, 1), nn::max_pooling_nd(volume, {2, 1, 2}, 1));
  same(nn::average_pooling_3d(volume, 2, {1, 1, 2}, 1), nn::average_pooling_nd(volume, 2, {1, 1, 2}, 1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
