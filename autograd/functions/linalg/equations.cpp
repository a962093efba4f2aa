// Systems of equations: Cholesky and LU factors, triangular matrices.
#include <limits>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/linalg/structure.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/input_types.h>
#include <catena/autograd/linalg_extension.h>

namespace autograd {

using internal::check_input_types;
using internal::computed_wide;
using internal::expect_leading_axes;
using internal::expect_matrices;
using internal::half_lower;
using internal::identity_like;
using internal::product;
using internal::product_t;
using internal::symmetric;
using internal::t_product;
using internal::turned;
using type_check::TypeInfoTuple;

namespace {

class Cholesky final : public FunctionNode {
 public:
  std::string label() const override { return "Cholesky"; }
  Arrays forward(const Arrays& a) override {
    retain_outputs({0});
    return {linalg_extension(a[0]).cholesky(a[0])};
  }
  // The symmetric part of L^-T phi(L^T gL) L^-1.
  Variables backward(const Targets&, const Variables& gy) override {
    const Variable l = retained_output(0);
    const TriangularOptions by_transposed{.lower = true, .trans = true};
    const Variable left = autograd::solve_triangular(l, half_lower(t_product(l, gy[0])), by_transposed);
    return {symmetric(autograd::solve_triangular(l, turned(left), by_transposed))};
  }
};

// The x of a x = b, or of a^T x = b, by the LU factors of a.
class Solve final : public FunctionNode {
 public:
  explicit Solve(const LUFactors& factors = {}, bool transposed = false) : factors_(factors), transposed_(transposed) {}
  std::string label() const override { return "Solve"; }
  Arrays forward(const Arrays& in) override {
    retain_inputs({0});
    retain_outputs({0});
    LinalgExtension& linalg = linalg_extension(in[0]);
    if (!factors_.lu) factors_ = linalg.lu(in[0], "solve");
    return {linalg.lu_solve(factors_, in[1], transposed_)};
  }
  // With gb = a^-T gx: ga = -gb x^T.
  Variables backward(const Targets& targets, const Variables& gx) override {
    const Variable a = retained_input(0), gb = apply_node<Solve>({a, gx[0]}, factors_, !transposed_)[0];
    Variables g;
    for (const int t : targets) {
      if (t == 1) g.push_back(sum_to(gb, input_shape(1)));
      else {
        const Variable x = retained_output(0);
        g.push_back(sum_to(-(transposed_ ? product_t(x, gb) : product_t(gb, x)), input_shape(0)));
      }
    }
    return g;
  }

 private:
  LUFactors factors_;
  bool transposed_;
};

class SolveTriangular final : public FunctionNode {
 public:
  explicit SolveTriangular(const TriangularOptions& options) : o_(options) {}
  std::string label() const override { return "SolveTriangular"; }
  Arrays forward(const Arrays& in) override {
    retain_inputs({0});
    retain_outputs({0});
    const Triangle triangle{.lower = o_.lower, .unit = o_.unit_diagonal};
    return {linalg_extension(in[0]).solve_triangular(in[0], in[1], triangle, o_.trans)};
  }
  Variables backward(const Targets& targets, const Variables& gx) override {
    TriangularOptions turned = o_;
    turned.trans = !o_.trans;
    const Variable gb = apply_node<SolveTriangular>({retained_input(0), gx[0]}, turned)[0];
    Variables g;
    for (const int t : targets) {
      if (t == 1) {
        g.push_back(sum_to(gb, input_shape(1)));
        continue;
      }
      const Variable x = retained_output(0), ga = -(o_.trans ? product_t(x, gb) : product_t(gb, x));
      const int k = o_.unit_diagonal ? 1 : 0;
      g.push_back(sum_to(o_.lower ? tril(ga, -k) : triu(ga, k), input_shape(0)));
    }
    return g;
  }

 private:
  TriangularOptions o_;
};

// The sign and the logarithm of the absolute value of the determinant.
class Slogdet final : public FunctionNode {
 public:
  std::string label() const override { return "Slogdet"; }
  Arrays forward(const Arrays& a) override {
    retain_inputs({0});
    factors_ = linalg_extension(a[0]).lu(a[0], "slogdet", false);
    return linalg_extension(a[0]).slogdet(factors_);
  }
  // g a^-T
  Variables backward(const Targets&, const Variables& gy) override {
    if (!gy[1]) return {Variable()};
    const Variable a = retained_input(0), one = identity_like(a);
    Shape shape = gy[1].shape();
    shape.push_back(1);
    shape.push_back(1);
    return {reshape(gy[1], shape) * apply_node<Solve>({a, one}, factors_, true)[0]};
  }

 private:
  LUFactors factors_;
};

// Checks the operands of a x = b, and calls f with both in the dtype in which they are computed, b as matrices.
template <class F>
Variable equations(const char* label, const Variable& a, const Variable& b, bool square, const F& f) {
  check_input_types(
      label, {a, b},
      [&](const TypeInfoTuple& in_types) {
        using namespace type_check;
        const auto left = in_types[0], right = in_types[1];
        expect(left.dtype.kind() == 'f', left.dtype == right.dtype, left.ndim >= 2, right.ndim >= 1);
        if (square) expect(left.shape[-2] == left.shape[-1]);
        expect(left.shape[-2] == right.shape[in_types.shape(1).size() == 1 ? 0 : -2]);
        expect_leading_axes(in_types);
      },
      "a b");
  const bool is_vector = b.ndim() == 1;
  const Dtype dtype = a.dtype(), compute = catena::compute_dtype(dtype);
  const Variable x = cast(f(cast(a, compute), cast(is_vector ? expand_dims(b, 1) : b, compute)), dtype);
  return is_vector ? squeeze(x, -1) : x;
}

}  // namespace

Variable cholesky(const Variable& a, const CholeskyOptions& options) {
  expect_matrices("Cholesky", a, true);
  return computed_wide(a, [&](const Variable& x) {
    const Variable l = apply_node<Cholesky>({options.upper ? turned(x) : x})[0];
    return options.upper ? turned(l) : l;
  });
}

Variable solve(const Variable& a, const Variable& b) {
  return equations("Solve", a, b, true, [](const Variable& left, const Variable& right) {
    return apply_node<Solve>({left, right})[0];
  });
}

Variable solve_triangular(const Variable& a, const Variable& b, const TriangularOptions& options) {
  return equations("SolveTriangular", a, b, true, [&](const Variable& left, const Variable& right) {
    return apply_node<SolveTriangular>({left, right}, options)[0];
  });
}

Variable lstsq(const Variable& a, const Variable& b, std::optional<double> rcond) {
  return equations("Lstsq", a, b, false,
                   [&](const Variable& left, const Variable& right) { return product(pinv(left, rcond), right); });
}

SlogdetResult slogdet(const Variable& a) {
  expect_matrices("Slogdet", a, true);
  const Variables y = apply_node<Slogdet>({cast(a, catena::compute_dtype(a.dtype()))});
  return {cast(y[0], a.dtype()), cast(y[1], a.dtype())};
}

Variable logdet(const Variable& a) {
  const auto [sign, logabsdet] = slogdet(a);
  // The logarithm of the sign: 0 for 1, NaN for -1; the logarithm of 0 is already -inf.
  const Array negative = apply(catena::kernels::less, {sign.data(), 0});
  return where(negative, std::numeric_limits<double>::quiet_NaN(), logabsdet);
}

}  // namespace autograd
