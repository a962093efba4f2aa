// The language model of the Penn Tree Bank examples.
#pragma once

#include <catena/catena.h>

// An embedding, two LSTMs and a linear layer: for words x (N), the scores (N, n_vocab) of the words that follow them.
struct RNNForLM : nn::Chain {
  nn::EmbedID embed;
  nn::LSTM l1, l2;
  nn::Linear l3;
  NN_MEMBERS(embed, l1, l2, l3)

  RNNForLM(int n_vocab, int n_units)
      : embed(n_vocab, n_units), l1(n_units, n_units), l2(n_units, n_units), l3(n_units, n_vocab) {
    for (const Variable& param : params()) nn::initializers::Uniform(0.1)(param.data());
  }

  void reset_state() {
    l1.reset_state();
    l2.reset_state();
  }

  Variable operator()(const Variable& x) {
    const Variable h0 = embed(x);
    const Variable h1 = l1(nn::dropout(h0));
    const Variable h2 = l2(nn::dropout(h1));
    return l3(nn::dropout(h2));
  }
};
