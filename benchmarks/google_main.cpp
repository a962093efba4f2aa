// Runs the cases linked to this program with Google Benchmark. --device cpu|cuda selects the device.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>

#include <catena/benchmarks/cases.h>

namespace {

void measure(benchmark::State& state, const bench::Case& c) {
  using Clock = std::chrono::steady_clock;
  try {
    const bench::Ready ready = c.setup(c.full);
    const nd::Device device = nd::current_device();
    ready.run(1);
    nd::synchronize(device);
    // Batches of about a millisecond, so that checking the iteration count and waiting for the device take little time.
    const auto start = Clock::now();
    ready.run(1);
    nd::synchronize(device);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const auto batch = std::int64_t(std::clamp(1e-3 / seconds, 1.0, 1e4));
    while (state.KeepRunningBatch(batch)) {
      ready.run(batch);
      nd::synchronize(device);
    }
  } catch (const catena::Error& e) {
    state.SkipWithError(e.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::choose_device(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  for (const bench::Case& c : bench::Cases::all()) {
    benchmark::RegisterBenchmark(c.name.c_str(), [&c](benchmark::State& state) { measure(state, c); })->UseRealTime();
  }
  benchmark::RunSpecifiedBenchmarks();
}
