// Folder kernels/training/: update rules and gradient hooks of optimizers, as multi-tensor bodies: one launch updates
// all parameters of a dtype. Schedules, states and hyperparameters belong to training/. May use only the headers of
// kernels/.
//
// Operands: the gradient g, the parameter p, then the states; operands behind '&' in the loop signature are updated in
// place. `hyper` lists the hyperparameters that a body reads.
#pragma once

#include <catena/kernels/numeric.h>

namespace catena::k {

// The gradient of the loss plus rate |p|^2 / 2. A rate of 0 leaves the gradient of an infinite parameter as it is.
template <class T> ND_FN T with_decay(double rate, T g, T p) { return rate != 0 ? g + T(rate) * p : g; }

// hyper: {lr, weight decay}
struct sgd_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p) {
    p -= T(hyper[0]) * with_decay(hyper[1], g, p);
  }
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

// hyper: {lr_t, 1 - beta1, 1 - beta2, eps, weight decay} with lr_t = alpha sqrt(1 - beta2^t) / (1 - beta1^t)
struct adam_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& m1, T& m2) {
    g = with_decay(hyper[4], g, p);
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

// Updates the mean of squares and the mean, and returns g / (root of the variance + eps). A variance that rounding
// makes negative counts as 0. hyper as for rmsprop_update.
template <class T> ND_FN T by_deviation(const double* hyper, T g, T& ms, T& mean) {
  ms = T(hyper[1]) * ms + T(hyper[2]) * g * g;
  mean = T(hyper[1]) * mean + T(hyper[2]) * g;
  const T variance = ms - mean * mean;
  return g / (m::sqrt(variance < T(0) ? T(0) : variance) + T(hyper[3]));
}
// hyper: {lr, alpha, 1 - alpha, eps}. The variance divides instead of the mean of squares.
struct rmsprop_centered_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& ms, T& mean) {
    p -= T(hyper[0]) * by_deviation(hyper, g, ms, mean);
  }
};

// hyper: {lr, alpha, 1 - alpha, eps, momentum}
struct rmsprop_momentum_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& ms, T& v) {
    ms = T(hyper[1]) * ms + T(hyper[2]) * g * g;
    v = T(hyper[4]) * v + g / (m::sqrt(ms) + T(hyper[3]));
    p -= T(hyper[0]) * v;
  }
};
struct rmsprop_centered_momentum_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& ms, T& mean, T& v) {
    v = T(hyper[4]) * v + by_deviation(hyper, g, ms, mean);
    p -= T(hyper[0]) * v;
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

// ---- later optimizers ----------------------------------------------------------------------------
// hyper: {lr, momentum, a, b, weight decay}: a = 1, b = 0, or for Nesterov's form a = momentum, b = 1.
struct corrected_momentum_sgd_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& v) {
    g = with_decay(hyper[4], g, p);
    v = T(hyper[1]) * v - g;
    p += T(hyper[0]) * (T(hyper[2]) * v - T(hyper[3]) * g);
  }
};

// The moments of the gradient and of its square that the rules below share. hyper[1], hyper[2]: 1 - beta1, 1 - beta2.
template <class T> ND_FN void update_moments(const double* hyper, T g, T& m1, T& m2) {
  m1 += T(hyper[1]) * (g - m1);
  m2 += T(hyper[2]) * (g * g - m2);
}

// hyper: {lr_t, 1 - beta1, 1 - beta2, eps_t, decay}: the part `decay` of p is subtracted.
struct adam_w_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& m1, T& m2) {
    update_moments(hyper, g, m1, m2);
    p -= T(hyper[4]) * p + T(hyper[0]) * m1 / (m::sqrt(m2) + T(hyper[3]));
  }
};

// hyper: as for adam_w_update. The greatest second moment so far divides; NaN passes.
struct ams_grad_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& m1, T& m2, T& greatest) {
    update_moments(hyper, g, m1, m2);
    greatest = greatest >= m2 ? greatest : m2;
    p -= T(hyper[4]) * p + T(hyper[0]) * m1 / (m::sqrt(greatest) + T(hyper[3]));
  }
};

// lr_t / (sqrt(square) + eps), not less than hyper[5] and not more than hyper[6].
template <class T> ND_FN T bounded_rate(const double* hyper, T square) {
  const T rate = T(hyper[0]) / (m::sqrt(square) + T(hyper[3]));
  const T raised = rate < T(hyper[5]) ? T(hyper[5]) : rate;
  return raised > T(hyper[6]) ? T(hyper[6]) : raised;
}
// hyper: {lr_t, 1 - beta1, 1 - beta2, eps, decay, least rate, greatest rate}
struct ada_bound_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& m1, T& m2) {
    update_moments(hyper, g, m1, m2);
    p -= T(hyper[4]) * p + bounded_rate(hyper, m2) * m1;
  }
};
struct ams_bound_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& m1, T& m2, T& greatest) {
    update_moments(hyper, g, m1, m2);
    greatest = greatest >= m2 ? greatest : m2;
    p -= T(hyper[4]) * p + bounded_rate(hyper, greatest) * m1;
  }
};

// hyper: {lr / (1 - beta1^t), 1 - beta1, 1 - beta2, eps, decay, rectification}; without rectification (0) the step is
// that of a momentum method.
struct r_adam_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& m1, T& m2) {
    update_moments(hyper, g, m1, m2);
    const T adaptive = T(hyper[5]) / (m::sqrt(m2) + T(hyper[3]));
    p -= T(hyper[4]) * p + T(hyper[0]) * m1 * (hyper[5] > 0 ? adaptive : T(1));
  }
};

// hyper: {rate of g, 1 - beta1, 1 - beta2, eps_t, decay, rate of m, weight decay}
struct n_adam_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& m1, T& m2) {
    g = with_decay(hyper[6], g, p);
    update_moments(hyper, g, m1, m2);
    p -= T(hyper[4]) * p + (T(hyper[0]) * g + T(hyper[5]) * m1) / (m::sqrt(m2) + T(hyper[3]));
  }
};

// hyper: {lr / (1 - beta1^t), 1 - beta1, beta2, eps, decay}
struct adamax_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& m1, T& greatest) {
    m1 += T(hyper[1]) * (g - m1);
    const T before = T(hyper[2]) * greatest, now = m::fabs(g) + T(hyper[3]);
    greatest = before > now ? before : now;
    p -= T(hyper[4]) * p + T(hyper[0]) * m1 / greatest;
  }
};

// hyper: {lr, 1 - beta1, 1 - beta2, decay}
struct lion_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& m1) {
    p -= T(hyper[3]) * p + T(hyper[0]) * sign_of(m1 + T(hyper[1]) * (g - m1));
    m1 += T(hyper[2]) * (g - m1);
  }
};

// hyper: {lr, 1 - beta, 1 / (1 - beta^t), rho, decay}. The factor of a momentum whose variance is not known is 0.
struct msvag_update {
  template <class T> ND_FN static void run(const double* hyper, T g, T& p, T& m1, T& m2) {
    m1 += T(hyper[1]) * (g - m1);
    m2 += T(hyper[1]) * (g * g - m2);
    const T mean = m1 * T(hyper[2]), square = mean * mean;
    const T variance = (m2 * T(hyper[2]) - square) / T(1 - hyper[3]);
    const T quotient = square / (square + T(hyper[3]) * variance);
    const T factor = quotient >= T(0) ? (quotient > T(1) ? T(1) : quotient) : T(0);
    p -= T(hyper[4]) * p + T(hyper[0]) * mean * factor;
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

// ---- averages of parameters ----------------------------------------------------------------------
// hyper: {part}: average <- average + part (p - average)
struct follow {
  template <class T> ND_FN static void run(const double* hyper, T p, T& average) {
    average += T(hyper[0]) * (p - average);
  }
};

// ---- copies in another dtype, for updates of 16-bit parameters in float32 -----------------------
struct convert_tensors {
  template <class T> ND_FN static void run(const double*, T from, T& to) { to = from; }
};

}  // namespace catena::k
