// Random numbers from a counter-based generator (Philox4x32-10): a sample is a function of a seed and an offset. Bits,
// integers and uniform numbers in [0, 1) are equal on all devices; normal numbers agree to a few units in the last
// place. The sequences differ from NumPy's.
//
//   nd::random::seed(0);
//   nd::Array x = nd::random::standard_normal({1000, 1000}, {.dtype = nd::float32});
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
// Results are new arrays on the current device, 0-d if no size is given. Floating samplers give float64 unless
// options.dtype is another floating dtype (TypeError otherwise).
//
// Thread safety: several threads may use one Generator; each call takes its own numbers, in an undefined order of
// calls.
#pragma once

#include <concepts>
#include <cstdint>
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

  // Uniform in [0, 1), in steps of 2^-24 (float32) or 2^-53 (float64); never 1.
  Array random_sample(const Shape& size = {}, const SampleOptions& options = {});
  Array rand(const Shape& size = {}, const SampleOptions& options = {}) { return random_sample(size, options); }
  // low + (high - low) * U with U in [0, 1); never `high`. ValueError if the range is not finite.
  Array uniform(double low = 0, double high = 1, const Shape& size = {}, const SampleOptions& options = {});
  // Normal with mean 0 and standard deviation 1.
  Array standard_normal(const Shape& size = {}, const SampleOptions& options = {});
  Array randn(const Shape& size = {}, const SampleOptions& options = {}) { return standard_normal(size, options); }
  // loc + scale * standard normal; arrays broadcast to `size`, or together if it is not given. ValueError for a
  // negative scalar scale.
  Array normal(const Operand& loc = 0.0, const Operand& scale = 1.0, const std::optional<Shape>& size = {},
               const SampleOptions& options = {});
  // exp(normal(mean, sigma)).
  Array lognormal(const Operand& mean = 0.0, const Operand& sigma = 1.0, const std::optional<Shape>& size = {},
                  const SampleOptions& options = {});
  // loc - scale * log(-log(1 - U)); always finite.
  Array gumbel(double loc = 0, double scale = 1, const Shape& size = {}, const SampleOptions& options = {});
  // Uniform integers in [low, high), or [0, low) without `high`. ValueError for an empty range and a range that does
  // not fit options.dtype; TypeError if that is not an integer dtype.
  Array randint(std::int64_t low, std::optional<std::int64_t> high = {}, const Shape& size = {},
                const IntegerOptions& options = {});
  // Uniform integers in [low, high], or [1, low] without `high`.
  Array random_integers(std::int64_t low, std::optional<std::int64_t> high = {}, const Shape& size = {},
                        const IntegerOptions& options = {});
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
  Array sample(catena::RandomKind kind, const Shape& size, Dtype dtype, std::int64_t low = 0, std::int64_t high = 0);

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

inline Array random_sample(const Shape& size = {}, const SampleOptions& o = {}) {
  return get_random_state().random_sample(size, o);
}
inline Array random(const Shape& size = {}, const SampleOptions& o = {}) { return random_sample(size, o); }
inline Array ranf(const Shape& size = {}, const SampleOptions& o = {}) { return random_sample(size, o); }
inline Array sample(const Shape& size = {}, const SampleOptions& o = {}) { return random_sample(size, o); }
inline Array rand(const Shape& size, const SampleOptions& o = {}) { return random_sample(size, o); }
template <std::integral... I> Array rand(I... lengths) {
  return random_sample(Shape{static_cast<std::int64_t>(lengths)...});
}
inline Array standard_normal(const Shape& size = {}, const SampleOptions& o = {}) {
  return get_random_state().standard_normal(size, o);
}
inline Array randn(const Shape& size, const SampleOptions& o = {}) { return standard_normal(size, o); }
template <std::integral... I> Array randn(I... lengths) {
  return standard_normal(Shape{static_cast<std::int64_t>(lengths)...});
}
inline Array uniform(double low = 0, double high = 1, const Shape& size = {}, const SampleOptions& o = {}) {
  return get_random_state().uniform(low, high, size, o);
}
inline Array normal(const Operand& loc = 0.0, const Operand& scale = 1.0, const std::optional<Shape>& size = {},
                    const SampleOptions& o = {}) {
  return get_random_state().normal(loc, scale, size, o);
}
inline Array lognormal(const Operand& mean = 0.0, const Operand& sigma = 1.0, const std::optional<Shape>& size = {},
                       const SampleOptions& o = {}) {
  return get_random_state().lognormal(mean, sigma, size, o);
}
inline Array gumbel(double loc = 0, double scale = 1, const Shape& size = {}, const SampleOptions& o = {}) {
  return get_random_state().gumbel(loc, scale, size, o);
}
inline Array randint(std::int64_t low, std::optional<std::int64_t> high = {}, const Shape& size = {},
                     const IntegerOptions& o = {}) {
  return get_random_state().randint(low, high, size, o);
}
inline Array random_integers(std::int64_t low, std::optional<std::int64_t> high = {}, const Shape& size = {},
                             const IntegerOptions& o = {}) {
  return get_random_state().random_integers(low, high, size, o);
}
inline Array permutation(std::int64_t n) { return get_random_state().permutation(n); }
inline Array permutation(const Array& a) { return get_random_state().permutation(a); }
inline void shuffle(const Array& a) { get_random_state().shuffle(a); }

}  // namespace nd::random
