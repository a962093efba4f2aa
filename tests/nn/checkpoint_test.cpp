// Sequences of which parts are computed again in backward.
#include <catena/nn/checkpoint.h>

#include <catena/autograd/derivatives.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

// Counts its calls.
struct Counting : nn::Linear {
  int calls = 0;
  Counting() : nn::Linear(3, 3) {}
  NN_MEMBERS_OF(nn::Linear)
  Variable operator()(const Variable& x) {
    ++calls;
    return nn::Linear::operator()(x);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoints)

BOOST_AUTO_TEST_CASE(parts_are_computed_again) {
  nn::Sequential net;
  for (int i = 0; i < 5; ++i) {
    net.append(Counting());
    net.append([](const Variable& x) { return nn::dropout(nn::tanh(x), {.ratio = 0.3}); });
  }
  const auto calls = [&] {
    std::vector<int> result;
    for (auto& [name, link] : net.named_children())
      result.push_back(std::exchange(dynamic_cast<Counting&>(*link).calls, 0));
    return result;
  };
  const Array a = floats({1, -2, 0.5f, 3, 0, 1}, {2, 3});
  // Returns the result and all gradients.
  const auto run = [&](auto&& f) {
    autograd::seed(3);
    Variable x(a);
    net.cleargrads();
    const Variable y = f(x);
    y.sum().backward();
    std::vector<Array> all{y.data(), x.grad()};
    for (const Variable& p : net.params()) all.push_back(p.grad());
    return all;
  };
  const std::vector<Array> expected = run([&](const Variable& x) { return net(x); });
  calls();
  const auto check = [&](const nn::CheckpointOptions& o, const std::vector<int>& number_of_calls) {
    const std::vector<Array> result = run([&](const Variable& x) { return nn::checkpoint_sequential(net, x, o); });
    for (std::size_t i = 0; i < expected.size(); ++i) BOOST_TEST(same_bits(result[i], expected[i]));
    BOOST_TEST(calls() == number_of_calls, boost::test_tools::per_element());
  };
  check({}, {1, 1, 1, 1, 1});
  check({.segments = 2}, {2, 2, 2, 1, 1});  // 5 and 5 elements: the third link is in the first part
  check({.segments = 10}, {2, 2, 2, 2, 2});
  // The whole as one function, under the names of PyTorch and Chainer.
  const auto whole = [&](const Variable& x) { return net(x); };
  for (const bool torch : {true, false}) {
    const std::vector<Array> result =
        run([&](const Variable& x) { return torch ? nn::utils::checkpoint(whole, x) : nn::forget(whole, x); });
    for (std::size_t i = 0; i < expected.size(); ++i) BOOST_TEST(same_bits(result[i], expected[i]));
    BOOST_TEST(calls() == (std::vector<int>{2, 2, 2, 2, 2}), boost::test_tools::per_element());
  }
  check({.keep = [](std::int64_t i, const auto&) { return i == 3; }}, {2, 2, 1, 1, 1});
  check({.keep = [](std::int64_t, const nn::Sequential::Element& e) { return e.is_link(); }}, {2, 2, 2, 2, 2});
  check({.keep = [](std::int64_t, const auto&) { return false; }}, {1, 1, 1, 1, 1});
  BOOST_CHECK_THROW(nn::checkpoint_sequential(net, Variable(a), {.segments = 11}), catena::ValueError);
  BOOST_CHECK_THROW(nn::checkpoint_sequential(net, Variable(a), {.segments = 0}), catena::ValueError);
  BOOST_CHECK_THROW(nn::checkpoint_sequential(nn::Sequential(), Variable(a)), catena::ValueError);
}

// Every policy gives the values, the gradients and the second derivatives of the plain call.
BOOST_AUTO_TEST_CASE(policies) {
  namespace policies = autograd::checkpoint_policies;
  const Variable x(spread({2, 3, 5, 5})), W(spread({4, 3, 3, 3}, -1, 1, 1)), b(spread({4}, -1, 1, 2));
  const Variable V(spread({3, 36}, -1, 1, 3)), c(spread({3}, -1, 1, 4)), D(spread({3, 2}, -1, 1, 5));
  const auto f = [](const Variable& x, const Variable& W, const Variable& b, const Variable& V, const Variable& c,
                    const Variable& D) {
    const Variable h = nn::tanh(nn::convolution_2d(x, W, b));
    const Variable up = nn::deconvolution_2d(h, W);
    const Variable y = nn::dropout(nn::tanh(nn::linear(h, V, c)), {.ratio = 0.3});
    return autograd::matmul(y, D) + autograd::sum(up * up);
  };
  const auto derivatives = [&](const auto& call) {
    autograd::seed(5);
    const Variable y = call(x, W, b, V, c, D);
    Variables all = autograd::grad({y}, {x, W, b, V, c, D}, {Variable(spread({2, 2}, 0.5, 1.5, 6))}, true);
    const Variables second = autograd::grad({autograd::sum(all[0] * all[0])}, {x, W, V, D});
    for (const Variable& g : second) all.push_back(g);
    all.push_back(y);
    return all;
  };
  const Variables expected = derivatives(f);
  const std::vector<autograd::CheckpointPolicy> all = {
      policies::nothing_saveable, policies::dots_saveable, policies::everything_saveable,
      policies::save_only_these_labels({"LinearFunction"}),
      autograd::CheckpointPolicy([](std::string_view label) { return label != "LinearFunction"; })};
  for (const autograd::CheckpointPolicy& policy : all) {
    const Variables result = derivatives(autograd::checkpoint(f, {.policy = policy}));
    BOOST_REQUIRE(result.size() == expected.size());
    for (std::size_t k = 0; k < result.size(); ++k)
      check_close(result[k].data(), expected[k].data(), 1e-11, 1e-11, "policy");
  }
  BOOST_CHECK_THROW(autograd::CheckpointPolicy(autograd::CheckpointPolicy::Chooses()), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(a_call_at_once) {
  Variable x(spread({2, 3})), b(spread({2, 3}, -1, 1, 1));
  int calls = 0;
  const auto f = [&calls](const Variable& v, const Variable& w) {
    ++calls;
    return nn::tanh(v * w);
  };
  const Variable y = autograd::checkpoint(f, x, b);
  BOOST_TEST(calls == 1);
  autograd::sum(y).backward();
  BOOST_TEST(calls == 2);
  const Array slope = (b * (1 - y * y)).data();
  check_close(x.grad(), slope, 1e-12, 1e-12, "checkpoint");
}

BOOST_AUTO_TEST_CASE(arguments_of_pytorch) {
  nn::Sequential net;
  for (int i = 0; i < 4; ++i) net.append(Counting());
  Variable x(floats({1, -2, 0.5f, 3, 0, 1}, {2, 3})), other(floats({1, -2, 0.5f, 3, 0, 1}, {2, 3}));
  const Variable y = nn::checkpoint_sequential(net, 2, x),
                 expected = nn::checkpoint_sequential(net, other, {.segments = 2});
  BOOST_TEST(values(y.data()) == values(expected.data()), boost::test_tools::per_element());
  y.sum().backward();
  expected.sum().backward();
  BOOST_TEST(values(x.grad()) == values(other.grad()), boost::test_tools::per_element());
  BOOST_CHECK_THROW(nn::checkpoint_sequential(net, 5, x), catena::ValueError);
  int calls = 0;
  const auto f = [&](const Variable& v) {
    ++calls;
    return v * v;
  };
  Variable z(floats({1, 2, 3}, {3}));
  const Variable squares = autograd::checkpoint(f, z, {.use_reentrant = false});
  BOOST_TEST(calls == 1);
  squares.sum().backward();
  BOOST_TEST(calls == 2);
  BOOST_TEST(values(z.grad()) == (std::vector<double>{2, 4, 6}), boost::test_tools::per_element());
}

// A weight that changes before backward shows which products are computed again: tanh' reads the product.
BOOST_AUTO_TEST_CASE(kept_products) {
  namespace policies = autograd::checkpoint_policies;
  const auto slope = [](const autograd::CheckpointPolicy& policy) {
    Variable x(spread({2, 3})), W(spread({4, 3}, -1, 1, 1), {.requires_grad = false});
    const auto f = [&](const Variable& v) { return nn::tanh(nn::linear(v, W)); };
    const Variable y = autograd::checkpoint(f, {.policy = policy})(x);
    autograd::fill(W.data(), 0.25);
    autograd::sum(y).backward();
    return x.grad();
  };
  // 1 - tanh(h)^2 of the old or the new product, times the new weight.
  const auto expected = [](bool old) {
    const Variable x(spread({2, 3})), W(spread({4, 3}, -1, 1, 1)),
        after(autograd::arrays::full({4, 3}, 0.25, Dtype::float64));
    const Variable y = nn::tanh(nn::linear(x, old ? W : after));
    return autograd::matmul(1 - y * y, after).data();
  };
  check_close(slope(policies::nothing_saveable), expected(false), 1e-12, 1e-12, "nothing");
  check_close(slope(policies::dots_saveable), expected(true), 1e-12, 1e-12, "products");
  check_close(slope(policies::save_only_these_labels({"LinearFunction"})), expected(true), 1e-12, 1e-12, "linear");
  check_close(slope(policies::save_only_these_labels({"Convolution2DFunction"})), expected(false), 1e-12, 1e-12,
              "other");
}

BOOST_AUTO_TEST_CASE(policies_of_sequences) {
  nn::Sequential net(nn::Linear(3, 4), nn::tanh, nn::Linear(4, 4), nn::tanh, nn::Linear(4, 2));
  const Array a = floats({1, -2, 0.5f, 3, 0, 1}, {2, 3});
  const auto run = [&](const nn::CheckpointOptions& o) {
    net.cleargrads();
    Variable x(a);
    nn::checkpoint_sequential(net, x, o).sum().backward();
    std::vector<Array> all{x.grad()};
    for (const Variable& p : net.params()) all.push_back(p.grad());
    return all;
  };
  const std::vector<Array> expected = run({});
  for (const auto policy :
       {autograd::checkpoint_policies::dots_saveable, autograd::checkpoint_policies::nothing_saveable}) {
    const std::vector<Array> result = run({.segments = 2, .policy = policy});
    for (std::size_t i = 0; i < expected.size(); ++i) check_close(result[i], expected[i], 1e-6, 1e-6, "sequence");
  }
}

BOOST_AUTO_TEST_SUITE_END()
