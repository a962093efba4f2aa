#include <catena/kernels/base/seed.h>

#include <charconv>
#include <cstdlib>
#include <random>
#include <string_view>

#include <catena/kernels/base/error.h>

namespace catena {

std::uint64_t entropy() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

std::uint64_t initial_seed() {
  const char* const text = std::getenv("CHAINER_SEED");
  if (text == nullptr || *text == '\0') return entropy();
  std::uint64_t seed = 0;
  const std::string_view all(text);
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), seed);
  check<ValueError>(error == std::errc() && end == all.data() + all.size(), "CHAINER_SEED", '"', all,
                    "\" is no unsigned 64-bit integer");
  return seed;
}

}  // namespace catena
