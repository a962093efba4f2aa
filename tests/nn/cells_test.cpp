// lstm and slstm, with gates read channel by channel.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/function_node.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions/activation.h>
#include <catena/tests/support/framework_derivatives.h>

using namespace autograd;
using test::spread;

namespace {

using Doubles = std::vector<double>;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

struct Gates {
  double a, i, f, o;
};
// The gates of element k of the units (b, n, rest): x is (b, 4 n, rest) with unit u in the channels 4 u to 4 u + 3.
Gates gates_of(const Doubles& x, std::size_t k, std::size_t n, std::size_t rest) {
  const std::size_t sample = k / (n * rest), unit = k / rest % n, place = k % rest;
  const auto at = [&](std::size_t gate) { return x[(sample * 4 * n + 4 * unit + gate) * rest + place]; };
  return {std::tanh(at(0)), logistic(at(1)), logistic(at(2)), at(3)};
}

struct Case {
  std::int64_t all, going_on, units;
  Shape rest;
};
const Case kCases[] = {{3, 3, 2, {}}, {3, 2, 2, {}}, {3, 0, 2, {}}, {1, 1, 1, {}}, {2, 1, 3, {2, 2}}, {0, 0, 2, {}}};

Shape shape_of(std::int64_t batch, std::int64_t channels, const Shape& rest) {
  Shape s{batch, channels};
  for (const std::int64_t n : rest) s.push_back(n);
  return s;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cells)

BOOST_AUTO_TEST_CASE(lstm_by_channels) {
  for (const Case& c : kCases) BOOST_TEST_CONTEXT(c.all << " of which " << c.going_on << c.rest) {
      const Shape shape = shape_of(c.all, c.units, c.rest);
      const Array before = spread(shape), x = spread(shape_of(c.going_on, 4 * c.units, c.rest), -2, 2, 3);
      const Doubles bs = to_vector<double>(before), xs = to_vector<double>(x);
      const std::size_t rest = std::size_t(catena::size_of(c.rest));
      Doubles state = bs, h;
      for (std::size_t k = 0; k < xs.size() / 4; ++k) {
        const Gates g = gates_of(xs, k, std::size_t(c.units), rest);
        state[k] = g.a * g.i + g.f * bs[k];
        h.push_back(logistic(g.o) * std::tanh(state[k]));
      }
      const auto f = [](const Variables& v) {
        const auto [s, y] = nn::lstm(v[0], v[1]);
        return Variables{s, y};
      };
      const Variables y = f({Variable(before), Variable(x)});
      BOOST_CHECK_NO_THROW(testing::assert_allclose(y[0].data(), array(state, shape), 1e-12, 1e-12));
      BOOST_CHECK_NO_THROW(
          testing::assert_allclose(y[1].data(), array(h, shape_of(c.going_on, c.units, c.rest)), 1e-12, 1e-12));
      test::check_derivatives("lstm", f, {before, x}, {.atol16 = 2e-3, .rtol16 = 1e-2});
    }
}

BOOST_AUTO_TEST_CASE(slstm_by_channels) {
  for (const Case& c : kCases) {
    if (c.all != c.going_on && c.rest.size() == 0) continue;
    BOOST_TEST_CONTEXT(c.all << c.rest) {
      const Shape shape = shape_of(c.all, c.units, c.rest), wide = shape_of(c.all, 4 * c.units, c.rest);
      const Array all[] = {spread(shape), spread(shape, -1, 1, 2), spread(wide, -2, 2, 3), spread(wide, -2, 2, 5)};
      const std::size_t rest = std::size_t(catena::size_of(c.rest));
      Doubles state, h, bs[2], xs[2];
      for (std::size_t k = 0; k < 2; ++k) bs[k] = to_vector<double>(all[k]), xs[k] = to_vector<double>(all[2 + k]);
      for (std::size_t k = 0; k < bs[0].size(); ++k) {
        const Gates g = gates_of(xs[0], k, std::size_t(c.units), rest),
                    q = gates_of(xs[1], k, std::size_t(c.units), rest);
        state.push_back(g.a * g.i + q.a * q.i + g.f * bs[0][k] + q.f * bs[1][k]);
        h.push_back(logistic(g.o + q.o) * std::tanh(state.back()));
      }
      const auto f = [](const Variables& v) {
        const auto [s, y] = nn::slstm(v[0], v[1], v[2], v[3]);
        return Variables{s, y};
      };
      const Variables y = f({Variable(all[0]), Variable(all[1]), Variable(all[2]), Variable(all[3])});
      BOOST_CHECK_NO_THROW(testing::assert_allclose(y[0].data(), array(state, shape), 1e-12, 1e-12));
      BOOST_CHECK_NO_THROW(testing::assert_allclose(y[1].data(), array(h, shape), 1e-12, 1e-12));
      test::check_derivatives("slstm", f, {all[0], all[1], all[2], all[3]}, {.atol16 = 2e-3, .rtol16 = 1e-2});
    }
  }
}

// A gradient that is absent counts as zeros, in both rules.
BOOST_AUTO_TEST_CASE(one_gradient_alone) {
  const Array before = spread({3, 2}), x = spread({2, 8}, -2, 2, 3);
  const auto gradients = [&](bool of_c, bool explicit_zeros, bool second) {
    Variable c(before), v(x);
    auto [state, h] = nn::lstm(c, v);
    if (of_c || explicit_zeros) state.set_grad(of_c ? spread({3, 2}, -1, 1, 7) : arrays::zeros({3, 2}, Dtype::float64));
    if (!of_c || explicit_zeros) h.set_grad(of_c ? arrays::zeros({2, 2}, Dtype::float64) : spread({2, 2}, -1, 1, 8));
    (of_c ? state : h).backward({.enable_double_backprop = second});
    Doubles g = to_vector<double>(c.grad());
    for (const double one : to_vector<double>(v.grad())) g.push_back(one);
    return g;
  };
  for (const bool of_c : {true, false})
    for (const bool second : {true, false}) {
      const Doubles absent = gradients(of_c, false, second), zero = gradients(of_c, true, false);
      BOOST_REQUIRE_EQUAL(absent.size(), zero.size());
      for (std::size_t k = 0; k < absent.size(); ++k) BOOST_TEST(std::fabs(absent[k] - zero[k]) < 1e-14);
    }
}

// Only what the rules read stays alive: the inputs and the new state.
BOOST_AUTO_TEST_CASE(a_cell_retains_its_inputs_and_its_state) {
  Variable before(spread({3, 2})), x(spread({3, 8}, -2, 2, 3));
  auto [c, h] = nn::lstm(before, x);
  c = Variable();  // its array is retained, the variable is not needed
  h.set_grad(arrays::ones({3, 2}, Dtype::float64));
  h.backward();
  BOOST_TEST(bool(x.grad()));
  Variable y(before.data());
  auto [c2, h2] = nn::lstm(y, x);
  fill(y.data(), 3);
  h2.set_grad(arrays::ones({3, 2}, Dtype::float64));
  BOOST_CHECK_THROW(h2.backward(), catena::RuntimeError);
}

BOOST_AUTO_TEST_CASE(errors) {
  const Variable c(arrays::ones({3, 2})), x(arrays::ones({3, 8}));
  BOOST_CHECK_THROW(nn::lstm(c, Variable(arrays::ones({4, 8}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::lstm(c, Variable(arrays::ones({3, 6}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::lstm(c, Variable(arrays::ones({3, 8, 1}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::lstm(Variable(arrays::ones({3, 2, 2})), Variable(arrays::ones({3, 8, 3}))),
                    catena::InvalidType);
  BOOST_CHECK_THROW(nn::lstm(Variable(arrays::ones({3})), Variable(arrays::ones({12}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::lstm(Variable(arrays::ones({3, 2}, Dtype::int32)), x), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(nn::lstm(c, Variable(arrays::ones({3, 8}, Dtype::float64))), catena::InvalidType,
                        [](const catena::Error& e) {
                          return std::string(e.what()).starts_with(
                              "Invalid operation is performed in: LSTM (Forward)\nc_prev is float32, x float64: "
                              "x.astype(float32)");
                        });
  BOOST_CHECK_THROW(nn::slstm(c, c, x, Variable(arrays::ones({2, 8}))), catena::InvalidType);
  BOOST_CHECK_THROW(nn::slstm(c, Variable(arrays::ones({3, 3})), x, Variable(arrays::ones({3, 12}))),
                    catena::InvalidType);
  BOOST_TEST(nn::lstm(c, x).h.creator()->label() == "LSTM");
  BOOST_TEST(nn::slstm(c, c, x, x).h.creator()->label() == "SLSTM");
}

BOOST_AUTO_TEST_SUITE_END()
