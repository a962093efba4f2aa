#include <catena/ndarray/cuda/vendor/blas.h>

#include <algorithm>
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
#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/cuda/vendor/vendor.h>

namespace nd::cuda {
namespace {

using catena::Dtype;
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

OwnedDesc new_desc(const CublasLt& lt, int compute_type, int scale_type) {
  api::cublaslt_matmul_desc desc = nullptr;
  CATENA_BLAS(matmul_desc_create, &desc, compute_type, scale_type);
  return {desc, lt.matmul_desc_destroy};
}

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
  BlasProblem problem;
  Types types;
  std::uint32_t epilogue;
  const std::byte *a, *b, *bias;
  std::byte* d;
};

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
  for (const std::int64_t v :
       {std::int64_t(device), std::int64_t(r.types.data), std::int64_t(r.types.compute), std::int64_t(r.epilogue),
        r.problem.batch, std::int64_t(alignment_of(r.a)), std::int64_t(alignment_of(r.b)),
        std::int64_t(alignment_of(r.d)), std::int64_t(alignment_of(r.bias))})
    key.v[n++] = v;
  for (const BlasMatrix* m : {&r.problem.a, &r.problem.b, &r.problem.d})
    for (const std::int64_t v : {std::int64_t(m->transpose), m->rows, m->columns, m->ld, m->batch_stride})
      key.v[n++] = v;
  return key;
}

struct Choice {
  bool usable = false;
  api::cublaslt_algo algo{};
  std::size_t workspace_bytes = 0;
};

// The descriptors of one product.
struct Description {
  Description(const CublasLt& lt, const Request& r)
      : desc(new_desc(lt, r.types.compute, r.types.scale)),
        a(new_layout(lt, r.types.data, r.problem.a, r.problem.batch)),
        b(new_layout(lt, r.types.data, r.problem.b, r.problem.batch)),
        d(new_layout(lt, r.types.data, r.problem.d, r.problem.batch)) {
    const auto set = [&](int attribute, auto value) {
      CATENA_BLAS(matmul_desc_set, desc.get(), attribute, &value, sizeof value);
    };
    set(api::cublaslt_desc_transpose_a, std::int32_t(r.problem.a.transpose ? api::cublas_op_t : api::cublas_op_n));
    set(api::cublaslt_desc_transpose_b, std::int32_t(r.problem.b.transpose ? api::cublas_op_t : api::cublas_op_n));
    set(api::cublaslt_desc_epilogue, r.epilogue);
    if (r.bias != nullptr) set(api::cublaslt_desc_bias_pointer, static_cast<const void*>(r.bias));
  }
  OwnedDesc desc;
  OwnedLayout a, b, d;
};

Choice choose(const CublasLt& lt, api::cublaslt_handle handle, const Request& r, const Description& d) {
  constexpr std::uint64_t kMaxWorkspace = 32
                                          << 20;  // NVIDIA's recommendation for Hopper; other architectures need less
  api::cublaslt_preference made = nullptr;
  CATENA_BLAS(preference_create, &made);
  const OwnedPreference preference(made, lt.preference_destroy);
  const auto set = [&](int attribute, auto value) {
    CATENA_BLAS(preference_set, made, attribute, &value, sizeof value);
  };
  set(api::cublaslt_preference_workspace_bytes, kMaxWorkspace);
  set(api::cublaslt_preference_reduction_scheme, api::cublaslt_reduction_compute_type);
  set(api::cublaslt_preference_alignment_a, alignment_of(r.a));
  set(api::cublaslt_preference_alignment_b, alignment_of(r.b));
  set(api::cublaslt_preference_alignment_c, alignment_of(r.d));
  set(api::cublaslt_preference_alignment_d, alignment_of(r.d));
  api::cublaslt_heuristic_result result{};
  int found = 0;
  const api::cublas_status status = lt.get_heuristic(handle, d.desc.get(), d.a.get(), d.b.get(), d.d.get(), d.d.get(),
                                                     preference.get(), 1, &result, &found);
  // Both statuses mean that the library has no algorithm for this combination.
  if (status == api::cublas_not_supported || status == api::cublas_invalid_value) return {};
  check_blas(lt, status, api::CublasLtNames::get_heuristic);
  if (found == 0 || result.state != api::cublas_success) return {};
  return {true, result.algo, result.workspace_bytes};
}

// Choices are kept until the process ends, because the heuristic takes longer than a small product.
Choice find_choice(const CublasLt& lt, api::cublaslt_handle handle, const Request& r, const Description& d,
                   int device) {
  static auto& mutex = *new std::shared_mutex;
  static auto& choices = *new std::unordered_map<Key, Choice, KeyHash>;
  constexpr std::size_t kMaxChoices = 1 << 16;
  const Key key = key_of(r, device);
  {
    const std::shared_lock lock(mutex);
    if (const auto found = choices.find(key); found != choices.end()) return found->second;
  }
  const Choice choice = choose(lt, handle, r, d);
  const std::unique_lock lock(mutex);
  if (choices.size() >= kMaxChoices) choices.clear();
  return choices.emplace(key, choice).first->second;
}

bool run(const CublasLt& lt, const Request& r, StreamRef stream) {
  use_device(stream.device.id);
  const api::cublaslt_handle handle = handle_of(lt, stream.device.id);
  const Description d(lt, r);
  const Choice choice = find_choice(lt, handle, r, d, stream.device.id);
  if (!choice.usable) return false;
  const Scratch workspace(choice.workspace_bytes, stream);
  const bool wide = r.types.scale == api::cuda_r_64f;
  const float one = 1, zero = 0;
  const double one64 = 1, zero64 = 0;
  const void *alpha = wide ? static_cast<const void*>(&one64) : &one,
             *beta = wide ? static_cast<const void*>(&zero64) : &zero;
  const BlasMatrix &a = r.problem.a, &out = r.problem.d;
  enqueue(api::CublasLtNames::matmul, stream,
          {out.rows, out.columns, a.transpose ? a.rows : a.columns, r.problem.batch}, [&] {
            CATENA_BLAS(matmul, handle, d.desc.get(), alpha, r.a, d.a.get(), r.b, d.b.get(), beta, r.d, d.d.get(), r.d,
                        d.d.get(), &choice.algo, workspace.data(), choice.workspace_bytes, stream_of(stream));
          });
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

// ---- from strides to a problem ------------------------------------------------------------------
// A matrix with strides in elements.
struct View {
  std::int64_t rows, columns, row_stride, column_stride;
};
View transposed(const View& v) { return {v.columns, v.rows, v.column_stride, v.row_stride}; }

std::optional<BlasMatrix> column_major(const View& v) {
  if (v.rows > 1 && v.row_stride != 1) return std::nullopt;
  const std::int64_t ld = v.columns > 1 ? v.column_stride : v.rows;
  if (ld < v.rows) return std::nullopt;
  return BlasMatrix{false, v.rows, v.columns, ld, 0};
}

std::optional<BlasMatrix> either_major(const View& v) {
  if (const auto m = column_major(v)) return m;
  auto m = column_major(transposed(v));
  if (m) m->transpose = true;
  return m;
}

// A leading axis of a call: its length, and the stride of each operand in elements.
struct BatchAxis {
  std::int64_t count, a, b, out;
};

std::optional<std::int64_t> in_elements(const catena::BoundOperand& o, int axis) {
  const auto size = static_cast<std::int64_t>(catena::itemsize(o.dtype));
  const std::int64_t bytes = (*o.strides)[axis];
  if (bytes < 0 || bytes % size != 0) return std::nullopt;
  return bytes / size;
}

// Returns the leading axes, merged where all three operands allow it; nothing if a stride is not a multiple of the
// element size.
std::optional<std::vector<BatchAxis>> batch_axes(const catena::bound::Matmul& call) {
  std::vector<BatchAxis> axes;
  for (int i = 0; i < call.out.shape->size() - 2; ++i) {
    const std::int64_t count = (*call.out.shape)[i];
    if (count == 1) continue;
    const auto a = in_elements(call.a, i), b = in_elements(call.b, i), out = in_elements(call.out, i);
    if (!a || !b || !out) return std::nullopt;
    if (!axes.empty()) {
      BatchAxis& outer = axes.back();
      if (outer.a == *a * count && outer.b == *b * count && outer.out == *out * count) {
        outer = {outer.count * count, *a, *b, *out};
        continue;
      }
    }
    axes.push_back({count, *a, *b, *out});
  }
  return axes;
}

// Turns a batch with a single b into more rows of one product, if the matrices of a and of out are evenly spaced.
bool fold_into_rows(const BatchAxis& axis, View& a, View& out) {
  if (axis.b != 0) return false;
  if (a.rows == 1) a.row_stride = axis.a, out.row_stride = axis.out;
  if (axis.a != a.rows * a.row_stride || axis.out != out.rows * out.row_stride) return false;
  a.rows *= axis.count;
  out.rows *= axis.count;
  return true;
}

std::optional<View> matrix_of(const catena::BoundOperand& o) {
  const int rank = o.shape->size();
  View v{(*o.shape)[rank - 2], (*o.shape)[rank - 1], 0, 0};
  // The stride of an axis of length 1 is irrelevant and may have any value.
  const auto row = v.rows > 1 ? in_elements(o, rank - 2) : 0, column = v.columns > 1 ? in_elements(o, rank - 1) : 0;
  if (!row || !column) return std::nullopt;
  v.row_stride = *row;
  v.column_stride = *column;
  return v;
}

}  // namespace

std::optional<BlasProblem> internal::blas_problem(const catena::bound::Matmul& call) {
  auto a = matrix_of(call.a), b = matrix_of(call.b), out = matrix_of(call.out);
  if (!a || !b || !out || out->rows == 0 || out->columns == 0 || a->columns == 0) return std::nullopt;
  auto batches = batch_axes(call);
  if (!batches) return std::nullopt;
  if (!batches->empty() && fold_into_rows(batches->back(), *a, *out)) batches->pop_back();
  if (batches->size() > 1) return std::nullopt;
  const BatchAxis batch = batches->empty() ? BatchAxis{1, 0, 0, 0} : batches->front();
  if (batch.count == 0 || batch.count > std::numeric_limits<std::int32_t>::max()) return std::nullopt;

  BlasProblem p;
  p.batch = batch.count;
  auto d = column_major(transposed(*out));
  p.swapped = d.has_value();
  if (!d) d = column_major(*out);
  const auto left = p.swapped ? either_major(transposed(*b)) : either_major(*a);
  const auto right = p.swapped ? either_major(transposed(*a)) : either_major(*b);
  if (!d || !left || !right) return std::nullopt;
  p.a = *left;
  p.b = *right;
  p.d = *d;
  p.a.batch_stride = p.swapped ? batch.b : batch.a;
  p.b.batch_stride = p.swapped ? batch.a : batch.b;
  p.d.batch_stride = batch.out;
  return p;
}

const CublasLt& cublaslt() { return loaded_cublaslt().get(); }

bool blas_matmul(const catena::bound::Matmul& call, StreamRef stream, const Epilogue& epilogue) {
  last = "portable";  // replaced below if cuBLASLt takes the product
  const std::optional<Types> types = types_of(call.out.dtype, tf32_allowed());
  if (!types) return false;
  const std::optional<BlasProblem> problem = internal::blas_problem(call);
  // A bias is added along the rows of d; those are the columns of out only if the product is swapped.
  if (!problem || (epilogue.bias != nullptr && !problem->swapped)) return false;
  if (!loaded_cublaslt().error.empty()) return false;
  const std::byte *a = call.a.data, *b = call.b.data;
  if (problem->swapped) std::swap(a, b);
  if (!run(loaded_cublaslt().get(), {*problem, *types, epilogue_of(epilogue), a, b, epilogue.bias, call.out.data},
           stream))
    return false;
  last = "cublaslt";
  return true;
}

std::string_view last_matmul() noexcept { return last; }

bool tf32_allowed() noexcept { return tf32_flag().load(std::memory_order_relaxed); }
void allow_tf32(bool allow) noexcept { tf32_flag().store(allow, std::memory_order_relaxed); }

}  // namespace nd::cuda
