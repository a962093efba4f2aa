// Random numbers of the value API. A generator is {seed, offset} on the host; the backend computes element i from it.
#include <atomic>
#include <optional>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/backend/random_extension.h>
#include <catena/kernels/base/device_name.h>
#include <catena/kernels/base/seed.h>

namespace autograd {
namespace {

using catena::check;
using catena::ValueError;

// The first offset of a framework generator. It is far from 0, the first offset of a generator of the array library, so
// that with one seed the initial weights never equal the data that a user draws.
constexpr std::uint64_t kFirstOffset = std::uint64_t(1) << 62;

// Returns catena::initial_seed() for the first thread, and a different seed for every further thread.
std::uint64_t first_seed_of_thread() {
  static const std::uint64_t base = catena::initial_seed();
  static std::atomic<std::uint64_t> threads{0};
  return base + threads.fetch_add(1, std::memory_order_relaxed) * 0x9e3779b97f4a7c15u;
}

Array draw(const char* op, catena::RandomKind kind, const Shape& shape, Dtype dtype, Generator& g,
           const std::optional<Device>& device) {
  check<catena::TypeError>(catena::is_floating(dtype), op, "the dtype must be floating, it is ", dtype);
  Array out = arrays::empty(shape, dtype, device);
  // A replayed draw takes its offset from the thread's default generator, because `g` may have been destroyed by then.
  const OffsetRefresh next = [n = out.size()] { return default_generator().take(n); };
  out.backend().execute(catena::call::Random{kind, g.seed, g.take(out.size()), 0, 0, out.get(),
                                             &g == &default_generator() ? &next : nullptr});
  return out;
}

}  // namespace

Generator::Generator(const char* device) {
  catena::device_from_name("Generator", device, default_backend().default_device());
}

Generator& default_generator() {
  static thread_local Generator generator{first_seed_of_thread(), kFirstOffset};
  return generator;
}

void seed(std::uint64_t seed) {
  default_generator() = Generator(seed, kFirstOffset);
  if (RandomExtension* const others = find_random_extension()) others->seed(seed);
}

Array random_uniform(const Shape& shape, double low, double high, Dtype dtype, Generator& g,
                     std::optional<Device> device) {
  Array out = draw("random_uniform", catena::RandomKind::uniform, shape, dtype, g, device);
  if (low == 0 && high == 1) return out;
  out *= high - low;
  out += low;
  return out;
}

Array random_normal(const Shape& shape, double mean, double stddev, Dtype dtype, Generator& g,
                    std::optional<Device> device) {
  check<ValueError>(stddev >= 0, "random_normal", "the standard deviation ", stddev, " is negative");
  Array out = draw("random_normal", catena::RandomKind::normal, shape, dtype, g, device);
  if (stddev != 1) out *= stddev;
  if (mean != 0) out += mean;
  return out;
}

}  // namespace autograd
