// Functions and layers with the names and options of torch.nn.functional and torch.nn, beside PyTorch.
#include <algorithm>
#include <cmath>
#include <set>

#include <boost/test/unit_test.hpp>

#include <catena/autograd/capture.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/variable_node.h>
#include <catena/nn/buffer.h>
#include <catena/nn/clipping.h>
#include <catena/nn/functions.h>
#include <catena/nn/init.h>
#include <catena/nn/links.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_golden.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
namespace F = nn::functions;

namespace {

const auto each = boost::test_tools::per_element();
std::vector<double> values(const Variable& v) { return autograd::to_vector<double>(v.data()); }
Array counted(const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t s : shape) n *= s;
  return autograd::reshape(autograd::astype(autograd::arrays::arange(n), autograd::Dtype::float32), shape);
}

nn::MaxPoolOptions max_options(const GoldenCall& c) {
  nn::MaxPoolOptions o{.kernel_size = int(c.integer("kernel_size", 1)),
                       .padding = int(c.integer("padding", 0)),
                       .dilation = int(c.integer("dilation", 1)),
                       .ceil_mode = c.flag("ceil_mode", false)};
  if (c.has("stride")) o.stride = int(c.integer("stride", 1));
  return o;
}
nn::AvgPoolOptions avg_options(const GoldenCall& c) {
  nn::AvgPoolOptions o{.kernel_size = int(c.integer("kernel_size", 1)),
                       .padding = int(c.integer("padding", 0)),
                       .ceil_mode = c.flag("ceil_mode", false),
                       .count_include_pad = c.flag("count_include_pad", true)};
  if (c.has("stride")) o.stride = int(c.integer("stride", 1));
  if (c.has("divisor_override")) o.divisor_override = int(c.integer("divisor_override", 1));
  return o;
}
Variables both(const nn::MaxPoolingResult& r) { return {r.y, Variable(r.indices)}; }

std::size_t leaves_with_gradients(const Variable& y) {
  std::set<autograd::internal::VariableNode*> seen, leaves;
  const auto visit = [&](const auto& self, autograd::internal::VariableNode* node) -> void {
    if (node == nullptr || !seen.insert(node->graph_node()).second) return;
    const autograd::FunctionNode* const f = node->graph_node()->creator;
    if (f == nullptr && node->requires_grad) leaves.insert(node);
    for (std::size_t i = 0; f != nullptr && i < f->num_inputs(); ++i) self(self, f->input_node(i));
  };
  visit(visit, autograd::internal::Access::node(y));
  return leaves.size();
}

template <class Cell> Cell loaded(Cell cell, const GoldenCall& c) {
  cell.weight_ih.set_data(c.array("wi"));
  cell.weight_hh.set_data(c.array("wh"));
  cell.bias_ih->set_data(c.array("bi"));
  cell.bias_hh->set_data(c.array("bh"));
  return cell;
}

const GoldenFunctions kConvolutions = {
    {"conv1d",
     [](const GoldenCall& c) {
       return Variables{F::conv1d(c.x(0), c.x(1), c.x(2), {.stride = 2, .padding = 1, .groups = 2})};
     }},
    {"conv1d_same",
     [](const GoldenCall& c) { return Variables{F::conv1d(c.x(0), c.x(1), {.padding = "same", .groups = 2})}; }},
    {"conv1d_unbatched", [](const GoldenCall& c) { return Variables{F::conv1d(c.x(0), c.x(1), {}, 1, 0, 1, 2)}; }},
    {"conv2d", [](const GoldenCall& c) { return Variables{F::conv2d(c.x(0), c.x(1), c.x(2), 2, 1, 2, 2)}; }},
    {"conv2d_same",
     [](const GoldenCall& c) { return Variables{F::conv2d(c.x(0), c.x(1), {.padding = "same", .groups = 2})}; }},
    {"conv3d", [](const GoldenCall& c) { return Variables{F::conv3d(c.x(0), c.x(1), {.padding = 1})}; }},
    {"conv_transpose1d",
     [](const GoldenCall& c) { return Variables{F::conv_transpose1d(c.x(0), c.x(1), {}, 3, 1, 2, 2)}; }},
    {"conv_transpose2d", [](const GoldenCall& c) {
       return Variables{
           F::conv_transpose2d(c.x(0), c.x(1), {.stride = 2, .padding = 1, .output_padding = 1, .groups = 2})};
     }}};

const GoldenFunctions kPools = {
    {"max_pool1d", [](const GoldenCall& c) { return Variables{F::max_pool1d(c.x(0), max_options(c))}; }},
    {"max_pool2d", [](const GoldenCall& c) { return Variables{F::max_pool2d(c.x(0), max_options(c))}; }},
    {"max_pool3d", [](const GoldenCall& c) { return Variables{F::max_pool3d(c.x(0), max_options(c))}; }},
    {"max_pool1d_with_indices",
     [](const GoldenCall& c) { return both(F::max_pool1d_with_indices(c.x(0), max_options(c))); }},
    {"max_pool2d_with_indices",
     [](const GoldenCall& c) { return both(nn::MaxPool2d(max_options(c)).with_indices(c.x(0))); }},
    {"max_pool3d_with_indices",
     [](const GoldenCall& c) { return both(F::max_pool3d_with_indices(c.x(0), max_options(c))); }},
    {"avg_pool1d", [](const GoldenCall& c) { return Variables{nn::AvgPool1d(avg_options(c))(c.x(0))}; }},
    {"avg_pool2d", [](const GoldenCall& c) { return Variables{F::avg_pool2d(c.x(0), avg_options(c))}; }},
    {"avg_pool3d", [](const GoldenCall& c) { return Variables{F::avg_pool3d(c.x(0), avg_options(c))}; }},
    {"lp_pool1d", [](const GoldenCall& c) { return Variables{F::lp_pool1d(c.x(0), 2, 3, 2)}; }},
    {"lp_pool2d", [](const GoldenCall& c) { return Variables{nn::LPPool2d(2, 3, {.stride = 2})(c.x(0))}; }},
    {"adaptive_avg_pool1d", [](const GoldenCall& c) { return Variables{F::adaptive_avg_pool1d(c.x(0), 4)}; }},
    {"adaptive_avg_pool2d", [](const GoldenCall& c) { return Variables{F::adaptive_avg_pool2d(c.x(0), 4)}; }},
    {"adaptive_max_pool1d_with_indices",
     [](const GoldenCall& c) { return both(F::adaptive_max_pool1d_with_indices(c.x(0), 4)); }},
    {"adaptive_max_pool2d_with_indices",
     [](const GoldenCall& c) { return both(F::adaptive_max_pool2d_with_indices(c.x(0), 4)); }},
    {"max_unpool2d",
     [](const GoldenCall& c) {
       const auto [y, indices] = F::max_pool2d_with_indices(c.x(0), 2);
       return Variables{F::max_unpool2d(y, indices, 2, {.output_size = {7, 6}})};
     }},
    {"fractional_max_pool2d", [](const GoldenCall& c) {
       return Variables{F::fractional_max_pool2d(c.x(0), 2, {.output_size = {4, 3}, .random_samples = c.array("s")})};
     }}};

const GoldenFunctions kNorms = {
    {"batch_norm",
     [](const GoldenCall& c) {
       return Variables{
           F::batch_norm(c.x(0), c.array("m"), c.array("v"), {.weight = c.x("w"), .bias = c.x("b"), .eps = 1e-3})};
     }},
    {"batch_norm_plain",
     [](const GoldenCall& c) { return Variables{F::batch_norm(c.x(0), {}, {}, {.training = true})}; }},
    {"layer_norm",
     [](const GoldenCall& c) {
       return Variables{F::layer_norm(c.x(0), {4, 5}, c.x(1), c.x(2))};
     }},
    {"layer_norm_weight",
     [](const GoldenCall& c) { return Variables{F::layer_norm(c.x(0), {5}, {.weight = c.x(1), .eps = 0.1})}; }},
    {"rms_norm", [](const GoldenCall& c) { return Variables{F::rms_norm(c.x(0), {5}, c.x(1), 0.1)}; }},
    {"group_norm", [](const GoldenCall& c) { return Variables{F::group_norm(c.x(0), 2, c.x(1), c.x(2))}; }},
    {"instance_norm",
     [](const GoldenCall& c) { return Variables{F::instance_norm(c.x(0), {.weight = c.x(1), .bias = c.x(2)})}; }},
    {"local_response_norm", [](const GoldenCall& c) {
       return Variables{F::local_response_norm(c.x(0), int(c.integer("size", 3)), {.alpha = 0.5, .beta = 0.6, .k = 2})};
     }}};

Variables bags(const GoldenCall& c, bool has_offsets) {
  const std::string mode = c.text("mode", "mean");
  const std::vector<std::int64_t> ids{0, 2, 1, 4, 4, 2}, starts{0, 2, 2};
  if (has_offsets)
    return {
        F::embedding_bag(Variable(autograd::array(ids, {6})), c.x(0), autograd::array(starts, {3}), {.mode = mode})};
  return {F::embedding_bag(Variable(autograd::array(ids, {2, 3})), c.x(0), {.mode = mode, .padding_idx = 2})};
}

const GoldenFunctions kOthers = {
    {"softplus", [](const GoldenCall& c) { return Variables{F::softplus(c.x(0), {.beta = 2, .threshold = 1})}; }},
    {"hardsigmoid", [](const GoldenCall& c) { return Variables{nn::Hardsigmoid()(c.x(0))}; }},
    {"leaky_relu", [](const GoldenCall& c) { return Variables{F::leaky_relu(c.x(0), {.negative_slope = 0.01})}; }},
    {"channel_shuffle", [](const GoldenCall& c) { return Variables{nn::ChannelShuffle(2)(c.x(0))}; }},
    {"grid_sample", [](const GoldenCall& c) { return Variables{F::grid_sample(c.x(0), c.x(1))}; }},
    {"affine_grid",
     [](const GoldenCall& c) {
       return Variables{F::affine_grid(c.x(0), {2, 1, 3, 4}, {.align_corners = c.flag("a", false)})};
     }},
    {"affine_grid3d",
     [](const GoldenCall& c) {
       return Variables{F::affine_grid(c.x(0), {1, 1, 2, 3, 4})};
     }},
    {"pdist", [](const GoldenCall& c) { return Variables{F::pdist(c.x(0))}; }},
    {"pad",
     [](const GoldenCall& c) {
       return Variables{F::pad(c.x(0), {1, 1, 2, 1}, "reflect")};
     }},
    {"linear", [](const GoldenCall& c) { return Variables{F::linear(c.x(0), c.x(1), c.x(2))}; }},
    {"embedding_bag", [](const GoldenCall& c) { return bags(c, false); }},
    {"embedding_bag_offsets", [](const GoldenCall& c) { return bags(c, true); }},
    {"triplet_with_distance",
     [](const GoldenCall& c) {
       return Variables{F::triplet_margin_with_distance_loss(
           c.x(0), c.x(1), c.x(2), {.margin = 2, .swap = c.flag("swap", false), .reduction = "sum"})};
     }},
    {"lstm_cell",
     [](const GoldenCall& c) {
       auto cell = loaded(nn::LSTMCell(3, 2), c);
       const auto [h, next] = cell(c.x("x"), {c.x("h"), c.x("c")});
       return Variables{h, next};
     }},
    {"gru_cell",
     [](const GoldenCall& c) {
       auto cell = loaded(nn::GRUCell(3, 2), c);
       return Variables{cell(c.x("x"), c.x("h"))};
     }},
    {"rnn_cell", [](const GoldenCall& c) {
       auto cell = loaded(nn::RNNCell(3, 2), c);
       return Variables{cell(c.x("x"), c.x("h"))};
     }}};

GoldenFunctions all_functions() {
  GoldenFunctions all;
  for (const GoldenFunctions* part : {&kConvolutions, &kPools, &kNorms, &kOthers})
    all.insert(part->begin(), part->end());
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_functional)

BOOST_AUTO_TEST_CASE(golden_values_of_pytorch) {
  const GoldenFunctions all = all_functions();
  GoldenOptions options;
  for (const auto& [name, function] : all)
    for (const char* kink : {"max_", "fractional", "softplus", "hardsigmoid", "leaky", "bag", "triplet", "grid_sample"})
      if (name.find(kink) != name.npos) options.once_only.insert(name);
  run_golden("torch_functional_names", all, options);
}

BOOST_AUTO_TEST_CASE(layers_of_shapes) {
  const Variable x(counted({1, 4, 4, 4}));
  BOOST_TEST(nn::PixelShuffle(2)(x).shape() == (Shape{1, 1, 8, 8}));
  BOOST_TEST(nn::PixelUnshuffle(2)(x).shape() == (Shape{1, 16, 2, 2}));
  BOOST_TEST(nn::Upsample({.scale_factor = 2})(x).shape() == (Shape{1, 4, 8, 8}));
  BOOST_TEST(nn::Upsample({.size = {8, 6}, .mode = "bilinear", .align_corners = true})(x).shape() ==
             (Shape{1, 4, 8, 6}));
  BOOST_TEST(nn::UpsamplingBilinear2d({.scale_factor = 2})(x).shape() == (Shape{1, 4, 8, 8}));
  BOOST_TEST(nn::Unflatten(1, {2, -1})(x).shape() == (Shape{1, 2, 2, 4, 4}));
  BOOST_TEST(nn::Flatten({.start_dim = 2})(x).shape() == (Shape{1, 4, 16}));
  BOOST_TEST(nn::Unfold(2, {.stride = 2})(x).shape() == (Shape{1, 16, 4}));
  BOOST_TEST(nn::Fold(4, 2, {.stride = 2})(nn::Unfold(2, {.stride = 2})(x)).shape() == x.shape());
  BOOST_TEST(nn::ZeroPad2d({1, 0, 2, 0})(x).shape() == (Shape{1, 4, 6, 5}));
  const Variable row(floats({1, 2, 3}, {1, 1, 3}));
  BOOST_TEST(values(nn::ReflectionPad1d(2)(row)) == (std::vector<double>{3, 2, 1, 2, 3, 2, 1}), each);
  BOOST_TEST(values(nn::ReplicationPad1d({1, 0})(row)) == (std::vector<double>{1, 1, 2, 3}), each);
  BOOST_TEST(values(nn::CircularPad1d(1)(row)) == (std::vector<double>{3, 1, 2, 3, 1}), each);
  BOOST_TEST(values(nn::ConstantPad1d(1, 0.5)(row)) == (std::vector<double>{0.5, 1, 2, 3, 0.5}), each);
  BOOST_CHECK_THROW(nn::ReflectionPad1d(3)(row), catena::ValueError);
  BOOST_CHECK_THROW(F::pad(x, {1, 1, 4, 0}, "reflect"), catena::ValueError);
  BOOST_TEST(F::pad(x, {4, 0}).shape() == (Shape{1, 4, 4, 8}));
  BOOST_TEST(F::pad(x, {1, 2, 3, 0}).shape() == (Shape{1, 4, 7, 7}));
  BOOST_CHECK_THROW(F::pad(x, {1, 2, 3}), catena::ValueError);
  BOOST_TEST(F::pad(x, {1, 1, 4, 0}, "replicate").shape() == (Shape{1, 4, 8, 6}));
  BOOST_CHECK_THROW(nn::ZeroPad2d(1)(row.reshape(3)), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(convolutions_with_padding_and_lazy_sizes) {
  autograd::seed(1);
  const Variable x(counted({2, 3, 6, 5}));
  BOOST_TEST(nn::Conv2d(3, 4, {2, 3}, {.padding = "same"})(x).shape() == (Shape{2, 4, 6, 5}));
  nn::Conv2d reflected(3, 1, 3, {.padding = 1, .padding_mode = "reflect"});
  nn::Conv2d plain(3, 1, 3);
  plain.W = reflected.W;
  plain.b = reflected.b;
  BOOST_TEST(values(reflected(x)) == values(plain(F::pad(x, {1, 1, 1, 1}, "reflect"))), each);
  BOOST_CHECK_THROW(nn::Conv2d(3, 1, 3, {.padding = {1, 5}, .padding_mode = "reflect"})(x), catena::ValueError);
  BOOST_TEST(nn::Conv2d(3, 1, {2, 1}, {.padding = {1, 2}, .padding_mode = "circular"})(x).shape() ==
             (Shape{2, 1, 7, 9}));
  BOOST_TEST(nn::Conv1d(3, 8, {.kernel_size = 5, .padding = 2})(Variable(counted({4, 3, 20}))).shape() ==
             (Shape{4, 8, 20}));
  nn::ConvTranspose2d longer(3, 2, 3, {.stride = 2, .padding = 1, .output_padding = 1});
  BOOST_TEST(longer(x).shape() == (Shape{2, 2, 12, 10}));
  nn::LazyConv2d conv(8, 3);
  nn::LazyBatchNorm2d norm;
  nn::LazyLinear linear(7, {.bias = false});
  BOOST_TEST(linear(norm(conv(x))).shape() == (Shape{2, 8, 4, 7}));
  BOOST_TEST((conv.W.shape() == (Shape{8, 3, 3, 3}) && norm.avg_mean.array().shape() == (Shape{8}) && !linear.b));
  BOOST_TEST(!nn::Linear(3, 2, {.bias = false}).b.has_value());
  BOOST_CHECK_THROW(nn::Conv2d(3, 4, 3, {.padding = "full"}), catena::ValueError);
  BOOST_CHECK_THROW(nn::Conv2d(3, 4, 3, {.stride = 2, .padding = "same"}), catena::ValueError);
  BOOST_CHECK_THROW(nn::Conv2d(3, 4, 3, {.padding_mode = "edge"}), catena::ValueError);
  BOOST_CHECK_THROW(F::max_pool2d(x, 2, {.padding = 2}), catena::ValueError);
  BOOST_CHECK_THROW(F::max_pool2d(x, 2, {.return_indices = true}), catena::ValueError);
  BOOST_CHECK_THROW(F::avg_pool2d(x, 2, {.divisor_override = 0}), catena::ValueError);
  BOOST_CHECK_THROW(F::max_pool1d(x, 2), catena::InvalidType);
}

// A constant that a function makes is no leaf for which backward computes a gradient.
BOOST_AUTO_TEST_CASE(constants_get_no_gradients) {
  const Variable x(counted({2, 2, 4, 4})), weight(counted({5, 3}));
  BOOST_TEST(leaves_with_gradients(F::avg_pool2d(x, 2, {.padding = 1, .count_include_pad = false})) == 1u);
  BOOST_TEST(leaves_with_gradients(F::lp_pool2d(x, 2, 3, {.ceil_mode = true})) == 1u);
  const nn::MaxPoolingResult r = F::max_pool2d_with_indices(x, 2);
  BOOST_TEST(leaves_with_gradients(F::max_unpool2d(r.y, r.indices, 2)) == 1u);
  BOOST_TEST(leaves_with_gradients(F::layer_norm(x, {4})) == 1u);
  BOOST_TEST(leaves_with_gradients(F::rms_norm(x, {4})) == 1u);
  BOOST_TEST(leaves_with_gradients(F::group_norm(x, 2)) == 1u);
  BOOST_TEST(leaves_with_gradients(F::batch_norm(x, autograd::arrays::zeros({2}), autograd::arrays::ones({2}))) == 1u);
  nn::LayerNormalization norm(4, {.elementwise_affine = false});
  BOOST_TEST(leaves_with_gradients(norm(x)) == 1u);
  BOOST_TEST(leaves_with_gradients(F::embedding_bag(ints({0, 4, 1}), weight, ints({0, 2}))) == 1u);
  BOOST_TEST(leaves_with_gradients(F::affine_grid(Variable(counted({1, 2, 3})), {1, 1, 2, 2})) == 1u);
  namespace rnn = nn::utils::rnn;
  const auto packed = rnn::pack_padded_sequence(Variable(counted({3, 4, 2})), {4, 2, 1}, {.batch_first = true});
  BOOST_TEST(leaves_with_gradients(rnn::pad_packed_sequence(packed).output) == 1u);
  nn::GRUCell cell(3, 2);
  BOOST_TEST(leaves_with_gradients(cell(weight)) == 5u);  // x, two weights and two biases
  nn::torch::LSTM unbiased(3, 2, {.bias = false});
  BOOST_TEST(leaves_with_gradients(unbiased(Variable(counted({4, 2, 3}))).output) == unbiased.params().size() + 1);
  nn::LSTM first(3, 2);
  BOOST_TEST(leaves_with_gradients(first(weight)) == 3u);  // x, W and b of `upward`
  nn::StatefulMGU gated(3, 2);
  BOOST_TEST(leaves_with_gradients(gated(weight)) == gated.params().size() + 1);
  nn::AdaptiveLogSoftmaxWithLoss adaptive(3, 4, {2}, {.div_value = 1});
  const std::size_t parameters = adaptive.params().size();
  BOOST_TEST(leaves_with_gradients(adaptive(weight, ints({0, 1, 2, 3, 0})).loss) == parameters + 1);
}

BOOST_AUTO_TEST_CASE(packed_sequences_and_buffers) {
  namespace rnn = nn::utils::rnn;
  const Variable x(counted({3, 4, 2}));
  const auto packed = rnn::pack_padded_sequence(x, {2, 4, 1}, {.batch_first = true, .enforce_sorted = false});
  BOOST_TEST(packed.batch_sizes == (std::vector<std::int64_t>{3, 2, 1, 1}), each);
  BOOST_TEST(values(packed.data)[0] == 8);
  const auto [y, lengths] = rnn::pad_packed_sequence(packed, {.batch_first = true, .padding_value = -1});
  BOOST_TEST(lengths == (std::vector<std::int64_t>{2, 4, 1}), each);
  BOOST_TEST(values(y)[3] == 3);
  BOOST_TEST(values(y)[4] == -1);
  BOOST_CHECK_THROW(rnn::pack_padded_sequence(x, {2, 4, 1}, {.batch_first = true}), catena::ValueError);
  BOOST_CHECK_THROW(rnn::pad_packed_sequence(packed, {.total_length = 3}), catena::ValueError);
  nn::torch::LSTM lstm(2, 3, {.batch_first = true});
  const auto [output, state] = lstm(packed);
  const auto [alone, last] = lstm(x(catena::Slice(0, 1), catena::Slice(0, 2)));
  const auto [padded, same] = rnn::pad_packed_sequence(output, {.batch_first = true});
  const std::vector<double> first = values(padded(0, 1)), expected = values(alone(0, 1));
  for (std::size_t k = 0; k < 3; ++k) BOOST_TEST(std::abs(first[k] - expected[k]) < 1e-6);
  const std::vector<double> h = values(state.h(0, 0)), h_alone = values(last.h(0, 0));
  for (std::size_t k = 0; k < 3; ++k) BOOST_TEST(std::abs(h[k] - h_alone[k]) < 1e-6);

  nn::Buffer mean(autograd::arrays::ones({2}));
  const Variable v(floats({3, 5}, {2}));
  BOOST_TEST(values(v - mean) == (std::vector<double>{2, 4}), each);
  mean = mean * 0.5 + v * 0.5;
  BOOST_TEST(autograd::to_vector<double>(mean.array()) == (std::vector<double>{2, 3}), each);
}

BOOST_AUTO_TEST_CASE(initial_values_and_clipping) {
  autograd::seed(2);
  nn::Linear layer(20, 10);
  nn::init::sparse_(layer.weight, {.sparsity = 0.25, .std = 2});
  const std::vector<double> w = values(layer.weight);
  BOOST_TEST(std::count(w.begin(), w.end(), 0.0) == 3 * 20);
  nn::Conv1d conv(2, 4, 3);
  nn::init::dirac_(conv.weight, 2);
  std::vector<double> dirac(24, 0.0);
  for (const std::size_t k : {1u, 10u, 13u, 22u}) dirac[k] = 1;
  BOOST_TEST(values(conv.weight) == dirac, each);
  BOOST_CHECK_THROW(nn::init::dirac_(layer.weight), catena::ValueError);
  BOOST_CHECK_THROW(nn::init::sparse_(conv.weight, 0.5), catena::ValueError);
  layer.W.set_grad(autograd::full_like(layer.W.data(), 3));
  layer.b->set_grad(autograd::zeros_like(layer.b->data()));
  const double norm = 3 * std::sqrt(200.0);
  BOOST_TEST(std::abs(nn::utils::get_total_norm({layer.W.grad()}) - norm) < 1e-6 * norm);
  BOOST_TEST(std::abs(nn::utils::clip_grad_norm_(layer, {.max_norm = 1}) - norm) < 1e-6 * norm);
  BOOST_TEST(std::abs(nn::utils::get_total_norm({layer.W.grad()}) - 1) < 1e-5);
  const auto captured = [&] { nn::utils::get_total_norm({layer.W.grad()}); };
  // On the CPU a capture is a call.
  if (layer.W.device().kind != autograd::Device::Kind::cpu)
    BOOST_CHECK_THROW(autograd::CapturedWork{captured}, catena::RuntimeError);
  nn::utils::clip_grads_with_norm_(layer.parameters(), 1, 2);
  BOOST_TEST(std::abs(nn::utils::get_total_norm({layer.W.grad()}) - 0.5) < 1e-5);
  layer.b->set_grad(autograd::full_like(layer.b->data(), INFINITY));
  BOOST_CHECK_THROW(nn::utils::clip_grad_norm_(layer, 1.0, {.error_if_nonfinite = true}), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
