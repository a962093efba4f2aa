// The optimizers. Hyperparameters are given by name or in their order: Adam({.alpha = 0.01}), Adam(0.01),
// MomentumSGD(0.01, 0.9). Formulas: g is the gradient after hooks, p the parameter, t the number of the update, from 1.
#pragma once

#include <type_traits>

#include <catena/training/optimizer.h>

namespace training {

namespace internal {
template <class T>
concept Number = std::is_arithmetic_v<T>;
}

// p <- p - lr g
class CATENA_EXPORT SGD : public Optimizer {
 public:
  struct Options {
    double lr = 0.01;
  };
  explicit SGD(Options o);
  SGD() : SGD(Options{}) {}
  template <internal::Number... N>
  requires(sizeof...(N) > 0) explicit SGD(N... values) : SGD(Options{double(values)...}) {}
};

// v <- momentum v - lr g;  p <- p + v.  State v.
class CATENA_EXPORT MomentumSGD : public Optimizer {
 public:
  struct Options {
    double lr = 0.01, momentum = 0.9;
  };
  explicit MomentumSGD(Options o);
  MomentumSGD() : MomentumSGD(Options{}) {}
  template <internal::Number... N>
  requires(sizeof...(N) > 0) explicit MomentumSGD(N... values) : MomentumSGD(Options{double(values)...}) {}
};

// m <- m + (1 - beta1)(g - m);  v <- v + (1 - beta2)(g^2 - v);  p <- p - lr_t m / (sqrt(v) + eps),
// lr_t = alpha sqrt(1 - beta2^t) / (1 - beta1^t).  States m, v.  (Kingma, Ba: Adam, arXiv:1412.6980, the form of its
// section 2.) get_hyper("lr") gives lr_t.
class CATENA_EXPORT Adam : public Optimizer {
 public:
  struct Options {
    double alpha = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  };
  explicit Adam(Options o);
  Adam() : Adam(Options{}) {}
  template <internal::Number... N>
  requires(sizeof...(N) > 0) explicit Adam(N... values) : Adam(Options{double(values)...}) {}
};

// v <- momentum v - lr g;  p <- p + momentum^2 v - (1 + momentum) lr g, with the new v.  State v.
class CATENA_EXPORT NesterovAG : public Optimizer {
 public:
  struct Options {
    double lr = 0.01, momentum = 0.9;
  };
  explicit NesterovAG(Options o);
  NesterovAG() : NesterovAG(Options{}) {}
  template <internal::Number... N>
  requires(sizeof...(N) > 0) explicit NesterovAG(N... values) : NesterovAG(Options{double(values)...}) {}
};

// h <- h + g^2;  p <- p - lr g / (sqrt(h) + eps).  State h.  (Duchi et al., JMLR 12, 2011.)
class CATENA_EXPORT AdaGrad : public Optimizer {
 public:
  struct Options {
    double lr = 0.001, eps = 1e-8;
  };
  explicit AdaGrad(Options o);
  AdaGrad() : AdaGrad(Options{}) {}
  template <internal::Number... N>
  requires(sizeof...(N) > 0) explicit AdaGrad(N... values) : AdaGrad(Options{double(values)...}) {}
};

// msg <- rho msg + (1 - rho) g^2;  dx = sqrt((msdx + eps) / (msg + eps)) g;  msdx <- rho msdx + (1 - rho) dx^2;  p <- p
// - dx. States msg, msdx; there is no lr.  (Zeiler, arXiv:1212.5701.)
class CATENA_EXPORT AdaDelta : public Optimizer {
 public:
  struct Options {
    double rho = 0.95, eps = 1e-6;
  };
  explicit AdaDelta(Options o);
  AdaDelta() : AdaDelta(Options{}) {}
  template <internal::Number... N>
  requires(sizeof...(N) > 0) explicit AdaDelta(N... values) : AdaDelta(Options{double(values)...}) {}
};

// ms <- alpha ms + (1 - alpha) g^2;  p <- p - lr g / (sqrt(ms) + eps).  State ms.
class CATENA_EXPORT RMSprop : public Optimizer {
 public:
  struct Options {
    double lr = 0.01, alpha = 0.99, eps = 1e-8;
  };
  explicit RMSprop(Options o);
  RMSprop() : RMSprop(Options{}) {}
  template <internal::Number... N>
  requires(sizeof...(N) > 0) explicit RMSprop(N... values) : RMSprop(Options{double(values)...}) {}
};

// n <- alpha n + (1 - alpha) g^2;  G <- alpha G + (1 - alpha) g;  delta <- momentum delta - lr g / sqrt(n - G^2 + eps);
// p <- p + delta.  States n, g (holds G), delta.  (Graves, arXiv:1308.0850, section 4.2.)
class CATENA_EXPORT RMSpropGraves : public Optimizer {
 public:
  struct Options {
    double lr = 1e-4, alpha = 0.95, momentum = 0.9, eps = 1e-4;
  };
  explicit RMSpropGraves(Options o);
  RMSpropGraves() : RMSpropGraves(Options{}) {}
  template <internal::Number... N>
  requires(sizeof...(N) > 0) explicit RMSpropGraves(N... values) : RMSpropGraves(Options{double(values)...}) {}
};

// r = 1 / (mem + 1);  G <- (1 - r) G + r g;  g2 <- (1 - r) g2 + r g^2;  x = G^2 / (g2 + eps);
// p <- p - g min(x, lr) / (sqrt(g2) + eps);  mem <- 1 + mem (1 - x).  States mem (starts at 1), g (holds G), g2.
class CATENA_EXPORT SMORMS3 : public Optimizer {
 public:
  struct Options {
    double lr = 0.001, eps = 1e-16;
  };
  explicit SMORMS3(Options o);
  SMORMS3() : SMORMS3(Options{}) {}
  template <internal::Number... N>
  requires(sizeof...(N) > 0) explicit SMORMS3(N... values) : SMORMS3(Options{double(values)...}) {}
};

}  // namespace training
