// Activation functions that Chainer lacks, beside PyTorch.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/links/linear.h>
#include <catena/nn/sequential.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::spread;

namespace {

struct Function {
  const char* name;
  Variable (*function)(const Variable&);
  bool one_node = true;  // label and errors are those of one kernel
};

const Function kFunctions[] = {
    {"GELU", [](const Variable& x) { return nn::gelu(x); }},
    {"GELU", [](const Variable& x) { return nn::gelu(x, "tanh"); }},
    {"SiLU", nn::silu},
    {"Mish", nn::mish},
    {"LogSigmoid", nn::log_sigmoid},
    {"SELU", [](const Variable& x) { return nn::selu(x); }},
    {"SELU", [](const Variable& x) { return nn::selu(x, {.alpha = 0.7, .scale = 1.3}); }},
    {"HardSwish", nn::hard_swish},
    {"ClippedReLU", nn::relu6},
    {"swish of a number", [](const Variable& x) { return nn::swish(x, 1.5); }, false},
    {"softsign", nn::softsign, false},
    {"tanhshrink", nn::tanhshrink, false},
    {"softshrink", [](const Variable& x) { return nn::softshrink(x, 0.3); }, false},
    {"hardshrink", [](const Variable& x) { return nn::hardshrink(x, 0.3); }, false},
    {"hardtanh", [](const Variable& x) { return nn::hardtanh(x, -1.5, 0.3); }, false},
    {"threshold", [](const Variable& x) { return nn::threshold(x, 0.3, 2); }, false},
    {"celu", [](const Variable& x) { return nn::celu(x, 0.6); }, false},
};

// The functions that convert integers, as those of autograd do.
const std::set<std::string_view> kConverting = {"GELU", "SiLU", "Mish", "HardSwish"};

// Values away from the kinks of all functions.
Array values(const Shape& shape) {
  std::vector<double> v = to_vector<double>(spread(shape, -4, 4));
  for (double& x : v)
    for (const double kink : {0.0, 0.3, -0.3, -1.5, 3.0, -3.0})
      if (std::fabs(x - kink) < 0.02) x += 0.05;
  return array(v, shape);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_activation)

BOOST_AUTO_TEST_CASE(derivatives_and_narrow_dtypes) {
  for (const Function& f : kFunctions)
    for (const Shape& shape : {Shape{3, 5}, Shape{}, Shape{0, 3}}) BOOST_TEST_CONTEXT(f.name << shape) {
        // On a GPU every dtype and rank is a compilation; compositions use kernels that other suites test there.
        if (test::default_device().kind != Device::Kind::cpu && (!f.one_node || shape.size() != 2)) continue;
        test::check_derivatives(f.name, [&](const Variables& v) { return Variables{f.function(v[0])}; },
                                {values(shape)}, {.atol16 = 2e-3});
        const Variable whole(arrays::zeros(shape, Dtype::int32));
        if (kConverting.contains(f.name)) BOOST_CHECK(f.function(whole).dtype() == Dtype::float32);
        else if (f.one_node) BOOST_CHECK_THROW(f.function(whole), catena::InvalidType);
        if (f.one_node) BOOST_TEST(f.function(Variable(arrays::ones({2}))).creator()->label() == f.name);
      }
}

// Far from 0 on both sides: no derivative of first or second order is NaN or infinite.
BOOST_AUTO_TEST_CASE(derivatives_far_from_zero_are_finite) {
  for (const Function& f : kFunctions)
    for (const double at : {0.0, 80.0, -80.0, 1e4, -1e4, 1e25, -1e25, 1e38, -1e38})
      BOOST_TEST_CONTEXT(f.name << " at " << at) {
        Variable x(array<float>({float(at)}, {1}));
        Variable y = f.function(x);
        y.backward({.enable_double_backprop = true});
        BOOST_TEST(std::isfinite(to_vector<double>(y.data())[0]));
        BOOST_TEST(std::isfinite(to_vector<double>(x.grad())[0]));
        Variable g = x.grad_variable();
        x.cleargrad();
        g.backward();
        if (x.grad()) BOOST_TEST(std::isfinite(to_vector<double>(x.grad())[0]));
      }
}

BOOST_AUTO_TEST_CASE(not_a_number_passes) {
  for (const Function& f : kFunctions)
    BOOST_TEST(std::isnan(to_vector<float>(f.function(Variable(array<float>({NAN}, {1}))).data())[0]), f.name);
}

// The kernels beside the rules on Variables, which a second derivative uses.
BOOST_AUTO_TEST_CASE(fused_gradients_are_those_of_the_rules) {
  for (const Function& f : kFunctions) BOOST_TEST_CONTEXT(f.name) {
      const auto gradient = [&](bool twice) {
        Variable x(astype(values({4, 5}), Dtype::float32));
        Variable y = f.function(x);
        y.set_grad(astype(spread({4, 5}, -1, 1, 3), Dtype::float32));
        y.backward({.enable_double_backprop = twice});
        return x.grad();
      };
      BOOST_CHECK_NO_THROW(testing::assert_allclose(gradient(false), gradient(true), 1e-6, 1e-5));
    }
}

BOOST_AUTO_TEST_CASE(golden_values_of_pytorch) {
  using Call = const test::GoldenCall&;
  const auto one = [](Variable (*f)(const Variable&)) { return [f](Call c) { return Variables{f(c.x(0))}; }; };
  test::run_golden(
      "torch_activation",
      {{"gelu", [](Call c) { return Variables{nn::gelu(c.x(0), {.approximate = c.text("approximate", "none")})}; }},
       {"silu", one(nn::silu)},
       {"mish", one(nn::mish)},
       {"log_sigmoid", one(nn::log_sigmoid)},
       {"relu6", one(nn::relu6)},
       {"hard_swish", one(nn::hardswish)},
       {"softsign", one(nn::softsign)},
       {"tanhshrink", one(nn::tanhshrink)},
       {"selu", [](Call c) { return Variables{nn::selu(c.x(0))}; }},
       {"softplus", [](Call c) { return Variables{nn::softplus(c.x(0), c.number("beta", 1))}; }},
       {"glu",
        [](Call c) {
          const std::string gate = c.text("gate", "sigmoid");
          return Variables{nn::glu(c.x(0), {.axis = int(c.integer("axis", -1)), .gate = gate})};
        }},
       {"swish", [](Call c) { return Variables{nn::swish(c.x("x"), c.x("beta"))}; }},
       {"hardtanh",
        [](Call c) { return Variables{nn::hardtanh(c.x(0), c.number("min_val", -1), c.number("max_val", 1))}; }},
       {"softshrink", [](Call c) { return Variables{nn::softshrink(c.x(0), c.number("lambd", 0.5))}; }},
       {"hardshrink", [](Call c) { return Variables{nn::hardshrink(c.x(0), c.number("lambd", 0.5))}; }},
       {"threshold",
        [](Call c) { return Variables{nn::threshold(c.x(0), c.number("threshold", 0), c.number("value", 0))}; }},
       {"celu", [](Call c) { return Variables{nn::celu(c.x(0), c.number("alpha", 1))}; }},
       {"softmin", [](Call c) { return Variables{nn::softmin(c.x(0), int(c.integer("axis", 1)))}; }}},
      {.once_only = {"mish", "hard_swish", "relu6", "selu", "celu", "softshrink", "hardshrink", "hardtanh"}});
}

BOOST_AUTO_TEST_CASE(gated_halves_and_their_errors) {
  for (const char* gate : {"sigmoid", "silu", "gelu"})
    for (const Shape& shape : {Shape{2, 6}, Shape{4}, Shape{2, 0}, Shape{2, 4, 3}})
      test::check_derivatives(
          gate, [&](const Variables& v) { return Variables{nn::glu(v[0], shape.size() == 3 ? 1 : -1, gate)}; },
          {spread(shape, -2, 2)}, {.atol16 = 2e-3});
  const Variable x(arrays::ones({2, 3}));
  BOOST_CHECK_EXCEPTION(nn::glu(x), catena::InvalidType, [](const catena::Error& e) {
    return std::string(e.what()) ==
           "Invalid operation is performed in: GLU (Forward)\n\nExpect: x.shape[-1] % 2 == 0\n"
           "Actual: 1 != 0";
  });
  BOOST_CHECK_THROW(nn::glu(x, 2), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(nn::glu(x, {.gate = "tanh"}), catena::ValueError, [](const catena::Error& e) {
    return e.what() == std::string("glu: gate is \"tanh\"; it must be \"sigmoid\", \"silu\" or \"gelu\"");
  });
  BOOST_CHECK_EXCEPTION(nn::gelu(x, "erf"), catena::ValueError, [](const catena::Error& e) {
    return e.what() == std::string("gelu: approximate is \"erf\"; it must be \"none\" or \"tanh\"");
  });
  BOOST_CHECK_THROW(nn::softshrink(x, -1), catena::ValueError);
  BOOST_CHECK_THROW(nn::hardshrink(x, -1), catena::ValueError);
  BOOST_CHECK_THROW(nn::celu(x, 0), catena::ValueError);
  BOOST_CHECK_THROW(nn::hardtanh(x, 1, 1), catena::AssertionError);
  BOOST_CHECK_NO_THROW(testing::assert_allclose(nn::softshrink(x, 0).data(), x.data(), 0, 0));
}

BOOST_AUTO_TEST_CASE(swish_with_a_parameter) {
  for (const Shape& shape : {Shape{}, Shape{3}, Shape{3, 4}})
    test::check_derivatives("swish", [](const Variables& v) { return Variables{nn::swish(v[0], v[1])}; },
                            {spread({2, 3, 4}, -2, 2), spread(shape, 0.5, 1.5, 3)}, {.atol16 = 5e-3});
  const Variable x(arrays::ones({2, 3}));
  BOOST_CHECK_EXCEPTION(nn::swish(x, Variable(arrays::ones({2}))), catena::InvalidType, [](const catena::Error& e) {
    return std::string(e.what()).find("Expect: x.shape[1] == beta.shape[0]\nActual: 3 != 2") != std::string::npos;
  });
  BOOST_CHECK_NO_THROW(testing::assert_allclose(nn::swish(x).data(), nn::silu(x).data(), 0, 0));
}

BOOST_AUTO_TEST_CASE(activations_as_parts_of_a_sequence) {
  nn::Sequential net(nn::Linear(3, 4), nn::gelu, nn::silu, nn::selu, nn::mish, nn::glu, nn::hardswish);
  BOOST_CHECK(net(Variable(arrays::ones({2, 3}))).shape() == (Shape{2, 2}));
}

BOOST_AUTO_TEST_SUITE_END()
