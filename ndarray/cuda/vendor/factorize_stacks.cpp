#include <catena/ndarray/cuda/vendor/factorize_stacks.h>

#include <algorithm>
#include <limits>

#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/ndarray/cuda/plans/execute.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/vendor/cublas.h>
#include <catena/ndarray/cuda/vendor/solver_calls.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/executor.h>

namespace nd::cuda {
namespace {

using catena::Shape;
using catena::Strides;

// From this order on, the matrices one after the other take less time: each of them has enough work for the device.
constexpr std::int64_t kLarge = 512;
// From this order on, one or two matrices are not a stack: cuBLAS's functions have a block for each matrix. Smaller
// ones are, even a single one, so that a solution has the same bits alone and in a stack.
constexpr std::int64_t kMedium = 64;
// cuBLAS's and cuSOLVER's limit for the functions that keep a matrix in the registers of a warp or a block.
constexpr std::int64_t kSmall = 32;

// The functions of cuBLAS for one element type, and their names.
template <class T> struct StackFunctions;
#define CATENA_STACK_FUNCTIONS(T, L, l)                                                                             \
  template <> struct StackFunctions<T> {                                                                            \
    static constexpr auto getrf = &api::CublasFunctions::l##getrf_batched;                                          \
    static constexpr auto getrs = &api::CublasFunctions::l##getrs_batched;                                          \
    static constexpr auto matinv = &api::CublasFunctions::l##matinv_batched;                                        \
    static constexpr const char *getrf_name = "cublas" #L "getrfBatched", *getrs_name = "cublas" #L "getrsBatched", \
                                *matinv_name = "cublas" #L "matinvBatched";                                         \
  };
CATENA_STACK_FUNCTIONS(float, S, s)
CATENA_STACK_FUNCTIONS(double, D, d)
CATENA_STACK_FUNCTIONS(float2, C, c)
CATENA_STACK_FUNCTIONS(double2, Z, z)
#undef CATENA_STACK_FUNCTIONS

// The addresses of the matrices of an operand, in device memory.
class Addresses {
 public:
  Addresses(const Factorize& f, int operand, StreamRef stream)
      : memory_(sizeof(void*) * static_cast<std::size_t>(f.count), stream) {
    const catena::KernelDef& arange = catena::kernels::arange;
    const Shape loop{f.count};
    const Strides none{0}, step{sizeof(std::int64_t)};
    catena::ScalarCell first(std::int64_t(reinterpret_cast<std::intptr_t>(f.operands[std::size_t(operand)])),
                             Dtype::int64),
        distance(stride_of_operand(f, operand), Dtype::int64);
    const catena::EagerProgram program(arange, catena::choose_loop_by_output(arange, Dtype::int64));
    const catena::BoundOperand operands[] = {{first.bytes, Dtype::int64, true, &loop, &none},
                                             {distance.bytes, Dtype::int64, true, &loop, &none},
                                             {memory_.data(), Dtype::int64, false, &loop, &step}};
    executor(stream.device.kind).execute(catena::bound::Elementwise{&program, operands, &loop}, stream);
  }
  template <class T> T* const* of() const { return reinterpret_cast<T* const*>(memory_.data()); }

 private:
  Scratch memory_;
};

HandlePool<api::cublas_handle>::Lease lease_cublas(StreamRef stream) {
  static auto& pool = *new HandlePool<api::cublas_handle>(driver().device_count);
  use_device(stream.device.id);
  auto lease = pool.lease(stream.device.id, [] {
    api::cublas_handle handle = nullptr;
    cublas::Library::check(cublas_library().create(&handle), "cublasCreate_v2");
    return handle;
  });
  cublas::Library::check(cublas_library().set_stream(lease.get(), stream_of(stream)), "cublasSetStream_v2");
  return lease;
}

int* integers(const Scratch& memory) { return reinterpret_cast<int*>(memory.data()); }

// The kinds by cuBLAS.
template <class T> class StackByCublas {
  using F = StackFunctions<T>;

 public:
  StackByCublas(const Factorize& f, StreamRef stream)
      : f_(f),
        stream_(stream),
        handle_(lease_cublas(stream)),
        n_(static_cast<int>(f.rows)),
        count_(static_cast<int>(f.count)),
        info_(sizeof(int) * static_cast<std::size_t>(f.count), stream) {}

  void run() {
    const Addresses a(f_, 0, stream_);
    if (f_.kind == Factorization::lu) {
      factorize(a, operand<int>(1));
    } else if (f_.kind == Factorization::substitute) {
      substitute(a, operand<int>(1), Addresses(f_, 2, stream_));
      std::fill(f_.status.begin(), f_.status.end(), 0);
      return runtime(Device::Kind::cuda).synchronize(stream_);  // the handle may be another stream's afterwards
    } else if (f_.unit_right && f_.rows <= kSmall) {
      const Addresses inverses(f_, 1, stream_);
      call(F::matinv, F::matinv_name, n_, a.of<const T>(), n_, inverses.of<T>(), n_, integers(info_), count_);
    } else {
      const Scratch pivots(sizeof(int) * static_cast<std::size_t>(f_.count * f_.rows), stream_);
      factorize(a, integers(pivots));
      substitute(a, integers(pivots), Addresses(f_, 1, stream_));
    }
    read_status();
  }

 private:
  template <class E> E* operand(int o) const { return reinterpret_cast<E*>(f_.operands[std::size_t(o)]); }
  template <class Field, class... A> void call(Field field, const char* name, A... arguments) {
    enqueue(name, stream_, {f_.rows, f_.columns, f_.count},
            [&] { cublas::Library::check((cublas_library().*field)(handle_.get(), arguments...), name); });
  }
  void factorize(const Addresses& a, int* pivots) {
    call(F::getrf, F::getrf_name, n_, a.of<T>(), n_, pivots, integers(info_), count_);
  }
  void substitute(const Addresses& a, const int* pivots, const Addresses& b) {
    int wrong_argument = 0;  // in host memory, and set before the call returns
    call(F::getrs, F::getrs_name, f_.transposed ? api::cublas_op_t : api::cublas_op_n, n_, static_cast<int>(f_.other),
         a.of<const T>(), n_, pivots, b.of<T>(), n_, &wrong_argument, count_);
    catena::check<catena::ValueError>(wrong_argument == 0, f_.name, "cuBLAS says that argument ", -wrong_argument,
                                      " is wrong");
  }
  void read_status() {
    runtime(Device::Kind::cuda)
        .copy(reinterpret_cast<std::byte*>(f_.status.data()), cpu_device, info_.data(), stream_.device,
              f_.status.size_bytes(), stream_);
  }

  const Factorize& f_;
  StreamRef stream_;
  HandlePool<api::cublas_handle>::Lease handle_;
  int n_, count_;
  Scratch info_;
};

// The kinds by cuSOLVER. The singular values are in factorize.cpp.
template <class T> class StackBySolver {
  using F = solver::Functions<T>;
  using Real = typename F::Real;

 public:
  StackBySolver(const Factorize& f, StreamRef stream)
      : f_(f), call_(f.name, stream, f.rows, f.columns, f.count), n_(static_cast<int>(f.rows)) {}

  void run() {
    if (f_.kind == Factorization::cholesky) cholesky();
    else eigh();
    call_.outcome(f_.status);
  }

 private:
  T* a() const { return reinterpret_cast<T*>(f_.operands[0]); }
  int count() const { return static_cast<int>(f_.count); }

  void cholesky() {
    const Addresses matrices(f_, 0, call_.stream());
    F::potrf_batched(call_, api::cublas_fill_upper, n_, const_cast<T**>(matrices.of<T>()), n_, call_.info(), count());
  }
  void eigh() {
    const int job = f_.other == 0 ? api::cusolver_values_only : api::cusolver_vectors;
    const auto settings = solver::new_syevj();
    Real* const values = reinterpret_cast<Real*>(f_.operands[1]);
    constexpr int upper = api::cublas_fill_upper;
    int size = 0;
    F::syevj_batched_size(call_, job, upper, n_, a(), n_, values, &size, settings.get(), count());
    const auto work = call_.work<F>(size);
    F::syevj_batched(call_, job, upper, n_, a(), n_, values, reinterpret_cast<T*>(work->data()), size, call_.info(),
                     settings.get(), count());
  }

  const Factorize& f_;
  solver::Call call_;
  int n_;
};

bool fits(const Factorize& f) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  return f.count <= most && f.rows < kLarge && f.other <= most && (f.rows < kMedium || f.count > 2);
}

}  // namespace

bool is_jacobi_stack(const Factorize& f) { return fits(f) && f.count > 1 && f.rows <= kSmall && f.columns == f.rows; }

bool factorize_stack(const Factorize& f, StreamRef stream) {
  if (!fits(f) || f.rows != f.columns) return false;
  switch (f.kind) {
    case Factorization::cholesky:
    case Factorization::eigh:
      if (f.kind == Factorization::eigh && !is_jacobi_stack(f)) return false;
      solver::with_type(f.dtype, [&]<class T>() { StackBySolver<T>(f, stream).run(); });
      return true;
    case Factorization::lu:
    case Factorization::solve:
    case Factorization::substitute:
      if (!cublas_is_available()) return false;
      solver::with_type(f.dtype, [&]<class T>() { StackByCublas<T>(f, stream).run(); });
      return true;
    default: return false;
  }
}

}  // namespace nd::cuda
