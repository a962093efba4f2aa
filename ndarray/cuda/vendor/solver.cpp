#include <catena/ndarray/cuda/vendor/solver.h>

#include <algorithm>
#include <limits>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/plans/execute.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/vendor/solver_calls.h>
#include <catena/ndarray/cuda/vendor/vendor.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/engine/execute.h>

namespace nd::cuda {
namespace {

using catena::check;
using catena::LinAlgError;
using catena::TypeError;
using catena::ValueError;

void load_cusolver(Cusolver& table) {
  const Library library({"cuSOLVER", {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"}});
  CATENA_CUSOLVER_FUNCTIONS(CATENA_RESOLVE)
  table.path = library.path();
}

// The library has no function that returns the names of its codes.
const char* name_of(api::cusolver_status status) {
  switch (status) {
    case api::cusolver_not_initialized: return "CUSOLVER_STATUS_NOT_INITIALIZED";
    case api::cusolver_alloc_failed: return "CUSOLVER_STATUS_ALLOC_FAILED";
    case api::cusolver_invalid_value: return "CUSOLVER_STATUS_INVALID_VALUE";
    case api::cusolver_arch_mismatch: return "CUSOLVER_STATUS_ARCH_MISMATCH";
    case api::cusolver_mapping_error: return "CUSOLVER_STATUS_MAPPING_ERROR";
    case api::cusolver_execution_failed: return "CUSOLVER_STATUS_EXECUTION_FAILED";
    case api::cusolver_internal_error: return "CUSOLVER_STATUS_INTERNAL_ERROR";
    case api::cusolver_not_supported: return "CUSOLVER_STATUS_NOT_SUPPORTED";
    default: return "unknown status";
  }
}

HandlePool<api::cusolver_handle>::Lease lease_handle(int device) {
  static auto& pool = *new HandlePool<api::cusolver_handle>(driver().device_count);
  use_device(device);
  return pool.lease(device, [] {
    api::cusolver_handle handle = nullptr;
    CATENA_SOLVER(create, &handle);
    return handle;
  });
}

}  // namespace

const Cusolver& cusolver() {
  static const auto& loaded = *new Loaded<Cusolver>(load_cusolver);
  return loaded.get();
}

namespace solver {

const api::CusolverFunctions& Library::table() {
  const Cusolver& library = cusolver();
  const nd::Device device = current_device();
  use_device(device.kind == nd::Device::Kind::cuda ? device.id : 0);
  return library;
}
void Library::check(api::cusolver_status status, const char* call) { check_status(status, call); }

// ---- calls --------------------------------------------------------------------------------------
void check_status(api::cusolver_status status, const char* call) {
  if (status == api::cusolver_success) [[likely]]
    return;
  fail_vendor({"cuSOLVER", status, name_of(status), status == api::cusolver_alloc_failed}, call);
}

int to_int(std::string_view op, std::int64_t n) {
  check<ValueError>(n <= std::numeric_limits<int>::max(), op, "length ", n, " is beyond cuSOLVER's integers");
  return static_cast<int>(n);
}

Call::Call(std::string_view op, StreamRef stream, std::int64_t rows, std::int64_t columns, std::int64_t matrices)
    : op_(op),
      stream_(stream),
      rows_(rows),
      columns_(columns),
      handle_(lease_handle(stream.device.id)),
      info_(scratch(sizeof(int) * static_cast<std::size_t>(matrices))),
      first_info_(reinterpret_cast<int*>(info_->data())) {
  CATENA_SOLVER(set_stream, handle(), stream_of(stream_));
}

Call::~Call() = default;

Settings<syevjInfo> new_syevj() {
  api::cusolver_syevj made = nullptr;
  CATENA_SOLVER(create_syevj, &made);
  return {made, cusolver().destroy_syevj};
}
Settings<gesvdjInfo> new_gesvdj() {
  api::cusolver_gesvdj made = nullptr;
  CATENA_SOLVER(create_gesvdj, &made);
  return {made, cusolver().destroy_gesvdj};
}

std::unique_ptr<Scratch> Call::scratch(std::size_t bytes) const { return std::make_unique<Scratch>(bytes, stream_); }

void Call::outcome(std::span<int> status) const {
  runtime(Device::Kind::cuda)
      .copy(reinterpret_cast<std::byte*>(status.data()), cpu_device, info_->data(), stream_.device, status.size_bytes(),
            stream_);
  for (const int info : status) check<ValueError>(info >= 0, op_, "cuSOLVER says that argument ", -info, " is wrong");
}

int Call::outcome() const {
  int info = 0;
  outcome({&info, 1});
  return info;
}

// ---- arguments ----------------------------------------------------------------------------------
namespace {

bool is_solved(Dtype t) {
  const Dtype real = catena::real_dtype(t);
  return real == Dtype::float32 || real == Dtype::float64;
}

void check_matrix(const char* op, const char* name, const Array& a, const Array& first) {
  check<ValueError>(!a.is_null() && a.ndim() == 2, op, name, " must be 2-D, it is ", a.is_null() ? Shape() : a.shape());
  check<TypeError>(a.dtype() == first.dtype() && is_solved(a.dtype()), op, name, " is ", a.dtype(),
                   ", all matrices must be float32, float64, complex64 or complex128");
  check<ValueError>(a.device().kind == Device::Kind::cuda && a.device() == first.device(), op, name, " is on ",
                    a.device(), ", all arrays must be on one cuda device");
  check<ValueError>(a.is_f_contiguous(), op, name, " of shape ", a.shape(), " and strides ", a.strides(),
                    " must be Fortran-contiguous");
}
void check_matrix(const char* op, const char* name, const Array& a) { check_matrix(op, name, a, a); }

void check_vector(const char* op, const char* name, const Array& v, std::int64_t n, Dtype dtype, const Array& first) {
  check<ValueError>(!v.is_null() && v.ndim() == 1 && v.size() == n && v.is_c_contiguous(), op, name,
                    " must be contiguous, of shape (", n, "); its shape is ", v.is_null() ? Shape() : v.shape());
  check<TypeError>(v.dtype() == dtype, op, name, " must be ", dtype, ", it is ", v.dtype());
  check<ValueError>(v.device() == first.device(), op, name, " is on ", v.device(), ", the matrix on ", first.device());
}

void check_square(const char* op, const char* name, const Array& a) {
  check_matrix(op, name, a);
  check<ValueError>(a.shape(0) == a.shape(1), op, name, " must be square, it is ", a.shape());
}

int leading(const char* op, const Array& a) { return std::max(to_int(op, a.shape(0)), 1); }
int triangle_of(solver::Triangle t) {
  return t == solver::Triangle::lower ? api::cublas_fill_lower : api::cublas_fill_upper;
}

// A call on arrays, and their elements.
Call call_of(const char* op, const Array& a) { return Call(op, current_stream(a.device()), a.shape(0), a.shape(1)); }
template <class T> T* elements(const Call& call, const Array& a) {
  if (a.is_null()) return nullptr;
  const catena::ArrayHeader* const used[] = {a.get()};
  nd::internal::record_operands(call.stream(), used);
  if constexpr (!std::is_const_v<T>) nd::internal::raise_versions(used);
  return reinterpret_cast<T*>(a->data);
}

}  // namespace

void potrf(const Array& a, Triangle triangle) {
  constexpr const char* op = "potrf";
  check_square(op, "a", a);
  const int n = to_int(op, a.shape(0)), lda = leading(op, a), uplo = triangle_of(triangle);
  if (n == 0) return;
  with_type(a.dtype(), [&]<class T>() {
    using F = Functions<T>;
    const Call call = call_of(op, a);
    T* const data = elements<T>(call, a);
    const int size = F::potrf_size(call, uplo, n, data, lda);
    const auto work = call.work<F>(size);
    F::potrf(call, uplo, n, data, lda, reinterpret_cast<T*>(work->data()), size);
    const int info = call.outcome();
    check<LinAlgError>(info == 0, op, "the matrix is not positive definite: its leading minor of order ", info,
                       " is not positive");
  });
}

void potrs(const Array& factor, const Array& b, Triangle triangle) {
  constexpr const char* op = "potrs";
  check_square(op, "factor", factor);
  check_matrix(op, "b", b, factor);
  check<ValueError>(b.shape(0) == factor.shape(0), op, "b ", b.shape(), " does not fit the factor ", factor.shape());
  const int n = to_int(op, factor.shape(0)), columns = to_int(op, b.shape(1));
  if (n == 0 || columns == 0) return;
  with_type(b.dtype(), [&]<class T>() {
    using F = Functions<T>;
    const Call call = call_of(op, b);
    F::potrs(call, triangle_of(triangle), n, columns, elements<const T>(call, factor), leading(op, factor),
             elements<T>(call, b), leading(op, b));
    call.outcome();
  });
}

int getrf(const Array& a, const Array& pivots) {
  constexpr const char* op = "getrf";
  check_matrix(op, "a", a);
  check_vector(op, "pivots", pivots, std::min(a.shape(0), a.shape(1)), Dtype::int32, a);
  const int m = to_int(op, a.shape(0)), n = to_int(op, a.shape(1)), lda = leading(op, a);
  if (m == 0 || n == 0) return 0;
  return with_type(a.dtype(), [&]<class T>() {
    using F = Functions<T>;
    const Call call = call_of(op, a);
    T* const data = elements<T>(call, a);
    const int size = F::getrf_size(call, m, n, data, lda);
    const auto work = call.work<F>(size);
    F::getrf(call, m, n, data, lda, reinterpret_cast<T*>(work->data()), elements<int>(call, pivots));
    return call.outcome();
  });
}

void getrs(const Array& lu, const Array& pivots, const Array& b, bool transpose) {
  constexpr const char* op = "getrs";
  check_square(op, "lu", lu);
  check_matrix(op, "b", b, lu);
  check_vector(op, "pivots", pivots, lu.shape(0), Dtype::int32, lu);
  check<ValueError>(b.shape(0) == lu.shape(0), op, "b ", b.shape(), " does not fit the factors ", lu.shape());
  const int n = to_int(op, lu.shape(0)), columns = to_int(op, b.shape(1));
  if (n == 0 || columns == 0) return;
  with_type(b.dtype(), [&]<class T>() {
    using F = Functions<T>;
    const Call call = call_of(op, b);
    F::getrs(call, transpose ? api::cusolver_op_t : api::cusolver_op_n, n, columns, elements<const T>(call, lu),
             leading(op, lu), elements<const int>(call, pivots), elements<T>(call, b), leading(op, b));
    call.outcome();
  });
}

void geqrf(const Array& a, const Array& tau) {
  constexpr const char* op = "geqrf";
  check_matrix(op, "a", a);
  check_vector(op, "tau", tau, std::min(a.shape(0), a.shape(1)), a.dtype(), a);
  const int m = to_int(op, a.shape(0)), n = to_int(op, a.shape(1)), lda = leading(op, a);
  if (m == 0 || n == 0) return;
  with_type(a.dtype(), [&]<class T>() {
    using F = Functions<T>;
    const Call call = call_of(op, a);
    T* const data = elements<T>(call, a);
    const int size = F::geqrf_size(call, m, n, data, lda);
    const auto work = call.work<F>(size);
    F::geqrf(call, m, n, data, lda, elements<T>(call, tau), reinterpret_cast<T*>(work->data()), size);
    call.outcome();
  });
}

void orgqr(const Array& a, const Array& tau) {
  constexpr const char* op = "orgqr";
  check_matrix(op, "a", a);
  check<ValueError>(!tau.is_null() && a.shape(0) >= a.shape(1) && tau.size() <= a.shape(1), op, "a ", a.shape(),
                    " with ", tau.is_null() ? 0 : tau.size(),
                    " reflectors: at least as many columns as reflectors, and rows as columns, are needed");
  check_vector(op, "tau", tau, tau.size(), a.dtype(), a);
  const int m = to_int(op, a.shape(0)), n = to_int(op, a.shape(1)), k = to_int(op, tau.size()), lda = leading(op, a);
  if (n == 0) return;
  with_type(a.dtype(), [&]<class T>() {
    using F = Functions<T>;
    const Call call = call_of(op, a);
    T* const data = elements<T>(call, a);
    const T* const factors = elements<const T>(call, tau);
    const int size = F::orgqr_size(call, m, n, k, data, lda, factors);
    const auto work = call.work<F>(size);
    F::orgqr(call, m, n, k, data, lda, factors, reinterpret_cast<T*>(work->data()), size);
    call.outcome();
  });
}

void ormqr(const Array& a, const Array& tau, const Array& c, bool left, bool transpose) {
  constexpr const char* op = "ormqr";
  check_matrix(op, "a", a);
  check_matrix(op, "c", c, a);
  const std::int64_t order = c.shape(left ? 0 : 1);
  check<ValueError>(!tau.is_null() && a.shape(0) == order && a.shape(1) == tau.size() && tau.size() <= order, op, "a ",
                    a.shape(), " with ", tau.is_null() ? 0 : tau.size(), " reflectors does not fit c ", c.shape());
  check_vector(op, "tau", tau, tau.size(), a.dtype(), a);
  const int m = to_int(op, c.shape(0)), n = to_int(op, c.shape(1)), k = to_int(op, tau.size());
  if (m == 0 || n == 0 || k == 0) return;
  const int side = left ? api::cusolver_side_left : api::cusolver_side_right;
  const int trans = !transpose                                   ? api::cusolver_op_n
                    : a.dtype() == catena::real_dtype(a.dtype()) ? api::cusolver_op_t
                                                                 : api::cusolver_op_c;
  with_type(a.dtype(), [&]<class T>() {
    using F = Functions<T>;
    const Call call = call_of(op, c);
    const T *const reflectors = elements<const T>(call, a), *const factors = elements<const T>(call, tau);
    T* const data = elements<T>(call, c);
    const int lda = leading(op, a), ldc = leading(op, c);
    const int size = F::ormqr_size(call, side, trans, m, n, k, reflectors, lda, factors, data, ldc);
    const auto work = call.work<F>(size);
    F::ormqr(call, side, trans, m, n, k, reflectors, lda, factors, data, ldc, reinterpret_cast<T*>(work->data()), size);
    call.outcome();
  });
}

int sytrf(const Array& a, const Array& pivots, Triangle triangle) {
  constexpr const char* op = "sytrf";
  check_square(op, "a", a);
  check_vector(op, "pivots", pivots, a.shape(0), Dtype::int32, a);
  const int n = to_int(op, a.shape(0)), lda = leading(op, a), uplo = triangle_of(triangle);
  if (n == 0) return 0;
  return with_type(a.dtype(), [&]<class T>() {
    using F = Functions<T>;
    const Call call = call_of(op, a);
    T* const data = elements<T>(call, a);
    const int size = F::sytrf_size(call, n, data, lda);
    const auto work = call.work<F>(size);
    F::sytrf(call, uplo, n, data, lda, elements<int>(call, pivots), reinterpret_cast<T*>(work->data()), size);
    return call.outcome();
  });
}

void gebrd(const Array& a, const Array& d, const Array& e, const Array& tau_q, const Array& tau_p) {
  constexpr const char* op = "gebrd";
  check_matrix(op, "a", a);
  check<ValueError>(a.shape(0) >= a.shape(1), op, "a ", a.shape(), " must have at least as many rows as columns");
  const std::int64_t columns = a.shape(1);
  const Dtype real = catena::real_dtype(a.dtype());
  check_vector(op, "d", d, columns, real, a);
  check_vector(op, "e", e, std::max<std::int64_t>(columns - 1, 0), real, a);
  check_vector(op, "tau_q", tau_q, columns, a.dtype(), a);
  check_vector(op, "tau_p", tau_p, columns, a.dtype(), a);
  const int m = to_int(op, a.shape(0)), n = to_int(op, columns), lda = leading(op, a);
  if (n == 0) return;
  with_type(a.dtype(), [&]<class T>() {
    using F = Functions<T>;
    using R = typename F::Real;
    const Call call = call_of(op, a);
    const int size = F::gebrd_size(call, m, n);
    const auto work = call.work<F>(size);
    F::gebrd(call, m, n, elements<T>(call, a), lda, elements<R>(call, d), elements<R>(call, e),
             elements<T>(call, tau_q), elements<T>(call, tau_p), reinterpret_cast<T*>(work->data()), size);
    call.outcome();
  });
}

void gesvd(const Array& a, const Array& s, const Array& u, const Array& vt) {
  constexpr const char* op = "gesvd";
  check_matrix(op, "a", a);
  check<ValueError>(a.shape(0) >= a.shape(1), op, "a ", a.shape(), " must have at least as many rows as columns");
  check_vector(op, "s", s, a.shape(1), catena::real_dtype(a.dtype()), a);
  check<ValueError>(u.is_null() == vt.is_null(), op, "u and vt are wanted together or not at all");
  const bool vectors = !u.is_null();
  if (vectors) {
    check_matrix(op, "u", u, a);
    check_matrix(op, "vt", vt, a);
    check<ValueError>(u.shape(0) == a.shape(0) && (u.shape(1) == a.shape(0) || u.shape(1) == a.shape(1)) &&
                          vt.shape(0) == a.shape(1) && vt.shape(1) == a.shape(1),
                      op, "u ", u.shape(), " and vt ", vt.shape(), " do not fit a ", a.shape());
  }
  const int m = to_int(op, a.shape(0)), n = to_int(op, a.shape(1)), lda = leading(op, a);
  if (n == 0) return;
  const signed char job_u = !vectors ? 'N' : u.shape(1) == a.shape(0) ? 'A' : 'S', job_vt = vectors ? 'A' : 'N';
  with_type(a.dtype(), [&]<class T>() {
    using F = Functions<T>;
    const Call call = call_of(op, a);
    const int size = F::gesvd_size(call, m, n);
    const auto work = call.work<F>(size), real_work = call.work<F>(n);
    F::gesvd(call, job_u, job_vt, m, n, elements<T>(call, a), lda, elements<typename F::Real>(call, s),
             elements<T>(call, u), m, elements<T>(call, vt), n, reinterpret_cast<T*>(work->data()), size,
             reinterpret_cast<typename F::Real*>(real_work->data()));
    const int info = call.outcome();
    check<LinAlgError>(info == 0, op, "the iteration did not converge: ", info,
                       " superdiagonals of the bidiagonal form are not 0");
  });
}

void syevd(const Array& a, const Array& w, bool vectors, Triangle triangle) {
  constexpr const char* op = "syevd";
  check_square(op, "a", a);
  check_vector(op, "w", w, a.shape(0), catena::real_dtype(a.dtype()), a);
  const int n = to_int(op, a.shape(0)), lda = leading(op, a), uplo = triangle_of(triangle);
  const int job = vectors ? api::cusolver_vectors : api::cusolver_values_only;
  if (n == 0) return;
  with_type(a.dtype(), [&]<class T>() {
    using F = Functions<T>;
    const Call call = call_of(op, a);
    T* const data = elements<T>(call, a);
    auto* const values = elements<typename F::Real>(call, w);
    const int size = F::syevd_size(call, job, uplo, n, data, lda, values);
    const auto work = call.work<F>(size);
    F::syevd(call, job, uplo, n, data, lda, values, reinterpret_cast<T*>(work->data()), size);
    const int info = call.outcome();
    check<LinAlgError>(info == 0, op, "the iteration did not converge: ", info,
                       " off-diagonal elements of the tridiagonal form are not 0");
  });
}

}  // namespace solver
}  // namespace nd::cuda
