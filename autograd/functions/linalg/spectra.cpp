// Eigenvalues, singular values, orthogonal factors, pseudo-inverses.
#include <limits>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/linalg/structure.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/linalg_extension.h>

namespace autograd {

using internal::computed_wide;
using internal::differences;
using internal::expect_matrices;
using internal::half_lower;
using internal::product;
using internal::product_t;
using internal::symmetric;
using internal::t_product;
using internal::turned;

namespace {

// Multiplies the columns of a by the values (..., K).
Variable scaled(const Variable& a, const Variable& values) { return a * expand_dims(values, -2); }

class Eigh final : public FunctionNode {
 public:
  std::string label() const override { return "Eigh"; }
  Arrays forward(const Arrays& a) override {
    retain_outputs({0, 1});
    return linalg_extension(a[0]).eigh(a[0]);
  }
  // The symmetric part of V (diag(gw) + V^T gV / (w_j - w_i)) V^T.
  Variables backward(const Targets&, const Variables& gy) override {
    const Variable w = retained_output(0), v = retained_output(1);
    if (!gy[1]) return {product_t(scaled(v, gy[0]), v)};
    Variable inside = t_product(v, gy[1]) * reciprocal_or_0(differences(w));
    if (gy[0]) inside = inside + diag_embed(gy[0]);
    return {symmetric(product_t(product(v, inside), v))};
  }
};

class Svd final : public FunctionNode {
 public:
  std::string label() const override { return "SVD"; }
  Arrays forward(const Arrays& a) override {
    retain_outputs({0, 1, 2});
    return linalg_extension(a[0]).svd(a[0]);
  }
  // With skew(X) = X - X^T and E_ij = s_j^2 - s_i^2:
  //   U (skew(U^T gU) / E diag(s) + diag(s) skew(V^T gV) / E + diag(gs)) V^T
  //     + (1 - U U^T) gU diag(1 / s) V^T + U diag(1 / s) gVh (1 - V V^T)
  Variables backward(const Targets&, const Variables& gy) override {
    const Variable u = retained_output(0), s = retained_output(1), vh = retained_output(2);
    const Variable &gu = gy[0], &gs = gy[1], &gvh = gy[2];
    if (!gu && !gvh) return {product(scaled(u, gs), vh)};
    const auto add = [](Variable& to, const Variable& v) { to = to ? to + v : v; };
    const auto skew = [](const Variable& x) { return x - turned(x); };
    const Variable over_e = reciprocal_or_0(differences(s) * (expand_dims(s, -2) + expand_dims(s, -1)));
    const Variable over_s = reciprocal_or_0(s);
    const std::int64_t k = s.shape(s.ndim() - 1);
    Variable inside, outside;
    if (gs) add(inside, diag_embed(gs));
    if (gu) {
      const Variable along = t_product(u, gu);
      add(inside, scaled(skew(along) * over_e, s));
      if (u.shape(u.ndim() - 2) > k) add(outside, product(scaled(gu - product(u, along), over_s), vh));
    }
    if (gvh) {
      const Variable along = product_t(vh, gvh);
      add(inside, expand_dims(s, -1) * (skew(along) * over_e));
      if (vh.shape(vh.ndim() - 1) > k)
        add(outside, product(u, expand_dims(over_s, -1) * (gvh - product(turned(along), vh))));
    }
    const Variable g = product(product(u, inside), vh);
    return {outside ? g + outside : g};
  }
};

// Of matrices with at least as many rows as columns.
class TallQR final : public FunctionNode {
 public:
  std::string label() const override { return "QR"; }
  Arrays forward(const Arrays& a) override {
    retain_outputs({0, 1});
    return linalg_extension(a[0]).qr(a[0]);
  }
  // (gQ + Q M) R^-T, where M is symmetric with the lower triangle of R gR^T - gQ^T Q.
  Variables backward(const Targets&, const Variables& gy) override {
    const Variable q = retained_output(0), r = retained_output(1);
    Variable m;
    if (gy[1]) m = product_t(r, gy[1]);
    if (gy[0]) m = m ? m - t_product(gy[0], q) : -t_product(gy[0], q);
    const Variable below = half_lower(m), both = product(q, below + turned(below));
    const Variable right = gy[0] ? gy[0] + both : both;
    return {turned(autograd::solve_triangular(r, turned(right), {}))};
  }
};

class Pinv final : public FunctionNode {
 public:
  explicit Pinv(double rcond) : rcond_(rcond) {}
  std::string label() const override { return "Pinv"; }
  Arrays forward(const Arrays& a) override {
    retain_inputs({0});
    retain_outputs({0});
    namespace kernels = catena::kernels;
    const Arrays usv = linalg_extension(a[0]).svd(a[0]);
    const Array& s = usv[1];
    if (s.size() == 0) return {autograd::matmul(usv[2], usv[0], true, true)};
    const Array counts = apply(kernels::greater, {s, amax(s, -1, true) * rcond_});
    const Array over_s = where(counts, 1 / where(counts, s, 1), 0);
    return {autograd::matmul(usv[2], autograd::expand_dims(over_s, -1) * autograd::swapaxes(usv[0], -2, -1), true)};
  }
  // For constant rank (Golub and Pereyra 1973), with P the pseudo-inverse:
  //   -P^T g P^T + (1 - a P) g^T P P^T + P^T P g^T (1 - P a)
  Variables backward(const Targets&, const Variables& gy) override {
    const Variable a = retained_input(0), p = retained_output(0), pt = turned(p), gt = turned(gy[0]);
    const Variable left = product(product_t(gt, pt), pt), right = product(pt, product(p, gt));
    const Variable first = product_t(product(pt, gy[0]), p);
    return {left - product(a, product(p, left)) + right - product(product(right, p), a) - first};
  }

 private:
  double rcond_;
};

QRResult factors_of(const Variable& a) {
  const std::int64_t m = a.shape(a.ndim() - 2), n = a.shape(a.ndim() - 1);
  if (m >= n) {
    const Variables y = apply_node<TallQR>({a});
    return {y[0], y[1]};
  }
  const Variables halves = split_axis(a, {m}, -1), y = apply_node<TallQR>({halves[0]});
  return {y[0], concat({y[1], t_product(y[0], halves[1])}, -1)};
}

}  // namespace

EighResult eigh(const Variable& a) {
  expect_matrices("Eigh", a, true);
  const Variables y = apply_node<Eigh>({cast(a, catena::compute_dtype(a.dtype()))});
  return {cast(y[0], a.dtype()), cast(y[1], a.dtype())};
}
Variable eigvalsh(const Variable& a) { return eigh(a).eigenvalues; }

SVDResult svd(const Variable& a) {
  expect_matrices("SVD", a, false);
  const Variables y = apply_node<Svd>({cast(a, catena::compute_dtype(a.dtype()))});
  return {cast(y[0], a.dtype()), cast(y[1], a.dtype()), cast(y[2], a.dtype())};
}
Variable svdvals(const Variable& a) { return svd(a).S; }

QRResult qr(const Variable& a) {
  expect_matrices("QR", a, false);
  const auto [q, r] = factors_of(cast(a, catena::compute_dtype(a.dtype())));
  return {cast(q, a.dtype()), cast(r, a.dtype())};
}

Variable pinv(const Variable& a, std::optional<double> rcond) {
  expect_matrices("Pinv", a, false);
  const double longest = double(std::max(a.shape(a.ndim() - 2), a.shape(a.ndim() - 1)));
  const double limit = rcond.value_or(longest * (a.dtype() == Dtype::float64 ? std::numeric_limits<double>::epsilon()
                                                                             : std::numeric_limits<float>::epsilon()));
  return computed_wide(a, [&](const Variable& x) { return apply_node<Pinv>({x}, limit)[0]; });
}

}  // namespace autograd
