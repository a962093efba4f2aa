// n_step_lstm and its relatives against the cells' formulas, sequence by sequence in plain loops; the two rules of
// their gradients against each other.
#include <catena/nn/functions/recurrent.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>

#include <catena/autograd/flag.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/connection.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/training_fixtures.h>

using namespace autograd;
using test::has;
using test::message_of;
using test::spread;

namespace {

using Doubles = std::vector<double>;
using Lists = std::vector<Variables>;

enum class Cell { lstm, gru, tanh, relu };

struct Net {
  Cell cell;
  int layers, directions;
  std::vector<std::int64_t> batches;
  std::int64_t inputs = 3, units = 2;

  int cells() const { return cell == Cell::lstm ? 2 : 1; }
  int matrices() const { return cell == Cell::lstm ? 8 : cell == Cell::gru ? 6 : 2; }
  int states() const { return layers * directions; }

  // hx, cx of an lstm, all matrices, all biases, xs.
  Arrays operands() const {
    Arrays all;
    int seed = 0;
    for (int i = 0; i < cells(); ++i) all.push_back(spread({states(), batches[0], units}, -1, 1, seed++));
    for (int k = 0; k < states(); ++k)
      for (int j = 0; j < matrices(); ++j) {
        const std::int64_t below = k < directions ? inputs : units * directions;
        all.push_back(spread({units, j < matrices() / 2 ? below : units}, -1, 1, seed++));
      }
    for (int k = 0; k < states() * matrices(); ++k) all.push_back(spread({units}, -1, 1, seed++));
    for (const std::int64_t b : batches) all.push_back(spread({b, inputs}, -1, 1, seed++));
    return all;
  }
  Lists lists(const Variables& v, int first) const {
    Lists to;
    to.resize(std::size_t(states()));
    for (int i = 0; i < states() * matrices(); ++i)
      to[std::size_t(i / matrices())].push_back(v[std::size_t(first + i)]);
    return to;
  }
  // hy, cy of an lstm, ys.
  Variables operator()(const Variables& v, double ratio = 0, std::optional<bool> train = {}) const {
    const int weights = states() * matrices();
    const Lists ws = lists(v, cells()), bs = lists(v, cells() + weights);
    Variables xs;
    for (std::size_t i = std::size_t(cells() + 2 * weights); i < v.size(); ++i) xs.push_back(v[i]);
    const bool both = directions == 2;
    Variables out;
    if (cell == Cell::lstm) {
      const auto [hy, cy, ys] = both ? nn::n_step_bilstm(layers, ratio, v[0], v[1], ws, bs, xs, {.train = train})
                                     : nn::n_step_lstm(layers, ratio, v[0], v[1], ws, bs, xs, {.train = train});
      out = {hy, cy};
      for (const Variable& y : ys) out.push_back(y);
      return out;
    }
    nn::NStepResult r;
    if (cell == Cell::gru) {
      r = both ? nn::n_step_bigru(layers, ratio, v[0], ws, bs, xs, {.train = train})
               : nn::n_step_gru(layers, ratio, v[0], ws, bs, xs, {.train = train});
    } else {
      const nn::NStepRNNOptions o{.train = train, .activation = cell == Cell::tanh ? "tanh" : "relu"};
      r = both ? nn::n_step_birnn(layers, ratio, v[0], ws, bs, xs, o)
               : nn::n_step_rnn(layers, ratio, v[0], ws, bs, xs, o);
    }
    out = {r.hy};
    for (const Variable& y : r.ys) out.push_back(y);
    return out;
  }
  const char* name() const {
    return cell == Cell::lstm ? "lstm" : cell == Cell::gru ? "gru" : cell == Cell::tanh ? "tanh" : "relu";
  }
};

std::vector<Net> nets(const std::vector<std::int64_t>& batches, int layers) {
  std::vector<Net> all;
  for (const Cell cell : {Cell::lstm, Cell::gru, Cell::tanh, Cell::relu})
    for (const int directions : {1, 2}) all.push_back({cell, layers, directions, batches});
  return all;
}
#define FOR_NET(n) \
  BOOST_TEST_CONTEXT((n).name() << ", " << (n).layers << " layers, " << (n).directions << " directions")

Variables variables(const Arrays& arrays) {
  Variables v;
  for (const Array& a : arrays) v.push_back(Variable(a));
  return v;
}

// ---- the oracle: each sequence by itself --------------------------------------------------------
double logistic(double x) { return 1 / (1 + std::exp(-x)); }

struct Weights {
  std::vector<Doubles> w, b;
  double operator()(int j, const Doubles& v, std::size_t u) const {
    double sum = b[std::size_t(j)][u];
    for (std::size_t i = 0; i < v.size(); ++i) sum += w[std::size_t(j)][u * v.size() + i] * v[i];
    return sum;
  }
};

void step(Cell cell, const Weights& p, const Doubles& x, Doubles& h, Doubles& c) {
  Doubles next(h.size());
  for (std::size_t u = 0; u < h.size(); ++u) {
    if (cell == Cell::lstm) {
      const double i = logistic(p(0, x, u) + p(4, h, u)), f = logistic(p(1, x, u) + p(5, h, u));
      const double a = std::tanh(p(2, x, u) + p(6, h, u)), o = logistic(p(3, x, u) + p(7, h, u));
      c[u] = f * c[u] + i * a;
      next[u] = o * std::tanh(c[u]);
    } else if (cell == Cell::gru) {
      const double r = logistic(p(0, x, u) + p(3, h, u)), z = logistic(p(1, x, u) + p(4, h, u));
      next[u] = (1 - z) * std::tanh(p(2, x, u) + r * p(5, h, u)) + z * h[u];
    } else {
      const double sum = p(0, x, u) + p(1, h, u);
      next[u] = cell == Cell::tanh ? std::tanh(sum) : std::max(sum, 0.0);
    }
  }
  h = next;
}

// The values of all outputs.
std::vector<Doubles> oracle(const Net& n, const Arrays& in) {
  const auto at = [&](int i) { return to_vector<double>(in[std::size_t(i)]); };
  const std::size_t units = std::size_t(n.units), width = units * std::size_t(n.directions);
  const int first_w = n.cells(), first_b = first_w + n.states() * n.matrices(),
            first_x = first_b + n.states() * n.matrices();
  const std::size_t batch = std::size_t(n.batches[0]);
  Doubles hy = at(0), cy = n.cells() == 2 ? at(1) : hy;
  std::vector<Doubles> ys;
  for (const std::int64_t b : n.batches) ys.emplace_back(std::size_t(b) * width);
  for (std::size_t s = 0; s < batch; ++s) {
    std::vector<Doubles> row;
    for (std::size_t t = 0; t < n.batches.size() && std::int64_t(s) < n.batches[t]; ++t) {
      const Doubles x = at(first_x + int(t));
      const auto begin = x.begin() + std::ptrdiff_t(s) * n.inputs;
      row.emplace_back(begin, begin + n.inputs);
    }
    for (int layer = 0; layer < n.layers; ++layer) {
      std::vector<Doubles> out(row.size(), Doubles(width));
      for (int d = 0; d < n.directions; ++d) {
        const int k = layer * n.directions + d;
        Weights p;
        for (int j = 0; j < n.matrices(); ++j) {
          p.w.push_back(at(first_w + k * n.matrices() + j));
          p.b.push_back(at(first_b + k * n.matrices() + j));
        }
        const std::size_t place = (std::size_t(k) * batch + s) * units;
        const auto part = [&](const Doubles& all) {
          return Doubles(all.begin() + std::ptrdiff_t(place), all.begin() + std::ptrdiff_t(place + units));
        };
        Doubles h = part(hy), c = part(cy);
        for (std::size_t e = 0; e < row.size(); ++e) {
          const std::size_t t = d == 0 ? e : row.size() - 1 - e;
          step(n.cell, p, row[t], h, c);
          std::copy(h.begin(), h.end(), out[t].begin() + std::ptrdiff_t(std::size_t(d) * units));
        }
        std::copy(h.begin(), h.end(), hy.begin() + std::ptrdiff_t(place));
        std::copy(c.begin(), c.end(), cy.begin() + std::ptrdiff_t(place));
      }
      row = out;
    }
    for (std::size_t t = 0; t < row.size(); ++t)
      std::copy(row[t].begin(), row[t].end(), ys[t].begin() + std::ptrdiff_t(s * width));
  }
  std::vector<Doubles> all{hy};
  if (n.cells() == 2) all.push_back(cy);
  all.insert(all.end(), ys.begin(), ys.end());
  return all;
}

void check_values(const Variables& got, const std::vector<Doubles>& expected, double tolerance) {
  BOOST_REQUIRE_EQUAL(got.size(), expected.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    const Doubles v = to_vector<double>(got[k].data());
    BOOST_REQUIRE_EQUAL(v.size(), expected[k].size());
    for (std::size_t i = 0; i < v.size(); ++i)
      BOOST_TEST(std::fabs(v[i] - expected[k][i]) <= tolerance, "output " << k << ", element " << i << ": " << v[i]);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recurrent)

BOOST_AUTO_TEST_CASE(results_are_those_of_each_sequence_by_itself) {
  for (const std::vector<std::int64_t>& batches : {std::vector<std::int64_t>{3, 2, 1}, {2, 2}, {1}})
    for (const int layers : {1, 2})
      for (const Net& n : nets(batches, layers)) FOR_NET(n) {
          const Arrays in = n.operands();
          const Variables y = n(variables(in));
          check_values(y, oracle(n, in), 1e-13);
          BOOST_TEST(y[0].shape() == Shape({n.states(), batches[0], n.units}));
          for (std::size_t t = 0; t < batches.size(); ++t)
            BOOST_TEST(y[std::size_t(n.cells()) + t].shape() == Shape({batches[t], n.units * n.directions}));
          // Nothing is kept for a backward that cannot come; the values are the same.
          const auto mode = no_backprop_mode();
          check_values(n(variables(in)), oracle(n, in), 1e-13);
        }
}

BOOST_AUTO_TEST_CASE(derivatives) {
  const test::DerivativeOptions options{.atol16 = 2e-2, .rtol16 = 2e-2};
  for (const Net& n : nets({2, 1}, 1)) FOR_NET(n)
  test::check_derivatives(
      n.name(), [&](const Variables& v) { return n(v); }, n.operands(), options);
  for (const Net& n : {Net{Cell::lstm, 2, 2, {2, 1}}, Net{Cell::tanh, 2, 1, {1, 1}}, Net{Cell::gru, 1, 1, {1}, 1, 1}})
    FOR_NET(n)
  test::check_derivatives(
      n.name(), [&](const Variables& v) { return n(v); }, n.operands(), options);
}

// Masks are those of the seed, so that a call can be repeated.
BOOST_AUTO_TEST_CASE(derivatives_through_dropout) {
  for (const Net& n : {Net{Cell::lstm, 2, 1, {2, 1}}, Net{Cell::gru, 3, 2, {2, 1}}}) FOR_NET(n) {
      const auto f = [&](const Variables& v) {
        autograd::seed(5);
        return n(v, 0.5, true);
      };
      test::check_derivatives(n.name(), f, n.operands(), {.narrow = false});
    }
}

// hx and cx are one variable, matrices are shared by both layers, xs[1] depends on xs[0] and on a bias: every gradient
// counts each way once, in the rule that is differentiated again, too.
BOOST_AUTO_TEST_CASE(inputs_that_depend_on_each_other) {
  const Net n{Cell::lstm, 2, 1, {2, 1}, 2, 2};
  const Arrays all = n.operands();
  const auto f = [&](const Variables& v) {
    Variables in = variables(all);
    in[0] = v[0];
    in[1] = v[0] * 2.0;
    for (const std::size_t w : {2u, 6u, 11u, 15u}) in[w] = v[1];
    in[18] = v[2];
    in[in.size() - 2] = v[3];
    in[in.size() - 1] = tanh(get_item(v[3], {Slice(0, 1)}) * expand_dims(v[2], 0));
    return n(in);
  };
  test::check_derivatives("shared inputs", f, {all[0], all[2], all[18], all[all.size() - 2]}, {.narrow = false});
}

BOOST_AUTO_TEST_CASE(an_absent_gradient_counts_as_zeros) {
  for (const Net& n : {Net{Cell::lstm, 1, 2, {2, 1}}, Net{Cell::gru, 2, 1, {2, 2}}}) FOR_NET(n) {
      const Arrays in = n.operands();
      const auto gradients = [&](std::size_t only, bool zeros_for_others, bool recorded) {
        Variables v = variables(in), y = n(v);
        for (std::size_t k = 0; k < y.size(); ++k) {
          if (k == only) y[k].set_grad(spread(y[k].shape(), -1, 1, 3));
          else if (zeros_for_others) y[k].set_grad(zeros_like(y[k].data()));
        }
        y[only].backward({.enable_double_backprop = recorded});
        Arrays g;
        for (const Variable& x : v) g.push_back(x.grad());
        return g;
      };
      const std::size_t outputs = n(variables(in)).size();
      for (std::size_t only = 0; only < outputs; ++only)
        for (const bool recorded : {false, true}) {
          const Arrays absent = gradients(only, false, recorded), zero = gradients(only, true, false);
          for (std::size_t i = 0; i < absent.size(); ++i) {
            // Inputs on which nothing depends have no gradient, or one of zeros.
            const Array expected = zero[i], got = absent[i] ? absent[i] : zeros_like(in[i]);
            BOOST_CHECK_NO_THROW(testing::assert_allclose(got, expected, 1e-13, 1e-13));
          }
        }
    }
}

// Sequences that have no element at the last time, and batches without sequences.
BOOST_AUTO_TEST_CASE(times_without_sequences) {
  for (const Net& n : nets({2, 1, 0}, 2)) FOR_NET(n) {
      const Arrays in = n.operands();
      check_values(n(variables(in)), oracle(n, in), 1e-13);
      Net shorter = n;
      shorter.batches = {2, 1};
      Arrays head;
      for (std::size_t i = 0; i + 1 < in.size(); ++i) head.push_back(in[i]);
      // Masks are drawn for the elements that are there.
      autograd::seed(9);
      const Variables y = n(variables(in), 0.5, true);
      autograd::seed(9);
      const Variables expected = shorter(variables(head), 0.5, true);
      for (std::size_t k = 0; k < expected.size(); ++k)
        BOOST_CHECK_NO_THROW(testing::assert_allclose(y[k], expected[k], 1e-13, 1e-13));
      BOOST_TEST(y[y.size() - 1].shape() == Shape({0, n.units * n.directions}));
    }
  const Net n{Cell::lstm, 1, 1, {2, 0}}, none{Cell::gru, 1, 2, {0, 0}};
  for (const Net& one : {n, none})
    test::check_derivatives("with an empty time", [&](const Variables& v) { return identity(one(v)); }, one.operands(),
                            {.atol16 = 2e-2, .rtol16 = 2e-2});
  const Variables y = none(variables(none.operands()));
  BOOST_TEST(y[0].shape() == Shape({2, 0, 2}));
  BOOST_TEST(y[1].shape() == Shape({0, 4}));
}

namespace {

// Two layers of relu cells of which the second one shows what it is given: 1, after dropout.
nn::NStepResult ones_through_dropout(std::int64_t times, std::int64_t batch, double ratio, const nn::NStepRNNOptions& o,
                                     bool both = false) {
  constexpr std::int64_t kUnits = 10;
  const std::int64_t width = both ? 2 * kUnits : kUnits;
  Doubles unit(std::size_t(kUnits * width));
  for (std::int64_t i = 0; i < kUnits; ++i) unit[std::size_t(i * width + i)] = 1;
  const Variable first(arrays::ones({kUnits, 1}, Dtype::float64)), second(array(unit, {kUnits, width})),
      state(arrays::zeros({kUnits, kUnits}, Dtype::float64)), bias(arrays::zeros({kUnits}, Dtype::float64));
  Lists ws, bs;
  for (const Variable& W : {first, second})
    for (int d = 0; d < (both ? 2 : 1); ++d) {
      ws.push_back({W, state});
      bs.push_back({bias, bias});
    }
  const Variable hx(arrays::zeros({std::int64_t(ws.size()), batch, kUnits}, Dtype::float64));
  Variables xs;
  for (std::int64_t t = 0; t < times; ++t) xs.push_back(Variable(arrays::ones({batch, 1}, Dtype::float64)));
  return both ? nn::n_step_birnn(2, ratio, hx, ws, bs, xs, o) : nn::n_step_rnn(2, ratio, hx, ws, bs, xs, o);
}

}  // namespace

BOOST_AUTO_TEST_CASE(dropout_is_between_layers_and_drawn_for_each_time) {
  autograd::seed(4);
  const nn::NStepRNNOptions relu{.train = true, .activation = "relu"};
  const auto [hy, ys] = ones_through_dropout(4, 100, 0.25, relu);
  for (const double v : to_vector<double>(slice(hy.data(), 0, 0, 1))) BOOST_REQUIRE(v == 1);
  double dropped = 0, same = 0;
  const Doubles first = to_vector<double>(ys[0].data());
  for (const Variable& y : ys) {
    const Doubles v = to_vector<double>(y.data());
    for (std::size_t i = 0; i < v.size(); ++i) {
      BOOST_REQUIRE((v[i] == 0 || std::fabs(v[i] - 4. / 3) < 1e-12));
      dropped += v[i] == 0;
      same += v[i] == first[i];
    }
  }
  BOOST_TEST(std::fabs(dropped / 4000 - 0.25) < 0.035);         // 5 deviations
  BOOST_TEST(std::fabs((same - 1000) / 3000 - 0.625) < 0.045);  // of two independent masks
  const nn::NStepResult other = ones_through_dropout(4, 100, 0.25, relu);
  BOOST_TEST(to_vector<double>(other.ys[0].data()) != first);
  // The directions of the second layer see the outputs of the first by masks of their own.
  const nn::NStepResult both = ones_through_dropout(2, 100, 0.25, relu, true);
  double alike = 0;
  dropped = 0;
  for (const Variable& y : both.ys) {
    const Doubles v = to_vector<double>(y.data());
    for (std::size_t i = 0; i < v.size(); ++i) {
      BOOST_REQUIRE((v[i] == 0 || std::fabs(v[i] - 4. / 3) < 1e-12));
      dropped += v[i] == 0;
      if (i % 20 < 10) alike += v[i] == v[i + 10];
    }
  }
  BOOST_TEST(std::fabs(dropped / 4000 - 0.25) < 0.035);
  BOOST_TEST(std::fabs(alike / 2000 - 0.625) < 0.055);  // of two independent masks

  // No dropout: out of training, by the thread's mode or the argument, and below a single layer.
  const auto all_are_one = [](const nn::NStepResult& r) {
    for (const Variable& y : r.ys)
      for (const double v : to_vector<double>(y.data())) BOOST_REQUIRE(v == 1);
  };
  all_are_one(ones_through_dropout(2, 20, 0.5, {.train = false, .activation = "relu"}));
  const Generator before = default_generator();
  {
    const auto testing = train_mode(false);
    all_are_one(ones_through_dropout(2, 20, 0.5, {.activation = "relu"}));
    const Net n{Cell::lstm, 1, 1, {2, 1}};
    n(variables(n.operands()), 0.5, true);
  }
  BOOST_TEST(default_generator().offset == before.offset);
  // Masks are drawn without a graph, too.
  const auto mode = no_backprop_mode();
  const Doubles without_graph = to_vector<double>(ones_through_dropout(1, 50, 0.5, relu).ys[0].data());
  BOOST_TEST(std::count(without_graph.begin(), without_graph.end(), 0.0) > 100);
}

BOOST_AUTO_TEST_CASE(train_and_activation) {
  const Net n{Cell::lstm, 2, 1, {2, 1}};
  const Variables v = variables(n.operands());
  const Lists ws = n.lists(v, 2), bs = n.lists(v, 18);
  const Variables xs{v[v.size() - 2], v[v.size() - 1]};
  const auto [hy, cy, ys] = nn::n_step_lstm(2, 0.5, v[0], v[1], ws, bs, xs, false);
  check_values({hy, cy, ys[0], ys[1]}, oracle(n, n.operands()), 1e-13);
  const Net plain{Cell::tanh, 1, 1, {2}};
  const Variables p = variables(plain.operands());
  const Lists w = plain.lists(p, 1), b = plain.lists(p, 3);
  check_values({nn::n_step_rnn(1, 0.0, p[0], w, b, {p[5]}).hy}, {oracle(plain, plain.operands())[0]}, 1e-13);
  BOOST_TEST(message_of<catena::ValueError>([&] {
               nn::n_step_rnn(1, 0.0, p[0], w, b, {p[5]}, {.activation = "sigmoid"});
             }) == "n_step_rnn: the activation \"sigmoid\" is not one of tanh, relu");
  BOOST_TEST(
      has(message_of<catena::ValueError>([&] { nn::n_step_birnn(1, 0.0, p[0], w, b, {p[5]}, {.activation = ""}); }),
          "n_step_birnn: the activation"));
}

// The rules read the inputs and ys, whose memory the extension reads again.
BOOST_AUTO_TEST_CASE(what_backward_reads_must_not_change) {
  const Net n{Cell::lstm, 1, 1, {2, 1}};
  const auto message = [&](std::size_t input) {
    Variables v = variables(n.operands()), y = n(v);
    if (input < v.size()) fill(v[input].data(), 0.5);
    else fill(y[2].data(), 0.5);
    y[0].set_grad(ones_like(y[0].data()));
    return message_of<catena::RuntimeError>([&] { y[0].backward(); });
  };
  const std::string changed = "was changed in place between forward and backward";
  BOOST_TEST(has(message(0), "NStepLSTM: input 0 (hx), of shape (1, 2, 2), " + changed));
  BOOST_TEST(has(message(3), "NStepLSTM: input 3 (ws[0][1]), of shape (2, 3), " + changed));
  BOOST_TEST(has(message(11), "input 11 (bs[0][1])"));
  BOOST_TEST(has(message(19), "input 19 (xs[1]), of shape (1, 3), " + changed));
  BOOST_TEST(has(message(20), "NStepLSTM: the list of outputs ys, of shape (3, 2), " + changed));
}

BOOST_AUTO_TEST_CASE(errors) {
  const Net n{Cell::lstm, 2, 1, {2, 1}};
  const Variables good = variables(n.operands());
  const auto invalid = [&](std::size_t i, const Array& other) -> std::string {
    Variables v = good;
    v[i] = Variable(other);
    try {
      n(v);
    } catch (const catena::InvalidType& e) {
      BOOST_TEST(has(e.what(), "Invalid operation is performed in: NStepLSTM (Forward)"), e.what());
      return e.expect() + " / " + e.actual();
    }
    return "no InvalidType";
  };
  const auto like = [](const Shape& s) { return arrays::ones(s, Dtype::float64); };
  const std::size_t b = 18, x = 34;
  BOOST_TEST(invalid(0, like({3, 2, 2})) == "hx.shape[0] == n_layers * directions / 3 != 2");
  BOOST_TEST(invalid(0, like({2, 3, 2})) == "hx.shape[1] == xs[0].shape[0] / 3 != 2");
  BOOST_TEST(invalid(0, like({2, 2})) == "hx.ndim == 3 / 2 != 3");
  BOOST_TEST(invalid(1, like({2, 2, 3})) == "cx.shape == hx.shape / (2, 2, 3) != (2, 2, 2)");
  BOOST_TEST(invalid(2, like({2, 2})) == "ws[0][0].shape[1] == xs[0].shape[1] / 2 != 3");
  BOOST_TEST(invalid(2, like({3, 3})) == "ws[0][0].shape[0] == hx.shape[2] / 3 != 2");
  BOOST_TEST(invalid(6, like({2, 3})) == "ws[0][4].shape[1] == hx.shape[2] / 3 != 2");
  BOOST_TEST(invalid(10, like({2, 3})) == "ws[1][0].shape[1] == hx.shape[2] * directions / 3 != 2");
  BOOST_TEST(invalid(2, like({6})) == "ws[0][0].ndim == 2 / 1 != 2");
  BOOST_TEST(invalid(b, like({3})) == "bs[0][0].shape[0] == hx.shape[2] / 3 != 2");
  BOOST_TEST(invalid(b, arrays::ones({2})) == "bs[0][0].dtype == xs[0].dtype / float32 != float64");
  BOOST_TEST(invalid(x + 1, like({3, 3})) == "xs[0].shape[0] >= xs[1].shape[0] / 2 < 3");
  BOOST_TEST(invalid(x + 1, like({1, 2})) == "xs[1].shape[1] == xs[0].shape[1] / 2 != 3");
  BOOST_TEST(invalid(x, arrays::ones({2, 3}, Dtype::int32)) == "xs[0].dtype.kind == f / i != f");
  BOOST_TEST(invalid(x + 1, like({0, 2})) == "xs[1].shape[1] == xs[0].shape[1] / 2 != 3");
  // A matrix may have another dtype than the rest.
  Variables mixed = good;
  mixed[2] = Variable(astype(good[2].data(), Dtype::float32));
  Variables y = n(mixed);
  y[0].set_grad(ones_like(y[0].data()));
  y[0].backward();
  BOOST_TEST((mixed[2].grad().dtype() == Dtype::float32 && mixed[3].grad().dtype() == Dtype::float64));

  const Lists ws = n.lists(good, 2), bs = n.lists(good, 18);
  const Variables xs{good[x], good[x + 1]};
  const auto value = [&](int layers, double ratio, const Lists& w, const Lists& biases) {
    return message_of<catena::ValueError>([&] { nn::n_step_lstm(layers, ratio, good[0], good[1], w, biases, xs); });
  };
  BOOST_TEST(value(0, 0, ws, bs) == "n_step_lstm: the number of layers 0 must be at least 1");
  BOOST_TEST(value(2, 1.0, ws, bs) == "n_step_lstm: the ratio 1 does not lie in [0, 1)");
  BOOST_TEST(value(2, -0.5, ws, bs) == "n_step_lstm: the ratio -0.5 does not lie in [0, 1)");
  BOOST_TEST(value(1, 0, ws, bs) == "n_step_lstm: ws has 2 lists for 1 layers in 1 directions, which need 1");
  Lists few = bs;
  few[1] = {bs[1][0], bs[1][1]};
  BOOST_TEST(value(2, 0, ws, few) == "n_step_lstm: bs[1] has 2 elements, it needs 8");
  BOOST_CHECK_THROW(nn::n_step_bilstm(2, 0.0, good[0], good[1], ws, bs, xs), catena::ValueError);
  BOOST_CHECK_THROW(nn::n_step_lstm(2, 0.0, good[0], good[1], ws, bs, {}), catena::InvalidType);
  BOOST_CHECK_THROW(nn::n_step_lstm(2, 0.0, {}, good[1], ws, bs, xs), catena::TypeError);
  BOOST_CHECK_THROW(nn::n_step_lstm(2, 0.0, good[0], {}, ws, bs, xs), catena::TypeError);
}

// The composition of the reference: a linear map for each side of a cell and the function lstm.
BOOST_AUTO_TEST_CASE(an_lstm_is_composed_of_linear_maps_and_cells) {
  const Net n{Cell::lstm, 1, 1, {2, 2, 1}};
  const Variables v = variables(n.operands());
  const auto interleaved = [&](std::size_t first) {
    const Variable all = stack({v[first + 2], v[first], v[first + 1], v[first + 3]}, 1);
    Shape shape = v[first].shape();
    shape[0] *= 4;
    return reshape(all, shape);
  };
  Variable h = get_item(v[0], {0}), c = get_item(v[1], {0});
  Variables ys;
  for (std::size_t x = 18; x < v.size(); ++x) {
    const std::int64_t count = v[x].shape(0);
    const Variable gates = nn::linear(v[x], interleaved(2), interleaved(10)) +
                           nn::linear(get_item(h, {Slice(0, count)}), interleaved(6), interleaved(14));
    const auto [next, y] = nn::lstm(c, gates);
    c = next;
    h = y;
    ys.push_back(y);
  }
  const Variables got = n(v);
  BOOST_CHECK_NO_THROW(testing::assert_allclose(get_item(got[1], {0}), c, 1e-13, 1e-13));
  for (std::size_t t = 0; t < ys.size(); ++t)
    BOOST_CHECK_NO_THROW(testing::assert_allclose(got[2 + t], ys[t], 1e-13, 1e-13));
}

BOOST_AUTO_TEST_SUITE_END()
