#include <catena/ndarray/cuda/vendor/factorize.h>

#include <algorithm>

#include <catena/ndarray/cuda/plans/execute.h>
#include <catena/ndarray/cuda/vendor/solver_calls.h>

namespace nd::cuda {
namespace {

using namespace solver;

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
      case Factorization::svd: svd(); break;
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
  void svd() {
    const signed char job_u = k_ == 0 ? 'N' : k_ == m_ ? 'A' : 'S', job_vt = k_ == 0 ? 'N' : 'A';
    const int size = F::gesvd_size(call_, m_, n_);
    const auto reals = call_.work<Functions<Real>>(n_);
    each(size, [&](std::int64_t i, T* work) {
      F::gesvd(call_, job_u, job_vt, m_, n_, a(i), lda_, operand<Real>(1, i), operand<T>(2, i), lda_, operand<T>(3, i),
               n_, work, size, reinterpret_cast<Real*>(reals->data()));
    });
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
  with_type(call.dtype, [&]<class T>() { Matrices<T>(call, stream).run(); });
}

}  // namespace nd::cuda
