// The optimizers. Hyperparameters are passed by name or in their order: Adam({.alpha = 0.01}), Adam(0.01),
// MomentumSGD(0.01, 0.9). In formulas, g is the gradient after hooks, p the parameter, t the number of the update, from
// 1.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/training/optimizer.h>

namespace training {

namespace internal {
template <class T>
concept Number = std::is_arithmetic_v<T>;
template <class T>
concept ParameterList = std::is_same_v<T, Variables> || std::is_same_v<T, std::vector<Variable>>;
template <class T>
concept GroupList = std::is_same_v<T, std::vector<ParamGroupOptions>>;
}  // namespace internal

// PyTorch's choices between implementations: foreach, fused, capturable and differentiable. They have no effect: one
// launch updates all parameters of a dtype, and an update is no part of a graph.
using Implementation = std::optional<bool>;

// Constructors from options by name, without arguments, and from hyperparameters in their order. With a model, a list
// of parameters or groups of them, setup() is called:
//   Adam(model, {.alpha = 0.01});
//   Adam(model.parameters());
//   Adam({w, b}, {.alpha = 0.01});                                 // of variables
//   Adam({{.params = model.body.parameters(), .lr = 1e-4}, {.params = model.head.parameters()}}, {.alpha = 0.01});
#define CATENA_OPTIMIZER_CONSTRUCTORS_ONLY(Class)                                                                     \
  explicit Class(Options o);                                                                                          \
  Class() : Class(Options{}) {}                                                                                       \
  explicit Class(Link& target) : Class() { setup(target); }                                                           \
  Class(Link& target, Options o) : Class(o) { setup(target); }                                                        \
  template <internal::ParameterList P> explicit Class(const P& params) : Class() { setup(params); }                   \
  template <internal::ParameterList P> Class(const P& params, Options o) : Class(o) { setup(params); }                \
  Class(std::initializer_list<Variable> params, Options o) : Class(o) { setup(Variables(params)); }                   \
  template <std::size_t N> explicit Class(const ParamGroupOptions(&groups)[N]) : Class() { setup_groups(groups); }    \
  template <std::size_t N> Class(const ParamGroupOptions(&groups)[N], Options o) : Class(o) { setup_groups(groups); } \
  template <internal::GroupList G> explicit Class(const G& groups) : Class() { setup_groups(groups); }                \
  template <internal::GroupList G> Class(const G& groups, Options o) : Class(o) { setup_groups(groups); }             \
  template <internal::Number... N>                                                                                    \
  explicit Class(N... values) requires(sizeof...(N) > 0) : Class(Options{double(values)...}) {}                       \
  template <internal::Number... N>                                                                                    \
  Class(Link& target, N... values) requires(sizeof...(N) > 0) : Class(target, Options{double(values)...}) {}          \
  template <internal::ParameterList P, internal::Number... N>                                                         \
  Class(const P& params, N... values) requires(sizeof...(N) > 0) : Class(params, Options{double(values)...}) {}
// The constructors, and setup() of a temporary optimizer, which returns an optimizer with its hyperparameters, for
// Chainer's expression: auto optimizer = Adam().setup(model).
#define CATENA_OPTIMIZER_CONSTRUCTORS(Class)                                                \
  CATENA_OPTIMIZER_CONSTRUCTORS_ONLY(Class)                                                 \
  using Optimizer::setup;                                                                   \
  Class setup(Link& target)&& { return Class(std::move(*this), target); }                   \
  Class setup(const Variables& params)&& { return Class(std::move(*this), params); }        \
                                                                                            \
 private:                                                                                   \
  template <class T> Class(Class&& o, T& target) : Optimizer(o, nullptr) { setup(target); } \
                                                                                            \
 public:
// The same from PyTorch's options. They are templates, because a list such as {.eps = 1e-6} that suits both kinds of
// options is then one of Options.
#define CATENA_TORCH_CONSTRUCTORS(Class)                                                                   \
  template <std::same_as<TorchOptions> O = TorchOptions> explicit Class(const O& o) : Class(Options(o)) {} \
  template <std::same_as<TorchOptions> O = TorchOptions>                                                   \
  Class(Link& target, const O& o) : Class(target, Options(o)) {}                                           \
  template <internal::ParameterList P, std::same_as<TorchOptions> O = TorchOptions>                        \
  Class(const P& params, const O& o) : Class(params, Options(o)) {}                                        \
  template <std::same_as<TorchOptions> O = TorchOptions>                                                   \
  Class(std::initializer_list<Variable> params, const O& o) : Class(params, Options(o)) {}                 \
  template <internal::GroupList G, std::same_as<TorchOptions> O = TorchOptions>                            \
  Class(const G& groups, const O& o) : Class(groups, Options(o)) {}                                        \
  template <std::size_t N, std::same_as<TorchOptions> O = TorchOptions>                                    \
  Class(const ParamGroupOptions(&groups)[N], const O& o) : Class(groups, Options(o)) {}

// p <- p - lr g. With momentum, that of CorrectedMomentumSGD, as in PyTorch: state v. With the hyperparameter
// weight_decay, g + weight_decay p stands in place of g, after the hooks. With dampening, v <- momentum v - (1 -
// dampening) g after the first update. maximize goes up the gradient, here and below. ValueError for nesterov without
// momentum or with dampening.
struct CATENA_EXPORT SGD : Optimizer {
  struct Options {  // in PyTorch's order
    double lr = 0.01, momentum = 0, dampening = 0, weight_decay = 0;
    bool nesterov = false, maximize = false;
    Implementation foreach = {}, differentiable = {}, fused = {};
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(SGD)
  HyperReference momentum{*this, "momentum"};

 protected:
  void update_one(Variable& param, std::span<Array> states) override;  // with dampening
};

// v <- momentum v - lr g;  p <- p + v.  State v.
struct CATENA_EXPORT MomentumSGD : Optimizer {
  struct Options {
    double lr = 0.01, momentum = 0.9;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(MomentumSGD)
  HyperReference momentum{*this, "momentum"};
};

// Where eps stands in Adam and its descendants, and how these decay weights.
//   pytorch: p <- p - alpha weight_decay_rate p;  p <- p - alpha (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
//   chainer: p <- p - weight_decay_rate p - lr_t m / (sqrt(v) + eps), lr_t = alpha sqrt(1 - beta2^t) / (1 - beta1^t)
// Both right sides, but for p itself, are multiplied by eta.
enum class AdamConvention { pytorch, chainer };

// m <- m + (1 - beta1)(g - m);  v <- v + (1 - beta2)(g^2 - v);  p <- p - lr_t m / (sqrt(v) + eps), lr_t = alpha sqrt(1
// - beta2^t) / (1 - beta1^t).  States m, v.  (Kingma, Ba: Adam, arXiv:1412.6980, in the form of its section 2.)
// get_hyper("lr") returns lr_t. With the hyperparameter weight_decay, g + weight_decay p stands in place of g, after
// the hooks.
//
// TorchOptions are PyTorch's, with its convention: Adam(model, {.lr = 1e-3, .betas = {0.9, 0.99}}). lr is alpha.
struct CATENA_EXPORT Adam : Optimizer {
  struct Options {
    double alpha = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
    AdamConvention convention = AdamConvention::chainer;
    bool amsgrad = false;  // the denominator of AMSGrad
    bool maximize = false;
  };
  struct TorchOptions {
    double lr = 0.001;
    std::pair<double, double> betas = {0.9, 0.999};
    double eps = 1e-8, weight_decay = 0;
    bool amsgrad = false;
    Implementation foreach = {};
    bool maximize = false;
    Implementation capturable = {}, differentiable = {}, fused = {};
    operator Options() const {
      return {.alpha = lr,
              .beta1 = betas.first,
              .beta2 = betas.second,
              .eps = eps,
              .weight_decay = weight_decay,
              .convention = AdamConvention::pytorch,
              .amsgrad = amsgrad,
              .maximize = maximize};
    }
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(Adam)
  CATENA_TORCH_CONSTRUCTORS(Adam)
  HyperReference alpha{*this, "alpha"};
};

// v <- momentum v - lr g;  p <- p + momentum^2 v - (1 + momentum) lr g, with the new v.  State v.
struct CATENA_EXPORT NesterovAG : Optimizer {
  struct Options {
    double lr = 0.01, momentum = 0.9;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(NesterovAG)
  HyperReference momentum{*this, "momentum"};
};

// h <- h + g^2;  p <- p - lr g / (sqrt(h) + eps).  State h.  (Duchi et al., JMLR 12, 2011.)
struct CATENA_EXPORT AdaGrad : Optimizer {
  struct Options {
    double lr = 0.001, eps = 1e-8;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(AdaGrad)
};

// msg <- rho msg + (1 - rho) g^2;  dx = sqrt((msdx + eps) / (msg + eps)) g;  msdx <- rho msdx + (1 - rho) dx^2;  p <- p
// - dx. States msg, msdx; there is no lr.  (Zeiler, arXiv:1212.5701.)
struct CATENA_EXPORT AdaDelta : Optimizer {
  struct Options {
    double rho = 0.95, eps = 1e-6;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(AdaDelta)
};

// ms <- alpha ms + (1 - alpha) g^2;  p <- p - lr g / (sqrt(ms) + eps).  State ms. With centered, the estimated variance
// ms - mg^2 stands in place of ms, mg <- alpha mg + (1 - alpha) g being a second state. With a momentum other than 0,
// v <- momentum v + g / (sqrt(ms) + eps);  p <- p - lr v; only then is momentum a hyperparameter (else a KeyError), and
// v the last state. With a weight_decay other than 0, which is a hyperparameter only then, g + weight_decay p becomes
// the gradient before the step. All as in PyTorch.
struct CATENA_EXPORT RMSprop : Optimizer {
  struct Options {  // in PyTorch's order
    double lr = 0.01, alpha = 0.99, eps = 1e-8, weight_decay = 0, momentum = 0;
    bool centered = false;
    Implementation capturable = {}, foreach = {};
    bool maximize = false;
    Implementation differentiable = {};
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(RMSprop)
  HyperReference momentum{*this, "momentum"};
};

// n <- alpha n + (1 - alpha) g^2;  G <- alpha G + (1 - alpha) g;  delta <- momentum delta - lr g / sqrt(n - G^2 + eps);
// p <- p + delta.  States n, g (holds G), delta.  (Graves, arXiv:1308.0850, section 4.2.)
struct CATENA_EXPORT RMSpropGraves : Optimizer {
  struct Options {
    double lr = 1e-4, alpha = 0.95, momentum = 0.9, eps = 1e-4;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(RMSpropGraves)
};

// r = 1 / (mem + 1);  G <- (1 - r) G + r g;  g2 <- (1 - r) g2 + r g^2;  x = G^2 / (g2 + eps);
// p <- p - g min(x, lr) / (sqrt(g2) + eps);  mem <- 1 + mem (1 - x).  States mem (starts at 1), g (holds G), g2.
struct CATENA_EXPORT SMORMS3 : Optimizer {
  struct Options {
    double lr = 0.001, eps = 1e-16;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(SMORMS3)
};

// ---- later than Chainer 1.24 ----
// v <- momentum v - g;  p <- p + lr v, or with nesterov: p <- p + lr (momentum v - g).  State v. The same steps as
// PyTorch's SGD(momentum, nesterov): a new lr counts at once.
struct CATENA_EXPORT CorrectedMomentumSGD : Optimizer {
  struct Options {
    double lr = 0.01, momentum = 0.9;
    bool nesterov = false;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(CorrectedMomentumSGD)
  HyperReference momentum{*this, "momentum"};
};

// Adam with decoupled weight decay. States m, v.  (Loshchilov, Hutter: arXiv:1711.05101.) get_hyper("lr") returns
// Adam's lr_t. TorchOptions are PyTorch's: AdamW(model, {.lr = 1e-3, .weight_decay = 0.1}).
struct CATENA_EXPORT AdamW : Optimizer {
  struct Options {
    double alpha = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay_rate = 0.01, eta = 1;
    AdamConvention convention = AdamConvention::pytorch;
    bool amsgrad = false;  // as AMSGrad
    bool maximize = false;
  };
  struct TorchOptions {
    double lr = 0.001;  // alpha
    std::pair<double, double> betas = {0.9, 0.999};
    double eps = 1e-8, weight_decay = 0.01;  // weight_decay_rate
    bool amsgrad = false;
    Implementation foreach = {};
    bool maximize = false;
    Implementation capturable = {}, differentiable = {}, fused = {};
    operator Options() const {
      return {.alpha = lr,
              .beta1 = betas.first,
              .beta2 = betas.second,
              .eps = eps,
              .weight_decay_rate = weight_decay,
              .amsgrad = amsgrad,
              .maximize = maximize};
    }
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(AdamW)
  CATENA_TORCH_CONSTRUCTORS(AdamW)
  HyperReference alpha{*this, "alpha"};
};

// AdamW whose denominator is the greatest v so far: never smaller again.  States m, v, vhat.  (Reddi et al.: On the
// convergence of Adam and beyond, ICLR 2018.)
struct CATENA_EXPORT AMSGrad : Optimizer {
  struct Options {
    double alpha = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay_rate = 0, eta = 1;
    AdamConvention convention = AdamConvention::pytorch;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(AMSGrad)
  HyperReference alpha{*this, "alpha"};
};

// Adam whose rate lr_t / (sqrt(v) + eps) lies between final_lr (1 - 1 / (gamma t + 1)) and final_lr (1 + 1 / (gamma
// t)), both times alpha / initial_alpha: from Adam to SGD in the course of training. AMSBound has AMSGrad's
// denominator. initial_alpha is alpha at the start, that of a parameter group for its parameters, unless given; a
// schedule of alpha then scales the bounds as well. States m, v (and vhat).  (Luo et al.: arXiv:1902.09843.)
struct CATENA_EXPORT AdaBound : Optimizer {
  struct Options {
    double alpha = 0.001, beta1 = 0.9, beta2 = 0.999, final_lr = 0.1, gamma = 0.001, eps = 1e-8, weight_decay_rate = 0,
           initial_alpha = 0;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(AdaBound)
  HyperReference alpha{*this, "alpha"};
};
struct CATENA_EXPORT AMSBound : Optimizer {
  using Options = AdaBound::Options;
  CATENA_OPTIMIZER_CONSTRUCTORS(AMSBound)
  HyperReference alpha{*this, "alpha"};
};

// Adam whose adaptive rate is rectified by its variance, and which is a momentum method in the first steps.  Decay as
// in PyTorch's AdamW. States m, v.  (Liu et al.: arXiv:1908.03265.)
// weight_decay is that of RMSprop, unless PyTorch's decoupled_weight_decay makes it weight_decay_rate.
struct CATENA_EXPORT RAdam : Optimizer {
  struct Options {
    double alpha = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay_rate = 0, weight_decay = 0;
    bool maximize = false;
  };
  struct TorchOptions {
    double lr = 0.001;
    std::pair<double, double> betas = {0.9, 0.999};
    double eps = 1e-8, weight_decay = 0;
    bool decoupled_weight_decay = false;
    Implementation foreach = {};
    bool maximize = false;
    Implementation capturable = {}, differentiable = {};
    operator Options() const {
      const double rate = decoupled_weight_decay ? weight_decay : 0;
      return {lr, betas.first, betas.second, eps, rate, weight_decay - rate, maximize};
    }
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(RAdam)
  CATENA_TORCH_CONSTRUCTORS(RAdam)
  HyperReference alpha{*this, "alpha"};
};

// Adam with Nesterov's momentum:  m, v as in Adam;  mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2), M_t = mu_1 ...
// mu_t; p <- p - alpha ((1 - mu_t) / (1 - M_t) g + mu_{t+1} / (1 - M_{t+1}) m) / (sqrt(v / (1 - beta2^t)) + eps).
// States m, v. weight_decay p is added to g, after the hooks; weight_decay_rate decays as in PyTorch's AdamW. M_t is
// computed from the present beta1 and momentum_decay, also after these were changed. (Dozat 2016, in PyTorch's form.)
struct CATENA_EXPORT NAdam : Optimizer {
  struct Options {
    double alpha = 0.002, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0, momentum_decay = 0.004,
           weight_decay_rate = 0;
    bool maximize = false;
  };
  struct TorchOptions {
    double lr = 0.002;
    std::pair<double, double> betas = {0.9, 0.999};
    double eps = 1e-8, weight_decay = 0, momentum_decay = 0.004;
    bool decoupled_weight_decay = false;  // weight_decay is weight_decay_rate
    Implementation foreach = {};
    bool maximize = false;
    Implementation capturable = {}, differentiable = {};
    operator Options() const {
      return {.alpha = lr,
              .beta1 = betas.first,
              .beta2 = betas.second,
              .eps = eps,
              .weight_decay = decoupled_weight_decay ? 0 : weight_decay,
              .momentum_decay = momentum_decay,
              .weight_decay_rate = decoupled_weight_decay ? weight_decay : 0,
              .maximize = maximize};
    }
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(NAdam)
  CATENA_TORCH_CONSTRUCTORS(NAdam)
  HyperReference alpha{*this, "alpha"};
};

// m as in Adam;  u <- max(beta2 u, |g| + eps);  p <- p - alpha / (1 - beta1^t) m / u.  Decay as in PyTorch's AdamW.
// States m, u. weight_decay is that of RMSprop.  (Kingma, Ba: arXiv:1412.6980, section 7.)
struct CATENA_EXPORT Adamax : Optimizer {
  struct Options {
    double alpha = 0.002, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay_rate = 0, weight_decay = 0;
    bool maximize = false;
  };
  struct TorchOptions {
    double lr = 0.002;
    std::pair<double, double> betas = {0.9, 0.999};
    double eps = 1e-8, weight_decay = 0;
    Implementation foreach = {};
    bool maximize = false;
    Implementation differentiable = {}, capturable = {};
    operator Options() const { return {lr, betas.first, betas.second, eps, 0, weight_decay, maximize}; }
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(Adamax)
  CATENA_TORCH_CONSTRUCTORS(Adamax)
  HyperReference alpha{*this, "alpha"};
};

// Momentum whose steps are longer where the gradients vary less:  m <- m + (1 - beta)(g - m);
// v <- v + (1 - beta)(g^2 - v);  M = m / (1 - beta^t), V = v / (1 - beta^t);  s = (V - M^2) / (1 - rho);
// p <- p - eta (lr M (M^2 / (M^2 + rho s)) + weight_decay_rate p), where the quotient is limited to [0, 1], and
// rho = min((1 - beta)^2 (1 - beta^2t) / ((1 - beta^t)^2 (1 - beta^2)), 0.9999).  States m, v.  (Balles, Hennig:
// arXiv:1705.07774, in Chainer's form.)
struct CATENA_EXPORT MSVAG : Optimizer {
  struct Options {
    double lr = 0.1, beta = 0.9, eta = 1, weight_decay_rate = 0;
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(MSVAG)
};

// p <- p - lr weight_decay_rate p - lr sign(beta1 m + (1 - beta1) g);  m <- beta2 m + (1 - beta2) g.  State m.  (Chen
// et al.: arXiv:2302.06675.)
struct CATENA_EXPORT Lion : Optimizer {
  struct Options {
    double lr = 1e-4, beta1 = 0.9, beta2 = 0.99, weight_decay_rate = 0;
  };
  struct TorchOptions {
    double lr = 1e-4;
    std::pair<double, double> betas = {0.9, 0.99};
    double weight_decay = 0;  // weight_decay_rate
    operator Options() const {
      return {.lr = lr, .beta1 = betas.first, .beta2 = betas.second, .weight_decay_rate = weight_decay};
    }
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(Lion)
  CATENA_TORCH_CONSTRUCTORS(Lion)
};

// ---- steps that depend on the whole parameter: on its norm, its rows and columns, or its singular values ----
// They are programs of array functions on one parameter after the other, on its device, without waiting for it. They
// compute in float32 for 16-bit parameters, and so are their states. They cannot be captured.

// Adam's direction, scaled to the norm of the parameter:  m, v as in Adam;
// u = (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps) + weight_decay_rate p;  p <- p - alpha (|p| / |u|) u, where
// the quotient is 1 if a norm is 0.  States m, v.  (You et al.: arXiv:1904.00962.)
struct CATENA_EXPORT LAMB : Optimizer {
  struct Options {
    double alpha = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-6, weight_decay_rate = 0.01;
  };
  struct TorchOptions {
    double lr = 0.001;
    std::pair<double, double> betas = {0.9, 0.999};
    double eps = 1e-6, weight_decay = 0.01;  // weight_decay_rate
    operator Options() const {
      return {.alpha = lr, .beta1 = betas.first, .beta2 = betas.second, .eps = eps, .weight_decay_rate = weight_decay};
    }
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(LAMB)
  CATENA_TORCH_CONSTRUCTORS(LAMB)
  HyperReference alpha{*this, "alpha"};

 protected:
  void init_state(const Variable& param, std::span<Array> states) override;
  void update_one(Variable& param, std::span<Array> states) override;
};

// Second moments of matrices by the means of their rows and columns, so that a state has n + m elements instead of n m;
// the rate is relative to the root of the mean square of p. The last two axes are those of the matrix; a parameter of
// rank 0 or 1 has moments of its elements.  States row and column (row alone for rank 0 and 1).  (Shazeer, Stern:
// arXiv:1804.04235; the steps are those of PyTorch's Adafactor.)
struct CATENA_EXPORT Adafactor : Optimizer {
  struct Options {
    double lr = 0.01;
    double beta2_decay = -0.8;  // beta2 = 1 - t^beta2_decay
    double eps1 = 0;            // least root of a second moment; 0: the distance from 1 to the next number of the dtype
    double eps2 = 1e-3;         // least root of the mean square of p in the rate
    double d = 1;               // greatest root of the mean square of an update
    double weight_decay_rate = 0;
  };
  struct TorchOptions {
    double lr = 0.01, beta2_decay = -0.8;
    std::pair<std::optional<double>, double> eps = {std::nullopt, 1e-3};  // eps1, eps2
    double d = 1, weight_decay = 0;                                       // weight_decay_rate
    Implementation foreach = {};
    operator Options() const {
      return {.lr = lr,
              .beta2_decay = beta2_decay,
              .eps1 = eps.first.value_or(0),
              .eps2 = eps.second,
              .d = d,
              .weight_decay_rate = weight_decay};
    }
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(Adafactor)
  CATENA_TORCH_CONSTRUCTORS(Adafactor)

 protected:
  void init_state(const Variable& param, std::span<Array> states) override;
  void update_one(Variable& param, std::span<Array> states) override;
};

// Momentum whose steps for matrices are made nearly orthogonal by five Newton-Schulz iterations:
// m <- momentum m + (1 - momentum) g;  u = g + momentum (m - g), or m without nesterov;
// p <- p - lr weight_decay_rate p - lr sqrt(max(1, rows / columns)) NewtonSchulz(u).
// Axes after the first one are the columns. Parameters of rank 0 and 1 are updated as by AdamW with the rate adam_alpha
// and the betas 0.9 and 0.95.  States m, v (empty for matrices).  (Jordan et al.,
// https://kellerjordan.github.io/posts/muon.)
struct CATENA_EXPORT Muon : Optimizer {
  struct Options {
    double lr = 0.02, momentum = 0.95, weight_decay_rate = 0.1, adam_alpha = 3e-4;
    bool nesterov = true;
  };
  struct TorchOptions {
    double lr = 1e-3, weight_decay = 0.1, momentum = 0.95;  // weight_decay_rate
    bool nesterov = true;
    operator Options() const {
      return {.lr = lr, .momentum = momentum, .weight_decay_rate = weight_decay, .nesterov = nesterov};
    }
  };
  CATENA_OPTIMIZER_CONSTRUCTORS_ONLY(Muon)
  CATENA_TORCH_CONSTRUCTORS(Muon)

 protected:
  void init_state(const Variable& param, std::span<Array> states) override;
  void update_one(Variable& param, std::span<Array> states) override;

 private:
  bool nesterov_;
};

// ---- PyTorch's names, defaults and order of hyperparameters ----
// AdaGrad with the rate lr / (1 + (t - 1) lr_decay), and states that begin with initial_accumulator_value. weight_decay
// is that of RMSprop.
struct CATENA_EXPORT Adagrad : Optimizer {
  struct Options {
    double lr = 0.01, lr_decay = 0, weight_decay = 0, initial_accumulator_value = 0, eps = 1e-10;
    Implementation foreach = {};
    bool maximize = false;
    Implementation differentiable = {}, fused = {};
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(Adagrad)
};

// The rules below are programs of array functions, as those that depend on a whole parameter. They compute in float32
// for 16-bit parameters, keep their states in it, and cannot be captured. weight_decay p is added to the gradient.

// AdaDelta with a rate: p <- p - lr dx.  States msg, msdx.
struct CATENA_EXPORT Adadelta : Optimizer {
  struct Options {
    double lr = 1, rho = 0.9, eps = 1e-6, weight_decay = 0;
    Implementation foreach = {}, capturable = {};
    bool maximize = false;
    Implementation differentiable = {};
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(Adadelta)

 protected:
  void init_state(const Variable& param, std::span<Array> states) override;
  void update_one(Variable& param, std::span<Array> states) override;
};

// Steps whose size depends on the sign of the gradient alone: p <- p - step sign(g). While the sign stays, step <- step
// etas.second; where it has changed, step <- step etas.first and the element is left as it is; steps stay within
// step_sizes and begin with lr. States prev, step.  (Riedmiller, Braun 1993, in PyTorch's form.)
struct CATENA_EXPORT Rprop : Optimizer {
  struct Options {
    double lr = 0.01;
    std::pair<double, double> etas = {0.5, 1.2}, step_sizes = {1e-6, 50};
    Implementation capturable = {}, foreach = {};
    bool maximize = false;
    Implementation differentiable = {};
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(Rprop)

 protected:
  void init_state(const Variable& param, std::span<Array> states) override;
  void update_one(Variable& param, std::span<Array> states) override;
};

// SGD with the rate eta = lr / (1 + lambd lr (t - 1))^alpha and the decay 1 - lambd eta, and the mean of the parameters
// from update t0 on: ax <- ax + (p - ax) / max(1, t - 1 - t0). State ax; states("/path")[0] is the mean. A new lr
// counts at once.  (Polyak, Juditsky 1992, in PyTorch's form.)
struct CATENA_EXPORT ASGD : Optimizer {
  struct Options {
    double lr = 0.01, lambd = 1e-4, alpha = 0.75, t0 = 1e6, weight_decay = 0;
    Implementation foreach = {};
    bool maximize = false;
    Implementation differentiable = {}, capturable = {};
  };
  CATENA_OPTIMIZER_CONSTRUCTORS(ASGD)

 protected:
  void init_state(const Variable& param, std::span<Array> states) override;
  void update_one(Variable& param, std::span<Array> states) override;
};

// PyTorch's module.
namespace optim {
using namespace training;
}  // namespace optim

#undef CATENA_TORCH_CONSTRUCTORS
#undef CATENA_OPTIMIZER_CONSTRUCTORS_ONLY
#undef CATENA_OPTIMIZER_CONSTRUCTORS

}  // namespace training
