#include <catena/autograd/ndarray_backend/torch_linalg.h>

#include <algorithm>
#include <limits>

#include <catena/autograd/array.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/functions/torch_indexing.h>
#include <catena/autograd/functions/torch_products.h>
#include <catena/autograd/ndarray_backend/convert.h>
#include <catena/autograd/ndarray_backend/torch_complex.h>
#include <catena/autograd/ndarray_backend/torch_creation.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/in_place.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/matrix_functions.h>
#include <catena/ndarray/routines/reduction.h>

namespace autograd {

using catena::check;
using catena::ValueError;
using internal::array_of;
using internal::stack_product;

namespace {

Variable turned(const Variable& a) { return swapaxes(a, -2, -1); }
Variable product(const Variable& a, const Variable& b) { return stack_product(a, b, false, false); }
Shape leading(const Shape& shape, int without) {
  Shape head;
  for (int k = 0; k < shape.size() - without; ++k) head.push_back(shape[k]);
  return head;
}
Shape extended(Shape shape, std::initializer_list<std::int64_t> more) {
  for (const std::int64_t n : more) shape.push_back(n);
  return shape;
}
void check_matrices(const char* op, const Variable& a, bool square) {
  check<catena::TypeError>(a.is_floating_point(), op, "the dtype is ", a.dtype(), ", it must be floating");
  check<ValueError>(a.ndim() >= 2 && (!square || a.shape(-2) == a.shape(-1)), op, "the shape is ", a.shape(),
                    square ? ", it must be that of square matrices" : ", its rank must be at least 2");
}
Variable identity_of(const Variable& a, std::int64_t rows, std::int64_t columns) {
  return Variable(Array(nd::eye(rows, columns, 0, a.dtype())), {.requires_grad = false});
}

// ---- LU ----
// The matrices (..., M, M) of permutations that swap row i with row pivots[i] - 1, one after the other: A = P L U.
nd::Array permutations(const nd::Array& pivots, std::int64_t rows, Dtype dtype) {
  const Shape head = leading(pivots.shape(), 1);
  const std::int64_t steps = pivots.shape(-1), n = catena::size_of(head);
  const std::vector<std::int64_t> swaps = to_vector<std::int64_t>(Array(pivots));
  std::vector<double> matrices(std::size_t(n * rows * rows));
  for (std::int64_t k = 0; k < n; ++k) {
    std::vector<std::int64_t> order(std::size_t(rows), 0);
    for (std::int64_t i = 0; i < rows; ++i) order[std::size_t(i)] = i;
    for (std::int64_t i = 0; i < steps; ++i) {
      const std::int64_t other = swaps[std::size_t(k * steps + i)] - 1;
      check<ValueError>(other >= 0 && other < rows, "lu_unpack", "the pivot ", other + 1, " is not in [1, ", rows, "]");
      std::swap(order[std::size_t(i)], order[std::size_t(other)]);
    }
    for (std::int64_t i = 0; i < rows; ++i) matrices[std::size_t((k * rows + order[std::size_t(i)]) * rows + i)] = 1;
  }
  return astype(array<double>(matrices, extended(head, {rows, rows}), pivots.device()), dtype);
}

// The adjoint for square matrices: P L^-T (lower(L^T gL) + upper(gU U^T)) U^-T with the strict lower triangle.
class LUFactorization final : public FunctionNode {
 public:
  std::string label() const override { return "lu"; }
  Arrays forward(const Arrays& x) override {
    const nd::DeviceScope scope(x[0].device());
    const nd::linalg::LUFactor f = nd::linalg::lu_factor(nd::Array(x[0]));
    pivots_ = f.piv.astype(Dtype::int32) + 1;
    retain_outputs({0});
    return {Array(f.lu.astype(x[0].dtype())), Array(pivots_)};
  }
  Variables backward(const Targets&, const Variables& gy) override {
    const Variable both = retained_output(0);
    check<catena::NotImplementedError>(both.shape(-2) == both.shape(-1), "lu", "the gradient of matrices of the shape ",
                                       both.shape(), " is not implemented");
    if (!gy[0]) return {Variable()};
    const Variable L = tril(both, -1) + identity_of(both, both.shape(-2), both.shape(-2)), U = triu(both);
    const Variable inner =
        tril(stack_product(L, tril(gy[0], -1), true, false), -1) + triu(stack_product(triu(gy[0]), U, false, true));
    const Variable right = turned(autograd::solve_triangular(U, turned(inner)));
    const Variable left = autograd::solve_triangular(L, right, {.lower = true, .trans = true, .unit_diagonal = true});
    return {product(as_variable(permutations(pivots_, both.shape(-2), both.dtype())), left)};
  }

 private:
  nd::Array pivots_;
};

// The numbers (...) of the first zeros on the diagonals of U, from 1 on, or 0: int32.
nd::Array first_zero(const nd::Array& lu) {
  const Shape head = leading(lu.shape(), 2);
  if (std::min(lu.shape(-2), lu.shape(-1)) == 0 || lu.size() == 0) return nd::zeros(head, nd::Dtype::int32);
  const nd::Array zero = nd::equal(nd::diagonal(lu, 0, -2, -1), 0);
  return (nd::where(zero.any(-1), nd::argmax(zero.astype(nd::Dtype::int32), -1) + 1, 0)).astype(nd::Dtype::int32);
}
// The orders (...) of the first leading minors that are not positive, or 0: int32.
nd::Array first_minor(const nd::Array& a) {
  const std::int64_t m = a.shape(-1), n = a.size() == 0 ? 0 : a.size() / (m * m);
  const nd::Array info = nd::zeros(n, nd::Dtype::int32), all = a.reshape({n, m, m});
  const auto is_positive = [&](std::int64_t k, std::int64_t order) {
    try {
      nd::linalg::cholesky(all(k, nd::Slice(0, order), nd::Slice(0, order)));
      return true;
    } catch (const catena::LinAlgError&) {
      return false;
    }
  };
  for (std::int64_t k = 0; k < n; ++k) {
    if (is_positive(k, m)) continue;
    std::int64_t order = 1;
    while (order < m && is_positive(k, order)) ++order;
    info(k) = order;
  }
  return info.reshape(leading(a.shape(), 2));
}
// f of the matrices, with identities in the places of those that info marks; there the result is `other`. It has `axes`
// axes for each matrix.
template <class F>
Variable where_regular(const Variable& a, const nd::Array& info, int axes, const F& f,
                       double other = std::numeric_limits<double>::quiet_NaN()) {
  const nd::Array bad = nd::not_equal(info, 0);
  if (!bool(bad.any())) return f(a);
  const Array marked(bad.reshape(extended(info.shape(), {1, 1})));
  const Variable result = f(where(marked, identity_of(a, a.shape(-2), a.shape(-1)), a));
  Shape shape = info.shape();
  for (int k = 0; k < axes; ++k) shape.push_back(1);
  return where(Array(bad.reshape(shape)), other, result);
}

// ---- low rank ----
Variable columns_basis(const Variable& x) { return qr(x).Q; }

}  // namespace

LUFactorResult lu(const Variable& a) {
  check_matrices("lu", a, false);
  const Variables f = apply_node<LUFactorization>({a});
  return {f[0], as_variable(f[1].data())};
}
LUResult lu_unpack(const Variable& lu, const Variable& pivots) {
  check_matrices("lu_unpack", lu, false);
  const std::int64_t rows = lu.shape(-2), columns = lu.shape(-1), k = std::min(rows, columns);
  check<ValueError>(pivots.ndim() == lu.ndim() - 1 && pivots.shape(-1) == k, "lu_unpack", "the factors have the shape ",
                    lu.shape(), ", the pivots the shape ", pivots.shape());
  const nd::DeviceScope scope(lu.device());
  return {as_variable(permutations(array_of(pivots), rows, lu.dtype())),
          tril(narrow(lu, -1, 0, k), -1) + identity_of(lu, rows, k), triu(narrow(lu, -2, 0, k))};
}
Variable lu_solve(const Variable& b, const Variable& lu, const Variable& pivots) {
  return linalg::lu_solve(lu, pivots, b);
}
GeqrfResult geqrf(const Variable& a) {
  check_matrices("geqrf", a, false);
  const Variables both = internal::without_gradient("geqrf", {a}, [](const Arrays& x) {
    const nd::DeviceScope scope(x[0].device());
    const nd::linalg::QRResult raw = nd::linalg::qr(nd::Array(x[0]), "raw");
    return Arrays{Array(nd::Array(raw.Q.swapaxes(-2, -1)).copy()), Array(raw.R)};
  });
  return {both[0], both[1]};
}
Variable orgqr(const Variable& a, const Variable& tau) {
  check_matrices("orgqr", a, false);
  const std::int64_t rows = a.shape(-2), columns = a.shape(-1), k = tau.ndim() > 0 ? tau.shape(-1) : 0;
  check<ValueError>(tau.ndim() == a.ndim() - 1 && rows >= columns && k <= columns, "orgqr",
                    "the shape of the vectors is ", a.shape(), ", that of the factors ", tau.shape());
  const nd::DeviceScope scope(a.device());
  const Variable vectors = tril(a, -1) + identity_of(a, rows, columns);
  Variable Q = broadcast_to(identity_of(a, rows, columns), a.shape());
  for (std::int64_t i = k; i-- > 0;) {
    const Variable v = narrow(vectors, -1, i, 1), factor = expand_dims(narrow(tau, -1, i, 1), -1);
    Q = Q - product(v * broadcast_to(factor, v.shape()), stack_product(v, Q, true, false));
  }
  return Q;
}

Variable nuclear_norm(const Variable& x, bool keepdim) {
  return norm(x, {.ord = "nuc", .axis = {-2, -1}, .keepdims = keepdim});
}
Variable frobenius_norm(const Variable& x, const Axes& dim, bool keepdim) {
  return norm(x, {.axis = dim, .keepdims = keepdim});
}
LowRankFactors svd_lowrank(const Variable& given, const SVDLowRankOptions& o) {
  check_matrices("svd_lowrank", given, false);
  const Variable a = o.M ? given - broadcast_to(o.M, given.shape()) : given;
  const std::int64_t columns = a.shape(-1), least = std::min(a.shape(-2), columns);
  check<ValueError>(o.q >= 0 && o.q <= least, "svd_lowrank", "q is ", o.q, ", it must be in [0, ", least, "]");
  check<ValueError>(o.niter >= 0, "svd_lowrank", "niter is ", o.niter, ", it must not be negative");
  Variable basis = columns_basis(product(a, randn(Shape{columns, o.q}, {.dtype = a.dtype(), .device = a.device()})));
  for (int k = 0; k < o.niter; ++k) {
    basis = columns_basis(stack_product(a, basis, true, false));
    basis = columns_basis(product(a, basis));
  }
  const SVDResult small = svd(stack_product(basis, a, true, false));
  return {product(basis, small.U), small.S, turned(small.Vh)};
}
LowRankFactors pca_lowrank(const Variable& a, const PCALowRankOptions& o) {
  check_matrices("pca_lowrank", a, false);
  const std::int64_t q = o.q.value_or(std::min<std::int64_t>({6, a.shape(-2), a.shape(-1)}));
  return svd_lowrank(a, {.q = q, .niter = o.niter, .M = o.center ? mean(a, -2, true) : Variable()});
}

namespace linalg {

Variable lu_solve(const Variable& lu, const Variable& pivots, const Variable& b, const LUSolveOptions& o) {
  check_matrices("lu_solve", lu, true);
  check<ValueError>(b.ndim() >= 2, "lu_solve", "b has the shape ", b.shape(), ", its rank must be at least 2");
  // X A = B is A^T X^T = B^T.
  if (!o.left) return turned(lu_solve(lu, pivots, turned(b), {.adjoint = !o.adjoint}));
  const LUResult f = lu_unpack(lu, pivots);
  if (!o.adjoint) {
    const Variable y =
        autograd::solve_triangular(f.L, stack_product(f.P, b, true, false), {.lower = true, .unit_diagonal = true});
    return autograd::solve_triangular(f.U, y);
  }
  const Variable y = autograd::solve_triangular(f.U, b, {.trans = true});
  return product(f.P, autograd::solve_triangular(f.L, y, {.lower = true, .trans = true, .unit_diagonal = true}));
}

LUFactorExResult lu_factor_ex(const Variable& a) {
  const LUFactorResult f = autograd::lu(a);
  const nd::DeviceScope scope(a.device());
  return {f.LU, f.pivots, as_variable(first_zero(array_of(f.LU)))};
}
SolveExResult solve_ex(const Variable& a, const Variable& b, bool check_errors) {
  check_matrices("solve_ex", a, true);
  const nd::DeviceScope scope(a.device());
  const nd::Array info = first_zero(nd::linalg::lu_factor(array_of(a)).lu);
  if (check_errors) return {solve(a, b), as_variable(info)};
  return {where_regular(a, info, b.ndim() == 1 ? 1 : 2, [&](const Variable& m) { return solve(m, b); }),
          as_variable(info)};
}
InvExResult inv_ex(const Variable& a, bool check_errors) {
  check_matrices("inv_ex", a, true);
  const nd::DeviceScope scope(a.device());
  const nd::Array info = first_zero(nd::linalg::lu_factor(array_of(a)).lu);
  check<LinAlgError>(!check_errors || !bool(nd::not_equal(info, 0).any()), "inv_ex", "a matrix is singular");
  return {where_regular(a, info, 2, [](const Variable& m) { return inv(m); }), as_variable(info)};
}
CholeskyExResult cholesky_ex(const Variable& a, bool upper, bool check_errors) {
  check_matrices("cholesky_ex", a, true);
  const nd::DeviceScope scope(a.device());
  const Variable lower = upper ? turned(a) : a;
  const nd::Array info =
      check_errors ? nd::zeros(leading(a.shape(), 2), nd::Dtype::int32) : first_minor(array_of(lower));
  const Variable L = where_regular(lower, info, 2, [](const Variable& m) { return cholesky(m); });
  return {upper ? turned(L) : L, as_variable(info)};
}

Variable matrix_rank(const Variable& a, const MatrixRankOptions& o) {
  check_matrices("matrix_rank", a, o.hermitian);
  const nd::DeviceScope scope(a.device());
  const nd::Array m = array_of(a), s = o.hermitian ? nd::absolute(nd::linalg::eigvalsh(m)) : nd::linalg::svdvals(m);
  if (s.size() == 0) return as_variable(nd::zeros(leading(a.shape(), 2), nd::Dtype::int64));
  const double precision =
      a.dtype() == Dtype::float64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  const double rtol =
      o.rtol.value_or(o.atol.value_or(0) > 0 ? 0 : precision * double(std::max(a.shape(-2), a.shape(-1))));
  const nd::Array least = nd::maximum(s.max(-1, nd::ReduceOptions{.keepdims = true}) * rtol, o.atol.value_or(0));
  return as_variable(nd::greater(s, least).astype(nd::Dtype::int64).sum(-1));
}
Variable cond(const Variable& a, const NormOrder& p) {
  const double order = p.number().value_or(0);
  if (p.absent() || order == 2 || order == -2) {
    check_matrices("cond", a, false);
    const Variable s = svdvals(a), first = select(s, -1, 0), last = select(s, -1, s.shape(-1) - 1);
    return order == -2 ? last / first : first / last;
  }
  check_matrices("cond", a, true);
  const nd::DeviceScope scope(a.device());
  return where_regular(
      a, first_zero(nd::linalg::lu_factor(array_of(a)).lu), 0,
      [&](const Variable& m) { return matrix_norm(m, p) * matrix_norm(inv(m), p); },
      std::numeric_limits<double>::infinity());
}

EigResult eig(const Variable& a) {
  check_matrices("eig", a, true);
  const Variables both = internal::without_gradient("eig", {a}, [](const Arrays& x) {
    const nd::DeviceScope scope(x[0].device());
    const nd::linalg::EigResult r = nd::linalg::eig(nd::Array(x[0]));
    const Dtype dtype = internal::complex_of(x[0].dtype());
    return Arrays{Array(r.eigenvalues.astype(dtype)), Array(r.eigenvectors.astype(dtype))};
  });
  return {both[0], both[1]};
}
Variable eigvals(const Variable& a) {
  check_matrices("eigvals", a, true);
  return internal::without_gradient("eigvals", {a}, [](const Arrays& x) {
    const nd::DeviceScope scope(x[0].device());
    return Arrays{Array(nd::linalg::eigvals(nd::Array(x[0])).astype(internal::complex_of(x[0].dtype())))};
  })[0];
}

Variable tensorinv(const Variable& a, int ind) {
  check<ValueError>(ind > 0 && ind <= a.ndim(), "tensorinv", "ind is ", ind, " for the shape ", a.shape());
  Shape first, second;
  for (int k = 0; k < a.ndim(); ++k) (k < ind ? first : second).push_back(a.shape(k));
  const std::int64_t n = catena::size_of(first);
  check<ValueError>(n == catena::size_of(second), "tensorinv", "the shape ", a.shape(), " has ", n,
                    " elements before the axis ", ind, " and ", catena::size_of(second), " from it on");
  for (const std::int64_t length : first) second.push_back(length);
  return reshape(inv(reshape(a, Shape{n, n})), second);
}
Variable tensorsolve(const Variable& given, const Variable& b, const Axes& dims) {
  Variable a = given;
  if (dims.given()) {
    std::vector<int> order, last;
    for (const int axis : dims.values()) last.push_back(catena::normalize_axis("tensorsolve", axis, a.ndim()));
    for (int k = 0; k < a.ndim(); ++k)
      if (std::count(last.begin(), last.end(), k) == 0) order.push_back(k);
    order.insert(order.end(), last.begin(), last.end());
    a = transpose(a, Dims(order));
  }
  Shape of_x;
  for (int k = b.ndim(); k < a.ndim(); ++k) of_x.push_back(a.shape(k));
  const std::int64_t n = b.size();
  check<ValueError>(catena::size_of(of_x) == n && a.size() == n * n, "tensorsolve", "the shapes are ", a.shape(),
                    " and ", b.shape(), "; the former must be the latter and that of as many unknowns");
  return reshape(solve(reshape(a, Shape{n, n}), reshape(b, Shape{n})), of_x);
}

PolarResult polar(const Variable& a) {
  check_matrices("polar", a, false);
  check<ValueError>(a.shape(-2) >= a.shape(-1), "polar", "the shape is ", a.shape(),
                    "; a matrix must have at least as many rows as columns");
  const SVDResult f = autograd::svd(a);
  const Variable V = turned(f.Vh);
  return {product(f.U, f.Vh), product(V * broadcast_to(expand_dims(f.S, -2), V.shape()), f.Vh)};
}
Variable matrix_sqrth(const Variable& a) {
  const EighResult f = eigh(a);
  const Variable roots = broadcast_to(expand_dims(sqrt(f.eigenvalues), -2), f.eigenvectors.shape());
  return stack_product(f.eigenvectors * roots, f.eigenvectors, false, true);
}

}  // namespace linalg

}  // namespace autograd
