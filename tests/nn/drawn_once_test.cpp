// Function objects that draw keep what they have drawn, so that they can be called many times in a gradient check; the
// draw can be read. And small inputs at the edge: nothing selected, nothing left of an image, labels in debug mode.
#include <catena/nn/functions/objects.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <vector>

#include <catena/autograd/config.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/gradient_check.h>
#include <catena/nn/functions.h>
#include <catena/nn/links/bilinear.h>
#include <catena/nn/walker_alias.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
namespace F = nn::functions;

namespace {

template <class T> std::vector<double> numbers(const T& v) {
  return autograd::to_vector<double>(autograd::astype(autograd::contiguous(v), Dtype::float64));
}
Array large(const Shape& shape) { return autograd::arrays::ones(shape, Dtype::float64); }

// The first call and the second agree, a second object draws something else.
template <class Make> void check_repeats(const char* name, Make make, const Variables& x) {
  BOOST_TEST_CONTEXT(name) {
    const auto object = make(), other = make();
    const std::vector<double> first = numbers(object(x).data());
    BOOST_TEST(numbers(object(x).data()) == first, boost::test_tools::per_element());
    BOOST_TEST((numbers(other(x).data()) != first));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(drawn_once)

BOOST_AUTO_TEST_CASE(calls_of_an_object_repeat_its_draw) {
  autograd::seed(5);
  const Variable x = large({40, 10}), h = large({40, 10}) * 2, W = large({6, 10});
  check_repeats("Dropout", [] { return F::Dropout(0.5); }, {x});
  check_repeats("Gaussian", [] { return F::Gaussian(); }, {x, h});
  check_repeats("Zoneout", [] { return F::Zoneout(0.5); }, {h, x});
  check_repeats("SimplifiedDropconnect", [] { return F::SimplifiedDropconnect(0.5); }, {x, W});
  const nn::WalkerAlias alias(std::vector<double>(50, 1.0));
  const nn::Sampler sampler = [&alias](const Shape& s) { return alias.sample(s); };
  const Array t = autograd::arrays::zeros({40}, Dtype::int32);
  const Array table = spread({50, 10});
  check_repeats("NegativeSamplingFunction", [&] { return F::NegativeSamplingFunction(sampler, 5); }, {x, t, table});
}

// The draw that can be read gives the result that the call gave.
BOOST_AUTO_TEST_CASE(draws_can_be_read) {
  autograd::seed(6);
  const Variable x = spread({8, 10}), h = spread({8, 10}, -1, 1, 1), W = spread({6, 10});
  F::Dropout dropout(0.25);
  BOOST_TEST(!dropout.mask());
  BOOST_CHECK_THROW(x * dropout.mask(), catena::TypeError);  // a null array is no number
  const Variable d = dropout(x);
  BOOST_TEST(numbers(d.data()) == numbers((x * dropout.mask()).data()), boost::test_tools::per_element());
  F::Gaussian gaussian;
  const Variable y = gaussian(x, h);
  BOOST_TEST(numbers(nn::gaussian(x, h, gaussian.eps()).data()) == numbers(y.data()), boost::test_tools::per_element());
  F::Zoneout zoneout(0.5);
  const Variable z = zoneout(h, x);
  BOOST_TEST(numbers(nn::zoneout(h, x, {.train = true, .keep = zoneout.keep()}).data()) == numbers(z.data()),
             boost::test_tools::per_element());
  F::SimplifiedDropconnect dropconnect(0.5);
  const Variable c = dropconnect(x, W);
  const nn::DropconnectOptions given{.ratio = 0.5, .train = true, .mask = dropconnect.mask()};
  BOOST_TEST(numbers(nn::simplified_dropconnect(x, W, {}, given).data()) == numbers(c.data()),
             boost::test_tools::per_element());

  const auto kept = nn::zoneout(h, x, {.ratio = 0.5, .train = true}, nn::return_keep);
  BOOST_TEST(numbers(kept.y.data()) == numbers(autograd::where(kept.keep, h, x).data()),
             boost::test_tools::per_element());
  BOOST_TEST(numbers(nn::zoneout(h, x, {.train = false}, nn::return_keep).keep) == std::vector<double>(80, 0),
             boost::test_tools::per_element());
  const auto linked = nn::simplified_dropconnect(x, W, {}, {.ratio = 0.5, .train = false}, nn::return_mask);
  BOOST_TEST(numbers(linked.mask) == std::vector<double>(480, 1), boost::test_tools::per_element());
  BOOST_TEST(numbers(linked.y.data()) == numbers(nn::linear(x, W).data()), boost::test_tools::per_element());
}

// The reason to keep the draw: an object as the function of a gradient check, in which x is moved many times.
BOOST_AUTO_TEST_CASE(gradient_checks_of_objects) {
  autograd::seed(7);
  const Array x = spread({3, 4}), h = spread({3, 4}, -1, 1, 1), gy = spread({3, 4}, -1, 1, 2);
  F::Dropout dropout(0.5);
  autograd::gradient_check::check_backward(dropout, {x}, {gy}, {.atol = 1e-5, .rtol = 1e-5});
  F::Gaussian gaussian;
  autograd::gradient_check::check_backward(gaussian, {x, h}, {gy}, {.atol = 1e-5, .rtol = 1e-5});
  F::Zoneout zoneout(0.5);
  autograd::gradient_check::check_backward(zoneout, {h, x}, {gy}, {.atol = 1e-5, .rtol = 1e-5});
}

BOOST_AUTO_TEST_CASE(masks_without_elements) {
  const Variable x = spread({4, 3, 2});
  const Array none = autograd::arrays::zeros({0}, Dtype::bool_);
  BOOST_TEST((x[none].shape() == Shape{0, 3, 2}));
  BOOST_TEST((x[autograd::arrays::zeros({0, 3}, Dtype::bool_)].shape() == Shape{0, 2}));
  Variable y = x[none];
  autograd::sum(y).backward();
  BOOST_TEST(numbers(x.grad()) == std::vector<double>(24, 0), boost::test_tools::per_element());
  BOOST_CHECK_THROW(x[autograd::arrays::zeros({3}, Dtype::bool_)], catena::IndexError);
}

// The reference's sizes: stride (n - 1) + ksize - 2 pad, which may be 0.
BOOST_AUTO_TEST_CASE(unpooling_to_nothing) {
  Variable x = spread({2, 3, 3, 2});
  const Variable y = nn::unpooling_2d(x, 1, {.stride = 1, .pad = 1});
  BOOST_TEST((y.shape() == Shape{2, 3, 1, 0}));
  autograd::sum(y).backward();
  BOOST_TEST(numbers(x.grad()) == std::vector<double>(36, 0), boost::test_tools::per_element());
  BOOST_CHECK_THROW(nn::unpooling_2d(x, 1, {.stride = 1, .pad = 2}), catena::AssertionError);
}

BOOST_AUTO_TEST_CASE(labels_in_debug_mode) {
  const Variable x = spread({2, 3});
  const Array t = autograd::array<std::int32_t>({-2, 0}, {2});
  {
    const autograd::DebugMode debug(true);
    BOOST_CHECK_THROW(nn::softmax_cross_entropy(x, t), catena::ValueError);
  }
  if (x.device().kind == autograd::Device::Kind::cpu)
    BOOST_CHECK_THROW(nn::softmax_cross_entropy(x, t), catena::IndexError);
}

// Messages name the function that was called, not the one inside.
BOOST_AUTO_TEST_CASE(names_in_messages) {
  const Variable x = spread({2, 3});
  const autograd::Axes twice{0, 0};
  BOOST_TEST(has(message_of<catena::ValueError>([&] { F::Max{twice}(x); }), "max: axis 0"));
  BOOST_TEST(has(message_of<catena::ValueError>([&] { F::Min{twice}(x); }), "min: axis 0"));
  BOOST_TEST(message_of<catena::ValueError>([&] { autograd::max(x, twice); }).starts_with("max: "));
  BOOST_TEST(message_of<catena::ValueError>([&] { autograd::min(x, twice); }).starts_with("min: "));
  BOOST_TEST(message_of<catena::ValueError>([&] { autograd::logsumexp(x, twice); }).starts_with("logsumexp: "));
  BOOST_TEST(message_of<catena::AssertionError>([] {
               nn::Bilinear(2, 3, 4, {.initialW = floats({1, 2}, {2})});
             }) == "Bilinear: the initial W has the shape (2,), it must have (2, 3, 4)");
  BOOST_CHECK_THROW(
      nn::Bilinear(2, 3, 4, {.initial_bias = {floats({1, 2}, {2}), nn::Initializer(0.0), nn::Initializer(0.0)}}),
      catena::AssertionError);
  BOOST_TEST(message_of<catena::ValueError>([] {
               nn::Linear(2, 3, {.initialW = floats({1, 2, 3, 4}, {4})});
             }) == "Initializer: values of the shape (4,) cannot be broadcast to a parameter of the shape (3, 2)");
}

BOOST_AUTO_TEST_CASE(sequences_of_nothing) {
  BOOST_TEST(F::TransposeSequence()().size() == 0u);
  BOOST_TEST(F::TransposeSequence()(Variables()).size() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
