// Functions of matrices and products that are composed of other functions.
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/einsum.h>
#include <catena/autograd/functions/linalg/structure.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/input_types.h>
#include <catena/autograd/linalg_extension.h>

namespace autograd {

using catena::check;
using catena::ValueError;
using internal::check_input_types;
using internal::computed_wide;
using internal::expect_matrices;
using internal::identity_like;
using internal::product;
using internal::turned;
using type_check::TypeInfoTuple;

namespace {

class MatrixExp final : public FunctionNode {
 public:
  std::string label() const override { return "MatrixExp"; }
  Arrays forward(const Arrays& a) override {
    retain_inputs({0});
    return {linalg_extension(a[0]).expm(a[0])};
  }
  // The upper right block of the exponential of [[a^T, g], [0, a^T]].
  Variables backward(const Targets&, const Variables& gy) override {
    const Variable a = turned(retained_input(0));
    const std::int64_t n = a.shape(a.ndim() - 1);
    const Variable upper = concat({a, gy[0]}, -1), lower = concat({zeros_of(a), a}, -1);
    const Variable all = apply_node<MatrixExp>({concat({upper, lower}, -2)})[0];
    return {split_axis(split_axis(all, {n}, -2)[0], {n}, -1)[1]};
  }
};

// Products of integers and bools have a value, but no gradient.
bool are_exact(const Variable& a, const Variable& b) {
  return catena::is_exact(a.dtype()) && catena::is_exact(b.dtype());
}

// Checks two operands for a product over one axis of each.
void expect_factors(std::string_view label, const Variable& a, const Variable& b, int least_rank) {
  check_input_types(
      label, {a, b},
      [&](const TypeInfoTuple& in_types) {
        using namespace type_check;
        expect(in_types[0].dtype.kind() == 'f', in_types[0].dtype == in_types[1].dtype);
        expect(in_types[0].ndim >= least_rank, in_types[1].ndim >= least_rank);
      },
      "a b");
}

Variable sum_over(std::string_view label, const Variable& a, const Variable& b, int axis_of_b) {
  expect_factors(label, a, b, 0);
  if (a.ndim() == 0 || b.ndim() == 0) return a * b;
  check_input_types(
      label, {a, b},
      [&](const TypeInfoTuple& in_types) { type_check::expect(in_types[0].shape[-1] == in_types[1].shape[axis_of_b]); },
      "a b");
  return tensordot(a, b, std::pair<Dims, Dims>(Dims{-1}, Dims{axis_of_b}));
}

}  // namespace

Variable matrix_exp(const Variable& a) {
  expect_matrices("MatrixExp", a, true);
  if (a.size() == 0) return a;
  return computed_wide(a, [](const Variable& x) { return apply_node<MatrixExp>({x})[0]; });
}

Variable matrix_power(const Variable& a, std::int64_t n) {
  expect_matrices("MatrixPower", a, true);
  if (n == 0) return broadcast_to(identity_like(a), a.shape());
  return computed_wide(a, [n](const Variable& x) {
    Variable power = n < 0 ? inv(x) : x, result;
    for (std::uint64_t left = n < 0 ? -static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);;) {
      if ((left & 1) != 0) result = result ? product(result, power) : power;
      left >>= 1;
      if (left == 0) return result;
      power = product(power, power);
    }
  });
}

Variable multi_dot(const Variables& matrices) {
  const std::size_t n = matrices.size();
  check<ValueError>(n >= 2 && n <= 50, "multi_dot", n, " operands given, it takes 2 to 50");
  std::string terms;
  const auto letter = [](std::size_t i) { return static_cast<char>(i < 26 ? 'a' + i : 'A' + (i - 26)); };
  for (std::size_t i = 0; i < n; ++i) {
    const bool at_end = i == 0 || i + 1 == n;
    check<ValueError>(bool(matrices[i]), "multi_dot", "operand ", i, " is null");
    const int rank = matrices[i].ndim();
    check<ValueError>(rank == 2 || (rank == 1 && at_end), "multi_dot", "operand ", i, " has the shape ",
                      matrices[i].shape(), "; operands are matrices, the first and the last may be vectors");
    if (i > 0) terms += ',';
    if (i > 0 || rank == 2) terms += letter(i);
    if (i + 1 < n || rank == 2) terms += letter(i + 1);
  }
  terms += "->";
  if (matrices[0].ndim() == 2) terms += letter(0);
  if (matrices[n - 1].ndim() == 2) terms += letter(n);
  return einsum(terms, matrices);
}

Variable trace(const Variable& x, std::int64_t offset, int axis1, int axis2) {
  check_input_types("Trace", {x}, [&](const TypeInfoTuple& in_types) {
    type_check::expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim >= 2);
    internal::expect_axes(in_types, Axes({axis1, axis2}));
  });
  return sum(diagonal(x, offset, axis1, axis2), -1);
}

Variable dot(const Variable& a, const Variable& b) { return sum_over("Dot", a, b, b && b.ndim() > 1 ? -2 : -1); }
Variable inner(const Variable& a, const Variable& b) { return sum_over("Inner", a, b, -1); }
Variable vdot(const Variable& a, const Variable& b) {
  expect_factors("Vdot", a, b, 0);
  return sum_over("Vdot", flatten(a), flatten(b), -1);
}
Variable outer(const Variable& a, const Variable& b) {
  if (!are_exact(a, b)) expect_factors("Outer", a, b, 0);
  return expand_dims(flatten(a), 1) * flatten(b);
}

Variable kron(const Variable& a, const Variable& b) {
  if (!are_exact(a, b)) expect_factors("Kron", a, b, 0);
  const int rank = std::max(a.ndim(), b.ndim());
  Shape of_a, of_b, result;
  for (int axis = 0; axis < rank; ++axis) {
    const int i = axis - (rank - a.ndim()), j = axis - (rank - b.ndim());
    of_a.push_back(i < 0 ? 1 : a.shape(i));
    of_a.push_back(1);
    of_b.push_back(1);
    of_b.push_back(j < 0 ? 1 : b.shape(j));
    result.push_back(of_a[2 * axis] * of_b[2 * axis + 1]);
  }
  return reshape(reshape(a, of_a) * reshape(b, of_b), result);
}

Variable linalg_matmul(const Variable& a, const Variable& b) {
  expect_factors("LinalgMatmul", a, b, 1);
  const bool row = a.ndim() == 1, column = b.ndim() == 1;
  if (row && column) return inner(a, b);
  const Variable y = product(row ? expand_dims(a, 0) : a, column ? expand_dims(b, 1) : b);
  return row ? squeeze(y, -2) : column ? squeeze(y, -1) : y;
}

}  // namespace autograd
