// Parameters: pending and initialised, copies, devices.
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using nn::Parameter;

BOOST_AUTO_TEST_SUITE(parameters)

BOOST_AUTO_TEST_CASE(pending_until_initialize) {
  Parameter p(nn::initializers::Constant(2.5));
  BOOST_TEST(!p.is_initialized());
  BOOST_TEST(!bool(p.data()));
  BOOST_TEST(!bool(p.grad()));
  const Variable handle = p;  // stays valid
  p.initialize({2, 3});
  BOOST_TEST(p.is_initialized());
  BOOST_TEST(handle.is_same(p));
  BOOST_TEST(handle.shape() == Shape({2, 3}));
  BOOST_TEST((p.dtype() == Dtype::float32));
  BOOST_TEST((p.volatile_flag() == autograd::AUTO));
  BOOST_TEST(values(p.data()) == std::vector<double>(6, 2.5), boost::test_tools::per_element());
  BOOST_CHECK_THROW(p.initialize({2, 3}), catena::RuntimeError);
  BOOST_CHECK_THROW(p.initialize_from(floats({1}, {1})), catena::RuntimeError);
  BOOST_TEST(p.shape() == Shape({2, 3}));
}

BOOST_AUTO_TEST_CASE(use_before_initialisation_is_an_error) {
  Parameter p;
  p.set_name("W");
  const std::string message = message_of<catena::ValueError>([&] { (void)p.shape(); });
  BOOST_TEST(has(message, "W"));
  BOOST_TEST(has(message, "no data yet"));
  BOOST_CHECK_THROW((void)p.dtype(), catena::ValueError);
  BOOST_CHECK_THROW((void)p.size(), catena::ValueError);
  BOOST_TEST(has(message_of<catena::TypeError>([&] { nn::relu(p); }), "no data yet"));
}

BOOST_AUTO_TEST_CASE(the_initializer_decides_the_dtype) {
  BOOST_TEST((Parameter(nn::initializers::Zero({.dtype = Dtype::float64}), {2}).dtype() == Dtype::float64));
  BOOST_TEST((Parameter(nn::initializers::Normal(1.0, {.dtype = Dtype::float16}), {2, 2}).dtype() == Dtype::float16));
  BOOST_TEST((Parameter(3.0, {2}).dtype() == Dtype::float32));
}

BOOST_AUTO_TEST_CASE(copies_are_deep) {
  Parameter p(floats({1, 2}, {2}));
  p.set_grad(floats({3, 4}, {2}));
  p.set_name("W");
  Parameter q = p;
  BOOST_TEST(!q.is_same(p));
  BOOST_TEST(q.name() == "W");
  autograd::fill(q.data(), 9);
  autograd::fill(q.grad(), 8);
  BOOST_TEST(values(p.data()) == (std::vector<double>{1, 2}), boost::test_tools::per_element());
  BOOST_TEST(values(p.grad()) == (std::vector<double>{3, 4}), boost::test_tools::per_element());
  const Variable handle = q;
  q = p;  // assignment keeps the variable
  BOOST_TEST(handle.is_same(q));
  BOOST_TEST(values(handle.data()) == (std::vector<double>{1, 2}), boost::test_tools::per_element());
  q = Parameter();  // moved in: another variable
  BOOST_TEST(!q.is_initialized());
  const Parameter pending;
  p = pending;
  BOOST_TEST(!p.is_initialized());
  BOOST_TEST(!bool(p.grad()));
}

BOOST_AUTO_TEST_CASE(moving_keeps_the_variable) {
  Parameter p(floats({1, 2}, {2}));
  const Variable handle = p;
  const Parameter q = std::move(p);
  BOOST_TEST(handle.is_same(q));
}

BOOST_AUTO_TEST_CASE(a_pending_parameter_remembers_its_device) {
  const autograd::Device home = default_device(), other = other_device().value_or(kCuda);
  Parameter p(1.0);
  p.to_device(other);
  BOOST_TEST(!p.is_initialized());
  if (!has_cuda()) {
    BOOST_TEST(says_that_cuda_is_unavailable(message_of<catena::RuntimeError>([&] { p.initialize({3}); })));
    BOOST_TEST(!p.is_initialized());
    p.to_device(home);
    p.initialize({3});
    BOOST_TEST((p.device() == home));
    BOOST_TEST(says_that_cuda_is_unavailable(message_of<catena::RuntimeError>([&] { p.to_device(other); })));
    BOOST_TEST((p.device() == home));
    BOOST_TEST(values(p.data()) == std::vector<double>(3, 1), boost::test_tools::per_element());
    return;
  }
  p.initialize({3});
  BOOST_TEST((p.device() == other));
  p.set_grad(autograd::ones_like(p.data()));
  p.to_device(home);
  BOOST_TEST((p.device() == home));
  BOOST_TEST((p.grad().device() == home));
  BOOST_TEST(values(p.data()) == std::vector<double>(3, 1), boost::test_tools::per_element());
  BOOST_TEST(values(p.grad()) == std::vector<double>(3, 1), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
