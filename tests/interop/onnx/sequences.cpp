// Recurrent networks and transformers.
#include <catena/tests/interop/onnx/networks.h>

#include <limits>

namespace onnx_networks {
namespace {

Variable at_time(const Variable& x, std::int64_t t) { return x(autograd::_, t); }

struct Recurrent : nn::Chain {
  nn::EmbedID embed{10, 4};
  nn::LSTM lstm{4, 6};
  nn::Linear out{6, 3};
  NN_MEMBERS(embed, lstm, out)
  Variable operator()(const Variable& ids) {
    lstm.reset_state();
    const Variable x = embed(ids);
    Variable h;
    for (std::int64_t t = 0; t < x.shape(1); ++t) h = lstm(at_time(x, t));
    return out(h);
  }
};

struct GatedRecurrent : nn::Chain {
  nn::GRU gru{5, 4};
  NN_MEMBERS(gru)
  Variables operator()(const Variable& x, const Variable& h0) {
    Variable h = h0;
    Variables all;
    for (std::int64_t t = 0; t < x.shape(1); ++t) all.push_back(h = gru(h, at_time(x, t)));
    return {autograd::stack(all, 1), h};
  }
};

// The states come from outside, with zeros for the first ones.
struct StatefulGates : nn::Chain {
  nn::StatefulGRU gru{4, 5};
  nn::StatefulPeepholeLSTM peephole{4, 5};
  NN_MEMBERS(gru, peephole)
  Variable operator()(const Variable& x) {
    gru.reset_state();
    peephole.reset_state();
    Variable y;
    for (std::int64_t t = 0; t < x.shape(1); ++t) y = gru(at_time(x, t)) + peephole(at_time(x, t));
    return y;
  }
};

Variables list_of(const Variables& xs, std::size_t first) {
  Variables list;
  for (std::size_t i = first; i < xs.size(); ++i) list.push_back(xs[i]);
  return list;
}

// A mask of the tokens, causal attention, and a head for the next token.
struct LanguageModel : nn::Chain {
  nn::EmbedID embed{11, 8};
  nn::TransformerEncoder body;
  nn::Linear head{8, 11};
  explicit LanguageModel(const nn::TransformerLayerOptions& options) : body(2, 8, 2, options) {}
  NN_MEMBERS(embed, body, head)
  Variable operator()(const Variable& ids) { return head(body(embed(ids), {.causal = true}), -1); }
};

}  // namespace

void add_sequences(Writer& w) {
  Recurrent recurrent;
  recurrent(numbers({2, 3}, 10));
  w.add("lstm_over_time", recurrent, {{numbers({2, 3}, 10)}, {numbers({5, 3}, 10)}}, dynamic_batch());
  nn::StatelessLSTM cell(4, 5);
  w.add("lstm_cell",
        [&](const Variable& c, const Variable& h, const Variable& x) {
          const auto next = cell(c, h, x);
          return Variables{next.c, next.h};
        },
        {{random({2, 5}), random({2, 5}), random({2, 4})}, {random({3, 5}), random({3, 5}), random({3, 4})}},
        {.input_names = {"c", "h", "x"}, .output_names = {"c_next", "h_next"}, .dynamic_batch = true, .link = &cell});
  w.add("gru", GatedRecurrent(), {{random({2, 3, 4}), random({2, 5})}, {random({4, 3, 4}), random({4, 5})}},
        dynamic_batch());
  StatefulGates gates;
  w.add("stateful_cells", gates, {{random({2, 3, 4})}, {random({1, 3, 4})}}, dynamic_batch());
  w.add(
      "slstm",
      [](const Variable& c1, const Variable& c2, const Variable& x1, const Variable& x2) {
        const auto next = nn::slstm(c1, c2, x1, x2);
        return Variables{next.c, next.h};
      },
      {{random({2, 3}), random({2, 3}, 0.5), random({2, 12}), random({2, 12}, 0.5)}}, dynamic_batch());

  // The lengths of the sequences are those of the example.
  const Variables ragged = {random({2, 3, 4}), random({2, 3, 4}, 0.5), random({2, 5}), random({3, 5}), random({1, 5})};
  nn::NStepLSTM n_step(2, 5, 4, 0.3);
  w.add("n_step_lstm",
        [&](const Variables& in) {
          const auto r = n_step(in[0], in[1], list_of(in, 2));
          Variables out{r.hy, r.cy};
          for (const Variable& y : r.ys) out.push_back(y);
          return out;
        },
        {ragged}, {.link = &n_step});
  nn::NStepBiGRU bigru(1, 5, 4, 0);
  w.add("n_step_bigru",
        [&](const Variables& in) {
          const auto r = bigru(in[0], list_of(in, 1));
          return Variables{r.hy, autograd::stack(r.ys, 1)};
        },
        {{random({2, 2, 4}), random({3, 5}), random({3, 5}, 2)}}, {.link = &bigru});
  nn::NStepRNNTanh rnn(2, 5, 4, 0);
  w.add("n_step_rnn", [&](const Variables& in) { return rnn(in[0], list_of(in, 1)).hy; },
        {{random({2, 2, 4}), random({3, 5}), random({2, 5}, 2)}}, {.link = &rnn});
  // By time, so that the batch is an axis.
  const Variable of_x = random({4, 5}), of_h = random({4, 4}), b = random(Shape{4});
  w.add(
      "n_step_gru_function",
      [&](const Variable& h, const Variable& x0, const Variable& x1) {
        return nn::n_step_gru(1, 0, h, {{of_x, of_x * 2, of_x * 3, of_h, of_h * 2, of_h * 3}}, {{b, b, b, b, b, b}},
                              {x0, x1})
            .hy;
      },
      {{random({1, 3, 4}), random({3, 5}), random({3, 5}, 2)}, {random({1, 6, 4}), random({6, 5}), random({6, 5}, 2)}},
      {.input_names = {"h", "x0", "x1"},
       .dynamic_axes = {{"h", {{1, "batch"}}}, {"x0", {{0, "batch"}}}, {"x1", {{0, "batch"}}}}});

  nn::TransformerEncoder encoder(2, 8, 2, {.dim_feedforward = 12});
  w.add("transformer_encoder", [&](const Variable& x) { return encoder(x); },
        {{random({2, 5, 8})}, {random({3, 7, 8})}},
        {.input_names = {"x"}, .dynamic_axes = {{"x", {{0, "batch"}, {1, "length"}}}}, .link = &encoder});
  nn::TransformerDecoder decoder(1, 8, 2, {.dim_feedforward = 12, .activation = nn::gelu, .norm_first = true});
  w.add("transformer_decoder",
        [&](const Variable& x, const Variable& memory) { return decoder(x, memory, {.causal = true}); },
        {{random({2, 4, 8}), random({2, 6, 8})}, {random({1, 4, 8}), random({1, 6, 8})}},
        {.dynamic_batch = true, .link = &decoder});
  LanguageModel language({.dim_feedforward = 12, .num_kv_heads = 1, .rotary_base = 10000.0});
  w.add("language_model", language, {{numbers({2, 6}, 11)}, {numbers({4, 6}, 11)}}, dynamic_batch());
  LanguageModel any_length({.dim_feedforward = 12, .activation = nn::silu});
  w.add("language_model_any_length", any_length, {{numbers({2, 5}, 11)}, {numbers({1, 9}, 11)}},
        {.input_names = {"ids"}, .dynamic_axes = {{"ids", {{0, "batch"}, {1, "length"}}}}});
  const auto masked = [](const Variable& q, const Variable& k, const Variable& v, const Variable& mask) {
    return nn::scaled_dot_product_attention(q, k, v, {.mask = mask});
  };
  const float inf = std::numeric_limits<float>::infinity();
  w.add("attention_with_a_mask_of_numbers", masked,
        {{random({1, 2, 3, 4}), random({1, 2, 3, 4}, 0.5), random({1, 2, 3, 4}, 2),
          Variable(autograd::array(std::vector<float>{0, -inf, 1, -inf, -inf, -inf, 0.5, 0, -2}, {3, 3}))}});
  w.add("attention_with_masks", masked,
        {{random({2, 4, 3, 8}), random({2, 2, 5, 8}), random({2, 2, 5, 6}),
          Variable(autograd::array(std::vector<bool>{true, false, true, true, false, false, false, false, false, false,
                                                     true, true, true, true, true},
                                   {3, 5}))}});
  nn::EmbedID words(9, 4);
  w.add("embedding", [&](const Variable& ids) { return mean(words(ids), 1); },
        {{numbers({3, 4}, 9)}, {numbers({2, 4}, 9)}}, {.dynamic_batch = true, .link = &words});
}

}  // namespace onnx_networks
