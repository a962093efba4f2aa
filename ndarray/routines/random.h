// Random numbers from a counter-based generator (Philox4x32-10): a sample is a function of a seed and an offset. Bits,
// integers and uniform numbers in [0, 1) are equal on all devices; normal numbers agree to a few units in the last
// place. The sequences differ from NumPy's.
//
//   nd::random::seed(0);
//   nd::Array x = nd::random::standard_normal({1000, 1000}, nd::float32);
//   nd::random::Generator g(7);  g.uniform(-1, 1, {10});  nd::random::Generator replay(g.seed(), g.offset());
//
// A cuRAND generator can replace Philox if that library is available (ndarray/cuda/vendor/curand.h lists its methods):
//
//   nd::random::RandomState g(7, nd::cuda::CurandMethod::xorwow);
//   nd::random::get_random_state() = g;   // now used by nd::random::rand and all other functions on this device
//
// Its numbers depend on the seed, the method, the order and the sizes of the draws, the device and the version of
// cuRAND.
//
// Results are new arrays on the current device, 0-d if no size is given. Floating samplers give float64 unless the last
// argument, a dtype or options, is another floating dtype (TypeError otherwise). A list in braces is always a size.
//
// Thread safety: several threads may use one Generator; each call takes its own numbers, in an undefined order of
// calls.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include <catena/kernels/base/pointers.h>
#include <catena/ndarray/core/array.h>

namespace catena {
enum class RandomKind : std::uint8_t;
}
namespace nd::cuda {
enum class CurandMethod : int;
}

namespace nd::random {

struct SampleOptions {
  Dtype dtype = Dtype::float64;
};
struct IntegerOptions {
  Dtype dtype = Dtype::int64;
};

class Generator;

namespace draw {
template <class Options> Dtype dtype_in(const Options& options) { return options.dtype; }
inline Dtype dtype_in(Dtype dtype) { return dtype; }
inline std::optional<Shape> size_of(std::initializer_list<catena::Integer> size) {
  return size.size() == 0 ? std::nullopt : std::optional<Shape>(size);
}
CATENA_EXPORT Array random_sample(Generator& g, const Shape& size, Dtype dtype);
CATENA_EXPORT Array uniform(Generator& g, double low, double high, const Shape& size, Dtype dtype);
CATENA_EXPORT Array standard_normal(Generator& g, const Shape& size, Dtype dtype);
CATENA_EXPORT Array normal(Generator& g, const Operand& loc, const Operand& scale, const std::optional<Shape>& size,
                           Dtype dtype);
CATENA_EXPORT Array lognormal(Generator& g, const Operand& mean, const Operand& sigma, const std::optional<Shape>& size,
                              Dtype dtype);
CATENA_EXPORT Array gumbel(Generator& g, double loc, double scale, const Shape& size, Dtype dtype);
CATENA_EXPORT Array randint(Generator& g, std::int64_t low, std::optional<std::int64_t> high, const Shape& size,
                            Dtype dtype);
CATENA_EXPORT Array random_integers(Generator& g, std::int64_t low, std::optional<std::int64_t> high, const Shape& size,
                                    Dtype dtype);
}  // namespace draw

// The samplers, members of Generator and functions of this namespace:
//
//   random_sample(size), rand, random, ranf, sample
//                                  uniform in [0, 1), in steps of 2^-24 (float32) or 2^-53 (float64)
//   uniform(low, high, size)       low + (high - low) * U with U in [0, 1); never `high`. ValueError for a range that
//   is
//                                  not finite
//   standard_normal(size), randn   normal with mean 0 and standard deviation 1
//   normal(loc, scale, size)       loc + scale * standard normal; arrays broadcast to `size`, or together without it.
//                                  ValueError for a negative scalar scale
//   lognormal(mean, sigma, size)   exp(normal(mean, sigma))
//   gumbel(loc, scale, size)       loc - scale * log(-log(1 - U)); always finite
//   randint(low, high, size)       uniform integers in [low, high); randint(high, {n}) in [0, high). int64 or another
//                                  integer dtype (TypeError). ValueError for an empty range, or one too wide for it
//   random_integers(low, high, size)
//                                  the same in [low, high], or [1, high]
#define ND_RANDOM_UNIFORM_SAMPLER(generator, name)                                               \
  template <class O = SampleOptions> Array name(const Shape& size = {}, const O& options = {}) { \
    return random::draw::random_sample(generator, size, random::draw::dtype_in(options));        \
  }
#define ND_RANDOM_NORMAL_SAMPLER(generator, name)                                                \
  template <class O = SampleOptions> Array name(const Shape& size = {}, const O& options = {}) { \
    return random::draw::standard_normal(generator, size, random::draw::dtype_in(options));      \
  }
// A list in braces is a size. (To a parameter of type double, {3} would be the number 3.)
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
  ND_RANDOM_INTEGER_SAMPLER(generator, random_integers)

// A source of random numbers with the state {seed, offset}; the offset counts blocks of four numbers. A copy produces
// the same numbers as the original. cuRAND cannot report its position, so a copy of a cuRAND generator starts the
// sequence of its seed.
class CATENA_EXPORT Generator {
 public:
  Generator();  // with a seed from the operating system
  explicit Generator(std::uint64_t seed, std::uint64_t offset = 0);
  // A pseudo-random cuRAND generator on the current device, which must also be the current device of its draws
  // (ValueError); without a seed, one from the operating system is used. Its integers wait for the device unless the
  // length of the range is a power of 2; its draws cannot be captured in a CUDA graph (RuntimeError). permutation and
  // shuffle use Philox with that seed. RuntimeError "cuRAND is unavailable: ...", ValueError for a method that is not
  // pseudo-random.
  Generator(std::optional<std::uint64_t> seed, cuda::CurandMethod method);
  Generator(const Generator& o);
  Generator& operator=(const Generator& o);
  ~Generator();

  std::uint64_t seed() const noexcept;
  std::uint64_t offset() const noexcept;  // of Philox; cuRAND draws do not change it
  // The cuRAND method, or nothing for Philox.
  std::optional<cuda::CurandMethod> method() const noexcept;
  // Starts the sequence of a seed, by default one from the operating system. The method stays.
  void reseed(std::optional<std::uint64_t> seed = {});
  // Reserves `n` Philox numbers; returns the offset at which they begin.
  std::uint64_t reserve(std::int64_t n) noexcept;
  // `size` numbers of a kind; what the samplers are made of.
  Array sample(catena::RandomKind kind, const Shape& size, Dtype dtype, std::int64_t low = 0, std::int64_t high = 0);

  ND_RANDOM_SAMPLERS(*this)
  // The numbers 0..n-1 in random order (int64); ValueError for n < 0. The order is computed on the host and copied; the
  // call waits for no earlier work.
  Array permutation(std::int64_t n);
  // A copy of `a` with its subarrays along axis 0 in random order; TypeError for a 0-d array.
  Array permutation(const Array& a);
  // The same in place.
  void shuffle(const Array& a);

 private:
  struct State;    // seed, offset, cuRAND generator
  struct Guarded;  // the state and its lock
  State state() const noexcept;
  State begin(std::int64_t n) noexcept;  // reserves `n` Philox numbers and returns the state before them
  State copy() const;
  catena::Owned<Guarded> guarded_;
};
using RandomState = Generator;

// ---- the generator of the current device --------------------------------------------------------
// Always the same object for one device. Its first seed comes from the environment variable CHAINER_SEED (ValueError if
// that is not an integer), else from the operating system. Devices 1, 2... of a kind derive different seeds from it.
CATENA_EXPORT Generator& get_random_state();
// Seeds only the generator of the current device, with exactly this seed.
inline void seed(std::optional<std::uint64_t> seed = {}) { get_random_state().reseed(seed); }
// Resets the generators of all devices to their initial state, with Philox.
CATENA_EXPORT void reset_states();

ND_RANDOM_SAMPLERS(get_random_state())
ND_RANDOM_UNIFORM_SAMPLER(get_random_state(), random)
ND_RANDOM_UNIFORM_SAMPLER(get_random_state(), ranf)
ND_RANDOM_UNIFORM_SAMPLER(get_random_state(), sample)
// rand(2, 3) and randn(2, 3), as lengths.
template <std::integral... I>
requires(sizeof...(I) > 1) Array rand(I... lengths) { return random_sample({lengths...}); }
template <std::integral... I>
requires(sizeof...(I) > 1) Array randn(I... lengths) { return standard_normal({lengths...}); }
#undef ND_RANDOM_SAMPLERS
#undef ND_RANDOM_UNIFORM_SAMPLER
#undef ND_RANDOM_NORMAL_SAMPLER
#undef ND_RANDOM_RANGE_SAMPLER
#undef ND_RANDOM_BROADCAST_SAMPLER
#undef ND_RANDOM_INTEGER_SAMPLER

inline Array permutation(std::int64_t n) { return get_random_state().permutation(n); }
inline Array permutation(const Array& a) { return get_random_state().permutation(a); }
inline void shuffle(const Array& a) { get_random_state().shuffle(a); }

}  // namespace nd::random
