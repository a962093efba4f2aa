// cuFFT of the software device: transforms in long double, rounded once. Lengths are split at their least prime factor,
// a prime length is summed by the definition. As in cuFFT, transforms are not scaled, a plan has no memory before its
// work area is set, and a transform to real numbers may overwrite its input.
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <vector>

#include <catena/kernels/base/export.h>
#include <catena/ndarray/cuda/api/cufft.h>
#include <catena/tests/support/cuda_device/library_work.h>

using namespace nd::cuda::api;

namespace cuda_device::exports {
#define CATENA_TYPE(symbol, field, ...) using symbol##_type = __VA_ARGS__;
CATENA_CUFFT_FUNCTIONS(CATENA_TYPE)
#undef CATENA_TYPE
}  // namespace cuda_device::exports
extern "C" {
#define CATENA_DECLARE(symbol, field, ...) CATENA_EXPORT cuda_device::exports::symbol##_type symbol;
CATENA_CUFFT_FUNCTIONS(CATENA_DECLARE)
#undef CATENA_DECLARE
}

namespace {

using Complex = std::complex<long double>;
using Numbers = std::vector<Complex>;

struct Plan {
  std::vector<std::size_t> lengths;
  int type = 0;
  std::size_t rows = 0, work_bytes = 0;
  bool auto_allocation = true;
  void* work = nullptr;
  CUstream_st* stream = nullptr;
};
std::mutex mutex;
std::map<cufft_handle, std::shared_ptr<Plan>> plans;

std::shared_ptr<Plan> find(cufft_handle handle) {
  const std::lock_guard lock(mutex);
  const auto found = plans.find(handle);
  return found == plans.end() ? nullptr : found->second;
}

Complex turn(std::size_t k, std::size_t n, int direction) {
  const long double angle =
      2 * std::numbers::pi_v<long double> * static_cast<long double>(k % n) / static_cast<long double>(n);
  return std::polar(1.0L, direction * angle);
}

// The transform of x[0], x[step], ..., n numbers.
Numbers transform(const Complex* x, std::size_t n, std::size_t step, int direction) {
  std::size_t p = 2;
  while (p * p <= n && n % p != 0) ++p;
  if (n % p != 0) p = n;
  Numbers result(n);
  if (n == 1) {
    result[0] = x[0];
    return result;
  }
  const std::size_t m = n / p;
  std::vector<Numbers> parts;
  for (std::size_t j = 0; j < p; ++j)
    parts.push_back(m == 1 ? Numbers{x[j * step]} : transform(x + j * step, m, step * p, direction));
  Numbers turns;
  for (std::size_t k = 0; k < n; ++k) turns.push_back(turn(k, n, direction));
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0; j < p; ++j) result[k] += parts[j][k % m] * turns[j * k % n];
  return result;
}

// Transforms a block along all its axes.
void transform_block(Numbers& block, const std::vector<std::size_t>& lengths, int direction) {
  std::size_t inner = 1;
  for (std::size_t axis = lengths.size(); axis-- > 0; inner *= lengths[axis]) {
    const std::size_t n = lengths[axis];
    for (std::size_t i = 0; i < block.size(); i += i % inner + 1 == inner ? inner * (n - 1) + 1 : 1) {
      const Numbers line = transform(&block[i], n, inner, direction);
      for (std::size_t k = 0; k < n; ++k) block[i + k * inner] = line[k];
    }
  }
}

bool to_real(int type) { return type == cufft_c2r || type == cufft_z2d; }
bool from_real(int type) { return type == cufft_r2c || type == cufft_d2z; }

std::size_t numbers_of(const Plan& plan, bool halved) {
  std::size_t n = 1;
  for (const std::size_t length : plan.lengths) n *= length;
  return halved ? n / plan.lengths.back() * (plan.lengths.back() / 2 + 1) : n;
}

// Transforms each block of a plan, as complex numbers in whole rows. T is float or double.
template <class T> void run(const Plan& plan, T* in, T* out, int direction) {
  const std::size_t whole = numbers_of(plan, false), last = plan.lengths.back(), half = last / 2 + 1;
  const bool real_in = from_real(plan.type), real_out = to_real(plan.type);
  for (std::size_t r = 0; r < plan.rows; ++r) {
    Numbers block(whole);
    if (real_in) {
      for (std::size_t i = 0; i < whole; ++i) block[i] = in[r * whole + i];
    } else if (real_out) {
      const std::size_t rows = whole / last;
      T* const x = in + 2 * r * rows * half;
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t k = 0; k < last; ++k) {
          const std::size_t at = 2 * (i * half + std::min(k, last - k));
          block[i * last + k] = Complex(x[at], 2 * k <= last ? x[at + 1] : -x[at + 1]);
        }
      std::fill(x, x + 2 * rows * half, T(-1));
    } else {
      for (std::size_t i = 0; i < whole; ++i) block[i] = Complex(in[2 * (r * whole + i)], in[2 * (r * whole + i) + 1]);
    }
    transform_block(block, plan.lengths, direction);
    for (std::size_t i = 0, at = 0; i < whole; ++i) {
      if (real_out) {
        out[r * whole + i] = static_cast<T>(block[i].real());
      } else if (!real_in || i % last < half) {
        const std::size_t to = real_in ? r * (whole / last * half) + at++ : r * whole + i;
        out[2 * to] = static_cast<T>(block[i].real());
        out[2 * to + 1] = static_cast<T>(block[i].imag());
      }
    }
  }
}

template <class T>
cufft_result submit(const char* name, cufft_handle handle, int type, const void* in, const void* out, int direction) {
  const std::shared_ptr<Plan> plan = find(handle);
  if (plan == nullptr || plan->rows == 0) return cufft_invalid_plan;
  if (plan->type != type) return cufft_invalid_type;
  if (plan->auto_allocation || plan->work == nullptr) return cufft_no_workspace;
  const std::size_t ins = numbers_of(*plan, to_real(type)) * plan->rows * sizeof(T) * (from_real(type) ? 1 : 2),
                    outs = numbers_of(*plan, from_real(type)) * plan->rows * sizeof(T) * (to_real(type) ? 1 : 2);
  if (!cuda_device::context_is_usable()) return cufft_exec_failed;
  if (!cuda_device::is_device_memory(in, ins) || !cuda_device::is_device_memory(out, outs) ||
      !cuda_device::is_device_memory(plan->work, plan->work_bytes))
    return cufft_invalid_value;
  auto* const from = static_cast<T*>(const_cast<void*>(in));
  auto* const to = static_cast<T*>(const_cast<void*>(out));
  const auto work = [copy = *plan, from, to, direction] { run<T>(copy, from, to, direction); };
  return cuda_device::submit_library_work(name, plan->stream, work) ? cufft_success : cufft_exec_failed;
}

constexpr int kExecutionFailed = cufft_exec_failed;

}  // namespace

cufft_result cufftGetVersion(int* version) {
  CATENA_LIBRARY_CALL(cufftGetVersion);
  *version = 12000;
  return cufft_success;
}
cufft_result cufftCreate(cufft_handle* handle) {
  CATENA_LIBRARY_CALL(cufftCreate);
  if (!cuda_device::context_is_usable()) return cufft_setup_failed;
  static cufft_handle next = 0;
  const std::lock_guard lock(mutex);
  plans[*handle = ++next] = std::make_shared<Plan>();
  return cufft_success;
}
cufft_result cufftDestroy(cufft_handle handle) {
  CATENA_LIBRARY_CALL(cufftDestroy);
  const std::lock_guard lock(mutex);
  return plans.erase(handle) == 1 ? cufft_success : cufft_invalid_plan;
}
cufft_result cufftSetAutoAllocation(cufft_handle handle, int on) {
  CATENA_LIBRARY_CALL(cufftSetAutoAllocation);
  const std::shared_ptr<Plan> plan = find(handle);
  if (plan == nullptr) return cufft_invalid_plan;
  plan->auto_allocation = on != 0;
  return cufft_success;
}
cufft_result cufftMakePlanMany64(cufft_handle handle, int rank, long long* n, long long* inembed, long long, long long,
                                 long long* onembed, long long, long long, int type, long long batch,
                                 std::size_t* work) {
  CATENA_LIBRARY_CALL(cufftMakePlanMany64);
  const std::shared_ptr<Plan> plan = find(handle);
  if (plan == nullptr || plan->rows != 0) return cufft_invalid_plan;
  if (rank < 1 || rank > 3 || batch < 1) return cufft_invalid_value;
  if (inembed != nullptr || onembed != nullptr) return cufft_not_supported;
  for (int k = 0; k < rank; ++k) {
    if (n[k] < 1) return cufft_invalid_size;
    plan->lengths.push_back(static_cast<std::size_t>(n[k]));
  }
  plan->type = type;
  plan->rows = static_cast<std::size_t>(batch);
  plan->work_bytes = *work = 16 * numbers_of(*plan, false) * plan->rows;
  return cufft_success;
}
cufft_result cufftSetWorkArea(cufft_handle handle, void* work) {
  CATENA_LIBRARY_CALL(cufftSetWorkArea);
  const std::shared_ptr<Plan> plan = find(handle);
  if (plan == nullptr) return cufft_invalid_plan;
  plan->work = work;
  return cufft_success;
}
cufft_result cufftSetStream(cufft_handle handle, CUstream_st* stream) {
  CATENA_LIBRARY_CALL(cufftSetStream);
  const std::shared_ptr<Plan> plan = find(handle);
  if (plan == nullptr) return cufft_invalid_plan;
  plan->stream = stream;
  return cufft_success;
}

cufft_result cufftExecC2C(cufft_handle h, float2* in, float2* out, int direction) {
  CATENA_LIBRARY_CALL(cufftExecC2C);
  return submit<float>("cufftExecC2C", h, cufft_c2c, in, out, direction);
}
cufft_result cufftExecR2C(cufft_handle h, float* in, float2* out) {
  CATENA_LIBRARY_CALL(cufftExecR2C);
  return submit<float>("cufftExecR2C", h, cufft_r2c, in, out, cufft_forward);
}
cufft_result cufftExecC2R(cufft_handle h, float2* in, float* out) {
  CATENA_LIBRARY_CALL(cufftExecC2R);
  return submit<float>("cufftExecC2R", h, cufft_c2r, in, out, cufft_inverse);
}
cufft_result cufftExecZ2Z(cufft_handle h, double2* in, double2* out, int direction) {
  CATENA_LIBRARY_CALL(cufftExecZ2Z);
  return submit<double>("cufftExecZ2Z", h, cufft_z2z, in, out, direction);
}
cufft_result cufftExecD2Z(cufft_handle h, double* in, double2* out) {
  CATENA_LIBRARY_CALL(cufftExecD2Z);
  return submit<double>("cufftExecD2Z", h, cufft_d2z, in, out, cufft_forward);
}
cufft_result cufftExecZ2D(cufft_handle h, double2* in, double* out) {
  CATENA_LIBRARY_CALL(cufftExecZ2D);
  return submit<double>("cufftExecZ2D", h, cufft_z2d, in, out, cufft_inverse);
}
