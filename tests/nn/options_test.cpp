// Options in braces beside numbers by position: {.pad = 1} is an option, whatever class that is made of a number
// another overload takes in its place.
#include <boost/test/unit_test.hpp>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/operators.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions.h>
#include <catena/nn/links.h>

using namespace autograd;

namespace {

Variable image() { return Variable(arrays::ones({1, 2, 6, 6}, Dtype::float32)); }
Variable filter() { return Variable(arrays::ones({2, 2, 3, 3}, Dtype::float32)); }
Variable matrix() { return Variable(arrays::ones({2, 2}, Dtype::float32)); }
Variable labels() { return Variable(astype(arrays::arange(2), Dtype::int32)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(options)

BOOST_AUTO_TEST_CASE(windows) {
  BOOST_TEST(nn::max_pooling_2d(image(), 3, {.pad = 1}).shape() == Shape({1, 2, 3, 3}));
  BOOST_TEST(nn::max_pooling_2d(image(), 3, {.stride = 2}).shape() == Shape({1, 2, 3, 3}));
  BOOST_TEST(nn::max_pooling_2d(image(), 3, {.stride = 1, .pad = 1}).shape() == Shape({1, 2, 6, 6}));
  BOOST_TEST(nn::max_pooling_nd(image(), 3, {.pad = 1}).shape() == Shape({1, 2, 3, 3}));
  BOOST_TEST(nn::max_pooling_nd(image(), 3, {.stride = 2}).shape() == Shape({1, 2, 3, 3}));
  BOOST_TEST(nn::average_pooling_2d(image(), 3, {.pad = 1}).shape() == Shape({1, 2, 2, 2}));
  BOOST_TEST(nn::average_pooling_2d(image(), 3, {.stride = 1}).shape() == Shape({1, 2, 4, 4}));
  BOOST_TEST(nn::average_pooling_nd(image(), 3, {.stride = 1}).shape() == Shape({1, 2, 4, 4}));
  BOOST_TEST(nn::unpooling_2d(image(), 2, {.outsize = 11}).shape() == Shape({1, 2, 11, 11}));
  BOOST_TEST(nn::unpooling_nd(image(), 2, {.pad = 1}).shape() == nn::unpooling_nd(image(), 2, 2, 1).shape());
  BOOST_TEST(nn::convolution_2d(image(), filter(), {}, {.pad = 1}).shape() == Shape({1, 2, 6, 6}));
  BOOST_TEST(nn::convolution_2d(image(), filter(), {}, {.dilate = 2}).shape() == Shape({1, 2, 2, 2}));
  BOOST_TEST(nn::convolution_nd(image(), filter(), {}, {.pad = 1}).shape() == Shape({1, 2, 6, 6}));
  BOOST_TEST(nn::deconvolution_2d(image(), filter(), {}, {.pad = 1}).shape() == Shape({1, 2, 6, 6}));
  BOOST_TEST(nn::deconvolution_nd(image(), filter(), {}, {.pad = 1}).shape() == Shape({1, 2, 6, 6}));
  BOOST_TEST(nn::depthwise_convolution_2d(image(), filter(), {}, {.pad = 1}).shape() == Shape({1, 4, 6, 6}));
  BOOST_TEST(nn::dilated_convolution_2d(image(), filter(), {}, {.pad = 1}).shape() == Shape({1, 2, 6, 6}));
  BOOST_TEST(nn::im2col(image(), 3, {.pad = 1}).shape() == Shape({1, 18, 6, 6}));
}

BOOST_AUTO_TEST_CASE(links_of_windows) {
  BOOST_TEST(nn::Convolution2D(2, 4, 3, {.pad = 1})(image()).shape() == Shape({1, 4, 6, 6}));
  BOOST_TEST(nn::Convolution2D(4, 3, {.pad = 1})(image()).shape() == Shape({1, 4, 6, 6}));
  BOOST_TEST(nn::Deconvolution2D(2, 4, 3, {.pad = 1})(image()).shape() == Shape({1, 4, 6, 6}));
  BOOST_TEST(nn::ConvolutionND(2, 2, 4, 3, {.pad = 1})(image()).shape() == Shape({1, 4, 6, 6}));
  BOOST_TEST(nn::DeconvolutionND(2, 2, 4, 3, {.pad = 1})(image()).shape() == Shape({1, 4, 6, 6}));
  BOOST_TEST(nn::DepthwiseConvolution2D(2, 2, 3, {.pad = 1})(image()).shape() == Shape({1, 4, 6, 6}));
  BOOST_TEST(nn::MLPConvolution2D(2, {4, 4}, 3, {.pad = 1})(image()).shape() == Shape({1, 4, 6, 6}));
}

BOOST_AUTO_TEST_CASE(numbers_that_are_no_constants) {
  // An initial value of W is made of a number, too.
  nn::EmbedID ignores(3, 2, {.ignore_label = 1});
  BOOST_TEST((to_vector<float>(ignores(labels()).data())[2] == 0));
  BOOST_TEST((to_vector<float>(ignores(labels()).data())[0] != 0));
  const Variable rows = nn::embed_id(labels(), matrix(), {.padding_idx = 1});
  BOOST_TEST((to_vector<float>(rows.data()) == std::vector<float>(4, 1)));
  BOOST_TEST(nn::Linear(3, {.nobias = true})(matrix()).shape() == Shape({2, 3}));
  BOOST_TEST(nn::Linear(2, 3, {.nobias = true})(matrix()).shape() == Shape({2, 3}));
  // A margin of 3 and a distance of 0: (3 - 0)^2 / 2 for the one, 3 for the other.
  const Variable different(arrays::zeros({2}, Dtype::int32));
  BOOST_TEST(item(nn::contrastive(matrix(), matrix(), different, {.margin = 3}).data()).to<double>() == 4.5);
  BOOST_TEST(item(nn::triplet(matrix(), matrix(), matrix(), {.margin = 3}).data()).to<double>() == 3);
  const Variable y = nn::local_response_normalization(image(), {.n = 1, .k = 1, .alpha = 3, .beta = 1});
  BOOST_TEST(to_vector<float>(y.data())[0] == 0.25f);
}

BOOST_AUTO_TEST_CASE(shapes_of_scale) {
  nn::Scale braces(1, {.W_shape = {2}}), shape(1, {2}), typed(1, Shape{2}, true), vector(1, std::vector<int>{2}),
      number(1, 2), bias(1, {.bias_term = true, .bias_shape = Shape{2}});
  for (nn::Scale* link : {&braces, &shape, &typed, &vector, &number})
    BOOST_TEST((link->W.has_value() && link->W->data().shape() == Shape{2}));
  BOOST_TEST((typed.bias.has_value() && !shape.bias.has_value()));
  BOOST_TEST((!bias.W.has_value() && bias.bias.has_value()));
}

BOOST_AUTO_TEST_SUITE_END()
