// Parameters: pending and initialised, copies, devices.
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
  BOOST_CHECK_THROW(nn::relu(p), catena::Error);
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
  if (autograd::default_backend().name() != "reference") return;  // only that backend has several devices everywhere
  const autograd::Device cuda{autograd::Device::Kind::cuda, 2};
  Parameter p(1.0);
  p.to_device(cuda);
  BOOST_TEST(!p.is_initialized());
  p.initialize({3});
  BOOST_TEST((p.device() == cuda));
  p.set_grad(autograd::ones_like(p.data()));
  p.to_device({});
  BOOST_TEST((p.device() == autograd::Device{}));
  BOOST_TEST((p.grad().device() == autograd::Device{}));
}

BOOST_AUTO_TEST_SUITE_END()
