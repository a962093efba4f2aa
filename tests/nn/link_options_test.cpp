// The options of the constructors of links: what the parameters hold, and what a call makes of an option.
#include <cmath>

#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/operators.h>
#include <catena/nn/links.h>
#include <catena/tests/support/training_fixtures.h>

using namespace autograd;
using namespace test;

namespace {

using Doubles = std::vector<double>;

void all_are(const Array& a, double expected, const char* what) {
  BOOST_TEST(a.size() > 0, what);
  for (const double v : values(a)) BOOST_REQUIRE_MESSAGE(v == expected, what << " has " << v << ", not " << expected);
}

// W and b of a link.
template <class L> void holds(const L& link, double W, double b, const char* what) {
  all_are(link.W.data(), W, what);
  BOOST_REQUIRE_MESSAGE(link.b.has_value(), what);
  all_are(link.b->data(), b, what);
}

Variable image() { return Variable(arrays::ones({1, 2, 3, 3}, Dtype::float32)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(link_options)

// An initial value is multiplied by the root of wscale; `bias` is the value of b where there is no initial_bias.
BOOST_AUTO_TEST_CASE(initial_filters) {
  const nn::Convolution2D conv(2, 3, 2, {.wscale = 4.0, .bias = 0.5, .initialW = 0.25});
  holds(conv, 0.5, 0.5, "Convolution2D");
  const nn::Convolution2D both(2, 3, 2, {.bias = 0.5, .initialW = 0.25, .initial_bias = 1.5});
  holds(both, 0.25, 1.5, "Convolution2D with both");
  const nn::DilatedConvolution2D dilated(
      2, 3, 2, {.dilate = 2, .wscale = 4.0, .bias = 0.5, .initialW = 0.25, .use_cudnn = false});
  holds(dilated, 0.5, 0.5, "DilatedConvolution2D");
  BOOST_TEST((dilated.geometry.use_cudnn == std::optional<bool>(false)));
  const nn::Deconvolution2D back(2, 3, 2, {.wscale = 4.0, .bias = 0.5, .initialW = 0.25});
  holds(back, 0.5, 0.5, "Deconvolution2D");
  const nn::ConvolutionND nd(1, 2, 3, 2, {.initialW = 0.25, .initial_bias = 1.5, .use_cudnn = false});
  holds(nd, 0.25, 1.5, "ConvolutionND");
  BOOST_TEST((nd.geometry.use_cudnn == std::optional<bool>(false)));
  const nn::DeconvolutionND nd_back(1, 2, 3, 2, {.initialW = 0.25, .initial_bias = 1.5, .use_cudnn = false});
  holds(nd_back, 0.25, 1.5, "DeconvolutionND");
  BOOST_TEST((nd_back.geometry.use_cudnn == std::optional<bool>(false)));
  const nn::DepthwiseConvolution2D wise(2, 3, 2, {.initialW = 0.25, .initial_bias = 1.5});
  holds(wise, 0.25, 1.5, "DepthwiseConvolution2D");
  const nn::Linear linear(2, 3, {.wscale = 4.0, .bias = 0.5, .initialW = 0.25});
  holds(linear, 0.5, 0.5, "Linear");
  // Each of the 3 x 3 pixels has the two channels, 2 * 0.5 + 0.5 = 1.5, of which the second filter sees three.
  const auto twice = [](const Variable& x) { return x * 2.0; };
  nn::MLPConvolution2D mlp(
      2, {3, 1}, 1, {.wscale = 4.0, .activation = twice, .conv_init = 0.25, .bias_init = 0.5, .use_cudnn = false});
  for (std::size_t k = 0; k < 2; ++k) {
    const auto& layer = dynamic_cast<const nn::Convolution2D&>(*mlp.named_children()[k].second);
    holds(layer, 0.5, 0.5, "MLPConvolution2D");
    BOOST_TEST((layer.geometry.use_cudnn == std::optional<bool>(false)));
  }
  all_are(mlp(image()).data(), 3 * 3.0 * 0.5 + 0.5, "MLPConvolution2D of an image");
}

// All arguments after the numbers of channels by their names, as in programs for Chainer.
BOOST_AUTO_TEST_CASE(kernels_by_name) {
  const nn::Convolution2D a(4, 6,
                            {.ksize = {3, 1}, .stride = 2, .pad = {0, 1}, .nobias = true, .dilate = 3, .groups = 2});
  BOOST_TEST((a.ksize == nn::Pair(3, 1) && a.geometry.stride == nn::Pair(2) && a.geometry.pad == nn::Pair(0, 1) &&
              a.geometry.dilate == nn::Pair(3) && a.geometry.groups == 2 && !a.b));
  BOOST_TEST(a.W.shape() == (Shape{6, 2, 3, 1}));
  nn::Convolution2D b(std::nullopt, 2, {.ksize = 3, .initialW = 0.5, .initial_bias = 1.0});
  BOOST_TEST(values(b(Variable(arrays::ones({1, 1, 3, 3}))).data())[0] == 9 * 0.5 + 1);
  const nn::Deconvolution2D c(3, 2, {.ksize = 4, .stride = 2, .pad = 1});
  BOOST_TEST((c.ksize == nn::Pair(4) && c.geometry.stride == nn::Pair(2) && c.geometry.pad == nn::Pair(1) && c.b));
  // Without a kernel by name, the second number is the kernel.
  const nn::Convolution2D d(8, 3, {.stride = 2});
  BOOST_TEST((d.out_channels == 8 && d.ksize == nn::Pair(3) && d.geometry.stride == nn::Pair(2)));
}

// Strides and pads by place, and then other options.
BOOST_AUTO_TEST_CASE(options_behind_lengths_by_place) {
  const nn::Convolution2D a(2, 3, 2, {2, 1}, {.nobias = true}), b(2, 3, 2, 2, 1, {.stride = 7, .nobias = true});
  BOOST_TEST(!a.b.has_value());
  BOOST_TEST((a.geometry.stride == nn::Pair(2, 1) && a.geometry.pad == nn::Pair(0)));
  BOOST_TEST((!b.b && b.geometry.stride == nn::Pair(2) && b.geometry.pad == nn::Pair(1)));
  const nn::Deconvolution2D c(2, 3, 2, 2, 1, {.outsize = nn::Pair(4), .nobias = true}), d(2, 3, 2, 2, {.nobias = true});
  BOOST_TEST(
      (!c.b && c.geometry.stride == nn::Pair(2) && c.geometry.pad == nn::Pair(1) && c.geometry.outsize == nn::Pair(4)));
  BOOST_TEST((!d.b && d.geometry.stride == nn::Pair(2)));
  const nn::DilatedConvolution2D e(2, 3, 2, 1, 0, 2, {.nobias = true});
  BOOST_TEST((!e.b && e.geometry.dilate == nn::Pair(2) && e.geometry.stride == nn::Pair(1)));
  nn::DepthwiseConvolution2D f(2, 3, 2, 2, 1, {.nobias = true});
  BOOST_TEST((!f.b && f.geometry.stride == nn::Pair(2) && f.geometry.pad == nn::Pair(1)));
  nn::ConvolutionND g(3, 2, 4, 2, {2, 1, 1}, 1, {.groups = 2, .initial_bias = 0.5});
  BOOST_TEST((g.b && g.geometry.groups == 2));
  BOOST_TEST(g(Variable(arrays::zeros({1, 2, 3, 3, 3}))).shape() == (Shape{1, 4, 2, 4, 4}));
  nn::DeconvolutionND h(3, 2, 4, 2, {2, 1, 1}, 0, {.initial_bias = {}});
  BOOST_TEST(!h.b);
  BOOST_TEST(h(Variable(arrays::zeros({1, 2, 3, 3, 3}))).shape() == (Shape{1, 4, 6, 4, 4}));
  const Variable x(arrays::ones({1, 1, 4, 4}));
  BOOST_TEST(nn::max_pooling_2d(x, 3, 2, 0, {.cover_all = false}).shape() == (Shape{1, 1, 1, 1}));
  BOOST_TEST(nn::max_pooling_nd(x, 3, 2, 0, {.cover_all = false}).shape() == (Shape{1, 1, 1, 1}));
  BOOST_TEST(values(nn::average_pooling_2d(x, 2, 4, 1, {.pad_value = std::nullopt}).data())[0] == 1.0);
  const Variable W(arrays::ones({2, 1, 2, 2}));
  BOOST_TEST(nn::convolution_2d(Variable(arrays::ones({1, 2, 4, 4})), W, {}, 2, 0, {.groups = 2}).shape() ==
             (Shape{1, 2, 2, 2}));
}

BOOST_AUTO_TEST_CASE(initial_values_of_recurrent_links) {
  const auto gates = [](const auto& link) {
    for (const nn::Linear* of_x : {&link.W_r, &link.W_z, &link.W}) holds(*of_x, 0.25, 1.5, "of x");
    for (const nn::Linear* of_h : {&link.U_r, &link.U_z, &link.U}) holds(*of_h, 0.75, 1.5, "of h");
  };
  gates(nn::GRU(3, 2, {.init = 0.25, .inner_init = 0.75, .bias_init = 1.5}));
  gates(nn::StatefulGRU(2, 3, {.init = 0.25, .inner_init = 0.75, .bias_init = 1.5}));
  // The rows of a unit are candidate, input gate, forget gate and output gate.
  const auto cells = [](const auto& link) {
    all_are(link.lateral.W.data(), 0.25, "lateral");
    all_are(link.upward.W.data(), 0.75, "upward");
    BOOST_TEST(values(link.upward.b->data()) == (Doubles{1, 1, 5, 1, 1, 1, 5, 1}), boost::test_tools::per_element());
  };
  cells(nn::LSTM(3, 2, {.lateral_init = 0.25, .upward_init = 0.75, .bias_init = 1.0, .forget_bias_init = 5.0}));
  cells(
      nn::StatelessLSTM(3, 2, {.lateral_init = 0.25, .upward_init = 0.75, .bias_init = 1.0, .forget_bias_init = 5.0}));
  const nn::Highway highway(2, {.init_Wh = 0.25, .init_Wt = 0.75, .init_bh = 1.5, .init_bt = -2.0});
  holds(highway.plain, 0.25, 1.5, "plain");
  holds(highway.transform, 0.75, -2, "transform");
}

// With and without cuDNN, a link of the same parameters gives the same.
BOOST_AUTO_TEST_CASE(n_step_links_without_cudnn) {
  const Variable x(floats({0.5f, -1, 2, 1, 0.25f, -0.5f}, {2, 3}));
  const auto check = [&](const char* what, auto&& without, auto&& either) {
    BOOST_TEST((without.use_cudnn == std::optional<bool>(false)), what);
    BOOST_TEST(!either.use_cudnn.has_value(), what);
    either.copyparams(without);
    const auto ys = [&](auto& link) {
      if constexpr (requires { link(Variable(), Variable(), Variables{x}); })
        return values(link(Variable(), Variable(), Variables{x}).ys[0].data());
      else return values(link(Variable(), Variables{x}).ys[0].data());
    };
    const Doubles expected = ys(without), found = ys(either);
    BOOST_REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) BOOST_TEST(std::fabs(found[i] - expected[i]) < 1e-5, what);
  };
  check("NStepLSTM", nn::NStepLSTM(1, 3, 2, 0.0, false), nn::NStepLSTM(1, 3, 2, 0.0));
  check("NStepBiLSTM", nn::NStepBiLSTM(1, 3, 2, 0.0, false), nn::NStepBiLSTM(1, 3, 2, 0.0));
  check("NStepGRU", nn::NStepGRU(1, 3, 2, 0.0, false), nn::NStepGRU(1, 3, 2, 0.0));
  check("NStepBiGRU", nn::NStepBiGRU(1, 3, 2, 0.0, false), nn::NStepBiGRU(1, 3, 2, 0.0));
  check("NStepRNNTanh", nn::NStepRNNTanh(1, 3, 2, 0.0, false), nn::NStepRNNTanh(1, 3, 2, 0.0));
  check("NStepBiRNNTanh", nn::NStepBiRNNTanh(1, 3, 2, 0.0, false), nn::NStepBiRNNTanh(1, 3, 2, 0.0));
  check("NStepRNNReLU", nn::NStepRNNReLU(1, 3, 2, 0.0, false), nn::NStepRNNReLU(1, 3, 2, 0.0));
  check("NStepBiRNNReLU", nn::NStepBiRNNReLU(1, 3, 2, 0.0, false), nn::NStepBiRNNReLU(1, 3, 2, 0.0));
}

BOOST_AUTO_TEST_CASE(axes_of_bias_and_scale) {
  const Variable x(floats({1, 2, 3, 4}, {2, 2}));
  nn::Bias rows(0, {2});
  rows.b->set_data(floats({10, 20}, {2}));
  BOOST_TEST(values(rows(x).data()) == (Doubles{11, 12, 23, 24}), boost::test_tools::per_element());
  nn::Scale scaled_rows(0, {2});
  scaled_rows.W->set_data(floats({10, 20}, {2}));
  BOOST_TEST(values(scaled_rows(x).data()) == (Doubles{10, 20, 60, 80}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(normalization_and_slopes) {
  const nn::BatchNormalization bn(3, {.initial_gamma = 0.25, .initial_beta = 1.5});
  all_are(bn.gamma->data(), 0.25, "gamma");
  all_are(bn.beta->data(), 1.5, "beta");
  nn::PReLU slopes({2}, 0.5);
  BOOST_TEST(values(slopes(Variable(floats({-2, 4}, {1, 2}))).data()) == (Doubles{-1, 4}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(losses_and_measures) {
  // Label k is drawn with a probability in proportion to count^power.
  nn::NegativeSampling squares(2, {1, 2, 3}, 1, 2.0);
  autograd::seed(1);
  Doubles drawn(3);
  for (const double k : values(squares.alias.sample({14000}))) ++drawn[std::size_t(k)];
  for (std::size_t k = 0; k < 3; ++k) {
    const double p = double((k + 1) * (k + 1)) / 14;
    BOOST_TEST(std::fabs(drawn[k] / 14000 - p) < 5 * std::sqrt(p * (1 - p) / 14000));
  }
  const auto squares_of_errors = [](const Variable& y, const Variable& t) { return sum((y - t) * (y - t)); };
  const auto total = [](const Variable& y, const Variable&) { return sum(y); };
  nn::Classifier<nn::Linear> classifier(nn::Linear(2, 1, {.initialW = 1.0}),
                                        {.lossfun = squares_of_errors, .accfun = total});
  const Variable x(floats({1, 2}, {1, 2})), t(floats({5}, {1, 1}));
  BOOST_TEST(values(classifier(x, t).data())[0] == 4);
  BOOST_TEST(values(classifier.accuracy.data())[0] == 3);
}

BOOST_AUTO_TEST_SUITE_END()
