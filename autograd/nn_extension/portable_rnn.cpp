// Portable recurrent networks of NnExtension. For each layer and direction: one matrix product over the inputs of all
// times, then the steps that depend on the previous state, in the order of time.
#include <algorithm>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/nn_extension.h>
#include <catena/autograd/nn_extension/recurrent.h>
#include <catena/kernels/registry/families.h>

namespace autograd {
namespace {

Array rows_of(const Array& a, std::int64_t begin, std::int64_t count) { return slice(a, 0, begin, begin + count); }

// Returns blocks k to k + count of columns, each `width` wide, as a view.
Array block(const Array& a, std::int64_t k, std::int64_t width, std::int64_t count = 1) {
  return slice(a, a.ndim() - 1, k * width, (k + count) * width);
}

// Applies an elementwise kernel in place.
void apply_to(const catena::KernelDef& def, const Array& a) {
  const Operand in[] = {a};
  apply_into(def, in, {&a, 1});
}

// One layer in one direction. `reverse`: from the last time to the first one.
struct Chain {
  RnnMode mode;
  const std::vector<std::int64_t>& batches;
  bool reverse;
  std::int64_t units;
  std::span<const Array> ws, bs;

  std::int64_t gates() const { return std::int64_t(ws.size()) / 2; }
  Array input_matrix() const { return concatenate(ws.first(std::size_t(gates())), 0); }
  Array state_matrix() const { return concatenate(ws.subspan(std::size_t(gates())), 0); }
  Array summed_bias() const {
    return concatenate(bs.first(std::size_t(gates())), 0) + concatenate(bs.subspan(std::size_t(gates())), 0);
  }

  // Calls f(first row, rows) for each time in the order of the direction, or in the opposite order if `backwards`.
  template <class F> void walk(F&& f, bool backwards = false) const {
    const std::size_t n = batches.size();
    std::int64_t begin = 0;
    if (reverse == backwards) {
      for (const std::int64_t count : batches) {
        f(begin, count);
        begin += count;
      }
      return;
    }
    for (const std::int64_t count : batches) begin += count;
    for (std::size_t t = n; t-- > 0;) f(begin -= batches[t], batches[t]);
  }

  // Returns the previous state of each row: `first` at the first element of a sequence, else a row of `states`.
  Array before(const Array& states, const Array& first) const {
    const Array to = states.backend().empty(states.shape(), states.dtype(), states.device());
    std::int64_t last_begin = 0, last_count = 0;
    walk([&](std::int64_t begin, std::int64_t count) {
      const std::int64_t common = std::min(count, last_count);
      if (common > 0) assign(rows_of(to, begin, common), rows_of(states, last_begin, common));
      if (common < count) assign(rows_of(to, begin + common, count - common), rows_of(first, common, count - common));
      last_begin = begin;
      last_count = count;
    });
    return to;
  }
};

// ---- forward ------------------------------------------------------------------------------------
struct ChainResult {
  Array hy, cy;
  // gates: (rows, gates * units) after their activation (lstm: before it); null for relu and tanh, whose gate is y.
  // extra: the cell states (lstm), or the product of the candidate's matrix and the state (gru).
  Array gates, extra;
};

ChainResult run(const Chain& c, const Array& x, const Array& hx, const Array& cx, const Array& y) {
  const std::int64_t n = c.units;
  const bool gru = c.mode == RnnMode::gru, lstm = c.mode == RnnMode::lstm;
  const Array recurrent = c.state_matrix();
  ChainResult to;
  to.hy = copy(hx);
  to.gates = matmul(x, c.input_matrix(), false, true);
  to.gates += gru ? concatenate(c.bs.first(3), 0) : c.summed_bias();
  const Array state_bias = gru ? concatenate(c.bs.subspan(3), 0) : Array();
  if (lstm) to.cy = copy(cx);
  if (lstm || gru) to.extra = x.backend().empty({x.shape(0), n}, x.dtype(), x.device());
  c.walk([&](std::int64_t begin, std::int64_t count) {
    const Array h = rows_of(to.hy, 0, count);
    Array gates = rows_of(to.gates, begin, count), product = matmul(h, recurrent, false, true), next;
    if (lstm) {
      gates += product;
      const Array cell = rows_of(to.cy, 0, count), now = rows_of(to.extra, begin, count);
      next = rows_of(y, begin, count);
      const Operand in[] = {block(gates, 2, n), block(gates, 0, n), block(gates, 1, n), block(gates, 3, n), cell};
      const Array out[] = {now, next};
      apply_into(catena::kernels::lstm, in, out);
      assign(cell, now);
      assign(h, next);
      return;
    } else if (gru) {
      product += state_bias;
      Array doors = block(gates, 0, n, 2), candidate = block(gates, 2, n);
      doors += block(product, 0, n, 2);
      apply_to(catena::kernels::sigmoid, doors);
      assign(rows_of(to.extra, begin, count), block(product, 2, n));
      candidate += block(gates, 0, n) * block(product, 2, n);
      apply_to(catena::kernels::tanh, candidate);
      next = h - candidate;
      next *= block(gates, 1, n);
      next += candidate;
    } else {
      gates += product;
      if (c.mode == RnnMode::tanh) apply_to(catena::kernels::tanh, gates);
      else apply_to(catena::kernels::relu, gates);
      next = gates;
    }
    assign(h, next);
    assign(rows_of(y, begin, count), next);
  });
  if (!lstm && !gru) to.gates = {};
  return to;
}

// ---- backward -----------------------------------------------------------------------------------
// The factors of the derivatives that do not depend on later times, computed for all times at once. Each step then only
// multiplies them by the gradient of h'. For an lstm, a step is one kernel instead.
struct Factors {
  // (rows, gates, units): the derivatives of h' with respect to the gates' arguments; gru: the last block is the
  // derivative with respect to the candidate's product with the state.
  Array gates;
  Array through;    // gru: z
  Array candidate;  // gru: derivative of h' with respect to the candidate's argument
};

Factors factors_of(const Chain& c, const Array& gates, const Array& extra, const Array& h_before) {
  const std::int64_t n = c.units, rows = gates.shape(0);
  Factors f;
  const auto slope = [](const Array& s) { return s * (1 - s); };
  f.gates = gates.backend().empty({rows, c.gates(), n}, gates.dtype(), gates.device());
  const auto set = [&](std::int64_t k, const Array& values) {
    assign(squeeze(slice(f.gates, 1, k, k + 1), 1), values);
  };
  if (c.mode == RnnMode::gru) {
    const Array r = block(gates, 0, n), z = block(gates, 1, n), a = block(gates, 2, n);
    f.candidate = (1 - z) * (1 - a * a);
    set(0, f.candidate * extra * slope(r));
    set(1, (h_before - a) * slope(z));
    set(2, f.candidate * r);
    f.through = z;
  } else if (c.mode == RnnMode::tanh) {
    set(0, 1 - gates * gates);
  } else {
    set(0, apply(catena::kernels::relu_bwd, {gates, 1}));
  }
  return f;
}

struct ChainGradients {
  Array gx, ghx, gcx;
  std::vector<Array> gws, gbs;
};

// Appends the gradients of the matrices and biases of one side (input or state), each a new array.
void add_parameters(ChainGradients& to, const Array& sums, const Array& multiplied, std::int64_t n) {
  const Array gw = matmul(sums, multiplied, true, false), gb = sum(sums, 0);
  for (std::int64_t k = 0; k < sums.shape(1) / n; ++k) {
    to.gws.push_back(rows_of(gw, k * n, n));
    to.gbs.push_back(rows_of(gb, k * n, n));
  }
}

ChainGradients run_backward(const Chain& c, const Array& x, const Array& hx, const Array& cx, const Array& y,
                            const Array& gates, const Array& extra, const Array& gy, const Array& ghy, const Array& gcy,
                            bool wants_gx) {
  const std::int64_t n = c.units, rows = x.shape(0);
  const bool gru = c.mode == RnnMode::gru, lstm = c.mode == RnnMode::lstm;
  const Array h_before = c.before(y, hx), recurrent = c.state_matrix();
  const Array c_before = lstm ? c.before(extra, cx) : Array();
  const Factors f = lstm ? Factors() : factors_of(c, gates, extra, h_before);
  ChainGradients to;
  to.ghx = copy(ghy);
  if (lstm) to.gcx = copy(gcy);
  Array sums = x.backend().empty({rows, c.gates(), n}, x.dtype(),
                                 x.device());  // gradients of the gates' arguments on the side of the state
  Array candidate = gru ? x.backend().empty({rows, n}, x.dtype(), x.device()) : Array();
  c.walk(
      [&](std::int64_t begin, std::int64_t count) {
        const Array state = rows_of(to.ghx, 0, count), part = rows_of(sums, begin, count);
        const Array gh = rows_of(gy, begin, count) + state;
        if (lstm) {
          const Array g = rows_of(gates, begin, count), cell = rows_of(to.gcx, 0, count);
          const auto gate = [&](std::int64_t k) { return squeeze(slice(part, 1, k, k + 1), 1); };
          const Operand in[] = {block(g, 2, n),
                                block(g, 0, n),
                                block(g, 1, n),
                                block(g, 3, n),
                                rows_of(c_before, begin, count),
                                0.0,
                                rows_of(extra, begin, count),
                                cell,
                                gh};
          const Array out[] = {gate(2), gate(0), gate(1), gate(3), cell};
          apply_into(catena::kernels::lstm_bwd, in, out);
        } else {
          assign(part, rows_of(f.gates, begin, count) * expand_dims(gh, 1));
          if (gru) assign(rows_of(candidate, begin, count), gh * rows_of(f.candidate, begin, count));
        }
        Array back = matmul(reshape(part, {count, c.gates() * n}), recurrent);
        if (gru) back += gh * rows_of(f.through, begin, count);
        assign(state, back);
      },
      true);

  const Array of_state = reshape(sums, {rows, c.gates() * n});
  Array of_input = of_state;
  if (gru) {
    of_input = copy(of_state);
    assign(block(of_input, 2, n), candidate);
  }
  if (wants_gx) to.gx = matmul(of_input, c.input_matrix());
  add_parameters(to, of_input, x, n);
  add_parameters(to, of_state, h_before, n);
  return to;
}

// ---- layers -------------------------------------------------------------------------------------
// The weights in the dtype of x.
RnnOperands converted(const RnnOperands& o) {
  RnnOperands to = o;
  for (auto* list : {&to.ws, &to.bs})
    for (Array& a : *list) a = astype(a, o.x.dtype());
  return to;
}

// Returns the chain of state k = layer * directions + direction.
Chain chain_of(const RnnOperands& o, const RnnSpec& spec, std::int64_t k) {
  const std::size_t matrices = std::size_t(rnn_matrices(spec.mode)), first = std::size_t(k) * matrices;
  return {spec.mode,
          o.batches,
          k % directions_of(spec) == 1,
          o.hx.shape(2),
          std::span(o.ws).subspan(first, matrices),
          std::span(o.bs).subspan(first, matrices)};
}

Array input_of(const RnnSpec& spec, const Array& x, std::int64_t direction) {
  return spec.separate_inputs ? block(x, direction, x.shape(1) / 2) : x;
}

Array state_of(const Array& states, std::int64_t k) { return states ? squeeze(slice(states, 0, k, k + 1), 0) : states; }

Array stacked(const std::vector<Array>& states) {
  std::vector<Array> lifted;
  for (const Array& a : states) lifted.push_back(expand_dims(a, 0));
  return concatenate(lifted, 0);
}

}  // namespace

RnnResult NnExtension::do_rnn(const RnnOperands& given, const RnnSpec& spec) {
  const RnnOperands o = converted(given);
  const std::int64_t n = o.hx.shape(2), directions = directions_of(spec);
  RnnResult to;
  std::vector<Array> hy, cy;
  Array x = o.x;
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    const Array y = x.backend().empty({x.shape(0), n * directions}, x.dtype(), x.device());
    for (std::int64_t d = 0; d < directions; ++d) {
      const std::int64_t k = layer * directions + d;
      const ChainResult chain =
          run(chain_of(o, spec, k), input_of(spec, x, d), state_of(o.hx, k), state_of(o.cx, k), block(y, d, n));
      hy.push_back(chain.hy);
      if (chain.cy) cy.push_back(chain.cy);
      if (spec.training)
        for (const Array& a : {chain.gates, chain.extra}) to.saved.push_back(a);
    }
    if (spec.training) to.saved.push_back(y);
    x = y;
  }
  to.y = x;
  to.hy = stacked(hy);
  if (!cy.empty()) to.cy = stacked(cy);
  set_last_implementation("portable");
  return to;
}

RnnGradients NnExtension::do_rnn_backward(const RnnOperands& given, const RnnSpec& spec, const RnnResult& result,
                                          const RnnOutputGradients& g) {
  const RnnOperands o = converted(given);
  const std::int64_t n = o.hx.shape(2), directions = directions_of(spec), per_layer = 2 * directions + 1;
  const auto saved = [&](std::int64_t layer, std::int64_t i) {
    return result.saved[std::size_t(layer * per_layer + i)];
  };
  const std::size_t states = std::size_t(spec.layers * directions), matrices = std::size_t(rnn_matrices(spec.mode));
  RnnGradients to;
  to.gws.resize(states * matrices);
  to.gbs.resize(states * matrices);
  std::vector<Array> ghx(states), gcx(states);
  Array gy = g.gy;
  for (std::int64_t layer = spec.layers - 1; layer >= 0; --layer) {
    const Array x = layer == 0 ? o.x : saved(layer - 1, per_layer - 1), y = saved(layer, per_layer - 1);
    Array gx;
    std::vector<Array> gxs;  // for separate inputs
    for (std::int64_t d = 0; d < directions; ++d) {
      const std::int64_t k = layer * directions + d;
      const Array ys = block(y, d, n), gates = saved(layer, 2 * d);
      ChainGradients chain = run_backward(
          chain_of(o, spec, k), input_of(spec, x, d), state_of(o.hx, k), state_of(o.cx, k), ys, gates ? gates : ys,
          saved(layer, 2 * d + 1), block(gy, d, n), state_of(g.ghy, k), state_of(g.gcy, k), layer > 0 || g.wants_gx);
      if (spec.separate_inputs && chain.gx) gxs.push_back(chain.gx);
      else if (gx) gx += chain.gx;
      else gx = chain.gx;
      ghx[std::size_t(k)] = chain.ghx;
      gcx[std::size_t(k)] = chain.gcx;
      std::move(chain.gws.begin(), chain.gws.end(), to.gws.begin() + k * std::int64_t(matrices));
      std::move(chain.gbs.begin(), chain.gbs.end(), to.gbs.begin() + k * std::int64_t(matrices));
    }
    gy = gxs.empty() ? gx : concatenate(gxs, 1);
  }
  to.gx = gy;
  to.ghx = stacked(ghx);
  if (spec.mode == RnnMode::lstm) to.gcx = stacked(gcx);
  set_last_implementation("portable");
  return to;
}

}  // namespace autograd
