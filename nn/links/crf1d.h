// Linear-chain conditional random field.
#pragma once

#include <catena/nn/functions/loss.h>
#include <catena/nn/link.h>

namespace nn {

// Holds the scores `cost` (n_label, n_label) of transitions between labels, [from, to], initially 0.
//
//   Variable loss = crf(xs, ys);             // -log of the probability of the labels; see crf1d()
//   auto [score, path] = crf.argmax(xs);     // the best labels; see argmax_crf1d()
class CATENA_EXPORT CRF1d : public Link {
 public:
  explicit CRF1d(int n_label);

  NN_MEMBERS(cost)
  // xs: one (B_t, n_label) per time, B_t not increasing; ys: one (B_t) per time.
  Variable operator()(const Variables& xs, const Variables& ys, const Averaged& options = {});
  template <Text T> Variable operator()(const Variables& xs, const Variables& ys, const T& reduce) {
    return (*this)(xs, ys, Averaged{std::string(reduce)});
  }
  Crf1dPath argmax(const Variables& xs);

  Parameter cost;
};

}  // namespace nn
