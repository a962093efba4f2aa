// Normalization of groups whose channels have so many positions that a backend may have kernels for whole groups,
// beside the formulas in long double.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/group_normalization_extension.h>
#include <catena/autograd/testing.h>
#include <catena/kernels/base/parallel.h>
#include <catena/nn/functions/normalization.h>
#include <catena/tests/support/framework_derivatives.h>

using namespace autograd;
using test::spread;

namespace {

using Wide = long double;
using Line = std::vector<double>;

Array rounded(const Array& a, Dtype t) { return astype(astype(a, t), Dtype::float64); }

// y and the gradients of x, gamma and beta.
struct Results {
  Line y, gx, ggamma, gbeta;
};

Results by_formula(const Array& x_given, int groups, const Line& gamma, const Line& beta, const Line& gy, double eps) {
  const Line x = to_vector<double>(x_given);
  const auto channels = std::size_t(x_given.shape(1)), of_group = channels / std::size_t(groups);
  const std::size_t positions = x.size() / std::size_t(x_given.shape(0)) / channels, count = of_group * positions;
  Results r{Line(x.size()), Line(x.size()), Line(channels), Line(channels)};
  std::vector<Wide> ggamma(channels), gbeta(channels), xhat(x.size());
  for (std::size_t first = 0; first < x.size(); first += count) {
    Wide mean = 0, var = 0, h = 0, h_xhat = 0;
    for (std::size_t i = first; i < first + count; ++i) mean += Wide(x[i]) / Wide(count);
    for (std::size_t i = first; i < first + count; ++i) var += (x[i] - mean) * (x[i] - mean) / Wide(count);
    const Wide scale = 1 / std::sqrt(var + Wide(eps));
    for (std::size_t i = first; i < first + count; ++i) {
      const std::size_t c = i / positions % channels;
      xhat[i] = (x[i] - mean) * scale;
      r.y[i] = double(gamma[c] * xhat[i] + beta[c]);
      ggamma[c] += gy[i] * xhat[i];
      gbeta[c] += gy[i];
      h += Wide(gamma[c]) * gy[i] / Wide(count);
      h_xhat += Wide(gamma[c]) * gy[i] * xhat[i] / Wide(count);
    }
    for (std::size_t i = first; i < first + count; ++i)
      r.gx[i] = double(scale * (Wide(gamma[i / positions % channels]) * gy[i] - h - xhat[i] * h_xhat));
  }
  r.ggamma.assign(ggamma.begin(), ggamma.end());
  r.gbeta.assign(gbeta.begin(), gbeta.end());
  return r;
}

// Errors relative to the largest element, or to the rounding error of a sum of `terms` numbers of both signs.
void check_close(const char* name, const Array& got, const Line& expected, double tolerance, double terms = 1) {
  const Line a = to_vector<double>(got);
  BOOST_REQUIRE(a.size() == expected.size());
  double largest = 0, worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    worst = std::max(worst, std::isfinite(a[i]) ? std::abs(a[i] - expected[i]) : 1e300);
  }
  BOOST_TEST(worst <= tolerance * std::max({largest, 0.1, 0.02 * std::sqrt(terms)}),
             name << " is off by " << worst << " of " << largest);
}

// `wide`: float32 parameters beside 16-bit x.
void check(const Shape& shape, int groups, Dtype t, bool wide = false, double low = -2, double high = 2) {
  BOOST_TEST_CONTEXT(shape << ", " << groups << " groups, " << catena::name_of(t) << (wide ? ", wide" : "")) {
    const double eps = 1e-3;
    const Dtype of_parameters = wide ? Dtype::float32 : t;
    const std::int64_t n = shape[1];
    const Array x = rounded(spread(shape, low, high), t), gy = rounded(spread(shape, -1, 1, 5), t),
                gamma = rounded(spread({n}, 0.5, 1.5, 1), of_parameters),
                beta = rounded(spread({n}, -1, 1, 2), of_parameters);
    const Results expected =
        by_formula(x, groups, to_vector<double>(gamma), to_vector<double>(beta), to_vector<double>(gy), eps);
    for (const bool by_rule : {false, true}) {
      const Variable v(astype(x, t)), scale(astype(gamma, of_parameters)), shift(astype(beta, of_parameters));
      Variable y = nn::group_normalization(v, groups, scale, shift, eps);
      y.set_grad(astype(gy, t));
      y.backward({.enable_double_backprop = by_rule});
      BOOST_TEST((y.dtype() == t && v.grad().dtype() == t && scale.grad().dtype() == of_parameters));
      BOOST_TEST(y.shape() == shape);
      const double rounding = t == Dtype::float64   ? 1e-13
                              : t == Dtype::float32 ? 4e-6
                              : t == Dtype::float16 ? 1e-3
                                                    : 8e-3;
      check_close("y", y.data(), expected.y, rounding);
      check_close("gx", v.grad(), expected.gx, 4 * rounding);
      const double terms = double(x.size() / n);
      check_close("ggamma", scale.grad(), expected.ggamma, 4 * rounding, terms);
      check_close("gbeta", shift.grad(), expected.gbeta, 4 * rounding, terms);
    }
  }
}

struct Layout {
  Shape shape;
  int groups;
};
// Lengths around vectors and parts of 4096 elements; one channel per group, one group, one element per group; more
// channels than a strip of 64; many examples.
const Layout kLayouts[] = {
    {{3, 6, 17}, 3},   {{2, 6, 47}, 2},      {{2, 4, 16}, 4},   {{5, 4, 33}, 1},   {{1, 1, 16}, 1},
    {{2, 3, 5, 9}, 1}, {{2, 4, 2, 3, 4}, 2}, {{1, 2, 9001}, 1}, {{2, 2, 4097}, 2}, {{1, 1, 4111}, 1},
    {{2, 130, 16}, 1}, {{300, 2, 19}, 2},    {{2, 4, 15}, 2},   {{3, 4, 1}, 2},    {{2, 4, 1}, 4},
};

GroupNormalizationExtension* kernels() {
  return default_backend().extension<GroupNormalizationExtension>(default_backend().default_device());
}

BOOST_AUTO_TEST_SUITE(group_normalization_kernels)

BOOST_AUTO_TEST_CASE(they_take_channels_of_many_positions) {
  if (kernels() == nullptr) return;
  BOOST_TEST((default_backend().default_device().kind == Device::Kind::cpu));
  for (const Dtype t : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
    BOOST_TEST(kernels()->takes(arrays::zeros({1, 2, 1, 16}, t)));
    BOOST_TEST(!kernels()->takes(arrays::zeros({1, 2, 8, 15}, t)));
    BOOST_TEST(!kernels()->takes(arrays::zeros({0, 2, 8, 16}, t)));
    BOOST_TEST(!kernels()->takes(arrays::zeros({1, 0, 8, 16}, t)));
  }
}

BOOST_AUTO_TEST_CASE(shapes_and_dtypes) {
  for (const Layout& l : kLayouts) {
    // The interpreter of PTX takes minutes for larger arrays, and its backend has no kernels for groups.
    if (kernels() == nullptr && catena::size_of(l.shape) > 1000) continue;
    for (const Dtype t : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) check(l.shape, l.groups, t);
    for (const Dtype t : {Dtype::float16, Dtype::bfloat16}) check(l.shape, l.groups, t, true);
  }
}

BOOST_AUTO_TEST_CASE(derivatives) {
  test::check_derivatives(
      "group_normalization",
      [](const Variables& v) { return Variables{nn::group_normalization(v[0], 2, v[1], v[2], 1e-2)}; },
      {spread({1, 2, 19}, -2, 2), spread({2}, 0.5, 1.5, 1), spread({2}, -1, 1, 2)},
      {.atol = 1e-5, .rtol = 1e-4, .atol32 = 1e-4, .rtol32 = 1e-3, .atol16 = 2e-2, .rtol16 = 2e-2});
}

BOOST_AUTO_TEST_CASE(empty_batches_and_images) {
  for (const Shape& shape : {Shape{0, 4, 20}, Shape{3, 4, 0}, Shape{0, 4, 3, 7}}) BOOST_TEST_CONTEXT(shape) {
      const Variable x(arrays::ones(shape)), gamma(arrays::ones({4})), beta(arrays::ones({4}));
      Variable y = nn::group_normalization(x, 2, gamma, beta);
      BOOST_TEST(y.shape() == shape);
      y.set_grad(arrays::ones(shape));
      y.backward();
      BOOST_TEST(x.grad().shape() == shape);
      for (const Array& g : {gamma.grad(), beta.grad()})
        BOOST_TEST(to_vector<double>(g) == Line(4), boost::test_tools::per_element());
    }
}

// Everything is computed from distances: the mean may be far larger than the deviation.
BOOST_AUTO_TEST_CASE(statistics_far_from_zero) {
  check({2, 4, 33}, 2, Dtype::float32, false, 9998, 10002);
  check({1, 2, 4999}, 1, Dtype::float32, false, -10002, -9998);
  const Array same = arrays::full({1, 2, 20}, 1e4);  // float32
  const Variable x(same), gamma(arrays::ones({2}));
  Variable y = nn::group_normalization(x, 1, gamma, {}, 1e-5);
  y.set_grad(astype(spread({1, 2, 20}), Dtype::float32));
  y.backward();
  BOOST_TEST(to_vector<double>(y.data()) == Line(40), boost::test_tools::per_element());
  BOOST_TEST(to_vector<double>(gamma.grad()) == Line(2), boost::test_tools::per_element());
}

// The rounding errors of sums of equal numbers have one sign.
BOOST_AUTO_TEST_CASE(sums_of_many_positions_and_examples) {
  if (kernels() == nullptr) return;  // the reference backend adds one number after the other
  const Shape shapes[] = {{1, 1, 1 << 20}, {20000, 1, 16}};
  for (const Shape& shape : shapes) BOOST_TEST_CONTEXT(shape) {
      const Variable x(astype(spread(shape, -1, 1), Dtype::float32)), gamma(arrays::ones({1})),
          beta(arrays::zeros({1}));
      Variable y = nn::group_normalization(x, 1, gamma, beta);
      y.set_grad(arrays::full(shape, 0.1));
      y.backward();
      const double exact = double(0.1f) * double(catena::size_of(shape));
      BOOST_TEST(std::abs(to_vector<double>(beta.grad())[0] / exact - 1) < 3e-6);
    }
}

// The results are the same bits for views of other arrays, and with any number of threads.
BOOST_AUTO_TEST_CASE(layouts_and_threads) {
  if (kernels() == nullptr) return;  // nn/normalization has a case for rows
  const Shape shape{40, 6, 5, 19};
  const auto transposed = [](const Array& a) { return transpose(copy(transpose(a, {3, 1, 0, 2})), {2, 1, 3, 0}); };
  const auto reversed = [](const Array& a) { return slice(copy(slice(a, 3, 18, -20, -1)), 3, 18, -20, -1); };
  const Array x = astype(spread(shape, -2, 2), Dtype::float32), gy = astype(spread(shape, -1, 1, 5), Dtype::float32);
  const Array wide_gamma = astype(spread({12}, 0.5, 1.5, 1), Dtype::float32),
              gamma_given = slice(wide_gamma, 0, 0, 12, 2);
  const auto results = [&](const Array& of_x, const Array& of_y, const Array& of_gamma) {
    const Variable v(of_x), gamma(of_gamma), beta(arrays::zeros({6}));
    Variable y = nn::group_normalization(v, 3, gamma, beta);
    y.set_grad(of_y);
    y.backward();
    std::vector<Line> all;
    for (const Array& a : {y.data(), v.grad(), gamma.grad(), beta.grad()}) all.push_back(to_vector<double>(a));
    return all;
  };
  const int before = catena::max_threads();
  const std::vector<Line> first = results(x, gy, copy(gamma_given));
  for (const int threads : {1, 2}) {
    catena::set_max_threads(threads);
    BOOST_TEST((results(x, gy, copy(gamma_given)) == first), threads << " threads");
    BOOST_TEST((results(transposed(x), transposed(gy), gamma_given) == first), threads << " threads, transposed");
    BOOST_TEST((results(reversed(x), reversed(gy), gamma_given) == first), threads << " threads, reversed");
  }
  catena::set_max_threads(before);
  // One number, repeated with strides of 0, is the gradient of a sum.
  const std::vector<Line> of_sum = results(x, broadcast_to(arrays::full({1}, 0.5), shape), copy(gamma_given)),
                          of_numbers = results(x, arrays::full(shape, 0.5), copy(gamma_given));
  BOOST_TEST((of_sum == of_numbers));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
