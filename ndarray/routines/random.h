// Random numbers: counter based (Philox4x32-10), so a sample is a function of a seed and an offset. Bits, integers and
// uniform numbers in [0, 1) are the same on every device; normal ones agree to a few units in the last place. No
// sequence equals NumPy's.
//
//   nd::random::seed(0);
//   nd::Array x = nd::random::standard_normal({1000, 1000}, {.dtype = nd::float32});
//   nd::random::Generator g(7);  g.uniform(-1, 1, {10});  nd::random::Generator replay(g.seed(), g.offset());
//
// A generator of cuRAND can take Philox's place, where that library is there (ndarray/cuda/vendor/curand.h names its
// methods):
//
//   nd::random::RandomState g(7, nd::cuda::CurandMethod::xorwow);
//   nd::random::get_random_state() = g;   // also behind nd::random::rand and all other functions, on this device
//
// Its numbers depend on the seed, the method, the order and the sizes of the draws, on the device and on the library's
// version.
//
// Results are new arrays on the current device; without a size they are 0-d. Floating samplers give float64 unless
// options.dtype is another floating dtype (TypeError otherwise).
//
// Thread safety: a Generator may be used from several threads; each call takes numbers of its own, in an order that is
// not defined.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include <catena/kernels/rows/calls.h>
#include <catena/ndarray/core/array.h>

namespace nd::cuda {
enum class CurandMethod : int;
}

namespace nd::random {

class CurandSource;

struct SampleOptions {
  Dtype dtype = Dtype::float64;
};
struct IntegerOptions {
  Dtype dtype = Dtype::int64;
};

// A source of random numbers: {seed, offset}, the offset in blocks of four numbers. Copies replay the same numbers; but
// cuRAND cannot tell where in a sequence it stands, so that a copy of its generator begins the sequence of its seed.
class CATENA_EXPORT Generator {
 public:
  Generator();  // a seed from the operating system
  explicit Generator(std::uint64_t seed, std::uint64_t offset = 0) noexcept : state_{seed, offset, nullptr} {}
  // A pseudo-random generator of cuRAND on the current device, which must be the current one of its draws, too
  // (ValueError); without a seed one from the operating system. Its integers wait for the device unless the length of
  // the range is a power of 2; its draws cannot be recorded in a CUDA graph (RuntimeError). Orders (permutation,
  // shuffle) are still Philox's of that seed. RuntimeError "cuRAND is unavailable: ...", ValueError for another method.
  Generator(std::optional<std::uint64_t> seed, cuda::CurandMethod method);
  Generator(const Generator& o);
  Generator& operator=(const Generator& o);
  ~Generator();

  std::uint64_t seed() const noexcept;
  std::uint64_t offset() const noexcept;  // of Philox: draws from cuRAND leave it
  // cuRAND's method; nothing for Philox.
  std::optional<cuda::CurandMethod> method() const noexcept;
  // Starts the sequence of a seed; without one, of a seed from the operating system. The method stays.
  void reseed(std::optional<std::uint64_t> seed = {});
  // The offset at which `n` numbers of Philox begin; they are used up then.
  std::uint64_t reserve(std::int64_t n) noexcept;

  // Uniform on [0, 1): in steps of 2^-24 (float32) or 2^-53 (float64). 1 never appears.
  Array random_sample(const Shape& size = {}, const SampleOptions& options = {});
  Array rand(const Shape& size = {}, const SampleOptions& options = {}) { return random_sample(size, options); }
  // low + (high - low) * [0, 1); `high` itself never appears. ValueError when the range is not finite.
  Array uniform(double low = 0, double high = 1, const Shape& size = {}, const SampleOptions& options = {});
  // Mean 0, deviation 1.
  Array standard_normal(const Shape& size = {}, const SampleOptions& options = {});
  Array randn(const Shape& size = {}, const SampleOptions& options = {}) { return standard_normal(size, options); }
  // loc + scale * standard normal; arrays broadcast to `size`, or together where there is none. ValueError for a
  // negative scalar scale.
  Array normal(const Operand& loc = 0.0, const Operand& scale = 1.0, const std::optional<Shape>& size = {},
               const SampleOptions& options = {});
  // exp(normal(mean, sigma)).
  Array lognormal(const Operand& mean = 0.0, const Operand& sigma = 1.0, const std::optional<Shape>& size = {},
                  const SampleOptions& options = {});
  // loc - scale * log(-log(1 - U)); always finite.
  Array gumbel(double loc = 0, double scale = 1, const Shape& size = {}, const SampleOptions& options = {});
  // Integers of [low, high), or of [0, low) without `high`, all equally likely. ValueError for an empty range and for
  // one that does not fit options.dtype, TypeError when that is no integer dtype.
  Array randint(std::int64_t low, std::optional<std::int64_t> high = {}, const Shape& size = {},
                const IntegerOptions& options = {});
  // Integers of [low, high], or of [1, low] without `high`.
  Array random_integers(std::int64_t low, std::optional<std::int64_t> high = {}, const Shape& size = {},
                        const IntegerOptions& options = {});
  // The numbers 0..n-1 in random order (int64); ValueError for n < 0. The order is made on the host, so it waits for
  // nothing but a copy.
  Array permutation(std::int64_t n);
  // A copy of `a` with the parts along axis 0 in random order; TypeError for a 0-d array.
  Array permutation(const Array& a);
  // The same in place.
  void shuffle(const Array& a);

 private:
  struct State {
    std::uint64_t seed, offset;
    std::shared_ptr<CurandSource> curand;  // null: Philox
  };
  State state() const noexcept;
  State begin(std::int64_t n) noexcept;  // the state before `n` numbers of Philox, which are used up
  State copy() const;
  Array sample(catena::RandomKind kind, const Shape& size, Dtype dtype, std::int64_t low = 0, std::int64_t high = 0);

  mutable std::mutex mutex_;
  State state_;
};
using RandomState = Generator;

// ---- the generator of the current device
// ----------------------------------------------------------------------------------------- Always the same object for
// one device. Its first seed comes from the environment variable CHAINER_SEED (ValueError when that is no integer),
// else from the operating system; devices 1, 2... of a kind derive theirs from it, so that they differ.
CATENA_EXPORT Generator& get_random_state();
// Seeds the generator of the current device alone, with exactly this seed.
inline void seed(std::optional<std::uint64_t> seed = {}) { get_random_state().reseed(seed); }
// All devices start again as in a fresh process, with Philox.
CATENA_EXPORT void reset_states();

inline Array random_sample(const Shape& size = {}, const SampleOptions& o = {}) {
  return get_random_state().random_sample(size, o);
}
inline Array random(const Shape& size = {}, const SampleOptions& o = {}) { return random_sample(size, o); }
inline Array ranf(const Shape& size = {}, const SampleOptions& o = {}) { return random_sample(size, o); }
inline Array sample(const Shape& size = {}, const SampleOptions& o = {}) { return random_sample(size, o); }
inline Array rand(const Shape& size, const SampleOptions& o = {}) { return random_sample(size, o); }
template <std::integral... I>
Array rand(I... lengths) {
  return random_sample(Shape{static_cast<std::int64_t>(lengths)...});
}
inline Array standard_normal(const Shape& size = {}, const SampleOptions& o = {}) {
  return get_random_state().standard_normal(size, o);
}
inline Array randn(const Shape& size, const SampleOptions& o = {}) { return standard_normal(size, o); }
template <std::integral... I>
Array randn(I... lengths) {
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
