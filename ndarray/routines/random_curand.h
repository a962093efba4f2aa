// A cuRAND generator behind nd::random::BitGenerator: converts the library's numbers to the shapes, dtypes and ranges
// of the samplers.
//
// Thread safety: all members may be called from any thread; each call takes its own numbers, in an undefined order of
// calls.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include <catena/kernels/registry/bound_call.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/routines/curand.h>

namespace nd::random {

class CurandSource {
 public:
  // RuntimeError without cuRAND, ValueError for a method that is not pseudo-random.
  CurandSource(std::uint64_t seed, cuda::CurandMethod method, Device device);

  cuda::CurandMethod method() const noexcept { return generator_.method(); }
  Device device() const noexcept { return generator_.device(); }
  // Starts the sequence of that seed.
  void reseed(std::uint64_t seed);

  // Returns how often this program has drawn from generators of cuRAND on a device.
  static std::uint64_t draws(Device device) noexcept;

  // Fills a C-contiguous array as a catena::bound::Random does, except that rounding may turn uniform numbers into 1.
  // ValueError if the array is not on the generator's device, RuntimeError during the capture of a CUDA graph.
  void draw(catena::RandomKind kind, const Array& out, std::int64_t low, std::int64_t high);

 private:
  template <class F> void fill(F&& f);
  void uniform(const Array& out);
  void normal(const Array& out);
  void integers(const Array& out, std::uint64_t low, std::uint64_t most);
  Array words(std::int64_t n, Dtype dtype);

  std::mutex mutex_;
  cuda::CurandGenerator generator_;
  std::optional<Event> filled_;  // the last fill, on stream last_
  StreamRef last_;
};

}  // namespace nd::random
