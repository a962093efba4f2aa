#include <catena/training/draws.h>

#include <catena/kernels/random.h>

namespace training::internal {

namespace {
std::uint64_t bits(autograd::Generator& g) {
  const std::uint64_t offset = g.take(1);
  return catena::random_bits64(g.seed, offset, 0);
}
}  // namespace

double uniform(autograd::Generator& g, double low, double high) {
  return low + (high - low) * catena::uniform_from_bits(bits(g));
}

std::int64_t integer(autograd::Generator& g, std::int64_t low, std::int64_t high) {
  const auto n = static_cast<std::uint64_t>(high - low) + 1;
  return low + static_cast<std::int64_t>(catena::multiply_high(bits(g), n));
}

}  // namespace training::internal
