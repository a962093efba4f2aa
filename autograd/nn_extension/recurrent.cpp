// Recurrent networks of NnExtension: checks, dtypes, and the dropout between layers, which are then computed one by
// one.
#include <algorithm>
#include <utility>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/nn_extension.h>
#include <catena/autograd/nn_extension/recurrent.h>
#include <catena/kernels/registry/families.h>

namespace autograd {

using catena::check;
using catena::TypeError;
using catena::ValueError;

int rnn_matrices(RnnMode mode) noexcept { return mode == RnnMode::lstm ? 8 : mode == RnnMode::gru ? 6 : 2; }

namespace {

// Returns the shape of `a` for messages; empty for a null array.
Shape shape_of(const Array& a) { return a ? a.shape() : Shape(); }

void check_batches(const char* op, const Array& x, const std::vector<std::int64_t>& batches) {
  check<ValueError>(bool(x) && x.ndim() == 2 && x.shape(1) > 0, op,
                    "x must have shape (rows of all times, inputs), it has ", shape_of(x));
  check<TypeError>(catena::is_floating(x.dtype()), op, "the dtype must be floating, it is ", x.dtype());
  check<ValueError>(!batches.empty(), op, "there must be one time at least");
  std::int64_t rows = 0, before = batches[0];
  for (const std::int64_t n : batches) {
    check<ValueError>(n > 0 && n <= before, op, "a batch of ", n, " follows one of ", before,
                      ": sequences must come in order of decreasing length");
    before = n;
    rows += n;
  }
  check<ValueError>(rows == x.shape(0), op, "the batches have ", rows, " rows, x has ", x.shape());
}

void check_weights(const char* op, const RnnOperands& o, const RnnSpec& spec) {
  const std::int64_t matrices = rnn_matrices(spec.mode), count = o.hx.shape(0) * matrices, units = o.hx.shape(2);
  check<ValueError>(std::int64_t(o.ws.size()) == count && std::int64_t(o.bs.size()) == count, op, o.ws.size(),
                    " matrices and ", o.bs.size(), " biases were given for ", spec.layers, " layers, which need ",
                    count);
  const std::int64_t directions = o.hx.shape(0) / spec.layers;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t j = i % matrices, layer = i / matrices / directions;
    const Shape w{units, j >= matrices / 2 ? units : layer == 0 ? o.x.shape(1) : units * directions};
    const Array &matrix = o.ws[std::size_t(i)], &bias = o.bs[std::size_t(i)];
    check<ValueError>(shape_of(matrix) == w, op, "matrix ", j, " of layer ", layer, " must have shape ", w, ", it has ",
                      shape_of(matrix));
    check<ValueError>(shape_of(bias) == Shape{units}, op, "bias ", j, " of layer ", layer, " must have shape ",
                      Shape{units}, ", it has ", shape_of(bias));
  }
}

bool has_dropout(const RnnSpec& spec) { return spec.training && spec.dropout > 0 && spec.layers > 1; }

void check_rnn(const char* op, const RnnOperands& o, const RnnSpec& spec) {
  check_batches(op, o.x, o.batches);
  check<ValueError>(spec.layers >= 1, op, "the number of layers ", spec.layers, " must be at least 1");
  check<ValueError>(!spec.separate_inputs, op, "both directions of the first layer have one input");
  check<ValueError>(spec.dropout >= 0 && spec.dropout < 1, op, "the ratio ", spec.dropout, " does not lie in [0, 1)");
  const std::int64_t states = spec.layers * directions_of(spec), masks = states - directions_of(spec);
  check<ValueError>(!has_dropout(spec) || std::int64_t(spec.offsets.size()) == masks, op, spec.offsets.size(),
                    " offsets were given for the dropout below ", spec.layers - 1, " layers",
                    spec.bidirectional ? " in both directions" : "", ", which needs ", masks);
  check<ValueError>(
      bool(o.hx) && o.hx.ndim() == 3 && o.hx.shape(0) == states && o.hx.shape(1) == o.batches[0] && o.hx.shape(2) > 0,
      op, "hx must have shape (", states, ", ", o.batches[0], ", units), it has ", shape_of(o.hx));
  if (spec.mode == RnnMode::lstm)
    check<ValueError>(shape_of(o.cx) == o.hx.shape(), op, "cx must have the shape ", o.hx.shape(), " of hx, it has ",
                      shape_of(o.cx));
  else check<ValueError>(!o.cx, op, "only an lstm has a cx");
  check_weights(op, o, spec);
  std::vector<Array> all{o.x, o.hx, o.cx};
  for (const auto* list : {&o.ws, &o.bs}) all.insert(all.end(), list->begin(), list->end());
  check_same_device(op, all);
}

Array converted(const Array& a, Dtype dtype) { return a ? astype(a, dtype) : a; }

// The weights are not converted, because an implementation may cache a result computed from them.
RnnOperands converted(const RnnOperands& o, Dtype dtype) {
  return {astype(o.x, dtype), o.batches, astype(o.hx, dtype), converted(o.cx, dtype), o.ws, o.bs};
}

RnnSpec one_layer(const RnnSpec& spec, std::int64_t layer) {
  RnnSpec one;
  one.mode = spec.mode;
  one.bidirectional = spec.bidirectional;
  one.training = spec.training;
  one.separate_inputs = spec.bidirectional && layer > 0;
  return one;
}

// The operands of one layer.
RnnOperands layer_of(const RnnOperands& o, const RnnSpec& spec, std::int64_t layer, const Array& x) {
  const std::int64_t states = o.hx.shape(0) / spec.layers;
  const auto rows = [&](const Array& a) { return a ? slice(a, 0, layer * states, (layer + 1) * states) : a; };
  const auto items = [&](const std::vector<Array>& list) {
    const std::int64_t n = std::int64_t(list.size()) / spec.layers;
    return std::vector<Array>(list.begin() + layer * n, list.begin() + (layer + 1) * n);
  };
  return {x, o.batches, rows(o.hx), rows(o.cx), items(o.ws), items(o.bs)};
}

// Writes `a`, after the dropout below `layer` for one direction, to y. The adjoint is the same product.
void drop_into(const Array& y, const Array& a, const RnnSpec& spec, std::int64_t layer, std::int64_t direction) {
  const Operand& offset = spec.offsets[std::size_t((layer - 1) * directions_of(spec) + direction)];
  const Operand in[] = {a, Scalar(spec.seed), offset, spec.dropout};
  apply_indexed(catena::kernels::dropout, in, {&y, 1});
}

Array columns_of(const Array& a, std::int64_t direction, std::int64_t width) {
  return slice(a, 1, direction * width, (direction + 1) * width);
}

// Returns the inputs of `layer` for each direction, side by side.
Array dropped(const Array& a, const RnnSpec& spec, std::int64_t layer) {
  const std::int64_t width = a.shape(1), directions = directions_of(spec);
  const Array y = a.backend().empty({a.shape(0), width * directions}, a.dtype(), a.device());
  for (std::int64_t d = 0; d < directions; ++d) drop_into(columns_of(y, d, width), a, spec, layer, d);
  return y;
}

// Returns the gradient of `a` of dropped().
Array dropped_backward(const Array& gy, const RnnSpec& spec, std::int64_t layer) {
  const std::int64_t directions = directions_of(spec), width = gy.shape(1) / directions;
  Array sum;
  for (std::int64_t d = 0; d < directions; ++d) {
    const Array part = gy.backend().empty({gy.shape(0), width}, gy.dtype(), gy.device());
    drop_into(part, columns_of(gy, d, width), spec, layer, d);
    if (sum) sum += part;
    else sum = part;
  }
  return sum;
}

// Returns the arrays concatenated along the first axis; null arrays are skipped.
Array joined(const std::vector<Array>& parts) {
  if (!parts.front() || parts.size() == 1) return parts.front();
  return concatenate(parts, 0);
}

}  // namespace

RnnResult NnExtension::rnn(const RnnOperands& given, const RnnSpec& spec) {
  check_rnn("rnn", given, spec);
  const Dtype dtype = given.x.dtype();
  const RnnOperands operands = converted(given, catena::itemsize(dtype) < 4 ? Dtype::float32 : dtype);
  RnnResult result;
  if (!has_dropout(spec)) {
    result.parts.push_back(do_rnn(operands, spec));
  } else {
    for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
      const Array x = layer == 0 ? operands.x : dropped(result.parts.back().y, spec, layer);
      result.parts.push_back(do_rnn(layer_of(operands, spec, layer, x), one_layer(spec, layer)));
    }
  }
  std::vector<Array> hy, cy;
  for (RnnResult& part : result.parts) {
    hy.push_back(std::exchange(part.hy, {}));
    cy.push_back(std::exchange(part.cy, {}));
  }
  result.y = astype(result.parts.back().y, dtype);
  result.hy = astype(joined(hy), dtype);
  result.cy = converted(joined(cy), dtype);
  if (!spec.training) result.parts.clear();
  result.maker = this;
  return result;
}

namespace {

// Checks the gradients; hy and cy have the shapes of hx and cx.
RnnOutputGradients checked(const char* op, const RnnOutputGradients& given, const RnnOperands& o,
                           const RnnResult& result) {
  const auto fitting = [&](const Array& g, const Array& to, const char* name) {
    if (!to) return to;
    check<ValueError>(!g || g.shape() == to.shape(), op, "the gradient of ", name, " has shape ", shape_of(g),
                      ", it needs ", to.shape());
    return g ? astype(g, o.x.dtype()) : full_like(astype(to, o.x.dtype()), 0);
  };
  const Array all[] = {o.x, given.gy, given.ghy, given.gcy, result.y};
  check_same_device(op, all);
  check<ValueError>(bool(o.cx) || !given.gcy, op, "only an lstm has a cy");
  return {fitting(given.gy, result.y, "y"), fitting(given.ghy, o.hx, "hy"), fitting(given.gcy, o.cx, "cy"),
          given.wants_gx};
}

}  // namespace

RnnGradients NnExtension::rnn_backward(const RnnOperands& given, const RnnSpec& spec, const RnnResult& result,
                                       const RnnOutputGradients& output_gradients) {
  constexpr const char* op = "rnn_backward";
  if (result.maker != nullptr && result.maker != this)
    return result.maker->rnn_backward(given, spec, result, output_gradients);
  check_rnn(op, given, spec);
  check<ValueError>(result.parts.size() == (has_dropout(spec) ? std::size_t(spec.layers) : 1u), op,
                    "the result is not that of a call with the same specification, in training");
  const Dtype dtype = given.x.dtype();
  const RnnOperands operands = converted(given, catena::itemsize(dtype) < 4 ? Dtype::float32 : dtype);
  const RnnOutputGradients g = checked(op, output_gradients, operands, result);
  RnnGradients to;
  if (!has_dropout(spec)) {
    to = do_rnn_backward(operands, spec, result.parts.front(), g);
  } else {
    const std::int64_t states = operands.hx.shape(0) / spec.layers;
    const auto rows = [&](const Array& a, std::int64_t layer) {
      return a ? slice(a, 0, layer * states, (layer + 1) * states) : a;
    };
    std::vector<Array> ghx(std::size_t(spec.layers)), gcx(std::size_t(spec.layers));
    Array gy = g.gy;
    for (std::int64_t layer = spec.layers - 1; layer >= 0; --layer) {
      const std::size_t k = std::size_t(layer);
      const Array x = layer == 0 ? operands.x : dropped(result.parts[k - 1].y, spec, layer);
      RnnGradients part = do_rnn_backward(layer_of(operands, spec, layer, x), one_layer(spec, layer), result.parts[k],
                                          {gy, rows(g.ghy, layer), rows(g.gcy, layer), layer > 0 || g.wants_gx});
      gy = layer == 0 ? part.gx : dropped_backward(part.gx, spec, layer);
      ghx[k] = part.ghx;
      gcx[k] = part.gcx;
      to.gws.insert(to.gws.begin(), part.gws.begin(), part.gws.end());
      to.gbs.insert(to.gbs.begin(), part.gbs.begin(), part.gbs.end());
    }
    to.gx = gy;
    to.ghx = joined(ghx);
    to.gcx = joined(gcx);
  }
  to.gx = converted(to.gx, dtype);
  to.ghx = astype(to.ghx, given.hx.dtype());
  if (to.gcx) to.gcx = astype(to.gcx, given.cx.dtype());
  for (std::size_t i = 0; i < to.gws.size(); ++i) {
    to.gws[i] = astype(to.gws[i], given.ws[i].dtype());
    to.gbs[i] = astype(to.gbs[i], given.bs[i].dtype());
  }
  return to;
}

}  // namespace autograd
