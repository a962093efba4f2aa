// Fourier transforms of pairs, and distances of points: derivatives, PyTorch's values, identities, errors.
#include <catena/autograd/functions/fft.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/linalg_extension.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::spread;

namespace {

Variables list(const ComplexPair& y) { return {y.real, y.imag}; }
// One result, because derivatives are checked from the node of the first one.
Variable joined(const ComplexPair& y) { return concat({y.real, y.imag}, -1); }

const auto says = [](const std::string& text) {
  return [text](const catena::Error& e) { return std::string(e.what()).find(text) != std::string::npos; };
};

// The rules are the same on every device, so others than the CPU check fewer dtypes and derivatives.
bool on_cpu() { return test::default_device().kind == Device::Kind::cpu; }

}  // namespace

BOOST_AUTO_TEST_SUITE(fourier)

BOOST_AUTO_TEST_CASE(derivatives) {
  const test::DerivativeOptions o{.twice = on_cpu(), .atol16 = 1e-2, .rtol16 = 3e-2, .narrow = on_cpu()};
  for (const Shape& shape : {Shape{5}, Shape{2, 4}, Shape{1}, Shape{0, 3}}) BOOST_TEST_CONTEXT(shape) {
      const Array x = spread(shape), y = spread(shape, -1, 1, 2);
      test::check_derivatives(
          "fft",
          [](const Variables& v) {
            return Variables{joined(pairs::fft({v[0], v[1]}))};
          },
          {x, y}, o);
      test::check_derivatives(
          "ifft",
          [](const Variables& v) {
            return Variables{joined(pairs::ifft({v[0], v[1]}))};
          },
          {x, y}, o);
      test::check_derivatives(
          "rfft", [](const Variables& v) { return Variables{joined(pairs::rfft(v[0]))}; }, {x}, o);
      const std::int64_t n = shape.back();
      const auto inverse = [n](const Variables& v) { return Variables{pairs::irfft(pairs::rfft(v[0]), n)}; };
      BOOST_CHECK_NO_THROW(testing::assert_allclose(inverse({Variable(x)})[0].data(), x, 1e-12, 1e-12));
      test::check_derivatives("irfft", inverse, {x}, o);
    }
  test::check_derivatives(
      "the real part alone", [](const Variables& v) { return Variables{pairs::fft({v[0]}).real}; }, {spread({4})}, o);
  for (const double p : {1.0, 2.0, 3.0})
    test::check_derivatives(
        "cdist", [p](const Variables& v) { return Variables{cdist(v[0], v[1], p)}; },
        {spread({2, 1, 2, 3}), spread({3, 3}, -1, 1, 4)}, o);
}

BOOST_AUTO_TEST_CASE(implementations_agree) {
  const Array x = spread({3, 7}), y = spread({3, 7}, -1, 1, 1);
  for (const bool inverse : {false, true}) {
    const Arrays own = linalg_extension(x).fourier(x, y, inverse),
                 portable = portable_linalg_extension().fourier(x, y, inverse);
    for (std::size_t k = 0; k < 2; ++k)
      BOOST_CHECK_NO_THROW(testing::assert_allclose(own[k], portable[k], 1e-12, 1e-12));
  }
}

BOOST_AUTO_TEST_CASE(refused_operands) {
  const Variable x(arrays::ones({4}));
  BOOST_CHECK_THROW(pairs::fft({Variable()}), catena::TypeError);
  BOOST_CHECK_THROW(pairs::fft({x, Variable(arrays::ones({3}))}), catena::InvalidType);
  BOOST_CHECK_THROW(pairs::fft({Variable(arrays::ones({4}, Dtype::int32))}), catena::InvalidType);
  BOOST_CHECK_THROW(pairs::fft({Variable(arrays::ones({}))}), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(pairs::fft({Variable(arrays::ones({2, 0}))}), catena::ValueError,
                        says("FFT: the last axis of the shape (2, 0)"));
  BOOST_CHECK_EXCEPTION(pairs::irfft({x}, 9), catena::ValueError,
                        says("IRFFT: 4 numbers given; 9 real ones are made of 5"));
  BOOST_CHECK_THROW(pairs::irfft({x, Variable(arrays::ones({5}))}), catena::InvalidType);
  BOOST_CHECK_THROW(pairs::irfft({Variable(arrays::ones({}))}), catena::InvalidType);
  BOOST_CHECK_THROW(cdist(x, x), catena::InvalidType);
  Variable point(arrays::ones({1, 2}));
  cdist(point, point).backward();
  BOOST_TEST(to_vector<float>(point.grad()) == (std::vector<float>{0, 0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(golden_values) {
  test::GoldenFunctions f;
  f["fft"] = [](const test::GoldenCall& c) { return list(pairs::fft({c.x(0), c.x(1)})); };
  f["ifft"] = [](const test::GoldenCall& c) { return list(pairs::ifft({c.x(0), c.x(1)})); };
  f["rfft"] = [](const test::GoldenCall& c) { return list(pairs::rfft(c.x(0))); };
  f["irfft"] = [](const test::GoldenCall& c) { return Variables{pairs::irfft({c.x(0), c.x(1)}, c.integer("n", 0))}; };
  f["cdist"] = [](const test::GoldenCall& c) { return Variables{cdist(c.x(0), c.x(1), c.number("p", 2))}; };
  test::run_golden("torch_fourier", f);
}

BOOST_AUTO_TEST_SUITE_END()
