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

// x multiplied by its logistic function
struct silu {
  template <class T> ND_FN static void run(T x, T& y) { y = x * logistic(x); }
};
struct silu_bwd {
  template <class T> ND_FN static void run(T x, T gy, T& gx) {
    const T s = logistic(x);
    gx = gy * (s * (T(1) + x * (T(1) - s)));
  }
};

// 1 - Phi(t) for t >= 0, where Phi is the distribution function of the normal distribution and bell = exp(-t^2 / 2). In
// float32, (1 - Phi(t)) / bell is a polynomial in 1 / (t + 4), interpolated between Chebyshev's points: its relative
// error is 4e-8. It costs less than erfc, and the exponential is needed for the derivative anyway.
ND_FN float normal_tail(float t, float bell) {
  const float w = 1.0f / (t + 4.0f);
  float p = 21825.99242f;
  p = p * w - 22384.27429f;
  p = p * w + 6802.561927f;
  p = p * w - 651.2126094f;
  p = p * w + 279.6502865f;
  p = p * w + 58.82496844f;
  p = p * w + 20.96374573f;
  p = p * w + 5.980128941f;
  p = p * w + 1.595798348f;
  p = p * w + 0.3989422441f;
  return bell * (p * w);
}
ND_FN double normal_tail(double t, double) { return 0.5 * m::erfc(t * 0.70710678118654752440); }

// x Phi(x)
struct gelu {
  template <class T> ND_FN static void run(T x, T& y) {
    const T t = m::fabs(x), tail = normal_tail(t, m::exp(T(-0.5) * t * t));
    y = x * (x < T(0) ? tail : T(1) - tail);
  }
};
struct gelu_bwd {
  template <class T> ND_FN static void run(T x, T gy, T& gx) {
    const T t = m::fabs(x), bell = m::exp(T(-0.5) * t * t), tail = normal_tail(t, bell);
    gx = gy * ((x < T(0) ? tail : T(1) - tail) + x * bell * T(0.39894228040143267794));
  }
};

// x (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3), as x logistic(2 u). Beyond 50, where the logistic
// function is 0 or 1, u is constant, so that its derivative does not overflow.
template <class T> ND_FN T within_50(T x) { return x < T(-50) ? T(-50) : (x > T(50) ? T(50) : x); }
struct gelu_tanh {
  template <class T> ND_FN static void run(T x, T& y) {
    const T z = within_50(x);
    y = x * logistic(z * (T(1.5957691216057307117) + T(0.071354816272600248764) * z * z));
  }
};
struct gelu_tanh_bwd {
  template <class T> ND_FN static void run(T x, T gy, T& gx) {
    const T z = within_50(x), cubic = T(0.071354816272600248764) * z * z;
    const T s = logistic(z * (T(1.5957691216057307117) + cubic));
    gx = gy * (s * (T(1) + (T(1) - s) * z * (T(1.5957691216057307117) + T(3) * cubic)));
  }
};

// x tanh(log(1 + e^x)) = x n / (n + q), where n = e^x (e^x + 2) and q = 2, or, for a positive x, n = 1 + 2 e^-x and
// q = 2 e^(-2x).
struct mish {
  template <class T> ND_FN static void run(T x, T& y) {
    const T e = m::exp(-m::fabs(x)), n = x < T(0) ? e * (e + T(2)) : T(1) + T(2) * e;
    y = x * (n / (n + (x < T(0) ? T(2) : T(2) * e * e)));
  }
};
struct mish_bwd {
  template <class T> ND_FN static void run(T x, T gy, T& gx) {
    const T e = m::exp(-m::fabs(x)), n = x < T(0) ? e * (e + T(2)) : T(1) + T(2) * e;
    const T q = x < T(0) ? T(2) : T(2) * e * e, all = n + q, t = n / all;
    const T s = (x < T(0) ? e : T(1)) / (T(1) + e);
    gx = gy * (t + x * s * ((q / all) * (T(1) + t)));
  }
};

// x min(max(x + 3, 0), 6) / 6
struct hard_swish {
  template <class T> ND_FN static void run(T x, T& y) {
    const T gate = x + T(3), raised = gate < T(0) ? T(0) : gate;
    y = x * ((raised > T(6) ? T(6) : raised) / T(6));
  }
};
struct hard_swish_bwd {
  template <class T> ND_FN static void run(T x, T gy, T& gx) {
    const T inner = gy * (x / T(3) + T(0.5));
    gx = x >= T(3) ? gy : (x <= T(-3) ? T(0) : inner);
  }
};

// scale x where x >= 0, else below (e^x - 1)
struct scaled_elu {
  template <class T> ND_FN static void run(T x, T scale, T below, T& y) {
    const T negative = below * m::expm1(x);
    y = x >= T(0) ? scale * x : negative;
  }
};
struct scaled_elu_bwd {
  template <class T> ND_FN static void run(T x, T gy, T scale, T below, T& gx) {
    const T negative = below * m::exp(x);
    gx = gy * (x >= T(0) ? scale : negative);
  }
};

}  // namespace catena::k
