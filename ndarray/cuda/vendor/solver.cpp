#include <catena/ndarray/cuda/vendor/solver.h>

#include <algorithm>
#include <limits>
#include <memory>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/plans/execute.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/handle_pool.h>
#include <catena/ndarray/cuda/runtime/launch.h>
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

void check_status(api::cusolver_status status, const char* call) {
  if (status == api::cusolver_success) [[likely]]
    return;
  fail_vendor({"cuSOLVER", status, name_of(status), status == api::cusolver_alloc_failed}, call);
}
#define CATENA_SOLVER(field, ...) check_status(cusolver().field(__VA_ARGS__), api::CusolverNames::field)

// ---- arguments ----------------------------------------------------------------------------------
int to_int(const char* op, std::int64_t n) {
  check<ValueError>(n <= std::numeric_limits<int>::max(), op, "length ", n, " is beyond cuSOLVER's integers");
  return static_cast<int>(n);
}

void check_matrix(const char* op, const char* name, const Array& a, const Array& first) {
  check<ValueError>(!a.is_null() && a.ndim() == 2, op, name, " must be 2-D, it is ", a.is_null() ? Shape() : a.shape());
  check<TypeError>(a.dtype() == first.dtype() && (a.dtype() == Dtype::float32 || a.dtype() == Dtype::float64), op, name,
                   " is ", a.dtype(), ", all matrices must be float32 or all float64");
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

// ---- calls --------------------------------------------------------------------------------------
HandlePool<api::cusolver_handle>::Lease lease_handle(int device) {
  static auto& pool = *new HandlePool<api::cusolver_handle>(driver().device_count);
  use_device(device);
  return pool.lease(device, [] {
    api::cusolver_handle handle = nullptr;
    CATENA_SOLVER(create, &handle);
    return handle;
  });
}

// The state of one call: device, stream and handle, the size of the matrix, and the device memory for its status.
class Call {
 public:
  Call(const char* op, const Array& a)
      : op_(op),
        stream_(current_stream(a.device())),
        rows_(a.shape(0)),
        columns_(a.shape(1)),
        handle_(lease_handle(a.device().id)),
        info_(sizeof(int), stream_) {
    CATENA_SOLVER(set_stream, handle(), stream_of(stream_));
  }
  api::cusolver_handle handle() const { return handle_.get(); }
  StreamRef stream() const { return stream_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  int* info() const { return reinterpret_cast<int*>(info_.data()); }
  // The elements of an array, which is recorded as used by this call.
  template <class T> T* data(const Array& a) const {
    if (a.is_null()) return nullptr;
    const catena::ArrayHeader* const used[] = {a.get()};
    internal::record_operands(stream_, used);
    return a.data<T>();
  }
  template <class T> std::unique_ptr<Scratch> work(int elements) const {
    return std::make_unique<Scratch>(sizeof(T) * static_cast<std::size_t>(std::max(elements, 1)), stream_);
  }
  // Waits for the enqueued work. A positive value is the function's statement about the matrix.
  int outcome() const {
    int info = 0;
    runtime(Device::Kind::cuda)
        .copy(reinterpret_cast<std::byte*>(&info), cpu_device, info_.data(), stream_.device, sizeof info, stream_);
    check<ValueError>(info >= 0, op_, "cuSOLVER says that argument ", -info, " is wrong");
    return info;
  }

 private:
  const char* op_;
  StreamRef stream_;
  std::int64_t rows_, columns_;
  HandlePool<api::cusolver_handle>::Lease handle_;
  Scratch info_;
};

// The functions for one element type, under common names: those that return the size of the work space, and those that
// compute.
template <class T> struct Functions;
#define CATENA_SIZE(name, suffix)                                                  \
  template <class... A> static int name##_size(const Call& call, A... arguments) { \
    int size = 0;                                                                  \
    CATENA_SOLVER(name##_size_##suffix, call.handle(), arguments..., &size);       \
    return size;                                                                   \
  }
#define CATENA_WORK(name, suffix)                                                               \
  template <class... A> static void name(const Call& call, A... arguments) {                    \
    enqueue(api::CusolverNames::name##_##suffix, call.stream(), {call.rows(), call.columns()},  \
            [&] { CATENA_SOLVER(name##_##suffix, call.handle(), arguments..., call.info()); }); \
  }
#define CATENA_TYPED_FUNCTIONS(T, suffix) \
  template <> struct Functions<T> {       \
    CATENA_SIZE(potrf, suffix)            \
    CATENA_SIZE(getrf, suffix)            \
    CATENA_SIZE(geqrf, suffix)            \
    CATENA_SIZE(orgqr, suffix)            \
    CATENA_SIZE(gesvd, suffix)            \
    CATENA_SIZE(syevd, suffix)            \
    CATENA_WORK(potrf, suffix)            \
    CATENA_WORK(potrs, suffix)            \
    CATENA_WORK(getrf, suffix)            \
    CATENA_WORK(getrs, suffix)            \
    CATENA_WORK(geqrf, suffix)            \
    CATENA_WORK(orgqr, suffix)            \
    CATENA_WORK(gesvd, suffix)            \
    CATENA_WORK(syevd, suffix)            \
  };
CATENA_TYPED_FUNCTIONS(float, float)
CATENA_TYPED_FUNCTIONS(double, double)
#undef CATENA_TYPED_FUNCTIONS
#undef CATENA_WORK
#undef CATENA_SIZE

template <class F> decltype(auto) with_type(Dtype dtype, F&& f) {
  if (dtype == Dtype::float32) return f(float{});
  return f(double{});
}

}  // namespace

const Cusolver& cusolver() {
  static const auto& loaded = *new Loaded<Cusolver>(load_cusolver);
  return loaded.get();
}

namespace solver {

void potrf(const Array& a, Triangle triangle) {
  constexpr const char* op = "potrf";
  check_square(op, "a", a);
  const int n = to_int(op, a.shape(0)), lda = leading(op, a), uplo = triangle_of(triangle);
  if (n == 0) return;
  with_type(a.dtype(), [&]<class T>(T) {
    const Call call(op, a);
    T* const data = call.data<T>(a);
    const int size = Functions<T>::potrf_size(call, uplo, n, data, lda);
    const auto work = call.work<T>(size);
    Functions<T>::potrf(call, uplo, n, data, lda, reinterpret_cast<T*>(work->data()), size);
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
  with_type(b.dtype(), [&]<class T>(T) {
    const Call call(op, b);
    Functions<T>::potrs(call, triangle_of(triangle), n, columns, call.data<const T>(factor), leading(op, factor),
                        call.data<T>(b), leading(op, b));
    call.outcome();
  });
}

int getrf(const Array& a, const Array& pivots) {
  constexpr const char* op = "getrf";
  check_matrix(op, "a", a);
  check_vector(op, "pivots", pivots, std::min(a.shape(0), a.shape(1)), Dtype::int32, a);
  const int m = to_int(op, a.shape(0)), n = to_int(op, a.shape(1)), lda = leading(op, a);
  if (m == 0 || n == 0) return 0;
  return with_type(a.dtype(), [&]<class T>(T) {
    const Call call(op, a);
    T* const data = call.data<T>(a);
    const int size = Functions<T>::getrf_size(call, m, n, data, lda);
    const auto work = call.work<T>(size);
    Functions<T>::getrf(call, m, n, data, lda, reinterpret_cast<T*>(work->data()), call.data<int>(pivots));
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
  with_type(b.dtype(), [&]<class T>(T) {
    const Call call(op, b);
    Functions<T>::getrs(call, transpose ? api::cusolver_op_t : api::cusolver_op_n, n, columns, call.data<const T>(lu),
                        leading(op, lu), call.data<const int>(pivots), call.data<T>(b), leading(op, b));
    call.outcome();
  });
}

void geqrf(const Array& a, const Array& tau) {
  constexpr const char* op = "geqrf";
  check_matrix(op, "a", a);
  check_vector(op, "tau", tau, std::min(a.shape(0), a.shape(1)), a.dtype(), a);
  const int m = to_int(op, a.shape(0)), n = to_int(op, a.shape(1)), lda = leading(op, a);
  if (m == 0 || n == 0) return;
  with_type(a.dtype(), [&]<class T>(T) {
    const Call call(op, a);
    T* const data = call.data<T>(a);
    const int size = Functions<T>::geqrf_size(call, m, n, data, lda);
    const auto work = call.work<T>(size);
    Functions<T>::geqrf(call, m, n, data, lda, call.data<T>(tau), reinterpret_cast<T*>(work->data()), size);
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
  with_type(a.dtype(), [&]<class T>(T) {
    const Call call(op, a);
    T* const data = call.data<T>(a);
    const T* const factors = call.data<const T>(tau);
    const int size = Functions<T>::orgqr_size(call, m, n, k, data, lda, factors);
    const auto work = call.work<T>(size);
    Functions<T>::orgqr(call, m, n, k, data, lda, factors, reinterpret_cast<T*>(work->data()), size);
    call.outcome();
  });
}

void gesvd(const Array& a, const Array& s, const Array& u, const Array& vt) {
  constexpr const char* op = "gesvd";
  check_matrix(op, "a", a);
  check<ValueError>(a.shape(0) >= a.shape(1), op, "a ", a.shape(), " must have at least as many rows as columns");
  check_vector(op, "s", s, a.shape(1), a.dtype(), a);
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
  with_type(a.dtype(), [&]<class T>(T) {
    const Call call(op, a);
    const int size = Functions<T>::gesvd_size(call, m, n);
    const auto work = call.work<T>(size), real_work = call.work<T>(n);
    Functions<T>::gesvd(call, job_u, job_vt, m, n, call.data<T>(a), lda, call.data<T>(s), call.data<T>(u), m,
                        call.data<T>(vt), n, reinterpret_cast<T*>(work->data()), size,
                        reinterpret_cast<T*>(real_work->data()));
    const int info = call.outcome();
    check<LinAlgError>(info == 0, op, "the iteration did not converge: ", info,
                       " superdiagonals of the bidiagonal form are not 0");
  });
}

void syevd(const Array& a, const Array& w, bool vectors, Triangle triangle) {
  constexpr const char* op = "syevd";
  check_square(op, "a", a);
  check_vector(op, "w", w, a.shape(0), a.dtype(), a);
  const int n = to_int(op, a.shape(0)), lda = leading(op, a), uplo = triangle_of(triangle);
  const int job = vectors ? api::cusolver_vectors : api::cusolver_values_only;
  if (n == 0) return;
  with_type(a.dtype(), [&]<class T>(T) {
    const Call call(op, a);
    T *const data = call.data<T>(a), *const values = call.data<T>(w);
    const int size = Functions<T>::syevd_size(call, job, uplo, n, data, lda, values);
    const auto work = call.work<T>(size);
    Functions<T>::syevd(call, job, uplo, n, data, lda, values, reinterpret_cast<T*>(work->data()), size);
    const int info = call.outcome();
    check<LinAlgError>(info == 0, op, "the iteration did not converge: ", info,
                       " off-diagonal elements of the tridiagonal form are not 0");
  });
}

}  // namespace solver
}  // namespace nd::cuda
