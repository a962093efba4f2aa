// Products with weights: linear and bilinear maps, and the selection of rows.
#include <catena/autograd/flag.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/input_types.h>
#include <catena/autograd/nn_extension.h>
#include <catena/autograd/product_extension.h>
#include <catena/autograd/recorded.h>
#include <catena/autograd/variable_node.h>
#include <catena/nn/functions/connection.h>
#include <catena/nn/functions/quantization.h>

namespace nn {

using autograd::apply_node;
using autograd::Array;
using autograd::Arrays;
using autograd::Dtype;
using autograd::FunctionNode;
using autograd::nn_extension;
using autograd::Shape;
using autograd::Targets;
using autograd::Variables;
using autograd::type_check::TypeInfoTuple;

namespace {

// Returns the product of the lengths after the first axis; the size divided by the first one would fail for an empty
// batch.
std::int64_t features_of(const Shape& s) {
  std::int64_t n = 1;
  for (int i = 1; i < s.size(); ++i) n *= s[i];
  return n;
}

Variable product(const Variable& a, const Variable& b, bool transa, bool transb) {
  return autograd::internal::matmul(a, b, transa, transb, "MatMul");
}

// Returns null if the backend has no product with a bias for these arrays.
Array product_with_bias(const Array& x, const Array& W, const Array& b) {
  auto* const products = x.backend().extension<autograd::ProductExtension>(x.device());
  if (products == nullptr) return {};
  const Array operands[] = {x, W, b};
  autograd::check_same_device("linear", operands);
  return products->linear(x, W, b);
}

// x W^T + b in a 16-bit dtype, rounded once: the bias is an additional column of W, for which x has ones, so the
// product adds it in its wider accumulator. Rows remain multiples of 16 bytes.
Array biased_product(const Array& x, const Array& W, const Array& b) {
  constexpr std::int64_t kPad = 8;
  const Array bias = autograd::arrays::full({W.shape(0), kPad}, 0, b.dtype(), b.device());
  autograd::assign(autograd::slice(bias, 1, 0, 1), autograd::expand_dims(b, 1));
  const Array wide_x[] = {x, autograd::arrays::full({x.shape(0), kPad}, 1, x.dtype(), x.device())};
  const Array wide_w[] = {W, bias};
  return autograd::matmul(autograd::concatenate(wide_x, 1), autograd::concatenate(wide_w, 1), false, true);
}

class LinearFunction final : public FunctionNode {
 public:
  // Without a graph, W is seldom written between two calls, so that a converted W can be cached.
  explicit LinearFunction(bool has_graph) : has_graph_(has_graph) {}
  std::string label() const override { return "LinearFunction"; }
  std::string_view input_names() const override { return "x W b"; }

  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    expect(in_types.size() >= 2, in_types.size() <= 3);
    expect(in_types[0].dtype.kind() == 'f', in_types[1].dtype.kind() == 'f');
    expect(in_types[0].ndim >= 2, in_types[1].ndim == 2);
    expect(variable(features_of(in_types.shape(0)), "prod(in_types[0].shape[1:])") == in_types[1].shape[1]);
    if (in_types.count() == 3)
      expect(in_types[2].dtype == in_types[0].dtype, in_types[2].ndim == 1,
             in_types[2].shape[0] == in_types[1].shape[0]);
  }

  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    const Array x = autograd::reshape(in[0], {in[0].shape(0), in[1].shape(1)}), W = autograd::astype(in[1], x.dtype());
    if (in.size() == 3)
      if (const Array y = product_with_bias(x, W, in[2])) return {y};
    if (in.size() == 3 && catena::itemsize(x.dtype()) == 2) return {biased_product(x, W, in[2])};
    // Without cuDNN, which has no matrix products and would only be loaded here.
    if (!has_graph_) return {nn_extension(x, false).linear(x, W, in.size() == 3 ? in[2] : Array())};
    Array y = autograd::matmul(x, W, false, true);
    if (in.size() == 3) y += in[2];
    return {y};
  }

  Variables backward(const Targets& targets, const Variables& gy) override {
    const Variable W = retained_input(1);
    Variables gradients;
    for (const int target : targets) {
      if (target == 0) {
        gradients.push_back(reshape(product(gy[0], cast(W, gy[0].dtype()), false, false), input_shape(0)));
      } else if (target == 1) {
        const Variable x = reshape(retained_input(0), {gy[0].shape(0), W.shape(1)});
        gradients.push_back(cast(product(gy[0], x, true, false), W.dtype()));
      } else {
        gradients.push_back(sum(gy[0], 0));
      }
    }
    return gradients;
  }

 private:
  bool has_graph_;
};

Variable flat_linear(const Variable& x, const Variable& W, const Variable& b) {
  Variables inputs{x, W};
  if (b) inputs.push_back(b);
  return apply_node<LinearFunction>(inputs, autograd::internal::graph_mode_of(inputs).graph)[0];
}

// Calls flat(x as a matrix) and returns its result with the axes of x that are kept. `flat` flattens all axes but the
// first.
template <class Flat>
Variable with_batch_axes(const Variable& x, const Variable& W, std::optional<int> n_batch_axes, const Flat& flat) {
  if (x && W && x.ndim() > 2 && W.ndim() == 2 && !n_batch_axes) {
    const std::int64_t last = x.shape(x.ndim() - 1), features = features_of(x.shape());
    if (last == W.shape(1) && features != last)
      throw catena::InvalidType("prod(x.shape[1:]) == W.shape[1]", catena::concat(features, " != ", last),
                                catena::concat("linear: all axes of x ", x.shape(),
                                               " but the first are flattened; with n_batch_axes = -1 W is applied to "
                                               "the last axis\n"));
  }
  if (!n_batch_axes || !x || x.ndim() < 2) return flat(x);
  const int kept = *n_batch_axes < 0 ? x.ndim() + *n_batch_axes : *n_batch_axes;
  catena::check<catena::ValueError>(kept >= 1 && kept < x.ndim(), "linear", "n_batch_axes is ", *n_batch_axes,
                                    " for x ", x.shape(), "; it must leave an axis on either side");
  if (kept == 1) return flat(x);
  Shape batch;
  std::int64_t rows = 1, columns = 1;
  for (int a = 0; a < x.ndim(); ++a) {
    (a < kept ? rows : columns) *= x.shape(a);
    if (a < kept) batch.push_back(x.shape(a));
  }
  const Variable y = flat(reshape(x, {rows, columns}));
  batch.push_back(y.shape(1));
  return reshape(y, batch);
}

// The product of few rows with int8 weights, without a graph.
class QuantizedLinear final : public FunctionNode {
 public:
  std::string label() const override { return "QuantizedLinear"; }
  std::string_view input_names() const override { return "x W scale b"; }

  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    expect(in_types.size() >= 3, in_types.size() <= 4);
    expect(in_types[0].dtype.kind() == 'f', in_types[1].dtype == Dtype::int8, in_types[2].dtype.kind() == 'f');
    expect(in_types[0].ndim >= 2, in_types[1].ndim == 2, in_types[2].ndim == 1);
    expect(variable(features_of(in_types.shape(0)), "prod(in_types[0].shape[1:])") == in_types[1].shape[1],
           in_types[2].shape[0] == in_types[1].shape[0]);
    if (in_types.count() == 4)
      expect(in_types[3].dtype == in_types[0].dtype, in_types[3].ndim == 1,
             in_types[3].shape[0] == in_types[1].shape[0]);
  }
  Arrays forward(const Arrays& in) override {
    const Array x = autograd::contiguous(autograd::reshape(in[0], {in[0].shape(0), in[1].shape(1)}));
    const Array b = in.size() == 4 ? in[3] : Array();
    auto* const products = x.backend().extension<autograd::QuantizedProductExtension>(x.device());
    if (products != nullptr)
      if (const Array y = products->linear(x, in[1], in[2], b)) return {y};
    const auto no_graph = autograd::no_backprop_mode();
    return {
        flat_linear(Variable(x), dequantize(Variable(in[1]), Variable(in[2])), b ? Variable(b) : Variable()).data()};
  }
};

}  // namespace

Variable linear(const Variable& x, const Variable& W, const Variable& b, std::optional<int> n_batch_axes) {
  return with_batch_axes(x, W, n_batch_axes, [&](const Variable& rows) { return flat_linear(rows, W, b); });
}

Variable quantized_linear(const Variable& x, const Variable& W, const Variable& scale, const Variable& b,
                          std::optional<int> n_batch_axes) {
  return with_batch_axes(x, W, n_batch_axes, [&](const Variable& rows) {
    Variables inputs{rows, W, scale};
    if (b) inputs.push_back(b);
    if (autograd::internal::graph_mode_of(inputs).graph || autograd::internal::wants_elementary_nodes())
      return flat_linear(rows, dequantize(W, scale), b);
    return apply_node<QuantizedLinear>(inputs)[0];
  });
}

namespace {

void expect_bilinear(const TypeInfoTuple& in_types) {
  using namespace autograd::type_check;
  const auto e1 = in_types[0], e2 = in_types[1], W = in_types[2];
  expect(e1.dtype.kind() == 'f', e1.ndim >= 2, e2.ndim >= 2, W.ndim == 3, e1.shape[0] == e2.shape[0]);
  for (int i = 1; i < int(in_types.count()); ++i) expect(in_types[i].dtype == e1.dtype);
  expect(variable(features_of(in_types.shape(0)), "prod(in_types[0].shape[1:])") == W.shape[0],
         variable(features_of(in_types.shape(1)), "prod(in_types[1].shape[1:])") == W.shape[1]);
  if (in_types.count() < 6) return;
  const auto V1 = in_types[3], V2 = in_types[4], b = in_types[5];
  expect(V1.ndim == 2, V2.ndim == 2, b.ndim == 1, V1.shape[0] == W.shape[0], V2.shape[0] == W.shape[1],
         V1.shape[1] == W.shape[2], V2.shape[1] == W.shape[2], b.shape[0] == W.shape[2]);
}

}  // namespace

Variable bilinear(const Variable& e1, const Variable& e2, const Variable& W, const Variable& V1, const Variable& V2,
                  const Variable& b) {
  catena::check<catena::ValueError>(bool(V1) == bool(V2) && bool(V1) == bool(b), "bilinear",
                                    "V1, V2 and b are given together or not at all");
  Variables inputs{e1, e2, W};
  if (V1) inputs = {e1, e2, W, V1, V2, b};
  autograd::internal::check_input_types("BilinearFunction", inputs, expect_bilinear, "e1 e2 W V1 V2 b");
  // The sum of the terms is rounded once for 16-bit floats.
  if (catena::itemsize(e1.dtype()) < 4) {
    const auto wide = [](const Variable& v) { return v ? cast(v, Dtype::float32) : v; };
    return cast(bilinear(wide(e1), wide(e2), wide(W), wide(V1), wide(V2), wide(b)), e1.dtype());
  }
  const std::int64_t I = e1.shape(0), J = W.shape(0), K = W.shape(1), L = W.shape(2);
  const Variable left = reshape(e1, {I, J}), right = reshape(e2, {I, K});
  const Variable by_left = reshape(matmul(left, reshape(W, {J, K * L})), {I, K, L});
  const Variable y = reshape(batch_matmul(right, by_left, true), {I, L});
  return V1 ? y + matmul(left, V1) + matmul(right, V2) + b : y;
}

namespace {

// Negative numbers do not count from the end: they mostly mark the absence of an item, and would train a row by
// mistake.
void check_rows(const Array& ids, std::int64_t rows, const std::optional<std::int64_t>& ignored) {
  catena::IndexRule rule;
  rule.high = rows;
  rule.ignored = ignored.value_or(0);
  rule.ignores = ignored.has_value();
  rule.axis = 0;
  try {
    ids.backend().execute(catena::call::CheckIndices{ids.get(), rule, "embed_id"});
  } catch (const catena::IndexError& e) {
    throw catena::IndexError(catena::concat(
        e.what(), "; a number that stands for nothing, as -1 does for padding, is given as ignore_label"));
  }
}

}  // namespace

Variable embed_id(const Variable& x, const Variable& W, const EmbedIDOptions& o) {
  autograd::internal::check_input_types(
      "EmbedIDFunction", {x, W},
      [](const TypeInfoTuple& in_types) {
        using namespace autograd::type_check;
        expect(in_types[0].dtype.kind() == 'i', in_types[0].ndim >= 1, in_types[1].dtype.kind() == 'f',
               in_types[1].ndim == 2);
      },
      "x W");
  const Array operands[] = {x.data(), W.data()};
  autograd::check_same_device("embed_id", operands);
  const Array& ids = operands[0];
  if (autograd::is_debug())
    for (const std::int64_t id : autograd::to_vector<std::int64_t>(ids))
      catena::check<catena::ValueError>((id >= 0 && id < W.shape(0)) || (o.ignore_label && id == *o.ignore_label),
                                        "embed_id", "x has the number ", id, ", which is not in [0, ", W.shape(0), ")");
  check_rows(ids, W.shape(0), o.ignore_label);
  // Returns, with an additional axis for the columns of W, where the number is not `id`.
  const auto differs = [&](std::int64_t id) {
    return autograd::expand_dims(autograd::apply(catena::kernels::not_equal, {ids, id}), ids.ndim());
  };
  const bool for_file = autograd::internal::wants_elementary_nodes();
  // The rows of padding_idx are constants, which is of no concern to a file.
  const bool has_constants = o.padding_idx && !for_file;
  if (!o.ignore_label) {
    const Variable y = get_item(W, {ids});
    return has_constants ? where(differs(*o.padding_idx), y, y.data()) : y;
  }
  const Array known = differs(*o.ignore_label);
  const Array rows = autograd::astype(autograd::where(autograd::reshape(known, ids.shape()), ids, 0), ids.dtype());
  const Variable y = autograd::masked(get_item(W, {rows}), known);
  if (for_file) {
    autograd::internal::FunctionOptions options;
    options.integer("ignore_label", *o.ignore_label);
    return autograd::internal::recorded(y, "EmbedID", {x, W}, std::move(options));
  }
  return has_constants ? where(differs(*o.padding_idx), y, y.data()) : y;
}

}  // namespace nn
