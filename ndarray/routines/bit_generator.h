// The sources of random numbers for nd::random::RandomState and nd::random::Generator: Philox4x32-10, which is
// counter-based, or a pseudo-random generator of cuRAND.
#pragma once

#include <cstdint>
#include <optional>

#include <catena/kernels/base/pointers.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/device/stream.h>

namespace catena {
enum class RandomKind : std::uint8_t;
}
namespace nd::cuda {
enum class CurandMethod : int;
}

namespace nd::random {

// A source of random numbers with the state {seed, offset}; the offset counts blocks of four numbers. A copy produces
// the same numbers as the original. cuRAND does not report its position, so a copy of a cuRAND generator starts the
// sequence of its seed.
//
// Thread safety: several threads may use one object; each call takes its own numbers, in an undefined order of calls.
class CATENA_EXPORT BitGenerator {
 public:
  BitGenerator();  // with a seed from the operating system
  explicit BitGenerator(std::uint64_t seed, std::uint64_t offset = 0);
  // A pseudo-random cuRAND generator on the current device, which must also be the current device of its draws
  // (ValueError); without a seed, one from the operating system is used. Its integers wait for the device unless the
  // length of the range is a power of 2; its draws cannot be captured in a CUDA graph (RuntimeError). Permutations,
  // choices without replacement, bytes and the distributions that reject candidates (gamma, binomial...) use Philox
  // with that seed. RuntimeError "cuRAND is unavailable: ...", ValueError for a method that is not pseudo-random.
  BitGenerator(std::optional<std::uint64_t> seed, cuda::CurandMethod method);
  BitGenerator(const BitGenerator& o);
  BitGenerator& operator=(const BitGenerator& o);
  ~BitGenerator();

  std::uint64_t initial_seed() const noexcept;
  std::uint64_t offset() const noexcept;  // offset of Philox; cuRAND draws do not change it
  // The cuRAND method, or nothing for Philox.
  std::optional<cuda::CurandMethod> method() const noexcept;
  // Starts the sequence of a seed, by default of one from the operating system, with the same method.
  void reseed(std::optional<std::uint64_t> seed = {});
  // Reserves `n` Philox numbers; returns the seed and the offset at which they begin.
  struct Position {
    std::uint64_t seed, offset;
  };
  Position reserve(std::int64_t n) noexcept;
  // Returns `size` numbers of a kind on the current device; integers are from low to high - 1. The samplers are built
  // on this.
  Array sample(catena::RandomKind kind, const Shape& size, Dtype dtype, std::int64_t low = 0, std::int64_t high = 0);
  // Fills a C-contiguous array of the current device in the same way.
  void fill(catena::RandomKind kind, const Array& out, std::int64_t low = 0, std::int64_t high = 0);
  // Numbers are generated on this stream; without one, on the current stream of the device. The current stream waits
  // for them, so that later work on it can use them.
  void set_stream(const std::optional<Stream>& stream = {});

 private:
  struct State;    // seed, offset, cuRAND generator, stream
  struct Guarded;  // the state and its mutex
  State state() const noexcept;
  State begin_draw(std::int64_t n) noexcept;  // returns the present state; Philox continues `n` numbers later
  State copy() const;
  catena::Owned<Guarded> guarded_;
};

// The bit generators by name: default_rng(nd::random::XORWOW(7)). The last two are cuRAND's.
class CATENA_EXPORT Philox4x3210 : public BitGenerator {
 public:
  explicit Philox4x3210(std::optional<std::uint64_t> seed = {});
};
class CATENA_EXPORT XORWOW : public BitGenerator {
 public:
  explicit XORWOW(std::optional<std::uint64_t> seed = {});
};
class CATENA_EXPORT MRG32k3a : public BitGenerator {
 public:
  explicit MRG32k3a(std::optional<std::uint64_t> seed = {});
};

}  // namespace nd::random
