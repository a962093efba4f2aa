#include <catena/ndarray/routines/matrix_functions.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/matrices.h>
#include <catena/ndarray/routines/reduction.h>

namespace nd::linalg {

using catena::check;
using nd::internal::Factorization;
using nd::internal::factorize;
using nd::internal::Factorize;

// ---- eigenvalues ----------------------------------------------------------------------------------
namespace {

EigResult general_eigen(const char* op, const Array& a, bool vectors) {
  internal::check_square(op, a);
  const Dtype dtype = internal::working_dtype(a.dtype());
  const bool real = !catena::is_complex_dtype(dtype);
  const Array host = a.to_device(Device{});
  check<LinAlgError>(bool(all(isfinite(host))), op, "the array of shape ", a.shape(), " has infinities or NaNs");
  const std::int64_t n = internal::rows_of(a);
  const Factorize call{
      .kind = Factorization::eig, .dtype = dtype, .rows = n, .columns = n, .other = vectors ? n : 0, .name = op};
  const Dtype complex = catena::bound::dtype_of_operand(call, 1);
  const Array copy = internal::columns_copy(host, dtype);
  Array values = internal::new_like(host, internal::stacked(a, {n}), complex), columns;
  if (vectors) {
    columns = internal::new_like(host, internal::stacked(a, {n, n}), complex);
    internal::check_status(op, a, factorize(call, {copy, values, columns}), internal::not_converged);
    columns = columns.swapaxes(-2, -1);
  } else {
    internal::check_status(op, a, factorize(call, {copy, values}), internal::not_converged);
  }
  const bool all_real = real && !bool(any(values.imag()));
  const auto finished = [&](const Array& x) {
    return x.is_null() ? x : nd::internal::contiguous(all_real ? x.real() : x).to_device(a.device());
  };
  return {finished(values), finished(columns)};
}

}  // namespace

EigResult eig(const Array& a) try { return general_eigen("eig", a, true); } catch (...) {
  nd::internal::rethrow_out_of_memory("eig");
}
Array eigvals(const Array& a) try { return general_eigen("eigvals", a, false).eigenvalues; } catch (...) {
  nd::internal::rethrow_out_of_memory("eigvals");
}
Array svdvals(const Array& x) { return svd(x, {.compute_uv = false}).S; }

// ---- LU -------------------------------------------------------------------------------------------
namespace {

// The factors in columns, and LAPACK's pivots, which count from 1.
LUFactor factors_in_columns(const char* op, const Array& a) {
  internal::check_matrices(op, a);
  const Dtype dtype = internal::working_dtype(a.dtype());
  const std::int64_t m = internal::rows_of(a), n = internal::columns_of(a);
  const Array columns = internal::columns_copy(a, dtype),
              pivots = internal::new_like(a, internal::stacked(a, {std::min(m, n)}), Dtype::int32);
  factorize({.kind = Factorization::lu, .dtype = dtype, .rows = m, .columns = n, .name = op}, {columns, pivots});
  return {columns, pivots};
}

// For every row of the matrices the row of L, given the swaps (..., K).
Array rows_of_factor(const Array& a, const Array& pivots) {
  const std::int64_t m = internal::rows_of(a), k = pivots.shape().back();
  const Array host = pivots.to_host();
  const Shape shape = internal::stacked(a, {m});
  const Array rows(nd::internal::new_array(shape, Dtype::int32, host.device()));
  const std::int64_t count = m == 0 ? 0 : rows.size() / m;
  const std::int32_t* swaps = host.data<const std::int32_t>();
  std::int32_t* to = rows.data<std::int32_t>();
  std::vector<std::int32_t> order(static_cast<std::size_t>(m));
  for (std::int64_t i = 0; i < count; ++i, swaps += k, to += m) {
    std::iota(order.begin(), order.end(), 0);
    for (std::int64_t row = 0; row < k; ++row)
      std::swap(order[static_cast<std::size_t>(row)], order[static_cast<std::size_t>(swaps[row] - 1)]);
    for (std::int64_t row = 0; row < m; ++row)
      to[order[static_cast<std::size_t>(row)]] = static_cast<std::int32_t>(row);
  }
  return rows.to_device(a.device());
}

// The rows of the matrices in the given order.
Array with_rows(const Array& x, const Array& rows) {
  const std::int64_t m = internal::rows_of(x), n = internal::columns_of(x);
  if (x.size() == 0) return x;
  const std::int64_t count = x.size() / (m * n);
  const Array first = expand_dims(arange(count) * m, 1);
  return x.reshape(-1, n).take((rows.reshape(count, m) + first).ravel(), 0).reshape(x.shape());
}

}  // namespace

LUFactor lu_factor(const Array& a) try {
  const LUFactor factors = factors_in_columns("lu_factor", a);
  subtract(factors.piv, 1, {.out = factors.piv});
  return {factors.lu.swapaxes(-2, -1), factors.piv};
} catch (...) {
  nd::internal::rethrow_out_of_memory("lu_factor");
}

LUResult lu(const Array& a, const LUOptions& options) try {
  const auto [columns, pivots] = factors_in_columns("lu", a);
  const DeviceScope on(a.device());
  const std::int64_t m = internal::rows_of(a), n = internal::columns_of(a), k = std::min(m, n);
  const Array both = columns.swapaxes(-2, -1);
  const Array l = internal::lower_part(both(ellipsis, Slice(0, k))),
              u = internal::upper_part(both(ellipsis, Slice(0, k), Slice()));
  l.diagonal(0, -2, -1).fill(1);
  const Array rows = rows_of_factor(a, pivots);
  if (options.permute_l) return {{}, with_rows(l, rows), u};
  if (options.p_indices) return {rows, l, u};
  return {equal(expand_dims(rows, -1), arange(m)).astype(catena::real_dtype(both.dtype())), l, u};
} catch (...) {
  nd::internal::rethrow_out_of_memory("lu");
}

// ---- equations ------------------------------------------------------------------------------------
namespace {

// a and b, which becomes a matrix if it is a vector, at their common stack and in one dtype.
struct Equations {
  Array a, b;
  bool is_vector;

  Equations(const char* op, const Array& matrix, const Array& right) : a(matrix), b(right), is_vector(false) {
    internal::check_square(op, a);
    check<TypeError>(!b.is_null(), op, "the array b is null");
    const Operand both[] = {a, b};
    nd::internal::common_device(op, both);
    check<ValueError>(b.ndim() > 0, op, "b is 0-d, it must be a vector or matrices");
    is_vector = b.ndim() == 1;
    if (is_vector) b = expand_dims(b, -1);
    check<ValueError>(internal::rows_of(b) == internal::rows_of(a), op, "b of shape ", right.shape(),
                      " does not fit a of shape ", a.shape());
    const Shape stack = catena::broadcast_shapes(op, internal::stacked(a, {}), internal::stacked(b, {}));
    const Dtype dtype = internal::working_dtype(promote_types(a.dtype(), b.dtype()));
    for (Array* x : {&a, &b}) {
      Shape shape = stack;
      shape.push_back(internal::rows_of(*x));
      shape.push_back(internal::columns_of(*x));
      *x = broadcast_to(x->astype(dtype, {.copy = false}), shape);
    }
  }
  Array result(const Array& x) const { return is_vector ? x.squeeze(-1) : x; }
};

Array conjugated_if(const Array& x, bool conjugates) {
  return conjugates && catena::is_complex_dtype(x.dtype()) ? x.conjugate() : x;
}

void check_trans(const char* op, int trans) {
  check<ValueError>(trans >= 0 && trans <= 2, op,
                    "trans must be 0 or \"N\" for a, 1 or \"T\" for a^T, 2 or \"C\" for a^H");
}

// Solves by the factors in columns; `right` is in columns, too, and becomes the solution.
void substitute(const char* op, const Array& factors, const Array& pivots, const Array& right, bool transposed) {
  const std::int64_t n = internal::rows_of(factors);
  factorize({.kind = Factorization::substitute,
             .dtype = factors.dtype(),
             .rows = n,
             .columns = n,
             .other = internal::rows_of(right),
             .name = op,
             .transposed = transposed},
            {factors, pivots, right});
}

}  // namespace

Array lu_solve(const LUFactor& factors, const Array& b, int trans) try {
  constexpr const char* op = "lu_solve";
  check_trans(op, trans);
  const Equations equations(op, factors.lu, b);
  const std::int64_t n = internal::rows_of(equations.a);
  Shape shape = internal::stacked(equations.a, {n});
  check<ValueError>(!factors.piv.is_null() && factors.piv.shape() == internal::stacked(factors.lu, {n}) &&
                        catena::is_integer(factors.piv.dtype()),
                    op, "piv are not the integers of the factors of shape ", factors.lu.shape());
  const Array pivots = broadcast_to(factors.piv, shape).astype(Dtype::int32) + 1;
  const Array columns = nd::internal::contiguous(equations.a.swapaxes(-2, -1)),
              right = internal::columns_copy(conjugated_if(equations.b, trans == 2), equations.b.dtype());
  if (right.size() > 0)
    substitute(op, columns, nd::internal::contiguous(pivots.astype(Dtype::int32, {.copy = false})), right, trans != 0);
  return equations.result(internal::turned(conjugated_if(right, trans == 2)));
} catch (...) {
  nd::internal::rethrow_out_of_memory("lu_solve");
}

namespace {

constexpr const char* kTriangular = "solve_triangular";

// In column-major order an array in C order is the transposed matrix.
std::vector<int> solve_on_host(const Equations& e, const Array& right, const TriangularOptions& o) {
  const bool in_columns = !e.a.is_c_contiguous() && e.a.swapaxes(-2, -1).is_c_contiguous();
  const Array a = in_columns ? e.a.swapaxes(-2, -1) : nd::internal::contiguous(e.a);
  const std::int64_t n = internal::rows_of(a);
  return factorize({.kind = Factorization::triangular,
                    .dtype = a.dtype(),
                    .rows = n,
                    .columns = n,
                    .other = internal::rows_of(right),
                    .name = kTriangular,
                    .upper = o.lower != in_columns,
                    .unit = o.unit_diagonal,
                    .transposed = (o.trans.number() == 0) != in_columns},
                   {a, right});
}

// An upper triangular matrix is its own factor U, with an L of ones. A lower one is the transposed of an upper one.
std::vector<int> solve_by_substitution(const Equations& e, const Array& right, const TriangularOptions& o) {
  const DeviceScope on(e.a.device());
  const std::int64_t n = internal::rows_of(e.a);
  Array upper = internal::upper_part(o.lower ? e.a.swapaxes(-2, -1) : e.a);
  if (o.unit_diagonal) upper.diagonal(0, -2, -1).fill(1);
  const Array zeros_on_diagonal = count_nonzero(equal(upper.diagonal(0, -2, -1), 0), {.axis = -1});
  const Array columns = internal::columns_copy(upper, upper.dtype()),
              pivots = broadcast_to(arange(1, n + 1).astype(Dtype::int32), internal::stacked(e.a, {n})).copy();
  substitute(kTriangular, columns, pivots, right, (o.trans.number() == 0) == o.lower);
  return zeros_on_diagonal.to_vector<int>();
}

std::string has_zero(int) { return "is singular: an element of its diagonal is exactly 0"; }

}  // namespace

Array solve_triangular(const Array& a, const Array& b, const TriangularOptions& options) try {
  check_trans(kTriangular, options.trans.number());
  const Equations equations(kTriangular, a, b);
  const bool conjugates = options.trans.number() == 2;
  const Array right = internal::columns_copy(conjugated_if(equations.b, conjugates), equations.b.dtype());
  if (right.size() > 0) {
    const auto status = a.device().kind == Device{}.kind ? solve_on_host(equations, right, options)
                                                         : solve_by_substitution(equations, right, options);
    internal::check_status(kTriangular, equations.a, status, has_zero);
  }
  return equations.result(internal::turned(conjugated_if(right, conjugates)));
} catch (...) {
  nd::internal::rethrow_out_of_memory(kTriangular);
}

// ---- exponential ----------------------------------------------------------------------------------
namespace {

// Pade's approximation of one order: its coefficients, and the 1-norm up to which it is as precise as the numbers.
struct Pade {
  double limit;
  std::vector<double> b;
};
const Pade& pade(Dtype real, double norm) {
  static const std::array<Pade, 5> of_double{
      {{1.495585217958292e-2, {120, 60, 12, 1}},
       {2.539398330063230e-1, {30240, 15120, 3360, 420, 30, 1}},
       {9.504178996162932e-1, {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1}},
       {2.097847961257068, {17643225600, 8821612800, 2075673600, 302702400, 30270240, 2162160, 110880, 3960, 90, 1}},
       {5.371920351148152,
        {64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
         670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}}}};
  static const std::array<Pade, 3> of_float{{{4.258730016922831e-1, of_double[0].b},
                                             {1.880152677804762, of_double[1].b},
                                             {3.925724783138660, of_double[2].b}}};
  const std::span<const Pade> orders =
      real == Dtype::float32 ? std::span<const Pade>(of_float) : std::span<const Pade>(of_double);
  return *std::find_if(orders.begin(), orders.end() - 1, [&](const Pade& p) { return norm <= p.limit; });
}

// (V - U)^-1 (V + U) with U = a (b1 + b3 a^2 + b5 a^4...) and V = b0 + b2 a^2 + b4 a^4... Order 13 takes the powers
// above the sixth out of a bracket.
Array approximation(const Array& a, const std::vector<double>& b) {
  const Array one = eye(internal::rows_of(a), a.dtype());
  const std::size_t order = b.size() - 1;
  std::vector<Array> powers{one, matmul(a, a)};  // of a^2
  const std::size_t highest = order == 13 ? 3 : order / 2;
  while (powers.size() <= highest) powers.push_back(matmul(powers[1], powers.back()));
  const auto combined = [&](std::size_t first, std::size_t from, std::size_t to) {
    Array sum = powers[from] * b[first + 2 * from];
    for (std::size_t i = from + 1; i <= to; ++i) sum = sum + powers[i] * b[first + 2 * i];
    return sum;
  };
  const auto series = [&](std::size_t first) {
    if (order != 13) return combined(first, 0, order / 2);
    const Array high = powers[1] * b[8 + first] + powers[2] * b[10 + first] + powers[3] * b[12 + first];
    return matmul(powers[3], high) + combined(first, 0, 3);
  };
  const Array u = matmul(a, series(1)), v = series(0);
  return solve(v - u, v + u, {.check = false});
}

}  // namespace

Array expm(const Array& A) try {
  internal::check_square("expm", A);
  const Dtype dtype = internal::working_dtype(A.dtype());
  const Array a = A.astype(dtype, {.copy = false});
  if (a.size() == 0) return a.copy();
  if (internal::rows_of(a) == 1) return exp(a);
  const DeviceScope on(a.device());
  const Array norms = amax(sum(absolute(a), -2), -1);
  const std::vector<double> on_host = norms.to_vector<double>();
  double largest = 0;
  for (const double norm : on_host) largest = std::isfinite(norm) ? std::max(largest, norm) : largest;
  const Pade& order = pade(catena::real_dtype(dtype), largest);
  // Each matrix is halved as often as it needs.
  std::vector<double> scale(on_host.size(), 1);
  std::vector<std::int64_t> halvings(on_host.size(), 0);
  std::int64_t most = 0;
  for (std::size_t i = 0; i < on_host.size(); ++i) {
    if (!std::isfinite(on_host[i]) || on_host[i] <= order.limit) continue;
    halvings[i] = std::max(0, static_cast<int>(std::ceil(std::log2(on_host[i] / order.limit))));
    scale[i] = std::ldexp(1.0, static_cast<int>(-halvings[i]));
    most = std::max(most, halvings[i]);
  }
  if (most == 0) return approximation(a, order.b);
  const Shape column = internal::stacked(a, {1, 1});
  Array x = approximation(a * array(scale, catena::real_dtype(dtype)).reshape(column), order.b);
  const bool equal_counts = std::all_of(halvings.begin(), halvings.end(), [&](std::int64_t s) { return s == most; });
  const Array times = equal_counts ? Array() : array(halvings).reshape(column);
  for (std::int64_t i = 0; i < most; ++i) x = equal_counts ? matmul(x, x) : where(greater(times, i), matmul(x, x), x);
  return x;
} catch (...) {
  nd::internal::rethrow_out_of_memory("expm");
}

// ---- equations of tensors -------------------------------------------------------------------------
namespace {

std::int64_t product(const Shape& shape, int begin, int end) {
  return std::accumulate(shape.begin() + begin, shape.begin() + end, std::int64_t{1}, std::multiplies<>());
}
Shape part_of(const Shape& shape, int begin, int end) {
  Shape part;
  for (int i = begin; i < end; ++i) part.push_back(shape[i]);
  return part;
}

}  // namespace

Array tensorsolve(const Array& a, const Array& b, const TensorsolveOptions& options) {
  constexpr const char* op = "tensorsolve";
  check<TypeError>(!a.is_null() && !b.is_null(), op, "an array is null");
  Array tensor = a;
  if (options.axes) {
    const Dims& axes = *options.axes;
    Dims last;
    for (int i = 0; i < axes.size(); ++i) last.push_back(a.ndim() - axes.size() + i);
    tensor = moveaxis(a, axes, last);
  }
  const int split = b.ndim(), rank = a.ndim();
  check<LinAlgError>(split <= rank && product(tensor.shape(), 0, split) == product(tensor.shape(), split, rank) &&
                         product(tensor.shape(), 0, split) == b.size(),
                     op, "a of shape ", tensor.shape(), " and b of shape ", b.shape(),
                     " do not fit: the axes of a that are not those of b must have as many elements as b");
  return solve(tensor.reshape(b.size(), b.size()), b.ravel()).reshape(part_of(tensor.shape(), split, rank));
}

Array tensorinv(const Array& a, int ind) {
  constexpr const char* op = "tensorinv";
  check<TypeError>(!a.is_null(), op, "the array is null");
  check<ValueError>(ind > 0, op, "ind is ", ind, ", it must be positive");
  const int rank = a.ndim(), split = std::min(ind, rank);
  const std::int64_t n = product(a.shape(), split, rank);
  check<LinAlgError>(n == product(a.shape(), 0, split), op, "the first ", split, " axes of the array of shape ",
                     a.shape(), " have not as many elements as the others");
  Shape shape = part_of(a.shape(), split, rank);
  for (int i = 0; i < split; ++i) shape.push_back(a.shape()[i]);
  return inv(a.reshape(n, n)).reshape(shape);
}

// ---- norms ----------------------------------------------------------------------------------------
Array vector_norm(const Array& x, const VectorNormOptions& o) {
  constexpr const char* op = "vector_norm";
  check<TypeError>(!x.is_null(), op, "the array is null");
  const int rank = x.ndim();
  Dims axes;
  if (o.axis.given()) {
    catena::normalize_axes(op, o.axis, rank);  // throws for repeated axes
    for (const std::int64_t axis : o.axis.values()) axes.push_back(catena::normalize_axis(op, axis, rank));
  } else {
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  }
  const Shape reduced = catena::reduced_shape(x.shape(), catena::normalize_axes(op, axes, rank), o.keepdims);
  if (axes.size() == 1) return norm(x, {.ord = o.ord, .axis = axes}).reshape(reduced);
  Dims last;
  Shape shape;
  for (int i = 0; i < rank; ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) shape.push_back(x.shape()[i]);
  for (int i = 0; i < axes.size(); ++i) last.push_back(rank - axes.size() + i);
  shape.push_back(-1);
  if (x.size() == 0) shape.back() = product(moveaxis(x, axes, last).shape(), rank - axes.size(), rank);
  return norm(moveaxis(x, axes, last).reshape(shape), {.ord = o.ord, .axis = -1}).reshape(reduced);
}

Array matrix_norm(const Array& x, const MatrixNormOptions& o) {
  check<ValueError>(!x.is_null() && x.ndim() >= 2, "matrix_norm", "the array has fewer than two axes");
  return norm(x, {.ord = o.ord, .axis = {-2, -1}, .keepdims = o.keepdims});
}

}  // namespace nd::linalg
