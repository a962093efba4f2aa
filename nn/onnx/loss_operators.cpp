// Losses, and what is computed from labels: masks, weights, counts, accuracies, rows of embeddings.
#include <catena/nn/onnx/operators.h>

namespace nn::onnx::internal {

using Integers = std::vector<std::int64_t>;

std::string number_of(GraphBuilder& b, const Dim& length, Dtype dtype) {
  if (length.is_constant()) return b.scalar(double(length.given()), dtype);
  const std::string none = b.int64s({});
  return cast_to(b, b.node("Reshape", {b.length(length), none}), Dtype::int64, dtype);
}

std::string labels(CallView& c, std::size_t input) {
  const Dtype dtype = c.input_dtype(input);
  return cast_to(c.b, c.input(input), dtype, dtype == Dtype::int32 ? dtype : Dtype::int64);
}

namespace {

Dtype dtype_of_labels(const CallView& c, std::size_t input) {
  return c.input_dtype(input) == Dtype::int32 ? Dtype::int32 : Dtype::int64;
}

std::string differs(GraphBuilder& b, const std::string& x, const std::string& number) {
  return b.node("Not", {b.node("Equal", {x, number})});
}

std::string sum_of(GraphBuilder& b, const std::string& x) {
  return b.node("ReduceSum", {x}, {attribute("keepdims", 0)});
}

// max(number of true elements, 1)
std::string count_of(GraphBuilder& b, const std::string& condition, Dtype dtype) {
  const std::string number = sum_of(b, cast_to(b, condition, Dtype::bool_, dtype));
  return b.node("Max", {number, b.scalar(1, dtype)});
}
void count(CallView& c) { c.set(count_of(c.b, c.input(0), c.output_dtype())); }

// The sum of weights, 1 if that is 0.
std::string total_of(GraphBuilder& b, const std::string& weights, Dtype dtype) {
  const std::string sum = sum_of(b, weights);
  return b.node("Where", {b.node("Greater", {sum, b.scalar(0, dtype)}), sum, b.scalar(1, dtype)});
}
void total_weight(CallView& c) {
  const Dtype dtype = c.output_dtype();
  c.set(total_of(c.b, cast_to(c.b, c.input(0), c.input_dtype(0), dtype), dtype));
}

// The class weights in a dtype.
std::string class_weight(CallView& c, Dtype dtype) {
  const std::vector<Array> weight = c.arrays("class_weight");
  return cast_to(c.b, c.b.constant(weight), weight[0].dtype(), dtype);
}

// The weight of each label; 0 for the one that is ignored, which is no class.
std::string weights_at(GraphBuilder& b, const std::string& weight, const std::string& t, const std::string& valid,
                       Dtype of_labels, Dtype dtype) {
  const std::string known = b.node("Where", {valid, t, b.scalar(0, of_labels)});
  return b.node("Where", {valid, b.node("Gather", {weight, known}), b.scalar(0, dtype)});
}
void weights_of_labels(CallView& c) {
  GraphBuilder& b = c.b;
  const Dtype of_labels = dtype_of_labels(c, 0), dtype = c.output_dtype();
  const std::string t = labels(c, 0), valid = differs(b, t, b.scalar(double(c.integer("ignore_label")), of_labels));
  c.set(weights_at(b, class_weight(c, dtype), t, valid, of_labels, dtype));
}

// The losses, their sum, or their sum divided by `divisor()`.
template <class F>
std::string reduced(CallView& c, const std::string& losses, Dtype computed, Dtype given, const F& divisor) {
  const std::string reduce = c.text("reduce");
  std::string y = losses;
  if (reduce != "no") y = sum_of(c.b, y);
  if (reduce == "mean") y = c.b.node("Div", {y, divisor()});
  return cast_to(c.b, y, computed, given);
}

// ---- classes ------------------------------------------------------------------------------------

// (1 - e) losses - e / C times the sum of the weighted logarithms of all classes, for the smoothing e.
std::string smoothed(CallView& c, const std::string& losses, const std::string& log_y, const std::string& valid,
                     Dtype dtype) {
  GraphBuilder& b = c.b;
  const double e = c.number("label_smoothing");
  const Dim classes = c.input_shape(0)[1];
  require(classes.is_constant(), "the number of classes is dynamic");
  std::string weighted = log_y;
  if (c.has("class_weight")) {
    Integers shape(std::size_t(c.rank()), 1);
    shape[1] = -1;
    weighted = b.node("Mul", {log_y, b.node("Reshape", {class_weight(c, dtype), b.int64s(shape)})});
  }
  const std::string all =
      b.node("Mul", {reduce(b, "ReduceSum", weighted, {1}, false), b.scalar(-e / double(classes.given()), dtype)});
  const std::string both = b.node("Add", {b.node("Mul", {losses, b.scalar(1 - e, dtype)}), all});
  return b.node("Where", {valid, both, b.scalar(0, dtype)});
}

// The operator would divide by 0 if all labels are ignored, so the mean is computed apart.
void softmax_cross_entropy(CallView& c) {
  GraphBuilder& b = c.b;
  const Dtype given = c.input_dtype(0), computed = catena::compute_dtype(given), of_labels = dtype_of_labels(c, 1);
  const std::int64_t ignored = c.integer("ignore_label");
  const bool is_smoothed = c.number("label_smoothing") > 0, is_weighted = c.has("class_weight");
  const std::string t = labels(c, 1);
  Names operands{cast_to(b, c.input(0), given, computed), t};
  if (is_weighted) operands.push_back(class_weight(c, computed));
  const Names y = b.nodes("SoftmaxCrossEntropyLoss", operands, is_smoothed ? 2 : 1,
                          {attribute("reduction", "none"), attribute("ignore_index", ignored)});
  const auto valid = [&] { return differs(b, t, b.scalar(double(ignored), of_labels)); };
  const std::string losses = is_smoothed ? smoothed(c, y[0], y[1], valid(), computed) : y[0];
  c.set(reduced(c, losses, computed, given, [&] {
    if (c.integer("normalize") == 0) return number_of(b, c.input_shape(0)[0], computed);
    if (!is_weighted || c.integer("normalize_by_weight") == 0) return count_of(b, valid(), computed);
    return total_of(b, weights_at(b, operands[2], t, valid(), of_labels, computed), computed);
  }));
}

void negative_log_likelihood(CallView& c) {
  Names operands{c.input(0), positions(c.b, c.arrays("t"))};
  if (c.has("class_weight")) operands.push_back(class_weight(c, c.input_dtype(0)));
  c.set(c.b.node("NegativeLogLikelihoodLoss", operands,
                 {attribute("reduction", "none"), attribute("ignore_index", c.integer("ignore_label"))}));
}

// ---- probabilities ------------------------------------------------------------------------------

// softplus(s) - x (t - [t > 0]), where s is -x for positive labels and x for others; 0 for the label -1.
void sigmoid_cross_entropy(CallView& c) {
  GraphBuilder& b = c.b;
  const Dtype given = c.input_dtype(0), computed = catena::compute_dtype(given), of_labels = dtype_of_labels(c, 1);
  const std::string x = cast_to(b, c.input(0), given, computed), t = labels(c, 1);
  const std::string valid = differs(b, t, b.scalar(-1, of_labels)),
                    positive = b.node("Greater", {t, b.scalar(0, of_labels)});
  const std::string side = b.node("Where", {positive, b.node("Neg", {x}), x});
  const std::string rest =
      b.node("Sub", {cast_to(b, t, of_labels, computed), cast_to(b, positive, Dtype::bool_, computed)});
  const std::string losses = b.node("Sub", {b.node("Softplus", {side}), b.node("Mul", {x, rest})});
  c.set(reduced(c, b.node("Where", {valid, losses, b.scalar(0, computed)}), computed, given, [&] {
    if (c.integer("normalize") != 0) return count_of(b, valid, computed);
    return c.rank() == 0 ? b.scalar(1, computed) : number_of(b, c.input_shape(0)[0], computed);
  }));
}

// weight t softplus(-x) + (1 - t) softplus(x)
void binary_cross_entropy_with_logits(CallView& c) {
  GraphBuilder& b = c.b;
  const Dtype dtype = c.input_dtype(0);
  const std::string x = c.input(0), t = c.input(1), weight = c.constant("weight", dtype);
  const std::string of_one = b.node("Softplus", {b.node("Neg", {x})}), of_zero = b.node("Softplus", {x});
  const std::string one = b.node("Mul", {b.node("Mul", {t, weight}), of_one}),
                    zero = b.node("Mul", {b.node("Sub", {b.scalar(1, dtype), t}), of_zero});
  c.set(b.node("Add", {one, zero}));
}

void mean_squared_error(CallView& c) {
  GraphBuilder& b = c.b;
  const Dtype given = c.input_dtype(0), computed = catena::compute_dtype(given);
  const auto x = [&](std::size_t i) { return cast_to(b, c.input(i), given, computed); };
  const std::string difference = b.node("Sub", {x(0), x(1)});
  const std::string mean = b.node("ReduceMean", {b.node("Mul", {difference, difference})}, {attribute("keepdims", 0)});
  c.set(cast_to(b, mean, computed, given));
}

// ---- accuracies ---------------------------------------------------------------------------------

std::string share_of(GraphBuilder& b, const std::string& hit, const std::string& valid, Dtype computed) {
  const std::string hits = sum_of(b, cast_to(b, b.node("And", {hit, valid}), Dtype::bool_, computed));
  return b.node("Div", {hits, count_of(b, valid, computed)});
}

void accuracy(CallView& c) {
  GraphBuilder& b = c.b;
  const Dtype given = c.input_dtype(0), computed = catena::compute_dtype(given);
  const std::string t = cast_to(b, c.input(1), c.input_dtype(1), Dtype::int64);
  std::string predicted = b.node("ArgMax", {c.input(0)}, {attribute("axis", 1), attribute("keepdims", 0)});
  if (c.rank(1) + 1 != c.rank()) {  // axes of length 1 at the end
    DimList from = c.input_shape(0);
    from.erase(from.begin() + 1);
    predicted = b.reshape(predicted, from, c.input_shape(1));
  }
  const std::string hit = b.node("Equal", {predicted, t});
  std::string y;
  if (c.has("ignore_label"))
    y = share_of(b, hit, differs(b, t, b.scalar(double(c.integer("ignore_label")), Dtype::int64)), computed);
  else y = b.node("ReduceMean", {cast_to(b, hit, Dtype::bool_, computed)}, {attribute("keepdims", 0)});
  c.set(cast_to(b, y, computed, given));
}

void binary_accuracy(CallView& c) {
  GraphBuilder& b = c.b;
  const Dtype given = c.input_dtype(0), computed = catena::compute_dtype(given);
  const std::string t = cast_to(b, c.input(1), c.input_dtype(1), Dtype::int64);
  const std::string predicted = b.node("GreaterOrEqual", {c.input(0), b.scalar(0, given)});
  const std::string hit = b.node("Equal", {cast_to(b, predicted, Dtype::bool_, Dtype::int64), t});
  const std::string y = share_of(b, hit, differs(b, t, b.scalar(-1, Dtype::int64)), computed);
  c.set(cast_to(b, y, computed, given));
}

// ---- embeddings ---------------------------------------------------------------------------------

// The rows of W; zeros for the number that is ignored, which is none of a row.
void embed_id(CallView& c) {
  GraphBuilder& b = c.b;
  const Dtype of_ids = dtype_of_labels(c, 0);
  const std::string ids = labels(c, 0), known = differs(b, ids, b.scalar(double(c.integer("ignore_label")), of_ids));
  const std::string rows = b.node("Gather", {c.input(1), b.node("Where", {known, ids, b.scalar(0, of_ids)})});
  const std::string at_rows = b.node("Unsqueeze", {known, b.int64s({-1})});
  c.set(b.node("Where", {at_rows, rows, b.scalar(0, c.input_dtype(1))}));
}

constexpr Operators kLossesTable[] = {
    {"Accuracy", "And, ArgMax, Cast, Div, Equal, Max, Not, ReduceMean, ReduceSum, Reshape", accuracy},
    {"BinaryAccuracy", "And, Cast, Div, Equal, GreaterOrEqual, Max, Not, ReduceSum", binary_accuracy},
    {"BinaryCrossEntropyWithLogits", "Add, Mul, Neg, Softplus, Sub", binary_cross_entropy_with_logits},
    {"Count", "Cast, Max, ReduceSum", count},
    {"EmbedID", "Cast, Equal, Gather, Not, Unsqueeze, Where", embed_id},
    {"MeanSquaredError", "Cast, Mul, ReduceMean, Sub", mean_squared_error},
    {"NegativeLogLikelihood", "Cast, NegativeLogLikelihoodLoss", negative_log_likelihood},
    {"SigmoidCrossEntropy",
     "Cast, Div, Equal, Greater, Max, Mul, Neg, Not, ReduceSum, Reshape, Shape, Softplus, Sub, Where",
     sigmoid_cross_entropy},
    {"SoftmaxCrossEntropy",
     "Add, Cast, Div, Equal, Gather, Greater, Max, Mul, Not, ReduceSum, Reshape, Shape, SoftmaxCrossEntropyLoss, Where",
     softmax_cross_entropy},
    {"TotalWeight", "Cast, Greater, ReduceSum, Where", total_weight},
    {"WeightsOfLabels", "Cast, Equal, Gather, Not, Where", weights_of_labels},
};

}  // namespace

std::span<const Operators> loss_operators() noexcept { return kLossesTable; }

}  // namespace nn::onnx::internal
