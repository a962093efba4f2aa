#include <catena/ndarray/routines/random_key.h>

#include <bit>

#include <catena/kernels/random.h>
#include <catena/ndarray/memory/memory.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/math.h>

namespace nd::random {

using catena::check;

namespace {

// Numbers of streams that no draw uses, so that the keys are independent of the numbers drawn.
constexpr std::uint32_t kChildren = 0x6b657901u, kFolded = 0x6b657902u;

std::uint64_t derived(std::uint64_t seed, std::uint64_t number, std::uint32_t stream) {
  const catena::philox_block b = catena::philox4x32(seed, number, stream);
  return catena::join_words(b.lane[0], b.lane[1]);
}

}  // namespace

Key Key::child(std::int64_t i) const {
  check<ValueError>(i >= 0, "Key.child", "the number ", i, " is negative");
  return Key(derived(seed_, static_cast<std::uint64_t>(i), kChildren));
}
std::vector<Key> Key::split(std::int64_t n) const {
  check<ValueError>(n >= 0, "Key.split", "the number of keys ", n, " is negative");
  std::vector<Key> keys;
  keys.reserve(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) keys.push_back(child(i));
  return keys;
}
Key Key::fold_in(std::uint64_t number) const noexcept { return Key(derived(seed_, number, kFolded)); }

// ---- sequences of low discrepancy -----------------------------------------------------------------
namespace {

constexpr int kDimensions = 64, kBits = 32;

// A primitive polynomial of `degree` with the coefficients between the first and the last, and the first direction
// numbers: S. Joe and F. Y. Kuo, Constructing Sobol sequences with better two-dimensional projections (2008).
struct Direction {
  int degree;
  unsigned coefficients;
  unsigned first[9];
};
constexpr Direction kDirections[kDimensions - 1] = {{1, 0, {1}},
                                                    {2, 1, {1, 3}},
                                                    {3, 1, {1, 3, 1}},
                                                    {3, 2, {1, 1, 1}},
                                                    {4, 1, {1, 1, 3, 3}},
                                                    {4, 4, {1, 3, 5, 13}},
                                                    {5, 2, {1, 1, 5, 5, 17}},
                                                    {5, 4, {1, 1, 5, 5, 5}},
                                                    {5, 7, {1, 1, 7, 11, 19}},
                                                    {5, 11, {1, 1, 5, 1, 1}},
                                                    {5, 13, {1, 1, 1, 3, 11}},
                                                    {5, 14, {1, 3, 5, 5, 31}},
                                                    {6, 1, {1, 3, 3, 9, 7, 49}},
                                                    {6, 13, {1, 1, 1, 15, 21, 21}},
                                                    {6, 16, {1, 3, 1, 13, 27, 49}},
                                                    {6, 19, {1, 1, 1, 15, 7, 5}},
                                                    {6, 22, {1, 3, 1, 15, 13, 25}},
                                                    {6, 25, {1, 1, 5, 5, 19, 61}},
                                                    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
                                                    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
                                                    {7, 7, {1, 1, 3, 13, 7, 35, 63}},
                                                    {7, 8, {1, 3, 5, 9, 1, 25, 53}},
                                                    {7, 14, {1, 3, 1, 13, 9, 35, 107}},
                                                    {7, 19, {1, 3, 1, 5, 27, 61, 31}},
                                                    {7, 21, {1, 1, 5, 11, 19, 41, 61}},
                                                    {7, 28, {1, 3, 5, 3, 3, 13, 69}},
                                                    {7, 31, {1, 1, 7, 13, 1, 19, 1}},
                                                    {7, 32, {1, 3, 7, 5, 13, 19, 59}},
                                                    {7, 37, {1, 1, 3, 9, 25, 29, 41}},
                                                    {7, 41, {1, 3, 5, 13, 23, 1, 55}},
                                                    {7, 42, {1, 3, 7, 3, 13, 59, 17}},
                                                    {7, 50, {1, 3, 1, 3, 5, 53, 69}},
                                                    {7, 55, {1, 1, 5, 5, 23, 33, 13}},
                                                    {7, 56, {1, 1, 7, 7, 1, 61, 123}},
                                                    {7, 59, {1, 1, 7, 9, 13, 61, 49}},
                                                    {7, 62, {1, 3, 3, 5, 3, 55, 33}},
                                                    {8, 14, {1, 3, 1, 15, 31, 13, 49, 245}},
                                                    {8, 21, {1, 3, 5, 15, 31, 59, 63, 97}},
                                                    {8, 22, {1, 3, 1, 11, 11, 11, 77, 249}},
                                                    {8, 38, {1, 3, 1, 11, 27, 43, 71, 9}},
                                                    {8, 47, {1, 1, 7, 15, 21, 11, 81, 45}},
                                                    {8, 49, {1, 3, 7, 3, 25, 31, 65, 79}},
                                                    {8, 50, {1, 3, 1, 1, 19, 11, 3, 205}},
                                                    {8, 52, {1, 1, 5, 9, 19, 21, 29, 157}},
                                                    {8, 56, {1, 3, 7, 11, 1, 33, 89, 185}},
                                                    {8, 67, {1, 3, 3, 3, 15, 9, 79, 71}},
                                                    {8, 70, {1, 3, 7, 11, 15, 39, 119, 27}},
                                                    {8, 84, {1, 1, 3, 1, 11, 31, 97, 225}},
                                                    {8, 97, {1, 1, 1, 3, 23, 43, 57, 177}},
                                                    {8, 103, {1, 3, 7, 7, 17, 17, 37, 71}},
                                                    {8, 115, {1, 3, 1, 5, 27, 63, 123, 213}},
                                                    {8, 122, {1, 1, 3, 5, 11, 43, 53, 133}},
                                                    {9, 8, {1, 3, 5, 5, 29, 17, 47, 173, 479}},
                                                    {9, 13, {1, 3, 3, 11, 3, 1, 109, 9, 69}},
                                                    {9, 16, {1, 1, 1, 5, 17, 39, 23, 5, 343}},
                                                    {9, 22, {1, 3, 1, 5, 25, 15, 31, 103, 499}},
                                                    {9, 25, {1, 1, 1, 11, 11, 17, 63, 105, 183}},
                                                    {9, 44, {1, 1, 5, 11, 9, 29, 97, 231, 363}},
                                                    {9, 47, {1, 1, 5, 15, 19, 45, 41, 7, 383}},
                                                    {9, 52, {1, 3, 7, 7, 31, 19, 83, 137, 221}},
                                                    {9, 55, {1, 1, 1, 3, 23, 15, 111, 223, 83}},
                                                    {9, 59, {1, 1, 5, 13, 31, 15, 55, 25, 161}},
                                                    {9, 62, {1, 1, 3, 13, 25, 47, 39, 87, 257}}};

using Numbers = std::array<std::uint32_t, kBits>;
Numbers direction_numbers(int dimension) {
  Numbers v;
  if (dimension == 0) {
    for (int i = 0; i < kBits; ++i) v[std::size_t(i)] = 1u << (kBits - 1 - i);
    return v;
  }
  const Direction& d = kDirections[dimension - 1];
  for (int i = 0; i < kBits; ++i) {
    auto& x = v[std::size_t(i)];
    if (i < d.degree) {
      x = d.first[i] << (kBits - 1 - i);
      continue;
    }
    x = v[std::size_t(i - d.degree)] ^ (v[std::size_t(i - d.degree)] >> d.degree);
    for (int k = 1; k < d.degree; ++k)
      if ((d.coefficients >> (d.degree - 1 - k) & 1) != 0) x ^= v[std::size_t(i - k)];
  }
  return v;
}

void check_sequence(const char* op, std::int64_t n, int dimensions, const SequenceOptions& o) {
  check<ValueError>(n >= 0 && o.skip >= 0, op, "n is ", n, " and skip is ", o.skip, "; both must be >= 0");
  check<ValueError>(dimensions >= 1 && dimensions <= kDimensions, op, "there are ", dimensions,
                    " dimensions, there must be 1 to ", kDimensions);
}

// The points, with column k from write(k, first element of the column, distance of elements).
template <class F> Array points(std::int64_t n, int dimensions, const SequenceOptions& o, F write) {
  Array host;
  {
    const DeviceScope scope(cpu_device);
    host = empty({n, dimensions}, Dtype::float64);
    for (int k = 0; k < dimensions; ++k) write(k, reinterpret_cast<double*>(host.data().ptr()) + k, dimensions);
  }
  const Array result = host.to_device(current_device());
  if (!o.shift) return result;
  const Array moved = add(result, default_rng(*o.shift).random({dimensions}));
  return subtract(moved, floor(moved));
}

}  // namespace

Array sobol(std::int64_t n, int dimensions, const SequenceOptions& o) {
  check_sequence("sobol", n, dimensions, o);
  check<ValueError>(n <= (std::int64_t(1) << kBits) - o.skip, "sobol", "the sequence has 2^32 points, not ", o.skip,
                    " + ", n);
  return points(n, dimensions, o, [&](int k, double* to, int step) {
    const Numbers v = direction_numbers(k);
    const auto skip = static_cast<std::uint64_t>(o.skip);
    std::uint32_t x = 0;
    for (std::uint64_t gray = skip ^ (skip >> 1); gray != 0; gray &= gray - 1)
      x ^= v[std::size_t(std::countr_zero(gray))];
    for (std::int64_t i = 0; i < n; ++i) {
      to[i * step] = x * 0x1p-32;
      const int next = std::countr_zero(skip + static_cast<std::uint64_t>(i) + 1);
      if (next < kBits) x ^= v[std::size_t(next)];
    }
  });
}

Array halton(std::int64_t n, int dimensions, const SequenceOptions& o) {
  check_sequence("halton", n, dimensions, o);
  std::vector<std::uint64_t> primes;
  for (std::uint64_t p = 2; primes.size() < std::size_t(dimensions); ++p) {
    bool is_prime = true;
    for (const std::uint64_t q : primes) is_prime = is_prime && p % q != 0;
    if (is_prime) primes.push_back(p);
  }
  return points(n, dimensions, o, [&](int k, double* to, int step) {
    const std::uint64_t base = primes[std::size_t(k)];
    for (std::int64_t i = 0; i < n; ++i) {
      double x = 0, place = 1.0 / static_cast<double>(base);
      for (std::uint64_t rest = std::uint64_t(o.skip) + std::uint64_t(i); rest > 0;
           rest /= base, place /= static_cast<double>(base))
        x += place * static_cast<double>(rest % base);
      to[i * step] = x;
    }
  });
}

}  // namespace nd::random
