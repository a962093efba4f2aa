// Which arrays a function keeps alive for backward, measured by the lifetime of their memory: the inputs and outputs
// that are alive when only the graph is held, and the bytes of everything else.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <iostream>
#include <span>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/functions.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/reference_backend.h>

using namespace autograd;
using test::spread;

namespace {

// A reference to the memory of an array that does not count as a use of it.
class Probe {
 public:
  explicit Probe(const Array& a) : storage_(a->storage) { catena::retain(storage_); }
  Probe(Probe&& o) noexcept : storage_(std::exchange(o.storage_, nullptr)) {}
  ~Probe() { catena::release(storage_); }
  // Probes of views of one memory count as one use each.
  bool is_alive(const std::vector<Probe>& a, const std::vector<Probe>& b) const {
    std::uint32_t probes = 0;
    for (const auto* list : {&a, &b})
      for (const Probe& p : *list) probes += p.storage_ == storage_;
    return storage_->refs.load() > probes;
  }
  bool shares_memory_with(std::span<const Probe> others) const {
    for (const Probe& p : others)
      if (p.storage_ == storage_) return true;
    return false;
  }
  std::int64_t bytes() const { return std::int64_t(storage_->bytes); }

 private:
  catena::Storage* storage_;
};

using Call = std::function<Variables(const Variables&)>;
template <class F> Call call(F f) {
  return [f](const Variables& x) {
    if constexpr (std::is_invocable_v<F, const Variable&, const Variable&, const Variable&>)
      return Variables{f(x[0], x[1], x[2])};
    else if constexpr (std::is_invocable_v<F, const Variable&, const Variable&>) return Variables{f(x[0], x[1])};
    else return Variables{f(x[0])};
  };
}

struct Row {
  const char* name;
  Call function;
  Arrays inputs;
  std::string kept;        // "x0 y0": inputs and outputs, by number; outputs that are views of an input are not named
  std::int64_t bytes = 0;  // of all other arrays, without a fused kernel of a library
};

// Holds the graph of `outputs`, but no variable.
std::vector<NodePtr<FunctionNode>> graph_of(const Variables& outputs) {
  std::vector<NodePtr<FunctionNode>> nodes;
  for (const Variable& y : outputs)
    if (FunctionNode* const f = y.creator()) {
      retain(f);
      nodes.emplace_back(f);
    }
  return nodes;
}

std::string named(const char* prefix, std::size_t k) { return catena::concat(prefix, k); }

void check(const Row& row) {
  BOOST_TEST_CONTEXT(row.name) {
    const bool counts_bytes = default_backend().name() == "reference";
    std::vector<Probe> inputs, outputs;
    std::vector<NodePtr<FunctionNode>> graph;
    const std::int64_t before = test::reference_live_bytes();
    {
      Variables x;
      for (const Array& a : row.inputs) {
        x.push_back(Variable(copy(a)));
        inputs.emplace_back(x.back().data());
      }
      const Variables y = row.function(x);
      for (const Variable& v : y) outputs.emplace_back(v.data());
      graph = graph_of(y);
    }
    BOOST_REQUIRE(!graph.empty());
    std::string kept;
    std::int64_t bytes = test::reference_live_bytes() - before;
    const auto note = [&](const std::string& name) { kept += (kept.empty() ? "" : " ") + name; };
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (inputs[k].is_alive(inputs, outputs)) note(named("x", k));
      bytes -= inputs[k].bytes();  // the probes themselves keep it
    }
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (outputs[k].shares_memory_with(inputs)) continue;
      if (outputs[k].is_alive(inputs, outputs)) note(named("y", k));
      if (!outputs[k].shares_memory_with(std::span(outputs).first(k))) bytes -= outputs[k].bytes();
    }
    BOOST_TEST(kept == row.kept);
    if (counts_bytes) BOOST_TEST(bytes == row.bytes);
  }
}

Array floats(const Shape& shape, double low = 0.1, double high = 0.9, int seed = 0) {
  return astype(spread(shape, low, high, seed), Dtype::float32);
}
Array labels(std::vector<std::int32_t> v) {
  const Shape shape{std::int64_t(v.size())};
  return array(v, shape);
}

// Functions of one, two and three variables by their names.
#define CALL1(name) call([](auto& x) { return name(x); })
#define CALL2(name) call([](auto& x, auto& y) { return name(x, y); })
#define CALL3(name) call([](auto& x, auto& y, auto& z) { return name(x, y, z); })

struct Operands {
  Array a = floats({4, 6}), b = floats({4, 6}, 0.1, 0.9, 1), c = floats({4, 6}, 0.1, 0.9, 2);  // 96 bytes each
  Array image = floats({2, 3, 6, 6});                                                          // 864 bytes
};

}  // namespace

BOOST_AUTO_TEST_SUITE(retained_arrays)

BOOST_AUTO_TEST_CASE(operators_and_mathematics) {
  const auto [a, b, c, image] = Operands();
  const Row rows[] = {
      {"x + y", call([](auto& x, auto& y) { return x + y; }), {a, b}, ""},
      {"x - y", call([](auto& x, auto& y) { return x - y; }), {a, b}, ""},
      {"x * y", call([](auto& x, auto& y) { return x * y; }), {a, b}, "x0 x1"},
      {"x / y", call([](auto& x, auto& y) { return x / y; }), {a, b}, "x1 y0"},
      {"x ** y", call([](auto& x, auto& y) { return pow(x, y); }), {a, b}, "x0 x1 y0"},
      {"x + 2", call([](auto& x) { return x + 2; }), {a}, ""},
      {"x * 2", call([](auto& x) { return x * 2; }), {a}, ""},
      {"2 / x", call([](auto& x) { return 2 / x; }), {a}, "x0 y0"},
      {"x ** 2", call([](auto& x) { return pow(x, 2); }), {a}, "x0"},
      {"-x", call([](auto& x) { return -x; }), {a}, ""},
      {"absolute", call([](auto& x) { return absolute(x); }), {a}, "x0"},
      {"exp", CALL1(exp), {a}, "y0"},
      {"expm1", CALL1(expm1), {a}, "y0"},
      {"log", CALL1(log), {a}, "x0"},
      {"log2", CALL1(log2), {a}, "x0"},
      {"log10", CALL1(log10), {a}, "x0"},
      {"log1p", CALL1(log1p), {a}, "x0"},
      {"sqrt", CALL1(sqrt), {a}, "y0"},
      {"rsqrt", CALL1(rsqrt), {a}, "y0"},
      {"square", CALL1(square), {a}, "x0"},
      {"sin", CALL1(sin), {a}, "x0"},
      {"cos", CALL1(cos), {a}, "x0"},
      {"tan", CALL1(tan), {a}, "x0"},
      {"arcsin", CALL1(arcsin), {a}, "x0"},
      {"arccos", CALL1(arccos), {a}, "x0"},
      {"arctan", CALL1(arctan), {a}, "x0"},
      {"sinh", CALL1(sinh), {a}, "x0"},
      {"cosh", CALL1(cosh), {a}, "x0"},
      {"tanh", call([](auto& x) { return tanh(x); }), {a}, "y0"},
      {"sigmoid", call([](auto& x) { return sigmoid(x); }), {a}, "y0"},
      {"floor", CALL1(floor), {a}, ""},
      {"ceil", CALL1(ceil), {a}, ""},
      {"sign", CALL1(sign), {a}, ""},
      {"maximum", CALL2(maximum), {a, b}, "x0 x1"},
      {"minimum", CALL2(minimum), {a, b}, "x0 x1"},
      {"fmod", CALL2(fmod), {a, b}, "x0 x1"},
      {"squared_difference", CALL2(squared_difference), {a, b}, "x0 x1"},
      {"linear_interpolate", CALL3(linear_interpolate), {a, b, c}, "x0 x1 x2"},
      {"clip", call([](auto& x) { return clip(x, 0.2, 0.5); }), {a}, "x0"},
      {"bias", call([](auto& x, auto& y) { return bias(x, y, 1); }), {a, floats({6})}, ""},
      {"scale", call([](auto& x, auto& y) { return scale(x, y, 1); }), {a, floats({6})}, "x0 x1"},
      {"identity", call([](auto& x) { return identity(x); }), {a}, ""},
      {"sum", call([](auto& x) { return sum(x, 1); }), {a}, ""},
      {"mean", call([](auto& x) { return mean(x, 1); }), {a}, ""},
      {"max", call([](auto& x) { return max(x, 1); }), {a}, "x0 y0"},
      {"min", call([](auto& x) { return min(x, 1); }), {a}, "x0 y0"},
      {"logsumexp", call([](auto& x) { return logsumexp(x, 1); }), {a}, "x0 y0"},
      {"batch_l2_norm_squared", CALL1(batch_l2_norm_squared), {a}, "x0"},
      {"matmul", call([](auto& x, auto& y) { return matmul(x, y, {.transb = true}); }), {a, b}, "x0 x1"},
      {"batch_matmul",
       call([](auto& x, auto& y) { return batch_matmul(x, y); }),
       {floats({2, 3, 3}), floats({2, 3, 3})},
       "x0 x1"},
      {"inv", CALL1(inv), {floats({3, 3})}, "y0"},
      {"det", CALL1(det), {floats({3, 3})}, "x0 y0"},
  };
  for (const Row& row : rows) check(row);
}

BOOST_AUTO_TEST_CASE(arrays) {
  const auto [a, b, c, image] = Operands();
  const Array index = labels({1, 0, 3, 1});  // 16 bytes
  const Row rows[] = {
      {"reshape",
       call([](auto& x) {
         return reshape(x, {6, 4});
       }),
       {a},
       ""},
      {"transpose", call([](auto& x) { return transpose(x); }), {a}, ""},
      {"swapaxes", call([](auto& x) { return swapaxes(x, 0, 1); }), {a}, ""},
      {"rollaxis", call([](auto& x) { return rollaxis(x, 1); }), {a}, ""},
      {"expand_dims", call([](auto& x) { return expand_dims(x, 1); }), {a}, ""},
      {"squeeze", call([](auto& x) { return squeeze(x); }), {floats({4, 1})}, ""},
      {"broadcast_to",
       call([](auto& x) {
         return broadcast_to(x, {2, 4, 6});
       }),
       {a},
       ""},
      {"cast", call([](auto& x) { return cast(x, Dtype::float64); }), {a}, ""},
      {"flip", call([](auto& x) { return flip(x, 0); }), {a}, ""},
      {"tile",
       call([](auto& x) {
         return tile(x, {2, 1});
       }),
       {a},
       ""},
      {"concat",
       call([](auto& x, auto& y) {
         return concat({x, y}, 1);
       }),
       {a, b},
       ""},
      {"stack",
       call([](auto& x, auto& y) {
         return stack({x, y});
       }),
       {a, b},
       ""},
      {"split_axis", [](const Variables& x) { return split_axis(x[0], 2, 1); }, {a}, ""},
      {"separate", [](const Variables& x) { return separate(x[0]); }, {a}, ""},
      {"x(Slice)", call([](auto& x) { return x(Slice(1, 3)); }), {a}, ""},
      {"where",
       call([](auto& x, auto& y) {
         return where(apply(catena::kernels::less, {x.data(), y.data()}), x, y);
       }),
       {a, b},
       "",
       24},
      {"select_item",
       call([](auto& x, auto& t) { return nn::select_item(x, t); }),
       {a, index},
       "x1",
       32},  // the numbers of the rows
      {"embed_id", call([](auto& x, auto& W) { return nn::embed_id(x, W); }), {index, a}, "x0"},
      {"depth2space", call([](auto& x) { return nn::depth2space(x, 2); }), {floats({1, 4, 2, 2})}, ""},
      {"im2col", call([](auto& x) { return nn::im2col(x, 3); }), {image}, ""},
  };
  for (const Row& row : rows) check(row);
}

BOOST_AUTO_TEST_CASE(networks) {
  const auto [a, b, c, image] = Operands();
  const Array W = floats({5, 6}), bias = floats({5}), filters = floats({4, 3, 3, 3}), t = labels({1, 0, 3, 1}),
              signs = array<std::int32_t>(std::vector<std::int32_t>(24, 1), {4, 6}), gamma = floats({6}),
              beta = floats({6}, 0.1, 0.9, 3);
  const Row rows[] = {
      {"relu", CALL1(nn::relu), {a}, "y0"},
      {"clipped_relu", call([](auto& x) { return nn::clipped_relu(x, 0.5); }), {a}, "x0"},
      {"leaky_relu", call([](auto& x) { return nn::leaky_relu(x); }), {a}, "x0"},
      {"elu", call([](auto& x) { return nn::elu(x); }), {a}, "x0"},
      {"hard_sigmoid", call([](auto& x) { return nn::hard_sigmoid(x); }), {a}, "x0"},
      {"softplus", call([](auto& x) { return nn::softplus(x); }), {a}, "x0"},
      {"gelu", call([](auto& x) { return nn::gelu(x); }), {a}, "x0"},
      {"silu", CALL1(nn::silu), {a}, "x0"},
      {"mish", CALL1(nn::mish), {a}, "x0"},
      {"prelu", call([](auto& x, auto& w) { return nn::prelu(x, w); }), {a, floats({6})}, "x0 x1"},
      {"softmax", call([](auto& x) { return nn::softmax(x); }), {a}, "y0"},
      {"log_softmax", call([](auto& x) { return nn::log_softmax(x); }), {a}, "y0"},
      {"lstm",
       [](const Variables& x) {
         const auto [c, h] = nn::lstm(x[0], x[1]);
         return Variables{c, h};
       },
       {floats({4, 2}), floats({4, 8})},
       "x0 x1 y0"},
      {"linear", call([](auto& x, auto& w, auto& v) { return nn::linear(x, w, v); }), {a, W, bias}, "x0 x1"},
      {"convolution_2d", call([](auto& x, auto& w) { return nn::convolution_2d(x, w); }), {image, filters}, "x0 x1"},
      {"deconvolution_2d",
       call([](auto& x, auto& w) { return nn::deconvolution_2d(x, w); }),
       {floats({2, 4, 4, 4}), filters},
       "x0 x1"},
      {"max_pooling_2d", call([](auto& x) { return nn::max_pooling_2d(x, 2); }), {image}, "", 2 * 3 * 9 * 4},  // int32
      {"average_pooling_2d", call([](auto& x) { return nn::average_pooling_2d(x, 2); }), {image}, ""},
      {"unpooling_2d", call([](auto& x) { return nn::unpooling_2d(x, 2); }), {image}, ""},
      // The mask is computed again from its seed.
      {"dropout", call([](auto& x) { return nn::dropout(x, {.ratio = 0.5, .train = true}); }), {a}, ""},
      {"layer_normalization",
       call([](auto& x, auto& g, auto& v) { return nn::layer_normalization(x, g, v); }),
       {a, gamma, beta},
       "x0 x1",
       32},
      // The mean and the scale of each of the 2 x 3 groups.
      {"group_normalization",
       call([](auto& x, auto& g, auto& v) { return nn::group_normalization(x, 3, g, v); }),
       {image, floats({3}), floats({3})},
       "x0 x1",
       2 * 2 * 3 * 4},
      {"rms_normalization",
       call([](auto& x, auto& g) { return nn::rms_normalization(x, g); }),
       {a, gamma},
       "x0 x1",
       16},
      {"softmax_cross_entropy",
       call([](auto& x, auto& v) { return nn::softmax_cross_entropy(x, v); }),
       {a, t},
       "x0 x1",
       4 * (4 + 4 + 1 + 1)},  // the maximum and the logarithm of the sum of each row; the weight; the divisor
      {"softmax_cross_entropy with smoothing",
       call([](auto& x, auto& v) {
         return nn::softmax_cross_entropy(x, v, {.cache_score = false, .label_smoothing = 0.1});
       }),
       {a, t},
       "x0 x1",
       4 * (4 + 4 + 1 + 1)},
      {"binary_cross_entropy_with_logits",
       call([](auto& x, auto& v) { return nn::binary_cross_entropy_with_logits(x, v); }),
       {a, b},
       "x0 x1"},
      {"sigmoid_cross_entropy",
       call([](auto& x, auto& v) { return nn::sigmoid_cross_entropy(x, v); }),
       {a, signs},
       "",
       3 * 96 + 24 +
           4},  // x with the sign of the label, the signs, the labels without the positive ones; a mask; the divisor
      {"mean_squared_error", call([](auto& x, auto& y) { return nn::mean_squared_error(x, y); }), {a, b}, "x0 x1"},
      {"mean_absolute_error",
       call([](auto& x, auto& y) { return nn::mean_absolute_error(x, y); }),
       {a, b},
       "",
       96},  // x - y
      {"squared_error", call([](auto& x, auto& y) { return nn::squared_error(x, y); }), {a, b}, "", 96},
      {"bilinear",
       call([](auto& x, auto& y, auto& w) { return nn::bilinear(x, y, w); }),
       {floats({4, 2}), floats({4, 3}), floats({2, 3, 5})},
       "x0 x1 x2",
       240},  // of the two products, the first has 4 x 3 x 5 elements
  };
  for (const Row& row : rows) check(row);
}

BOOST_AUTO_TEST_CASE(losses_normalization_and_regions) {
  const auto [a, b, c, image] = Operands();
  const Array t = labels({1, 0, 3, 1}), pairs = labels({1, 0, 0, 1}), gamma = floats({3}),
              rois = array<float>({0, 1, 1, 4, 4, 1, 0, 2, 5, 5}, {2, 5});
  const Row rows[] = {
      {"batch_normalization",
       call([](auto& x, auto& g, auto& v) { return nn::batch_normalization(x, g, v); }),
       {image, gamma, gamma},
       "x0 x1",
       24},  // mean and deviation of each channel
      {"local_response_normalization",
       call([](auto& x) { return nn::local_response_normalization(x); }),
       {image},
       "x0",
       2 * 864},  // the scale, and its power
      {"normalize",
       call([](auto& x) { return nn::normalize(x); }),
       {a},
       "x0 y0",
       4 * 16},  // norms, with eps and without
      {"hinge", call([](auto& x, auto& v) { return nn::hinge(x, v); }), {a, t}, "", 2 * 96},  // the signs, the margins
      {"huber_loss",
       call([](auto& x, auto& y) { return nn::huber_loss(x, y, 0.5); }),
       {a, b},
       "",
       96 + 2 * 24},  // x - t where it is small; where it is small, and where negative
      {"contrastive",
       call([](auto& x, auto& y, auto& v) { return nn::contrastive(x, y, v); }),
       {a, b, pairs},
       "",
       96 + 6 * 16},  // x0 - x1; what each row has
      {"triplet",
       call([](auto& x, auto& y, auto& z) { return nn::triplet(x, y, z); }),
       {a, b, c},
       "",
       2 * 96 + 16},  // both differences; the losses
      {"bernoulli_nll", call([](auto& x, auto& y) { return nn::bernoulli_nll(x, y); }), {a, b}, "x0 x1"},
      {"gaussian_nll",
       call([](auto& x, auto& m, auto& v) { return nn::gaussian_nll(x, m, v); }),
       {a, b, c},
       "",
       3 * 96},  // x - mean, its square, the inverse variance
      {"gaussian_kl_divergence",
       call([](auto& m, auto& v) { return nn::gaussian_kl_divergence(m, v); }),
       {a, b},
       "x0",
       96},  // expm1(ln_var)
      {"cross_covariance",
       call([](auto& x, auto& y) { return nn::cross_covariance(x, y); }),
       {a, b},
       "",
       2 * 96 + 144},  // both without their means; the covariances
      {"decov",
       call([](auto& x) { return nn::decov(x); }),
       {a},
       "",
       96 + 144 + 36},  // h without its mean; the covariances; where they count
      {"roi_pooling_2d",
       call([](auto& x, auto& r) { return nn::roi_pooling_2d(x, r, 2, 2, 1.0); }),
       {image, rois},
       "",
       24 * 8 + 24},  // where the maxima are; which bins have one
      {"spatial_pyramid_pooling_2d",
       call([](auto& x) { return nn::spatial_pyramid_pooling_2d(x, 2); }),
       {image},
       "",
       24 + 96},  // int32 for each bin
      {"resize_images",
       call([](auto& x) {
         return nn::resize_images(x, {3, 4});
       }),
       {image},
       ""},  // the neighbours of each row and column, and their weights, are computed again
      {"spatial_transformer_sampler",
       call([](auto& x, auto& g) { return nn::spatial_transformer_sampler(x, g); }),
       {image, floats({2, 2, 3, 3})},
       "",
       3112},  // the four neighbours of each point, and their weights
      {"crelu", call([](auto& x) { return nn::crelu(x); }), {a}, "", 2 * 96},  // both halves
      {"maxout", call([](auto& x) { return nn::maxout(x, 2); }), {a}, "x0 y0"},
      {"gaussian",
       call([](auto& m, auto& v) { return nn::gaussian(m, v); }),
       {a, b},
       "",
       2 * 96},  // the deviation, eps
      {"zoneout",
       call([](auto& h, auto& x) { return nn::zoneout(h, x, {.ratio = 0.5, .train = true}); }),
       {a, b},
       "",
       24},  // which elements are kept
  };
  for (const Row& row : rows) check(row);
}

namespace {

// Two layers of 2 units over sequences of lengths 2 and 1, with 3 inputs: hx, cx of an lstm, ws, bs and xs are the
// inputs, hy, cy of an lstm and ys the outputs.
Row network_row(const char* name, int matrices, bool both, double dropout, std::int64_t bytes) {
  const int directions = both ? 2 : 1, states = 2 * directions, cells = matrices == 8 ? 2 : 1;
  Row row{name, {}, {}, "", bytes};
  for (int i = 0; i < cells; ++i) row.inputs.push_back(floats({states, 2, 2}));
  for (int k = 0; k < states; ++k)
    for (int j = 0; j < matrices; ++j) {
      const std::int64_t below = k < directions ? 3 : 2 * directions;
      row.inputs.push_back(floats({2, j < matrices / 2 ? below : 2}));
    }
  for (int i = 0; i < states * matrices; ++i) row.inputs.push_back(floats({2}));
  row.inputs.push_back(floats({2, 3}));
  row.inputs.push_back(floats({1, 3}));
  for (std::size_t k = 0; k < row.inputs.size(); ++k) row.kept += named(k == 0 ? "x" : " x", k);
  row.kept += named(" y", std::size_t(cells)) + named(" y", std::size_t(cells) + 1);
  row.function = [=](const Variables& v) {
    const auto lists = [&](int from) {
      std::vector<Variables> all(static_cast<std::size_t>(states));
      for (int i = 0; i < states * matrices; ++i) all[std::size_t(i / matrices)].push_back(v[std::size_t(from + i)]);
      return all;
    };
    const std::vector<Variables> ws = lists(cells), bs = lists(cells + states * matrices);
    const Variables xs{v[v.size() - 2], v[v.size() - 1]};
    if (matrices == 8) {
      const auto [hy, cy, ys] = both ? nn::n_step_bilstm(2, dropout, v[0], v[1], ws, bs, xs, true)
                                     : nn::n_step_lstm(2, dropout, v[0], v[1], ws, bs, xs, true);
      return Variables{hy, cy, ys[0], ys[1]};
    }
    nn::NStepResult r;
    if (matrices == 6)
      r = both ? nn::n_step_bigru(2, dropout, v[0], ws, bs, xs, true)
               : nn::n_step_gru(2, dropout, v[0], ws, bs, xs, true);
    else
      r = both ? nn::n_step_birnn(2, dropout, v[0], ws, bs, xs, true)
               : nn::n_step_rnn(2, dropout, v[0], ws, bs, xs, true);
    return Variables{r.hy, r.ys[0], r.ys[1]};
  };
  return row;
}

}  // namespace

// All inputs and ys. Of each layer and direction, for 3 elements: 4 gates and the cell states of an lstm, 3 gates and a
// product of a gru; a plain cell has its gate in its output. The first layer's outputs. What dropout leaves of them is
// computed again. hy and cy are not kept.
BOOST_AUTO_TEST_CASE(recurrent_networks) {
  constexpr std::int64_t kItem = 3 * 2 * 4;
  const Row rows[] = {
      network_row("n_step_lstm", 8, false, 0, 2 * 5 * kItem + kItem),
      network_row("n_step_bilstm", 8, true, 0, 4 * 5 * kItem + 2 * kItem),
      network_row("n_step_gru", 6, false, 0, 2 * 4 * kItem + kItem),
      network_row("n_step_bigru", 6, true, 0, 4 * 4 * kItem + 2 * kItem),
      network_row("n_step_rnn", 2, false, 0, kItem),
      network_row("n_step_birnn", 2, true, 0, 2 * kItem),
      network_row("n_step_lstm with dropout", 8, false, 0.5, 2 * 5 * kItem + kItem),
      network_row("n_step_birnn with dropout", 2, true, 0.5, 2 * kItem),
  };
  for (const Row& row : rows) check(row);
}

BOOST_AUTO_TEST_CASE(losses_of_sequences_and_samples) {
  const Array t = labels({1, 0, 3, 1}), vocabulary = floats({8, 6}, 0.1, 0.9, 3),
              samples = reshape(labels({1, 2, 5, 4, 3, 2, 6, 7}), {4, 2}),
              alignments = reshape(labels({1, 2, 3, 1}), {2, 2});
  const auto sampler = [&](const Shape& shape) { return copy(broadcast_to(slice(samples, 0, 0, 1), {shape[0], 2})); };
  const Row rows[] = {
      {"connectionist_temporal_classification",
       [](const Variables& v) {
         return Variables{nn::connectionist_temporal_classification({v[0], v[1], v[2]}, v[3], 0)};
       },
       {floats({2, 4}), floats({2, 4}, 0.1, 0.9, 1), floats({2, 4}, 0.1, 0.9, 2), alignments},
       "",
       // the scores of all times, for the second derivative, and their logarithms; those of the states; alpha with two
       // states in front; the log-probabilities; labels (int64), lengths, ends and numbers of the sequences
       2 * 96 + 3 * 2 * 5 * 4 + 3 * 2 * 7 * 4 + 8 + 80 + 3 * 16},
      {"crf1d",
       [](const Variables& v) {
         return Variables{nn::crf1d(v[0], {v[1], v[2]}, {v[3], v[4]})};
       },
       {floats({3, 3}), floats({2, 3}), floats({1, 3}), labels({1, 0}), labels({2})},
       "x0 x1 x3 x4",
       // the numbers of the rows; alpha of the second time, before its scores are added; that of all sequences, and the
       // losses' logarithms
       16 + 12 + 24 + 8},
      {"black_out",
       [](const Variables& v) { return Variables{nn::black_out(v[0], v[1], v[2], v[3])}; },
       {floats({4, 6}), t, vocabulary, samples},
       "x0",
       // the vectors of the labels and samples, their numbers and products; logsumexp and log(1 - exp)
       288 + 48 + 48 + 16 + 48 + 32},
      {"negative_sampling",
       [&](const Variables& v) { return Variables{nn::negative_sampling(v[0], v[1], v[2], sampler, 1)}; },
       {floats({4, 6}), t, vocabulary},
       "x0",
       // the vectors of the labels and samples, and their numbers; the arguments of softplus, their signs; which rows
       // count
       192 + 32 + 32 + 8 + 4},
  };
  for (const Row& row : rows) check(row);
}

BOOST_AUTO_TEST_SUITE_END()
