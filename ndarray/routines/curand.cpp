#include <catena/ndarray/routines/curand.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/cuda/vendor/curand_library.h>
#include <catena/ndarray/cuda/vendor/vendor.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/engine/execute.h>

namespace nd::cuda {
namespace {

using catena::check;
using catena::TypeError;
using catena::ValueError;

// The library has no function that returns the names of its codes.
const char* name_of(api::curand_status status) {
  switch (status) {
    case api::curand_version_mismatch: return "CURAND_STATUS_VERSION_MISMATCH";
    case api::curand_not_initialized: return "CURAND_STATUS_NOT_INITIALIZED";
    case api::curand_allocation_failed: return "CURAND_STATUS_ALLOCATION_FAILED";
    case api::curand_type_error: return "CURAND_STATUS_TYPE_ERROR";
    case api::curand_out_of_range: return "CURAND_STATUS_OUT_OF_RANGE";
    case api::curand_length_not_multiple: return "CURAND_STATUS_LENGTH_NOT_MULTIPLE";
    case api::curand_double_precision_required: return "CURAND_STATUS_DOUBLE_PRECISION_REQUIRED";
    case api::curand_launch_failure: return "CURAND_STATUS_LAUNCH_FAILURE";
    case api::curand_preexisting_failure: return "CURAND_STATUS_PREEXISTING_FAILURE";
    case api::curand_initialization_failed: return "CURAND_STATUS_INITIALIZATION_FAILED";
    case api::curand_arch_mismatch: return "CURAND_STATUS_ARCH_MISMATCH";
    case api::curand_internal_error: return "CURAND_STATUS_INTERNAL_ERROR";
    default: return "unknown status";
  }
}

void load_curand(Curand& table) {
  const Library library({"cuRAND", {"libcurand.so.10", "libcurand.so.11", "libcurand.so"}});
  CATENA_CURAND_FUNCTIONS(CATENA_RESOLVE)
  table.path = library.path();
  const api::curand_status status = table.get_version(&table.version);
  if (status != api::curand_success) library.fail_answer(api::CurandNames::get_version, status, name_of(status));
}

void check_curand(api::curand_status status, const char* call) {
  if (status == api::curand_success) [[likely]]
    return;
  fail_vendor({"cuRAND", status, name_of(status), status == api::curand_allocation_failed}, call);
}
#define CATENA_CURAND(field, ...) check_curand(curand().field(__VA_ARGS__), api::CurandNames::field)

// Fills n numbers at `to`; for use in the members of CurandGenerator.
#define CATENA_FILL(field, to, n, ...) \
  fill(api::CurandNames::field, n, [&] { CATENA_CURAND(field, handle_->generator, to, n __VA_OPT__(, ) __VA_ARGS__); })

constexpr std::array kMethods = {
    CurandMethod::pseudo_default,    CurandMethod::xorwow,        CurandMethod::mrg32k3a,         CurandMethod::mtgp32,
    CurandMethod::mt19937,           CurandMethod::philox4_32_10, CurandMethod::quasi_default,    CurandMethod::sobol32,
    CurandMethod::scrambled_sobol32, CurandMethod::sobol64,       CurandMethod::scrambled_sobol64};

bool has_offset(CurandMethod m) { return m != CurandMethod::mtgp32 && m != CurandMethod::mt19937; }
bool is_64_bit(CurandMethod m) { return m == CurandMethod::sobol64 || m == CurandMethod::scrambled_sobol64; }

}  // namespace

const Curand& curand() {
  static const auto& loaded = *new Loaded<Curand>(load_curand);
  return loaded.get();
}

struct CurandGenerator::Handle {
  Device device;
  api::curand_generator generator = nullptr;
  // The state of the sequence is in device memory, which every draw reads and writes: a draw on another stream than the
  // previous one must wait for it.
  StreamRef last{};
  void* drawn = nullptr;  // an event after the last draw; null: none yet

  Handle(Device d, CurandMethod method) : device(d) {
    if (device.kind == Device::Kind::cuda) {
      use_device(device.id);
      CATENA_CURAND(create, &generator, static_cast<int>(method));
    } else {
      CATENA_CURAND(create_host, &generator, static_cast<int>(method));
    }
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (device.kind == Device::Kind::cuda) {
      if (drawn != nullptr) runtime(device.kind).destroy_event(device.id, drawn);
      if (!is_healthy(device.id)) return;
      driver().context_set_current(primary_context(device.id));
    }
    curand().destroy(generator);
  }

  void wait_on(StreamRef stream) {
    if (drawn != nullptr && last != stream && !is_recording()) runtime(device.kind).wait_event(stream, drawn);
  }
  void drew_on(StreamRef stream) {
    if (is_recording()) return;  // an event recorded in a capture has no meaning outside of it
    Runtime& cuda = runtime(device.kind);
    if (drawn == nullptr) drawn = cuda.create_event(device.id, {.disable_timing = true});
    cuda.record_event(drawn, stream);
    last = stream;
  }
};

CurandGenerator::CurandGenerator(CurandMethod method, const CurandOptions& options, Device device)
    : method_(method), device_(device), dimensions_(options.dimensions) {
  constexpr const char* op = "CurandGenerator";
  check<ValueError>(std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end(), op, "method ",
                    static_cast<int>(method), " does not exist");
  check<ValueError>(is_quasi() ? options.dimensions >= 1 && options.dimensions <= 20000 : options.dimensions == 1, op,
                    "dimensions ", options.dimensions,
                    is_quasi() ? " must be 1 to 20000" : " must be 1 for a pseudo-random method");
  check<ValueError>(!is_quasi() || !options.seed, op, "a quasi-random method has no seed");
  handle_ = std::make_shared<Handle>(device, method);
  if (options.seed) CATENA_CURAND(set_seed, handle_->generator, *options.seed);
  if (options.offset != 0) set_offset(options.offset);
  if (options.ordering) set_ordering(*options.ordering);
  if (is_quasi()) CATENA_CURAND(set_dimensions, handle_->generator, options.dimensions);
}

void CurandGenerator::set_seed(std::uint64_t seed) {
  check<ValueError>(!is_quasi(), "CurandGenerator", "a quasi-random method has no seed");
  // cuRAND continues at its position in the new sequence. A generator without positions cannot be reset to the
  // beginning, so it is replaced by a new one.
  if (has_offset(method_)) {
    CATENA_CURAND(set_seed, handle_->generator, seed);
    CATENA_CURAND(set_offset, handle_->generator, 0);
    return;
  }
  auto fresh = std::make_shared<Handle>(device_, method_);
  CATENA_CURAND(set_seed, fresh->generator, seed);
  if (ordering_) CATENA_CURAND(set_ordering, fresh->generator, static_cast<int>(*ordering_));
  handle_ = std::move(fresh);
}

void CurandGenerator::set_offset(std::uint64_t offset) {
  check<ValueError>(has_offset(method_), "CurandGenerator", method_ == CurandMethod::mtgp32 ? "mtgp32" : "mt19937",
                    " cannot start at offset ", offset, ", it has none");
  CATENA_CURAND(set_offset, handle_->generator, offset);
}

void CurandGenerator::set_ordering(CurandOrdering ordering) {
  check<ValueError>((ordering == CurandOrdering::quasi) == is_quasi(), "CurandGenerator", "ordering ",
                    static_cast<int>(ordering),
                    is_quasi() ? " is none of quasi-random methods" : " is none of pseudo-random methods");
  CATENA_CURAND(set_ordering, handle_->generator, static_cast<int>(ordering));
  ordering_ = ordering;
}

// Checks the array and prepares the generator to write its memory on the current stream.
void CurandGenerator::prepare(const char* op, const Array& out) const {
  check<ValueError>(!out.is_null() && out.device() == device_, op, "the generator is on ", device_, ", the array is ",
                    out.is_null() ? "null" : "on " + catena::to_string(out.device()));
  check<ValueError>(out.is_c_contiguous(), op, "the array of shape ", out.shape(), " and strides ", out.strides(),
                    " must be C-contiguous");
  if (device_.kind != Device::Kind::cuda) return;
  const StreamRef stream = current_stream(device_);
  use_device(device_.id);
  keep_in_graph(handle_);
  handle_->wait_on(stream);
  CATENA_CURAND(set_stream, handle_->generator, stream_of(stream));
  const catena::ArrayHeader* const used[] = {out.get()};
  internal::record_operands(stream, used);
}

// A host generator has finished when the call returns.
template <class Call> void CurandGenerator::fill(const char* name, std::size_t n, Call&& call) {
  if (device_.kind != Device::Kind::cuda) return call();
  const StreamRef stream = current_stream(device_);
  enqueue(name, stream, {static_cast<std::int64_t>(n)}, call);
  handle_->drew_on(stream);
}

void CurandGenerator::check_normal(const char* op, const Array& out, double deviation) const {
  const std::int64_t n = out.is_null() ? 0 : out.size();
  check<ValueError>(is_quasi() || n % 2 == 0, op, n,
                    " elements: normal numbers come in pairs, their count must be even");
  check<ValueError>(n % dimensions_ == 0, op, n, " elements are no multiple of ", dimensions_, " dimensions");
  check<ValueError>(deviation >= 0 && std::isfinite(deviation), op, "the deviation ", deviation,
                    " must be finite and not negative");
}

void CurandGenerator::generate(const Array& out) {
  prepare("CurandGenerator::generate", out);
  const auto n = static_cast<std::size_t>(out.size());
  if (n == 0) return;
  if (is_64_bit(method_)) {
    auto* const to = reinterpret_cast<unsigned long long*>(out.data<std::uint64_t>());
    CATENA_FILL(generate_long_long, to, n);
  } else {
    CATENA_FILL(generate, out.data<unsigned>(), n);
  }
}

void CurandGenerator::uniform(const Array& out) {
  constexpr const char* op = "CurandGenerator::uniform";
  prepare(op, out);
  const auto n = static_cast<std::size_t>(out.size());
  if (n == 0) return;
  if (out.dtype() == Dtype::float64) CATENA_FILL(uniform_double, out.data<double>(), n);
  else CATENA_FILL(uniform, out.data<float>(), n);
}

void CurandGenerator::normal(const Array& out, double mean, double deviation) {
  constexpr const char* op = "CurandGenerator::normal";
  check_normal(op, out, deviation);
  prepare(op, out);
  const auto n = static_cast<std::size_t>(out.size());
  if (n == 0) return;
  if (out.dtype() == Dtype::float64) CATENA_FILL(normal_double, out.data<double>(), n, mean, deviation);
  else CATENA_FILL(normal, out.data<float>(), n, static_cast<float>(mean), static_cast<float>(deviation));
}

void CurandGenerator::lognormal(const Array& out, double mean, double deviation) {
  constexpr const char* op = "CurandGenerator::lognormal";
  check_normal(op, out, deviation);
  prepare(op, out);
  const auto n = static_cast<std::size_t>(out.size());
  if (n == 0) return;
  if (out.dtype() == Dtype::float64) CATENA_FILL(lognormal_double, out.data<double>(), n, mean, deviation);
  else CATENA_FILL(lognormal, out.data<float>(), n, static_cast<float>(mean), static_cast<float>(deviation));
}

void CurandGenerator::poisson(const Array& out, double lambda) {
  constexpr const char* op = "CurandGenerator::poisson";
  check<ValueError>(lambda > 0 && std::isfinite(lambda), op, "lambda ", lambda, " must be finite and positive");
  prepare(op, out);
  if (out.size() > 0) CATENA_FILL(poisson, out.data<unsigned>(), static_cast<std::size_t>(out.size()), lambda);
}

}  // namespace nd::cuda
