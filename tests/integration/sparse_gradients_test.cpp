// Differentiable products of sparse matrices against those of the same dense ones.
#include <catena/autograd/ndarray_backend/sparse.h>
#include <catena/catena.h>

#include <boost/test/unit_test.hpp>

#include <catena/tests/support/framework_derivatives.h>

using autograd::Variable;
using autograd::Variables;

BOOST_AUTO_TEST_SUITE(sparse_gradients)

BOOST_AUTO_TEST_CASE(products) {
  const nd::Array data = nd::array({1.5, -2.0, 0.5, 3.0, 1.0}), columns = nd::array({0, 3, 2, 0, 1}),
                  rows = nd::array({0, 2, 2, 5});
  const nd::sparse::csr_matrix a({data, columns, rows}, {3, 4});
  const nd::Array x = autograd::Array(test::spread({4, 2})), gy = autograd::Array(test::spread({3, 2}, -1, 1, 1));
  // The gradients of the stored elements are elements of the gradient of the dense matrix.
  const Variable dense(a.toarray()), right(x), values(data), sparse_right(x);
  Variable y = autograd::matmul(dense, right), z = autograd::sparse_matmul(a, values, sparse_right);
  autograd::testing::assert_allclose(z.data(), y.data(), 1e-12, 1e-12);
  y.set_grad(gy);
  z.set_grad(gy);
  y.backward();
  z.backward();
  autograd::testing::assert_allclose(sparse_right.grad(), right.grad(), 1e-12, 1e-12);
  const nd::Array at = nd::array({0, 0, 2, 2, 2});
  autograd::testing::assert_allclose(values.grad(), nd::Array(dense.grad())(at, columns), 1e-12, 1e-12);
  const auto f = [&](const Variables& v) { return Variables{autograd::sparse_matmul(a, v[0], v[1])}; };
  test::check_derivatives("sparse_matmul", f, {data, x}, {.narrow = false});
  test::check_derivatives("sparse_matmul with a vector", f, {data, nd::Array(x(nd::_, 0))}, {.narrow = false});
  test::check_derivatives("sparse_matmul of constants",
                          [&](const Variables& v) { return Variables{autograd::sparse_matmul(a, v[0])}; }, {x},
                          {.narrow = false});
}

BOOST_AUTO_TEST_CASE(refused_operands) {
  const nd::sparse::csr_matrix a = nd::sparse::eye(3, 4);
  BOOST_CHECK_THROW(autograd::sparse_matmul(a, Variable(nd::ones({3, 2}))), catena::InvalidType);
  BOOST_CHECK_THROW(autograd::sparse_matmul(a, Variable(nd::ones({4, 2}, nd::float32))), catena::InvalidType);
  BOOST_CHECK_THROW(autograd::sparse_matmul(a, Variable(nd::ones(2)), Variable(nd::ones(4))), catena::InvalidType);
  BOOST_CHECK_THROW(autograd::sparse_matmul(a.astype(nd::int64), Variable(nd::ones(4, nd::int64))),
                    catena::InvalidType);
}

BOOST_AUTO_TEST_SUITE_END()
