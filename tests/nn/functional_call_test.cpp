// Links with other parameters than their own, and gradients of single examples.
#include <catena/nn/functional_call.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/grad.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/loss.h>
#include <catena/nn/links/linear.h>
#include <catena/tests/support/message_of.h>

using namespace autograd;

namespace {

Variable doubles(const std::vector<double>& v, const Shape& shape) { return Variable(array<double>(v, shape)); }
std::vector<double> values(const Variable& v) { return to_vector<double>(v.data()); }
#define CHECK_SAME(a, b) BOOST_TEST(values(a) == values(b), boost::test_tools::per_element())

struct Net : nn::Chain {
  nn::Linear l1{2, 3}, l2{3, 1};
  NN_MEMBERS(l1, l2)
  Variable operator()(const Variable& x) { return l2(nn::tanh(l1(x))); }
};

// Parameters for a Net, in float64.
Variables other_parameters() {
  return {doubles({0.5, -1, 0.25, 2, 1, -0.5}, {3, 2}), doubles({0.1, 0.2, -0.3}, {3}), doubles({1, -2, 0.5}, {1, 3}),
          doubles({0.75}, {1})};
}
Variable formula(const Variables& p, const Variable& x) {
  const Variable h = tanh(matmul(x, transpose(p[0])) + p[1]);
  return matmul(h, transpose(p[2])) + p[3];
}

}  // namespace

BOOST_AUTO_TEST_SUITE(functional_call)

BOOST_AUTO_TEST_CASE(the_link_is_computed_with_the_given_parameters) {
  Net net;
  const Variables p = other_parameters();
  const Variable x = doubles({1, 2, -1, 0.5}, {2, 2});
  const std::vector<Variable> own = net.params();
  const Variable y = nn::functional_call(net, p, x);
  BOOST_TEST(y.dtype() == Dtype::float64);
  const std::vector<double> expected = values(formula(p, x));
  for (std::size_t i = 0; i < 2; ++i) BOOST_TEST(std::abs(values(y)[i] - expected[i]) < 1e-14);
  sum(y).backward();
  for (const Variable& v : p) BOOST_TEST(bool(v.grad()));
  for (std::size_t i = 0; i < own.size(); ++i) {
    BOOST_TEST(net.params()[i].is_same(own[i]));
    BOOST_TEST(!own[i].grad());
  }
  // Only some, by name, and a call that does more than the link.
  const Variable W2 = doubles({0, 0, 0}, {1, 3}), b2 = doubles({4}, {1});
  const std::vector<nn::NamedParam> named{{"/l2/W", cast(W2, Dtype::float32)}, {"/l2/b", cast(b2, Dtype::float32)}};
  const Variable z = nn::functional_call(net, named, [&] { return net(cast(x, Dtype::float32)) * 2; });
  CHECK_SAME(z, doubles({8, 8}, {2, 1}));
}

// A map of variables by PyTorch's names, of all parameters or of some.
BOOST_AUTO_TEST_CASE(parameters_by_their_names) {
  Net net;
  const Variables p = other_parameters();
  const Variable x = doubles({1, 2, -1, 0.5}, {2, 2});
  std::map<std::string, Variable> named;
  const std::vector<nn::NamedParam> names = net.named_parameters();
  for (std::size_t i = 0; i < p.size(); ++i) named[names[i].path] = p[i];
  CHECK_SAME(nn::functional_call(net, named, x), nn::functional_call(net, p, x));
  CHECK_SAME(
      nn::functional_call(net, {{"l1.weight", p[0]}, {"l1.bias", p[1]}, {"l2.weight", p[2]}, {"l2.bias", p[3]}}, x),
      nn::functional_call(net, p, x));
  const std::map<std::string, Variable> wrong{{"l3.weight", p[0]}};
  BOOST_CHECK_THROW(nn::functional_call(net, wrong, x), catena::KeyError);
}

BOOST_AUTO_TEST_CASE(its_own_parameters_come_back_after_errors) {
  Net net;
  const Variable x = doubles({1, 2}, {1, 2});
  const std::vector<Variable> own = net.params();
  const auto fails = [&]() -> Variable { catena::fail<catena::IOError>("read", "the disk is gone"); };
  BOOST_CHECK_THROW(nn::functional_call(net, other_parameters(), fails), catena::IOError);
  Variables wrong = other_parameters();
  wrong[3] = doubles({1, 2}, {2});
  BOOST_TEST(test::message_of<catena::ValueError>([&] { nn::functional_call(net, wrong, x); }) ==
             "functional_call: the parameter /l2/b has shape (1,), the variable (2,)");
  BOOST_TEST(test::message_of<catena::ValueError>([&] { nn::functional_call(net, Variables{x}, x); }) ==
             "functional_call: the link has 4 parameters, and 1 variables are given");
  BOOST_TEST(test::message_of<catena::KeyError>([&] {
               nn::functional_call(net, std::vector<nn::NamedParam>{{"/l3/W", x}}, x);
             }) == "functional_call: there is no parameter /l3/W (there are: /l1/W, /l1/b, /l2/W, /l2/b)");
  nn::Linear pending(3);
  BOOST_CHECK_THROW(nn::functional_call(pending, Variables{x, x}, x), catena::RuntimeError);
  for (std::size_t i = 0; i < own.size(); ++i) BOOST_TEST(net.params()[i].is_same(own[i]));
}

// Meta-learning: the derivative of the loss after a step of gradient descent, against central differences.
BOOST_AUTO_TEST_CASE(gradients_pass_through_a_step_of_gradient_descent) {
  Net net;
  const Variable x = doubles({1, 2, -1, 0.5}, {2, 2}), t = doubles({0.3, -0.2}, {2, 1});
  const Variable x2 = doubles({0.5, -1}, {1, 2}), t2 = doubles({1}, {1, 1});
  const auto after_a_step = [&](const Variables& p) {
    const Variable loss = nn::mean_squared_error(nn::functional_call(net, p, x), t);
    const Variables g = grad({loss}, p, {}, true);
    Variables adapted;
    for (std::size_t i = 0; i < p.size(); ++i) adapted.push_back(p[i] - g[i] * 0.1);
    return nn::mean_squared_error(nn::functional_call(net, adapted, x2), t2);
  };
  const Variables p = other_parameters();
  after_a_step(p).backward();
  for (std::size_t i = 0; i < p.size(); ++i)
    for (std::int64_t k = 0; k < p[i].size(); ++k) {
      Variables moved = other_parameters();
      double at[2];
      for (const int side : {0, 1}) {
        std::vector<double> v = values(p[i]);
        v[std::size_t(k)] += side == 0 ? -1e-6 : 1e-6;
        moved[i] = doubles(v, p[i].shape());
        at[side] = double(after_a_step(moved));
      }
      BOOST_TEST(std::abs(to_vector<double>(p[i].grad())[std::size_t(k)] - (at[1] - at[0]) / 2e-6) < 1e-7);
    }
}

BOOST_AUTO_TEST_CASE(gradients_of_single_examples) {
  Net net;
  const Variable x(array<float>({1, 2, -1, 0.5, 3, 1}, {3, 2})), t(array<float>({0, 1, 2}, {3, 1}));
  const auto loss = [&](const Variables& v) { return nn::mean_squared_error(net(v[0]), v[1]); };
  const Variables g = nn::per_example_grads(net, loss, {x, t});
  for (const Variable& p : net.params()) BOOST_TEST(!p.grad());
  BOOST_TEST(g.size() == 4u);
  BOOST_TEST(g[0].shape() == Shape({3, 3, 2}));
  for (std::int64_t i = 0; i < 3; ++i) {
    net.cleargrads();
    loss({x(Slice(i, i + 1)), t(Slice(i, i + 1))}).backward();
    for (std::size_t k = 0; k < 4; ++k)
      BOOST_TEST(to_vector<float>(g[k](i).data()) == to_vector<float>(net.params()[k].grad()),
                 boost::test_tools::per_element());
  }
  BOOST_CHECK_THROW(nn::per_example_grads(net, loss, {x, t(Slice(0, 2))}), catena::ValueError);
  BOOST_CHECK_THROW(nn::per_example_grads(net, loss, {}), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
