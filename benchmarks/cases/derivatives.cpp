// Functions with their gradients: attention, normalization, activation, selection, linear algebra, images, einsum. A
// call computes the result and the gradients of all inputs; the compared result is these gradients.
#include <algorithm>
#include <cmath>
#include <vector>

#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

using autograd::Variable;
using autograd::Variables;

// Input i of set s: a shape and the interval of the values.
struct Operand {
  nd::Shape shape;
  double low = -1, high = 1;
};

// f gets the inputs; the gradient of its result is the operand with the seed 2000.
template <class F> Ready derived(const Parameters& p, const std::vector<Operand>& operands, F f) {
  const auto make = [p, operands](std::int64_t set) {
    Variables inputs;
    for (std::size_t i = 0; i < operands.size(); ++i)
      inputs.push_back(Variable(
          autograd::Array(input(p, operands[i].shape, 8 * set + std::int64_t(i), operands[i].low, operands[i].high))));
    return inputs;
  };
  const autograd::Shape shape = f(make(0)).shape();
  const autograd::Array gy = input(p, shape, 2000, -1);
  const auto pass = [f, gy](const Variables& inputs) {
    for (const Variable& x : inputs) x.cleargrad();
    Variable y = f(inputs);
    y.set_grad(gy);
    y.backward();
    return nd::Array(inputs[0].grad());
  };
  Ready timed = rotating(p, make, pass);
  timed.result = [pass, inputs = make(0)] {
    pass(inputs);
    std::vector<nd::Array> gradients;
    for (const Variable& x : inputs) gradients.push_back(x.grad());
    return joined(gradients);
  };
  return timed;
}

// ---- attention ----------------------------------------------------------------------------------
Ready attention(const Parameters& p) {
  const Operand rows{{1, p.at("heads"), p.at("tokens"), p.at("d")}};
  return derived(p, {rows, rows, rows}, [causal = p.at("causal") != 0](const Variables& x) {
    return nn::scaled_dot_product_attention(x[0], x[1], x[2], {.causal = causal});
  });
}
Parameters of_tokens(std::int64_t tokens, bool causal) {
  return {{"heads", 8}, {"tokens", tokens}, {"d", 64}, {"causal", causal ? 1 : 0}, {"sets", 1}};
}
const Parameters few{{"heads", 2}, {"tokens", 9}, {"d", 4}};

// 16-bit floats in a batch: the result alone, and with the gradients.
const Parameters half_tokens{{"batch", 8}, {"heads", 16}, {"tokens", 1024}, {"d", 64}, {"dtype", 'e'}, {"sets", 1}};
const Parameters few_in_batch{{"batch", 2}, {"heads", 2}, {"tokens", 9}, {"d", 16}};
std::vector<Operand> rows_of_batch(const Parameters& p) {
  return std::vector<Operand>(3, {{p.at("batch"), p.at("heads"), p.at("tokens"), p.at("d")}});
}
Ready attention_forward(const Parameters& p) {
  const auto make = [p](std::int64_t set) {
    std::vector<autograd::Array> inputs;
    for (const Operand& o : rows_of_batch(p))
      inputs.push_back(autograd::Array(input(p, o.shape, 8 * set + std::int64_t(inputs.size()), o.low, o.high)));
    return inputs;
  };
  return rotating(p, make, [](const std::vector<autograd::Array>& x) {
    const auto scope = autograd::no_backprop_mode();
    return nd::Array(nn::scaled_dot_product_attention(x[0], x[1], x[2]).data());
  });
}
Ready attention_in_batch(const Parameters& p) {
  return derived(p, rows_of_batch(p),
                 [](const Variables& x) { return nn::scaled_dot_product_attention(x[0], x[1], x[2]); });
}
template <int causal> Parameters tokens(Draw& draw) {
  return {{"heads", draw.log_uniform(1, 8)},
          {"tokens", draw.length(16, draw.at_most(8192))},
          {"d", draw.one_of({16, 32, 64, 128})},
          {"causal", causal},
          {"sets", 1}};
}

// ---- normalization and activation ---------------------------------------------------------------
Ready group_norm(const Parameters& p) {
  const std::int64_t c = p.at("channels"), size = p.at("size");
  return derived(
      p, {{{p.at("batch"), c, size, size}, -3, 3}, {{c}, 0.5, 1.5}, {{c}}},
      [groups = int(p.at("groups"))](const Variables& x) { return nn::group_normalization(x[0], groups, x[1], x[2]); });
}
// A group has at least two elements: PyTorch refuses groups of one element.
Parameters images_in_groups(Draw& draw) {
  const std::int64_t groups = draw.one_of({1, 2, 4, 8, 32}), channels = groups * draw.length(1, 64);
  const std::int64_t size = draw.length(channels > groups ? 1 : 2, 56),
                     most = draw.at_most(1 << 26) / (channels * size * size);
  return {{"batch", draw.length(1, most < 64 ? (most < 1 ? 1 : most) : 64)},
          {"channels", channels},
          {"groups", groups},
          {"size", size},
          {"sets", 1}};
}
autograd::Array channels_last(const nd::Array& a) {
  return autograd::Array(nd::ascontiguousarray(a.transpose({0, 2, 3, 1})).transpose({0, 3, 1, 2}));
}
// Convolution, batch normalization and ReLU with float32 parameters, of images in the dtype of the scope of mixed
// precision; images and filters are channels-last. The compared result is the output: the sign of a 16-bit number near
// 0 decides whether it has a gradient.
template <bool backward> Ready convolution_block(const Parameters& p) {
  const std::int64_t c = p.at("channels"), size = p.at("size");
  const autograd::Array gy = channels_last(input(p, {p.at("batch"), c, size, size}, 2000, -1));
  const Variables parameters{Variable(channels_last(uniform({c, c, 3, 3}, 1000, -0.05, 0.05))),
                             Variable(autograd::arrays::ones({c})), Variable(autograd::arrays::zeros({c}))};
  const auto block = [=, half = catena::dtype_from_char(char(p.at("dtype")))](const Variable& x) {
    const autograd::autocast scope(half);
    const Variable h = nn::convolution_2d(x, parameters[0], {}, 1, 1);
    return nn::relu(nn::batch_normalization(h, parameters[1], parameters[2]));
  };
  const auto images = [p, c, size](std::int64_t set) {
    const nd::Array x = input(p, {p.at("batch"), size, size, c}, set, -1).transpose({0, 3, 1, 2});
    return Variable(autograd::Array(x));
  };
  Ready timed = rotating(p, images, [=](const Variable& x) {
    if constexpr (backward) {
      x.cleargrad();
      for (const Variable& v : parameters) v.cleargrad();
      Variable y = block(x);
      y.set_grad(gy);
      y.backward();
      return nd::Array(x.grad());
    } else {
      const auto scope = autograd::no_backprop_mode();
      return nd::Array(block(x).data());
    }
  });
  timed.result = [block, x = images(0)] { return nd::Array(block(x).data()); };
  return timed;
}
const Parameters half_images{{"batch", 64}, {"channels", 256}, {"size", 28}, {"dtype", 'e'}, {"sets", 1}},
    few_images{{"batch", 2}, {"channels", 8}, {"size", 5}};
Ready rms_norm(const Parameters& p) {
  return derived(p, {{{p.at("rows"), p.at("columns")}, -3, 3}, {{p.at("columns")}, 0.5, 1.5}},
                 [](const Variables& x) { return nn::rms_normalization(x[0], x[1]); });
}
// Matrices of at least two columns: an only element has no scale.
Parameters rows_of_many(Draw& draw) {
  Parameters p = draw.matrix();
  if (p.at("columns") < 2) p.at("columns") = 2;
  return p;
}
Ready gelu(const Parameters& p) {
  return derived(p, {{{p.at("n")}, -3, 3}}, [](const Variables& x) { return nn::gelu(x[0]); });
}
Parameters line(Draw& draw) { return draw.line(); }

// ---- selection ----------------------------------------------------------------------------------
Ready topk(const Parameters& p) {
  return derived(p, {{{p.at("rows"), p.at("columns")}}},
                 [k = p.at("k")](const Variables& x) { return autograd::topk(x[0], k).values; });
}
Parameters with_chosen(Draw& draw) {
  Parameters p = draw.matrix();
  const std::int64_t columns = p.at("columns");
  p["k"] = draw.log_uniform(1, columns < 64 ? columns : 64);
  return p;
}
Ready gather(const Parameters& p) {
  const std::int64_t rows = p.at("rows"), columns = p.at("columns"), k = p.at("k");
  const Variable index(autograd::Array(labels(rows * k, 3000, columns).reshape({rows, k}).astype(nd::int64)),
                       {.requires_grad = false});
  return derived(p, {{{rows, columns}}}, [index](const Variables& x) { return autograd::gather(x[0], 1, index); });
}

// ---- linear algebra -----------------------------------------------------------------------------
// A product with its transpose and an identity is positive definite.
Ready cholesky(const Parameters& p) {
  const std::int64_t n = p.at("n");
  const Variable identity(autograd::Array(nd::eye(n, nd::float32) * double(n)), {.requires_grad = false});
  return derived(p, {{{n, n}}}, [identity](const Variables& x) {
    return autograd::cholesky(autograd::matmul(x[0], x[0].T()) + identity);
  });
}
Ready solve(const Parameters& p) {
  const std::int64_t n = p.at("n");
  const Variable identity(autograd::Array(nd::eye(n, nd::float32) * double(n)), {.requires_grad = false});
  return derived(p, {{{n, n}}, {{n, p.at("columns")}}},
                 [identity](const Variables& x) { return autograd::solve(x[0] + identity, x[1]); });
}
Ready einsum(const Parameters& p) {
  const Operand rows{{p.at("batch"), p.at("tokens"), p.at("heads"), p.at("d")}};
  return derived(p, {rows, rows}, [](const Variables& x) { return autograd::einsum("bihd,bjhd->bhij", x[0], x[1]); });
}
Parameters square(Draw& draw) { return {{"n", draw.length(2, draw.at_most(700))}, {"sets", 1}}; }
Parameters square_and_columns(Draw& draw) {
  return {{"n", draw.length(2, draw.at_most(700))}, {"columns", draw.length(1, 256)}, {"sets", 1}};
}
Parameters heads_and_tokens(Draw& draw) {
  return {{"batch", draw.length(1, 16)},
          {"tokens", draw.length(4, draw.at_most(512))},
          {"heads", draw.log_uniform(1, 12)},
          {"d", draw.one_of({16, 32, 64, 80, 128})},
          {"sets", 1}};
}

// ---- images -------------------------------------------------------------------------------------
Ready interpolate(const Parameters& p) {
  const std::int64_t size = p.at("size");
  return derived(p, {{{p.at("batch"), p.at("channels"), size, size}}}, [to = int(p.at("to"))](const Variables& x) {
    return nn::interpolate(x[0], {to, to}, "bilinear");
  });
}
Parameters sizes(Draw& draw) {
  return {{"batch", draw.length(1, 16)},
          {"channels", draw.length(1, 128)},
          {"size", draw.length(4, 80)},
          {"to", draw.length(4, 160)},
          {"sets", 1}};
}

const Cases cases{
    {"attention/full_128", of_tokens(128, false), few, attention},
    {"attention/full_1024", of_tokens(1024, false), few, attention, tokens<0>},
    {"attention/full_8192", of_tokens(8192, false), few, attention},
    {"attention/causal_128", of_tokens(128, true), few, attention},
    {"attention/causal_1024", of_tokens(1024, true), few, attention, tokens<1>},
    {"attention/causal_8192", of_tokens(8192, true), few, attention},
    {"attention/f16_1024", half_tokens, few_in_batch, attention_forward},
    {"attention/f16_1024_backward", half_tokens, few_in_batch, attention_in_batch},
    {"rows/group_norm_backward",
     {{"batch", 32}, {"channels", 64}, {"groups", 8}, {"size", 32}, {"sets", 4}},
     {{"batch", 2}, {"channels", 4}, {"groups", 2}, {"size", 3}, {"sets", 2}},
     group_norm,
     images_in_groups},
    {"convolution/block_autocast", half_images, few_images, convolution_block<false>},
    {"convolution/block_autocast_backward", half_images, few_images, convolution_block<true>},
    {"rows/rms_norm_backward",
     {{"rows", 4096}, {"columns", 1000}, {"sets", 8}},
     {{"rows", 6}, {"columns", 10}, {"sets", 2}},
     rms_norm,
     rows_of_many},
    {"activation/gelu_backward", {{"n", 1 << 24}, {"sets", 4}}, {{"n", 60}, {"sets", 2}}, gelu, line},
    {"sorting/topk_backward",
     {{"rows", 1024}, {"columns", 4096}, {"k", 16}, {"sets", 4}},
     {{"rows", 3}, {"columns", 9}, {"k", 2}, {"sets", 2}},
     topk,
     with_chosen},
    {"indexing/gather_backward",
     {{"rows", 4096}, {"columns", 1024}, {"k", 64}, {"sets", 4}},
     {{"rows", 3}, {"columns", 9}, {"k", 4}, {"sets", 2}},
     gather,
     with_chosen},
    {"linalg/cholesky_backward", {{"n", 256}, {"sets", 1}}, {{"n", 5}}, cholesky, square},
    {"linalg/solve_backward",
     {{"n", 256}, {"columns", 64}, {"sets", 1}},
     {{"n", 5}, {"columns", 2}},
     solve,
     square_and_columns},
    {"numerics/einsum_backward",
     {{"batch", 8}, {"tokens", 256}, {"heads", 8}, {"d", 64}, {"sets", 2}},
     {{"batch", 2}, {"tokens", 4}, {"heads", 2}, {"d", 3}},
     einsum,
     heads_and_tokens},
    {"convolution/interpolate_backward",
     {{"batch", 16}, {"channels", 32}, {"size", 56}, {"to", 112}, {"sets", 2}},
     {{"batch", 2}, {"channels", 2}, {"size", 4}, {"to", 7}},
     interpolate,
     sizes},
};

}  // namespace
}  // namespace bench
