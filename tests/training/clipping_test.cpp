// Gradient clipping without an optimizer: the values of PyTorch, norms that are not finite, gradients that are left
// out.
#include <catena/nn/clipping.h>

#include <cmath>
#include <limits>

#include <catena/autograd/capture.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using Doubles = std::vector<double>;
using json = test::Json;

namespace {

const auto each = boost::test_tools::per_element();

struct Params : nn::Link {
  nn::Parameter W, b, s;
  NN_MEMBERS(W, b, s)
};
Params with_grads(const Doubles& W, const Doubles& b, Dtype dtype = Dtype::float64) {
  Params p;
  const auto give = [&](nn::Parameter& to, const Doubles& g) {
    const Shape shape{std::int64_t(g.size())};
    to = nn::Parameter(autograd::arrays::zeros(shape, dtype));
    to.set_grad(autograd::astype(autograd::array(g, shape), dtype));
  };
  give(p.W, W);
  give(p.b, b);
  return p;
}
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

BOOST_AUTO_TEST_SUITE(clipping)

BOOST_AUTO_TEST_CASE(values_of_pytorch) {
  const auto golden = Golden::open("torch_clipping");
  golden.for_each([&](const json& c) -> std::string {
    Params params = with_grads(c["grads"]["W"].get<Doubles>(), c["grads"]["b"].get<Doubles>());
    params.s = nn::Parameter(autograd::arrays::zeros({}, Dtype::float64));
    params.s.set_grad(autograd::arrays::full({}, c["grads"]["s"][0].get<double>(), Dtype::float64));
    const double limit = c["limit"].get<double>();
    if (c["function"] == "clip_grad_value") {
      nn::clip_grad_value(params, limit);
    } else {
      const double type = c["norm_type"].is_string() ? kInfinity : c["norm_type"].get<double>();
      const double norm = nn::clip_grad_norm(params, limit, {.norm_type = type});
      BOOST_TEST(norm == c["norm"].get<double>(), boost::test_tools::tolerance(1e-12));
    }
    for (const nn::NamedParam& p : params.namedparams()) {
      const Doubles actual = values(p.param.grad()), wanted = c["clipped"][p.path.substr(1)].get<Doubles>();
      BOOST_REQUIRE(actual.size() == wanted.size());
      for (std::size_t i = 0; i < actual.size(); ++i) BOOST_TEST(std::fabs(actual[i] - wanted[i]) < 1e-12);
    }
    return {};
  });
}

BOOST_AUTO_TEST_CASE(each_parameter_by_itself) {
  Params p = with_grads({3, 4}, {0.3, 0.4});
  BOOST_TEST(nn::clip_grad_norm_each(p, 1) == 5);
  BOOST_TEST(values(p.W.grad())[0] == 3 / (5 + 1e-6), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(values(p.b.grad()) == (Doubles{0.3, 0.4}), each);
  Params q = with_grads({3, -4}, {1, 1});
  BOOST_TEST(nn::clip_grad_norm_each({q.W}, 2, {.norm_type = kInfinity}) == 4);
  BOOST_TEST(values(q.W.grad())[1] == -2, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(dtypes_and_lists) {
  // The norm 500 is in the range of float16, its square is not.
  for (const Dtype t : {Dtype::float16, Dtype::bfloat16, Dtype::float32}) {
    Params p = with_grads({300, 400}, {0, 0}, t);
    BOOST_TEST(nn::clip_grad_norm(p.params(), 5) == 500);
    BOOST_TEST((p.W.grad().dtype() == t));
    BOOST_TEST(values(autograd::astype(p.W.grad(), Dtype::float32))[1] == 4, boost::test_tools::tolerance(1e-2));
    nn::clip_grad_value(p.params(), 3.5);
    BOOST_TEST((p.W.grad().dtype() == t));
    BOOST_TEST(values(autograd::astype(p.W.grad(), Dtype::float32))[1] == 3.5);
  }
  // PyTorch's names.
  Params torch = with_grads({3, 4}, {0, 0});
  BOOST_TEST(nn::utils::clip_grad_norm_(torch.parameters(), 1, {.norm_type = 1}) == 7);
  BOOST_TEST(values(torch.W.grad())[0] == 3.0 / 7, boost::test_tools::tolerance(1e-6));
  nn::utils::clip_grad_value_(torch, 0.5);
  BOOST_TEST(values(torch.W.grad())[1] == 0.5);
  // Of two parameters with one gradient, each gets its own.
  Params p = with_grads({3, 4}, {3, 4});
  p.b.set_grad(p.W.grad());
  BOOST_TEST(nn::clip_grad_norm({p.W}, 1) == 5);
  BOOST_TEST(values(p.b.grad()) == (Doubles{3, 4}), each);
  // Transposed.
  Params q;
  q.W = nn::Parameter(autograd::arrays::zeros({2, 2}, Dtype::float64));
  q.W.set_grad(autograd::transpose(autograd::array<double>({1, 2, 2, 4}, {2, 2})));
  BOOST_TEST(nn::clip_grad_norm(q, 1) == 5);
  BOOST_TEST(autograd::item(nn::grads_norm(q)).to_double() == 1, boost::test_tools::tolerance(1e-5));
}

BOOST_AUTO_TEST_CASE(what_is_left_out) {
  Params none;
  BOOST_TEST(nn::clip_grad_norm(none, 1) == 0);
  BOOST_TEST(autograd::item(nn::grads_norm(none)).to_double() == 0);
  nn::clip_grad_value(none, 1);
  Params p = with_grads({3, 4}, {});
  p.s = nn::Parameter(floats({1}, {1}));  // without a gradient
  BOOST_TEST(nn::clip_grad_norm(p, 10) == 5);
  BOOST_TEST(nn::clip_grad_norm(p, 10, {.norm_type = kInfinity}) == 4);
  BOOST_TEST(!bool(p.s.grad()));
  p.W.set_requires_grad(false);
  BOOST_TEST(nn::clip_grad_norm(p, 1) == 0);
  BOOST_TEST(values(p.W.grad()) == (Doubles{3, 4}), each);
}

BOOST_AUTO_TEST_CASE(norms_that_are_not_finite) {
  for (const double bad : {kInfinity, std::nan("")}) {
    Params p = with_grads({3, bad}, {1});
    BOOST_TEST(!std::isfinite(nn::clip_grad_norm(p, 1, {.non_finite = nn::NonFinite::skip})));
    BOOST_TEST(values(p.W.grad())[0] == 3);
    const std::string message =
        message_of<catena::ValueError>([&] { nn::clip_grad_norm(p, 1, {.non_finite = nn::NonFinite::error}); });
    BOOST_TEST(has(message, "clip_grad_norm: the norm of the gradient of parameter 0"), message);
    BOOST_TEST(values(p.b.grad())[0] == 1);
    BOOST_TEST(!std::isfinite(nn::clip_grad_norm_each(p, 0.5, {.non_finite = nn::NonFinite::skip})));
    BOOST_TEST(values(p.b.grad())[0] == 0.5, boost::test_tools::tolerance(1e-5));
    nn::clip_grad_norm(p, 1);  // as PyTorch: infinity gives 0 and NaN, NaN gives NaN
    if (std::isnan(bad)) BOOST_TEST(std::isnan(values(p.W.grad())[0]));
    else BOOST_TEST(values(p.W.grad())[0] == 0);
    BOOST_TEST(std::isnan(values(p.W.grad())[1]));
  }
}

BOOST_AUTO_TEST_CASE(a_gradient_that_is_not_finite_after_a_frozen_one) {
  Params p = with_grads({3, 4}, {kInfinity});
  p.W.set_requires_grad(false);
  const std::string message =
      message_of<catena::ValueError>([&] { nn::clip_grad_norm(p, 1, {.non_finite = nn::NonFinite::error}); });
  BOOST_TEST(has(message, "clip_grad_norm: the norm of the gradient of parameter 0"), message);
  BOOST_TEST(has(message, " is inf (frozen ones and those without a gradient do not count)"), message);
}

BOOST_AUTO_TEST_CASE(errors) {
  Params p = with_grads({3, 4}, {1});
  BOOST_CHECK_THROW(nn::clip_grad_norm(p, -1), catena::ValueError);
  BOOST_CHECK_THROW(nn::clip_grad_norm(p, std::nan("")), catena::ValueError);
  BOOST_CHECK_THROW(nn::clip_grad_norm(p, 1, {.norm_type = 0}), catena::ValueError);
  BOOST_CHECK_THROW(nn::clip_grad_norm_each(p, -1), catena::ValueError);
  BOOST_CHECK_THROW(nn::clip_grad_value(p, -1), catena::ValueError);
  BOOST_TEST(values(p.W.grad()) == (Doubles{3, 4}), each);
}

// On a device with graphs it waits for the device, which captured work may not; on the CPU a capture is a call.
BOOST_AUTO_TEST_CASE(in_captured_work) {
  Params p = with_grads({3, 4}, {1});
  bool capturing = false;
  std::string message;
  try {
    autograd::CapturedWork work([&] {
      capturing = autograd::is_capturing();
      nn::clip_grad_norm(p, 1);
    });
  } catch (const catena::RuntimeError& e) {
    message = e.what();
  }
  BOOST_TEST(has(message, "add the hook GradientClipping to the optimizer") == capturing, message);
}

BOOST_AUTO_TEST_SUITE_END()
