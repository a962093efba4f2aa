// Equations and determinants of nd::linalg, from the LU factorization and the singular values.
#include <algorithm>
#include <limits>

#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/matrices.h>
#include <catena/ndarray/routines/reduction.h>

namespace nd::linalg {

using catena::check;
using nd::internal::Factorization;
using nd::internal::factorize;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Sets the results of singular matrices to NaN, or throws LinAlgError for the first one.
void treat_singular(const char* op, const Array& a, const std::vector<int>& status, const Array& x, bool fails) {
  if (fails) return internal::check_status(op, a, status, internal::is_singular);
  if (x.size() == 0) return;
  const Array stack = x.reshape({-1, internal::rows_of(x), internal::columns_of(x)});
  for (std::size_t i = 0; i < status.size(); ++i)
    if (status[i] != 0) stack(static_cast<std::int64_t>(i)).fill(kNaN);
}

// Returns an array of the shape with other leading axes.
Array at_batch(const Array& a, const Shape& batch) {
  Shape shape = batch;
  shape.push_back(internal::rows_of(a));
  shape.push_back(internal::columns_of(a));
  return shape == a.shape() ? a : broadcast_to(a, shape);
}

Shape batch_of(const Array& a) { return internal::stacked(a, {}); }

// Solves a x = b for matrices a and b whose leading axes broadcast.
Array solve_matrices(const Array& a, const Array& b, bool fails) {
  constexpr const char* op = "solve";
  check<ValueError>(internal::rows_of(b) == internal::rows_of(a), op, "b of shape ", b.shape(),
                    " does not fit a of shape ", a.shape());
  const Dtype dtype = internal::working_dtype(promote_types(a.dtype(), b.dtype()));
  const Shape batch = catena::broadcast_shapes(op, batch_of(a), batch_of(b));
  const Array left = internal::columns_copy(at_batch(a, batch), dtype),
              x = internal::columns_copy(at_batch(b, batch), dtype);
  if (x.size() == 0) return x.swapaxes(-2, -1);
  const auto status = factorize({.kind = Factorization::solve,
                                 .dtype = dtype,
                                 .rows = internal::rows_of(a),
                                 .columns = internal::rows_of(a),
                                 .other = internal::columns_of(b),
                                 .name = op},
                                {left, x});
  treat_singular(op, left, status, x, fails);
  return internal::turned(x);
}

}  // namespace

Array solve(const Array& a, const Array& b, const SolveOptions& options) try {
  internal::check_square("solve", a);
  check<TypeError>(!b.is_null(), "solve", "the array b is null");
  const Operand both[] = {a, b};
  nd::internal::common_device("solve", both);
  check<LinAlgError>(b.ndim() > 0, "solve", "b is 0-d, it must be a vector or matrices");
  if (b.ndim() > 1) return solve_matrices(a, b, options.check);
  return solve_matrices(a, expand_dims(b, -1), options.check).squeeze(-1);
} catch (...) {
  nd::internal::rethrow_out_of_memory("solve");
}

// In columns, the copy is a^T, and what solves a^T x = 1 is in rows the inverse.
Array inv(const Array& a, const SolveOptions& options) try {
  constexpr const char* op = "inv";
  internal::check_square(op, a);
  const Dtype dtype = internal::working_dtype(a.dtype());
  const std::int64_t n = internal::rows_of(a);
  const Array left = internal::rows_copy(a, dtype), x = internal::identities(a, n, dtype);
  const auto status = factorize({.kind = Factorization::solve,
                                 .dtype = dtype,
                                 .rows = n,
                                 .columns = n,
                                 .other = n,
                                 .name = op,
                                 .unit_right = true},
                                {left, x});
  treat_singular(op, a, status, x, options.check);
  return x;
} catch (...) {
  nd::internal::rethrow_out_of_memory("inv");
}

namespace {

// The reciprocals of the values that are larger in size than rcond times the largest one, 0 for the others.
Array reciprocals(const Array& values, const Operand& rcond) {
  const Array sizes = absolute(values), largest = amax(sizes, {.axis = -1, .keepdims = true});
  const Array limit = rcond.is_array() ? expand_dims(rcond.array().astype(sizes.dtype(), {.copy = false}), -1) * largest
                                       : multiply(largest, rcond.scalar());
  return where(greater(sizes, limit), reciprocal(values), Scalar(0));
}

}  // namespace

// With the singular value decomposition a = U S Vh the pseudo-inverse is Vh^H 1/S U^H, with the eigenvalues w of a
// Hermitian a = V w V^H it is V 1/w V^H.
Array pinv(const Array& a, const PinvOptions& o) try {
  internal::check_matrices("pinv", a);
  check<ValueError>(!o.rcond || !o.rtol, "pinv", "rcond and rtol are two names for one number");
  const Operand rcond = o.rcond ? *o.rcond : o.rtol ? *o.rtol : Operand(1e-15);
  const Dtype dtype = internal::working_dtype(a.dtype());
  const std::int64_t m = internal::rows_of(a), n = internal::columns_of(a);
  if (std::min(m, n) == 0) return internal::new_like(a, internal::stacked(a, {n, m}), dtype);
  if (o.hermitian) {
    const auto [values, vectors] = eigh(a);
    return matmul(vectors, expand_dims(reciprocals(values, rcond), -1) * conjugate(vectors.swapaxes(-2, -1)));
  }
  const auto [u, s, vh] = svd(a, {.full_matrices = false});
  const Array inverse = reciprocals(s, rcond);
  return matmul(conjugate(vh.swapaxes(-2, -1)), expand_dims(inverse, -1) * conjugate(u.swapaxes(-2, -1)));
} catch (...) {
  nd::internal::rethrow_out_of_memory("pinv");
}

Array pinv(const Array& a, const UnbracedOperand& rcond) { return pinv(a, PinvOptions{.rcond = rcond}); }

LstsqResult lstsq(const Array& a, const Array& b, std::optional<double> rcond) try {
  constexpr const char* op = "lstsq";
  internal::check_matrices(op, a);
  check<TypeError>(!b.is_null(), op, "the array b is null");
  check<LinAlgError>(a.ndim() == 2 && (b.ndim() == 1 || b.ndim() == 2), op, "a of shape ", a.shape(),
                     " must be one matrix, b of shape ", b.shape(), " one matrix or vector");
  check<LinAlgError>(a.shape(0) == b.shape(0), op, "a of shape ", a.shape(), " and b of shape ", b.shape(),
                     " have different numbers of rows");
  const auto [m, n] = a.shape<2>();
  const Dtype dtype = internal::working_dtype(promote_types(a.dtype(), b.dtype()));
  const Array matrix = a.astype(dtype, {.copy = false}), right = b.astype(dtype, {.copy = false});
  const Array columns = b.ndim() == 1 ? expand_dims(right, 1) : right;
  const auto [u, s, vh] = svd(matrix, {.full_matrices = false});
  const double eps = internal::precision_of(dtype);
  const double ratio = !rcond ? eps * static_cast<double>(std::max(m, n)) : *rcond < 0 ? eps : *rcond;
  LstsqResult result;
  result.s = s;
  const nd::DeviceScope on(a.device());
  Array x = zeros({n, columns.shape(1)}, dtype);
  if (s.size() > 0) {
    const Array large = greater(s, s(0) * ratio);
    result.rank = count_nonzero(large);
    const Array inverse = expand_dims(where(large, reciprocal(s), Scalar(0)), 1);
    x = matmul(conjugate(vh.T()), inverse * matmul(conjugate(u.T()), columns));
  }
  if (result.rank == n && m > n) {
    const Array off = absolute(columns - matmul(matrix, x));
    result.residuals = sum(off * off, 0);
  } else {
    result.residuals = zeros(0, catena::real_dtype(dtype));
  }
  result.x = b.ndim() == 1 ? x.squeeze(1) : x;
  return result;
} catch (...) {
  nd::internal::rethrow_out_of_memory("lstsq");
}

Array matrix_power(const Array& M, std::int64_t n) try {
  internal::check_square("matrix_power", M);
  if (n == 0) return internal::identities(M, internal::rows_of(M), M.dtype());
  Array square = n < 0 ? inv(M) : M;
  Array result;
  // Not -n, because the least integer has no negative.
  std::uint64_t rest = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
  for (;; square = matmul(square, square)) {
    if (rest % 2 == 1) result = result.is_null() ? square : matmul(result, square);
    rest /= 2;
    if (rest == 0) break;
  }
  return n == 1 ? M.copy() : result;
} catch (...) {
  nd::internal::rethrow_out_of_memory("matrix_power");
}

// ---- determinants ---------------------------------------------------------------------------------
namespace {

// The diagonal of U, and the sign of the permutation, both (..., ): a = P L U.
struct Triangular {
  Array diagonal, sign;
};
Triangular triangular(const char* op, const Array& a) {
  internal::check_square(op, a);
  const Dtype dtype = internal::working_dtype(a.dtype());
  const std::int64_t n = internal::rows_of(a);
  const Array lu = internal::columns_copy(a, dtype),
              pivots = internal::new_like(a, internal::stacked(a, {n}), Dtype::int32);
  factorize({.kind = Factorization::lu, .dtype = dtype, .rows = n, .columns = n, .name = op}, {lu, pivots});
  const nd::DeviceScope on(a.device());
  const Array swaps = sum(not_equal(pivots, arange(1, n + 1)), -1);
  return {lu.diagonal(0, -2, -1), (1 - 2 * (swaps % 2)).astype(dtype)};
}

// Returns the logarithm of the absolute value, and the direction, which is 0 for 0.
SlogdetResult logarithm(const Triangular& t) {
  const Array size = absolute(t.diagonal);
  const Array direction = catena::is_complex_dtype(t.diagonal.dtype())
                              ? where(size == 0, Scalar(0), t.diagonal / where(size == 0, Scalar(1), size))
                              : sign(t.diagonal);
  return {t.sign * prod(direction, -1), sum(log(size), -1)};
}

}  // namespace

SlogdetResult slogdet(const Array& a) try { return logarithm(triangular("slogdet", a)); } catch (...) {
  nd::internal::rethrow_out_of_memory("slogdet");
}

// The product of the diagonal; where that leaves the range of the numbers, on the way or at the end, the logarithms are
// added instead.
Array det(const Array& a) try {
  const Triangular t = triangular("det", a);
  const Array product = t.sign * prod(t.diagonal, -1);
  if (t.diagonal.size() == 0) return product;
  const auto [sign, logabsdet] = logarithm(t);
  return where(isfinite(product) & (product != 0), product, sign * exp(logabsdet));
} catch (...) {
  nd::internal::rethrow_out_of_memory("det");
}

// ---- numbers from singular values -----------------------------------------------------------------
namespace {

Array rank_of(const Array& a, const MatrixRankOptions& o) {
  constexpr const char* op = "matrix_rank";
  check<TypeError>(!a.is_null(), op, "the array is null");
  check<ValueError>(!o.tol || !o.rtol, op, "tol and rtol exclude each other");
  if (a.ndim() < 2) return any(a).astype(Dtype::int64);
  const Array s = o.hermitian ? absolute(eigvalsh(a)) : svd(a, true, false).S;
  const nd::DeviceScope on(a.device());
  if (s.shape().back() == 0) return zeros(internal::stacked(a, {}), Dtype::int64);
  const auto column = [](const Operand& x) {
    return x.is_array() ? expand_dims(x.array(), -1) : array(x.scalar().to_double());
  };
  if (o.tol) return count_nonzero(greater(s, column(*o.tol)), -1);
  const double precision =
      internal::precision_of(s.dtype()) * static_cast<double>(std::max(internal::rows_of(a), internal::columns_of(a)));
  const Array largest = amax(s, {.axis = -1, .keepdims = true});
  return count_nonzero(greater(s, o.rtol ? largest * column(*o.rtol) : largest * precision), -1);
}

}  // namespace

Array matrix_rank(const Array& M) { return rank_of(M, {}); }
Array matrix_rank(const Array& M, const UnbracedOperand& tol) { return rank_of(M, {.tol = tol}); }
Array matrix_rank(const Array& M, const MatrixRankOptions& options) { return rank_of(M, options); }

Array cond(const Array& x, const NormOrder& p) {
  internal::check_matrices("cond", x);
  check<LinAlgError>(x.size() != 0, "cond", "matrices without elements, of shape ", x.shape(),
                     ", have no condition number");
  Array result;
  if (p.absent() || (p.number() && (*p.number() == 2 || *p.number() == -2))) {
    const Array s = svd(x, true, false);
    const Array largest = s(ellipsis, 0), least = s(ellipsis, -1);
    result = !p.absent() && *p.number() == -2 ? least / largest : largest / least;
  } else {
    internal::check_square("cond", x);
    const Array floats = x.astype(internal::working_dtype(x.dtype()), {.copy = false});
    result = norm(floats, p, {-2, -1}) * norm(inv(floats, {.check = false}), p, {-2, -1});
    result = result.astype(catena::real_dtype(floats.dtype()), {.copy = false});
  }
  // If the result is NaN although the matrix has no NaN, the matrix is singular.
  return where(isnan(result) & ~any(isnan(x), {-2, -1}), Scalar(inf), result);
}

}  // namespace nd::linalg
