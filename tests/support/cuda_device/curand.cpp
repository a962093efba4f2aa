// cuRAND of the software device: the same calls with another generator, so its numbers differ from cuRAND's. As in
// cuRAND, they depend only on the method, the seed and the position in the sequence, not on how the sequence is split
// into calls. The position is also device state: a call reads and advances it when its stream reaches the call, so
// draws on two streams must be ordered.
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <catena/kernels/base/export.h>
#include <catena/ndarray/cuda/api/curand.h>
#include <catena/tests/support/cuda_device/library_work.h>

using namespace nd::cuda::api;

struct curandGenerator_st {
  int type = 0;
  bool host = false;
  std::uint64_t seed = 0;
  CUstream_st* stream = nullptr;
  std::optional<std::uint64_t> new_position = {};  // the position at which the next call begins
  std::shared_ptr<std::uint64_t> position = std::make_shared<std::uint64_t>(0);
};

namespace cuda_device::exports {
#define CATENA_TYPE(symbol, field, ...) using symbol##_type = __VA_ARGS__;
CATENA_CURAND_FUNCTIONS(CATENA_TYPE)
#undef CATENA_TYPE
}  // namespace cuda_device::exports
extern "C" {
#define CATENA_DECLARE(symbol, field, ...) CATENA_EXPORT cuda_device::exports::symbol##_type symbol;
CATENA_CURAND_FUNCTIONS(CATENA_DECLARE)
#undef CATENA_DECLARE
}

namespace {

bool is_quasi(int type) { return type >= curand_quasi_default; }
bool is_64_bit(int type) { return type == curand_sobol64 || type == curand_scrambled_sobol64; }

// Number `i` of the sequence (Steele, Lea and Flood's SplitMix64: a mixing function of a counter).
std::uint64_t number(int type, std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = (seed * 0x100000001b3u + std::uint64_t(type)) ^ ((i + 1) * 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

struct Source {
  int type;
  std::uint64_t seed, first;
  std::uint64_t bits(std::size_t i) const { return number(type, seed, first + i); }
  double uniform(std::size_t i) const { return (double(bits(i) >> 11) + 1) * 0x1p-53; }  // (0, 1]
  double normal(std::size_t i) const {
    const std::size_t pair = i - i % 2;
    const double radius = std::sqrt(-2 * std::log(uniform(pair))), angle = 2 * M_PI * uniform(pair + 1);
    return radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
  }
  unsigned poisson(std::size_t i, double lambda) const {  // by inversion, for the small means of tests
    double p = std::exp(-lambda), sum = p;
    const double u = uniform(i);
    unsigned k = 0;
    for (; u > sum && k < 1000000; sum += p) p *= lambda / ++k;
    return k;
  }
};

template <class T, class F> curand_status fill(curand_generator g, T* out, std::size_t n, F value) {
  if (g == nullptr) return curand_not_initialized;
  const auto work = [=, type = g->type, seed = g->seed, position = g->position,
                     begin = std::exchange(g->new_position, std::nullopt)] {
    const Source source{type, seed, begin.value_or(*position)};
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<T>(value(source, i));
    *position = source.first + n;
  };
  if (g->host) {
    work();
    return curand_success;
  }
  if (!cuda_device::context_is_usable() || !cuda_device::is_device_memory(out, n * sizeof(T)))
    return curand_launch_failure;
  return cuda_device::submit_library_work("curandGenerate", g->stream, work) ? curand_success : curand_launch_failure;
}

curand_status create_generator(curand_generator* generator, int type, bool host) {
  switch (type) {
    case curand_pseudo_default: type = curand_xorwow; break;
    case curand_quasi_default: type = curand_sobol32; break;
    case curand_xorwow:
    case curand_mrg32k3a:
    case curand_mtgp32:
    case curand_mt19937:
    case curand_philox4_32_10:
    case curand_sobol32:
    case curand_scrambled_sobol32:
    case curand_sobol64:
    case curand_scrambled_sobol64: break;
    default: return curand_type_error;
  }
  if (!host && !cuda_device::context_is_usable()) return curand_initialization_failed;
  *generator = new curandGenerator_st{type, host};
  return curand_success;
}

template <class T>
curand_status fill_normal(curand_generator g, T* out, std::size_t n, double mean, double deviation, bool exponential) {
  if (!is_quasi(g->type) && n % 2 != 0) return curand_length_not_multiple;
  return fill(g, out, n, [=](const Source& s, std::size_t i) {
    const double x = mean + deviation * s.normal(i);
    return exponential ? std::exp(x) : x;
  });
}

constexpr int kExecutionFailed = curand_launch_failure;

}  // namespace

curand_status curandCreateGenerator(curand_generator* g, int type) {
  CATENA_LIBRARY_CALL(curandCreateGenerator);
  return create_generator(g, type, false);
}
curand_status curandCreateGeneratorHost(curand_generator* g, int type) {
  CATENA_LIBRARY_CALL(curandCreateGeneratorHost);
  return create_generator(g, type, true);
}
curand_status curandDestroyGenerator(curand_generator g) {
  CATENA_LIBRARY_CALL(curandDestroyGenerator);
  delete g;
  return curand_success;
}
curand_status curandGetVersion(int* version) {
  CATENA_LIBRARY_CALL(curandGetVersion);
  *version = 10400;
  return curand_success;
}
curand_status curandSetStream(curand_generator g, CUstream_st* stream) {
  CATENA_LIBRARY_CALL(curandSetStream);
  g->stream = stream;
  return curand_success;
}
curand_status curandSetPseudoRandomGeneratorSeed(curand_generator g, unsigned long long seed) {
  CATENA_LIBRARY_CALL(curandSetPseudoRandomGeneratorSeed);
  if (is_quasi(g->type)) return curand_type_error;
  if ((g->type == curand_mtgp32 || g->type == curand_mt19937) && g->seed != seed)
    g->new_position = 0;  // the positions of other generators are unchanged
  g->seed = seed;
  return curand_success;
}
curand_status curandSetGeneratorOffset(curand_generator g, unsigned long long offset) {
  CATENA_LIBRARY_CALL(curandSetGeneratorOffset);
  if (g->type == curand_mtgp32 || g->type == curand_mt19937) return curand_type_error;
  g->new_position = offset;
  return curand_success;
}
curand_status curandSetGeneratorOrdering(curand_generator g, int order) {
  CATENA_LIBRARY_CALL(curandSetGeneratorOrdering);
  return is_quasi(g->type) == (order == curand_order_quasi_default) ? curand_success : curand_out_of_range;
}
curand_status curandSetQuasiRandomGeneratorDimensions(curand_generator g, unsigned dimensions) {
  CATENA_LIBRARY_CALL(curandSetQuasiRandomGeneratorDimensions);
  if (!is_quasi(g->type)) return curand_type_error;
  return dimensions >= 1 && dimensions <= 20000 ? curand_success : curand_out_of_range;
}

curand_status curandGenerate(curand_generator g, unsigned* out, std::size_t n) {
  CATENA_LIBRARY_CALL(curandGenerate);
  if (is_64_bit(g->type)) return curand_type_error;
  return fill(g, out, n, [](const Source& s, std::size_t i) { return s.bits(i) >> 32; });
}
curand_status curandGenerateLongLong(curand_generator g, unsigned long long* out, std::size_t n) {
  CATENA_LIBRARY_CALL(curandGenerateLongLong);
  if (!is_64_bit(g->type)) return curand_type_error;
  return fill(g, out, n, [](const Source& s, std::size_t i) { return s.bits(i); });
}
curand_status curandGenerateUniform(curand_generator g, float* out, std::size_t n) {
  CATENA_LIBRARY_CALL(curandGenerateUniform);
  return fill(g, out, n, [](const Source& s, std::size_t i) { return (double(s.bits(i) >> 40) + 1) * 0x1p-24; });
}
curand_status curandGenerateUniformDouble(curand_generator g, double* out, std::size_t n) {
  CATENA_LIBRARY_CALL(curandGenerateUniformDouble);
  return fill(g, out, n, [](const Source& s, std::size_t i) { return s.uniform(i); });
}
curand_status curandGenerateNormal(curand_generator g, float* out, std::size_t n, float mean, float deviation) {
  CATENA_LIBRARY_CALL(curandGenerateNormal);
  return fill_normal(g, out, n, mean, deviation, false);
}
curand_status curandGenerateNormalDouble(curand_generator g, double* out, std::size_t n, double mean,
                                         double deviation) {
  CATENA_LIBRARY_CALL(curandGenerateNormalDouble);
  return fill_normal(g, out, n, mean, deviation, false);
}
curand_status curandGenerateLogNormal(curand_generator g, float* out, std::size_t n, float mean, float deviation) {
  CATENA_LIBRARY_CALL(curandGenerateLogNormal);
  return fill_normal(g, out, n, mean, deviation, true);
}
curand_status curandGenerateLogNormalDouble(curand_generator g, double* out, std::size_t n, double mean,
                                            double deviation) {
  CATENA_LIBRARY_CALL(curandGenerateLogNormalDouble);
  return fill_normal(g, out, n, mean, deviation, true);
}
curand_status curandGeneratePoisson(curand_generator g, unsigned* out, std::size_t n, double lambda) {
  CATENA_LIBRARY_CALL(curandGeneratePoisson);
  if (!(lambda > 0)) return curand_out_of_range;
  return fill(g, out, n, [lambda](const Source& s, std::size_t i) { return s.poisson(i, lambda); });
}
