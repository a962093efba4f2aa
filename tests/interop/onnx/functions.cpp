// Functions by themselves.
#include <catena/tests/interop/onnx/networks.h>

namespace onnx_networks {
namespace {

using namespace autograd;

Variables activations(const Variable& x) {
  return {nn::relu(x),        nn::leaky_relu(x, 0.1),
          nn::elu(x, 0.7),    nn::selu(x),
          nn::gelu(x),        nn::gelu(x, {.approximate = "tanh"}),
          nn::silu(x),        nn::mish(x),
          nn::hard_swish(x),  nn::hard_sigmoid(x),
          nn::softplus(x),    nn::softplus(x, 2.0),
          nn::log_sigmoid(x), nn::clipped_relu(x, 1.5),
          nn::relu6(x),       nn::softsign(x),
          nn::tanhshrink(x),  nn::softshrink(x, 0.4),
          nn::hardtanh(x),    nn::crelu(x),
          nn::maxout(x, 2),   nn::glu(x, {.axis = 1}),
          nn::swish(x, 1.5),  nn::softmax(x, {.axis = 2}),
          nn::log_softmax(x), nn::softmin(x),
          sigmoid(x),         tanh(x)};
}

Variables mathematics(const Variable& x) {
  return {exp(x),
          expm1(x),
          log(x),
          log2(x),
          log10(x),
          log1p(x),
          sqrt(x),
          square(x),
          sin(x),
          cos(x),
          tan(x),
          arctan(x),
          sinh(x),
          cosh(x),
          exp2(x),
          cbrt(-x),
          floor(x),
          ceil(x),
          sign(x),
          fix(-x * 3),
          round(x),
          rsqrt(x),
          erf(x),
          erfc(x),
          ndtr(x),
          arcsinh(x),
          abs(-x),
          -x,
          x + 1,
          1 - x,
          x * 2,
          x / 3,
          2 / x,
          pow(x, 2),
          pow(x, 3),
          pow(2, x),
          pow(x, x),
          x - x * x,
          x / (x + 1),
          clip(x, 0.7, 1.2),
          arcsin(x * 0.5),
          arccos(x * 0.5),
          arctanh(x * 0.5),
          arccosh(x + 1),
          logaddexp(x, -x),
          hypot(x, x),
          fmod(x, x * 0.3)};
}

Variables two_operands(const Variable& x, const Variable& y) {
  return {x + y,
          x * y,
          maximum(x, broadcast_to(y, x.shape())),
          minimum(x, broadcast_to(y, x.shape())),
          squared_difference(x, x * 2),
          linear_interpolate(sigmoid(x), x, x + 1),
          add({x, x, x}),
          nn::prelu(x, reshape(y(0), {3})),
          autograd::bias(x, reshape(y(0), {3}), 1)};
}

Variables reductions(const Variable& x) {
  return {sum(x),
          sum(x, 1),
          sum(x, {0, 2}, true),
          mean(x, -1),
          var(x, 1),
          autograd::std(x, {1, 2}),
          max(x, 1),
          min(x, 2, true),
          prod(x, 1),
          logsumexp(x, 1),
          cumsum(x, 1),
          average(x, 1),
          sum_to(x, {1, x.shape(2)}),
          batch_l2_norm_squared(x),
          nn::normalize(x, 1e-5, 1)};
}

Variables shapes(const Variable& x) {
  const std::int64_t n = x.shape(0);
  Variables out = {reshape(x, {n, -1}),
                   transpose(x),
                   transpose(x, {0, 2, 1}),
                   swapaxes(x, 1, 2),
                   rollaxis(x, 2),
                   expand_dims(x, 1),
                   squeeze(expand_dims(x, 3)),
                   tile(x, {1, 2, 1}),
                   repeat(x, 2, 1),
                   flip(x, 1),
                   fliplr(x),
                   roll(x, 1, 2),
                   concat({x, x * 2}, 2),
                   stack({x, -x}, 1),
                   broadcast_to(x(_, Slice(0, 1)), x.shape()),
                   pad(x, {{0, 0}, {1, 2}, {0, 1}}),
                   pad(x, {{0, 0}, {1, 1}, {2, 0}}, "edge"),
                   pad(x, {{0, 0}, {0, 1}, {1, 1}}, "constant", {.constant_values = 0.5}),
                   autograd::unfold(x, 2, 2, 1)};
  for (const Variable& part : split_axis(x, {1, 3}, 1)) out.push_back(part);
  for (const Variable& part : separate(x, 2)) out.push_back(part);
  return out;
}

Variables indices(const Variable& x) {
  return {x(_, 1),
          x(_, -1, 2),
          x(_, Slice(1, {})),
          x(_, Slice({}, {}, 2)),
          x(_, Slice({}, {}, -1)),
          x(ellipsis, 0),
          x(_, newaxis, Slice(0, 2)),
          get_item(x, {_, std::vector<int>{2, 0, 2}}),
          x(_, Slice(-2, -1))};
}

Variables selections(const Variable& x, const Variable& index, const Variable& mask) {
  const auto [top, order] = topk(x, 2, 1);
  return {top,
          order,
          sort(x, 1).values,
          argmax(x, 1),
          argmin(x, 1),
          take_along_axis(x, index, 1),
          where(mask, x, x * 2),
          where(mask, x, 0.0),
          masked_fill(x, mask, -1.0)};
}

Variables products(const Variable& a, const Variable& b, const Variable& c) {
  return {matmul(a, b),
          matmul(a, a, false, true),
          matmul(a, a, true, false),
          batch_matmul(c, c, false, true),
          einsum("ij,jk->ki", a, b),
          einsum("nij,nkj->nik", c, c),
          tensordot(a, b, 1),
          matmul(c, b(_, Slice(0, 3)))};
}

// Fully connected layers of several kinds.
struct Layers : nn::Chain {
  nn::Highway highway{6};
  nn::Maxout maxout{6, 4, 3};
  nn::PReLU prelu{4};
  nn::LayerNormalization ln{4};
  nn::RMSNorm rms{4};
  nn::Scale scale{1, nn::Scale::Options{.W_shape = nn::Shape{4}, .bias_term = true}};
  nn::Bilinear bilinear{4, 4, 3};
  NN_MEMBERS(highway, maxout, prelu, ln, rms, scale, bilinear)
  Variable operator()(const Variable& x) {
    const Variable h = prelu(maxout(highway(x)));
    return bilinear(scale(ln(h)), rms(h));
  }
};

struct Doubles : nn::Chain {
  nn::Linear l1{4, 5}, l2{5, 2};
  NN_MEMBERS(l1, l2)
  Variable operator()(const Variable& x) { return l2(tanh(l1(x))); }
};

}  // namespace

void add_functions(Writer& w) {
  const std::vector<Variables> cube = {{random({2, 4, 6})}, {random({3, 4, 6})}};
  w.add("activations", activations, cube, dynamic_batch());
  w.add("mathematics", mathematics, {{positive({3, 4})}}, dynamic_batch());
  w.add("two_operands", two_operands, {{random({2, 3, 4}), random({2, 3, 1})}});
  w.add("reductions", reductions, cube, dynamic_batch());
  ExportOptions newer = dynamic_batch();
  newer.opset_version = 21;
  w.add("reductions_opset_21", reductions, cube, newer);
  w.add("activations_opset_21", activations, cube, newer);
  ExportOptions older = dynamic_batch();
  older.opset_version = 13;
  w.add("reductions_opset_13", reductions, cube, older);
  w.add("activations_opset_13", activations, cube, older);
  w.add("shapes", shapes, cube, dynamic_batch());
  w.add("indices", indices, cube, dynamic_batch());
  const auto mask = [](std::int64_t n) {
    std::vector<bool> values;
    for (std::int64_t i = 0; i < n * 5; ++i) values.push_back(i % 3 == 0);
    return Variable(array(values, {n, 5}));
  };
  w.add("selections", selections,
        {{random({2, 5}), numbers({2, 3}, 5), mask(2)}, {random({4, 5}), numbers({4, 3}, 5), mask(4)}},
        {.input_names = {"x", "index", "mask"}, .dynamic_batch = true});
  w.add("products", products, {{random({3, 4}), random({4, 3}), random({2, 3, 4})}});
  Layers layers;
  layers(random({2, 6}));
  randomize(layers);
  w.add("layers", layers, {{random({2, 6})}, {random({1, 6})}}, dynamic_batch());
  Doubles doubles;
  doubles.to_dtype(Dtype::float64);
  w.add("float64", doubles, {{random({3, 4}, 1, Dtype::float64)}}, dynamic_batch());
  Doubles halves;
  halves.to_dtype(Dtype::float16);
  w.add("float16", halves, {{random({3, 4}, 1, Dtype::float16)}}, dynamic_batch());
}

}  // namespace onnx_networks
