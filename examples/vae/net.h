// The variational autoencoder of the example.
#pragma once

#include <utility>

#include <catena/catena.h>

// Encodes a vector (N, n_in) of numbers in 0..1 as a normal distribution of n_latent independent numbers, and decodes
// these. (Kingma, Welling: Auto-Encoding Variational Bayes, arXiv:1312.6114.)
struct VAE : nn::Chain {
  nn::Linear le1, le2_mu, le2_ln_var;  // encoder
  nn::Linear ld1, ld2;                 // decoder
  Variable loss, rec_loss;             // of the last call of a loss function
  VAE(int n_in, int n_latent, int n_h)
      : le1(n_in, n_h), le2_mu(n_h, n_latent), le2_ln_var(n_h, n_latent), ld1(n_latent, n_h), ld2(n_h, n_in) {}
  NN_MEMBERS(le1, le2_mu, le2_ln_var, ld1, ld2)

  Variable operator()(const Variable& x, bool sigmoid = true) { return decode(encode(x).first, sigmoid); }

  // Returns the mean and the logarithm of the variance.
  std::pair<Variable, Variable> encode(const Variable& x) {
    const Variable h1 = nn::tanh(le1(x));
    return {le2_mu(h1), le2_ln_var(h1)};
  }
  Variable decode(const Variable& z, bool sigmoid = true) {
    const Variable h1 = nn::tanh(ld1(z));
    const Variable h2 = ld2(h1);
    return sigmoid ? nn::sigmoid(h2) : h2;
  }

  // Returns the function from images to the loss: the negative evidence lower bound, per image. C is the weight of its
  // second term, which regularizes; the first is the mean over k samples of the code.
  auto get_loss_func(double C = 1.0, int k = 1) {
    return [this, C, k](const Variable& x) {
      const auto [mu, ln_var] = encode(x);
      const double batchsize = double(x.shape(0));
      rec_loss = autograd::zeros({});
      for (int l = 0; l < k; ++l) {
        const Variable z = nn::gaussian(mu, ln_var);
        rec_loss += nn::bernoulli_nll(x, decode(z, false)) / (k * batchsize);
      }
      loss = rec_loss + C * nn::gaussian_kl_divergence(mu, ln_var) / batchsize;
      return loss;
    };
  }
};
