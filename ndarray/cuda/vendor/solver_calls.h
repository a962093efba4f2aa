// Calls of cuSOLVER: their handles, streams, work space and status. Internal to ndarray/cuda/vendor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <catena/kernels/base/dtype.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/cuda/runtime/handle_pool.h>
#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/cuda/vendor/solver.h>

namespace nd::cuda {
class Scratch;
}

namespace nd::cuda::solver {

// Throws unless the status is success.
void check_status(api::cusolver_status status, const char* call);
#define CATENA_SOLVER(field, ...) \
  ::nd::cuda::solver::check_status(::nd::cuda::cusolver().field(__VA_ARGS__), ::nd::cuda::api::CusolverNames::field)

// ValueError beyond the range of cuSOLVER's integers.
int to_int(std::string_view op, std::int64_t n);

// The state of calls on matrices of one size: stream, handle, and the device memory for the status of each matrix.
class Call {
 public:
  Call(std::string_view op, StreamRef stream, std::int64_t rows, std::int64_t columns, std::int64_t matrices = 1);
  ~Call();
  api::cusolver_handle handle() const { return handle_.get(); }
  StreamRef stream() const { return stream_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  // Returns the address at which the next function stores the status of its matrix.
  int* info() const { return first_info_ + matrix_; }
  void at_matrix(std::int64_t i) { matrix_ = i; }
  // Allocates work space for F, which is Functions<T>.
  template <class F> std::unique_ptr<Scratch> work(int elements) const {
    return scratch(F::kBytes * static_cast<std::size_t>(std::max(elements, 1)));
  }
  // Waits for the enqueued work. A positive status describes the matrix.
  void outcome(std::span<int> status) const;
  int outcome() const;

 private:
  std::unique_ptr<Scratch> scratch(std::size_t bytes) const;

  std::string_view op_;
  StreamRef stream_;
  std::int64_t rows_, columns_, matrix_ = 0;
  HandlePool<api::cusolver_handle>::Lease handle_;
  std::unique_ptr<Scratch> info_;
  int* first_info_;
};

// Settings of Jacobi's methods, for one call at a time.
template <class T> using Settings = std::unique_ptr<T, api::cusolver_status (*)(T*)>;
Settings<syevjInfo> new_syevj();
Settings<gesvdjInfo> new_gesvdj();

// The functions for one element type of kBytes bytes, under common names: functions that return the size of the work
// space, and functions that compute. Those for stacks and by Jacobi's methods have all of the library's arguments.
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
#define CATENA_ASK(name, suffix)                                             \
  template <class... A> static void name(const Call& call, A... arguments) { \
    CATENA_SOLVER(name##_##suffix, call.handle(), arguments...);             \
  }
#define CATENA_ENQUEUE(name, suffix)                                                           \
  template <class... A> static void name(const Call& call, A... arguments) {                   \
    enqueue(api::CusolverNames::name##_##suffix, call.stream(), {call.rows(), call.columns()}, \
            [&] { CATENA_SOLVER(name##_##suffix, call.handle(), arguments...); });             \
  }
#define CATENA_TYPED_FUNCTIONS(T, R, parts, suffix)          \
  template <> struct Functions<T> {                          \
    using Real = R;                                          \
    static constexpr std::size_t kBytes = parts * sizeof(R); \
    CATENA_SIZE(potrf, suffix)                               \
    CATENA_SIZE(getrf, suffix)                               \
    CATENA_SIZE(geqrf, suffix)                               \
    CATENA_SIZE(orgqr, suffix)                               \
    CATENA_SIZE(ormqr, suffix)                               \
    CATENA_SIZE(sytrf, suffix)                               \
    CATENA_SIZE(gebrd, suffix)                               \
    CATENA_SIZE(gesvd, suffix)                               \
    CATENA_SIZE(syevd, suffix)                               \
    CATENA_WORK(potrf, suffix)                               \
    CATENA_WORK(potrs, suffix)                               \
    CATENA_WORK(getrf, suffix)                               \
    CATENA_WORK(getrs, suffix)                               \
    CATENA_WORK(geqrf, suffix)                               \
    CATENA_WORK(orgqr, suffix)                               \
    CATENA_WORK(ormqr, suffix)                               \
    CATENA_WORK(sytrf, suffix)                               \
    CATENA_WORK(gebrd, suffix)                               \
    CATENA_WORK(gesvd, suffix)                               \
    CATENA_WORK(syevd, suffix)                               \
    CATENA_ASK(syevj_batched_size, suffix)                   \
    CATENA_ASK(gesvdj_size, suffix)                          \
    CATENA_ASK(gesvdj_batched_size, suffix)                  \
    CATENA_ENQUEUE(potrf_batched, suffix)                    \
    CATENA_ENQUEUE(syevj_batched, suffix)                    \
    CATENA_ENQUEUE(gesvdj, suffix)                           \
    CATENA_ENQUEUE(gesvdj_batched, suffix)                   \
  };
CATENA_TYPED_FUNCTIONS(float, float, 1, float)
CATENA_TYPED_FUNCTIONS(double, double, 1, double)
CATENA_TYPED_FUNCTIONS(float2, float, 2, complex_float)
CATENA_TYPED_FUNCTIONS(double2, double, 2, complex_double)
#undef CATENA_TYPED_FUNCTIONS
#undef CATENA_ENQUEUE
#undef CATENA_ASK
#undef CATENA_WORK
#undef CATENA_SIZE

// Calls f.operator()<T>() with cuSOLVER's type of the elements.
template <class F> decltype(auto) with_type(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::float32: return f.template operator()<float>();
    case Dtype::complex64: return f.template operator()<float2>();
    case Dtype::complex128: return f.template operator()<double2>();
    default: return f.template operator()<double>();
  }
}

}  // namespace nd::cuda::solver
