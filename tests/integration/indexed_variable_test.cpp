// Assignments to items of variables, x[0] = v, and results of linalg with PyTorch's names. Values by hand.
#include <boost/test/unit_test.hpp>
#include <vector>

#include <catena/catena.h>

using autograd::Slice;
using autograd::Variable;

namespace {

Variable counted() { return autograd::arange(6).reshape({2, 3}); }
void check(const Variable& x, const std::vector<double>& expected) {
  BOOST_TEST(autograd::to_vector<double>(x.data()) == expected, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(indexed_variable)

BOOST_AUTO_TEST_CASE(assignments_write_elements) {
  Variable x = counted();
  x[0] = 7;
  check(x, {7, 7, 7, 3, 4, 5});
  x[1][2] = 9;
  check(x, {7, 7, 7, 3, 4, 9});
  x(0, 1) = x(1, 0);
  check(x, {7, 3, 7, 3, 4, 9});
  x[{Slice(), 2}] = nd::array({1, 2});
  check(x, {7, 3, 1, 3, 4, 2});
  x[{autograd::tensor({0, 1}), autograd::tensor({0, 1})}] = autograd::tensor({-1, -2});
  check(x, {-1, 3, 1, 3, -2, 2});
  x[x < 0] = 0;
  check(x, {0, 3, 1, 3, 0, 2});
  x[{0, 1}] = 5;  // rows
  check(x, {5, 5, 5, 5, 5, 5});
  Variable flags = autograd::zeros({2, 2}, {.dtype = autograd::bool_});
  flags[{1, Slice(1, nd::None)}] = true;
  check(flags, {0, 0, 0, 1});
}

BOOST_AUTO_TEST_CASE(updates_write_elements) {
  Variable x = counted();
  x[0] += 10;
  x(1, 0) -= x(1, 1);
  x[1] *= 2;
  check(x, {10, 11, 12, -2, 8, 10});
  Variable y = autograd::tensor({2.0, 4.0});
  y[1] /= 8;
  check(y, {2, 0.5});
}

// A named item is a variable of its own.
BOOST_AUTO_TEST_CASE(named_items_are_assigned) {
  Variable x = counted();
  auto row = x[0];
  row = x[1];
  check(row, {3, 4, 5});
  row = row + 1;
  row += 1;
  check(row, {5, 6, 7});
  check(x, {0, 1, 2, 3, 4, 5});
  std::vector<Variable> rows{x[0], x[1]};
  rows[0] = x[1];
  check(x, {0, 1, 2, 3, 4, 5});
  check(autograd::stack(rows), {3, 4, 5, 3, 4, 5});
}

BOOST_AUTO_TEST_CASE(variables_with_gradients) {
  Variable x = autograd::tensor({1.0, 2.0}, {.requires_grad = true});
  BOOST_CHECK_THROW(x[0] = 3, catena::RuntimeError);
  check(x, {1, 2});
  Variable plain = autograd::tensor({1.0, 2.0});
  BOOST_CHECK_THROW(plain[0] = x[1], catena::RuntimeError);
  {
    auto guard = autograd::no_grad();
    x[0] = 3;
  }
  check(x, {3, 2});
  x[0].backward();
  check(Variable(x.grad()), {1, 0});
  BOOST_CHECK_THROW(plain[2] = 0, catena::IndexError);
  BOOST_CHECK_THROW((plain[{Slice(), 0}] = 0), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(results_of_linalg) {
  const Variable a = autograd::tensor({{3.0, 0.0}, {0.0, -2.0}, {0.0, 0.0}}),
                 b = autograd::tensor({{6.0}, {4.0}, {1.0}});
  check(autograd::linalg::lstsq(a, b).solution, {2, -2});
  const Variable x = autograd::linalg::lstsq(a, b);
  check(x, {2, -2});
  const auto [U, S, Vh] = autograd::linalg::svd(a, {.full_matrices = false});
  check(S, {3, 2});
  BOOST_TEST(U.shape() == (nd::Shape{3, 2}));
  BOOST_TEST(Vh.shape() == (nd::Shape{2, 2}));
  BOOST_CHECK_THROW(autograd::linalg::svd(a, {.full_matrices = true}), catena::NotImplementedError);
  BOOST_CHECK_THROW(autograd::linalg::svd(a), catena::NotImplementedError);
  BOOST_TEST(autograd::svd(a).U.shape() == (nd::Shape{3, 2}));
  check(autograd::linalg::svd(a[Slice(2)]).S, {3, 2});
  check(autograd::linalg::svd(a[Slice(2)], {.full_matrices = true}).S, {3, 2});
  // The first axis has the length 3, too.
  const Variable u = autograd::tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}, {7.0, 8.0, 10.0}}),
                 v = autograd::tensor({{2.0, 0.0, 1.0}, {1.0, 3.0, 1.0}, {0.0, 1.0, 4.0}});
  const std::vector<double> of_rows = {2, 5, -4, -13, 2, 7, 22, -28, 7};
  check(autograd::linalg::cross(u, v), of_rows);
  check(autograd::linalg::cross(u.t(), v.t(), {.dim = 0}).t(), of_rows);
  check(autograd::linalg::cross(u.t(), v.t(), 0).t(), of_rows);
  BOOST_CHECK_THROW(autograd::linalg::cross(u.narrow(1, 0, 2), v.narrow(1, 0, 2)), catena::ValueError);
  check(autograd::linalg::vander(autograd::tensor({2.0, 3.0, 5.0})), {1, 2, 4, 1, 3, 9, 1, 5, 25});
  check(autograd::linalg::vander(autograd::tensor({2.0, 3.0, 5.0}), {.N = 2}), {1, 2, 1, 3, 1, 5});
  check(autograd::linalg::vander(autograd::tensor({{2.0, 3.0}, {5.0, 7.0}})), {1, 2, 1, 3, 1, 5, 1, 7});
}

BOOST_AUTO_TEST_CASE(norms_of_lists) {
  const Variable w = autograd::zeros({2}, {.requires_grad = true});
  (w * autograd::tensor({3.0F, 4.0F})).sum().backward();
  BOOST_TEST(double(nn::utils::clip_grad_norm_({w}, 1.0)) == 5.0);
  BOOST_TEST(autograd::to_vector<double>(w.grad())[1] == 0.8, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_SUITE_END()
