// Functions made of two callables over host arrays.
#include <catena/autograd/external_function.h>

#include <boost/test/unit_test.hpp>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/gradient_check.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>

using namespace autograd;
using test::spread;

namespace {

void check_values(const Array& a, const std::vector<double>& expected) {
  BOOST_REQUIRE(a);
  BOOST_TEST(to_vector<double>(a) == expected, boost::test_tools::per_element());
}

bool are_on_the_host(const Arrays& arrays) {
  for (const Array& a : arrays)
    if (a.device() != test::kCpu) return false;
  return default_backend().default_device() == test::kCpu;
}

// x0 x1 and x0 + x1, as a program would compute them that knows nothing of devices.
Arrays forward(const Arrays& x) {
  BOOST_TEST(are_on_the_host(x));
  return {x[0] * x[1], x[0] + x[1] + arrays::zeros(x[0].shape(), x[0].dtype())};
}
Arrays gradients(const Arrays& x, const Arrays& gy) {
  BOOST_TEST(are_on_the_host(x));
  BOOST_TEST(are_on_the_host(gy));
  BOOST_REQUIRE(gy.size() == 2u);
  return {gy[0] * x[1] + gy[1], gy[0] * x[0] + gy[1]};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(external_functions)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
  std::vector<Device> devices{test::default_device()};
  if (const auto other = test::other_device()) devices.push_back(*other);
  for (const Device device : devices) {
    Variable a(array<double>({1, 2, 3}, {3}, device)), b(array<double>({4, 5, 6}, {3}, device));
    const Variables ys = external_function(forward, gradients, a, b);
    BOOST_REQUIRE(ys.size() == 2u);
    BOOST_CHECK(ys[0].device() == device);
    BOOST_TEST(ys[0].creator()->label() == "ExternalFunction");
    check_values(ys[0].data(), {4, 10, 18});
    check_values(ys[1].data(), {5, 7, 9});
    sum(ys[0] * ys[1]).backward();
    BOOST_CHECK(a.grad().device() == device);
    check_values(a.grad(), {4 * 5 + 4, 5 * 7 + 10, 6 * 9 + 18});
    check_values(b.grad(), {1 * 5 + 4, 2 * 7 + 10, 3 * 9 + 18});
    // Without a gradient of one output, its gradient is zero.
    a.cleargrad();
    sum(external_function(forward, gradients, a, b)[1]).backward();
    check_values(a.grad(), {1, 1, 1});
  }
  BOOST_CHECK_NO_THROW(gradient_check::check_backward(
      [](const Variables& x) { return external_function(forward, gradients, x); }, {spread({4}), spread({4}, 1, 2, 1)},
      {spread({4}, -1, 1, 2), spread({4}, -1, 1, 3)}, {.eps = 1e-5}));
}

BOOST_AUTO_TEST_CASE(single_arrays_views_and_empty_ones) {
  const auto cube = [](const Arrays& x) { return x[0] * x[0] * x[0]; };
  const auto derivative = [](const Arrays& x, const Arrays& gy) { return x[0] * x[0] * 3 * gy[0]; };
  Variable x(transpose(array<float>({1, 2, 3, 4}, {2, 2})));
  const Variable y = external_function(cube, derivative, x);
  check_values(y.data(), {1, 27, 8, 64});
  sum(y).backward();
  check_values(x.grad(), {3, 27, 12, 48});
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{0, 3}}) {
    Variable v(arrays::ones(shape));
    sum(external_function(cube, derivative, v)).backward();
    BOOST_CHECK(v.grad().shape() == shape);
    check_values(v.grad(), std::vector<double>(std::size_t(v.size()), 3));
  }
}

BOOST_AUTO_TEST_CASE(dtypes_of_gradients) {
  // A gradient of another dtype is converted; integers have none.
  Variable x(array<float>({1, 2}, {2})), n(array<std::int32_t>({3, 4}, {2}));
  const Variable y = external_function([](const Arrays& v) { return v[0] * astype(v[1], Dtype::float32); },
                                       [](const Arrays& v, const Arrays& gy) {
                                         const Array g = astype(gy[0], Dtype::float64);
                                         return Arrays{g * astype(v[1], Dtype::float64), g};
                                       },
                                       x, n);
  sum(y).backward();
  BOOST_CHECK(x.grad().dtype() == Dtype::float32);
  check_values(x.grad(), {3, 4});
  BOOST_TEST(!n.grad());
  // No gradient at all.
  x.cleargrad();
  sum(external_function([](const Arrays& v) { return v[0] * 2; },
                        [](const Arrays&, const Arrays&) { return Arrays(1); }, x))
      .backward();
  BOOST_TEST(!x.grad());
}

BOOST_AUTO_TEST_CASE(errors) {
  Variable x(arrays::ones({2}));
  const auto twice = [](const Arrays& v) { return v[0] * 2; };
  const auto message_of = [&](const auto& f, const auto& b) {
    try {
      sum(Variable(external_function(f, b, x))).backward();
    } catch (const catena::Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  const auto none = [](const Arrays&, const Arrays&) { return Arrays(2); };
  BOOST_TEST(message_of(twice, none) == "ExternalFunction: backward returned 2 gradients for 1 inputs");
  BOOST_TEST(message_of([](const Arrays&) { return Arrays(1); }, none) ==
             "ExternalFunction: forward returned a null array");
  BOOST_TEST(message_of([](const Arrays&) { return Arrays(); }, none) == "ExternalFunction: forward returned no array");
  const auto wrong_shape = [](const Arrays&, const Arrays&) { return arrays::ones({3}); };
  BOOST_TEST(message_of(twice, wrong_shape).find("Shape of data and grad mismatch\n(2,) != (3,)") != std::string::npos);
  const auto same = [](const Arrays&, const Arrays& gy) { return gy[0] * 2; };
  const Variable y = external_function(twice, same, x);
  Variable g = grad({y}, {x}, {arrays::ones({2})}, true)[0];
  BOOST_CHECK_THROW(sum(g).backward(), catena::NotImplementedError);
}

BOOST_AUTO_TEST_SUITE_END()
