#include <catena/autograd/functions/torch_products.h>

#include <catena/autograd/array.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/functions/torch_indexing.h>
#include <catena/kernels/registry/families.h>

namespace autograd {

using catena::check;
using catena::ValueError;

namespace {

void check_rank(const char* op, const char* operand, const Variable& x, int rank) {
  check<ValueError>(x.ndim() == rank, op, operand, " has the shape ", x.shape(), ", its rank must be ", rank);
}

// beta x + alpha product
Variable weighted(const Variable& x, const Variable& product, const BetaAlphaOptions& o) {
  const Variable scaled = o.alpha == 1 ? product : product * o.alpha;
  if (o.beta == 0) return scaled;
  return (o.beta == 1 ? x : x * o.beta) + scaled;
}

}  // namespace

Variable bmm(const Variable& a, const Variable& b) {
  check_rank("bmm", "a", a, 3);
  check_rank("bmm", "b", b, 3);
  return batch_matmul(a, b);
}
Variable mm(const Variable& a, const Variable& b) {
  check_rank("mm", "a", a, 2);
  check_rank("mm", "b", b, 2);
  return matmul(a, b);
}
Variable mv(const Variable& a, const Variable& vector) {
  check_rank("mv", "a", a, 2);
  check_rank("mv", "the vector", vector, 1);
  return linalg_matmul(a, vector);
}
Variable addmm(const Variable& x, const Variable& a, const Variable& b, const BetaAlphaOptions& o) {
  return weighted(x, mm(a, b), o);
}
Variable addmv(const Variable& x, const Variable& a, const Variable& b, const BetaAlphaOptions& o) {
  return weighted(x, mv(a, b), o);
}
Variable addr(const Variable& x, const Variable& a, const Variable& b, const BetaAlphaOptions& o) {
  return weighted(x, outer(a, b), o);
}
Variable baddbmm(const Variable& x, const Variable& a, const Variable& b, const BetaAlphaOptions& o) {
  return weighted(x, bmm(a, b), o);
}
Variable addbmm(const Variable& x, const Variable& a, const Variable& b, const BetaAlphaOptions& o) {
  return weighted(x, sum(bmm(a, b), 0), o);
}

Variable cross(const Variable& a, const Variable& b, std::optional<int> dim) {
  const Shape shape = catena::broadcast_shapes("cross", a.shape(), b.shape());
  int axis = dim ? catena::normalize_axis("cross", *dim, shape.size()) : -1;
  for (int k = 0; k < shape.size() && axis < 0; ++k)
    if (shape[k] == 3) axis = k;
  check<ValueError>(axis >= 0 && shape[axis] == 3, "cross", "the shapes are ", a.shape(), " and ", b.shape(),
                    "; the axis of the vectors must have the length 3");
  const Variable x = broadcast_to(a, shape), y = broadcast_to(b, shape);
  // The components 1, 2, 0 and 2, 0, 1.
  return roll(x, -1, axis) * roll(y, -2, axis) - roll(x, -2, axis) * roll(y, -1, axis);
}

Variable dist(const Variable& a, const Variable& b, double p) { return vector_norm(a - b, {.ord = p}); }
Variable renorm(const Variable& x, double p, int dim, double maxnorm) {
  check<ValueError>(x.ndim() >= 2, "renorm", "x has the shape ", x.shape(), ", its rank must be at least 2");
  const int axis = catena::normalize_axis("renorm", dim, x.ndim());
  Dims others;
  for (int k = 0; k < x.ndim(); ++k)
    if (k != axis) others.push_back(k);
  const Variable norms = vector_norm(x, {.ord = p, .axis = others, .keepdims = true});
  const Array above = apply(catena::kernels::greater, {norms.data(), maxnorm});
  return x * where(above, maxnorm / (norms + 1e-7), 1.0);
}

Variable vander(const Variable& x, std::optional<std::int64_t> n, bool increasing) {
  check<ValueError>(x.ndim() >= 1, "vander", "x has no axis");
  const std::int64_t columns = n.value_or(x.shape(-1));
  check<ValueError>(columns > 0, "vander", "the number of columns is ", columns, ", it must be positive");
  Variables powers{Variable(ones_like(x.data()), {.requires_grad = false})};
  for (std::int64_t k = 1; k < columns; ++k) powers.push_back(powers.back() * x);
  const Variable rising = stack(powers, x.ndim());
  return increasing ? rising : flip(rising, x.ndim());
}

Variable cholesky_solve(const Variable& b, const Variable& factor, const UpperOption& o) {
  const Variable y = autograd::solve_triangular(factor, b, {.lower = !o.upper, .trans = o.upper});
  return autograd::solve_triangular(factor, y, {.lower = !o.upper, .trans = !o.upper});
}
Variable cholesky_inverse(const Variable& factor, const UpperOption& o) {
  const Array& f = factor.data();
  check<ValueError>(f.ndim() >= 2, "cholesky_inverse", "the factor has the shape ", f.shape(),
                    ", its rank must be at least 2");
  const std::int64_t n = f.shape(-1);
  const Array places = arrays::arange(n, Dtype::int64, f.device());
  const Array unit = astype(apply(catena::kernels::equal, {expand_dims(places, 1), places}), f.dtype());
  return cholesky_solve(Variable(unit, {.requires_grad = false}), factor, o);
}
TriangularSolution triangular_solve(const Variable& b, const Variable& a, const TriangularSolveOptions& o) {
  return {autograd::solve_triangular(a, b, {.lower = !o.upper, .trans = o.transpose, .unit_diagonal = o.unitriangular}),
          a.clone()};
}

namespace linalg {

QRResult qr(const Variable& a, std::string_view mode) {
  check<ValueError>(mode == "reduced" || mode == "complete" || mode == "r", "qr", "the mode is \"", mode,
                    "\"; it is \"reduced\", \"complete\" or \"r\"");
  const std::int64_t rows = a.ndim() < 2 ? 0 : a.shape(-2), columns = a.ndim() < 2 ? 0 : a.shape(-1);
  if (mode == "r") return {as_variable(arrays::zeros({0}, a.dtype(), a.device())), autograd::qr(a).R};
  if (mode == "reduced" || rows <= columns) return autograd::qr(a);
  // The columns of zeros complete the basis.
  Shape shape = a.shape();
  shape.back() = rows - columns;
  const Variable zeros = as_variable(arrays::zeros(shape, a.dtype(), a.device()));
  const QRResult all = autograd::qr(concat({a.detach(), zeros}, -1));
  return {all.Q, all.R.narrow(-1, 0, columns)};
}

namespace {

Variable with_lower_triangle(const char* op, const Variable& a, std::string_view uplo) {
  check<ValueError>(uplo == "L" || uplo == "U", op, "UPLO is \"", uplo, "\"; it is \"L\" or \"U\"");
  return uplo == "L" ? a : a.mT();
}

}  // namespace

EighResult eigh(const Variable& a, std::string_view uplo) {
  return autograd::eigh(with_lower_triangle("eigh", a, uplo));
}
Variable eigvalsh(const Variable& a, std::string_view uplo) {
  return autograd::eigvalsh(with_lower_triangle("eigvalsh", a, uplo));
}

SVDResult svd(const Variable& a, const SVDOptions& o) {
  const bool square = a.ndim() >= 2 && a.shape(a.ndim() - 1) == a.shape(a.ndim() - 2);
  check<catena::NotImplementedError>(!o.full_matrices || square || a.ndim() < 2, "svd", "a of the shape ", a.shape(),
                                     " has no full factors here; write svd(a, {.full_matrices = false})");
  return autograd::svd(a);
}
Variable matrix_norm(const Variable& a, const NormOrder& ord, bool keepdim) {
  return autograd::norm(a, NormOptions{.ord = ord, .axis = {-2, -1}, .keepdims = keepdim});
}
Variable diagonal(const Variable& a, std::int64_t offset, int dim1, int dim2) {
  return autograd::diagonal(a, offset, dim1, dim2);
}
Variable vecdot(const Variable& x, const Variable& y, int dim) { return sum(x * y, dim); }
Variable solve_triangular(const Variable& a, const Variable& b, const SolveTriangularOptions& o) {
  return autograd::solve_triangular(a, b, {.lower = !o.upper, .unit_diagonal = o.unitriangular});
}

}  // namespace linalg
}  // namespace autograd
