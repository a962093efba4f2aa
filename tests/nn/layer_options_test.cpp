// Layers with PyTorch's arguments by name: sizes, devices and dtypes.
#include <boost/test/unit_test.hpp>

#include <catena/autograd/functions/array.h>
#include <catena/nn/links.h>
#include <catena/tests/support/message_of.h>

using namespace autograd;
using test::message_of;

namespace {

constexpr Dtype kDouble = Dtype::float64;

// The dtypes of the parameters and of the floating buffers are `dtype`; a layer without a device is on the current one.
template <class L> void check_dtype(L layer, Dtype dtype = kDouble, std::optional<Device> device = {}) {
  BOOST_TEST(!layer.params().empty());
  for (const nn::NamedParam& p : layer.namedparams()) BOOST_TEST((p.param.dtype() == dtype), p.path);
  for (const nn::NamedParam& b : layer.named_buffers())
    BOOST_TEST((b.param.dtype() == dtype || !catena::is_floating(b.param.dtype())), b.path);
  BOOST_TEST((layer.device() == device.value_or(autograd::arrays::zeros({}).device())));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(layer_options)

BOOST_AUTO_TEST_CASE(dtype_and_device) {
  check_dtype(nn::Linear(3, 4, {.device = "cpu", .dtype = kDouble}), kDouble, Device());
  check_dtype(nn::Conv1d(4, 8, 3, {.device = Device(), .dtype = kDouble}), kDouble, Device());
  check_dtype(nn::Conv2d(4, 8, 3, {.device = std::string("cpu"), .dtype = kDouble}), kDouble, Device());
  check_dtype(nn::ConvTranspose2d(4, 8, 3, {.padding_mode = "zeros", .dtype = kDouble}));
  check_dtype(nn::ConvTranspose3d(4, 8, 3, {.dtype = Dtype::bfloat16}), Dtype::bfloat16);
  check_dtype(nn::BatchNorm2d(4, {.dtype = kDouble}));
  check_dtype(nn::LayerNorm(4, {.dtype = kDouble}));
  check_dtype(nn::LayerNorm(Shape{4, 2}, {.dtype = kDouble}));
  check_dtype(nn::RMSNorm(4, {.dtype = kDouble}));
  check_dtype(nn::GroupNorm(2, 4, {.dtype = kDouble}));
  check_dtype(nn::InstanceNorm2d(4, {.affine = true, .dtype = kDouble}));
  check_dtype(nn::Embedding(10, 4, {.dtype = kDouble}));
  check_dtype(nn::EmbeddingBag(10, 4, {.mode = "sum", .dtype = kDouble}));
  check_dtype(nn::torch::Bilinear(3, 4, 5, {.dtype = kDouble}));
  check_dtype(nn::LSTM(3, 4, {.num_layers = 2, .dtype = kDouble}));
  check_dtype(nn::GRU(3, 4, {.num_layers = 1, .dtype = kDouble}));
  check_dtype(nn::RNN(3, 4, {.nonlinearity = "relu", .dtype = kDouble}));
  check_dtype(nn::LSTMCell(3, 4, {.dtype = kDouble}));
  check_dtype(nn::GRUCell(3, 4, {.dtype = kDouble}));
  check_dtype(nn::RNNCell(3, 4, {.dtype = kDouble}));
  check_dtype(nn::MultiheadAttention(8, 2, {.dtype = kDouble}));
  check_dtype(nn::TransformerEncoderLayer(8, 2, {.dim_feedforward = 4, .dtype = kDouble}));
  check_dtype(nn::Transformer({.d_model = 8,
                               .nhead = 2,
                               .num_encoder_layers = 1,
                               .num_decoder_layers = 1,
                               .dim_feedforward = 4,
                               .dtype = kDouble}));
}

BOOST_AUTO_TEST_CASE(layers_without_sizes) {
  nn::LazyLinear linear(4, {.dtype = kDouble});
  linear(Variable(arrays::ones({2, 3}, kDouble)));
  check_dtype(linear);
  nn::LazyConv2d conv(4, 3, {.dtype = kDouble});
  conv(Variable(arrays::ones({1, 2, 5, 5}, kDouble)));
  check_dtype(conv);
}

BOOST_AUTO_TEST_CASE(sizes_by_name) {
  BOOST_TEST(nn::Linear({.in_features = 3, .out_features = 4}).W.shape() == Shape({4, 3}));
  BOOST_TEST(!nn::Linear({.in_features = 3, .out_features = 4, .bias = false}).b.has_value());
  BOOST_TEST(nn::Conv2d({.in_channels = 4, .out_channels = 8, .kernel_size = 3, .padding = 1}).W.shape() ==
             Shape({8, 4, 3, 3}));
  BOOST_TEST(nn::ConvTranspose1d({.in_channels = 4, .out_channels = 8, .kernel_size = 3}).W.shape() ==
             Shape({4, 8, 3}));
  BOOST_TEST(nn::BatchNorm2d({.num_features = 4}).gamma->shape() == Shape({4}));
  BOOST_TEST(nn::GroupNorm({.num_groups = 2, .num_channels = 4}).gamma.shape() == Shape({4}));
  BOOST_TEST(nn::Embedding({.num_embeddings = 10, .embedding_dim = 4}).W.shape() == Shape({10, 4}));
  BOOST_TEST(nn::EmbeddingBag({.num_embeddings = 10, .embedding_dim = 4, .mode = "max"}).W.shape() == Shape({10, 4}));
  BOOST_TEST(nn::LSTM({.input_size = 3, .hidden_size = 4, .num_layers = 2}).params().size() == 32u);  // by gate
  BOOST_TEST(nn::GRU({.input_size = 3, .hidden_size = 4}).params().size() == 12u);
  BOOST_TEST(nn::RNN({.input_size = 3, .hidden_size = 4}).params().size() == 4u);
  BOOST_TEST(nn::LSTMCell({.input_size = 3, .hidden_size = 4}).weight_ih.shape() == Shape({16, 3}));
  BOOST_TEST(nn::MultiheadAttention({.embed_dim = 8, .num_heads = 2, .batch_first = true}).num_heads == 2);
  BOOST_TEST(!nn::BatchNorm2d(4, {.bias = false}).beta.has_value());
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
  BOOST_CHECK_THROW(nn::Linear({.in_features = 3}), catena::TypeError);
  BOOST_CHECK_THROW(nn::Embedding({.num_embeddings = 3}), catena::TypeError);
  BOOST_CHECK_THROW(nn::ConvTranspose2d(4, 8, 3, {.padding_mode = "reflect"}), catena::ValueError);
  BOOST_CHECK_THROW(nn::Linear(3, 4, {.device = "gpu"}), catena::ValueError);
  BOOST_CHECK_THROW(nn::Linear(3, 4, {.dtype = Dtype::int64}), catena::TypeError);
}

BOOST_AUTO_TEST_SUITE_END()
