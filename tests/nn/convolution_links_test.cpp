// The layers with filters: their cases of the reference, what their options are, and what the first call creates.
#include <cmath>

#include <catena/autograd/flag.h>
#include <catena/autograd/functions/array.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_link_golden.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using catena::AssertionError;
using catena::InvalidType;
using catena::ValueError;
using json = test::Json;

namespace {

// ---- the reference's cases ----------------------------------------------------------------------
nn::Pair pair_of(const json& v) {
  return v.is_array() ? nn::Pair(v[0].get<int>(), v[1].get<int>()) : nn::Pair(v.get<int>());
}
nn::Lengths lengths_of(const json& v) {
  return v.is_array() ? nn::Lengths(autograd::Dims(v.get<std::vector<std::int64_t>>())) : nn::Lengths(v.get<int>());
}
std::optional<int> optional_int(const json& v) { return v.is_null() ? std::nullopt : std::optional<int>(v.get<int>()); }
nn::Initializer bias_of(const json& v) { return v.is_null() ? nn::Initializer() : nn::Initializer(v.get<double>()); }
int number(const json& a, const char* name) { return a[name].get<int>(); }

template <class L> LinkCase::Call call_of(L& link) {
  return [&link](const Variables& x, const json&) { return Variables{link(x[0])}; };
}

void run_deconvolution(LinkCase& c, const json& a, Dtype) {
  nn::Deconvolution2DOptions o{
      .stride = pair_of(a["stride"]), .pad = pair_of(a["pad"]), .nobias = a["nobias"].get<bool>()};
  if (!a["outsize"].is_null()) o.outsize = pair_of(a["outsize"]);
  nn::Deconvolution2D link(optional_int(a["in_channels"]), number(a, "out_channels"), pair_of(a["ksize"]), o);
  c.run(link, call_of(link));
}

void run_convolution_nd(LinkCase& c, const json& a, Dtype) {
  nn::ConvolutionND link(number(a, "ndim"), optional_int(a["in_channels"]), number(a, "out_channels"),
                         lengths_of(a["ksize"]),
                         {.stride = lengths_of(a["stride"]),
                          .pad = lengths_of(a["pad"]),
                          .initial_bias = bias_of(a["initial_bias"]),
                          .cover_all = a["cover_all"].get<bool>()});
  c.run(link, call_of(link));
}

void run_deconvolution_nd(LinkCase& c, const json& a, Dtype) {
  nn::DeconvolutionND::Options o{
      .stride = lengths_of(a["stride"]), .pad = lengths_of(a["pad"]), .initial_bias = bias_of(a["initial_bias"])};
  if (!a["outsize"].is_null()) o.outsize = lengths_of(a["outsize"]);
  nn::DeconvolutionND link(number(a, "ndim"), optional_int(a["in_channels"]), number(a, "out_channels"),
                           lengths_of(a["ksize"]), o);
  c.run(link, call_of(link));
}

void run_depthwise(LinkCase& c, const json& a, Dtype) {
  nn::DepthwiseConvolution2D link(
      optional_int(a["in_channels"]), number(a, "channel_multiplier"), pair_of(a["ksize"]),
      {.stride = pair_of(a["stride"]), .pad = pair_of(a["pad"]), .nobias = a["nobias"].get<bool>()});
  c.run(link, call_of(link));
}

void run_inception(LinkCase& c, const json& a, Dtype) {
  nn::Inception link(optional_int(a["in_channels"]), number(a, "out1"), number(a, "proj3"), number(a, "out3"),
                     number(a, "proj5"), number(a, "out5"), number(a, "proj_pool"));
  c.run(link, call_of(link));
}

void run_inception_bn(LinkCase& c, const json& a, Dtype dtype) {
  nn::InceptionBN link(optional_int(a["in_channels"]), number(a, "out1"), number(a, "proj3"), number(a, "out3"),
                       number(a, "proj33"), number(a, "out33"), a["pooltype"].get<std::string>(),
                       {.proj_pool = optional_int(a["proj_pool"]), .stride = pair_of(a["stride"]), .dtype = dtype});
  c.run(link,
        [&](const Variables& x, const json& o) { return Variables{link(x[0], {.test = o.value("test", false)})}; });
}

void run_mlp(LinkCase& c, const json& a, Dtype) {
  nn::MLPConvolution2DOptions o{.stride = pair_of(a["stride"]), .pad = pair_of(a["pad"])};
  std::vector<int> outputs;
  for (const json& n : a["out_channels"]) outputs.push_back(n.get<int>());
  if (a["activation"] == "tanh") o.activation = [](const Variable& x) { return nn::tanh(x); };
  nn::MLPConvolution2D link(optional_int(a["in_channels"]), outputs, pair_of(a["ksize"]), o);
  c.run(link, call_of(link));
}

const LinkRunners registered({{"Deconvolution2D", run_deconvolution},
                              {"ConvolutionND", run_convolution_nd},
                              {"DeconvolutionND", run_deconvolution_nd},
                              {"DepthwiseConvolution2D", run_depthwise},
                              {"Inception", run_inception},
                              {"InceptionBN", run_inception_bn},
                              {"MLPConvolution2D", run_mlp}});

// ---- the rest -----------------------------------------------------------------------------------
Variable images(const Shape& shape) { return Variable(autograd::astype(spread(shape), Dtype::float32)); }

void check_same(const Variable& a, const Variable& b, const char* what) {
  check_close(a.data(), b.data(), 1e-6, 1e-6, what);
}

std::string paths_of(const nn::Link& link) {
  std::string all;
  for (const nn::NamedParam& p : link.namedparams()) all += p.path + " ";
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(convolution_links)

BOOST_AUTO_TEST_CASE(options_are_those_of_the_functions) {
  const Variable x = images({2, 4, 7, 6});
  nn::Convolution2D conv(4, 6, {3, 2},
                         {.stride = {2, 1},
                          .pad = {0, 1},
                          .dilate = {1, 2},
                          .groups = 2,
                          .initial_bias = 0.5,
                          .deterministic = true,
                          .use_cudnn = false});
  BOOST_TEST(conv.W.shape() == Shape({6, 2, 3, 2}));
  BOOST_TEST((conv.geometry.deterministic.value() && !conv.geometry.use_cudnn.value()));
  check_same(conv(x),
             nn::convolution_2d(x, conv.W, *conv.b, {.stride = {2, 1}, .pad = {0, 1}, .dilate = {1, 2}, .groups = 2}),
             "convolution");
  nn::Deconvolution2D back(4, 6, {3, 2},
                           {.stride = 2,
                            .pad = {1, 0},
                            .outsize = nn::Pair(14, 13),
                            .groups = 2,
                            .initial_bias = -0.5,
                            .deterministic = true,
                            .use_cudnn = false});
  BOOST_TEST(back.W.shape() == Shape({4, 3, 3, 2}));
  BOOST_TEST((back.geometry.deterministic.value() && !back.geometry.use_cudnn.value()));
  check_same(
      back(x),
      nn::deconvolution_2d(x, back.W, *back.b, {.stride = 2, .pad = {1, 0}, .outsize = nn::Pair(14, 13), .groups = 2}),
      "deconvolution");
  nn::DepthwiseConvolution2D wise(4, 2, 3, {.stride = {1, 2}, .pad = 1, .dilate = {2, 1}, .initial_bias = 0.25});
  check_same(wise(x), nn::depthwise_convolution_2d(x, wise.W, *wise.b, {.stride = {1, 2}, .pad = 1, .dilate = {2, 1}}),
             "depthwise");
  BOOST_TEST(values(conv.b->data())[5] == 0.5);
  BOOST_TEST(values(back.b->data())[5] == -0.5);
  BOOST_TEST(values(wise.b->data())[7] == 0.25);
  // By position, as in the reference.
  nn::Convolution2D plain(4, 5, 3, 2, 1);
  check_same(plain(x), nn::convolution_2d(x, plain.W, *plain.b, {.stride = 2, .pad = 1}), "by position");
  nn::Convolution2D pairs(4, 5, 3, {2, 1}, {1, 0});
  check_same(pairs(x), nn::convolution_2d(x, pairs.W, *pairs.b, {.stride = {2, 1}, .pad = {1, 0}}), "pairs");
  nn::Deconvolution2D up(4, 5, 4, 2, 1);
  BOOST_TEST(up(x).shape() == Shape({2, 5, 14, 12}));
  nn::DilatedConvolution2D dilated(4, 5, 3, 1, 2, 2);
  check_same(dilated(x), nn::convolution_2d(x, dilated.W, *dilated.b, {.pad = 2, .dilate = 2}), "dilated");
  nn::DepthwiseConvolution2D moved(4, 1, 3, 2, 1);
  BOOST_TEST(moved(x).shape() == Shape({2, 4, 4, 3}));
}

BOOST_AUTO_TEST_CASE(any_number_of_axes) {
  const Variable x = images({2, 4, 7, 6}), volume = images({1, 4, 3, 4, 5}), line = images({2, 4, 9});
  nn::ConvolutionND two(2, 4, 6, {3, 2},
                        {.stride = {2, 1}, .dilate = {1, 2}, .groups = 2, .initial_bias = 0.5, .cover_all = true});
  check_same(two(x),
             nn::convolution_2d(x, two.W, *two.b, {.stride = {2, 1}, .dilate = {1, 2}, .cover_all = true, .groups = 2}),
             "two axes");
  nn::DeconvolutionND back(2, 4, 6, {3, 2}, {.stride = 2, .pad = {1, 0}, .outsize = nn::Lengths{14, 13}, .groups = 2});
  check_same(
      back(x),
      nn::deconvolution_2d(x, back.W, *back.b, {.stride = 2, .pad = {1, 0}, .outsize = nn::Pair(14, 13), .groups = 2}),
      "two axes back");
  BOOST_TEST(values(two.b->data())[5] == 0.5);
  BOOST_TEST(values(back.b->data())[5] == 0.0);
  nn::ConvolutionND three(3, 4, 2, 2, {1, 2, 1}, 1);
  BOOST_TEST(!three.b.has_value());
  BOOST_TEST(three(volume).shape() == Shape({1, 2, 4, 3, 6}));
  nn::DeconvolutionND up(3, 4, 2, 2, 2);
  BOOST_TEST(up(volume).shape() == Shape({1, 2, 6, 8, 10}));
  nn::DeconvolutionND bare(1, 4, 2, 3, {.initial_bias = {}});
  BOOST_TEST(!bare.b.has_value());
  BOOST_TEST(bare(line).shape() == Shape({2, 2, 11}));
}

BOOST_AUTO_TEST_CASE(the_first_call_creates_the_filters) {
  const Variable x = images({2, 3, 6, 5});
  nn::Deconvolution2D back(4, 3, {.groups = 1});
  BOOST_TEST(back.has_uninitialized_params());
  BOOST_TEST(back(x).shape() == Shape({2, 4, 8, 7}));
  BOOST_TEST(back.W.shape() == Shape({3, 4, 3, 3}));
  nn::DepthwiseConvolution2D wise(std::nullopt, 2, 3);
  BOOST_TEST(!wise.b->is_initialized());
  BOOST_TEST(wise(x).shape() == Shape({2, 6, 4, 3}));
  BOOST_TEST(wise.b->shape() == Shape({6}));
  nn::ConvolutionND nd(2, std::nullopt, 4, 3);
  BOOST_TEST(nd(x).shape() == Shape({2, 4, 4, 3}));
  nn::DeconvolutionND nd_back(2, std::nullopt, 4, 3);
  BOOST_TEST(nd_back(x).shape() == Shape({2, 4, 8, 7}));
  nn::Convolution2D groups(6, 3, {.groups = 3});
  BOOST_TEST(groups(x).shape() == Shape({2, 6, 4, 3}));
  BOOST_TEST(groups.W.shape() == Shape({6, 1, 3, 3}));
  nn::MLPConvolution2D mlp(std::nullopt, {4, 2}, 3);
  BOOST_TEST(mlp(x).shape() == Shape({2, 2, 4, 3}));
  nn::InceptionBN inception(std::nullopt, 1, 2, 3, 2, 2, "max", 2);
  BOOST_TEST(inception(x).shape() == Shape({2, 8, 6, 5}));

  // Impossible values are refused, and create nothing.
  const Variable flat = images({2, 3});
  nn::Deconvolution2D wrong_back(4, 3);
  nn::DepthwiseConvolution2D wrong_wise(std::nullopt, 2, 3);
  nn::ConvolutionND wrong_nd(3, std::nullopt, 4, 3);
  nn::DeconvolutionND wrong_nd_back(1, std::nullopt, 4, 3);
  BOOST_CHECK_THROW(wrong_back(flat), InvalidType);
  BOOST_CHECK_THROW(wrong_wise(flat), InvalidType);
  BOOST_TEST(has(message_of<InvalidType>([&] { wrong_nd(x); }), "Expect: x.ndim == 5\nActual: 4 != 5"));
  BOOST_CHECK_THROW(wrong_nd_back(x), InvalidType);
  nn::Convolution2D wrong_groups(4, 3, {.groups = 2});
  BOOST_TEST(message_of<ValueError>([&] { wrong_groups(x); }) ==
             "Convolution2D: the first call: in_channels is 3, which 2 groups do not divide");
  for (const nn::Parameter* W :
       {&wrong_back.W, &wrong_wise.W, &*wrong_wise.b, &wrong_nd.W, &wrong_nd_back.W, &wrong_groups.W})
    BOOST_TEST(!W->is_initialized());
}

BOOST_AUTO_TEST_CASE(initial_values) {
  autograd::seed(5);
  const auto deviation = [](const nn::Parameter& p) {
    double sum = 0;
    for (const double v : values(p.data())) sum += v * v;
    return std::sqrt(sum / double(p.size()));
  };
  // HeNormal(1 / sqrt 2) of the axes from 1 on, multiplied by the root of wscale.
  BOOST_TEST(std::fabs(deviation(nn::Deconvolution2D(20, 10, 5, {.wscale = 4.0}).W) * std::sqrt(10 * 25) - 2) < 0.1);
  BOOST_TEST(std::fabs(deviation(nn::ConvolutionND(3, 10, 20, 3).W) * std::sqrt(10 * 27) - 1) < 0.05);
  BOOST_TEST(std::fabs(deviation(nn::DeconvolutionND(3, 20, 10, 3).W) * std::sqrt(10 * 27) - 1) < 0.05);
  BOOST_TEST(std::fabs(deviation(nn::DepthwiseConvolution2D(10, 20, 5).W) * std::sqrt(10 * 25) - 1) < 0.05);
  nn::MLPConvolution2D mlp(2, {3, 4}, 3, {.conv_init = 0.5, .bias_init = 2.0});
  nn::Inception inception(2, 1, 2, 3, 4, 5, 6, {.conv_init = 0.5, .bias_init = 2.0});
  for (const nn::Link* link : {static_cast<nn::Link*>(&mlp), static_cast<nn::Link*>(&inception)})
    for (const nn::NamedParam& p : link->namedparams())
      for (const double v : values(p.param.data())) BOOST_REQUIRE(v == (p.path.back() == 'W' ? 0.5 : 2.0));
  nn::InceptionBN bn(2, 0, 2, 3, 2, 2, "avg", {.conv_init = 0.25, .dtype = Dtype::float64});
  BOOST_TEST(values(bn.conv33b.W.data())[0] == 0.25);
  BOOST_TEST((bn.conv3n.gamma->dtype() == Dtype::float64));
}

BOOST_AUTO_TEST_CASE(names) {
  BOOST_TEST(paths_of(nn::Deconvolution2D(2, 3, 1)) == "/W /b ");
  BOOST_TEST(paths_of(nn::ConvolutionND(1, 2, 3, 1)) == "/W ");
  BOOST_TEST(paths_of(nn::DepthwiseConvolution2D(2, 1, 1, {.nobias = true})) == "/W ");
  BOOST_TEST(paths_of(nn::MLPConvolution2D(2, {3, 4, 5}, 1)) == "/0/W /0/b /1/W /1/b /2/W /2/b ");
  BOOST_TEST(paths_of(nn::InceptionBN(2, 0, 1, 1, 1, 1, "max")) ==
             "/proj3/W /conv3/W /proj33/W /conv33a/W /conv33b/W /proj3n/gamma /proj3n/beta /conv3n/gamma /conv3n/beta "
             "/proj33n/gamma /proj33n/beta /conv33an/gamma /conv33an/beta /conv33bn/gamma /conv33bn/beta ");
}

BOOST_AUTO_TEST_CASE(errors) {
  const Variable x = images({2, 3, 6, 5});
  nn::Deconvolution2D back(4, 2, 3);
  BOOST_TEST(message_of<InvalidType>([&] { back(x); }).rfind("Deconvolution2D: x has 3 channels, W 4", 0) == 0u);
  nn::DepthwiseConvolution2D wise(4, 2, 3);
  BOOST_TEST(message_of<InvalidType>([&] { wise(x); }).rfind("DepthwiseConvolution2D: x has 3 channels, W 4", 0) == 0u);
  nn::ConvolutionND nd(2, 4, 2, 3);
  BOOST_TEST(message_of<InvalidType>([&] { nd(x); }).rfind("ConvolutionND: x has 3 channels, W 4", 0) == 0u);
  nn::DeconvolutionND nd_back(2, 4, 2, 3);
  BOOST_TEST(message_of<InvalidType>([&] { nd_back(x); }).rfind("DeconvolutionND: x has 3 channels, W 4", 0) == 0u);
  nn::Inception inception(4, 1, 1, 1, 1, 1, 1);
  BOOST_TEST(message_of<InvalidType>([&] { inception(x); }).rfind("/conv1: Convolution2D: x has 3 channels", 0) == 0u);
  nn::MLPConvolution2D mlp(4, {2, 2}, 3);
  BOOST_TEST(message_of<InvalidType>([&] { mlp(x); }).rfind("/0: Convolution2D: x has 3 channels, W 4", 0) == 0u);
  const Variable wide(spread({2, 4, 6, 5}));
  BOOST_TEST(has(message_of<InvalidType>([&] { back(wide); }), "x is float64, W float32: x.astype(float32)"));

  BOOST_TEST(message_of<ValueError>([] { nn::Convolution2D(4, 3, 3, {.groups = 2}); }) ==
             "Convolution2D: out_channels is 3, which 2 groups do not divide");
  BOOST_CHECK_THROW(nn::Convolution2D(3, 4, 3, {.groups = 2}), ValueError);
  BOOST_CHECK_THROW(nn::Convolution2D(4, 4, 3, {.groups = 0}), ValueError);
  BOOST_CHECK_THROW(nn::Deconvolution2D(4, 3, 3, {.groups = 2}), ValueError);
  BOOST_CHECK_THROW(nn::Deconvolution2D(3, 4, 3, {.groups = 2}), ValueError);
  BOOST_CHECK_THROW(nn::ConvolutionND(2, 3, 4, 3, {.groups = 2}), ValueError);
  BOOST_CHECK_THROW(nn::DeconvolutionND(2, 3, 4, 3, {.groups = 2}), ValueError);
  BOOST_CHECK_THROW(nn::ConvolutionND(0, 3, 4, 3), ValueError);
  BOOST_TEST(message_of<AssertionError>([] {
               nn::ConvolutionND(3, 3, 4, {3, 3});
             }) == "ConvolutionND: ksize (3, 3) needs one entry for each of 3 spatial axes");
  BOOST_CHECK_THROW(nn::ConvolutionND(3, 3, 4, 3, {.stride = {1, 1}}), AssertionError);
  BOOST_CHECK_THROW(nn::DeconvolutionND(3, 3, 4, 3, {.outsize = nn::Lengths{5, 5}}), AssertionError);
  BOOST_CHECK_THROW(nn::DeconvolutionND(1, 3, 4, {3, 3}), AssertionError);
  BOOST_TEST(message_of<catena::NotImplementedError>([] { nn::InceptionBN(3, 0, 1, 1, 1, 1, "min"); }) ==
             "InceptionBN: pooltype is \"min\"; it must be \"max\" or \"avg\"");
  BOOST_CHECK_THROW(nn::InceptionBN(3, 1, 1, 1, 1, 1, "max"), AssertionError);
  BOOST_CHECK_THROW(nn::InceptionBN(3, 1, 1, 1, 1, 1, "max", 1, 2), AssertionError);
  BOOST_CHECK_THROW(nn::MLPConvolution2D(3, std::vector<int>(), 3), AssertionError);
}

// Statistics move in training only; the option of a call goes before the link's, this before the thread's mode.
BOOST_AUTO_TEST_CASE(inception_bn_in_training_and_test) {
  const Variable x = images({2, 2, 4, 4});
  nn::InceptionBN link(2, 1, 1, 1, 1, 1, "avg", 1);
  const auto moved = [&](const auto&... flag) {
    const double before = values(link.conv1n->avg_var.array())[0];
    link(x, flag...);
    return values(link.conv1n->avg_var.array())[0] != before;
  };
  using Options = nn::InceptionBNCallOptions;
  BOOST_TEST(moved());
  BOOST_TEST(moved(Options{}));
  BOOST_TEST(!moved(true));  // test, as in the reference
  BOOST_TEST(moved(false));
  BOOST_TEST(!moved(Options{.test = true}));
  link.train = false;
  BOOST_TEST(!moved());
  BOOST_TEST(moved(Options{.test = false}));
  BOOST_TEST(moved(false));
  const auto testing = autograd::train_mode(false);
  link.train = true;
  BOOST_TEST(moved());
  BOOST_TEST(!moved(true));
  link.train.reset();
  BOOST_TEST(!moved());
  BOOST_TEST(moved(false));
}

// Convolutions and pooling agree about the size of the result.
BOOST_AUTO_TEST_CASE(inception_bn_that_halves_the_image) {
  for (const char* pooltype : {"max", "avg"})
    for (const std::int64_t size : {4, 5}) {
      nn::InceptionBN link(2, 0, 1, 2, 1, 3, pooltype, {.stride = 2});
      BOOST_TEST(link(images({2, 2, size, size})).shape() == Shape({2, 7, (size + 1) / 2, (size + 1) / 2}));
    }
}

BOOST_AUTO_TEST_CASE(a_small_network_in_every_pixel) {
  const Variable x = images({2, 3, 5, 4});
  nn::MLPConvolution2D mlp(3, {4, 5, 2}, {3, 2}, {2, 1}, {1, 0});
  mlp.activation = [](const Variable& v) { return nn::leaky_relu(v); };
  const auto child = [](nn::MLPConvolution2D& m, std::int64_t k) -> nn::Convolution2D& {
    return dynamic_cast<nn::Convolution2D&>(m[k]);
  };
  Variable y = nn::convolution_2d(x, child(mlp, 0).W, *child(mlp, 0).b, {2, 1}, {1, 0});
  for (const int k : {1, 2}) y = nn::convolution_2d(nn::leaky_relu(y), child(mlp, k).W, *child(mlp, k).b);
  check_same(mlp(x), y, "y");
  check_same(mlp.call({x}), y, "call");
  nn::MLPConvolution2D twin(mlp);
  child(mlp, 2).W.set_data(autograd::arrays::zeros(child(mlp, 2).W.shape()));
  check_same(twin(x), y, "a copy");
}

BOOST_AUTO_TEST_CASE(files) {
  const TemporaryFolder folder("convolution_links");
  const Variable x = images({1, 3, 6, 6});
  const auto check = [&](auto saved, auto loaded, const char* name) {
    const Variable before = saved(x);
    nn::serializers::save_npz(folder / name, saved);
    nn::serializers::load_npz(folder / name, loaded);
    check_same(loaded(x), before, name);
  };
  check(nn::DepthwiseConvolution2D(3, 2, 3), nn::DepthwiseConvolution2D(std::nullopt, 2, 3), "depthwise");
  check(nn::Deconvolution2D(3, 2, 3), nn::Deconvolution2D(2, 3), "deconvolution");
  check(nn::MLPConvolution2D(3, {4, 2}, 3), nn::MLPConvolution2D(std::nullopt, {4, 2}, 3), "mlp");
  check(nn::Inception(3, 1, 2, 2, 1, 2, 1), nn::Inception(std::nullopt, 1, 2, 2, 1, 2, 1), "inception");
}

BOOST_AUTO_TEST_SUITE_END()
