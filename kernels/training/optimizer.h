// Folder kernels/training/: update rules and gradient hooks of optimizers, as multi-tensor bodies: one launch updates
// all parameters of a dtype. Schedules, states and hyperparameters belong to training/. May use only the headers of
// kernels/.
//
// Operands: the gradient g, the parameter p, then the states; operands behind '&' in the loop signature are updated in
// place. `hyper` lists the hyperparameters that a body reads.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::k {

// hyper: {lr}
struct sgd_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p) { p -= T(hyper[0]) * g; }
};

// hyper: {lr, momentum}
struct momentum_sgd_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& v) {
    v = T(hyper[1]) * v - T(hyper[0]) * g;
    p += v;
  }
};

// hyper: {lr, momentum, momentum^2, (1 + momentum) lr}
struct nesterov_ag_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& v) {
    v = T(hyper[1]) * v - T(hyper[0]) * g;
    p += T(hyper[2]) * v - T(hyper[3]) * g;
  }
};

// hyper: {lr, eps}
struct ada_grad_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& h) {
    h += g * g;
    p -= T(hyper[0]) * g / (m::sqrt(h) + T(hyper[1]));
  }
};

// hyper: {rho, 1 - rho, eps}
struct ada_delta_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& msg, T& msdx) {
    msg = T(hyper[0]) * msg + T(hyper[1]) * g * g;
    const T dx = m::sqrt((msdx + T(hyper[2])) / (msg + T(hyper[2]))) * g;
    msdx = T(hyper[0]) * msdx + T(hyper[1]) * dx * dx;
    p -= dx;
  }
};

// hyper: {lr_t, 1 - beta1, 1 - beta2, eps} with lr_t = alpha sqrt(1 - beta2^t) / (1 - beta1^t)
struct adam_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& m1, T& m2) {
    m1 += T(hyper[1]) * (g - m1);
    m2 += T(hyper[2]) * (g * g - m2);
    p -= T(hyper[0]) * m1 / (m::sqrt(m2) + T(hyper[3]));
  }
};

// hyper: {lr, alpha, 1 - alpha, eps}
struct rmsprop_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& ms) {
    ms = T(hyper[1]) * ms + T(hyper[2]) * g * g;
    p -= T(hyper[0]) * g / (m::sqrt(ms) + T(hyper[3]));
  }
};

// hyper: {lr, alpha, 1 - alpha, momentum, eps}
struct rmsprop_graves_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& n, T& mean, T& delta) {
    n = T(hyper[1]) * n + T(hyper[2]) * g * g;
    mean = T(hyper[1]) * mean + T(hyper[2]) * g;
    delta = T(hyper[3]) * delta - T(hyper[0]) * g / m::sqrt(n - mean * mean + T(hyper[4]));
    p += delta;
  }
};

// hyper: {lr, eps}
struct smorms3_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& mem, T& mean, T& square) {
    const T r = T(1) / (mem + T(1));
    mean = (T(1) - r) * mean + r * g;
    square = (T(1) - r) * square + r * g * g;
    const T x = mean * mean / (square + T(hyper[1]));
    const T lr = T(hyper[0]);
    p -= g * (x < lr ? x : lr) / (m::sqrt(square) + T(hyper[1]));
    mem = T(1) + mem * (T(1) - x);
  }
};

// ---- hooks, which change g ----------------------------------------------------------------------
// hyper: {rate}
struct weight_decay {
  template <class T> ND_FN static void run(const double* hyper, T p, T& g) { g += T(hyper[0]) * p; }
};

// hyper: {rate}
struct lasso {
  template <class T> ND_FN static void run(const double* hyper, T p, T& g) { g += T(hyper[0]) * sign_of(p); }
};

// The factor is an array of one element, so that the host need not read a factor computed on the device (such as from a
// norm).
struct scale_by {
  template <class T> ND_FN static void run(const double*, T factor, T& g) { g *= factor; }
};

// hyper: {lower, upper}
struct gradient_hard_clip {
  template <class T> ND_FN static void run(const double* hyper, T& g) {
    const T low = T(hyper[0]), high = T(hyper[1]);
    const T raised = g < low ? low : g;
    g = raised > high ? high : raised;
  }
};

}  // namespace catena::k
