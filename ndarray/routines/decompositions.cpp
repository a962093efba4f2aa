// Decompositions of nd::linalg: the factors of the library, converted to C order. In LAPACK's column-major order, an
// array in C order is the transposed matrix. This saves a copy if a factorization of the transposed matrix has the same
// factors.
#include <algorithm>
#include <initializer_list>

#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/matrices.h>

namespace nd::linalg {

using catena::check;
using nd::internal::factorize;

// In column-major order, the copy is conj(a) = U^H U, and its upper triangle is the lower triangle of a. In C order, U
// is L = U^T.
Array cholesky(const Array& a) {
  constexpr const char* op = "cholesky";
  internal::check_square(op, a);
  const Dtype dtype = internal::working_dtype(a.dtype());
  const Array factor = internal::rows_copy(a, dtype);
  const std::int64_t n = internal::rows_of(a);
  const auto status =
      factorize({.kind = Factorization::cholesky, .dtype = dtype, .rows = n, .columns = n, .name = op}, {factor});
  internal::check_status(op, a, status, [](int order) {
    return catena::concat("is not positive definite: its leading minor of order ", order, " is not positive");
  });
  return internal::lower_part(factor);
}

// ---- QR -------------------------------------------------------------------------------------------
namespace {

// Returns the first `columns` columns of Q, given the factored matrix (..., N, M) in column-major order and tau (...,
// K).
Array orthonormal_columns(const Array& a, const Array& h, const Array& tau, std::int64_t columns) {
  const std::int64_t m = internal::rows_of(a), k = tau.shape().back();
  if (k == 0)
    return columns == 0 ? internal::new_like(a, internal::stacked(a, {m, 0}), tau.dtype())
                        : internal::identities(a, m, tau.dtype());
  Array q = h;
  if (columns != internal::rows_of(h)) {
    q = internal::new_like(a, internal::stacked(a, {columns, m}), tau.dtype());
    const Slice reflectors(0, k);
    q(ellipsis, reflectors, Slice()) = h(ellipsis, reflectors, Slice());
    if (columns > k) q(ellipsis, Slice(k, columns), Slice()).fill(0);
  }
  factorize({.kind = Factorization::q, .dtype = tau.dtype(), .rows = m, .columns = columns, .other = k, .name = "qr"},
            {q, tau});
  return internal::turned(q);
}

}  // namespace

QRResult qr(const Array& a, std::string_view mode) {
  constexpr const char* op = "qr";
  check<ValueError>(mode == "reduced" || mode == "complete" || mode == "r" || mode == "raw", op, "mode \"", mode,
                    "\" is none of \"reduced\", \"complete\", \"r\" and \"raw\"");
  internal::check_matrices(op, a);
  const Dtype dtype = internal::working_dtype(a.dtype());
  const std::int64_t m = internal::rows_of(a), n = internal::columns_of(a), least = std::min(m, n);
  const Array h = internal::columns_copy(a, dtype), tau = internal::new_like(a, internal::stacked(a, {least}), dtype);
  factorize({.kind = Factorization::qr, .dtype = dtype, .rows = m, .columns = n, .name = op}, {h, tau});
  if (mode == "raw") return {h, tau};
  const bool complete = mode == "complete";
  const Array rows = h.swapaxes(-2, -1)(ellipsis, Slice(0, complete ? m : least), Slice());
  const Array r = internal::upper_part(rows);
  if (mode == "r") return {{}, r};
  return {orthonormal_columns(a, h, tau, complete ? m : least), r};
}

// ---- singular values ------------------------------------------------------------------------------
// The library factorizes matrices with at least as many rows as columns. For a wide a, the copy in C order is, in
// column-major order, a^T = Vh^T S U^T; its column-major factors are U and Vh in C order.
SVDResult svd(const Array& a, const SvdOptions& o) {
  constexpr const char* op = "svd";
  internal::check_matrices(op, a);
  const Dtype dtype = internal::working_dtype(a.dtype());
  const std::int64_t m = internal::rows_of(a), n = internal::columns_of(a);
  const bool wide = m < n;
  const std::int64_t longer = std::max(m, n), least = std::min(m, n);
  const Array s = internal::new_like(a, internal::stacked(a, {least}), catena::real_dtype(dtype));
  const std::int64_t side = o.full_matrices ? longer : least;
  if (least == 0) {
    if (!o.compute_uv) return {{}, s, {}};
    if (o.full_matrices) return {internal::identities(a, m, dtype), s, internal::identities(a, n, dtype)};
    return {internal::new_like(a, internal::stacked(a, {m, 0}), dtype), s,
            internal::new_like(a, internal::stacked(a, {0, n}), dtype)};
  }
  const Array copy = wide ? internal::rows_copy(a, dtype) : internal::columns_copy(a, dtype);
  Factorize call{.kind = Factorization::svd, .dtype = dtype, .rows = longer, .columns = least, .name = op};
  if (!o.compute_uv) {
    internal::check_status(op, a, factorize(call, {copy, s}), internal::not_converged);
    return {{}, s, {}};
  }
  call.other = side;
  const Array left = internal::new_like(a, internal::stacked(a, {side, longer}), dtype),
              right = internal::new_like(a, internal::stacked(a, {least, least}), dtype);
  internal::check_status(op, a, factorize(call, {copy, s, left, right}), internal::not_converged);
  if (wide) return {right, s, left};
  return {internal::turned(left), s, internal::turned(right)};
}

// ---- eigenvalues ----------------------------------------------------------------------------------
namespace {

EighResult eigen(const char* op, const Array& a, std::string_view triangle, bool vectors) {
  check<ValueError>(triangle == "L" || triangle == "U" || triangle == "l" || triangle == "u", op, "UPLO is \"",
                    triangle, "\", it must be \"L\" or \"U\"");
  internal::check_square(op, a);
  const Dtype dtype = internal::working_dtype(a.dtype());
  const std::int64_t n = internal::rows_of(a);
  // The upper triangle in column-major order is the lower one in C order, where the matrix is conj(a).
  const bool lower = triangle == "L" || triangle == "l";
  const Array copy = lower ? internal::rows_copy(a, dtype) : internal::columns_copy(a, dtype);
  const Array values = internal::new_like(a, internal::stacked(a, {n}), catena::real_dtype(dtype));
  const auto status = factorize(
      {.kind = Factorization::eigh, .dtype = dtype, .rows = n, .columns = n, .other = vectors ? n : 0, .name = op},
      {copy, values});
  internal::check_status(op, a, status, internal::not_converged);
  if (!vectors) return {values, {}};
  const Array columns = internal::turned(copy);
  return {values, lower && catena::is_complex_dtype(dtype) ? conjugate(columns) : columns};
}

}  // namespace

EighResult eigh(const Array& a, std::string_view UPLO) { return eigen("eigh", a, UPLO, true); }
Array eigvalsh(const Array& a, std::string_view UPLO) { return eigen("eigvalsh", a, UPLO, false).eigenvalues; }

}  // namespace nd::linalg
