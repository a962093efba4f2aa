// Recurrent networks of NnExtension against the cells' formulas, sequence by sequence in plain loops, and against
// finite differences.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>

#include <catena/autograd/array.h>
#include <catena/autograd/nn_extension.h>

using namespace autograd;
using catena::TypeError;
using catena::ValueError;

namespace {

using Numbers = std::vector<double>;

Array random(const Shape& shape, Dtype dtype = Dtype::float64) {
  static Generator g{23, 0};
  return astype(random_uniform(shape, -1, 1, Dtype::float64, g), dtype);
}

struct Case {
  RnnMode mode;
  std::int64_t layers;
  bool both;
  std::vector<std::int64_t> batches;
  std::int64_t inputs, units;

  std::int64_t directions() const { return both ? 2 : 1; }
  RnnSpec spec() const {
    RnnSpec s;
    s.mode = mode;
    s.layers = layers;
    s.bidirectional = both;
    return s;
  }
  std::int64_t rows() const {
    std::int64_t n = 0;
    for (const std::int64_t b : batches) n += b;
    return n;
  }
};

RnnOperands operands_of(const Case& c, Dtype dtype = Dtype::float64) {
  RnnOperands o;
  o.x = random({c.rows(), c.inputs}, dtype);
  o.batches = c.batches;
  const Shape states{c.layers * c.directions(), c.batches[0], c.units};
  o.hx = random(states, dtype);
  if (c.mode == RnnMode::lstm) o.cx = random(states, dtype);
  const int matrices = rnn_matrices(c.mode);
  for (std::int64_t k = 0; k < states[0]; ++k)
    for (int j = 0; j < matrices; ++j) {
      const std::int64_t below = k < c.directions() ? c.inputs : c.units * c.directions();
      o.ws.push_back(random({c.units, j < matrices / 2 ? below : c.units}, dtype));
      o.bs.push_back(random({c.units}, dtype));
    }
  return o;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const RnnMode mode : {RnnMode::relu, RnnMode::tanh, RnnMode::lstm, RnnMode::gru})
    for (const bool both : {false, true}) {
      all.push_back({mode, 1, both, {3, 2, 1}, 3, 2});
      all.push_back({mode, 2, both, {3, 3, 1, 1}, 2, 4});
      all.push_back({mode, 3, both, {1}, 5, 3});
    }
  return all;
}

// ---- the oracle: each sequence by itself --------------------------------------------------------
double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

struct Oracle {
  Numbers y, hy, cy;
};

// ws and bs of one layer and direction, as numbers.
struct Weights {
  std::vector<Numbers> w, b;
  // W_j v + b_j, element u.
  double sum(int j, const Numbers& v, std::size_t u) const {
    double total = b[std::size_t(j)][u];
    for (std::size_t i = 0; i < v.size(); ++i) total += w[std::size_t(j)][u * v.size() + i] * v[i];
    return total;
  }
};

void step(RnnMode mode, const Weights& p, const Numbers& x, Numbers& h, Numbers& c) {
  Numbers next(h.size());
  for (std::size_t u = 0; u < h.size(); ++u) {
    if (mode == RnnMode::lstm) {
      const double i = sigmoid(p.sum(0, x, u) + p.sum(4, h, u)), f = sigmoid(p.sum(1, x, u) + p.sum(5, h, u));
      const double a = std::tanh(p.sum(2, x, u) + p.sum(6, h, u)), o = sigmoid(p.sum(3, x, u) + p.sum(7, h, u));
      c[u] = f * c[u] + i * a;
      next[u] = o * std::tanh(c[u]);
    } else if (mode == RnnMode::gru) {
      const double r = sigmoid(p.sum(0, x, u) + p.sum(3, h, u)), z = sigmoid(p.sum(1, x, u) + p.sum(4, h, u));
      next[u] = (1 - z) * std::tanh(p.sum(2, x, u) + r * p.sum(5, h, u)) + z * h[u];
    } else {
      const double total = p.sum(0, x, u) + p.sum(1, h, u);
      next[u] = mode == RnnMode::tanh ? std::tanh(total) : std::max(total, 0.0);
    }
  }
  h = next;
}

Oracle oracle(const Case& c, const RnnOperands& o) {
  const std::size_t n = std::size_t(c.units), dirs = std::size_t(c.directions()), batch = std::size_t(c.batches[0]);
  const std::size_t matrices = std::size_t(rnn_matrices(c.mode));
  const Numbers hx = to_vector<double>(o.hx), cx = o.cx ? to_vector<double>(o.cx) : Numbers(hx.size());
  Oracle to{Numbers(std::size_t(c.rows()) * n * dirs), Numbers(hx.size()), Numbers(hx.size())};
  const Numbers x = to_vector<double>(o.x);
  for (std::size_t b = 0; b < batch; ++b) {
    std::vector<std::size_t> row;  // of this sequence, by time
    std::size_t begin = 0;
    for (const std::int64_t count : c.batches) {
      if (std::int64_t(b) < count) row.push_back(begin + b);
      begin += std::size_t(count);
    }
    std::vector<Numbers> in;
    for (const std::size_t r : row) {
      const auto first = x.begin() + std::ptrdiff_t(r) * c.inputs;
      in.emplace_back(first, first + c.inputs);
    }
    for (std::size_t layer = 0; layer < std::size_t(c.layers); ++layer) {
      std::vector<Numbers> out(in.size(), Numbers(n * dirs));
      for (std::size_t d = 0; d < dirs; ++d) {
        const std::size_t k = layer * dirs + d, at = (k * batch + b) * n;
        Weights p;
        for (std::size_t j = 0; j < matrices; ++j) {
          p.w.push_back(to_vector<double>(o.ws[k * matrices + j]));
          p.b.push_back(to_vector<double>(o.bs[k * matrices + j]));
        }
        Numbers h(hx.begin() + std::ptrdiff_t(at), hx.begin() + std::ptrdiff_t(at + n));
        Numbers cell(cx.begin() + std::ptrdiff_t(at), cx.begin() + std::ptrdiff_t(at + n));
        for (std::size_t s = 0; s < in.size(); ++s) {
          const std::size_t t = d == 0 ? s : in.size() - 1 - s;
          step(c.mode, p, in[t], h, cell);
          std::copy(h.begin(), h.end(), out[t].begin() + std::ptrdiff_t(d * n));
        }
        std::copy(h.begin(), h.end(), to.hy.begin() + std::ptrdiff_t(at));
        std::copy(cell.begin(), cell.end(), to.cy.begin() + std::ptrdiff_t(at));
      }
      in = out;
    }
    for (std::size_t t = 0; t < row.size(); ++t)
      std::copy(in[t].begin(), in[t].end(), to.y.begin() + std::ptrdiff_t(row[t] * n * dirs));
  }
  return to;
}

void check_close(const Array& got, const Numbers& expected, double tolerance, const char* what) {
  const Numbers v = to_vector<double>(got);
  BOOST_REQUIRE_EQUAL(v.size(), expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < v.size(); ++i)
    worst = std::max(worst, std::isnan(v[i]) ? 1e300 : std::abs(v[i] - expected[i]));
  BOOST_TEST(worst <= tolerance, what << " is off by " << worst);
}

const char* name_of(RnnMode mode) {
  return mode == RnnMode::relu ? "relu" : mode == RnnMode::tanh ? "tanh" : mode == RnnMode::lstm ? "lstm" : "gru";
}
#define FOR_CASE(c) \
  BOOST_TEST_CONTEXT(name_of((c).mode) << ", " << (c).layers << " layers, " << (c).directions() << " directions")

double dot(const Array& a, const Array& b) { return a ? item(sum(a * b)).to_double() : 0; }

// The sum of all outputs, each times a number of its own.
struct Loss {
  Array gy, ghy, gcy;
  double operator()(const RnnResult& r) const { return dot(gy, r.y) + dot(ghy, r.hy) + dot(gcy, r.cy); }
};

// P(i), Q(i) of the golden values.
Array golden(int numerator, int offset, int modulus, int middle, int start, const Shape& shape) {
  Numbers v;
  for (std::int64_t j = 0; j < catena::size_of(shape); ++j)
    v.push_back(double((numerator * (start + j) + offset) % modulus - middle) / 10);
  return array(v, shape);
}
Array p(int start, const Shape& shape) { return golden(7, 3, 11, 5, start, shape); }
Array q(int start, const Shape& shape) { return golden(5, 1, 13, 6, start, shape); }

void add_golden_weights(RnnOperands& o, int matrices, int w, int b) {
  for (int j = 0; j < matrices; ++j) {
    const std::int64_t in = j < matrices / 2 ? 3 : 2;
    o.ws.push_back(p(w, {2, in}));
    o.bs.push_back(q(b + 2 * j, {2}));
    w += int(2 * in);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nn_extension_rnn)

BOOST_AUTO_TEST_CASE(results_are_those_of_each_sequence_by_itself) {
  for (const Case& c : cases()) FOR_CASE(c) {
      for (const Dtype t : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
        const double tolerance = t == Dtype::float64   ? 1e-13
                                 : t == Dtype::float32 ? 2e-5
                                 : t == Dtype::float16 ? 4e-3
                                                       : 3e-2;
        const RnnOperands o = operands_of(c, t);
        const RnnResult r = autograd::nn_extension(o.x).rnn(o, c.spec());
        const Oracle expected = oracle(c, o);
        BOOST_TEST((r.y.dtype() == t && r.hy.dtype() == t));
        BOOST_TEST(r.y.shape() == Shape({c.rows(), c.units * c.directions()}));
        BOOST_TEST(r.hy.shape() == o.hx.shape());
        check_close(r.y, expected.y, tolerance, "y");
        check_close(r.hy, expected.hy, tolerance, "hy");
        BOOST_TEST(bool(r.cy) == (c.mode == RnnMode::lstm));
        if (r.cy) check_close(r.cy, expected.cy, tolerance, "cy");
        RnnSpec inference = c.spec();
        inference.training = false;
        inference.dropout = 0.5;  // does nothing then
        check_close(autograd::nn_extension(o.x).rnn(o, inference).y, expected.y, tolerance, "y of inference");
      }
    }
}

BOOST_AUTO_TEST_CASE(golden_values) {
  const auto given = [](RnnMode mode, bool cell) {
    RnnOperands o;
    o.x = concatenate(std::vector<Array>{q(0, {2, 3}), q(6, {1, 3})}, 0);
    o.batches = {2, 1};
    o.hx = p(2, {1, 2, 2});
    if (cell) o.cx = q(3, {1, 2, 2});
    RnnSpec s;
    s.mode = mode;
    return std::pair(o, s);
  };
  NnExtension& nn = autograd::nn_extension(arrays::ones({1}));
  {
    auto [o, s] = given(RnnMode::lstm, true);
    add_golden_weights(o, 8, 0, 40);
    const RnnResult r = nn.rnn(o, s);
    check_close(r.hy, {-.466557, -.070441, -.417918, .026462}, 1e-6, "hy of lstm");
    check_close(r.cy, {-.729044, -.261508, -.65697, .106357}, 1e-6, "cy of lstm");
    check_close(r.y, {-.329991, -.082459, -.417918, .026462, -.466557, -.070441}, 1e-6, "y of lstm");
    add_golden_weights(o, 8, 100, 140);
    o.hx = concatenate(std::vector<Array>{p(2, {1, 2, 2}), p(7, {1, 2, 2})}, 0);
    o.cx = concatenate(std::vector<Array>{q(3, {1, 2, 2}), q(8, {1, 2, 2})}, 0);
    s.bidirectional = true;
    const RnnResult two = nn.rnn(o, s);
    check_close(slice(two.hy, 0, 1, 2), {-.033115, .247333, .107223, .150708}, 1e-6, "hy[1] of bilstm");
    check_close(slice(two.cy, 0, 1, 2), {-.08299, .37914, .386483, .217864}, 1e-6, "cy[1] of bilstm");
    check_close(two.y,
                {-.329991, -.082459, -.033115, .247333, -.417918, .026462, .107223, .150708, -.466557, -.070441,
                 -.139316, .211065},
                1e-6, "y of bilstm");
  }
  {
    auto [o, s] = given(RnnMode::gru, false);
    add_golden_weights(o, 6, 0, 30);
    const RnnResult r = nn.rnn(o, s);
    check_close(r.hy, {-.283787, .047809, .141791, .136791}, 1e-6, "hy of gru");
    check_close(slice(r.y, 0, 0, 2), {-.240123, -.244544, .141791, .136791}, 1e-6, "ys[0] of gru");
  }
  {
    auto [o, s] = given(RnnMode::tanh, false);
    add_golden_weights(o, 2, 0, 10);
    const RnnResult r = nn.rnn(o, s);
    check_close(r.hy, {.587015, -.36994, .685809, -.515359}, 1e-6, "hy of tanh");
    check_close(slice(r.y, 0, 0, 2), {.725897, -.388473, .685809, -.515359}, 1e-6, "ys[0] of tanh");
  }
}

namespace {

// Every gradient, against central differences along a random direction of its operand.
void check_gradients(const Case& c, const RnnSpec& spec, RnnOperands o) {
  NnExtension& nn = autograd::nn_extension(o.x);
  const RnnResult r = nn.rnn(o, spec);
  const Loss loss{random(r.y.shape()), random(r.hy.shape()), r.cy ? random(r.cy.shape()) : Array()};
  const RnnGradients g = nn.rnn_backward(o, spec, r, {loss.gy, loss.ghy, loss.gcy});
  const auto check = [&](Array& operand, const Array& gradient, const char* what, std::size_t i) {
    BOOST_REQUIRE(gradient.shape() == operand.shape());
    const Array at = operand, direction = random(operand.shape());
    constexpr double kStep = 1e-6;
    operand = at + direction * kStep;
    const double up = loss(nn.rnn(o, spec));
    operand = at - direction * kStep;
    const double down = loss(nn.rnn(o, spec));
    operand = at;
    const double expected = (up - down) / (2 * kStep), got = dot(gradient, direction);
    BOOST_TEST(std::abs(got - expected) < 1e-7 * std::max(1., std::abs(expected)),
               what << " " << i << ": " << got << ", differences say " << expected);
  };
  check(o.x, g.gx, "gx", 0);
  check(o.hx, g.ghx, "ghx", 0);
  BOOST_TEST(bool(g.gcx) == (c.mode == RnnMode::lstm));
  if (o.cx) check(o.cx, g.gcx, "gcx", 0);
  BOOST_REQUIRE_EQUAL(g.gws.size(), o.ws.size());
  BOOST_REQUIRE_EQUAL(g.gbs.size(), o.bs.size());
  for (std::size_t i = 0; i < o.ws.size(); ++i) {
    check(o.ws[i], g.gws[i], "gws", i);
    check(o.bs[i], g.gbs[i], "gbs", i);
  }
  // Once more gives the same: nothing that was kept has changed.
  const RnnGradients again = nn.rnn_backward(o, spec, r, {loss.gy, loss.ghy, loss.gcy});
  check_close(again.gx, to_vector<double>(g.gx), 0, "gx once more");
  check_close(again.gws.back(), to_vector<double>(g.gws.back()), 0, "gws once more");
}

RnnSpec with_dropout(const Case& c, double ratio) {
  RnnSpec s = c.spec();
  s.dropout = ratio;
  s.seed = 5;
  Generator g{5, 0};
  for (std::int64_t k = c.directions(); k < c.layers * c.directions(); ++k)
    s.offsets.emplace_back(Scalar(g.take(c.rows() * c.units * c.directions())));
  return s;
}

}  // namespace

BOOST_AUTO_TEST_CASE(gradients_agree_with_differences) {
  for (const Case& c : cases()) FOR_CASE(c) check_gradients(c, c.spec(), operands_of(c));
}

BOOST_AUTO_TEST_CASE(gradients_through_dropout_agree_with_differences) {
  for (const Case& c : cases())
    if (c.layers > 1) FOR_CASE(c) check_gradients(c, with_dropout(c, 0.4), operands_of(c));
}

BOOST_AUTO_TEST_CASE(absent_gradients_are_zero) {
  for (const RnnMode mode : {RnnMode::lstm, RnnMode::gru}) {
    const Case c{mode, 2, true, {3, 2}, 3, 2};
    const RnnOperands o = operands_of(c);
    NnExtension& nn = autograd::nn_extension(o.x);
    const RnnResult r = nn.rnn(o, c.spec());
    const Array gy = random(r.y.shape()), ghy = random(r.hy.shape()), none_y = zeros_like(gy), none = zeros_like(ghy);
    const Array gcy = r.cy ? random(r.cy.shape()) : Array(), none_c = r.cy ? none : Array();
    const std::pair<RnnOutputGradients, RnnOutputGradients> pairs[] = {{{gy, {}, {}}, {gy, none, none_c}},
                                                                       {{{}, ghy, {}}, {none_y, ghy, none_c}},
                                                                       {{{}, {}, gcy}, {none_y, none, gcy}}};
    for (const auto& [absent, zero] : pairs) {
      const RnnGradients a = nn.rnn_backward(o, c.spec(), r, absent), b = nn.rnn_backward(o, c.spec(), r, zero);
      check_close(a.gx, to_vector<double>(b.gx), 0, "gx");
      check_close(a.gws[3], to_vector<double>(b.gws[3]), 0, "gws");
    }
  }
}

// The last layer alone sees what is dropped below it: with the input's weights of its own set to 1, a relu network
// shows the mask.
BOOST_AUTO_TEST_CASE(dropout_is_between_layers_only) {
  constexpr std::int64_t kRows = 400, kUnits = 25;
  RnnOperands o;
  o.x = arrays::ones({kRows, 1}, Dtype::float64);
  o.batches = {kRows};
  o.hx = arrays::zeros({2, kRows, kUnits}, Dtype::float64);
  Numbers unit(std::size_t(kUnits * kUnits));
  for (std::int64_t i = 0; i < kUnits; ++i) unit[std::size_t(i * kUnits + i)] = 1;
  o.ws = {arrays::ones({kUnits, 1}, Dtype::float64), arrays::zeros({kUnits, kUnits}, Dtype::float64),
          array(unit, {kUnits, kUnits}), arrays::zeros({kUnits, kUnits}, Dtype::float64)};
  o.bs = std::vector<Array>(4, arrays::zeros({kUnits}, Dtype::float64));
  const Case c{RnnMode::relu, 2, false, {kRows}, 1, kUnits};
  NnExtension& nn = autograd::nn_extension(o.x);
  const RnnResult r = nn.rnn(o, with_dropout(c, 0.25));
  check_close(slice(r.hy, 0, 0, 1), Numbers(std::size_t(kRows * kUnits), 1), 0, "the first layer");
  std::size_t dropped = 0;
  for (const double v : to_vector<double>(r.y)) {
    BOOST_REQUIRE((v == 0 || std::abs(v - 4. / 3) < 1e-12));
    dropped += v == 0;
  }
  BOOST_TEST(std::abs(double(dropped) / double(kRows * kUnits) - 0.25) < 0.02);  // 4.6 deviations
  check_close(nn.rnn(o, with_dropout(c, 0.25)).y, to_vector<double>(r.y), 0, "the same seed");
}

BOOST_AUTO_TEST_CASE(operands_that_do_not_fit_are_refused) {
  const Case c{RnnMode::lstm, 2, false, {3, 2}, 3, 2};
  const RnnOperands good = operands_of(c);
  NnExtension& nn = autograd::nn_extension(good.x);
  const auto refused = [&](const std::function<void(RnnOperands&, RnnSpec&)>& spoil, const std::string& text) {
    RnnOperands o = good;
    RnnSpec s = c.spec();
    spoil(o, s);
    BOOST_CHECK_EXCEPTION(nn.rnn(o, s), ValueError, ([&](const catena::Error& e) {
                            const bool same = std::string(e.what()).find(text) != std::string::npos;
                            if (!same) BOOST_TEST_MESSAGE(e.what());
                            return same;
                          }));
  };
  refused([](RnnOperands& o, RnnSpec&) { o.batches = {2, 3}; }, "rnn: a batch of 3 follows one of 2");
  refused([](RnnOperands& o, RnnSpec&) { o.batches = {3, 2, 0}; }, "a batch of 0 follows one of 2");
  refused([](RnnOperands& o, RnnSpec&) { o.batches = {}; }, "there must be one time at least");
  refused([](RnnOperands& o, RnnSpec&) { o.batches = {3, 3}; }, "the batches have 6 rows, x has (5, 3)");
  refused(
      [](RnnOperands& o, RnnSpec&) {
        o.x = reshape(o.x, {5, 3, 1});
      },
      "x must have shape (rows of all times, inputs)");
  refused([](RnnOperands& o, RnnSpec&) { o.hx = slice(o.hx, 0, 0, 1); },
          "hx must have shape (2, 3, units), it has (1, 3, 2)");
  refused([](RnnOperands& o, RnnSpec&) { o.cx = {}; }, "cx must have the shape (2, 3, 2)");
  refused([](RnnOperands&, RnnSpec& s) { s.mode = RnnMode::gru; }, "only an lstm has a cx");
  refused([](RnnOperands& o, RnnSpec&) { o.ws.pop_back(); },
          "15 matrices and 16 biases were given for 2 layers, which need 16");
  refused([](RnnOperands& o, RnnSpec&) { o.ws[8] = o.ws[0]; },
          "matrix 0 of layer 1 must have shape (2, 2), it has (2, 3)");
  refused([](RnnOperands& o, RnnSpec&) { o.bs[3] = random({3}); },
          "bias 3 of layer 0 must have shape (2,), it has (3,)");
  refused([](RnnOperands&, RnnSpec& s) { s.dropout = 1; }, "the ratio 1 does not lie in [0, 1)");
  refused([](RnnOperands&, RnnSpec& s) { s.dropout = 0.5; },
          "0 offsets were given for the dropout below 1 layers, which needs 1");
  refused(
      [](RnnOperands&, RnnSpec& s) {
        s.dropout = 0.5;
        s.bidirectional = true;
        s.offsets.emplace_back(Scalar(std::uint64_t(0)));
      },
      "1 offsets were given for the dropout below 1 layers in both directions, which needs 2");
  refused([](RnnOperands&, RnnSpec& s) { s.separate_inputs = true; },
          "both directions of the first layer have one input");
  RnnOperands integers = good;
  integers.x = astype(integers.x, Dtype::int32);
  BOOST_CHECK_THROW(nn.rnn(integers, c.spec()), TypeError);

  const RnnResult r = nn.rnn(good, c.spec());
  BOOST_CHECK_THROW(nn.rnn_backward(good, c.spec(), r, {random({5, 3}), {}, {}}), ValueError);
  RnnSpec inference = c.spec();
  inference.training = false;
  BOOST_CHECK_THROW(nn.rnn_backward(good, c.spec(), nn.rnn(good, inference), {r.y, {}, {}}), ValueError);
  BOOST_CHECK_THROW(nn.rnn_backward(good, with_dropout(c, 0.5), r, {r.y, {}, {}}), ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
