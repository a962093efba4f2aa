// Attention and positions.
#include <catena/nn/functions/attention.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include <catena/autograd/attention_extension.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/flag.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/noise.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using nn::AttentionOptions;
using nn::scaled_dot_product_attention;
using test::spread;

namespace {

AttentionOptions options_of(const test::GoldenCall& c) {
  AttentionOptions o{.causal = c.flag("causal", false), .window = c.integer("window", 0)};
  o.offset = c.integer("offset", 0);
  if (c.has("scale")) o.scale = c.number("scale", 1);
  if (c.x("mask")) o.mask = c.x("mask");
  return o;
}

// By the definition, in float64, one query after the other.
struct Expected {
  std::vector<double> y;
  Expected(const Array& q, const Array& k, const Array& v, double scale, auto&& sees) {
    const std::int64_t heads = q.shape(0), L = q.shape(1), d = q.shape(2), M = k.shape(1), dv = v.shape(2);
    const std::int64_t groups = heads / k.shape(0);
    const auto a = to_vector<double>(q), b = to_vector<double>(k), c = to_vector<double>(v);
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t i = 0; i < L; ++i) {
        std::vector<double> w(std::size_t(M), 0.0), out(std::size_t(dv), 0.0);
        double total = 0;
        for (std::int64_t j = 0; j < M; ++j) {
          double s = 0;
          for (std::int64_t e = 0; e < d; ++e)
            s += a[std::size_t((h * L + i) * d + e)] * b[std::size_t((h / groups * M + j) * d + e)];
          total += w[std::size_t(j)] = sees(i, j) ? std::exp(scale * s) : 0;
        }
        for (std::int64_t j = 0; j < M && total > 0; ++j)
          for (std::int64_t e = 0; e < dv; ++e)
            out[std::size_t(e)] += w[std::size_t(j)] / total * c[std::size_t((h / groups * M + j) * dv + e)];
        y.insert(y.end(), out.begin(), out.end());
      }
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(attention)

BOOST_AUTO_TEST_CASE(golden_values) {
  test::run_golden("torch_attention",
                   {{"attention", [](const test::GoldenCall& c) {
                       return Variables{scaled_dot_product_attention(c.x(0), c.x(1), c.x(2), options_of(c))};
                     }}});
}

BOOST_AUTO_TEST_CASE(derivatives) {
  const Arrays in = {spread({2, 4, 3}, -1, 1, 1), spread({2, 5, 3}, -1, 1, 2), spread({2, 5, 2}, -1, 1, 3)};
  const Array bias = spread({4, 5}, -1, 1, 4);
  const auto check = [&](const char* name, const AttentionOptions& o, const Arrays& inputs) {
    test::check_derivatives(
        name,
        [&](const Variables& x) {
          AttentionOptions options = o;
          if (x.size() > 3) options.mask = x[3];
          return Variables{scaled_dot_product_attention(x[0], x[1], x[2], options)};
        },
        inputs);
  };
  check("plain", {}, in);
  check("causal", {.causal = true}, in);
  check("mask", {}, {in[0], in[1], in[2], bias});
  check("groups", {.window = 2}, {spread({4, 3, 3}), in[1], in[2]});
}

// Long enough for several blocks of queries and of keys; lengths that are no multiples of a block.
BOOST_AUTO_TEST_CASE(many_blocks) {
  if (!default_backend().extension<AttentionExtension>(default_backend().default_device())) return;  // no tiles there
  const std::int64_t L = 301, M = 530;
  const Array q = spread({4, L, 5}, -2, 2, 1), k = spread({2, M, 5}, -2, 2, 2), v = spread({2, M, 3}, -2, 2, 3);
  const auto compare = [&](const char* name, const AttentionOptions& o, auto&& sees) {
    BOOST_TEST_CONTEXT(name) {
      const Expected expected(q, k, v, 0.5, sees);
      AttentionOptions options = o;
      options.scale = 0.5;
      BOOST_CHECK_NO_THROW(testing::assert_allclose(scaled_dot_product_attention(q, k, v, options).data(),
                                                    array(expected.y, {4, L, 3}), 1e-12, 1e-12));
      // The gradients beside those of the definition on Variables.
      const auto gradients = [&](bool definition) {
        Variable x(q), y(k), z(v);
        const Variable out = scaled_dot_product_attention(x, y, z, options);
        const Variable loss = sum(out * Variable(spread(out.shape(), -1, 1, 7)));
        loss.backward({.enable_double_backprop = definition});
        return Arrays{x.grad(), y.grad(), z.grad()};
      };
      const Arrays tiled = gradients(false), defined = gradients(true);
      for (int i = 0; i < 3; ++i) BOOST_CHECK_NO_THROW(testing::assert_allclose(tiled[i], defined[i], 1e-11, 1e-11));
    }
  };
  compare("all", {}, [](auto, auto) { return true; });
  compare("causal", {.causal = true}, [](auto i, auto j) { return j <= i; });
  compare("window", {.window = 40, .offset = 200}, [](auto i, auto j) { return i + 200 - j < 40 && j - i - 200 < 40; });
  compare("causal window", {.causal = true, .window = 290, .offset = M - L},
          [&](auto i, auto j) { return j <= i + M - L && i + M - L - j < 290; });
  compare("some see nothing", {.causal = true, .offset = -150}, [](auto i, auto j) { return j <= i - 150; });
}

BOOST_AUTO_TEST_CASE(masks) {
  const Array q = spread({3, 7, 4}), k = spread({3, 9, 4}, -1, 1, 1), v = spread({3, 9, 2}, -1, 1, 2);
  const Array seen = apply(catena::kernels::greater, {spread({3, 7, 9}, -1, 1, 3), 0.0});
  fill(slice(slice(seen, 0, 1, 2), 1, 2, 4), false);
  const Variable x(q), y(k), z(v);
  const Variable out = scaled_dot_product_attention(x, y, z, {.mask = seen});
  sum(out * out).backward();
  // Queries without keys: the result and the gradient are 0, not NaN.
  const auto nothing = slice(slice(out.data(), 0, 1, 2), 1, 2, 4), gradient = slice(slice(x.grad(), 0, 1, 2), 1, 2, 4);
  for (const double e : to_vector<double>(nothing)) BOOST_TEST(e == 0);
  for (const double e : to_vector<double>(gradient)) BOOST_TEST(e == 0);
  BOOST_TEST(!has_nan(y.grad()));
  // The mask as numbers that are added, for one row of keys and all heads.
  const Array infinite = where(seen, Operand(0.0), Operand(-std::numeric_limits<double>::infinity()));
  BOOST_CHECK_NO_THROW(testing::assert_allclose(
      scaled_dot_product_attention(q, k, v, {.mask = astype(infinite, Dtype::float64)}).data(), out.data(), 0, 0));
  const Array keys = slice(slice(seen, 0, 0, 1), 1, 0, 1);
  BOOST_CHECK_NO_THROW(testing::assert_allclose(
      scaled_dot_product_attention(q, k, v, {.mask = keys}).data(),
      scaled_dot_product_attention(q, k, v, {.mask = copy(broadcast_to(keys, {3, 7, 9}))}).data(), 0, 0));
}

BOOST_AUTO_TEST_CASE(layouts_and_edges) {
  // (batch, L, heads, d) in memory, and one product for q, k and v.
  const Array all = spread({2, 6, 3, 2, 4});
  const auto part = [&](int i) { return transpose(squeeze(slice(all, 2, i, i + 1), Axes(2)), Dims{0, 2, 1, 3}); };
  const auto y = scaled_dot_product_attention(part(0), part(1), part(2));
  BOOST_CHECK_NO_THROW(testing::assert_allclose(
      y.data(), scaled_dot_product_attention(copy(part(0)), copy(part(1)), copy(part(2))).data(), 1e-14, 1e-14));
  if (default_backend().name() != "reference" && y.device().kind == Device::Kind::cpu)
    BOOST_TEST(transpose(y.data(), Dims{0, 2, 1, 3}).is_c_contiguous());
  for (const Shape& s : {Shape{0, 2, 3, 4}, Shape{2, 0, 3, 4}, Shape{2, 2, 0, 4}})
    BOOST_TEST(scaled_dot_product_attention(arrays::ones(s), arrays::ones(s), arrays::ones(s)).shape() == s);
  // No keys: nothing is seen.
  const Variable none =
      scaled_dot_product_attention(arrays::ones({2, 3, 4}), arrays::ones({2, 0, 4}), arrays::ones({2, 0, 5}));
  BOOST_TEST(none.shape() == (Shape{2, 3, 5}));
  for (const double e : to_vector<double>(none.data())) BOOST_TEST(e == 0);
  // One token.
  const Array v = spread({1, 3});
  BOOST_CHECK_NO_THROW(testing::assert_allclose(
      scaled_dot_product_attention(arrays::ones({1, 2}), arrays::ones({1, 2}), astype(v, Dtype::float32)).data(), v,
      1e-6, 1e-6));
}

BOOST_AUTO_TEST_CASE(dropout_follows_the_train_mode) {
  const Array q = spread({2, 3, 4}), k = spread({2, 5, 4}), v = spread({2, 5, 3});
  const auto value = [&] { return scaled_dot_product_attention(q, k, v, {.dropout = 0.5}).data(); };
  {
    const auto scope = train_mode(false);
    BOOST_CHECK_NO_THROW(testing::assert_allclose(value(), scaled_dot_product_attention(q, k, v).data(), 0, 0));
  }
  seed(3);
  const Array once = value();
  seed(3);
  const Variable weights = nn::softmax(matmul(Variable(q) * 0.5, Variable(k), false, true), 2);
  BOOST_CHECK_NO_THROW(
      testing::assert_allclose(once, matmul(nn::dropout(weights, 0.5), Variable(v)).data(), 1e-12, 1e-12));
}

BOOST_AUTO_TEST_CASE(positions) {
  const Array p = nn::sinusoidal_positions(5, 6);
  std::vector<double> expected;
  for (int i = 0; i < 5; ++i)
    for (int c = 0; c < 6; ++c) {
      const double angle = i / std::pow(10000.0, c / 2 * 2 / 6.0);
      expected.push_back(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  BOOST_CHECK_NO_THROW(testing::assert_allclose(p, array(expected, {5, 6}), 1e-6, 1e-6));
  const Array angles = nn::rotary_angles(4, 6, 3);
  BOOST_TEST(angles.shape() == (Shape{4, 3}));
  for (const auto pairs : {nn::RotaryPairs::halves, nn::RotaryPairs::neighbours}) {
    const Array x = spread({2, 4, 6});
    const auto v = to_vector<double>(x);
    std::vector<double> turned(v.size());
    for (std::size_t row = 0; row < 8; ++row)
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t a = row * 6 + (pairs == nn::RotaryPairs::halves ? i : 2 * i);
        const std::size_t b = row * 6 + (pairs == nn::RotaryPairs::halves ? i + 3 : 2 * i + 1);
        const double angle = double(3 + row % 4) * std::pow(10000.0, -2.0 * double(i) / 6);
        turned[a] = v[a] * std::cos(angle) - v[b] * std::sin(angle);
        turned[b] = v[a] * std::sin(angle) + v[b] * std::cos(angle);
      }
    const auto rotated = [&](const Variables& in) { return Variables{nn::rotary_embedding(in[0], angles, pairs)}; };
    BOOST_CHECK_NO_THROW(
        testing::assert_allclose(rotated({Variable(x)})[0].data(), array(turned, {2, 4, 6}), 1e-12, 1e-12));
    test::check_derivatives("rotary", rotated, {x});
  }
  BOOST_CHECK_THROW(nn::rotary_angles(4, 5), catena::ValueError);
  BOOST_CHECK_THROW(nn::rotary_embedding(arrays::ones({2, 3, 6}), angles), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(errors) {
  const auto message = [](const char* text) {
    return [text](const catena::Error& e) {
      const bool found = std::string(e.what()).find(text) != std::string::npos;
      if (!found) BOOST_TEST_MESSAGE(e.what());
      return found;
    };
  };
  const Variable q(arrays::ones({4, 3, 2}));
  BOOST_CHECK_EXCEPTION(scaled_dot_product_attention(q, arrays::ones({4, 3, 5}), q), catena::InvalidType,
                        message("q.shape[-1] == k.shape[-1]"));
  BOOST_CHECK_EXCEPTION(scaled_dot_product_attention(q, arrays::ones({3, 3, 2}), arrays::ones({3, 3, 2})),
                        catena::InvalidType, message("a multiple of the heads"));
  BOOST_CHECK_EXCEPTION(scaled_dot_product_attention(q, q, q, {.mask = arrays::ones({5, 3})}), catena::ValueError,
                        message("scaled_dot_product_attention: the mask of shape (5, 3) does not broadcast"));
  BOOST_CHECK_EXCEPTION(scaled_dot_product_attention(q, q, q, {.mask = arrays::ones({3, 3}, Dtype::int32)}),
                        catena::ValueError, message("the mask has the dtype int32"));
  BOOST_CHECK_EXCEPTION(scaled_dot_product_attention(q, q, q, {.window = -1}), catena::ValueError,
                        message("window is -1"));
  BOOST_CHECK_EXCEPTION(scaled_dot_product_attention(q, q, q, {.dropout = -0.5}), catena::ValueError,
                        message("the ratio -0.5 does not lie in [0, 1)"));
  BOOST_CHECK_THROW(scaled_dot_product_attention(arrays::ones({4}), q, q), catena::InvalidType);
}

BOOST_AUTO_TEST_SUITE_END()
