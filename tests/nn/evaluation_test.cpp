// Accuracy.
#include <catena/nn/functions/evaluation.h>

#include <boost/test/unit_test.hpp>

#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;

namespace {

double accuracy_of(const Array& y, const Array& t, std::optional<int> ignore = {}) {
  return item(nn::accuracy(Variable(y), Variable(t), ignore).data()).to_double();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(evaluation)

BOOST_AUTO_TEST_CASE(fraction_of_hits) {
  const Array y = array<float>({0.1f, 0.9f, 0.8f, 0.2f, 0.5f, 0.5f, 0.3f, 0.7f}, {4, 2});
  const Array t = array<std::int32_t>({1, 1, 0, 1}, {4});  // the first of equal maxima counts
  BOOST_TEST(accuracy_of(y, t) == 0.75);
  BOOST_TEST(accuracy_of(y, t, 1) == 1.0);
  BOOST_TEST(accuracy_of(y, array<std::int32_t>({5, 5, 5, 5}, {4}), 5) == 0.0);
  BOOST_TEST(accuracy_of(astype(y, Dtype::float16), t) == 0.75);
  BOOST_CHECK(nn::accuracy(Variable(astype(y, Dtype::float16)), Variable(t)).dtype() == Dtype::float16);
}

BOOST_AUTO_TEST_CASE(labels_of_any_integer_dtype) {
  const Array y = array<float>({0.1f, 0.9f, 0.8f, 0.2f, 0.4f, 0.6f, 0.3f, 0.7f}, {4, 2});
  const Array t = array<std::int32_t>({1, 1, 0, 1}, {4});
  for (const Dtype d :
       {Dtype::int8, Dtype::uint8, Dtype::int16, Dtype::uint16, Dtype::uint32, Dtype::int64, Dtype::uint64}) {
    BOOST_TEST(accuracy_of(y, astype(t, d)) == 0.5);
    BOOST_TEST(accuracy_of(y, astype(t, d), 0) == 2.0 / 3, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(accuracy_of(y, astype(t, d), -1) == 0.5);  // no label of an unsigned dtype is ignored
  }
}

BOOST_AUTO_TEST_CASE(several_labels_per_sample) {
  const Array y = array<double>({1, 0, 0, 1, 0, 1, 1, 0}, {2, 2, 2});  // argmax over axis 1: {0, 1} and {1, 0}
  BOOST_TEST(accuracy_of(y, array<std::int32_t>({0, 1, 0, 0}, {2, 2})) == 0.75);
}

BOOST_AUTO_TEST_CASE(has_no_gradient) {
  Variable y(ones({2, 3}));
  const Variable a = nn::accuracy(y, Variable(array<std::int32_t>({0, 1}, {2})));
  Variable loss = a;
  loss.backward();
  BOOST_TEST(!y.grad());
}

BOOST_AUTO_TEST_CASE(errors) {
  const Variable y(ones({2, 3}));
  BOOST_CHECK_EXCEPTION(nn::accuracy(y, Variable(ones({2}))), catena::InvalidType, [](const catena::Error& e) {
    return std::string(e.what()).find("\nt is float32: t.astype(int32)\n") != std::string::npos;
  });
  BOOST_CHECK_THROW(nn::accuracy(y, Variable(array<std::int32_t>({0, 1, 2}, {3}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::accuracy(Variable(ones({2, 3, 2})), Variable(array<std::int32_t>({0, 1}, {2}))),
                    catena::InvalidType);
}

// No class is negative: losses mark so what they ignore, and accuracy counts it as a miss, as the reference does.
BOOST_AUTO_TEST_CASE(labels_that_are_no_classes) {
  const Array y = array<float>({0.1f, 0.9f, 0.8f, 0.2f}, {2, 2});
  BOOST_TEST(accuracy_of(y, array<std::int32_t>({1, -1}, {2})) == 0.5);
  const Array outside = array<std::int32_t>({1, 2}, {2});
  BOOST_TEST(accuracy_of(y, outside, 2) == 1.0);
  if (test::default_device().kind == Device::Kind::cpu) {
    BOOST_CHECK_EXCEPTION(accuracy_of(y, outside), catena::IndexError, [](const catena::Error& e) {
      return e.what() == std::string("accuracy: the label 2 is not one of 2 classes");
    });
    BOOST_CHECK_THROW(accuracy_of(y, outside, -1), catena::IndexError);
  } else {
    BOOST_TEST(accuracy_of(y, outside) == 0.5);
    const DebugMode debug(true);
    BOOST_CHECK_THROW(accuracy_of(y, outside), catena::ValueError);
  }
}

BOOST_AUTO_TEST_CASE(golden_values) {
  test::run_golden("evaluation", {{"accuracy", [](const test::GoldenCall& c) {
                                     return Variables{nn::accuracy(
                                         c.x(0), c.x(1),
                                         c.has("ignore_label") ? std::optional<int>(int(c.integer("ignore_label", 0)))
                                                               : std::nullopt)};
                                   }}});
}

BOOST_AUTO_TEST_SUITE_END()
