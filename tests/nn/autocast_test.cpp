// autocast: which functions compute in which dtype, how often a parameter is converted, and what its gradient is.
#include <catena/autograd/autocast.h>

#include <boost/test/unit_test.hpp>
#include <map>

#include <catena/autograd/forget.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/hooks.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/connection.h>
#include <catena/nn/functions/loss.h>
#include <catena/nn/functions/normalization.h>
#include <catena/nn/links/batch_normalization.h>
#include <catena/nn/links/convolution_2d.h>
#include <catena/nn/links/linear.h>
#include <catena/nn/links/n_step.h>
#include <catena/tests/support/message_of.h>

using namespace autograd;

namespace {

constexpr Dtype kHalf = Dtype::float16, kBrain = Dtype::bfloat16, kSingle = Dtype::float32;

Variable pattern(const Shape& shape, Dtype dtype = kSingle) {
  std::vector<double> v;
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(double((7 * i + 3) % 11 - 5) / 8);
  return Variable(astype(array<double>(v, shape), dtype));
}

// Counts the functions by label.
struct Counter final : FunctionHook {
  std::map<std::string, int> calls;
  std::string name() const override { return "counter"; }
  void forward_preprocess(const FunctionNode& f, const Arrays&) override { ++calls[f.label()]; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(autocast_scopes)

BOOST_AUTO_TEST_CASE(functions_compute_in_the_dtype_of_their_policy) {
  const Variable x = pattern({4, 3}), W = pattern({2, 3}), b = pattern({2}), image = pattern({2, 3, 5, 5}),
                 filter = pattern({4, 3, 3, 3});
  const Variable t(array<std::int32_t>({1, 0, 1, 1}, {4}));
  for (const Dtype dtype : {kHalf, kBrain}) {
    const auto scope = autocast(dtype);
    BOOST_TEST((autocast_dtype() == dtype));
    const Variable y = nn::linear(x, W, b);
    BOOST_TEST(y.dtype() == dtype);
    BOOST_TEST(matmul(x, transpose(x)).dtype() == dtype);
    BOOST_TEST(nn::convolution_2d(image, filter).dtype() == dtype);
    BOOST_TEST(nn::deconvolution_2d(nn::convolution_2d(image, filter), filter).dtype() == dtype);
    BOOST_TEST(nn::relu(y).dtype() == dtype);  // in no list: the dtype of its input
    BOOST_TEST((y * 2).dtype() == dtype);
    BOOST_TEST((y + b).dtype() == kSingle);  // of different inputs: the wider one
    BOOST_TEST(concat({y, cast(y, kSingle)}, 0).dtype() == kSingle);
    for (const Variable& wide : {exp(y), log(y), square(y), pow(y, 2), sum(y), mean(y), logsumexp(y), nn::softmax(y),
                                 nn::softmax_cross_entropy(y, t), nn::mean_squared_error(y, pattern({4, 2})),
                                 nn::sigmoid_cross_entropy(y, Variable(arrays::zeros({4, 2}, Dtype::int32))),
                                 nn::huber_loss(y, pattern({4, 2}), 1.0), nn::gaussian_kl_divergence(y, b + y),
                                 nn::mean_absolute_error(y, pattern({4, 2}))})
      BOOST_TEST(wide.dtype() == kSingle);
    BOOST_TEST(cast(y, Dtype::float64).dtype() == Dtype::float64);
    BOOST_TEST(nn::linear(cast(x, Dtype::float64), cast(W, Dtype::float64)).dtype() == Dtype::float64);
  }
  BOOST_TEST(nn::linear(x, W, b).dtype() == kSingle);
  BOOST_TEST(!autocast_dtype().has_value());
}

BOOST_AUTO_TEST_CASE(scopes_nest_and_can_be_turned_off) {
  const Variable x = pattern({4, 3}), W = pattern({2, 3});
  const auto outer = autocast(kBrain);
  {
    const auto off = autocast(kBrain, false);
    BOOST_TEST(nn::linear(x, W).dtype() == kSingle);
    const auto inner = autocast(kHalf);
    BOOST_TEST(nn::linear(x, W).dtype() == kHalf);
  }
  BOOST_TEST(nn::linear(x, W).dtype() == kBrain);
  BOOST_TEST(test::message_of<catena::ValueError>([] { static_cast<void>(autocast(Dtype::float64)); }) ==
             "autocast: the dtype is float64; it must be float16 or bfloat16 (enabled = false turns the conversions "
             "off)");
  BOOST_TEST((autocast_dtype() == kBrain));
}

BOOST_AUTO_TEST_CASE(a_parameter_is_converted_once_and_has_a_float32_gradient) {
  nn::Linear link(3, 3);
  const Variable x = pattern({4, 3});
  Counter counter;
  const HookScope hooked(counter);
  const auto scope = autocast(kBrain);
  Variable h = x;
  for (int i = 0; i < 10; ++i) {
    const auto inner = autocast(kBrain);  // the outermost scope has the conversions
    h = link(h);
  }
  BOOST_TEST(counter.calls["Cast"] == 3);  // W, b and x
  sum(h).backward();
  BOOST_TEST(link.W.grad().dtype() == kSingle);
  // After a change of its values, or for a graph after a pass without one, it is converted anew.
  counter.calls.clear();
  fill(link.W.data(), 0.5);
  h = link(x);
  BOOST_TEST(counter.calls["Cast"] == 2);  // W and x
  BOOST_TEST(to_vector<double>(sum(h - *link.b, 1).data())[0] == 1.5 * to_vector<double>(sum(x, 1).data())[0]);
  nn::Linear other(3, 2);
  {
    const auto off = no_backprop_mode();
    other(x);
  }
  sum(other(x)).backward();
  BOOST_TEST(other.W.grad().dtype() == kSingle);
  h.unchain_backward();
  link.cleargrads();
  sum(link(x)).backward();
  BOOST_TEST(bool(link.W.grad()));
}

BOOST_AUTO_TEST_CASE(gradients_are_those_of_the_conversions_written_out) {
  const Variable W = pattern({2, 3}), x = pattern({4, 3});
  Variable loss;
  {
    const auto scope = autocast(kBrain);
    loss = sum(square(nn::linear(x, W)));
  }
  loss.backward();
  const Variable W2(copy(W.data())), x2(copy(x.data()));
  const Variable y = nn::linear(cast(x2, kBrain), cast(W2, kBrain));
  sum(square(cast(y, kSingle))).backward();
  BOOST_TEST(to_vector<float>(W.grad()) == to_vector<float>(W2.grad()), boost::test_tools::per_element());
  BOOST_TEST(to_vector<float>(x.grad()) == to_vector<float>(x2.grad()), boost::test_tools::per_element());
  // Twice differentiable, inside of the scope as well.
  const auto scope = autocast(kBrain);
  const Variable g = grad({sum(square(nn::linear(x, W)))}, {x}, {}, true)[0];
  BOOST_TEST(g.dtype() == kSingle);
  BOOST_TEST(grad({sum(g)}, {W})[0].dtype() == kSingle);
}

BOOST_AUTO_TEST_CASE(forget_recomputes_in_the_same_dtypes) {
  nn::Linear link(3, 3);
  const Variable x = pattern({4, 3}), plain = pattern({4, 3});
  const auto f = [&](const Variable& v) { return nn::relu(link(nn::relu(link(v)))); };
  Variable y;
  {
    const auto scope = autocast(kHalf);
    y = sum(forget(f, x));
  }
  y.backward();
  const std::vector<float> forgotten = to_vector<float>(link.W.grad());
  link.cleargrads();
  {
    const auto scope = autocast(kHalf);
    sum(f(plain)).backward();
  }
  BOOST_TEST(to_vector<float>(link.W.grad()) == forgotten, boost::test_tools::per_element());
  BOOST_TEST(to_vector<float>(x.grad()) == to_vector<float>(plain.grad()), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(links_with_states_and_statistics) {
  const auto scope = autocast(kBrain);
  nn::BatchNormalization bn(4);
  nn::Convolution2D conv(3, 4, 3);
  const Variable y = bn(conv(pattern({2, 3, 5, 5})));
  BOOST_TEST(y.dtype() == kBrain);
  BOOST_TEST(bn.avg_mean.array().dtype() == kSingle);
  sum(y * y).backward();
  BOOST_TEST(bn.gamma->grad().dtype() == kSingle);
  BOOST_TEST(conv.W.grad().dtype() == kSingle);
  nn::NStepLSTM lstm(1, 3, 2, 0.0);
  const auto [hy, cy, ys] = lstm(Variable(), Variable(), {pattern({4, 3}), pattern({2, 3})});
  BOOST_TEST(ys[0].dtype() == kBrain);
  BOOST_TEST(nn::layer_normalization(pattern({4, 3}, kBrain), pattern({3}), pattern({3})).dtype() == kSingle);
}

BOOST_AUTO_TEST_SUITE_END()
