// Decompositions of nd::linalg: the factors of the library, converted to C order. In LAPACK's column-major order, an
// array in C order is the transposed matrix. This saves a copy if a factorization of the transposed matrix has the same
// factors.
#include <algorithm>
#include <initializer_list>

#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/matrices.h>

namespace nd::linalg {

using catena::check;
using nd::internal::Factorization;
using nd::internal::factorize;
using nd::internal::Factorize;

// In columns, the copy is conj(a) = U^H U, of which the upper triangle is given by the lower one of a; then L = U^T, in
// rows. For the upper one the copy is a itself.
Array cholesky(const Array& a, const CholeskyOptions& options) try {
  constexpr const char* op = "cholesky";
  internal::check_square(op, a);
  const Dtype dtype = internal::working_dtype(a.dtype());
  const Array factor = options.upper ? internal::columns_copy(a, dtype) : internal::rows_copy(a, dtype);
  const std::int64_t n = internal::rows_of(a);
  const auto status =
      factorize({.kind = Factorization::cholesky, .dtype = dtype, .rows = n, .columns = n, .name = op}, {factor});
  internal::check_status(op, a, status, [](int order) {
    return catena::concat("is not positive definite: its leading minor of order ", order, " is not positive");
  });
  return options.upper ? internal::upper_part(factor.swapaxes(-2, -1)) : internal::lower_part(factor);
} catch (...) {
  nd::internal::rethrow_out_of_memory("cholesky");
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

QRResult qr(const Array& a, std::string_view mode) try {
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
} catch (...) {
  nd::internal::rethrow_out_of_memory("qr");
}

// ---- singular values ------------------------------------------------------------------------------
// The factorization is that of matrices with no fewer rows than columns: of a transposed one, a^T = Vh^T S U^T, for a
// wide a. In columns, the copy in rows is a^T, and its factors in columns are U and Vh in rows.
SVDResult svd(const Array& a, const SvdOptions& o) try {
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
  // The largest array first: where there is no memory for it, nothing has been copied.
  const Array left = o.compute_uv ? internal::new_like(a, internal::stacked(a, {side, longer}), dtype) : Array();
  const Array copy = wide ? internal::rows_copy(a, dtype) : internal::columns_copy(a, dtype);
  Factorize call{.kind = Factorization::svd, .dtype = dtype, .rows = longer, .columns = least, .name = op};
  if (!o.compute_uv) {
    internal::check_status(op, a, factorize(call, {copy, s}), internal::not_converged);
    return {{}, s, {}};
  }
  call.other = side;
  const Array right = internal::new_like(a, internal::stacked(a, {least, least}), dtype);
  internal::check_status(op, a, factorize(call, {copy, s, left, right}), internal::not_converged);
  if (wide) return {right, s, left};
  return {internal::turned(left), s, internal::turned(right)};
} catch (...) {
  nd::internal::rethrow_out_of_memory("svd");
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

EighResult eigh(const Array& a, std::string_view UPLO) try { return eigen("eigh", a, UPLO, true); } catch (...) {
  nd::internal::rethrow_out_of_memory("eigh");
}
Array eigvalsh(const Array& a, std::string_view UPLO) try {
  return eigen("eigvalsh", a, UPLO, false).eigenvalues;
} catch (...) {
  nd::internal::rethrow_out_of_memory("eigvalsh");
}

}  // namespace nd::linalg
