#include <catena/ndarray/routines/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <ostream>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/routines/creation.h>

namespace nd {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Three digits behind the point.
std::string number(double microseconds, std::size_t width) {
  std::string text = catena::fixed_text(microseconds, 3);
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

std::string summary(const std::string& title, std::vector<double> seconds) {
  for (double& s : seconds) s *= 1e6;
  const double n = static_cast<double>(seconds.size());
  const double mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / n;
  double squares = 0;
  for (const double s : seconds) squares += (s - mean) * (s - mean);
  const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
  return catena::concat("    ", title, ": ", number(mean, 9), " us   +/- ", number(std::sqrt(squares / n), 6),
                        " (min: ", number(*least, 9), " / max: ", number(*most, 9), ") us");
}

}  // namespace

std::string BenchmarkResult::to_string() const {
  std::string text = name + std::string(name.size() < 20 ? 20 - name.size() : 0, ' ') + ":";
  text += summary("CPU", cpu_times.to_vector<double>());
  if (gpu_times.shape(0) > 0) text += summary(catena::concat("GPU-", device.id), gpu_times.to_vector<double>());
  return text;
}
std::ostream& operator<<(std::ostream& out, const BenchmarkResult& result) { return out << result.to_string(); }

BenchmarkResult benchmark(const catena::Function<void()>& f, const BenchmarkOptions& o) {
  using catena::check;
  check<ValueError>(o.n_repeat >= 1, "benchmark", "n_repeat is ", o.n_repeat, " and should be at least 1");
  check<ValueError>(o.n_warmup >= 0, "benchmark", "n_warmup is ", o.n_warmup, " and should not be negative");
  check<ValueError>(!std::isnan(o.max_duration), "benchmark", "max_duration is NaN");
  const Device device = current_device();
  const bool is_gpu = device.kind != Device::Kind::cpu;
  std::vector<double> cpu, gpu;
  for (int k = 0; k < o.n_warmup; ++k) f();
  synchronize(device);
  const Clock::time_point begin = Clock::now();
  for (int k = 0; k < o.n_repeat && (k == 0 || seconds_since(begin) < o.max_duration); ++k) {
    if (!is_gpu) {
      const Clock::time_point start = Clock::now();
      f();
      cpu.push_back(seconds_since(start));
      continue;
    }
    const Event first, last;
    const StreamRef stream = current_stream(device);
    runtime(device.kind).record_event(first.ptr(), stream);
    const Clock::time_point start = Clock::now();
    f();
    cpu.push_back(seconds_since(start));
    runtime(device.kind).record_event(last.ptr(), stream);
    last.synchronize();
    gpu.push_back(get_elapsed_time(first, last) * 1e-3);
  }
  const DeviceScope host(cpu_device);
  const std::int64_t n = static_cast<std::int64_t>(cpu.size());
  return {.name = o.name,
          .cpu_times = array(cpu),
          .gpu_times = array(gpu).reshape(Shape{is_gpu ? 1 : 0, n}),
          .device = device};
}

}  // namespace nd
