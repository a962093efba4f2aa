// Recurrent networks with PyTorch's options and results, beside PyTorch.
#include <boost/test/unit_test.hpp>

#include <catena/autograd/flag.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/testing.h>
#include <catena/nn/links/torch_recurrent.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::GoldenCall;
using test::spread;

namespace {

nn::RecurrentOptions options_of(const GoldenCall& c) {
  return {.num_layers = int(c.integer("num_layers", 1)),
          .bias = c.flag("bias", true),
          .batch_first = c.flag("batch_first", false),
          .bidirectional = c.flag("bidirectional", false)};
}
// Gives a link the matrices and biases of a case: "/0/w0" is "0.w0" there.
template <class L> L loaded(L link, const GoldenCall& c) {
  for (auto& [path, p] : link.namedparams()) {
    std::string name = path.substr(1);
    name[name.find('/')] = '.';
    const Array a = c.array(name);
    BOOST_TEST_REQUIRE(bool(a), path);
    p.set_data(a);
  }
  return link;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_recurrent)

BOOST_AUTO_TEST_CASE(golden_values_of_pytorch) {
  test::run_golden("torch_recurrent_links", {{"lstm",
                                              [](const GoldenCall& c) {
                                                auto lstm = loaded(nn::torch::LSTM(3, 4, options_of(c)), c);
                                                const auto [y, state] = lstm(c.x("x"), {c.x("h"), c.x("c")});
                                                return Variables{y, state.h, state.c};
                                              }},
                                             {"gru", [](const GoldenCall& c) {
                                                auto gru = loaded(nn::torch::GRU(3, 4, options_of(c)), c);
                                                const auto [y, h] = gru(c.x("x"), c.x("h"));
                                                return Variables{y, h};
                                              }}});
}

BOOST_AUTO_TEST_CASE(without_biases) {
  nn::RNN rnn(3, 4, {.num_layers = 2, .bias = false, .bidirectional = true});
  for (const auto& [path, p] : rnn.namedparams()) BOOST_TEST(path.find("b") == std::string::npos, path);
  BOOST_TEST(rnn.params().size() == 8u);
  const auto [y, h] = rnn(Variable(zeros({5, 2, 3}, Dtype::float32)));
  BOOST_TEST(y.shape() == (Shape{5, 2, 8}));
  BOOST_TEST(to_vector<double>(y.data()) == std::vector<double>(80, 0.0), boost::test_tools::per_element());
  rnn.to_dtype(Dtype::float64);
  BOOST_TEST((rnn(Variable(zeros({5, 2, 3}, Dtype::float64))).state.dtype() == Dtype::float64));
}

// The states of one call continue in the next one.
BOOST_AUTO_TEST_CASE(parts_of_a_sequence) {
  nn::torch::LSTM lstm(3, 4, {.num_layers = 2});
  const Variable x(astype(spread({5, 2, 3}), Dtype::float32));
  const auto [whole, last] = lstm(x);
  const auto [first, state] = lstm(x(Slice(0, 2)));
  const auto [rest, end] = lstm(x(Slice(2, 5)), {state.h, state.c});
  BOOST_CHECK_NO_THROW(testing::assert_allclose(rest.data(), whole(Slice(2, 5)).data(), 1e-6, 1e-6));
  BOOST_CHECK_NO_THROW(testing::assert_allclose(end.c.data(), last.c.data(), 1e-6, 1e-6));
  BOOST_CHECK_EQUAL(first.shape(), (Shape{2, 2, 4}));
  sum(whole).backward();
  for (const Variable& p : lstm.params()) BOOST_TEST(bool(p.grad()));
}

BOOST_AUTO_TEST_CASE(dropout_between_the_layers) {
  nn::torch::GRU gru(3, 4, {.num_layers = 2, .dropout = 0.5});
  const Variable x(ones({6, 8, 3}));
  const auto sum_of = [&] { return item(sum(gru(x).output.data())).to_double(); };
  BOOST_TEST(sum_of() != sum_of());
  const auto testing_mode = train_mode(false);
  BOOST_TEST(sum_of() == sum_of());
}

BOOST_AUTO_TEST_CASE(copies_and_errors) {
  nn::torch::LSTM lstm(3, 4, {.batch_first = true, .bidirectional = true});
  nn::torch::LSTM other = lstm;
  const Array x = ones({2, 5, 3});
  BOOST_CHECK_EQUAL(other(x).output.shape(), (Shape{2, 5, 8}));
  BOOST_CHECK_EQUAL(other(x).state.h.shape(), (Shape{2, 2, 4}));
  BOOST_CHECK_NO_THROW(testing::assert_allclose(other(x).output.data(), lstm(x).output.data(), 0, 0));
  BOOST_CHECK_EQUAL(lstm(ones({1, 1, 3})).output.shape(), (Shape{1, 1, 8}));
  BOOST_TEST(lstm.params().size() == 32u);
  BOOST_CHECK_THROW(lstm(ones({5, 3})), catena::InvalidType);
  BOOST_CHECK_THROW(lstm(ones({2, 5, 4})), catena::InvalidType);
  BOOST_CHECK_THROW(lstm(ones({2, 0, 3})), catena::ValueError);
  BOOST_CHECK_THROW(lstm(x, {ones({1, 2, 4}), ones({2, 2, 4})}), catena::InvalidType);
  BOOST_CHECK_THROW(lstm.call({Variable(x)}), catena::TypeError);
}

BOOST_AUTO_TEST_SUITE_END()
