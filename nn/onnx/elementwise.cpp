// Elementwise functions, by the names of their kernels.
#include <cmath>

#include <catena/nn/onnx/operators.h>

namespace nn::onnx::internal {
namespace {

// The operands of the kernel in its order, constants among them.
Names operands(const CallView& c) {
  Names names = c.inputs();
  Names constants;
  for (const char* option : {"c0", "c1"})
    if (c.has(option)) constants.push_back(c.constant(option, c.input_dtype(0)));
  names.insert(c.has("constant_first") ? names.begin() : names.end(), constants.begin(), constants.end());
  return names;
}

// The operands and the parts of an expression.
struct Terms {
  explicit Terms(CallView& call) : c(call), in(operands(call)), x(in[0]) {}
  std::string number(double value) const { return c.b.scalar(value, c.input_dtype(0)); }
  std::string op(const char* type, const std::string& a, const Attributes& attributes = {}) const {
    return c.b.node(type, {a}, attributes);
  }
  std::string op(const char* type, const std::string& a, const std::string& b) const { return c.b.node(type, {a, b}); }
  std::string op(const char* type, const std::string& a, double b) const { return op(type, a, number(b)); }
  double constant(const char* option) const { return c.number(option); }

  CallView& c;
  Names in;
  std::string x;
};

using Expression = std::string (*)(const Terms& t);
template <Expression expression> void write(CallView& c) { c.set(expression(Terms(c))); }

// An operator with the same operands.
template <std::size_t n> struct Text {
  constexpr Text(const char (&text)[n]) {
    for (std::size_t i = 0; i < n; ++i) characters[i] = text[i];
  }
  char characters[n];
};
template <Text type> void same(CallView& c) { c.set(c.b.node(type.characters, operands(c))); }

std::string normal_distribution(const Terms& t) {
  return t.op("Mul", t.op("Add", t.op("Erf", t.op("Mul", t.x, std::sqrt(0.5))), 1.0), 0.5);
}

std::string gelu_tanh(const Terms& t) {
  const std::string cubic = t.op("Mul", t.op("Mul", t.op("Mul", t.x, t.x), t.x), 0.044715);
  const std::string inner = t.op("Mul", t.op("Add", t.x, cubic), 0.79788456080286535588);
  return t.op("Mul", t.op("Mul", t.x, 0.5), t.op("Add", t.op("Tanh", inner), 1.0));
}

std::string softplus(const Terms& t) {
  const double beta = t.constant("c0");
  if (beta == 1) return t.op("Softplus", t.x);
  return t.op("Mul", t.op("Softplus", t.op("Mul", t.x, beta)), 1 / beta);
}

std::string leaky_relu(const Terms& t) {
  if (t.c.num_inputs() == 1) return t.op("LeakyRelu", t.x, {attribute("alpha", t.constant("c0"))});
  return t.op("PRelu", t.x, t.in[1]);
}

std::string logaddexp(const Terms& t) {
  const std::string distance = t.op("Abs", t.op("Sub", t.in[0], t.in[1]));
  return t.op("Add", t.op("Max", t.in[0], t.in[1]), t.op("Softplus", t.op("Neg", distance)));
}

std::string cube_root(const Terms& t) {
  // A product of the sign and the root of the absolute value: Pow of a negative number would be NaN.
  return t.op("Mul", t.op("Sign", t.x), t.op("Pow", t.op("Abs", t.x), 1.0 / 3));
}

std::string hard_swish(const Terms& t) {
  if (t.c.b.opset() >= 14) return t.op("HardSwish", t.x);
  return t.op("Mul", t.x, t.op("HardSigmoid", t.x, {attribute("alpha", 1.0 / 6), attribute("beta", 0.5)}));
}

constexpr double kLog2 = 0.693147180559945309417, kLog10 = 2.30258509299404568402;

// log(x / (1 - x))
std::string logit(const Terms& t) { return t.op("Log", t.op("Div", t.x, t.op("Sub", t.number(1), t.x))); }

constexpr Operators kElementwiseTable[] = {
    {"absolute", "Abs", same<"Abs">},
    {"add", "Add", same<"Add">},
    {"arccos", "Acos", same<"Acos">},
    {"arccosh", "Acosh", same<"Acosh">},
    {"arcsin", "Asin", same<"Asin">},
    {"arcsinh", "Asinh", same<"Asinh">},
    {"arctan", "Atan", same<"Atan">},
    {"arctanh", "Atanh", same<"Atanh">},
    {"cbrt", "Abs, Mul, Pow, Sign", write<cube_root>},
    {"ceil", "Ceil", same<"Ceil">},
    {"clip", "Clip", same<"Clip">},
    {"clipped_relu", "Clip", write<[](const Terms& t) {
       return t.c.b.node("Clip", {t.x, t.number(0), t.in[1]});
     }>},
    {"cos", "Cos", same<"Cos">},
    {"cosh", "Cosh", same<"Cosh">},
    {"elu", "Elu", write<[](const Terms& t) { return t.op("Elu", t.x, {attribute("alpha", t.constant("c0"))}); }>},
    {"equal", "Equal", same<"Equal">},
    {"erf", "Erf", same<"Erf">},
    {"erfc", "Erf, Sub", write<[](const Terms& t) { return t.op("Sub", t.number(1), t.op("Erf", t.x)); }>},
    {"exp", "Exp", same<"Exp">},
    {"exp2", "Pow", write<[](const Terms& t) { return t.op("Pow", t.number(2), t.x); }>},
    {"expm1", "Exp, Sub", write<[](const Terms& t) { return t.op("Sub", t.op("Exp", t.x), 1.0); }>},
    {"fix", "Abs, Floor, Mul, Sign",
     write<[](const Terms& t) { return t.op("Mul", t.op("Sign", t.x), t.op("Floor", t.op("Abs", t.x))); }>},
    {"floor", "Floor", same<"Floor">},
    {"fmod", "Mod", write<[](const Terms& t) { return t.c.b.node("Mod", t.in, {attribute("fmod", 1)}); }>},
    {"gelu", "Add, Erf, Mul", write<[](const Terms& t) { return t.op("Mul", t.x, normal_distribution(t)); }>},
    {"gelu_tanh", "Add, Mul, Tanh", write<gelu_tanh>},
    {"greater", "Greater", same<"Greater">},
    {"greater_equal", "GreaterOrEqual", same<"GreaterOrEqual">},
    {"hard_sigmoid", "HardSigmoid", same<"HardSigmoid">},
    {"hard_swish", "HardSigmoid, HardSwish, Mul", write<hard_swish>},
    {"hypot", "Add, Mul, Sqrt", write<[](const Terms& t) {
       return t.op("Sqrt", t.op("Add", t.op("Mul", t.in[0], t.in[0]), t.op("Mul", t.in[1], t.in[1])));
     }>},
    {"leaky_relu", "LeakyRelu, PRelu", write<leaky_relu>},
    {"less", "Less", same<"Less">},
    {"less_equal", "LessOrEqual", same<"LessOrEqual">},
    {"log", "Log", same<"Log">},
    {"log10", "Log, Mul", write<[](const Terms& t) { return t.op("Mul", t.op("Log", t.x), 1 / kLog10); }>},
    {"log1p", "Add, Log", write<[](const Terms& t) { return t.op("Log", t.op("Add", t.x, 1.0)); }>},
    {"log2", "Log, Mul", write<[](const Terms& t) { return t.op("Mul", t.op("Log", t.x), 1 / kLog2); }>},
    {"log_expit", "Neg, Softplus",
     write<[](const Terms& t) { return t.op("Neg", t.op("Softplus", t.op("Neg", t.x))); }>},
    {"logaddexp", "Abs, Add, Max, Neg, Softplus, Sub", write<logaddexp>},
    {"logical_and", "And", same<"And">},
    {"logit", "Div, Log, Sub", write<logit>},
    {"maximum", "Max", same<"Max">},
    {"minimum", "Min", same<"Min">},
    {"mish", "Mul, Softplus, Tanh",
     write<[](const Terms& t) { return t.op("Mul", t.x, t.op("Tanh", t.op("Softplus", t.x))); }>},
    {"multiply", "Mul", same<"Mul">},
    {"ndtr", "Add, Erf, Mul", write<normal_distribution>},
    {"negative", "Neg", same<"Neg">},
    {"not_equal", "Equal, Not", write<[](const Terms& t) { return t.op("Not", t.c.b.node("Equal", t.in)); }>},
    {"power", "Pow", same<"Pow">},
    {"relu", "Relu", same<"Relu">},
    {"rint", "Round", same<"Round">},
    {"rsqrt", "Reciprocal, Sqrt", write<[](const Terms& t) { return t.op("Reciprocal", t.op("Sqrt", t.x)); }>},
    {"scaled_elu", "Selu", write<[](const Terms& t) {
       const double scale = t.constant("c0");
       return t.op("Selu", t.x, {attribute("alpha", t.constant("c1") / scale), attribute("gamma", scale)});
     }>},
    {"sigmoid", "Sigmoid", same<"Sigmoid">},
    {"sign", "Sign", same<"Sign">},
    {"silu", "Mul, Sigmoid", write<[](const Terms& t) { return t.op("Mul", t.x, t.op("Sigmoid", t.x)); }>},
    {"sin", "Sin", same<"Sin">},
    {"sinh", "Sinh", same<"Sinh">},
    {"softplus", "Mul, Softplus", write<softplus>},
    {"sqrt", "Sqrt", same<"Sqrt">},
    {"square", "Mul", write<[](const Terms& t) { return t.op("Mul", t.x, t.x); }>},
    {"subtract", "Sub", same<"Sub">},
    {"tan", "Tan", same<"Tan">},
    {"tanh", "Tanh", same<"Tanh">},
    {"true_divide", "Div", same<"Div">},
    {"LinearInterpolate", "Add, Mul, Sub", write<[](const Terms& t) {
       const std::string other = t.op("Mul", t.op("Sub", t.number(1), t.in[0]), t.in[2]);
       return t.op("Add", t.op("Mul", t.in[0], t.in[1]), other);
     }>},
    {"SquaredDifference", "Mul, Sub", write<[](const Terms& t) {
       const std::string difference = t.op("Sub", t.in[0], t.in[1]);
       return t.op("Mul", difference, difference);
     }>},
};

}  // namespace

std::span<const Operators> elementwise_operators() noexcept { return kElementwiseTable; }

}  // namespace nn::onnx::internal
