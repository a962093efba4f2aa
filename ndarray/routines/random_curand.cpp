#include <catena/ndarray/routines/random_curand.h>

#include <atomic>
#include <bit>
#include <limits>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/sorting.h>

namespace nd::random {
namespace {

// Devices whose numbers are equal modulo kCounters share a counter, which then counts the draws of all of them.
std::atomic<std::uint64_t>& draws_of(Device device) {
  constexpr int kCounters = 64;
  static std::atomic<std::uint64_t> counters[2][kCounters];
  return counters[device.kind == Device::Kind::cpu ? 0 : 1][device.id % kCounters];
}

}  // namespace

std::uint64_t CurandSource::draws(Device device) noexcept { return draws_of(device).load(std::memory_order_acquire); }

CurandSource::CurandSource(std::uint64_t seed, cuda::CurandMethod method, Device device)
    : generator_(method, {.seed = seed}, device), last_{device, nullptr} {
  const DeviceScope scope(device);
  filled_.emplace(EventOptions{.disable_timing = true});
}

void CurandSource::reseed(std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  generator_.set_seed(seed);
}

// The library keeps the position of the sequence in its own memory, which each fill changes. Fills are therefore
// ordered, also across streams.
template <class F> void CurandSource::fill(F&& f) {
  const std::lock_guard lock(mutex_);
  const StreamRef stream = current_stream(device());
  Runtime& b = runtime(stream.device.kind);
  if (!(stream == last_)) b.wait_event(stream, filled_->ptr());
  draws_of(device()).fetch_add(1, std::memory_order_acq_rel);
  f();
  b.record_event(filled_->ptr(), stream);
  last_ = stream;
}

void CurandSource::draw(catena::RandomKind kind, const Array& out, std::int64_t low, std::int64_t high) {
  catena::check<catena::ValueError>(out.device() == device(), "random", "the generator of cuRAND is on ", device(),
                                    ", the numbers are to be on ", out.device());
  if (device().kind == Device::Kind::cuda)
    cuda::forbid_recording("random", "replays would not go on in cuRAND's sequence");
  if (kind == catena::RandomKind::uniform) return uniform(out);
  if (kind == catena::RandomKind::normal) return normal(out);
  // The range 0, 0 stands for all of int64.
  integers(out, static_cast<std::uint64_t>(low),
           static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) - 1);
}

// cuRAND's uniform numbers are in (0, 1].
void CurandSource::uniform(const Array& out) {
  const Dtype compute = catena::compute_dtype(out.dtype());
  const Array u = out.dtype() == compute ? out : empty(out.shape(), compute);
  fill([&] { generator_.uniform(u); });
  subtract(1.0, u, {.out = out});
}

// Normal numbers are generated in pairs; for an odd count one more is generated and dropped.
void CurandSource::normal(const Array& out) {
  const Dtype compute = catena::compute_dtype(out.dtype());
  const std::int64_t n = out.size();
  const bool direct = out.dtype() == compute && n % 2 == 0;
  const Array pairs = direct ? out : empty({n + n % 2}, compute);
  fill([&] { generator_.normal(pairs); });
  if (!direct) internal::assign("random", out, pairs(Slice({}, n)).reshape(out.shape()));
}

// Returns low + a uniform number in [0, most]: draws as many random bits as `most` has, and again while the number
// exceeds `most`.
void CurandSource::integers(const Array& out, std::uint64_t low, std::uint64_t most) {
  const Dtype word = most <= std::numeric_limits<std::uint32_t>::max() ? Dtype::uint32 : Dtype::uint64;
  const std::uint64_t mask = most == 0 ? 0 : std::numeric_limits<std::uint64_t>::max() >> std::countl_zero(most);
  Array a = bitwise_and(words(out.size(), word), mask);
  while (mask != most) {
    const Array above = flatnonzero(a > most);
    if (above.size() == 0) break;
    setitem(a, {above}, bitwise_and(words(above.size(), word), mask));
  }
  a = a.astype(Dtype::uint64, {.copy = false});
  a += low;  // modulo 2^64, which is correct for int64 in two's complement
  internal::assign("random", out, a.reshape(out.shape()));
}

// Returns random bits as uint32 or uint64.
Array CurandSource::words(std::int64_t n, Dtype dtype) {
  const Array halves = empty({dtype == Dtype::uint64 ? 2 * n : n}, Dtype::uint32);
  fill([&] { generator_.generate(halves); });
  return halves.view(dtype);
}

}  // namespace nd::random
