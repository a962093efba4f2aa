// Calls LAPACK by its Fortran interface: all arguments by address, matrices in column-major order, the lengths of texts
// as the last arguments.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <catena/kernels/complex.h>
#include <catena/ndarray/cpu/modules/gemm.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {
namespace {

using catena::complex128;
using catena::complex64;
using Text = const char*;
using Int = const int*;
using Length = std::size_t;  // length of a text

}  // namespace

#define CATENA_DECLARE(p, orthogonal, T)                                                            \
  void p##potrf_(Text, Int, T*, Int, int*, Length);                                                 \
  void p##getrf_(Int, Int, T*, Int, int*, int*);                                                    \
  void p##getrs_(Text, Int, Int, const T*, Int, Int, T*, Int, int*, Length);                        \
  void p##trtrs_(Text, Text, Text, Int, Int, const T*, Int, T*, Int, int*, Length, Length, Length); \
  void p##geqrf_(Int, Int, T*, Int, T*, T*, Int, int*);                                             \
  void p##orthogonal(Int, Int, Int, T*, Int, const T*, T*, Int, int*);
#define CATENA_DECLARE_REAL(p, T)                                                                   \
  CATENA_DECLARE(p, orgqr_, T)                                                                      \
  void p##geev_(Text, Text, Int, T*, Int, T*, T*, T*, Int, T*, Int, T*, Int, int*, Length, Length); \
  void p##gesdd_(Text, Int, Int, T*, Int, T*, T*, Int, T*, Int, T*, Int, int*, int*, Length);       \
  void p##syevd_(Text, Text, Int, T*, Int, T*, T*, Int, int*, Int, int*, Length, Length);
#define CATENA_DECLARE_COMPLEX(p, T, R)                                                             \
  CATENA_DECLARE(p, ungqr_, T)                                                                      \
  void p##geev_(Text, Text, Int, T*, Int, T*, T*, Int, T*, Int, T*, Int, R*, int*, Length, Length); \
  void p##gesdd_(Text, Int, Int, T*, Int, R*, T*, Int, T*, Int, T*, Int, R*, int*, int*, Length);   \
  void p##heevd_(Text, Text, Int, T*, Int, R*, T*, Int, R*, Int, int*, Int, int*, Length, Length);
extern "C" {
CATENA_DECLARE_REAL(s, float)
CATENA_DECLARE_REAL(d, double)
CATENA_DECLARE_COMPLEX(c, complex64, float)
CATENA_DECLARE_COMPLEX(z, complex128, double)
}
#undef CATENA_DECLARE_COMPLEX
#undef CATENA_DECLARE_REAL
#undef CATENA_DECLARE

namespace {

// The functions for one type of element, under common names.
template <class T> struct Functions;
#define CATENA_FUNCTIONS(T, R, p, orthogonal, symmetric) \
  template <> struct Functions<T> {                      \
    using Real = R;                                      \
    static constexpr auto* potrf = &p##potrf_;           \
    static constexpr auto* getrf = &p##getrf_;           \
    static constexpr auto* getrs = &p##getrs_;           \
    static constexpr auto* trtrs = &p##trtrs_;           \
    static constexpr auto* geev = &p##geev_;             \
    static constexpr auto* geqrf = &p##geqrf_;           \
    static constexpr auto* orgqr = &p##orthogonal;       \
    static constexpr auto* gesdd = &p##gesdd_;           \
    static constexpr auto* syevd = &p##symmetric;        \
  };
CATENA_FUNCTIONS(float, float, s, orgqr_, syevd_)
CATENA_FUNCTIONS(double, double, d, orgqr_, syevd_)
CATENA_FUNCTIONS(complex64, float, c, ungqr_, heevd_)
CATENA_FUNCTIONS(complex128, double, z, ungqr_, heevd_)
#undef CATENA_FUNCTIONS

// The factorization of one matrix. Calls with a size of -1 query the best work size, which LAPACK stores in the first
// element of the work memory.
template <class T> class Matrix {
  using F = Functions<T>;
  using Real = typename F::Real;
  static constexpr bool kComplex = !std::is_same_v<T, Real>;

 public:
  struct Memory {
    T* elements;
    Real* reals;
    int* integers;
  };

  explicit Matrix(const Factorize& f)
      : f_(f), m_(int(f.rows)), n_(int(f.columns)), k_(int(f.other)), lda_(std::max(m_, 1)) {}

  LapackWork sizes() const {
    LapackWork w{-1, -1, -1};
    T elements{};
    Real reals{};
    int integers = 0;
    std::array<std::byte*, 4> none{};
    switch (f_.kind) {
      case Factorization::cholesky:
      case Factorization::lu:
      case Factorization::substitute:
      case Factorization::triangular: w = {}; break;
      case Factorization::solve: w = {.integers = n_}; break;
      default: {
        run(none, w, {&elements, &reals, &integers});
        if constexpr (kComplex) w.elements = rounded_up(elements.re);
        else w.elements = rounded_up(elements);
        w.reals = rounded_up(reals);
        w.integers = integers;
        if (f_.kind == Factorization::svd) {
          w.reals = kComplex ? reals_of_svd() : 0;
          w.integers = 8 * n_;
        }
        if (f_.kind == Factorization::eig) {
          w.elements += own_elements_of_eig();
          w.reals = kComplex ? 2 * n_ : 0;
        }
      }
    }
    w.bytes = reals_at(w) + round_up_64(sizeof(Real) * std::size_t(w.reals)) + sizeof(int) * std::size_t(w.integers);
    return w;
  }

  Memory place(const LapackWork& w, std::byte* memory) const {
    std::byte* const reals = memory + reals_at(w);
    return {reinterpret_cast<T*>(memory), reinterpret_cast<Real*>(reals),
            reinterpret_cast<int*>(reals + round_up_64(sizeof(Real) * std::size_t(w.reals)))};
  }

  int run(const std::array<std::byte*, 4>& o, const LapackWork& w, const Memory& memory) const {
    T* const a = reinterpret_cast<T*>(o[0]);
    T* const b = reinterpret_cast<T*>(o[1]);
    T *const c = reinterpret_cast<T*>(o[2]), *const d = reinterpret_cast<T*>(o[3]);
    int status = 0;
    switch (f_.kind) {
      case Factorization::cholesky: F::potrf("U", &n_, a, &lda_, &status, 1); break;
      case Factorization::lu: F::getrf(&m_, &n_, a, &lda_, reinterpret_cast<int*>(o[1]), &status); break;
      case Factorization::solve:
        F::getrf(&n_, &n_, a, &lda_, memory.integers, &status);
        if (status != 0) break;
        F::getrs("N", &n_, &k_, a, &lda_, memory.integers, b, &lda_, &status, 1);
        break;
      case Factorization::qr: F::geqrf(&m_, &n_, a, &lda_, b, memory.elements, &w.elements, &status); break;
      case Factorization::q: F::orgqr(&m_, &n_, &k_, a, &lda_, b, memory.elements, &w.elements, &status); break;
      case Factorization::svd: {
        const char* const job = k_ == 0 ? "N" : k_ == m_ ? "A" : "S";
        Real* const s = reinterpret_cast<Real*>(o[1]);
        if constexpr (kComplex)
          F::gesdd(job, &m_, &n_, a, &lda_, s, c, &lda_, d, &n_, memory.elements, &w.elements, memory.reals,
                   memory.integers, &status, 1);
        else
          F::gesdd(job, &m_, &n_, a, &lda_, s, c, &lda_, d, &n_, memory.elements, &w.elements, memory.integers, &status,
                   1);
        break;
      }
      case Factorization::eigh: {
        const char* const job = k_ == 0 ? "N" : "V";
        Real* const values = reinterpret_cast<Real*>(o[1]);
        if constexpr (kComplex)
          F::syevd(job, "U", &n_, a, &lda_, values, memory.elements, &w.elements, memory.reals, &w.reals,
                   memory.integers, &w.integers, &status, 1, 1);
        else
          F::syevd(job, "U", &n_, a, &lda_, values, memory.elements, &w.elements, memory.integers, &w.integers, &status,
                   1, 1);
        break;
      }
      case Factorization::eig: return eigenvalues(a, o[1], o[2], w, memory);
      case Factorization::substitute:
        F::getrs(f_.transposed ? "T" : "N", &n_, &k_, a, &lda_, reinterpret_cast<int*>(o[1]), c, &lda_, &status, 1);
        break;
      case Factorization::triangular:
        F::trtrs(f_.upper ? "U" : "L", f_.transposed ? "T" : "N", f_.unit ? "U" : "N", &n_, &k_, a, &lda_, b, &lda_,
                 &status, 1, 1, 1);
        break;
    }
    return status;
  }

 private:
  // For real matrices LAPACK gives the parts of the eigenvalues as two arrays of real numbers, and of two conjugate
  // vectors the real and the imaginary part as neighbouring columns.
  int eigenvalues(T* a, std::byte* values, std::byte* vectors, const LapackWork& w, const Memory& memory) const {
    const char* const job = k_ == 0 ? "N" : "V";
    const int one = 1, own = own_elements_of_eig(), size = w.elements < 0 ? -1 : w.elements - own;
    T* const work = size < 0 ? memory.elements : memory.elements + own;
    int status = 0;
    if constexpr (kComplex) {
      F::geev("N", job, &n_, a, &lda_, reinterpret_cast<T*>(values), nullptr, &one, reinterpret_cast<T*>(vectors),
              &lda_, work, &size, memory.reals, &status, 1, 1);
    } else {
      T *const re = memory.elements, *const im = re + n_, *const columns = im + n_;
      F::geev("N", job, &n_, a, &lda_, re, im, nullptr, &one, columns, &lda_, work, &size, &status, 1, 1);
      if (size < 0 || status != 0) return status;
      auto* const to = reinterpret_cast<catena::complex<T>*>(values);
      for (int i = 0; i < n_; ++i) to[i] = {re[i], im[i]};
      if (k_ != 0) join_parts(im, columns, reinterpret_cast<catena::complex<T>*>(vectors));
    }
    return status;
  }
  void join_parts(const Real* im, const Real* columns, catena::complex<Real>* vectors) const {
    const auto n = static_cast<std::size_t>(n_);
    for (std::size_t j = 0; j < n; ++j) {
      const bool pair = im[j] != 0;
      const Real *const first = columns + j * n, *const second = first + n;
      for (std::size_t i = 0; i < n; ++i) {
        vectors[j * n + i] = {first[i], pair ? second[i] : 0};
        if (pair) vectors[(j + 1) * n + i] = {first[i], -second[i]};
      }
      if (pair) ++j;
    }
  }
  // The elements of real numbers that the conversion of eigenvalues needs besides LAPACK's own.
  int own_elements_of_eig() const { return kComplex ? 0 : n_ * (2 + (k_ == 0 ? 0 : n_)); }

  static std::size_t reals_at(const LapackWork& w) { return round_up_64(sizeof(T) * std::size_t(w.elements)); }
  // Converts a size that LAPACK has stored as a floating-point number, which may be rounded.
  static int rounded_up(Real size) { return int(double(size) * (std::is_same_v<Real, float> ? 1 + 1e-6 : 1)) + 1; }
  // Returns the size of the real work memory of gesdd, which cannot be queried.
  int reals_of_svd() const {
    if (k_ == 0) return 7 * n_;
    return std::max(5 * n_ * n_ + 5 * n_, 2 * m_ * n_ + 2 * n_ * n_ + n_);
  }

  const Factorize& f_;
  int m_, n_, k_, lda_;
};

template <class F> auto with_type(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::float32: return f(float{});
    case Dtype::complex64: return f(complex64{});
    case Dtype::complex128: return f(complex128{});
    default: return f(double{});
  }
}

LapackWork work_of(const Factorize& call) {
  return with_type(call.dtype, [&]<class T>(T) { return Matrix<T>(call).sizes(); });
}

int factorize(const Factorize& call, const std::array<std::byte*, 4>& operands, const LapackWork& work,
              std::byte* memory) {
  return with_type(call.dtype, [&]<class T>(T) {
    const Matrix<T> matrix(call);
    return matrix.run(operands, work, matrix.place(work, memory));
  });
}

}  // namespace

const Lapack lapack_of_openblas{work_of, factorize};

}  // namespace nd::cpu
