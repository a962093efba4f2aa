// Special functions: derivatives, limits, PyTorch's values.
#include <catena/autograd/functions/special.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::spread;

namespace {

struct One {
  const char* name;
  Variable (*function)(const Variable&);
  double low, high;  // where it is tested
};
const One kOne[] = {
    {"erf", erf, -2, 2},        {"erfc", erfc, -2, 2},           {"erfinv", erfinv, -0.8, 0.8},
    {"ndtr", ndtr, -3, 2},      {"log_ndtr", log_ndtr, -4, 2},   {"ndtri", ndtri, 0.1, 0.9},
    {"lgamma", lgamma, 0.5, 4}, {"digamma", digamma, 0.5, 4},    {"logit", logit, 0.1, 0.9},
    {"expit", expit, -3, 3},    {"log_expit", log_expit, -3, 3}, {"sinc", sinc, -1.4, 1.4},
    {"entr", entr, 0.2, 2},     {"arccosh", arccosh, 1.5, 3},    {"arctanh", arctanh, -0.8, 0.8},
    {"exp2", exp2, -2, 2},      {"cbrt", cbrt, 0.5, 3},
};
struct Two {
  const char* name;
  Variable (*function)(const Variable&, const Variable&);
};
const Two kTwo[] = {{"arctan2", arctan2},       {"hypot", hypot}, {"logaddexp", logaddexp},
                    {"logaddexp2", logaddexp2}, {"xlogy", xlogy}, {"xlog1py", xlog1py}};

double gradient(Variable (*function)(const Variable&), double at) {
  Variable x(arrays::full({}, at, Dtype::float64));
  function(x).backward();
  return item(x.grad()).to<double>();
}

// The rules are the same on every device, so others than the CPU check fewer dtypes and derivatives.
bool on_cpu() { return test::default_device().kind == Device::Kind::cpu; }

}  // namespace

BOOST_AUTO_TEST_SUITE(special_functions)

BOOST_AUTO_TEST_CASE(derivatives) {
  const test::DerivativeOptions o{
      .twice = on_cpu(), .atol32 = 1e-4, .rtol32 = 1e-3, .atol16 = 1e-2, .rtol16 = 3e-2, .narrow = on_cpu()};
  for (const One& row : kOne)
    for (const Shape& shape : {Shape{5}, Shape{}, Shape{0, 2}})
      test::check_derivatives(
          row.name, [&](const Variables& v) { return Variables{row.function(v[0])}; },
          {spread(shape, row.low, row.high)}, o);
  for (const Two& row : kTwo)
    test::check_derivatives(
        row.name, [&](const Variables& v) { return Variables{row.function(v[0], v[1])}; },
        {spread({2, 3}, 0.5, 2), spread({3}, 0.5, 2, 3)}, o);
  for (const int n : {0, 1, 3})
    test::check_derivatives(
        "polygamma", [&](const Variables& v) { return Variables{polygamma(n, v[0])}; }, {spread({4}, 1, 3)}, o);
  test::check_derivatives("sinc near 0", [](const Variables& v) { return Variables{sinc(v[0])}; },
                          {array<double>({0, 1e-9, -1e-3, 0.24, 0.26}, {5})}, {.narrow = false});
  test::check_derivatives("digamma below 0", [](const Variables& v) { return Variables{digamma(v[0])}; },
                          {array<double>({-0.4, -1.6, -2.5}, {3})}, {.atol = 1e-4, .narrow = false});
}

BOOST_AUTO_TEST_CASE(ends_of_their_ranges) {
  const double inf = std::numeric_limits<double>::infinity();
  // Far below 0 the logarithm of the normal distribution is about -x^2 / 2, its derivative about -x.
  BOOST_TEST(std::fabs(double(log_ndtr(Variable(arrays::full({}, -100.0, Dtype::float64)))) - -5005.524208694205) <
             1e-11);
  BOOST_TEST(std::fabs(gradient(log_ndtr, -100) - 100.00999800099926) < 1e-8);
  BOOST_TEST(gradient(log_ndtr, 50) == 0);
  BOOST_TEST(gradient(erfc, 40) == 0);
  BOOST_TEST(gradient(erf, inf) == 0);
  BOOST_TEST(std::isinf(gradient(cbrt, 0)));
  BOOST_TEST(gradient(sinc, 0) == 0);
  // The gradients of 0 log(y), also for y = 0.
  Variable x(arrays::zeros({2}, Dtype::float64)), y(array<double>({2, 0}, {2}));
  Variable z = xlogy(x, y);
  z.set_grad(ones_like(z.data()));
  z.backward();
  BOOST_TEST(to_vector<double>(x.grad()) == (std::vector<double>{std::log(2.0), 0}), boost::test_tools::per_element());
  BOOST_TEST(to_vector<double>(y.grad()) == (std::vector<double>{0, 0}), boost::test_tools::per_element());
  Variable origin(arrays::zeros({}, Dtype::float64));
  hypot(origin, Variable(arrays::zeros({}, Dtype::float64))).backward();
  BOOST_TEST(item(origin.grad()).to<double>() == 0);
  BOOST_CHECK_EXCEPTION(polygamma(-1, x), catena::ValueError, [](const catena::Error& e) {
    return std::string(e.what()) == "polygamma: the order -1 is negative";
  });
  BOOST_TEST(item(erf(Variable(arrays::ones({}, Dtype::int32))).data()).to<double>() == std::erf(1.0),
             boost::test_tools::tolerance(1e-6));
  BOOST_CHECK_THROW(xlogy(Variable(arrays::ones({2})), Variable(arrays::ones({3}))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(golden_values) {
  test::GoldenFunctions f;
  for (const One& row : kOne)
    f[row.name] = [row](const test::GoldenCall& c) { return Variables{row.function(c.x(0))}; };
  for (const Two& row : kTwo)
    f[row.name] = [row](const test::GoldenCall& c) { return Variables{row.function(c.x(0), c.x(1))}; };
  f["polygamma"] = [](const test::GoldenCall& c) { return Variables{polygamma(c.integer("n", 0), c.x(0))}; };
  // At x = 0 the second derivative of x log(y) is not that of a neighbourhood.
  test::run_golden("torch_special", f, {.once_only = {"xlogy", "xlog1py"}});
}

BOOST_AUTO_TEST_SUITE_END()
