// Link::to_dtype.
#include <boost/test/unit_test.hpp>

#include <catena/autograd/functions/reduction.h>
#include <catena/nn/links/batch_normalization.h>
#include <catena/nn/links/linear.h>

using namespace autograd;

BOOST_AUTO_TEST_SUITE(to_dtype)

BOOST_AUTO_TEST_CASE(parameters_gradients_and_statistics_are_converted) {
  struct Net : nn::Chain {
    nn::Linear l1{3, 4}, l2{2};  // the second one has no shape yet
    nn::BatchNormalization bn{4};
    NN_MEMBERS(l1, l2, bn)
    Variable operator()(const Variable& x) { return l2(bn(l1(x))); }
  } net;
  const Variable W = net.l1.W;
  W.data();
  Variable(W).set_grad(full_like(W.data(), 0.5));
  const std::vector<double> before = to_vector<double>(astype(W.data(), Dtype::bfloat16));
  net.to_dtype(Dtype::bfloat16);
  BOOST_TEST(W.dtype() == Dtype::bfloat16);
  BOOST_TEST(net.l1.W.is_same(W));
  BOOST_TEST(to_vector<double>(W.data()) == before, boost::test_tools::per_element());
  BOOST_TEST(W.grad().dtype() == Dtype::bfloat16);
  BOOST_TEST(net.bn.avg_var.array().dtype() == Dtype::bfloat16);
  const Variable y = net(Variable(arrays::ones({5, 3}, Dtype::bfloat16)));
  BOOST_TEST(y.dtype() == Dtype::bfloat16);
  BOOST_TEST(net.l2.W.dtype() == Dtype::bfloat16);
  BOOST_TEST(std::abs(to_vector<double>(net.l2.W.data())[0]) > 0);
  net.to_dtype(Dtype::float32);
  BOOST_TEST(net(Variable(arrays::ones({5, 3}, Dtype::float32))).dtype() == Dtype::float32);
  BOOST_CHECK_THROW(net.to_dtype(Dtype::int32), catena::TypeError);
}

BOOST_AUTO_TEST_SUITE_END()
