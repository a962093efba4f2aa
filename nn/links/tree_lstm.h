// LSTM layers for the nodes of trees (Tai et al.: Improved Semantic Representations From Tree-Structured Long
// Short-Term Memory Networks, 2015). They have no state: a call computes one node of each tree of a batch from its
// children.
//
//   c = tanh(a) s(i) + sum over children of s(f_k) c_k, h = s(o) tanh(c)
#pragma once

#include <concepts>
#include <optional>
#include <vector>

#include <catena/nn/functions/activation.h>
#include <catena/nn/links/linear.h>

namespace nn {

namespace internal {
struct TreeChildren {
  Variables cs, hs;
  Variable x;
};
inline TreeChildren children_of(const Variables& cshsx) {
  TreeChildren result;
  const std::size_t n = cshsx.size() / 2;
  for (std::size_t i = 0; i < 2 * n; ++i) (i < n ? result.cs : result.hs).push_back(cshsx[i]);
  result.x = cshsx.back();
  return result;
}
}  // namespace internal

// Any number of children, whose order does not matter: a, i and o are W_x(x) + W_h_aio(the sum of all h), f_k is
// W_x(x) + W_h_f(h_k). W_x has rows for a, i, o and f.
//   auto [c, h] = node({c1, c2, c3}, {h1, h2, h3}, x);       // x (b, in), c and h (b, out)
//   auto [c, h] = node({}, {}, x);                           // a leaf
class CATENA_EXPORT ChildSumTreeLSTM : public Chain {
 public:
  ChildSumTreeLSTM(std::optional<int> in_size, int out_size);

  NN_MEMBERS(W_x, W_h_aio, W_h_f)
  // Null states are zeros, and so is a null x, for inner nodes without an input; it needs an input size. ValueError for
  // different numbers of c and h, and for a null x of a leaf.
  LSTMState operator()(const Variables& cs, const Variables& hs, const Variable& x);
  // By position, as in Chainer: node(c1, c2, h1, h2, x).
  template <std::convertible_to<Variable>... V>
  LSTMState operator()(const V&... cshsx) requires(sizeof...(V) >= 3 && sizeof...(V) % 2 == 1) {
    const auto [cs, hs, x] = internal::children_of({Variable(cshsx)...});
    return (*this)(cs, hs, x);
  }

  Linear W_x, W_h_aio, W_h_f;
  std::optional<int> in_size;
  int state_size;
};

struct NaryTreeLSTMOptions {
  int n_ary = 2;
};
// n_ary children, each with matrices of its own: a, i, o, f_1, ..., f_n are W_x(x) + W_h1(h_1) + ... + W_hn(h_n).
class CATENA_EXPORT NaryTreeLSTM : public Chain {
 public:
  using Options = NaryTreeLSTMOptions;
  NaryTreeLSTM(std::optional<int> in_size, int out_size, int n_ary = 2);  // ValueError for n_ary < 1
  NaryTreeLSTM(std::optional<int> in, int out, const Options& options) : NaryTreeLSTM(in, out, options.n_ary) {}

  NN_MEMBERS(W_x)
  // Null states are zeros. With empty lists the node is a leaf. ValueError for other numbers of c and h than n_ary.
  LSTMState operator()(const Variables& cs, const Variables& hs, const Variable& x);
  // By position, as in Chainer: node(c1, c2, h1, h2, x).
  template <std::convertible_to<Variable>... V>
  LSTMState operator()(const V&... cshsx) requires(sizeof...(V) >= 3 && sizeof...(V) % 2 == 1) {
    const auto [cs, hs, x] = internal::children_of({Variable(cshsx)...});
    return (*this)(cs, hs, x);
  }

  Linear W_x;  // and the children W_h1, ..., without bias
  std::optional<int> in_size;
  int state_size, n_ary;
};

}  // namespace nn
