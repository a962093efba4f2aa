// Layers with attention, and decoding with a cache.
#include <cmath>
#include <limits>

#include <boost/test/unit_test.hpp>

#include <catena/autograd/flag.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/testing.h>
#include <catena/nn/links/transformer.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::GoldenCall;
using test::spread;

namespace {

// PyTorch's name of a parameter: "/self_attn/in_proj/W" is "self_attn.in_proj_weight", "/norm1/gamma" "norm1.weight".
std::string name_in_torch(std::string path) {
  const std::size_t last = path.rfind('/');
  const std::string name = path.substr(last + 1);
  path = path.substr(1, last - 1);
  const bool packed = path.ends_with("_proj") && !path.ends_with("out_proj");
  for (char& c : path)
    if (c == '/') c = '.';
  return catena::concat(path, packed ? '_' : '.', name == "W" || name == "gamma" ? "weight" : "bias");
}
// Gives a link the arrays of a case.
template <class L> L loaded(L link, const GoldenCall& c) {
  for (auto& [path, p] : link.namedparams()) {
    const Array a = c.array(name_in_torch(path));
    BOOST_TEST_REQUIRE(bool(a), path);
    p.set_data(a);
  }
  return link;
}

nn::MultiHeadAttentionMasks masks_of(const GoldenCall& c, bool padded = true) {
  nn::MultiHeadAttentionMasks m;
  if (c.x("mask")) m.mask = c.array("mask");
  if (padded && c.x("padding")) m.padding = c.array("padding");
  return m;
}
nn::TransformerLayerOptions layer_options(const GoldenCall& c) {
  return {.dim_feedforward = 5, .dropout = 0, .norm_first = c.flag("norm_first", false)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(attention_links)

// The mask of PyTorch's Transformer hides what `causal` hides.
BOOST_AUTO_TEST_CASE(mask_of_later_positions) {
  const Array mask = nn::Transformer::generate_square_subsequent_mask(3);
  BOOST_TEST(mask.dtype() == Dtype::float32);
  BOOST_TEST(mask.shape() == (Shape{3, 3}));
  const double inf = std::numeric_limits<double>::infinity();
  BOOST_TEST(to_vector<double>(mask) == (std::vector<double>{0, -inf, -inf, 0, 0, -inf, 0, 0, 0}),
             boost::test_tools::per_element());
  BOOST_TEST(nn::Transformer::generate_square_subsequent_mask(1, Dtype::float64).dtype() == Dtype::float64);
  BOOST_TEST(nn::Transformer::generate_square_subsequent_mask(0).shape() == (Shape{0, 0}));
  BOOST_CHECK_THROW(nn::Transformer::generate_square_subsequent_mask(-1), catena::ValueError);
  BOOST_CHECK_THROW(nn::Transformer::generate_square_subsequent_mask(2, Dtype::int32), catena::TypeError);
  nn::TransformerEncoderLayer layer(4, 2, {.dim_feedforward = 5, .dropout = 0});
  const Variable x(astype(spread({2, 3, 4}), Dtype::float32));
  BOOST_CHECK_NO_THROW(
      testing::assert_allclose(layer(x, {.mask = mask}).data(), layer(x, {.causal = true}).data(), 1e-5, 1e-5));
}

BOOST_AUTO_TEST_CASE(golden_values) {
  test::run_golden(
      "torch_attention_links",
      {{"mha",
        [](const GoldenCall& c) {
          nn::MultiHeadAttentionOptions o;
          const Variable memory = c.x("memory") ? c.x("memory") : c.x("x"), value = c.x("value");
          if (value) o = {.bias = false, .kdim = 5, .vdim = 3};
          auto link = loaded(nn::MultiHeadAttention(6, int(c.integer("heads", 3)), o), c);
          return Variables{link(c.x("x"), memory, value ? value : memory, masks_of(c))};
        }},
       {"mha_weights",
        [](const GoldenCall& c) {
          const Variable memory = c.x("memory") ? c.x("memory") : c.x("x"), value = c.x("value");
          nn::MultiheadAttentionOptions o{.batch_first = c.flag("batch_first", true)};
          if (value) o = {.bias = false, .kdim = 5, .vdim = 3, .batch_first = true};
          auto link = loaded(nn::MultiheadAttention(6, int(c.integer("heads", 3)), o), c);
          const auto [y, w] = link(c.x("x"), memory, value ? value : memory,
                                   {.key_padding_mask = c.array("padding"),
                                    .attn_mask = c.x("mask"),
                                    .average_attn_weights = c.flag("average", true)});
          return Variables{y, w};
        }},
       {"encoder_layer",
        [](const GoldenCall& c) {
          return Variables{loaded(nn::TransformerEncoderLayer(6, 3, layer_options(c)), c)(c.x("x"), masks_of(c))};
        }},
       {"decoder_layer", [](const GoldenCall& c) {
          auto link = loaded(nn::TransformerDecoderLayer(6, 3, layer_options(c)), c);
          nn::MultiHeadAttentionMasks memory_masks;
          memory_masks.padding = c.array("padding");
          return Variables{link(c.x("x"), c.x("memory"), masks_of(c, false), memory_masks)};
        }}});
}

// PyTorch's class: without weights it is MultiHeadAttention; masks of PyTorch hide where they are true.
BOOST_AUTO_TEST_CASE(results_of_multihead_attention) {
  nn::MultiheadAttention attn(6, 3, {.dropout = 0, .bias = true, .batch_first = true});
  attn.to_dtype(Dtype::float64);
  const Variable x(spread({2, 4, 6}));
  const auto near = [](const Variable& a, const Variable& b) {
    BOOST_CHECK_NO_THROW(testing::assert_allclose(a.data(), b.data(), 1e-12, 1e-12));
  };
  const auto [y, w] = attn(x, x, x);
  const auto [plain, none] = attn(x, x, x, {.need_weights = false});
  near(y, plain);
  BOOST_TEST(!bool(none));
  near(sum(w, 2), Variable(arrays::ones({2, 4}, Dtype::float64)));
  const auto [causal, seen] = attn(x, x, x, {.is_causal = true});
  near(causal, attn(x, x, x, {.need_weights = false, .is_causal = true}).output);
  BOOST_TEST(seen(0, 1, 2).item() == 0);
  BOOST_TEST(seen(0, 0, 0).item() == 1);
  const Array hidden = array<bool>(
      {false, true, true, true, false, false, true, true, false, false, false, true, false, false, false, false},
      {4, 4});
  near(causal, attn(x, x, x, {.attn_mask = hidden}).output);
  near(causal, attn(x, x, x, {.need_weights = false, .attn_mask = hidden}).output);
  // A query that sees no key, and masks of more sequences than there are.
  const Array padding = array<bool>({true, true, true, true, false, false, false, false}, {2, 4});
  const auto [of_none, no_weights] = attn(x, x, x, {.key_padding_mask = padding});
  BOOST_TEST(std::isnan(of_none(0, 0, 0).item()));
  BOOST_TEST(std::isnan(no_weights(0, 0, 0).item()));
  near(of_none[1], y[1]);
  near(attn(x, x, x, {.key_padding_mask = padding, .need_weights = false}).output[0],
       Variable(arrays::zeros({4, 6}, Dtype::float64)));
  const Variable single = x(Slice(0, 1));
  const Array for_two = arrays::zeros({6, 4, 4}, Dtype::float64);
  for (const bool need_weights : {true, false}) {
    BOOST_CHECK_THROW(attn(single, single, single, {.need_weights = need_weights, .attn_mask = for_two}),
                      catena::ValueError);
    BOOST_CHECK_THROW(attn(single, single, single, {.key_padding_mask = padding, .need_weights = need_weights}),
                      catena::ValueError);
  }
  // By default, the first axis is that of the tokens.
  nn::MultiheadAttention turned(6, 3);
  turned.to_dtype(Dtype::float64);
  turned.copyparams(attn);
  const Variable tokens_first = swapaxes(x, 0, 1);
  const auto [z, of_heads] = turned(tokens_first, tokens_first, tokens_first, {.average_attn_weights = false});
  near(swapaxes(z, 0, 1), y);
  near(mean(of_heads, 1), w);
  // 16-bit results are those of float32, rounded.
  attn.to_dtype(Dtype::float16);
  const auto [narrow, narrow_w] = attn(cast(x, Dtype::float16), cast(x, Dtype::float16), cast(x, Dtype::float16));
  BOOST_TEST((narrow.dtype() == Dtype::float16 && narrow_w.dtype() == Dtype::float16));
  BOOST_CHECK_NO_THROW(testing::assert_allclose(astype(narrow.data(), Dtype::float64), y.data(), 2e-2, 2e-2));
  // In training, weights are dropped.
  nn::MultiheadAttention dropping(6, 3, {.dropout = 0.5});
  const Array few = arrays::ones({4, 2, 6});
  const Variable dropped = dropping(few, few, few, {.average_attn_weights = false}).weights;
  for (const float v : to_vector<float>(dropped.data())) BOOST_TEST((v == 0 || std::abs(v - 0.5f) < 1e-6f));
  BOOST_CHECK_THROW(attn.call({x}), catena::TypeError);
  BOOST_CHECK_THROW(turned(x[0], x[0], x[0]), catena::InvalidType);
  BOOST_CHECK_THROW(turned(x, x, x, {.attn_mask = arrays::zeros({4, 2, 2}, Dtype::float64)}), catena::ValueError);
}

// A stack of copies of a layer, with the parameters of that layer.
BOOST_AUTO_TEST_CASE(stacks_of_copies) {
  const auto testing_mode = train_mode(false);
  nn::TransformerEncoderLayer layer(6, 2, {.dim_feedforward = 4, .batch_first = true});
  nn::TransformerEncoder encoder(layer, 2), normalized(layer, 2, nn::LayerNormalization(6));
  const Variable x(astype(spread({2, 3, 6}), Dtype::float32));
  BOOST_CHECK_NO_THROW(testing::assert_allclose(encoder(x).data(), layer(layer(x)).data(), 1e-6, 1e-6));
  BOOST_TEST(!encoder.norm.has_value());
  BOOST_CHECK_NO_THROW(
      testing::assert_allclose(normalized(x).data(), (*normalized.norm)(encoder(x)).data(), 1e-6, 1e-6));
  BOOST_TEST(!encoder.layers[0].linear1.W.is_same(encoder.layers[1].linear1.W));
  nn::TransformerDecoderLayer decoding(6, 2, {.dim_feedforward = 4});
  nn::TransformerDecoder decoder(decoding, 1);
  BOOST_CHECK_NO_THROW(testing::assert_allclose(decoder(x, x).data(), decoding(x, x).data(), 1e-6, 1e-6));
  BOOST_CHECK_THROW(nn::TransformerEncoder(layer, -1), catena::ValueError);
}

// Masks of PyTorch's names hide where they are true, the opposite of MultiHeadAttentionMasks; floating ones are added.
BOOST_AUTO_TEST_CASE(masks_of_pytorch) {
  const auto testing_mode = train_mode(false);
  const Variable x(astype(spread({2, 4, 6}), Dtype::float32)), memory(astype(spread({2, 3, 6}), Dtype::float32));
  const auto near = [](const Variable& a, const Variable& b) {
    testing::assert_allclose(a.data(), b.data(), 1e-5, 1e-5);
  };
  const auto causal_mask = [](int n) { return nn::Transformer::generate_square_subsequent_mask(n); };
  const Array later = array<bool>(
      {false, true, true, true, false, false, true, true, false, false, false, true, false, false, false, false},
      {4, 4});
  const Array padding = array<bool>({false, false, false, true, false, true, false, false}, {2, 4});
  nn::MultiHeadAttentionMasks causal{.causal = true}, padded{.padding = padding};

  nn::TransformerEncoderLayer layer(6, 2, {.dim_feedforward = 4});
  nn::TransformerEncoder encoder(layer, {.num_layers = 2});
  const Variable expected = layer(x, causal);
  for (const Variable& y :
       {layer(x, {.src_mask = causal_mask(4)}), layer(x, {.mask = later}), layer(x, {.is_causal = true}),
        layer(x, {.src_mask = causal_mask(4), .is_causal = true}), layer(x, {.causal = true})})
    near(y, expected);
  near(layer(x, {.src_key_padding_mask = padding}), layer(x, padded));
  near(layer(x, {.src_key_padding_mask = Variable(padding)}), layer(x, {.padding = padding}));
  near(encoder(x, {.mask = causal_mask(4), .src_key_padding_mask = padding}),
       layer(layer(x, {.src_key_padding_mask = padding, .is_causal = true}),
             {.src_key_padding_mask = padding, .is_causal = true}));
  BOOST_CHECK_THROW(layer(x, {.mask = later, .src_mask = later}), catena::TypeError);
  BOOST_CHECK_THROW(layer(x, {.src_key_padding_mask = padding, .padding = padding}), catena::TypeError);

  nn::TransformerDecoderLayer decoding(6, 2, {.dim_feedforward = 4});
  nn::TransformerDecoder decoder(decoding, 1);
  const Array unseen = array<bool>({false, true, false, false, false, true}, {2, 3});
  nn::MultiHeadAttentionMasks memory_padded{.padding = unseen};
  const Variable decoded = decoding(x, memory, causal, memory_padded);
  near(decoder(x, memory, {.tgt_mask = causal_mask(4), .memory_key_padding_mask = unseen}), decoded);
  near(decoder(x, memory, {.memory_key_padding_mask = unseen, .tgt_is_causal = true}), decoded);
  near(decoder(x, memory, causal, memory_padded), decoded);
  near(decoder(x, x, {.tgt_key_padding_mask = padding, .memory_is_causal = true}), decoding(x, x, padded, causal));
  near(decoder(x, x, {.memory_mask = later}), decoding(x, x, nn::MultiHeadAttentionMasks(), causal));
}

// x (L, B, d_model) without batch_first, and PyTorch's network of both parts.
BOOST_AUTO_TEST_CASE(batches_as_the_second_axis) {
  const auto testing_mode = train_mode(false);
  const Variable x(astype(spread({2, 4, 6}), Dtype::float32)), tgt(astype(spread({2, 3, 6}), Dtype::float32));
  const auto near = [](const Variable& a, const Variable& b) {
    testing::assert_allclose(a.data(), b.data(), 1e-5, 1e-5);
  };
  nn::Transformer model({.d_model = 6,
                         .nhead = 2,
                         .num_encoder_layers = 2,
                         .num_decoder_layers = 1,
                         .dim_feedforward = 4,
                         .batch_first = true});
  nn::Transformer turned(6, 2, 2, 1, 4, {.batch_first = false});
  turned.copyparams(model);
  BOOST_TEST((model.encoder.layers.size() == 2u && model.decoder.layers.size() == 1u));
  BOOST_TEST((model.encoder.norm.has_value() && model.decoder.norm.has_value()));
  const Array mask = nn::Transformer::generate_square_subsequent_mask(3);
  const Array padding = array<bool>({false, false, false, true, false, true, false, false}, {2, 4});
  const nn::TransformerCallOptions masks{
      .tgt_mask = mask, .src_key_padding_mask = padding, .memory_key_padding_mask = padding};
  const Variable y = model(x, tgt, masks);
  BOOST_TEST(y.shape() == (Shape{2, 3, 6}));
  near(y, model.decoder(tgt, model.encoder(x, {.src_key_padding_mask = padding}),
                        {.memory_key_padding_mask = padding, .tgt_is_causal = true}));
  near(turned(x.swapaxes(0, 1), tgt.swapaxes(0, 1), masks).swapaxes(0, 1), y);
  // Matrices are drawn from [-a, a) with a^2 = 6 / (in + out).
  const Array W = model.encoder.layers[0].linear1.W.data();
  BOOST_TEST(item(autograd::amax(autograd::apply(catena::kernels::absolute, {W}))).to_double() <= std::sqrt(0.6));
  BOOST_TEST(nn::Transformer(6, 2, 1, 1).encoder.layers[0].linear1.W.shape() == (Shape{2048, 6}));
  nn::TransformerEncoderLayer layer(
      {.d_model = 6, .nhead = 3, .dim_feedforward = 4, .dropout = 0, .batch_first = false});
  BOOST_TEST((layer.self_attn.num_heads == 3 && layer.linear1.W.shape() == Shape{4, 6} && layer.dropout == 0));
  BOOST_TEST(!layer.batch_first);
  BOOST_TEST(nn::TransformerDecoderLayer({.d_model = 6, .nhead = 3}).linear1.W.shape() == (Shape{2048, 6}));
}

// Token by token with a cache, the result is that of all tokens at once.
BOOST_AUTO_TEST_CASE(decoding_with_a_cache) {
  const auto scope = no_backprop_mode();
  const auto testing_mode = train_mode(false);
  nn::TransformerEncoder model(2, 8, 4,
                               {.dim_feedforward = 10, .norm_first = true, .num_kv_heads = 2, .rotary_base = 100.0});
  const Array x = astype(spread({2, 7, 8}), Dtype::float32);
  const Array all = model(x, {.causal = true}).data();
  std::vector<nn::KeyValueCache> caches(2);
  BOOST_TEST((!caches[0].keys() && !caches[0].values()));
  for (const auto& [begin, end] : {std::pair{0, 3}, std::pair{3, 4}, std::pair{4, 7}}) {
    const Array part = model(slice(x, 1, begin, end), {.causal = true}, caches).data();
    BOOST_CHECK_NO_THROW(testing::assert_allclose(part, slice(all, 1, begin, end), 1e-5, 1e-5));
    BOOST_TEST(caches[1].length() == end);
  }
  BOOST_TEST(caches[0].keys().shape() == (Shape{2, 2, 7, 2}));
  // A bool mask hides where it is true, as without caches; in a MultiHeadAttentionMasks it shows.
  const Array hidden = array<bool>({false, true, false, false, false, true, true, false, false}, {3, 3});
  const Array shown = array<bool>({true, false, true, true, true, false, false, true, true}, {3, 3});
  const Array begin = slice(x, 1, 0, 3), masked = model(begin, {.mask = hidden}).data();
  std::vector<nn::KeyValueCache> first(2), second(2);
  testing::assert_allclose(model(begin, {.mask = hidden}, first).data(), masked, 1e-5, 1e-5);
  testing::assert_allclose(model(begin, nn::MultiHeadAttentionMasks{.mask = shown}, second).data(), masked, 1e-5, 1e-5);
  caches.pop_back();
  BOOST_CHECK_THROW(model(x, {}, caches), catena::ValueError);
  BOOST_CHECK_THROW(caches[0].append(arrays::ones({1, 2, 3, 2}), arrays::ones({1, 2, 3, 2})), catena::ValueError);
  BOOST_TEST(caches[0].length() == 7);
}

BOOST_AUTO_TEST_CASE(parameters_and_errors) {
  nn::MultiHeadAttention link(6, 3);
  std::vector<std::string> names;
  for (const auto& [path, p] : link.namedparams()) names.push_back(path);
  BOOST_TEST(names == (std::vector<std::string>{"/in_proj/W", "/in_proj/b", "/out_proj/W", "/out_proj/b"}));
  BOOST_CHECK_EXCEPTION(nn::MultiHeadAttention(6, 4), catena::ValueError, [](const catena::Error& e) {
    return e.what() == std::string("MultiHeadAttention: num_heads is 4, which does not divide embed_dim, 6");
  });
  BOOST_CHECK_THROW(nn::MultiHeadAttention(6, 3, {.num_kv_heads = 2}), catena::ValueError);
  BOOST_CHECK_THROW(link(arrays::ones({2, 6})), catena::InvalidType);
  BOOST_CHECK_THROW(link(arrays::ones({2, 3, 6}), {.padding = arrays::ones({2, 3})}), catena::ValueError);
  // Self-attention trains all parameters, in a decoder as well.
  nn::TransformerDecoder decoder(1, 6, 2, {.dim_feedforward = 4, .dropout = 0.5});
  sum(decoder(arrays::ones({2, 3, 6}), arrays::ones({2, 4, 6}), {.causal = true})).backward();
  // Masks of x and of memory in braces.
  const Array padding = arrays::ones({2, 4}, Dtype::bool_);
  BOOST_TEST(
      decoder(arrays::ones({2, 3, 6}), arrays::ones({2, 4, 6}), {.causal = true}, {.padding = padding}).shape() ==
      (Shape{2, 3, 6}));
  BOOST_TEST(decoder.layers[0](arrays::ones({2, 3, 6}), arrays::ones({2, 4, 6}), {.causal = true}, {.padding = padding})
                 .shape() == (Shape{2, 3, 6}));
  for (const Variable& p : decoder.params()) BOOST_TEST(bool(p.grad()));
}

BOOST_AUTO_TEST_SUITE_END()
