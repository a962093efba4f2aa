// A generator of cuRAND behind nd::random::Generator: what the library gives, in the shapes, dtypes and ranges of the
// samplers.
//
// Thread safety: all members may be called from any thread; each call takes numbers of its own, in an order that is not
// defined.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include <catena/kernels/rows/calls.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/cuda/vendor/curand.h>
#include <catena/ndarray/device/stream.h>

namespace nd::random {

class CurandSource {
 public:
  // RuntimeError without cuRAND, ValueError for a method that is not pseudo-random.
  CurandSource(std::uint64_t seed, cuda::CurandMethod method, Device device);

  cuda::CurandMethod method() const noexcept { return generator_.method(); }
  Device device() const noexcept { return generator_.device(); }
  // Begins the sequence of that seed.
  void reseed(std::uint64_t seed);

  // Fills a C-contiguous array as RandomCall does, but for uniform numbers, which rounding may take to 1. ValueError
  // when the array is not on the generator's device, RuntimeError while a CUDA graph is recorded.
  void draw(catena::RandomKind kind, const Array& out, std::int64_t low, std::int64_t high);

 private:
  template <class F>
  void fill(F&& f);
  void uniform(const Array& out);
  void normal(const Array& out);
  void integers(const Array& out, std::uint64_t low, std::uint64_t most);
  Array words(std::int64_t n, Dtype dtype);

  std::mutex mutex_;
  cuda::CurandGenerator generator_;
  std::optional<Event> filled_;  // the last fill, on the stream last_
  StreamRef last_;
};

}  // namespace nd::random
