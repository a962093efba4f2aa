// The optimizers. Hyperparameters are passed by name or in their order: Adam({.alpha = 0.01}), Adam(0.01),
// MomentumSGD(0.01, 0.9). In formulas, g is the gradient after hooks, p the parameter, t the number of the update, from
// 1.
#pragma once

#include <type_traits>

#include <catena/training/optimizer.h>

namespace training {

namespace internal {
template <class T>
concept Number = std::is_arithmetic_v<T>;
}

// Constructors from options by name, without arguments, and from hyperparameters in their order.
#define CATENA_OPTIMIZER_CONSTRUCTORS(Class) \
  explicit Class(Options o);                 \
  Class() : Class(Options{}) {}              \
  template <internal::Number... N>           \
  explicit Class(N... values) requires(sizeof...(N) > 0) : Class(Options{double(values)...}) {}

// p <- p - lr g
class CATENA_EXPORT SGD : public Optimizer {
 public:
  struct Options {
    double lr = 0.01;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(SGD)
};

// v <- momentum v - lr g;  p <- p + v.  State v.
class CATENA_EXPORT MomentumSGD : public Optimizer {
 public:
  struct Options {
    double lr = 0.01, momentum = 0.9;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(MomentumSGD)
};

// m <- m + (1 - beta1)(g - m);  v <- v + (1 - beta2)(g^2 - v);  p <- p - lr_t m / (sqrt(v) + eps), lr_t = alpha sqrt(1
// - beta2^t) / (1 - beta1^t).  States m, v.  (Kingma, Ba: Adam, arXiv:1412.6980, in the form of its section 2.)
// get_hyper("lr") returns lr_t.
class CATENA_EXPORT Adam : public Optimizer {
 public:
  struct Options {
    double alpha = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(Adam)
};

// v <- momentum v - lr g;  p <- p + momentum^2 v - (1 + momentum) lr g, with the new v.  State v.
class CATENA_EXPORT NesterovAG : public Optimizer {
 public:
  struct Options {
    double lr = 0.01, momentum = 0.9;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(NesterovAG)
};

// h <- h + g^2;  p <- p - lr g / (sqrt(h) + eps).  State h.  (Duchi et al., JMLR 12, 2011.)
class CATENA_EXPORT AdaGrad : public Optimizer {
 public:
  struct Options {
    double lr = 0.001, eps = 1e-8;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(AdaGrad)
};

// msg <- rho msg + (1 - rho) g^2;  dx = sqrt((msdx + eps) / (msg + eps)) g;  msdx <- rho msdx + (1 - rho) dx^2;  p <- p
// - dx. States msg, msdx; there is no lr.  (Zeiler, arXiv:1212.5701.)
class CATENA_EXPORT AdaDelta : public Optimizer {
 public:
  struct Options {
    double rho = 0.95, eps = 1e-6;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(AdaDelta)
};

// ms <- alpha ms + (1 - alpha) g^2;  p <- p - lr g / (sqrt(ms) + eps).  State ms.
class CATENA_EXPORT RMSprop : public Optimizer {
 public:
  struct Options {
    double lr = 0.01, alpha = 0.99, eps = 1e-8;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(RMSprop)
};

// n <- alpha n + (1 - alpha) g^2;  G <- alpha G + (1 - alpha) g;  delta <- momentum delta - lr g / sqrt(n - G^2 + eps);
// p <- p + delta.  States n, g (holds G), delta.  (Graves, arXiv:1308.0850, section 4.2.)
class CATENA_EXPORT RMSpropGraves : public Optimizer {
 public:
  struct Options {
    double lr = 1e-4, alpha = 0.95, momentum = 0.9, eps = 1e-4;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(RMSpropGraves)
};

// r = 1 / (mem + 1);  G <- (1 - r) G + r g;  g2 <- (1 - r) g2 + r g^2;  x = G^2 / (g2 + eps);
// p <- p - g min(x, lr) / (sqrt(g2) + eps);  mem <- 1 + mem (1 - x).  States mem (starts at 1), g (holds G), g2.
class CATENA_EXPORT SMORMS3 : public Optimizer {
 public:
  struct Options {
    double lr = 0.001, eps = 1e-16;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(SMORMS3)
};

#undef CATENA_OPTIMIZER_CONSTRUCTORS

}  // namespace training
