#include <catena/ndarray/cuda/vendor/blas.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/plans/execute.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/cuda/vendor/vendor.h>

namespace nd::cuda {
namespace {

using catena::Dtype;
using internal::BlasAxis;
using internal::BlasMatrix;
using internal::BlasProblem;

// ---- the library --------------------------------------------------------------------------------
void load_cublaslt(CublasLt& table) {
  const Library library({"cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}});
  CATENA_CUBLASLT_FUNCTIONS(CATENA_RESOLVE)
  table.path = library.path();
}

const Loaded<CublasLt>& loaded_cublaslt() {
  static const auto& loaded = *new Loaded<CublasLt>(load_cublaslt);
  return loaded;
}

void check_blas(const CublasLt& lt, api::cublas_status status, const char* call) {
  if (status == api::cublas_success) [[likely]]
    return;
  const char* name = lt.get_status_name(status);
  fail_vendor({"cuBLASLt", status, name != nullptr ? name : "unknown status", status == api::cublas_alloc_failed},
              call);
}
#define CATENA_BLAS(field, ...) check_blas(lt, lt.field(__VA_ARGS__), api::CublasLtNames::field)

// One handle per device; never destroyed, because products may be requested at exit.
api::cublaslt_handle handle_of(const CublasLt& lt, int device) {
  struct Handle {
    std::once_flag made;
    api::cublaslt_handle handle = nullptr;
  };
  static Handle* const handles = new Handle[static_cast<std::size_t>(driver().device_count)];
  Handle& h = handles[device];
  std::call_once(h.made, [&] { CATENA_BLAS(create, &h.handle); });
  return h.handle;
}

// ---- descriptors with the lifetime of a call ----------------------------------------------------
template <class T> using Owned = std::unique_ptr<T, api::cublas_status (*)(T*)>;
using OwnedDesc = Owned<api::cublaslt_opaque_matmul_desc>;
using OwnedLayout = Owned<api::cublaslt_opaque_matrix_layout>;
using OwnedPreference = Owned<api::cublaslt_opaque_preference>;

OwnedLayout new_layout(const CublasLt& lt, int type, const BlasMatrix& m, std::int64_t batch) {
  api::cublaslt_matrix_layout made = nullptr;
  CATENA_BLAS(layout_create, &made, type, static_cast<std::uint64_t>(m.rows), static_cast<std::uint64_t>(m.columns),
              m.ld);
  OwnedLayout layout(made, lt.layout_destroy);
  if (batch > 1) {
    const auto count = static_cast<std::int32_t>(batch);
    CATENA_BLAS(layout_set, made, api::cublaslt_layout_batch_count, &count, sizeof count);
    CATENA_BLAS(layout_set, made, api::cublaslt_layout_batch_stride, &m.batch_stride, sizeof m.batch_stride);
  }
  return layout;
}

// ---- the choice of an algorithm -----------------------------------------------------------------
struct Types {
  int data, compute, scale;
};

std::optional<Types> types_of(Dtype dtype, bool tf32) {
  switch (dtype) {
    case Dtype::float16: return Types{api::cuda_r_16f, api::cublas_compute_32f, api::cuda_r_32f};
    case Dtype::bfloat16: return Types{api::cuda_r_16bf, api::cublas_compute_32f, api::cuda_r_32f};
    case Dtype::float32:
      return Types{api::cuda_r_32f, tf32 ? api::cublas_compute_32f_fast_tf32 : api::cublas_compute_32f,
                   api::cuda_r_32f};
    case Dtype::float64: return Types{api::cuda_r_64f, api::cublas_compute_64f, api::cuda_r_64f};
    case Dtype::complex64: return Types{api::cuda_c_32f, api::cublas_compute_32f, api::cuda_c_32f};
    case Dtype::complex128: return Types{api::cuda_c_64f, api::cublas_compute_64f, api::cuda_c_64f};
    default: return std::nullopt;
  }
}

std::uint32_t epilogue_of(const Epilogue& e) {
  const std::uint32_t activation = e.activation == Activation::relu        ? api::cublaslt_epilogue_relu
                                   : e.activation == Activation::gelu_tanh ? api::cublaslt_epilogue_gelu
                                                                           : 0u;
  const std::uint32_t both = activation | (e.bias != nullptr ? api::cublaslt_epilogue_bias : 0u);
  return both != 0 ? both : api::cublaslt_epilogue_default;
}

// Returns the alignment of a pointer up to 256 bytes, as the library needs it.
std::uint32_t alignment_of(const void* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p) | 256;
  return static_cast<std::uint32_t>(address & ~(address - 1));
}

// One product with its operands and all properties that influence the choice of an algorithm.
struct Request {
  const BlasProblem& problem;
  Dtype dtype;
  Types types;
  std::uint32_t epilogue;
  const std::byte *a, *b, *bias;
  std::byte* d;
};

// The alignments that the operands have in all calls of the product.
struct Alignments {
  std::uint32_t a, b, d;
};
Alignments alignments_of(const Request& r) {
  const auto item = static_cast<std::int64_t>(catena::itemsize(r.dtype));
  std::int64_t a = 0, b = 0, d = 0;
  for (const BlasAxis& axis : r.problem.outer) a |= axis.a * item, b |= axis.b * item, d |= axis.d * item;
  const auto least = [](const std::byte* p, std::int64_t steps) {
    return alignment_of(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(p) | std::uintptr_t(steps)));
  };
  return {least(r.a, a), least(r.b, b), least(r.d, d)};
}

OwnedDesc new_desc(const CublasLt& lt, const Request& r) {
  api::cublaslt_matmul_desc made = nullptr;
  CATENA_BLAS(matmul_desc_create, &made, r.types.compute, r.types.scale);
  OwnedDesc desc(made, lt.matmul_desc_destroy);
  const auto set = [&](int attribute, auto value) {
    CATENA_BLAS(matmul_desc_set, made, attribute, &value, sizeof value);
  };
  set(api::cublaslt_desc_transpose_a, std::int32_t(r.problem.a.transpose ? api::cublas_op_t : api::cublas_op_n));
  set(api::cublaslt_desc_transpose_b, std::int32_t(r.problem.b.transpose ? api::cublas_op_t : api::cublas_op_n));
  set(api::cublaslt_desc_epilogue, r.epilogue);
  if (r.bias != nullptr) set(api::cublaslt_desc_bias_pointer, static_cast<const void*>(r.bias));
  return desc;
}

struct Key {
  std::array<std::int64_t, 24> v{};
  friend bool operator==(const Key&, const Key&) = default;
};
struct KeyHash {
  std::size_t operator()(const Key& key) const noexcept {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (const std::int64_t n : key.v) h = (h ^ static_cast<std::uint64_t>(n)) * 0x100000001b3u;
    return static_cast<std::size_t>(h ^ (h >> 32));
  }
};

Key key_of(const Request& r, int device) {
  Key key;
  std::size_t n = 0;
  const Alignments alignment = alignments_of(r);
  for (const std::int64_t v :
       {std::int64_t(device), std::int64_t(r.types.data), std::int64_t(r.types.compute), std::int64_t(r.epilogue),
        r.problem.batch, std::int64_t(alignment.a), std::int64_t(alignment.b), std::int64_t(alignment.d),
        std::int64_t(alignment_of(r.bias))})
    key.v[n++] = v;
  for (const BlasMatrix* m : {&r.problem.a, &r.problem.b, &r.problem.d})
    for (const std::int64_t v : {std::int64_t(m->transpose), m->rows, m->columns, m->ld, m->batch_stride})
      key.v[n++] = v;
  return key;
}

// The descriptors of a product. The address of a bias is that of the first product with it: later ones need their own
// `desc`.
struct Description {
  Description(const CublasLt& lt, const Request& r)
      : desc(new_desc(lt, r)),
        a(new_layout(lt, r.types.data, r.problem.a, r.problem.batch)),
        b(new_layout(lt, r.types.data, r.problem.b, r.problem.batch)),
        d(new_layout(lt, r.types.data, r.problem.d, r.problem.batch)) {}
  OwnedDesc desc;
  OwnedLayout a, b, d;
};

struct Algorithm {
  api::cublaslt_algo algo{};
  std::size_t workspace_bytes = 0;
};
// The descriptors and the algorithm that all products with one key use.
struct Choice {
  Description description;
  Algorithm algorithm;
};

// The numbers 1 and 0 in the type of the scale; complex numbers have a second part.
struct Scales {
  explicit Scales(const Types& types) : wide(types.scale == api::cuda_r_64f || types.scale == api::cuda_c_64f) {}
  const void* one() const { return wide ? static_cast<const void*>(one64) : one32; }
  const void* zero() const { return wide ? static_cast<const void*>(zero64) : zero32; }
  bool wide;
  static constexpr float one32[2] = {1, 0}, zero32[2] = {0, 0};
  static constexpr double one64[2] = {1, 0}, zero64[2] = {0, 0};
};

// Calls f(a, b, d) with the addresses of the operands at every index of the outer axes.
template <class F> void for_each_call(const Request& r, F&& f) {
  const std::vector<BlasAxis>& axes = r.problem.outer;
  const auto item = static_cast<std::int64_t>(catena::itemsize(r.dtype));
  for (std::int64_t i = 0, calls = r.problem.calls(); i < calls; ++i) {
    std::int64_t rest = i, a = 0, b = 0, d = 0;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      const std::int64_t at = rest % axis->count;
      rest /= axis->count;
      a += at * axis->a;
      b += at * axis->b;
      d += at * axis->d;
    }
    f(r.a + a * item, r.b + b * item, r.d + d * item);
  }
}

void enqueue_all(const CublasLt& lt, api::cublaslt_handle handle, const Request& r, const Description& with,
                 const Algorithm& by, StreamRef stream) {
  const Scratch workspace(by.workspace_bytes, stream);
  const Scales scales(r.types);
  const OwnedDesc own = r.bias != nullptr ? new_desc(lt, r) : OwnedDesc(nullptr, lt.matmul_desc_destroy);
  const api::cublaslt_matmul_desc desc = own ? own.get() : with.desc.get();
  const BlasMatrix &a = r.problem.a, &out = r.problem.d;
  for_each_call(r, [&](const std::byte* at_a, const std::byte* at_b, std::byte* at_d) {
    enqueue(api::CublasLtNames::matmul, stream,
            {out.rows, out.columns, a.transpose ? a.rows : a.columns, r.problem.batch}, [&] {
              CATENA_BLAS(matmul, handle, desc, scales.one(), at_a, with.a.get(), at_b, with.b.get(), scales.zero(),
                          at_d, with.d.get(), at_d, with.d.get(), &by.algo, workspace.data(), by.workspace_bytes,
                          stream_of(stream));
            });
  });
}

// Returns the library's algorithms for the product, at most `most`, in its order.
std::vector<Algorithm> algorithms(const CublasLt& lt, api::cublaslt_handle handle, const Request& r,
                                  const Description& d, int most) {
  // NVIDIA's recommendation for Hopper; other architectures need less.
  constexpr std::uint64_t kMaxWorkspace = 32 << 20;
  api::cublaslt_preference made = nullptr;
  CATENA_BLAS(preference_create, &made);
  const OwnedPreference preference(made, lt.preference_destroy);
  const auto set = [&](int attribute, auto value) {
    CATENA_BLAS(preference_set, made, attribute, &value, sizeof value);
  };
  set(api::cublaslt_preference_workspace_bytes, kMaxWorkspace);
  set(api::cublaslt_preference_reduction_scheme, api::cublaslt_reduction_compute_type);
  const Alignments alignment = alignments_of(r);
  set(api::cublaslt_preference_alignment_a, alignment.a);
  set(api::cublaslt_preference_alignment_b, alignment.b);
  set(api::cublaslt_preference_alignment_c, alignment.d);
  set(api::cublaslt_preference_alignment_d, alignment.d);
  std::vector<api::cublaslt_heuristic_result> results(static_cast<std::size_t>(most));
  int found = 0;
  const api::cublas_status status = lt.get_heuristic(handle, d.desc.get(), d.a.get(), d.b.get(), d.d.get(), d.d.get(),
                                                     preference.get(), most, results.data(), &found);
  // Both statuses mean that the library has no algorithm for this combination.
  if (status == api::cublas_not_supported || status == api::cublas_invalid_value) return {};
  check_blas(lt, status, api::CublasLtNames::get_heuristic);
  std::vector<Algorithm> all;
  for (int i = 0; i < found; ++i)
    if (const auto& one = results[static_cast<std::size_t>(i)]; one.state == api::cublas_success)
      all.push_back({one.algo, one.workspace_bytes});
  return all;
}

// ---- timing ------------------------------------------------------------------------------------
std::atomic<double>& timed_from() noexcept {
  // A product of so many operations takes about a millisecond in float32 on a current device.
  constexpr double kTimed = 0x1p35;
  static std::atomic<double> operations = [] {
    const char* value = std::getenv("CATENA_TIME_PRODUCTS");
    const bool never = value != nullptr && std::strcmp(value, "0") == 0;
    return never ? std::numeric_limits<double>::infinity() : kTimed;
  }();
  return operations;
}

// Products that run for longer than this are not repeated: all candidates together would take seconds.
bool is_timed(const Request& r) {
  constexpr double kMost = 0x1p41;
  const BlasMatrix &a = r.problem.a, &d = r.problem.d;
  const double each = catena::is_complex_dtype(r.dtype) ? 8 : 2;
  const double operations = each * static_cast<double>(d.rows) * static_cast<double>(d.columns) *
                            static_cast<double>(a.transpose ? a.rows : a.columns) *
                            static_cast<double>(r.problem.batch) * static_cast<double>(r.problem.calls());
  return operations >= timed_operations() && operations <= kMost && !is_recording();
}

class Event {
 public:
  explicit Event(int device) : device_(device), event_(cuda().create_event(device, {})) {}
  ~Event() { cuda().destroy_event(device_, event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(StreamRef stream) { cuda().record_event(event_, stream); }
  // Waits for both.
  double ms_since(const Event& start) {
    cuda().synchronize_event(event_);
    return cuda().elapsed_ms(start.event_, event_);
  }

 private:
  static Runtime& cuda() { return runtime(Device::Kind::cuda); }
  int device_;
  void* event_;
};

// Runs every algorithm twice, because the first run loads its kernel, and returns the one with the shortest second run.
// One that the library refuses to run is no candidate, unless it is the first choice, which later calls would use.
Algorithm fastest(const CublasLt& lt, api::cublaslt_handle handle, const Request& r, const Description& with,
                  const std::vector<Algorithm>& all, StreamRef stream) {
  if (all.size() == 1) return all.front();
  Event start(stream.device.id), stop(stream.device.id);
  const Algorithm* best = &all.front();
  double least = std::numeric_limits<double>::infinity();
  for (const Algorithm& one : all) try {
      enqueue_all(lt, handle, r, with, one, stream);
      start.record(stream);
      enqueue_all(lt, handle, r, with, one, stream);
      stop.record(stream);
      if (const double ms = stop.ms_since(start); ms < least) best = &one, least = ms;
    } catch (const catena::CudaError&) {
      if (&one == &all.front()) throw;
    }
  return *best;
}

// Choices are kept until the process ends, because the heuristic takes longer than a small product. Returns null if the
// library has no algorithm.
std::shared_ptr<const Choice> find_choice(const CublasLt& lt, api::cublaslt_handle handle, const Request& r,
                                          StreamRef stream) {
  static auto& mutex = *new std::shared_mutex;
  static auto& choices = *new std::unordered_map<Key, std::shared_ptr<const Choice>, KeyHash>;
  constexpr std::size_t kMaxChoices = 1 << 16;
  const Key key = key_of(r, stream.device.id);
  {
    const std::shared_lock lock(mutex);
    if (const auto found = choices.find(key); found != choices.end()) return found->second;
  }
  Description description(lt, r);
  constexpr int kCandidates = 8;
  const std::vector<Algorithm> all = algorithms(lt, handle, r, description, is_timed(r) ? kCandidates : 1);
  std::shared_ptr<const Choice> choice;
  if (!all.empty()) {
    const Algorithm best = fastest(lt, handle, r, description, all, stream);
    choice = std::make_shared<const Choice>(Choice{std::move(description), best});
  }
  const std::unique_lock lock(mutex);
  if (choices.size() >= kMaxChoices) choices.clear();
  return choices.emplace(key, std::move(choice)).first->second;
}

bool run(const CublasLt& lt, const Request& r, StreamRef stream) {
  use_device(stream.device.id);
  const api::cublaslt_handle handle = handle_of(lt, stream.device.id);
  const std::shared_ptr<const Choice> choice = find_choice(lt, handle, r, stream);
  if (choice == nullptr) return false;
  enqueue_all(lt, handle, r, choice->description, choice->algorithm, stream);
  return true;
}

thread_local constinit std::string_view last{};

std::atomic<bool>& tf32_flag() noexcept {
  static std::atomic<bool> flag = [] {
    const char* value = std::getenv("CATENA_ALLOW_TF32");
    return value != nullptr && std::strcmp(value, "1") == 0;
  }();
  return flag;
}

}  // namespace

const CublasLt& cublaslt() { return loaded_cublaslt().get(); }

bool internal::blas_takes(Dtype dtype) { return types_of(dtype, false).has_value() && loaded_cublaslt().error.empty(); }

bool internal::blas_matmul(const catena::bound::Matmul& call, const std::optional<BlasProblem>& problem,
                           StreamRef stream, const Epilogue& epilogue) {
  last = "portable";  // replaced below if cuBLASLt takes the product
  const Dtype dtype = call.out.dtype;
  const std::optional<Types> types = types_of(dtype, tf32_allowed());
  // A bias is added along the rows of d; those are the columns of out only if the product is swapped.
  if (!types || !problem || (epilogue.bias != nullptr && !problem->swapped)) return false;
  if (!loaded_cublaslt().error.empty()) return false;
  const std::byte *a = call.a.data, *b = call.b.data;
  if (problem->swapped) std::swap(a, b);
  if (!run(loaded_cublaslt().get(),
           {*problem, dtype, *types, epilogue_of(epilogue), a, b, epilogue.bias, call.out.data}, stream))
    return false;
  last = "cublaslt";
  return true;
}

bool blas_matmul(const catena::bound::Matmul& call, StreamRef stream, const Epilogue& epilogue) {
  return internal::blas_matmul(call, internal::blas_problem(call), stream, epilogue);
}

std::string_view last_matmul() noexcept { return last; }

double timed_operations() noexcept { return timed_from().load(std::memory_order_relaxed); }
void set_timed_operations(double operations) noexcept { timed_from().store(operations, std::memory_order_relaxed); }

bool tf32_allowed() noexcept { return tf32_flag().load(std::memory_order_relaxed); }
void allow_tf32(bool allow) noexcept { tf32_flag().store(allow, std::memory_order_relaxed); }

}  // namespace nd::cuda
