// Random numbers from a counter-based generator (Philox4x32-10): a sample is a function of a seed and an offset. Bits,
// integers and uniform numbers in [0, 1) are equal on all devices; normal numbers agree to a few units in the last
// place. The sequences differ from NumPy's.
//
//   nd::random::seed(0);
//   nd::Array x = nd::random::standard_normal({1000, 1000}, nd::float32);
//   nd::random::RandomState g(7);  g.uniform(-1, 1, {10});
//   nd::random::RandomState replay(g.initial_seed(), g.offset());
//
// random_generator.h has the newer interface of NumPy, default_rng() and Generator, and the other distributions, which
// RandomState and this namespace have, too. A cuRAND generator can replace Philox if that library is available
// (routines/curand.h lists its methods):
//
//   nd::random::RandomState g(7, nd::cuda::CurandMethod::xorwow);
//   nd::random::get_random_state() = g;   // now used by nd::random::rand and all other functions on this device
//
// The numbers of a cuRAND generator depend on the seed, the method, the order and the sizes of the draws, the device
// and the version of cuRAND.
//
// Results are new arrays on the current device, 0-d if no size is given. Floating samplers give float64 unless the last
// argument, a dtype or options, is another floating dtype, also float16 and bfloat16, which CuPy refuses (TypeError for
// what is no floating dtype). A list in braces is always a size.
//
// Thread safety: several threads may use one RandomState; each call takes its own numbers, in an undefined order of
// calls. A StatesScope (random_states.h) gives a thread generators of its own.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include <catena/ndarray/routines/random_generator.h>

namespace nd::random {

// ---- samplers: members of RandomState and functions of this namespace ---------------------------
//
//   random_sample(size), rand, random, ranf, sample
//                                  uniform in [0, 1), in steps of 2^-24 (float32) or 2^-53 (float64)
//   uniform(low, high, size)       low + (high - low) * U with U in [0, 1); never `high`. ValueError for a range that
//                                  is not finite
//   standard_normal(size), randn   normal with mean 0 and standard deviation 1
//   normal(loc, scale, size)       loc + scale * standard normal; arrays broadcast to `size`, or together without it.
//                                  ValueError for a negative scalar scale
//   lognormal(mean, sigma, size)   exp(normal(mean, sigma))
//   gumbel(loc, scale, size)       loc - scale * log(-log(1 - U)); always finite
//   randint(low, high, size)       uniform integers in [low, high); randint(high, {n}) in [0, high). int64 or another
//                                  integer dtype (TypeError). ValueError for an empty range, or one too wide for it
//   random_integers(low, high, size)
//                                  the same in [low, high], or [1, high]
//   choice(n, size, {.replace, .p, .axis}), choice(a, size, ...)
//                                  numbers of 0..n-1 (int64), or elements of `a` along an axis, with probabilities p
//                                  (by inversion of their sum; a draw without replacement takes the first of an
//                                  exponential race, Efraimidis and Spirakis 2006). ValueError for an empty
//                                  population, probabilities of another shape, below 0 or of a sum other than 1 (to
//                                  the square root of the dtype's resolution: 1.5e-8 in float64, 3.5e-4 in float32,
//                                  1e-3 in 16-bit types), and without replacement for a sample larger than the
//                                  population or its elements of a probability above 0. Waits for the device if `p`
//                                  is given
//   bytes(length)                  a string of random bytes
//   permutation(n)                 the numbers 0..n-1 in random order (int64); ValueError for n < 0. The order is
//                                  computed on the host and copied; the call waits for no earlier work
//   permutation(a)                 a copy of `a` with its subarrays along axis 0 in random order; TypeError for a 0-d
//                                  array
//   shuffle(a)                     the same in place

#define ND_RANDOM_UNIFORM_SAMPLER(generator, name)                                               \
  template <class O = SampleOptions> Array name(const Shape& size = {}, const O& options = {}) { \
    return random::draw::random_sample(generator, size, random::draw::dtype_in(options));        \
  }
#define ND_RANDOM_NORMAL_SAMPLER(generator, name)                                                \
  template <class O = SampleOptions> Array name(const Shape& size = {}, const O& options = {}) { \
    return random::draw::standard_normal(generator, size, random::draw::dtype_in(options));      \
  }
// A list in braces is a size. (Converted to a parameter of type double, {3} would be the number 3.)
#define ND_RANDOM_RANGE_SAMPLER(generator, name, low, high)                                                           \
  template <class O = SampleOptions> Array name(std::initializer_list<catena::Integer> size, const O& options = {}) { \
    return random::draw::name(generator, low, high, size, random::draw::dtype_in(options));                           \
  }                                                                                                                   \
  template <std::convertible_to<double> Number, class O = SampleOptions>                                              \
  Array name(Number a, double b = high, const Shape& size = {}, const O& options = {}) {                              \
    return random::draw::name(generator, static_cast<double>(a), b, size, random::draw::dtype_in(options));           \
  }                                                                                                                   \
  inline Array name() { return name(low); }
#define ND_RANDOM_BROADCAST_SAMPLER(generator, name)                                                                   \
  template <class O = SampleOptions> Array name(std::initializer_list<catena::Integer> size, const O& options = {}) {  \
    return random::draw::name(generator, 0.0, 1.0, Shape(size), random::draw::dtype_in(options));                      \
  }                                                                                                                    \
  template <class O = SampleOptions>                                                                                   \
  Array name(const Operand& a = 0.0, const Operand& b = 1.0, const std::optional<Shape>& size = {},                    \
             const O& options = {}) {                                                                                  \
    return random::draw::name(generator, a, b, size, random::draw::dtype_in(options));                                 \
  }                                                                                                                    \
  template <class O = SampleOptions>                                                                                   \
  Array name(const Operand& a, const Operand& b, std::initializer_list<catena::Integer> size, const O& options = {}) { \
    return random::draw::name(generator, a, b, random::draw::size_of(size), random::draw::dtype_in(options));          \
  }
#define ND_RANDOM_INTEGER_SAMPLER(generator, name)                                                                     \
  template <class O = IntegerOptions>                                                                                  \
  Array name(std::int64_t high, std::initializer_list<catena::Integer> size, const O& options = {}) {                  \
    return random::draw::name(generator, high, {}, Shape(size), random::draw::dtype_in(options));                      \
  }                                                                                                                    \
  template <class O = IntegerOptions>                                                                                  \
  Array name(std::int64_t low, std::optional<std::int64_t> high = {}, const Shape& size = {}, const O& options = {}) { \
    return random::draw::name(generator, low, high, size, random::draw::dtype_in(options));                            \
  }
// For a sample of a population, the default of size is {} (one element, 0-d).
#define ND_RANDOM_ORDERS(generator)                                                                \
  inline Array choice(std::int64_t n, const Shape& size = {}, const ChoiceOptions& options = {}) { \
    return random::draw::choice(generator, n, size, options);                                      \
  }                                                                                                \
  inline Array choice(const Array& a, const Shape& size = {}, const ChoiceOptions& options = {}) { \
    return random::draw::choice(generator, a, size, options);                                      \
  }                                                                                                \
  inline std::string bytes(std::int64_t length) { return random::draw::bytes(generator, length); } \
  inline Array permutation(std::int64_t n) { return random::draw::permutation(generator, n); }     \
  inline Array permutation(const Array& a) { return random::draw::permutation(generator, a); }     \
  inline void shuffle(const Array& a) { random::draw::shuffle(generator, a); }
// rand(2, 3) and randn(2, 3): the shape as separate lengths.
#define ND_RANDOM_BY_LENGTHS                                                                  \
  template <std::integral... I>                                                               \
  requires(sizeof...(I) > 1) Array rand(I... lengths) { return random_sample({lengths...}); } \
  template <std::integral... I>                                                               \
  requires(sizeof...(I) > 1) Array randn(I... lengths) { return standard_normal({lengths...}); }
#define ND_RANDOM_SAMPLERS(generator)                   \
  ND_RANDOM_UNIFORM_SAMPLER(generator, random_sample)   \
  ND_RANDOM_UNIFORM_SAMPLER(generator, rand)            \
  ND_RANDOM_NORMAL_SAMPLER(generator, standard_normal)  \
  ND_RANDOM_NORMAL_SAMPLER(generator, randn)            \
  ND_RANDOM_RANGE_SAMPLER(generator, uniform, 0.0, 1.0) \
  ND_RANDOM_RANGE_SAMPLER(generator, gumbel, 0.0, 1.0)  \
  ND_RANDOM_BROADCAST_SAMPLER(generator, normal)        \
  ND_RANDOM_BROADCAST_SAMPLER(generator, lognormal)     \
  ND_RANDOM_INTEGER_SAMPLER(generator, randint)         \
  ND_RANDOM_INTEGER_SAMPLER(generator, random_integers) \
  ND_RANDOM_ORDERS(generator)

// A bit generator with the samplers above, as in NumPy before 1.17 and CuPy, and with the distributions of Generator.
class RandomState : public Generator {
 public:
  using Generator::Generator;
  RandomState() = default;

  // Starts the sequence of a seed, by default of one from the operating system.
  void seed(std::optional<std::uint64_t> seed = {}) { reseed(seed); }
  ND_RANDOM_SAMPLERS(*this)
  ND_RANDOM_BY_LENGTHS
  // Uniform integers in [0, mx], of int32 unless another dtype is given; ValueError for mx < 0.
  template <class O = IntegerOptions>
  Array interval(std::int64_t mx, const Shape& size = {}, const O& options = {Dtype::int32}) {
    return random_integers(0, mx, size, options);
  }
};

// ---- the generator of the current device --------------------------------------------------------
// Returns the generator of the current device; outside of a StatesScope always the same object for one device. Its
// first seed comes from the environment variable CHAINER_SEED (ValueError if that is not an integer), else from the
// operating system. Devices 1, 2... of a kind derive different seeds from it.
CATENA_EXPORT RandomState& get_random_state();
// Seeds only the generator of the current device, with exactly this seed.
inline void seed(std::optional<std::uint64_t> seed = {}) { get_random_state().seed(seed); }
// Resets the generators of all devices to their initial state, with Philox.
CATENA_EXPORT void reset_states();

// The samplers above, with the generator of the current device.
ND_RANDOM_SAMPLERS(get_random_state())
ND_RANDOM_UNIFORM_SAMPLER(get_random_state(), random)
ND_RANDOM_UNIFORM_SAMPLER(get_random_state(), ranf)
ND_RANDOM_UNIFORM_SAMPLER(get_random_state(), sample)
ND_RANDOM_BY_LENGTHS

#define ND_RANDOM_DISTRIBUTION(name, parameters, arguments) \
  inline Array name parameters { return get_random_state().name arguments; }
#define ND_RANDOM_DISTRIBUTION_1(name) \
  ND_RANDOM_DISTRIBUTION(name, (const Operand& a, const Size& size = {}), (a, size))
#define ND_RANDOM_DISTRIBUTION_2(name) \
  ND_RANDOM_DISTRIBUTION(name, (const Operand& a, const Operand& b, const Size& size = {}), (a, b, size))
#define ND_RANDOM_DISTRIBUTION_3(name)                                                                        \
  ND_RANDOM_DISTRIBUTION(name, (const Operand& a, const Operand& b, const Operand& c, const Size& size = {}), \
                         (a, b, c, size))
#define ND_RANDOM_LOCATION(name)                                                                              \
  ND_RANDOM_DISTRIBUTION(name, (const Operand& loc = 0.0, const Operand& scale = 1.0, const Size& size = {}), \
                         (loc, scale, size))
// The distributions of Generator (random_generator.h), with the generator of the current device.
ND_RANDOM_DISTRIBUTION(standard_exponential, (const Size& size = {}), (size))
ND_RANDOM_DISTRIBUTION(standard_cauchy, (const Size& size = {}), (size))
ND_RANDOM_DISTRIBUTION(exponential, (const Operand& scale = 1.0, const Size& size = {}), (scale, size))
ND_RANDOM_DISTRIBUTION(rayleigh, (const Operand& scale = 1.0, const Size& size = {}), (scale, size))
ND_RANDOM_DISTRIBUTION(poisson, (const Operand& lam = 1.0, const Size& size = {}), (lam, size))
ND_RANDOM_LOCATION(laplace)
ND_RANDOM_LOCATION(logistic)
ND_RANDOM_DISTRIBUTION(gamma, (const Operand& k, const Operand& scale = 1.0, const Size& size = {}), (k, scale, size))
ND_RANDOM_DISTRIBUTION_1(standard_gamma)
ND_RANDOM_DISTRIBUTION_1(standard_t)
ND_RANDOM_DISTRIBUTION_1(chisquare)
ND_RANDOM_DISTRIBUTION_1(power)
ND_RANDOM_DISTRIBUTION_1(pareto)
ND_RANDOM_DISTRIBUTION_1(weibull)
ND_RANDOM_DISTRIBUTION_1(geometric)
ND_RANDOM_DISTRIBUTION_1(logseries)
ND_RANDOM_DISTRIBUTION_1(zipf)
ND_RANDOM_DISTRIBUTION_2(beta)
ND_RANDOM_DISTRIBUTION_2(f)
ND_RANDOM_DISTRIBUTION_2(wald)
ND_RANDOM_DISTRIBUTION_2(vonmises)
ND_RANDOM_DISTRIBUTION_2(noncentral_chisquare)
ND_RANDOM_DISTRIBUTION_2(binomial)
ND_RANDOM_DISTRIBUTION_2(negative_binomial)
ND_RANDOM_DISTRIBUTION_3(triangular)
ND_RANDOM_DISTRIBUTION_3(noncentral_f)
ND_RANDOM_DISTRIBUTION_3(hypergeometric)
ND_RANDOM_DISTRIBUTION(dirichlet, (const Array& alpha, const Size& size = {}), (alpha, size))
ND_RANDOM_DISTRIBUTION(multinomial, (std::int64_t n, const Array& pvals, const Size& size = {}), (n, pvals, size))
ND_RANDOM_DISTRIBUTION(multivariate_normal, (const Array& mean, const Array& cov, const Size& size = {}),
                       (mean, cov, size))
#undef ND_RANDOM_LOCATION
#undef ND_RANDOM_DISTRIBUTION
#undef ND_RANDOM_DISTRIBUTION_1
#undef ND_RANDOM_DISTRIBUTION_2
#undef ND_RANDOM_DISTRIBUTION_3
#undef ND_RANDOM_BY_LENGTHS
#undef ND_RANDOM_SAMPLERS
#undef ND_RANDOM_UNIFORM_SAMPLER
#undef ND_RANDOM_NORMAL_SAMPLER
#undef ND_RANDOM_RANGE_SAMPLER
#undef ND_RANDOM_BROADCAST_SAMPLER
#undef ND_RANDOM_INTEGER_SAMPLER
#undef ND_RANDOM_ORDERS

}  // namespace nd::random
