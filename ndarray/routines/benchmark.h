// Times of a piece of work on the host and on a GPU:
//
//   nd::benchmark([&] { nd::matmul(a, b); }, {.n_repeat = 100, .name = "matmul"})
//   matmul              :    CPU:     8.125 us   +/-  0.412 (min:     7.800 / max:    10.300) us     GPU-0: ...
//
// As cupyx.profiler.benchmark. Include <catena/ndarray/routines/benchmark.h>. Thread safety: may be called from any
// thread; one measurement at a time has a device for itself.
#pragma once

#include <iosfwd>
#include <string>

#include <catena/kernels/base/function.h>
#include <catena/ndarray/core/array.h>

namespace nd {

struct BenchmarkOptions {
  int n_repeat = 10000;  // calls that are timed
  std::string name = {};
  int n_warmup = 10;  // calls before them
  // Seconds after which no further call begins.
  double max_duration = inf;
};

// The times of one measurement.
struct CATENA_EXPORT BenchmarkResult {
  std::string name;
  Array cpu_times;  // float64, (calls): seconds that each call took the host
  Array gpu_times;  // float64, (1, calls): seconds of the current stream of the device; (0, calls) on the CPU
  Device device;

  // One line with mean, standard deviation, minimum and maximum in microseconds.
  std::string to_string() const;
};
CATENA_EXPORT std::ostream& operator<<(std::ostream& out, const BenchmarkResult& result);

// Calls f repeatedly on the current device. On a GPU each call waits for the work of the one before, and its time ends
// when the work of the current stream has ended. ValueError for a number of calls below 1, or below 0 before them, and
// for a duration of NaN. Exceptions of f are passed on.
CATENA_EXPORT BenchmarkResult benchmark(const catena::Function<void()>& f, const BenchmarkOptions& options = {});

}  // namespace nd
