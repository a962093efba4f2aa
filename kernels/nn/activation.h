// Folder kernels/nn/: bodies of neural networks, of all kinds of kernels: activations, cells, dropout, patches of
// images, losses, normalization, pooling and softmax, with their gradients. Update rules of optimizers are in
// kernels/training.
//
// Activations and their gradients. Gradients use values that the framework keeps anyway: the input x or the output y.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::k {

// 1 / (1 + e^-x). Computes the exponential of a negative number, which never overflows, and adds terms of one sign: the
// error is a few units in the last place for every x.
template <class T> ND_FN T logistic(T x) {
  const T e = m::exp(-m::fabs(x));
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}

struct relu {
  template <class T> ND_FN static void run(T x, T& y) { y = x < T(0) ? T(0) : x; }
};  // NaN passes
struct relu_bwd {
  template <class T> ND_FN static void run(T y, T gy, T& gx) { gx = y > T(0) ? gy : T(0); }
};

// The subgradient is 0 at both kinks.
struct clipped_relu {
  template <class T> ND_FN static void run(T x, T cap, T& y) {
    const T positive = x < T(0) ? T(0) : x;
    y = positive > cap ? cap : positive;
  }
};
struct clipped_relu_bwd {
  template <class T> ND_FN static void run(T x, T cap, T gy, T& gx) { gx = (x > T(0)) & (x < cap) ? gy : T(0); }
};

struct sigmoid {
  template <class T> ND_FN static void run(T x, T& y) { y = logistic(x); }
};
struct sigmoid_bwd {
  template <class T> ND_FN static void run(T y, T gy, T& gx) { gx = gy * y * (T(1) - y); }
};
struct tanh_bwd {
  template <class T> ND_FN static void run(T y, T gy, T& gx) { gx = gy * (T(1) - y * y); }
};

// A selection instead of a maximum, so any slope works. 0 counts as positive.
struct leaky_relu {
  template <class T> ND_FN static void run(T x, T slope, T& y) { y = x >= T(0) ? x : slope * x; }
};
struct leaky_relu_bwd {
  template <class T> ND_FN static void run(T x, T slope, T gy, T& gx) { gx = x >= T(0) ? gy : slope * gy; }
};

struct elu {
  template <class T> ND_FN static void run(T x, T alpha, T& y) {
    const T below = alpha * m::expm1(x);
    y = x >= T(0) ? x : below;
  }
};
// The larger factor is multiplied by the exponential first: otherwise a small factor would lose its digits before the
// larger one restores its size.
struct elu_bwd {
  template <class T> ND_FN static void run(T x, T alpha, T gy, T& gx) {
    const bool first = m::fabs(gy) > m::fabs(alpha);
    const T below = ((first ? gy : alpha) * m::exp(x)) * (first ? alpha : gy);
    gx = x >= T(0) ? gy : below;
  }
};

// log(1 + e^(beta x)) / beta
struct softplus {
  template <class T> ND_FN static void run(T x, T beta, T& y) {
    const T bx = beta * x;
    y = ((bx < T(0) ? T(0) : bx) + m::log1p(m::exp(-m::fabs(bx)))) / beta;
  }
};
struct softplus_bwd {
  template <class T> ND_FN static void run(T x, T beta, T gy, T& gx) { gx = gy * logistic(beta * x); }
};

struct hard_sigmoid {
  template <class T> ND_FN static void run(T x, T& y) {
    const T line = x * T(0.2) + T(0.5);
    const T raised = line < T(0) ? T(0) : line;
    y = raised > T(1) ? T(1) : raised;
  }
};
struct hard_sigmoid_bwd {
  template <class T> ND_FN static void run(T x, T gy, T& gx) { gx = m::fabs(x) < T(2.5) ? gy * T(0.2) : T(0); }
};

}  // namespace catena::k
