#include <catena/ndarray/cuda/vendor/cufft.h>

#include <memory>
#include <mutex>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/plans/execute.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/cuda/vendor/vendor.h>
#include <catena/ndarray/device/fft_plans.h>
#include <catena/ndarray/engine/execute.h>

namespace nd::cuda {
namespace {

using catena::bound::Fft;
using catena::bound::FftKind;

// The library has no function that returns the names of its codes.
const char* name_of(api::cufft_result status) {
  switch (status) {
    case api::cufft_invalid_plan: return "CUFFT_INVALID_PLAN";
    case api::cufft_alloc_failed: return "CUFFT_ALLOC_FAILED";
    case api::cufft_invalid_type: return "CUFFT_INVALID_TYPE";
    case api::cufft_invalid_value: return "CUFFT_INVALID_VALUE";
    case api::cufft_internal_error: return "CUFFT_INTERNAL_ERROR";
    case api::cufft_exec_failed: return "CUFFT_EXEC_FAILED";
    case api::cufft_setup_failed: return "CUFFT_SETUP_FAILED";
    case api::cufft_invalid_size: return "CUFFT_INVALID_SIZE";
    case api::cufft_unaligned_data: return "CUFFT_UNALIGNED_DATA";
    case api::cufft_invalid_device: return "CUFFT_INVALID_DEVICE";
    case api::cufft_no_workspace: return "CUFFT_NO_WORKSPACE";
    case api::cufft_not_implemented: return "CUFFT_NOT_IMPLEMENTED";
    case api::cufft_not_supported: return "CUFFT_NOT_SUPPORTED";
    default: return "unknown status";
  }
}

void load_cufft(Cufft& table) {
  const Library library({"cuFFT", {"libcufft.so.12", "libcufft.so.11", "libcufft.so"}});
  CATENA_CUFFT_FUNCTIONS(CATENA_RESOLVE)
  table.path = library.path();
  const api::cufft_result status = table.get_version(&table.version);
  if (status != api::cufft_success) library.fail_answer(api::CufftNames::get_version, status, name_of(status));
}

const Loaded<Cufft>& loaded_cufft() {
  static const auto& loaded = *new Loaded<Cufft>(load_cufft);
  return loaded;
}

void check_cufft(api::cufft_result status, const char* call) {
  if (status == api::cufft_success) [[likely]]
    return;
  fail_vendor({"cuFFT", status, name_of(status), status == api::cufft_alloc_failed}, call);
}
#define CATENA_CUFFT(field, ...) check_cufft(cufft().field(__VA_ARGS__), api::CufftNames::field)

bool is_single(const Fft& call) { return call.dtype == catena::Dtype::complex64; }

int type_of(const Fft& call) {
  switch (call.kind) {
    case FftKind::real_to_complex: return is_single(call) ? api::cufft_r2c : api::cufft_d2z;
    case FftKind::complex_to_real: return is_single(call) ? api::cufft_c2r : api::cufft_z2d;
    default: return is_single(call) ? api::cufft_c2c : api::cufft_z2z;
  }
}

// A plan of the library. Its stream and work space are set for each call, so one thread at a time uses it.
class Plan {
 public:
  Plan(const Fft& call, int device) : device_(device) {
    CATENA_CUFFT(create, &handle_);
    try {
      CATENA_CUFFT(set_auto_allocation, handle_, 0);
      long long lengths[3];
      int rank = 0;
      for (const std::int64_t n : call.before)
        if (n != 1) lengths[rank++] = n;
      lengths[rank++] = call.n;
      // Without "embed" the rows lie one behind the other, and the strides are not read.
      CATENA_CUFFT(make_plan_many, handle_, rank, lengths, nullptr, 1, 0, nullptr, 1, 0, type_of(call), call.rows,
                   &work_bytes);
    } catch (...) {
      cufft().destroy(handle_);
      throw;
    }
  }
  ~Plan() {
    if (!is_healthy(device_)) return;
    driver().context_set_current(primary_context(device_));
    cufft().destroy(handle_);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  void execute(const Fft& call, StreamRef stream) {
    const std::lock_guard lock(mutex_);
    const Scratch work(work_bytes, stream);
    CATENA_CUFFT(set_stream, handle_, stream_of(stream));
    CATENA_CUFFT(set_work_area, handle_, work.data());
    if (is_single(call)) run<float, float2>(call, stream);
    else run<double, double2>(call, stream);
  }

  std::size_t work_bytes = 0;

 private:
#define CATENA_TRANSFORM(field, ...)                                                           \
  enqueue(api::CufftNames::field, stream, {call.rows, call.before[0], call.before[1], call.n}, \
          [&] { CATENA_CUFFT(field, handle_, __VA_ARGS__); })
  // Real is float or double, Complex the library's complex number of it.
  template <class Real, class Complex> void run(const Fft& call, StreamRef stream) {
    auto* const in = const_cast<std::byte*>(call.in);
    auto *const complex_in = reinterpret_cast<Complex*>(in), *const complex_out = reinterpret_cast<Complex*>(call.out);
    auto *const real_in = reinterpret_cast<Real*>(in), *const real_out = reinterpret_cast<Real*>(call.out);
    const int direction = call.inverse ? api::cufft_inverse : api::cufft_forward;
    constexpr bool single = sizeof(Real) == sizeof(float);
    switch (call.kind) {
      case FftKind::complex:
        if constexpr (single) CATENA_TRANSFORM(exec_c2c, complex_in, complex_out, direction);
        else CATENA_TRANSFORM(exec_z2z, complex_in, complex_out, direction);
        break;
      case FftKind::real_to_complex:
        if constexpr (single) CATENA_TRANSFORM(exec_r2c, real_in, complex_out);
        else CATENA_TRANSFORM(exec_d2z, real_in, complex_out);
        break;
      case FftKind::complex_to_real:
        if constexpr (single) CATENA_TRANSFORM(exec_c2r, complex_in, real_out);
        else CATENA_TRANSFORM(exec_z2d, complex_in, real_out);
        break;
    }
  }
#undef CATENA_TRANSFORM

  int device_;
  api::cufft_handle handle_ = 0;
  std::mutex mutex_;
};

thread_local bool own_transforms = false;

}  // namespace

const Cufft& cufft() { return loaded_cufft().get(); }
bool uses_cufft() { return !own_transforms && loaded_cufft().error.empty(); }

OwnTransforms::OwnTransforms() : before_(std::exchange(own_transforms, true)) {}
OwnTransforms::~OwnTransforms() { own_transforms = before_; }

void transform_by_cufft(const Fft& call, StreamRef stream) {
  use_device(stream.device.id);
  const internal::FftPlanKey key{
      .kind = call.kind, .dtype = call.dtype, .lengths = {call.before[0], call.before[1], call.n}, .rows = call.rows};
  const std::shared_ptr<Plan> plan = internal::fft_plans(stream.device).get<Plan>(key, [&] {
    auto made = std::make_shared<Plan>(call, stream.device.id);
    const std::size_t bytes = made->work_bytes;
    return std::pair(std::move(made), bytes);
  });
  keep_in_graph(plan);
  plan->execute(call, stream);
}

}  // namespace nd::cuda
