// torch.linalg beyond functions/linalg.h: PyTorch's values and gradients, identities, errors.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include <catena/catena.h>

using autograd::tensor;
using autograd::Variable;
namespace linalg = autograd::linalg;
using Doubles = std::vector<double>;

namespace {

Doubles of(const Variable& v) {
  if (v.is_complex()) return of(autograd::view_as_real(v.detach()));
  return nd::Array(v.data()).astype(nd::float64).to_vector<double>();
}
void check(const Variable& v, const Doubles& expected, double tolerance = 1e-10) {
  const Doubles values = of(v);
  BOOST_TEST_REQUIRE(values.size() == expected.size());
  for (std::size_t k = 0; k < values.size(); ++k)
    BOOST_TEST(std::abs(values[k] - expected[k]) <= tolerance * (1 + std::abs(expected[k])),
               "element " << k << ": " << values[k] << " is not " << expected[k]);
}
Variable square() { return Variable(nd::array({{2.0, 1.0, 0.5}, {4.0, 3.0, 1.0}, {-1.0, 0.25, 3.0}})); }
Variable tall() { return Variable(nd::array({{1.0, 2.0}, {3.0, 4.0}, {5.0, -6.0}})); }
// The first matrix is singular.
Variable stack() { return Variable(nd::array({1.0, 2.0, 2.0, 4.0, 2.0, 0.0, 1.0, 3.0}).reshape({2, 2, 2})); }
Variable product(const Variable& a, const Variable& b) { return linalg::matmul(a, b); }

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_linalg)

BOOST_AUTO_TEST_CASE(lu_factors) {
  const Variable a = square();
  const auto [P, L, U] = linalg::lu(a);
  check(P, {0, 0, 1, 1, 0, 0, 0, 1, 0});
  check(L, {1, 0, 0, -0.25, 1, 0, 0.5, -0.5, 1});
  check(U, {4, 3, 1, 0, 1, 3.25, 0, 0, 1.625});
  const Variable w = tensor((nd::arange(9.0) / 3 - 1).reshape({3, 3}));
  autograd::sum(L * w + U * U * w).backward();
  check(Variable(a.grad()), {11.098958333333332, -16.270833333333332, 5.416666666666666, -12.589192708333332,
                             2.268229166666666, -1.6145833333333333, 3.841145833333333, -7.46875, 7.041666666666667});
  const auto [lu, pivots] = linalg::lu_factor(square());
  check(lu, {4, 3, 1, -0.25, 1, 3.25, 0.5, -0.5, 1.625});
  check(pivots, {2, 3, 3});
  BOOST_TEST(pivots.dtype() == nd::int32);
  const Variable b = tensor(nd::array({{1.0, 2.0}, {0.0, -1.0}, {3.0, 0.5}}));
  check(linalg::lu_solve(lu, pivots, b),
        {1.1153846153846159, 3.0961538461538463, -2, -5, 1.5384615384615385, 1.6153846153846154});
  check(linalg::lu_solve(lu, pivots, b, {.adjoint = true}),
        {3.1923076923076925, 5, -1.1346153846153846, -2, 0.8461538461538463, 0});
  check(linalg::lu_solve(lu, pivots, b.T(), {.left = false}),
        {3.1923076923076925, -1.1346153846153846, 0.8461538461538463, 5, -2, 0});
  check(autograd::lu_solve(b, lu, pivots), of(autograd::solve(square(), b)));
  // The gradient by the factors is that of solve.
  const Variable first = square(), second = square();
  const auto f = autograd::lu(first);
  autograd::sum(autograd::lu_solve(b, f.LU, f.pivots)).backward();
  autograd::sum(autograd::solve(second, b)).backward();
  check(Variable(first.grad()), of(second.grad()));
}

BOOST_AUTO_TEST_CASE(lu_of_other_shapes) {
  for (const nd::Shape& shape : {nd::Shape{4, 2}, nd::Shape{2, 4}, nd::Shape{3, 2, 2}, nd::Shape{0, 2}}) {
    const Variable a(nd::sin(nd::arange(double(catena::size_of(shape)))).reshape(shape));
    const auto [P, L, U] = linalg::lu(a);
    check(product(P, product(L, U)), of(a));
  }
  const Variable a = tall();
  BOOST_CHECK_THROW(autograd::sum(autograd::lu(a).LU).backward(), catena::NotImplementedError);
  BOOST_CHECK_THROW(autograd::lu(tensor({1.0})), catena::ValueError);
  BOOST_CHECK_THROW(autograd::lu(tensor({{1, 2}})), catena::TypeError);
  const auto f = autograd::lu(tall());
  BOOST_CHECK_THROW(autograd::lu_unpack(f.LU, tensor({1})), catena::ValueError);
  BOOST_CHECK_THROW(autograd::lu_unpack(f.LU, tensor({1, 7})), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(singular_matrices_without_errors) {
  const Variable a = stack();
  const auto [inverse, info] = linalg::inv_ex(a);
  check(info, {2, 0});
  BOOST_TEST(info.dtype() == nd::int32);
  check(inverse(1), {0.5, 0, -1 / 6.0, 1 / 3.0});
  BOOST_TEST(std::isnan(of(inverse(0))[0]));
  autograd::sum(inverse(1)).backward();
  BOOST_TEST(!std::isnan(of(a.grad())[0]));
  check(linalg::inv_ex(square()).inverse, of(autograd::inv(square())));
  const auto solved = linalg::solve_ex(stack(), tensor(nd::ones({2, 2, 1})));
  check(solved.info, {2, 0});
  check(solved.result(1), {0.5, 1 / 6.0});
  check(linalg::solve_ex(square(), tensor(nd::ones(3))).result, of(autograd::solve(square(), tensor(nd::ones(3)))));
  const Variable s = tensor(nd::array({1.0, 2.0, 2.0, 1.0, 2.0, 0.5, 0.5, 3.0}).reshape({2, 2, 2}));
  const auto [L, minors] = linalg::cholesky_ex(s);
  check(minors, {2, 0});
  check(L(1), {std::sqrt(2.0), 0, 0.5 / std::sqrt(2.0), std::sqrt(3 - 0.125)});
  check(linalg::cholesky_ex(s, true).L(1), {std::sqrt(2.0), 0.5 / std::sqrt(2.0), 0, std::sqrt(3 - 0.125)});
  BOOST_CHECK_THROW(linalg::cholesky_ex(s, false, true), linalg::LinAlgError);
  BOOST_CHECK_THROW(linalg::inv_ex(a, true), linalg::LinAlgError);
  check(linalg::lu_factor_ex(stack()).info, {2, 0});
}

BOOST_AUTO_TEST_CASE(ranks_and_conditions) {
  check(linalg::matrix_rank(stack()), {1, 2});
  BOOST_TEST(linalg::matrix_rank(stack()).dtype() == nd::int64);
  const Variable d = tensor(nd::diag(nd::array({1.0, 1e-3, 1e-9})));
  check(linalg::matrix_rank(d), {3});
  check(linalg::matrix_rank(d, 1e-2), {1});
  check(linalg::matrix_rank(d, {.rtol = 1e-4, .hermitian = true}), {2});
  const std::pair<autograd::NormOrder, double> kOrders[] = {{{}, 15.183876428156896},  {-2, 0.06585933471808329},
                                                            {1, 27.730769230769234},   {"fro", 17.649619932587584},
                                                            {"nuc", 29.3257391633865}, {nd::inf, 24.0}};
  for (const auto& [order, expected] : kOrders) check(linalg::cond(square(), order), {expected});
  for (const autograd::NormOrder& order :
       {autograd::NormOrder("fro"), autograd::NormOrder("nuc"), autograd::NormOrder(1)}) {
    const Doubles both = of(linalg::cond(stack(), order));
    BOOST_TEST(both[0] == std::numeric_limits<double>::infinity());
    BOOST_TEST(both[1] == of(linalg::cond(stack()(1), order))[0]);
  }
  Variable a(nd::diag(nd::array({4.0, 2.0})));
  linalg::cond(a).backward();
  check(Variable(a.grad()), {0.5, 0, 0, -1});
  check(autograd::nuclear_norm(tall()), {13.174181939012422});
  check(autograd::frobenius_norm(tall()), {9.539392014169456});
  check(autograd::frobenius_norm(tall(), 1, true), {std::sqrt(5.0), 5, std::sqrt(61.0)});
}

BOOST_AUTO_TEST_CASE(eigenvalues) {
  const Variable a(nd::array({{0.0, -2.0}, {2.0, 0.0}}));
  Doubles values = of(linalg::eigvals(a));
  BOOST_TEST(std::abs(values[0]) < 1e-12);
  BOOST_TEST(std::abs(std::abs(values[1]) - 2) < 1e-12);
  BOOST_TEST(std::abs(values[1] + values[3]) < 1e-12);
  const auto [w, v] = linalg::eig(square());
  BOOST_TEST(w.dtype() == nd::complex128);
  const nd::Array m = square().data(), vectors = v.data(), numbers = w.data();
  const nd::Array rest = nd::absolute(nd::matmul(m.astype(nd::complex128), vectors) - vectors * numbers);
  BOOST_TEST(rest.max().item<double>() < 1e-12);
  BOOST_CHECK_THROW(autograd::sum(autograd::abs(linalg::eigvals(a))).backward(), catena::NotImplementedError);
}

BOOST_AUTO_TEST_CASE(equations_of_tensors) {
  const Variable a = tensor(nd::eye(6) * 3 + (nd::arange(36.0) % 5).reshape({6, 6}));
  check(linalg::tensorsolve(autograd::reshape(a, {2, 3, 2, 3}), tensor(nd::arange(6.0).reshape({2, 3}))),
        {-2.062146892655366, 4.0338983050847395, -1.254237288135591, -3.2372881355932144, 3.593220338983046,
         -0.3954802259886981});
  const Variable inverse = linalg::tensorinv(autograd::reshape(a, {2, 3, 6}), 2);
  BOOST_TEST(inverse.shape() == (nd::Shape{6, 2, 3}));
  check(inverse(0, 0), {-0.697740112994349, 2.0169491525423706, -0.6271186440677955});
  const Variable moved = autograd::moveaxis(autograd::reshape(a, {2, 3, 2, 3}), 3, 0);
  check(linalg::tensorsolve(moved, tensor(nd::arange(6.0).reshape({2, 3})), {3, 0}),
        of(linalg::tensorsolve(autograd::reshape(a, {2, 3, 2, 3}), tensor(nd::arange(6.0).reshape({2, 3})))));
  BOOST_CHECK_THROW(linalg::tensorinv(a, 0), catena::ValueError);
  BOOST_CHECK_THROW(linalg::tensorinv(tall(), 1), catena::ValueError);
  BOOST_CHECK_THROW(linalg::tensorsolve(a, tall()), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(reflections_and_polar_factors) {
  const auto [a, tau] = autograd::geqrf(tall());
  check(a, {-5.916079783099615, 2.704493615131253, 0.4337717455676132, -6.977514907595274, 0.7229529092793553,
            -0.4866288682117679});
  check(tau, {1.1690308509457032, 1.617066316904595});
  check(autograd::orgqr(a, tau), {-0.16903085094570325, -0.35215157397487884, -0.50709255283711, -0.7698197198520605,
                                  -0.8451542547285166, 0.5323221467062123});
  check(linalg::householder_product(a, tau), of(autograd::orgqr(a, tau)));
  Variable t(tau.data());
  autograd::sum(autograd::orgqr(a.detach(), t)).backward();
  const auto at = [&](double change) {
    const nd::Array moved = nd::Array(tau.data()) + nd::array({change, 0.0});
    return autograd::sum(autograd::orgqr(a.detach(), tensor(moved))).item<double>();
  };
  BOOST_TEST(std::abs(of(t.grad())[0] - (at(1e-6) - at(-1e-6)) / 2e-6) < 1e-6);
  const auto [U, H] = linalg::polar(tall());
  check(U, {0.23772306927206516, 0.3099514509730226, 0.6543266522353572, 0.6493241797364642, 0.7178749017136195,
            -0.6944841305957147});
  check(H, {5.790077534546235, -1.214496662796157, -1.214496662796157, 7.384104404466191});
  check(linalg::matrix_sqrth(tensor(nd::array({{2.0, 0.5}, {0.5, 3.0}}))),
        {1.405161535345346, 0.1597531207391894, 0.1597531207391894, 1.7246677768237249});
  BOOST_CHECK_THROW(linalg::polar(tall().T()), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(factors_of_low_rank) {
  const nd::Array left = nd::sin(nd::arange(14.0)).reshape({7, 2}), right = nd::cos(nd::arange(10.0)).reshape({2, 5});
  const Variable a = tensor(nd::matmul(left, right));
  const auto rebuilt = [](const autograd::LowRankFactors& f) {
    return product(f.U * autograd::broadcast_to(f.S, f.U.shape()), autograd::swapaxes(f.V, -2, -1));
  };
  const autograd::LowRankFactors f = autograd::svd_lowrank(a, 2);
  BOOST_TEST(f.V.shape() == (nd::Shape{5, 2}));
  check(rebuilt(f), of(a));
  check(f.S, of(autograd::svdvals(a)(nd::Slice(0, 2))));
  const Variable centered = a - autograd::broadcast_to(autograd::mean(a, 0, true), a.shape());
  check(rebuilt(autograd::pca_lowrank(a, {.q = 2})), of(centered));
  check(rebuilt(autograd::pca_lowrank(a, 2, false)), of(a));
  BOOST_TEST(autograd::pca_lowrank(a).S.shape() == (nd::Shape{5}));
  BOOST_CHECK_THROW(autograd::svd_lowrank(a, 6), catena::ValueError);
  BOOST_CHECK_THROW(autograd::svd_lowrank(a, {.q = 2, .niter = -1}), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
