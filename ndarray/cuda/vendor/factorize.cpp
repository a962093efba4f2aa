#include <catena/ndarray/cuda/vendor/factorize.h>

#include <algorithm>

#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/ndarray/cuda/plans/execute.h>
#include <catena/ndarray/cuda/vendor/factorize_stacks.h>
#include <catena/ndarray/cuda/vendor/solver_calls.h>
#include <catena/ndarray/device/executor.h>

namespace nd::cuda {
namespace {

using namespace solver;

// Stores v^H, of all matrices v (n, n), as operand d of the singular values.
void store_conjugate_transposed(const Factorize& f, std::byte* v, StreamRef stream) {
  const catena::KernelDef& kernel =
      catena::is_complex_dtype(f.dtype) ? catena::kernels::conjugate : catena::kernels::copy;
  const catena::EagerProgram program(kernel, catena::choose_loop_by_output(kernel, f.dtype));
  const auto item = static_cast<std::int64_t>(catena::itemsize(f.dtype));
  const std::int64_t n = f.columns;
  const catena::Shape loop{f.count, n, n};
  const catena::Strides from{n * n * item, item, n * item}, to{n * n * item, n * item, item};
  const catena::BoundOperand operands[] = {{v, f.dtype, false, &loop, &from},
                                           {f.operands[3], f.dtype, false, &loop, &to}};
  executor(stream.device.kind).execute(catena::bound::Elementwise{&program, operands, &loop}, stream);
}

// The matrices of a call, factorized one after the other on its stream with one work space.
template <class T> class Matrices {
  using F = Functions<T>;
  using Real = typename F::Real;

 public:
  Matrices(const Factorize& f, StreamRef stream)
      : f_(f),
        call_(f.name, stream, f.rows, f.columns, f.count),
        m_(to_int(f.name, f.rows)),
        n_(to_int(f.name, f.columns)),
        k_(to_int(f.name, f.other)),
        lda_(std::max(m_, 1)) {}

  void run() {
    switch (f_.kind) {
      case Factorization::cholesky: cholesky(); break;
      case Factorization::lu: lu(); break;
      case Factorization::solve: solve(); break;
      case Factorization::qr: qr(); break;
      case Factorization::q: q(); break;
      case Factorization::svd: return svd();
      case Factorization::eigh: eigh(); break;
      case Factorization::substitute: substitute(); break;
      case Factorization::eig:
      case Factorization::triangular: catena::fail<catena::RuntimeError>(f_.name, "cuSOLVER has no such function");
    }
    call_.outcome(f_.status);
  }

 private:
  template <class E> E* operand(int o, std::int64_t matrix) const {
    std::byte* const data = f_.operands[std::size_t(o)];
    return data == nullptr ? nullptr : reinterpret_cast<E*>(data + matrix * stride_of_operand(f_, o));
  }
  T* a(std::int64_t matrix) const { return operand<T>(0, matrix); }
  T* b(std::int64_t matrix) const { return operand<T>(1, matrix); }
  // Calls enqueue(i, work) for every matrix.
  template <class Enqueue> void each(int size, Enqueue&& enqueue) {
    const auto work = call_.work<F>(size);
    for (std::int64_t i = 0; i < f_.count; ++i) {
      call_.at_matrix(i);
      enqueue(i, reinterpret_cast<T*>(work->data()));
    }
  }

  void cholesky() {
    constexpr int upper = api::cublas_fill_upper;
    const int size = F::potrf_size(call_, upper, n_, a(0), lda_);
    each(size, [&](std::int64_t i, T* work) { F::potrf(call_, upper, n_, a(i), lda_, work, size); });
  }
  void lu() {
    each(F::getrf_size(call_, m_, n_, a(0), lda_),
         [&](std::int64_t i, T* work) { F::getrf(call_, m_, n_, a(i), lda_, work, operand<int>(1, i)); });
  }
  // The status is the one of the factorization: the substitution after it fails only for invalid arguments, and it gets
  // the same ones.
  void solve() {
    const Scratch pivots(sizeof(int) * static_cast<std::size_t>(n_), call_.stream());
    int* const rows = reinterpret_cast<int*>(pivots.data());
    const Call substitution(f_.name, call_.stream(), f_.rows, f_.other);
    each(F::getrf_size(call_, n_, n_, a(0), lda_), [&](std::int64_t i, T* work) {
      F::getrf(call_, n_, n_, a(i), lda_, work, rows);
      F::getrs(substitution, api::cusolver_op_n, n_, k_, static_cast<const T*>(a(i)), lda_,
               static_cast<const int*>(rows), b(i), lda_);
    });
  }
  void substitute() {
    for (std::int64_t i = 0; i < f_.count; ++i) {
      call_.at_matrix(i);
      F::getrs(call_, f_.transposed ? api::cusolver_op_t : api::cusolver_op_n, n_, k_, static_cast<const T*>(a(i)),
               lda_, static_cast<const int*>(operand<int>(1, i)), operand<T>(2, i), lda_);
    }
  }
  void qr() {
    const int size = F::geqrf_size(call_, m_, n_, a(0), lda_);
    each(size, [&](std::int64_t i, T* work) { F::geqrf(call_, m_, n_, a(i), lda_, b(i), work, size); });
  }
  void q() {
    const int size = F::orgqr_size(call_, m_, n_, k_, a(0), lda_, b(0));
    each(size, [&](std::int64_t i, T* work) {
      F::orgqr(call_, m_, n_, k_, a(i), lda_, static_cast<const T*>(b(i)), work, size);
    });
  }
  // By Jacobi's method, which is as exact as the QR iteration and faster on a GPU. Where it does not converge, the QR
  // iteration decides.
  void svd() {
    const std::size_t bytes = static_cast<std::size_t>(f_.count * stride_of_operand(f_, 0));
    const Scratch original(bytes, call_.stream());
    copy(original.data(), f_.operands[0], bytes);
    const auto settings = new_gesvdj();
    const std::int64_t vectors = n_ * std::int64_t(n_);
    // The library writes to u and v even where only values are wanted.
    const Scratch v(F::kBytes * static_cast<std::size_t>((k_ == 0 ? 1 : f_.count) * vectors), call_.stream()),
        no_u(F::kBytes * static_cast<std::size_t>(k_ == 0 ? m_ * std::int64_t(n_) : 0), call_.stream());
    if (k_ != 0 && is_jacobi_stack(f_)) jacobi_of_stack(settings.get(), reinterpret_cast<T*>(v.data()));
    else jacobi_of_each(settings.get(), v.data(), reinterpret_cast<T*>(no_u.data()));
    if (k_ != 0) store_conjugate_transposed(f_, v.data(), call_.stream());
    call_.outcome(f_.status);
    if (std::all_of(f_.status.begin(), f_.status.end(), [](int status) { return status == 0; })) return;
    copy(f_.operands[0], original.data(), bytes);
    iterate([&](std::int64_t i) { return f_.status[static_cast<std::size_t>(i)] != 0; });
  }
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    const StreamRef stream = call_.stream();
    runtime(Device::Kind::cuda).copy(to, stream.device, from, stream.device, bytes, stream);
  }
  void jacobi_of_stack(api::cusolver_gesvdj settings, T* v) {
    constexpr int job = api::cusolver_vectors;
    const int count = static_cast<int>(f_.count);
    Real* const s = operand<Real>(1, 0);
    T* const u = operand<T>(2, 0);
    int size = 0;
    F::gesvdj_batched_size(call_, job, m_, n_, a(0), lda_, s, u, lda_, v, n_, &size, settings, count);
    const auto work = call_.work<F>(size);
    F::gesvdj_batched(call_, job, m_, n_, a(0), lda_, s, u, lda_, v, n_, reinterpret_cast<T*>(work->data()), size,
                      call_.info(), settings, count);
  }
  void jacobi_of_each(api::cusolver_gesvdj settings, std::byte* v, T* no_u) {
    const int job = k_ == 0 ? api::cusolver_values_only : api::cusolver_vectors, reduced = k_ == m_ ? 0 : 1;
    const std::int64_t vectors = std::int64_t(F::kBytes) * n_ * n_;
    int size = 0;
    F::gesvdj_size(call_, job, reduced, m_, n_, a(0), lda_, operand<Real>(1, 0), no_u, lda_, reinterpret_cast<T*>(v),
                   n_, &size, settings);
    each(size, [&](std::int64_t i, T* work) {
      T *const u = k_ == 0 ? no_u : operand<T>(2, i), *const own_v =
                                                          reinterpret_cast<T*>(v + (k_ == 0 ? 0 : i * vectors));
      F::gesvdj(call_, job, reduced, m_, n_, a(i), lda_, operand<Real>(1, i), u, lda_, own_v, n_, work, size,
                call_.info(), settings);
    });
  }
  template <class Wanted> void iterate(Wanted&& wanted) {
    const signed char job_u = k_ == 0 ? 'N' : k_ == m_ ? 'A' : 'S', job_vt = k_ == 0 ? 'N' : 'A';
    const int size = F::gesvd_size(call_, m_, n_);
    const auto reals = call_.work<Functions<Real>>(n_);
    each(size, [&](std::int64_t i, T* work) {
      if (wanted(i))
        F::gesvd(call_, job_u, job_vt, m_, n_, a(i), lda_, operand<Real>(1, i), operand<T>(2, i), lda_,
                 operand<T>(3, i), n_, work, size, reinterpret_cast<Real*>(reals->data()));
    });
    call_.outcome(f_.status);
  }
  void eigh() {
    const int job = k_ == 0 ? api::cusolver_values_only : api::cusolver_vectors;
    constexpr int upper = api::cublas_fill_upper;
    const int size = F::syevd_size(call_, job, upper, n_, a(0), lda_, operand<Real>(1, 0));
    each(size, [&](std::int64_t i, T* work) {
      F::syevd(call_, job, upper, n_, a(i), lda_, operand<Real>(1, i), work, size);
    });
  }

  const Factorize& f_;
  Call call_;
  int m_, n_, k_, lda_;
};

}  // namespace

void solver_factorize(const Factorize& call, StreamRef stream) {
  if (factorize_stack(call, stream)) return;
  with_type(call.dtype, [&]<class T>() { Matrices<T>(call, stream).run(); });
}

}  // namespace nd::cuda
