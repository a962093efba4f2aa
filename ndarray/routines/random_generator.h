// default_rng() and Generator: the random numbers of NumPy since 1.17, from the bit generators of bit_generator.h.
//
//   auto rng = nd::random::default_rng(7);
//   nd::Array x = rng.random({1000});
//   nd::Array k = rng.poisson(nd::array({1.0, 5.0, 20.0}), {1000, 3});
//
// The numbers differ from NumPy's. Results are new arrays on the current device. Parameters may be arrays; they and the
// size broadcast, and without a size the result has the shape of the parameters (0-d for numbers). Parameters outside
// their range are ValueError; for arrays on a device the check waits.
//
// Thread safety: several threads may use one Generator; each call takes its own numbers, in an undefined order of
// calls.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>

#include <catena/ndarray/routines/random_draw.h>

namespace nd::random {

// The dtype of floating samples (float64 or another floating dtype, TypeError otherwise), and the array that is filled
// instead of a new one: it must have that dtype (TypeError) and the size, if that is given (ValueError).
struct FillOptions {
  [[no_unique_address]] Named named = Named();
  std::optional<Dtype> dtype = {};
  Array out = {};
};
struct IntegersOptions {
  [[no_unique_address]] Named named = Named();
  Dtype dtype = Dtype::int64;
  bool endpoint = false;  // `high` itself may be drawn
};

// A size that may be absent: {} or nothing, a number, {2, 3} or a Shape.
class Size {
 public:
  Size() = default;
  Size(std::nullopt_t) {}
  Size(const Shape& shape) : shape_(shape) {}
  Size(std::initializer_list<catena::Integer> lengths) : shape_(Shape(lengths)) {}
  template <class I, class = catena::if_index<I>> Size(I length) : shape_(Shape(length)) {}
  const std::optional<Shape>& shape() const { return shape_; }

 private:
  std::optional<Shape> shape_;
};

class CATENA_EXPORT Generator : public BitGenerator {
 public:
  using BitGenerator::BitGenerator;
  Generator() = default;
  // Continues the sequence of `bits`, of which it holds a copy.
  explicit Generator(const BitGenerator& bits) : BitGenerator(bits) {}

  // ---- uniform
  // In [0, 1), in steps of 2^-53 (2^-24 for float32).
  Array random(const Size& size = {}, const FillOptions& options = {});
  template <std::same_as<Dtype> D> Array random(const Size& size, D dtype) {
    return random(size, FillOptions{.dtype = dtype});
  }
  // low + (high - low) * random(); never `high`, unless rounding leaves no other number. ValueError for a range that is
  // not finite.
  Array uniform(const Operand& low = 0.0, const Operand& high = 1.0, const Size& size = {});
  Array uniform(std::initializer_list<catena::Integer> size) { return uniform(0.0, 1.0, Size(size)); }
  // Uniform, without bias, in [low, high), or [0, low) without `high`, of any integer dtype and any range of it.
  Array integers(const Scalar& low, const std::optional<Scalar>& high = {}, const Size& size = {},
                 const IntegersOptions& options = {});
  Array integers(const Scalar& high, std::initializer_list<catena::Integer> size, const IntegersOptions& options = {}) {
    return integers(high, {}, Size(size), options);
  }
  template <std::same_as<Dtype> D>
  Array integers(const Scalar& low, const std::optional<Scalar>& high, const Size& size, D dtype) {
    return integers(low, high, size, IntegersOptions{.dtype = dtype});
  }

  // ---- normal and related
  Array standard_normal(const Size& size = {}, const FillOptions& options = {});
  template <std::same_as<Dtype> D> Array standard_normal(const Size& size, D dtype) {
    return standard_normal(size, FillOptions{.dtype = dtype});
  }
  Array normal(const Operand& loc = 0.0, const Operand& scale = 1.0, const Size& size = {});
  Array normal(std::initializer_list<catena::Integer> size) { return normal(0.0, 1.0, Size(size)); }
  Array lognormal(const Operand& mean = 0.0, const Operand& sigma = 1.0, const Size& size = {});
  // mean: an array (k,); cov: (k, k), symmetric and without negative eigenvalues (to rounding; ValueError). The result
  // has the shape size + (k,). Waits for the device.
  Array multivariate_normal(const Array& mean, const Array& cov, const Size& size = {});
  Array standard_t(const Operand& df, const Size& size = {});  // df > 0
  Array standard_cauchy(const Size& size = {});
  Array wald(const Operand& mean, const Operand& scale, const Size& size = {});  // both > 0; the inverse normal

  // ---- exponential, gamma and related. Scales, shapes and degrees of freedom must be >= 0; for beta, f, power,
  // chisquare and dirichlet they must be > 0.
  Array standard_exponential(const Size& size = {}, const FillOptions& options = {});
  template <std::same_as<Dtype> D> Array standard_exponential(const Size& size, D dtype) {
    return standard_exponential(size, FillOptions{.dtype = dtype});
  }
  Array exponential(const Operand& scale = 1.0, const Size& size = {});
  Array standard_gamma(const Operand& shape, const Size& size = {}, const FillOptions& options = {});
  template <std::same_as<Dtype> D> Array standard_gamma(const Operand& shape, const Size& size, D dtype) {
    return standard_gamma(shape, size, FillOptions{.dtype = dtype});
  }
  Array gamma(const Operand& shape, const Operand& scale = 1.0, const Size& size = {});
  Array beta(const Operand& a, const Operand& b, const Size& size = {});
  Array chisquare(const Operand& df, const Size& size = {});
  Array f(const Operand& dfnum, const Operand& dfden, const Size& size = {});
  Array power(const Operand& a, const Size& size = {});  // density a x^(a - 1) on [0, 1]
  // Of exponential numbers e: e with either sign, sqrt(2 e), exp(e / a) - 1 (a > 0), e^(1 / a), -log(e).
  Array laplace(const Operand& loc = 0.0, const Operand& scale = 1.0, const Size& size = {});
  Array rayleigh(const Operand& scale = 1.0, const Size& size = {});
  Array pareto(const Operand& a, const Size& size = {});
  Array weibull(const Operand& a, const Size& size = {});
  Array gumbel(const Operand& loc = 0.0, const Operand& scale = 1.0, const Size& size = {});
  Array logistic(const Operand& loc = 0.0, const Operand& scale = 1.0, const Size& size = {});
  // left <= mode <= right, left < right
  Array triangular(const Operand& left, const Operand& mode, const Operand& right, const Size& size = {});
  Array noncentral_chisquare(const Operand& df, const Operand& nonc, const Size& size = {});  // df > 0, nonc >= 0
  Array noncentral_f(const Operand& dfnum, const Operand& dfden, const Operand& nonc, const Size& size = {});
  // Angles in [-pi, pi] around mu with the concentration kappa >= 0. This function and zipf draw candidates anew until
  // all are accepted, and wait for the device.
  Array vonmises(const Operand& mu, const Operand& kappa, const Size& size = {});
  // alpha: an array (k,) of numbers > 0. The result has the shape size + (k,); its last axis adds up to 1.
  Array dirichlet(const Array& alpha, const Size& size = {});

  // ---- integers (int64)
  Array poisson(const Operand& lam = 1.0, const Size& size = {});                      // 0 <= lam <= 9.2e18
  Array binomial(const Operand& n, const Operand& p, const Size& size = {});           // n >= 0 integers, 0 <= p <= 1
  Array negative_binomial(const Operand& n, const Operand& p, const Size& size = {});  // n > 0, 0 < p <= 1; failures
  // How often each of k results occurs in n trials; pvals: an array (k,) of probabilities, of which the last one counts
  // as the rest (ValueError if the others have a sum above 1). The result has the shape size + (k,).
  Array multinomial(std::int64_t n, const Array& pvals, const Size& size = {});
  Array geometric(const Operand& p, const Size& size = {});  // 0 < p <= 1; trials, at least 1
  Array logseries(const Operand& p, const Size& size = {});  // 0 < p < 1
  Array zipf(const Operand& a, const Size& size = {});       // a > 1; k >= 1 with the probability k^-a / zeta(a)
  // Good items among nsample taken without replacement; integers >= 0, ngood + nbad <= 10^9, nsample <= ngood + nbad.
  Array hypergeometric(const Operand& ngood, const Operand& nbad, const Operand& nsample, const Size& size = {});

  // ---- samples and orders of a population, as in random.h
  Array choice(std::int64_t n, const Shape& size = {}, const ChoiceOptions& options = {}) {
    return draw::choice(*this, n, size, options);
  }
  Array choice(const Array& a, const Shape& size = {}, const ChoiceOptions& options = {}) {
    return draw::choice(*this, a, size, options);
  }
  std::string bytes(std::int64_t length) { return draw::bytes(*this, length); }
  Array permutation(std::int64_t n) { return draw::permutation(*this, n); }
  Array permutation(const Array& a) { return draw::permutation(*this, a); }
  void shuffle(const Array& a) { draw::shuffle(*this, a); }
};

// Returns a Generator on Philox, with a seed from the operating system unless one is given, or on a copy of a bit
// generator. In a StatesScope (random_states.h), which also exists while an iterator loads an example, the seed is
// derived from the seed of the scope.
inline Generator default_rng(std::optional<std::uint64_t> seed = {}) { return Generator(Philox4x3210(seed)); }
inline Generator default_rng(const BitGenerator& bits) { return Generator(bits); }

}  // namespace nd::random
