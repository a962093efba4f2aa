// A number becomes a 16-bit float by one rounding, on every way on which it can: a little more than the middle between
// two neighbours is the upper one, although float32 has the middle for it.
#include <cmath>
#include <complex>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using test::same_bits;

struct Case {
  nd::Dtype dtype;
  double above, upper;  // a number above the middle, and the neighbour that is nearest
  std::int64_t integer, rounded;
};
const Case kCases[] = {
    {nd::float16, 1 + std::ldexp(1, -11) + std::ldexp(1, -40), 1 + std::ldexp(1, -10), 2049, 2048},
    {nd::bfloat16, 1 + std::ldexp(1, -8) + std::ldexp(1, -40), 1 + std::ldexp(1, -7),
     (std::int64_t(1) << 40) + (std::int64_t(1) << 32) + 1, (std::int64_t(1) << 40) + (std::int64_t(1) << 33)},
};

Array repeated(double v) { return nd::full(1100, v); }

void is(const Array& a, const Case& c, double expected) {
  BOOST_TEST((a.dtype() == c.dtype));
  BOOST_TEST((a.astype(nd::float64) == expected).all().item<bool>(), nd::name_of(c.dtype));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(array_narrowing)

BOOST_AUTO_TEST_CASE(conversions_and_assignments) {
  for (const Case& c : kCases)
    for (const double sign : {1., -1.}) {
      const Array x = repeated(sign * c.above);
      const double upper = sign * c.upper;
      is(x.astype(c.dtype), c, upper);
      is(x(nd::Slice({}, {}, -3)).astype(c.dtype), c, upper);
      is((x + nd::Scalar(std::complex<double>(0, 0))).astype(c.dtype), c, upper);
      const Array to = nd::zeros(1100, c.dtype);
      to(nd::Slice()) = x;
      is(to, c, upper);
      to.fill(0);
      to(nd::arange(1100)) = x;
      is(to, c, upper);
      to.fill(0);
      nd::copyto(to, x, {.where = nd::array({true})});
      is(to, c, upper);
      is(nd::full(3, sign * c.above, c.dtype), c, upper);
      is(nd::array({sign * c.above}, c.dtype), c, upper);
      is(nd::linspace(sign * c.above, 5, 1, c.dtype), c, upper);
      is(nd::concatenate({x.astype(c.dtype), nd::array(sign * c.above, {.dtype = c.dtype, .ndmin = 1})}), c, upper);
    }
}

BOOST_AUTO_TEST_CASE(results_of_functions) {
  for (const Case& c : kCases) {
    const Array x = repeated(c.above), out = nd::zeros(1100, c.dtype);
    nd::multiply(x, 1, {.out = out});
    is(out, c, c.upper);
    out.fill(0);
    nd::add(x, nd::zeros(1100), {.out = out});
    is(out, c, c.upper);
    is(nd::zeros(3, c.dtype) + c.above, c, c.upper);  // a weak scalar
    is(nd::where(nd::array({true, true}), nd::Scalar(c.above), nd::zeros(2, c.dtype)), c, c.upper);
    is(nd::fuse([](auto a, auto b) { return (a + b) * 1; })(x, nd::zeros(1100)).astype(c.dtype), c, c.upper);
  }
}

BOOST_AUTO_TEST_CASE(integers) {
  for (const Case& c : kCases) {
    const Array x = nd::full(1100, c.integer);
    is(x.astype(c.dtype), c, double(c.rounded));
    is(nd::full(3, c.integer, c.dtype), c, double(c.rounded));
    is(nd::array({c.integer, -c.integer}, c.dtype) * nd::array({1, -1}, c.dtype), c, double(c.rounded));
  }
}

BOOST_AUTO_TEST_CASE(kernels_given_as_text) {
  const nd::ElementwiseKernel copy("T x", "U y", "y = x", "narrowing_copy");
  const nd::ElementwiseKernel made("float64 x", "U y", "y = x * 1.0", "narrowing_product");
  for (const Case& c : kCases) {
    const Array out = nd::zeros(1100, c.dtype);
    copy(repeated(c.above), out);
    is(out, c, c.upper);
    copy(nd::full(1100, c.integer), out);
    is(out, c, double(c.rounded));
    made(repeated(-c.above), out);
    is(out, c, -c.upper);
  }
}

BOOST_AUTO_TEST_SUITE_END()
