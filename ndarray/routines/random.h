// Random numbers: counter based (Philox4x32-10), so a sample is a function of a seed and an offset. Bits, integers and uniform numbers in
// [0, 1) are the same on every device; normal ones agree to a few units in the last place. No sequence equals NumPy's.
//
//   nd::random::seed(0);
//   nd::Array x = nd::random::standard_normal({1000, 1000}, {.dtype = nd::float32});
//   nd::random::Generator g(7);  g.uniform(-1, 1, {10});  nd::random::Generator replay(g.seed(), g.offset());
//
// Results are new arrays on the current device; without a size they are 0-d. Floating samplers give float64 unless options.dtype is another
// floating dtype (TypeError otherwise).
//
// Thread safety: a Generator may be used from several threads; each call takes numbers of its own, in an order that is not defined.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <optional>

#include "kernels/host/calls.h"
#include "ndarray/core/array.h"

namespace nd::random {

struct SampleOptions {
  Dtype dtype = Dtype::float64;
};
struct IntegerOptions {
  Dtype dtype = Dtype::int64;
};

// A source of random numbers: {seed, offset}, the offset in blocks of four numbers. Copies replay the same numbers.
class CATENA_EXPORT Generator {
 public:
  Generator();  // a seed from the operating system
  explicit Generator(std::uint64_t seed, std::uint64_t offset = 0) noexcept : seed_(seed), offset_(offset) {}
  Generator(const Generator& o) noexcept : Generator(o.seed(), o.offset()) {}
  Generator& operator=(const Generator& o) noexcept;

  std::uint64_t seed() const noexcept { return seed_.load(std::memory_order_relaxed); }
  std::uint64_t offset() const noexcept { return offset_.load(std::memory_order_relaxed); }
  // Starts the sequence of a seed; without one, of a seed from the operating system.
  void reseed(std::optional<std::uint64_t> seed = {});
  // The offset at which `n` numbers begin; they are used up then.
  std::uint64_t reserve(std::int64_t n) noexcept;

  // Uniform on [0, 1): in steps of 2^-24 (float32) or 2^-53 (float64). 1 never appears.
  Array random_sample(const Shape& size = {}, const SampleOptions& options = {});
  Array rand(const Shape& size = {}, const SampleOptions& options = {}) { return random_sample(size, options); }
  // low + (high - low) * [0, 1); `high` itself never appears. ValueError when the range is not finite.
  Array uniform(double low = 0, double high = 1, const Shape& size = {}, const SampleOptions& options = {});
  // Mean 0, deviation 1.
  Array standard_normal(const Shape& size = {}, const SampleOptions& options = {});
  Array randn(const Shape& size = {}, const SampleOptions& options = {}) { return standard_normal(size, options); }
  // loc + scale * standard normal; arrays broadcast to `size`, or together where there is none. ValueError for a negative scalar scale.
  Array normal(const Operand& loc = 0.0, const Operand& scale = 1.0, const std::optional<Shape>& size = {}, const SampleOptions& options = {});
  // exp(normal(mean, sigma)).
  Array lognormal(const Operand& mean = 0.0, const Operand& sigma = 1.0, const std::optional<Shape>& size = {}, const SampleOptions& options = {});
  // loc - scale * log(-log(1 - U)); always finite.
  Array gumbel(double loc = 0, double scale = 1, const Shape& size = {}, const SampleOptions& options = {});
  // Integers of [low, high), or of [0, low) without `high`, all equally likely. ValueError for an empty range and for one that does not fit
  // options.dtype, TypeError when that is no integer dtype.
  Array randint(std::int64_t low, std::optional<std::int64_t> high = {}, const Shape& size = {}, const IntegerOptions& options = {});
  // Integers of [low, high], or of [1, low] without `high`.
  Array random_integers(std::int64_t low, std::optional<std::int64_t> high = {}, const Shape& size = {}, const IntegerOptions& options = {});
  // The numbers 0..n-1 in random order (int64); ValueError for n < 0. The order is made on the host, so it waits for nothing but a copy.
  Array permutation(std::int64_t n);
  // A copy of `a` with the parts along axis 0 in random order; TypeError for a 0-d array.
  Array permutation(const Array& a);
  // The same in place.
  void shuffle(const Array& a);

 private:
  Array sample(catena::RandomKind kind, const Shape& size, Dtype dtype, std::int64_t low = 0, std::int64_t high = 0);

  std::atomic<std::uint64_t> seed_, offset_;
};
using RandomState = Generator;

// ---- the generator of the current device -----------------------------------------------------------------------------------------
// Always the same object for one device. Its first seed comes from the environment variable CHAINER_SEED (ValueError when that is no
// integer), else from the operating system; devices 1, 2... of a kind derive theirs from it, so that they differ.
CATENA_EXPORT Generator& get_random_state();
// Seeds the generator of the current device alone, with exactly this seed.
inline void seed(std::optional<std::uint64_t> seed = {}) { get_random_state().reseed(seed); }
// All devices start again as in a fresh process.
CATENA_EXPORT void reset_states();

inline Array random_sample(const Shape& size = {}, const SampleOptions& o = {}) { return get_random_state().random_sample(size, o); }
inline Array random(const Shape& size = {}, const SampleOptions& o = {}) { return random_sample(size, o); }
inline Array ranf(const Shape& size = {}, const SampleOptions& o = {}) { return random_sample(size, o); }
inline Array sample(const Shape& size = {}, const SampleOptions& o = {}) { return random_sample(size, o); }
inline Array rand(const Shape& size, const SampleOptions& o = {}) { return random_sample(size, o); }
template <std::integral... I> Array rand(I... lengths) { return random_sample(Shape{static_cast<std::int64_t>(lengths)...}); }
inline Array standard_normal(const Shape& size = {}, const SampleOptions& o = {}) { return get_random_state().standard_normal(size, o); }
inline Array randn(const Shape& size, const SampleOptions& o = {}) { return standard_normal(size, o); }
template <std::integral... I> Array randn(I... lengths) { return standard_normal(Shape{static_cast<std::int64_t>(lengths)...}); }
inline Array uniform(double low = 0, double high = 1, const Shape& size = {}, const SampleOptions& o = {}) {
  return get_random_state().uniform(low, high, size, o);
}
inline Array normal(const Operand& loc = 0.0, const Operand& scale = 1.0, const std::optional<Shape>& size = {}, const SampleOptions& o = {}) {
  return get_random_state().normal(loc, scale, size, o);
}
inline Array lognormal(const Operand& mean = 0.0, const Operand& sigma = 1.0, const std::optional<Shape>& size = {}, const SampleOptions& o = {}) {
  return get_random_state().lognormal(mean, sigma, size, o);
}
inline Array gumbel(double loc = 0, double scale = 1, const Shape& size = {}, const SampleOptions& o = {}) {
  return get_random_state().gumbel(loc, scale, size, o);
}
inline Array randint(std::int64_t low, std::optional<std::int64_t> high = {}, const Shape& size = {}, const IntegerOptions& o = {}) {
  return get_random_state().randint(low, high, size, o);
}
inline Array random_integers(std::int64_t low, std::optional<std::int64_t> high = {}, const Shape& size = {}, const IntegerOptions& o = {}) {
  return get_random_state().random_integers(low, high, size, o);
}
inline Array permutation(std::int64_t n) { return get_random_state().permutation(n); }
inline Array permutation(const Array& a) { return get_random_state().permutation(a); }
inline void shuffle(const Array& a) { get_random_state().shuffle(a); }

}  // namespace nd::random
