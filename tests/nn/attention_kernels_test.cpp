// Attention of 16-bit floats and float32 in the shapes that have kernels of their own on CUDA, beside the definition on
// Variables in float64.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <catena/autograd/attention_extension.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions/attention.h>
#include <catena/tests/support/framework_derivatives.h>

using namespace autograd;
using nn::AttentionOptions;
using nn::scaled_dot_product_attention;
using test::spread;

namespace {

constexpr Dtype kDtypes[] = {Dtype::float16, Dtype::bfloat16, Dtype::float32};

bool on_cuda() { return default_backend().default_device().kind == Device::Kind::cuda; }

// Values of the narrow dtype, which float64 represents exactly.
Array rounded(const Array& a, Dtype t) { return astype(astype(a, t), Dtype::float64); }

// The result and the gradients of q, k and v for a fixed gradient of the result.
Arrays results(const Array& q, const Array& k, const Array& v, const AttentionOptions& options, bool definition) {
  const Variable x(q), y(k), z(v);
  const Variable out = scaled_dot_product_attention(x, y, z, options);
  const Array gy = astype(rounded(spread(out.shape(), -1, 1, 7), Dtype::bfloat16), out.dtype());
  sum(out * Variable(gy, {.requires_grad = false})).backward({.enable_double_backprop = definition});
  return {out.data(), x.grad(), y.grad(), z.grad()};
}

// Errors relative to the largest element: the weights, and the gradients of the scores, are rounded to the dtype. The
// terms of gradients have both signs, so that their sums are smaller than the terms.
void check_close(const Arrays& actual, const Arrays& expected, Dtype t) {
  const double of_result = t == Dtype::float32 ? 4e-6 : t == Dtype::float16 ? 1e-3 : 8e-3, of_gradient = 4 * of_result;
  const char* const names[] = {"y", "gq", "gk", "gv"};
  for (std::size_t i = 0; i < 4; ++i) {
    BOOST_REQUIRE(actual[int(i)].shape() == expected[int(i)].shape());
    BOOST_TEST((actual[int(i)].dtype() == t));
    const std::vector<double> a = to_vector<double>(actual[int(i)]), e = to_vector<double>(expected[int(i)]);
    double largest = 0, worst = 0;
    for (std::size_t j = 0; j < a.size(); ++j) {
      largest = std::max(largest, std::abs(e[j]));
      worst = std::max(worst, std::isfinite(a[j]) ? std::abs(a[j] - e[j]) : 1e300);
    }
    BOOST_TEST(worst <= (i == 0 ? of_result : of_gradient) * std::max(largest, 0.2),
               names[i] << " is off by " << worst << " of " << largest);
  }
}

using View = Array (*)(const Array&);
Array as_it_is(const Array& a) { return a; }

// q, k and v are given as float64, and seen through `view`.
void check(const std::string& name, const Array& q, const Array& k, const Array& v,
           const AttentionOptions& options = {}, View view = as_it_is) {
  for (const Dtype t : kDtypes) {
    BOOST_TEST_CONTEXT(name << ", " << catena::name_of(t)) {
      AttentionOptions wide = options, narrow = options;
      if (options.mask && options.mask.dtype() != Dtype::bool_) {
        const Array mask = astype(options.mask.data(), t);
        narrow.mask = Variable(mask, {.requires_grad = false});
        wide.mask = Variable(astype(mask, Dtype::float64), {.requires_grad = false});
      }
      const auto given = [&](const Array& a) { return view(astype(a, t)); };
      const auto exact = [&](const Array& a) { return view(rounded(a, t)); };
      check_close(results(given(q), given(k), given(v), narrow, false),
                  results(exact(q), exact(k), exact(v), wide, true), t);
    }
  }
}
Array queries(const Shape& s) { return spread(s, -2, 2, 1); }
Array keys(const Shape& s) { return spread(s, -2, 2, 2); }
Array values(const Shape& s) { return spread(s, -1, 1, 3); }

}  // namespace

BOOST_AUTO_TEST_SUITE(attention_kernels)

BOOST_AUTO_TEST_CASE(they_take_these_calls) {
  if (!on_cuda()) return;
  auto* const extension = default_backend().extension<AttentionExtension>(default_backend().default_device());
  BOOST_REQUIRE(extension != nullptr);
  const auto takes = [&](Dtype t, std::int64_t d, std::int64_t dv, const Shape& lead = {2}) {
    Shape q = lead, k = lead, v = lead;
    for (const std::int64_t n : {std::int64_t(2), std::int64_t(3), d}) q.push_back(n);
    for (const std::int64_t n : {std::int64_t(1), std::int64_t(5), d}) k.push_back(n);
    for (const std::int64_t n : {std::int64_t(1), std::int64_t(5), dv}) v.push_back(n);
    return extension->takes({arrays::zeros(q, t), arrays::zeros(k, t), arrays::zeros(v, t), {}});
  };
  for (const Dtype t : kDtypes)
    for (const std::int64_t d : {16, 32, 64, 96, 128}) BOOST_TEST(takes(t, d, d));
  BOOST_TEST(!takes(Dtype::float64, 64, 64));
  BOOST_TEST(!takes(Dtype::float16, 64, 32));
  BOOST_TEST(!takes(Dtype::float16, 48, 48));
  BOOST_TEST(takes(Dtype::float16, 16, 16, {1, 2, 1, 2}));
  BOOST_TEST(!takes(Dtype::float16, 16, 16, {1, 2, 1, 2, 1}));
}

BOOST_AUTO_TEST_CASE(columns) {
  for (const std::int64_t d : {16, 32, 64, 96, 128})
    check(std::to_string(d) + " columns", queries({2, 21, d}), keys({2, 37, d}), values({2, 37, d}));
  // Without kernels of their own.
  check("other columns", queries({2, 5, 24}), keys({2, 7, 24}), values({2, 7, 40}));
}

BOOST_AUTO_TEST_CASE(lengths) {
  check("one token", queries({2, 1, 16}), keys({2, 1, 16}), values({2, 1, 16}));
  check("one query", queries({2, 1, 32}), keys({2, 131, 32}), values({2, 131, 32}));
  check("one key", queries({1, 130, 16}), keys({1, 1, 16}), values({1, 1, 16}));
  check("whole blocks", queries({1, 128, 32}), keys({1, 128, 32}), values({1, 128, 32}));
  check("several blocks", queries({1, 259, 64}), keys({1, 201, 64}), values({1, 201, 64}));
  for (const Shape& s : {Shape{0, 2, 3, 16}, Shape{2, 0, 3, 16}, Shape{2, 2, 0, 16}})
    for (const Dtype t : kDtypes)
      BOOST_TEST(scaled_dot_product_attention(arrays::ones(s, t), arrays::ones(s, t), arrays::ones(s, t)).shape() == s);
}

BOOST_AUTO_TEST_CASE(positions_of_queries_and_keys) {
  const Array q = queries({1, 150, 16}), k = keys({1, 201, 16}), v = values({1, 201, 16});
  check("causal", q, k, v, {.causal = true});
  check("causal, the last queries", q, k, v, {.causal = true, .offset = 51});
  check("causal, some see nothing", q, k, v, {.causal = true, .offset = -70});
  check("window", q, k, v, {.window = 20, .offset = 30});
  check("causal window", q, k, v, {.causal = true, .window = 33, .offset = 51});
  check("a window of one key", q, k, v, {.causal = true, .window = 1});
  check("far away", q, k, v, {.window = 5, .offset = 100000});
  check("the largest window", q, k, v, {.window = INT64_MAX});
  // Warps and blocks have other numbers of rows with more columns.
  for (const std::int64_t d : {64, 128}) {
    const Array rows = queries({1, 140, d}), others = keys({1, 140, d}), of_keys = values({1, 140, d});
    check("causal, " + std::to_string(d) + " columns", rows, others, of_keys, {.causal = true});
    check("a block sees nothing, " + std::to_string(d) + " columns", rows, others, of_keys,
          {.causal = true, .offset = -130});
  }
}

BOOST_AUTO_TEST_CASE(masks) {
  const Array q = queries({4, 70, 32}), k = keys({4, 90, 32}), v = values({4, 90, 32});
  const Array seen = apply(catena::kernels::greater, {spread({4, 70, 90}, -1, 1, 4), 0.1});
  fill(slice(slice(seen, 0, 1, 2), 1, 2, 4), false);  // two queries see nothing
  check("of each score", q, k, v, {.mask = seen});
  check("of keys", q, k, v, {.mask = slice(slice(seen, 0, 0, 1), 1, 0, 1)});
  check("with a stride", q, k, v, {.mask = swapaxes(copy(swapaxes(seen, 1, 2)), 1, 2)});
  check("and causal", q, k, v, {.mask = seen, .causal = true, .offset = 20});
  const Array numbers =
      where(seen, Operand(spread({4, 70, 90}, -2, 2, 5)), Operand(-std::numeric_limits<double>::infinity()));
  check("added", q, k, v, {.mask = Variable(numbers, {.requires_grad = false})});
  check("added to all heads", q, k, v, {.mask = Variable(spread({70, 90}, -3, 3, 6), {.requires_grad = false})});
  check("64 columns", queries({1, 40, 64}), keys({1, 50, 64}), values({1, 50, 64}),
        {.mask = apply(catena::kernels::greater, {spread({40, 50}, -1, 1, 8), 0.1})});
  // The gradient of a mask is computed from the weights.
  for (const Dtype t : kDtypes) {
    const auto gradient = [&](Dtype computed) {
      const auto of = [&](const Array& a) { return Variable(astype(rounded(a, t), computed)); };
      const Variable mask = of(spread({70, 90}, -3, 3, 6));
      sum(square(scaled_dot_product_attention(of(q), of(k), of(v), {.mask = mask}))).backward();
      return to_vector<double>(mask.grad());
    };
    const std::vector<double> narrow = gradient(t), wide = gradient(Dtype::float64);
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < wide.size(); ++i) {
      worst = std::max(worst, std::abs(narrow[i] - wide[i]));
      largest = std::max(largest, std::abs(wide[i]));
    }
    BOOST_TEST(worst <= (t == Dtype::float32 ? 1e-5 : t == Dtype::float16 ? 4e-3 : 3e-2) * largest);
  }
}

BOOST_AUTO_TEST_CASE(scales) {
  const Array q = queries({2, 33, 16}), k = keys({2, 40, 16}), v = values({2, 40, 16});
  for (const double scale : {1.0, -0.4, 0.0, 2.0}) check("scale", q, k, v, {.scale = scale});
  check("negative and causal", q, k, v, {.causal = true, .scale = -1});
  check("zero and causal", q, k, v, {.causal = true, .scale = 0});
}

// The kernels compute weights relative to a score near the largest one so far. From tile to tile, the scores grow by
// less or by more than the distance that counts as near, or fall.
BOOST_AUTO_TEST_CASE(scores_that_grow_from_key_to_key) {
  const Array q = spread({1, 40, 32}, 0.5, 1.5, 1);
  const auto scores = [&](std::int64_t count, double first, double step) {
    const Array k = arrays::zeros({1, count, 32}, Dtype::float64);
    for (std::int64_t j = 0; j < count; ++j) fill(slice(k, 1, j, j + 1), (first + step * double(j)) / std::sqrt(32.0));
    check("steps of " + std::to_string(step), q, k, values({1, count, 32}));
  };
  scores(300, 0, 0.02);
  scores(300, 0, 0.08);
  scores(130, -6, 0.1);
  scores(130, 6, -0.1);
}

BOOST_AUTO_TEST_CASE(heads) {
  check("groups", queries({2, 6, 40, 16}), keys({2, 2, 50, 16}), values({2, 2, 50, 16}));
  check("groups, causal", queries({6, 150, 32}), keys({2, 150, 32}), values({2, 150, 32}), {.causal = true});
  check("one head of keys for all", queries({3, 4, 20, 16}), keys({1, 1, 30, 16}), values({3, 4, 30, 16}));
  check("more axes", queries({2, 1, 3, 2, 9, 16}), keys({2, 2, 1, 2, 11, 16}), values({2, 2, 3, 2, 11, 16}));
  check("no heads", queries({40, 32}), keys({50, 32}), values({50, 32}));
}

// (batch, L, heads, d) in memory; a column between the rows, so that they do not begin at multiples of 16 bytes; the
// columns not next to each other.
BOOST_AUTO_TEST_CASE(layouts) {
  const Array q = queries({2, 40, 3, 16}), k = keys({2, 50, 3, 16}), v = values({2, 50, 3, 16});
  check("heads inside", q, k, v, {}, [](const Array& a) { return swapaxes(a, 1, 2); });
  check("heads inside, causal", q, k, v, {.causal = true}, [](const Array& a) { return swapaxes(a, 1, 2); });
  check("every second token", q, k, v, {},
        [](const Array& a) { return swapaxes(slice(a, 1, 0, a.shape(1), 2), 1, 2); });
  const Array wide_q = queries({2, 20, 17}), wide_k = keys({2, 30, 17}), wide_v = values({2, 30, 17});
  check("not aligned", wide_q, wide_k, wide_v, {}, [](const Array& a) { return slice(a, 2, 1, 17); });
  check("columns apart", queries({2, 16, 20}), keys({2, 16, 30}), values({2, 16, 30}), {},
        [](const Array& a) { return swapaxes(a, 1, 2); });
}

BOOST_AUTO_TEST_CASE(results_are_the_same_in_every_call) {
  const Array q = astype(queries({3, 140, 32}), Dtype::float16), k = astype(keys({3, 150, 32}), Dtype::float16),
              v = astype(values({3, 150, 32}), Dtype::float16);
  const Arrays once = results(q, k, v, {.causal = true}, false), again = results(q, k, v, {.causal = true}, false);
  for (int i = 0; i < 4; ++i) BOOST_CHECK_NO_THROW(testing::assert_allclose(again[i], once[i], 0, 0));
}

// Scores far beyond the range of exp.
BOOST_AUTO_TEST_CASE(large_scores) {
  const Array q = spread({1, 20, 16}, -30, 30, 1), k = spread({1, 40, 16}, -30, 30, 2);
  for (const Dtype t : kDtypes) {
    const Variable y =
        scaled_dot_product_attention(astype(q, t), astype(k, t), arrays::ones({1, 40, 16}, t), {.scale = 1.0});
    const double bound = t == Dtype::float32 ? 1e-5 : t == Dtype::float16 ? 2e-3 : 1e-2;
    for (const double e : to_vector<double>(y.data())) BOOST_TEST(std::abs(e - 1) < bound);
  }
}

BOOST_AUTO_TEST_SUITE_END()
