// One step of the cells of recurrent networks whose state is a memory cell behind gates. The arguments of the gates are
// passed before their activation: candidate a, input gate i, forget gate f, output gate o.
#pragma once

#include <catena/kernels/nn/activation.h>

namespace catena::k {

struct lstm {
  template <class T> ND_FN static void run(T a, T i, T f, T o, T before, T& c, T& h) {
    c = m::tanh(a) * logistic(i) + logistic(f) * before;
    h = logistic(o) * m::tanh(c);
  }
};

// A cell with two previous states, each with its own gates; the output gate uses the sum of both arguments.
struct slstm {
  template <class T>
  ND_FN static void run(T a1, T i1, T f1, T o1, T before1, T a2, T i2, T f2, T o2, T before2, T& c, T& h) {
    c = m::tanh(a1) * logistic(i1) + logistic(f1) * before1 + (m::tanh(a2) * logistic(i2) + logistic(f2) * before2);
    h = logistic(o1 + o2) * m::tanh(c);
  }
};

// The gradients of one side of either cell: `other` is the argument of the other side's output gate, or 0 if there is
// none.
struct lstm_bwd {
  template <class T>
  ND_FN static void run(T a, T i, T f, T o, T before, T other, T c, T gc, T gh, T& ga, T& gi, T& gf, T& go,
                        T& gbefore) {
    const T candidate = m::tanh(a), in = logistic(i), forget = logistic(f), out = logistic(o + other);
    const T squashed = m::tanh(c);
    const T d = gh * out * (T(1) - squashed * squashed) + gc;
    ga = d * in * (T(1) - candidate * candidate);
    gi = d * candidate * in * (T(1) - in);
    gf = d * before * forget * (T(1) - forget);
    go = gh * squashed * out * (T(1) - out);
    gbefore = d * forget;
  }
};

}  // namespace catena::k
