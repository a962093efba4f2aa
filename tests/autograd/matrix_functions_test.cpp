// Factorizations, equations and functions of matrices: identities that define them, derivatives, PyTorch's values.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/linalg_extension.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::spread;

namespace {

using Numbers = std::vector<double>;
// The rules are the same on every device, so others than the CPU check fewer shapes, dtypes and values.
bool on_cpu() { return test::default_device().kind == Device::Kind::cpu; }
std::vector<Shape> shapes(std::initializer_list<Shape> all) {
  return on_cpu() ? std::vector<Shape>(all) : std::vector<Shape>{*all.begin()};
}
test::DerivativeOptions loose() {
  return {.twice = on_cpu(), .atol32 = 2e-4, .rtol32 = 1e-3, .atol16 = 3e-2, .rtol16 = 5e-2, .narrow = on_cpu()};
}
test::DerivativeOptions no_narrow(double atol = 1e-6) { return {.atol = atol, .twice = on_cpu(), .narrow = false}; }

const auto says = [](const std::string& text) {
  return [text](const catena::Error& e) { return std::string(e.what()).find(text) != std::string::npos; };
};

// Well-conditioned matrices: numbers, with 3 added on the diagonal.
Array regular(const Shape& shape, int seed = 0) {
  Numbers v = to_vector<double>(spread(shape, -1, 1, seed));
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  for (std::size_t i = 0; i < v.size(); ++i)
    if (const auto at = std::int64_t(i) % (rows * columns); at / columns == at % columns)
      v[i] += 3 + double(at / columns);
  return array(v, shape);
}
Array product(const Array& a, const Array& b, bool ta = false, bool tb = false) { return matmul(a, b, ta, tb); }
Array positive(const Shape& shape, int seed = 0) {
  const Array a = regular(shape, seed);
  return product(a, a, false, true);
}
Variable symmetric(const Variable& a) { return (a + swapaxes(a, -2, -1)) * 0.5; }
Variable times(const Variable& a, const Variable& b, bool transb = false) { return matmul(a, b, {.transb = transb}); }

void check_equal(const Array& a, const Array& b, double tolerance = 1e-10) {
  BOOST_CHECK_NO_THROW(testing::assert_allclose(a, b, tolerance, tolerance));
}
// The sum of squares of the elements above (or below) the diagonal.
double beside_diagonal(const Array& a, bool above) {
  const Numbers v = to_vector<double>(a);
  const std::int64_t rows = a.shape(a.ndim() - 2), columns = a.shape(a.ndim() - 1);
  double sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const std::int64_t at = std::int64_t(i) % (rows * columns), row = at / columns, column = at % columns;
    if (above ? column > row : column < row) sum += v[i] * v[i];
  }
  return sum;
}
Array unit(const Array& like, std::int64_t n) {
  Shape shape = like.shape();
  shape[shape.size() - 2] = shape[shape.size() - 1] = n;
  Numbers v(std::size_t(catena::size_of(shape)), 0.0);
  for (std::size_t i = 0; i < v.size(); ++i)
    if (const auto at = std::int64_t(i) % (n * n); at / n == at % n) v[i] = 1;
  return array(v, shape);
}
Array with_columns_scaled(const Array& a, const Array& by) { return a * expand_dims(by, -2); }

}  // namespace

BOOST_AUTO_TEST_SUITE(matrix_functions)

BOOST_AUTO_TEST_CASE(factors_of_both_implementations) {
  for (LinalgExtension* e : {&linalg_extension(arrays::ones({1, 1})), &portable_linalg_extension()}) {
    for (const Shape& shape : {Shape{4, 4}, Shape{2, 3, 3}, Shape{1, 1}, Shape{0, 3, 3}, Shape{2, 0, 0}})
      BOOST_TEST_CONTEXT(shape) {
        const std::int64_t n = shape.back();
        const Array a = regular(shape), p = positive(shape), b = spread({n, 2}, -1, 1, 3);
        const Array l = e->cholesky(p);
        check_equal(product(l, l, false, true), p);
        BOOST_TEST(beside_diagonal(l, true) == 0);
        const LUFactors factors = e->lu(a, "test");
        check_equal(product(a, e->lu_solve(factors, b, false)), b + 0 * product(a, b));
        check_equal(product(a, e->lu_solve(factors, b, true), true), b + 0 * product(a, b));
        check_equal(product(l, e->solve_triangular(l, b, {.lower = true}, false)), b + 0 * product(a, b));
        check_equal(product(l, e->solve_triangular(l, b, {.lower = true}, true), true), b + 0 * product(a, b));
        const Arrays sld = e->slogdet(factors);
        check_equal(sld[0] * apply(catena::kernels::exp, {sld[1]}), e->det(a));
        const Arrays wv = e->eigh(p);
        check_equal(product(p, wv[1]), with_columns_scaled(wv[1], wv[0]), 1e-9);
        check_equal(product(wv[1], wv[1], true), unit(a, n));
      }
    for (const Shape& shape : {Shape{5, 3}, Shape{2, 3, 5}, Shape{3, 3}, Shape{0, 3}, Shape{4, 0}, Shape{1, 6}})
      BOOST_TEST_CONTEXT(shape) {
        const std::int64_t k = std::min(shape[shape.size() - 2], shape.back());
        // The second one has the rank 1.
        for (const Array& a :
             {regular(shape, 2),
              product(spread(shape, 1, 2), arrays::ones({shape.back(), shape.back()}, Dtype::float64))}) {
          const Arrays usv = e->svd(a), qr = e->qr(a);
          check_equal(product(with_columns_scaled(usv[0], usv[1]), usv[2]), a);
          check_equal(product(usv[0], usv[0], true), unit(a, k));
          check_equal(product(usv[2], usv[2], false, true), unit(a, k));
          check_equal(product(qr[0], qr[1]), a);
          check_equal(product(qr[0], qr[0], true), unit(a, k));
          BOOST_TEST(beside_diagonal(qr[1], false) == 0);
        }
      }
    // exp of a rotation's generator, and of a large diagonal matrix.
    const Array turn = array<double>({0, -30.5, 30.5, 0, -3, 0, 0, 2}, {2, 2, 2});
    check_equal(e->expm(turn),
                array<double>(
                    {std::cos(30.5), -std::sin(30.5), std::sin(30.5), std::cos(30.5), std::exp(-3), 0, 0, std::exp(2)},
                    {2, 2, 2}),
                1e-11);
    BOOST_CHECK_EXCEPTION(e->cholesky(array<double>({4, 2, 2, -1}, {2, 2})), catena::LinAlgError,
                          says("cholesky: the matrix of shape (2, 2) is not positive definite: its leading minor of "
                               "order 2 is not positive"));
    Array stack = regular({3, 2, 2});
    fill(slice(stack, 0, 1, 2), 1);
    BOOST_CHECK_EXCEPTION(e->lu(stack, "test"), catena::LinAlgError,
                          says("test: matrix (1,) of the stack of shape (2, 2) is singular: pivot 2"));
    BOOST_CHECK_EXCEPTION(e->solve_triangular(arrays::zeros({2, 2}), arrays::ones({2, 1}), {}, false),
                          catena::LinAlgError, says("is singular: an element of its diagonal is exactly 0"));
    BOOST_CHECK_EXCEPTION(e->qr(arrays::ones({2})), catena::ValueError, says("qr: shape (2,): a matrix has two axes"));
    for (const Dtype t : {Dtype::float32, Dtype::bfloat16}) {
      const Array a = astype(positive({2, 2}), t);
      BOOST_CHECK(e->cholesky(a).dtype() == t);
      BOOST_CHECK(e->svd(a)[1].dtype() == t);
      BOOST_CHECK(e->lu_solve(e->lu(a, "test"), a, true).dtype() == t);
    }
  }
}

BOOST_AUTO_TEST_CASE(derivatives_of_equations) {
  const auto of_one = [](Variable (*f)(const Variable&)) {
    return [f](const Variables& v) { return Variables{f(v[0])}; };
  };
  for (const Shape& shape : shapes({{2, 1, 2, 2}, {3, 3}, {0, 2, 2}, {1, 1}})) BOOST_TEST_CONTEXT(shape) {
      const Array a = regular(shape, 1), p = positive(shape, 2);
      for (const bool upper : {false, true})
        test::check_derivatives(
            "cholesky", [upper](const Variables& v) { return Variables{cholesky(symmetric(v[0]), {.upper = upper})}; },
            {p}, loose());
      test::check_derivatives("logdet", of_one(logdet), {p}, loose());
      test::check_derivatives("inv", of_one(inv), {a}, loose());
      test::check_derivatives("det", of_one(det), {a}, no_narrow(1e-5));
      test::check_derivatives(
          "slogdet", [](const Variables& v) { return Variables{slogdet(v[0]).logabsdet}; }, {a}, loose());
      const auto f = [](const Variables& v) { return Variables{solve(v[0], v[1])}; };
      test::check_derivatives("solve", f, {a, spread({shape.back(), 2}, -1, 1, 3)}, loose());
      test::check_derivatives("solve for a vector", f, {a, spread({shape.back()}, -1, 1, 3)}, loose());
    }
  const auto f = [](const Variables& v) { return Variables{solve(v[0], v[1])}; };
  test::check_derivatives("solve, broadcast", f, {regular({2, 1, 2, 2}), spread({3, 2, 1})}, no_narrow());
  for (const bool lower : {false, true})
    for (const bool trans : {false, true})
      for (const bool unit : {false, true}) BOOST_TEST_CONTEXT(lower << trans << unit) {
          const auto triangular = [&](const Variables& v) {
            return Variables{solve_triangular(v[0], v[1], {.lower = lower, .trans = trans, .unit_diagonal = unit})};
          };
          test::check_derivatives("solve_triangular", triangular, {regular({2, 3, 3}), spread({3, 2}, -1, 1, 4)},
                                  unit ? no_narrow() : loose());
        }
}

BOOST_AUTO_TEST_CASE(derivatives_of_factors) {
  // Functions that do not depend on the signs of the vectors.
  const auto of_eigh = [](const Variables& v) {
    const auto [w, q] = eigh(symmetric(v[0]));
    return Variables{q * q + times(q * expand_dims(sin(w), -2), q, true)};
  };
  const auto of_svd = [](const Variables& v) {
    const auto [u, s, vh] = svd(v[0]);
    return Variables{times(u * expand_dims(sin(s), -2), vh) + sum(square(u), -1, true) + sum(vh * vh, -2, true)};
  };
  const auto of_qr = [](const Variables& v) {
    const auto [q, r] = qr(v[0]);
    return Variables{times(q * q, r * r)};
  };
  for (const Shape& shape : shapes({{2, 2, 2}, {3, 3}, {0, 2, 2}, {1, 1}})) BOOST_TEST_CONTEXT(shape) {
      test::check_derivatives("eigh", of_eigh, {regular(shape, 1)}, no_narrow());
      test::check_derivatives(
          "eigvalsh", [](const Variables& v) { return Variables{eigvalsh(symmetric(v[0]))}; }, {regular(shape, 1)},
          loose());
      test::check_derivatives(
          "matrix_exp", [](const Variables& v) { return Variables{matrix_exp(v[0])}; }, {spread(shape, -1, 1, 2)},
          loose());
    }
  for (const Shape& shape : shapes({{4, 2}, {2, 4}, {2, 3, 3}})) BOOST_TEST_CONTEXT(shape) {
      const Array a = regular(shape, 3);
      test::check_derivatives("svd", of_svd, {a}, no_narrow(1e-5));
      test::check_derivatives(
          "svdvals", [](const Variables& v) { return Variables{svdvals(v[0])}; }, {a}, loose());
      test::check_derivatives("qr", of_qr, {a}, no_narrow(1e-4));
      test::check_derivatives(
          "pinv", [](const Variables& v) { return Variables{pinv(v[0])}; }, {a}, loose());
    }
  // Of constant rank 1: the function of two vectors.
  test::check_derivatives(
      "pinv of rank 1", [](const Variables& v) { return Variables{pinv(outer(v[0], v[1]), 1e-9)}; },
      {spread({3}, 1, 2), spread({2}, 1, 2, 5)}, no_narrow());
}

BOOST_AUTO_TEST_CASE(equal_values) {
  // The projection on the vectors of a double eigenvalue is the identity minus the projection on the other vector.
  const Array a = array<double>({1, 0, 0, 0, 1, 0, 0, 0, 4}, {3, 3}), g = spread({3, 3}, -1, 1, 1);
  Arrays gradients;
  for (const bool twice : {true, false}) {
    Variable x(a);
    const Variables v = split_axis(eigh(symmetric(x)).eigenvectors, {2}, 1);
    Variable y = twice ? times(v[0], v[0], true) : -times(v[1], v[1], true);
    y.set_grad(g);
    y.backward();
    gradients.push_back(x.grad());
  }
  BOOST_TEST(item(amax(gradients[0])).to<double>() > 0.02);
  check_equal(gradients[0], gradients[1]);
  // Functions of the values alone.
  Variable b(unit(g, 3) * 2);
  sum(square(eigvalsh(b))).backward();
  check_equal(b.grad(), unit(g, 3) * 4);
  Variable c(unit(g, 3) * 2);
  const auto [u, s, vh] = svd(c);
  sum(square(s) + sum(u, 0) * 0 + sum(vh, 0) * 0).backward();
  check_equal(c.grad(), unit(g, 3) * 4);
}

BOOST_AUTO_TEST_CASE(products_and_norms) {
  const auto two = [](Variable (*f)(const Variable&, const Variable&)) {
    return [f](const Variables& v) { return Variables{f(v[0], v[1])}; };
  };
  const test::DerivativeOptions o{.atol16 = 1e-2, .rtol16 = 2e-2};
  test::check_derivatives("dot", two(dot), {spread({2, 3}), spread({4, 3, 2}, -1, 1, 1)}, o);
  test::check_derivatives("dot with a number", two(dot), {spread({2, 3}), spread({}, -1, 1, 1)}, o);
  test::check_derivatives("inner", two(inner), {spread({2, 3}), spread({3}, -1, 1, 1)}, o);
  test::check_derivatives("vdot", two(vdot), {spread({2, 3}), spread({6}, -1, 1, 1)}, o);
  test::check_derivatives("outer", two(outer), {spread({2}), spread({0}, -1, 1, 1)}, o);
  test::check_derivatives("kron", two(kron), {spread({2}), spread({2, 3}, -1, 1, 1)}, o);
  test::check_derivatives("linalg_matmul", two(linalg_matmul), {spread({3}), spread({3}, -1, 1, 1)}, o);
  BOOST_CHECK(linalg_matmul(Variable(arrays::ones({3})), Variable(arrays::ones({2, 3, 4}))).shape() == (Shape{2, 4}));
  BOOST_CHECK(dot(Variable(arrays::ones({2, 3})), Variable(arrays::ones({4, 3, 5}))).shape() == (Shape{2, 4, 5}));
  for (const std::int64_t offset : {-4, -1, 0, 2})
    test::check_derivatives(
        "trace", [offset](const Variables& v) { return Variables{trace(v[0], offset, 2, 0)}; }, {spread({4, 2, 3})}, o);
  BOOST_TEST(double(trace(Variable(array<double>({1, 2, 3, 4, 5, 6}, {2, 3})), 1)) == 8);
  for (const double p : {1.0, 2.0, 3.0, 0.5, -2.0}) {
    const auto f = [p](const Variables& v) { return Variables{norm(v[0], p, 1)}; };
    test::check_derivatives("norm", f, {spread({2, 3}, 0.5, 2)}, o);
  }
  // A vector of zeros has the gradient 0.
  for (const double p : {2.0, 3.0, 1.0}) {
    Variable zero(arrays::zeros({3}, Dtype::float64));
    norm(zero, p).backward();
    BOOST_TEST(to_vector<double>(zero.grad()) == (Numbers{0, 0, 0}), boost::test_tools::per_element());
  }
  BOOST_CHECK(norm(Variable(arrays::ones({2, 3, 4})), {.axis = {0, 2}, .keepdims = true}).shape() == (Shape{1, 3, 1}));
  BOOST_CHECK_EXCEPTION(norm(Variable(arrays::ones({2, 2})), 3), catena::ValueError,
                        says("norm: the order 3 is none of matrices"));
  BOOST_CHECK_EXCEPTION(norm(Variable(arrays::ones({2})), "nuc"), catena::ValueError,
                        says("\"nuc\" is none of vectors"));
  BOOST_CHECK_THROW(norm(Variable(arrays::ones({2, 2, 2})), 2), catena::ValueError);
  BOOST_CHECK_THROW(norm(Variable(arrays::ones({2, 2})), 2, {0, 0}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(refused_operands) {
  const Variable a(regular({2, 2})), wide(arrays::ones({2, 3}, Dtype::float64)),
      number(arrays::ones({}, Dtype::float64));
  BOOST_CHECK_EXCEPTION(cholesky(wide), catena::InvalidType,
                        says("Cholesky (Forward)\n\nExpect: a.shape[-2] == a.shape[-1]\nActual: 2 != 3"));
  BOOST_CHECK_THROW(slogdet(wide), catena::InvalidType);
  BOOST_CHECK_THROW(eigh(wide), catena::InvalidType);
  BOOST_CHECK_THROW(matrix_exp(wide), catena::InvalidType);
  BOOST_CHECK_THROW(matrix_power(wide, 2), catena::InvalidType);
  BOOST_CHECK_THROW(svd(number), catena::InvalidType);
  BOOST_CHECK_THROW(qr(Variable(arrays::ones({2, 2}, Dtype::int32))), catena::InvalidType);
  BOOST_CHECK_THROW(pinv(Variable()), catena::TypeError);
  BOOST_CHECK_EXCEPTION(solve(a, Variable(arrays::ones({3, 2}, Dtype::float64))), catena::InvalidType,
                        says("Expect: a.shape[-2] == b.shape[-2]\nActual: 2 != 3"));
  BOOST_CHECK_THROW(solve(a, number), catena::InvalidType);
  BOOST_CHECK_THROW(solve(a, Variable(arrays::ones({2}))), catena::InvalidType);
  BOOST_CHECK_THROW(solve(Variable(regular({2, 2, 2})), Variable(regular({3, 2, 2}))), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(solve(Variable(arrays::ones({2, 2})), Variable(arrays::ones({2}))), catena::LinAlgError,
                        says("solve: the matrix of shape (2, 2) is singular"));
  BOOST_CHECK_THROW(cholesky(-a), catena::LinAlgError);
  BOOST_TEST(std::isnan(double(logdet(Variable(array<double>({0, 1, 1, 0}, {2, 2}))))));
  const auto [sign, logabsdet] = slogdet(Variable(arrays::ones({2, 2})));
  BOOST_TEST(double(sign) == 0);
  BOOST_TEST(double(logabsdet) == -std::numeric_limits<double>::infinity());
  BOOST_CHECK_EXCEPTION(multi_dot({a}), catena::ValueError, says("multi_dot: 1 operands given"));
  BOOST_CHECK_EXCEPTION(multi_dot({a, Variable(arrays::ones({2}, Dtype::float64)), a}), catena::ValueError,
                        says("operand 1 has the shape (2,)"));
  BOOST_CHECK_THROW(inner(a, wide), catena::InvalidType);
  BOOST_CHECK_THROW(trace(a, 0, 1, -1), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(golden_values) {
  if (!on_cpu()) return;
  const auto options = [](const test::GoldenCall& c) {
    const auto given = c.json()["args"]["ord"];
    const NormOrder ord = given.is_null() ? NormOrder()
                          : given.is_string() && given.get<std::string>().find("inf") == std::string::npos
                              ? NormOrder(given.get<std::string>() == "fro" ? "fro" : "nuc")
                              : NormOrder(c.number("ord", 0));
    return NormOptions{.ord = ord, .axis = c.axes("axis"), .keepdims = c.flag("keepdims", false)};
  };
  test::GoldenFunctions f;
  const auto one = [&f](const char* name, Variable (*function)(const Variable&)) {
    f[name] = [function](const test::GoldenCall& c) { return Variables{function(c.x(0))}; };
  };
  const auto two = [&f](const char* name, Variable (*function)(const Variable&, const Variable&)) {
    f[name] = [function](const test::GoldenCall& c) { return Variables{function(c.x(0), c.x(1))}; };
  };
  one("inv", inv);
  one("det", det);
  one("logdet", logdet);
  one("matrix_exp", matrix_exp);
  one("svdvals", svdvals);
  two("solve", solve);
  two("kron", kron);
  two("outer", outer);
  two("inner", inner);
  two("vdot", vdot);
  two("linalg_matmul", linalg_matmul);
  f["pinv"] = [](const test::GoldenCall& c) { return Variables{pinv(c.x(0))}; };
  f["pinv_of_product"] = [](const test::GoldenCall& c) { return Variables{pinv(times(c.x(0), c.x(1)))}; };
  f["lstsq"] = [](const test::GoldenCall& c) { return Variables{lstsq(c.x(0), c.x(1))}; };
  f["trace"] = [](const test::GoldenCall& c) { return Variables{trace(c.x(0))}; };
  f["multi_dot"] = [](const test::GoldenCall& c) { return Variables{multi_dot(c.xs())}; };
  f["norm"] = [options](const test::GoldenCall& c) {
    return Variables{c.has("keepdims") ? norm(c.x(0), options(c)) : norm(c.x(0))};
  };
  f["eigvalsh"] = [](const test::GoldenCall& c) { return Variables{eigvalsh(symmetric(c.x(0)))}; };
  f["cholesky"] = [](const test::GoldenCall& c) {
    return Variables{cholesky(symmetric(c.x(0)), {.upper = c.flag("upper", false)})};
  };
  f["matrix_power"] = [](const test::GoldenCall& c) { return Variables{matrix_power(c.x(0), c.integer("n", 0))}; };
  f["slogdet"] = [](const test::GoldenCall& c) {
    const auto [sign, logabsdet] = slogdet(c.x(0));
    return Variables{sign, logabsdet};
  };
  f["eigh"] = [](const test::GoldenCall& c) {
    const auto [w, v] = eigh(symmetric(c.x(0)));
    return Variables{w, v * v, times(v * expand_dims(sin(w), -2), v, true)};
  };
  f["svd"] = [](const test::GoldenCall& c) {
    const auto [u, s, vh] = svd(c.x(0));
    return Variables{s, u * u, vh * vh, times(u, vh)};
  };
  f["qr"] = [](const test::GoldenCall& c) {
    const auto [q, r] = qr(c.x(0));
    return Variables{q * q, r * r, sin(times(q, r))};
  };
  f["solve_triangular"] = [](const test::GoldenCall& c) {
    return Variables{solve_triangular(c.x(0), c.x(1),
                                      {.lower = c.flag("lower", false),
                                       .trans = c.flag("trans", false),
                                       .unit_diagonal = c.flag("unit_diagonal", false)})};
  };
  test::run_golden("torch_linear_algebra", f, {.once_only = {"norm"}});
}

BOOST_AUTO_TEST_SUITE_END()
