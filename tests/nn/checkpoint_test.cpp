// Sequences of which parts are computed again in backward.
#include <catena/nn/checkpoint.h>

#include <catena/autograd/functions/reduction.h>
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
    for (auto& [name, link] : net.children()) result.push_back(std::exchange(dynamic_cast<Counting&>(*link).calls, 0));
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

BOOST_AUTO_TEST_SUITE_END()
