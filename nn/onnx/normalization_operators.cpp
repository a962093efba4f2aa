// Normalization of batches, layers, groups and by the root of the mean square.
#include <algorithm>
#include <numeric>

#include <catena/nn/onnx/operators.h>

namespace nn::onnx::internal {

using Integers = std::vector<std::int64_t>;

namespace {

// The axes of the statistics: those given, or all but 1 .. rank of the parameters.
Integers statistics_axes(const CallView& c) {
  Integers axes;
  if (c.has("axes")) {
    axes = c.integers("axes");
    for (std::int64_t& a : axes) a += a < 0 ? c.rank() : 0;
    return axes;
  }
  for (int a = 0; a < c.rank(); ++a)
    if (a < 1 || a > c.rank(1)) axes.push_back(a);
  return axes;
}

// A parameter in a shape that broadcasts to x, in a dtype.
std::string parameter(CallView& c, std::size_t i, const Integers& axes, Dtype dtype) {
  const DimList own = c.input_shape(i);
  DimList shape;
  for (std::size_t a = 0, next = 0; a < std::size_t(c.rank()); ++a) {
    const bool is_statistic = std::find(axes.begin(), axes.end(), std::int64_t(a)) != axes.end();
    shape.push_back(is_statistic ? Dim{Integers(own[0].values.size(), 1)} : own[next++]);
  }
  return cast_to(c.b, c.b.reshape(c.input(i), own, shape), c.input_dtype(i), dtype);
}

// gamma (x - mean) / sqrt(var + eps) + beta, where the arguments broadcast.
struct Normalization {
  std::string x, mean, var, gamma, beta;
  double eps;
};
std::string normalized(GraphBuilder& b, const Normalization& n, Dtype dtype) {
  const std::string deviation = b.node("Sqrt", {b.node("Add", {n.var, b.scalar(n.eps, dtype)})});
  const std::string unit = b.node("Div", {b.node("Sub", {n.x, n.mean}), deviation});
  return b.node("Add", {b.node("Mul", {unit, n.gamma}), n.beta});
}

void fixed_batch_normalization(CallView& c) {
  const Integers axes = statistics_axes(c);
  Integers usual = {0};
  for (int a = 2; a < c.rank(); ++a) usual.push_back(a);
  bool has_one_dtype = true;
  for (std::size_t i = 1; i < c.num_inputs(); ++i)
    has_one_dtype = has_one_dtype && c.input_dtype(i) == c.input_dtype(0);
  if (axes == usual && (has_one_dtype || c.b.opset() >= 15)) {
    // Since opset 15, the operator accepts another dtype for gamma and beta, and another one for the statistics.
    return c.set(c.b.node("BatchNormalization", c.inputs(), {attribute("epsilon", c.number("eps"))}));
  }
  const Dtype given = c.input_dtype(0), computed = catena::compute_dtype(given);
  const auto p = [&](std::size_t i) { return parameter(c, i, axes, computed); };
  const Normalization n{cast_to(c.b, c.input(0), given, computed), p(3), p(4), p(1), p(2), c.number("eps")};
  c.set(cast_to(c.b, normalized(c.b, n, computed), computed, given));
}

std::string mean_of_squares(GraphBuilder& b, const std::string& x, const Integers& axes) {
  return reduce(b, "ReduceMean", b.node("Mul", {x, x}), axes, true);
}

// In training: with the statistics of the batch.
void batch_normalization(CallView& c) {
  GraphBuilder& b = c.b;
  const Integers axes = statistics_axes(c);
  const Dtype given = c.input_dtype(0), computed = catena::compute_dtype(given);
  const std::string x = cast_to(b, c.input(0), given, computed), mean = reduce(b, "ReduceMean", x, axes, true);
  const std::string var = mean_of_squares(b, b.node("Sub", {x, mean}), axes);
  const Normalization n{
      x, mean, var, parameter(c, 1, axes, computed), parameter(c, 2, axes, computed), c.number("eps")};
  c.set(cast_to(b, normalized(b, n, computed), computed, given));
}

// The parameters have the shape of the last axes. eps is inside of the root, or, for Chainer's rule, outside.
void layer_normalization(CallView& c) {
  GraphBuilder& b = c.b;
  const double inside = c.number("inside"), outside = c.number("outside");
  const Dtype given = c.input_dtype(0), computed = catena::compute_dtype(given);
  const Dtype of_parameters = c.input_dtype(1);
  const std::int64_t first = c.rank() - c.rank(1);
  if (outside == 0 && of_parameters == given && b.opset() >= 17) {
    return c.set(b.node("LayerNormalization", c.inputs(), {attribute("axis", first), attribute("epsilon", inside)}));
  }
  Integers axes(std::size_t(c.rank(1)));
  std::iota(axes.begin(), axes.end(), first);
  const std::string x = cast_to(b, c.input(0), given, computed);
  const std::string centred = b.node("Sub", {x, reduce(b, "ReduceMean", x, axes, true)});
  const std::string root =
      b.node("Sqrt", {b.node("Add", {mean_of_squares(b, centred, axes), b.scalar(inside, computed)})});
  const std::string unit = b.node("Div", {centred, b.node("Add", {root, b.scalar(outside, computed)})});
  const std::string gamma = cast_to(b, c.input(1), of_parameters, computed),
                    beta = cast_to(b, c.input(2), c.input_dtype(2), computed);
  c.set(cast_to(b, b.node("Add", {b.node("Mul", {unit, gamma}), beta}), computed, given));
}

// Groups of channels are the channels of InstanceNormalization; the parameters belong to channels.
void group_normalization(CallView& c) {
  GraphBuilder& b = c.b;
  const std::int64_t groups = c.integer("groups");
  const Dtype given = c.input_dtype(0), computed = catena::compute_dtype(given);
  const DimList from = c.input_shape(0);
  const std::string x = cast_to(b, c.input(0), given, computed);
  const std::string rows = b.node("Reshape", {x, b.int64s({0, groups, -1})});
  const std::string one = b.constant(autograd::arrays::full({groups}, 1, computed)),
                    zero = b.constant(autograd::arrays::full({groups}, 0, computed));
  const std::string unit =
      b.node("InstanceNormalization", {rows, one, zero}, {attribute("epsilon", c.number("inside"))});
  const std::string y = b.reshape(unit, {from[0]}, from);
  Integers axes = {0};
  for (int a = 2; a < c.rank(); ++a) axes.push_back(a);
  const std::string scaled = b.node("Mul", {y, parameter(c, 1, axes, computed)});
  c.set(cast_to(b, b.node("Add", {scaled, parameter(c, 2, axes, computed)}), computed, given));
}

void rms_normalization(CallView& c) {
  GraphBuilder& b = c.b;
  const Dtype given = c.input_dtype(0), computed = catena::compute_dtype(given);
  const std::string x = cast_to(b, c.input(0), given, computed);
  Integers axes(std::size_t(c.rank(1)));
  std::iota(axes.begin(), axes.end(), c.rank() - c.rank(1));
  const std::string root =
      b.node("Sqrt", {b.node("Add", {mean_of_squares(b, x, axes), b.scalar(c.number("eps"), computed)})});
  const std::string gamma = cast_to(b, c.input(1), c.input_dtype(1), computed);
  c.set(cast_to(b, b.node("Mul", {b.node("Div", {x, root}), gamma}), computed, given));
}

constexpr Operators kNormalizationsTable[] = {
    {"BatchNormalization", "Add, Cast, Div, Mul, ReduceMean, Reshape, Sqrt, Sub", batch_normalization},
    {"FixedBatchNormalization", "Add, BatchNormalization, Cast, Div, Mul, Reshape, Sqrt, Sub",
     fixed_batch_normalization},
    {"GroupNormalization", "Add, Cast, InstanceNormalization, Mul, Reshape", group_normalization},
    {"LayerNormalization", "Add, Cast, Div, LayerNormalization, Mul, ReduceMean, Sqrt, Sub", layer_normalization},
    {"RMSNormalization", "Add, Cast, Div, Mul, ReduceMean, Sqrt", rms_normalization},
};

}  // namespace

std::span<const Operators> normalization_operators() noexcept { return kNormalizationsTable; }

}  // namespace nn::onnx::internal
