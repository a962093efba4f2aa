// Recurrent networks with PyTorch's options and results, beside PyTorch.
#include <boost/test/unit_test.hpp>

#include <catena/autograd/flag.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/testing.h>
#include <catena/nn/links/gru.h>
#include <catena/nn/links/lstm.h>
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
  const auto [y, h] = rnn(Variable(arrays::zeros({5, 2, 3}, Dtype::float32)));
  BOOST_TEST(y.shape() == (Shape{5, 2, 8}));
  BOOST_TEST(to_vector<double>(y.data()) == std::vector<double>(80, 0.0), boost::test_tools::per_element());
  rnn.to_dtype(Dtype::float64);
  BOOST_TEST((rnn(Variable(arrays::zeros({5, 2, 3}, Dtype::float64))).state.dtype() == Dtype::float64));
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
  const Variable x(arrays::ones({6, 8, 3}));
  const auto sum_of = [&] { return item(sum(gru(x).output.data())).to_double(); };
  BOOST_TEST(sum_of() != sum_of());
  const auto testing_mode = train_mode(false);
  BOOST_TEST(sum_of() == sum_of());
}

BOOST_AUTO_TEST_CASE(copies_and_errors) {
  nn::torch::LSTM lstm(3, 4, {.batch_first = true, .bidirectional = true});
  nn::torch::LSTM other = lstm;
  const Array x = arrays::ones({2, 5, 3});
  BOOST_CHECK_EQUAL(other(x).output.shape(), (Shape{2, 5, 8}));
  BOOST_CHECK_EQUAL(other(x).state.h.shape(), (Shape{2, 2, 4}));
  BOOST_CHECK_NO_THROW(testing::assert_allclose(other(x).output.data(), lstm(x).output.data(), 0, 0));
  BOOST_CHECK_EQUAL(lstm(arrays::ones({1, 1, 3})).output.shape(), (Shape{1, 1, 8}));
  BOOST_TEST(lstm.params().size() == 32u);
  BOOST_CHECK_THROW(lstm(arrays::ones({5, 3})), catena::InvalidType);
  BOOST_CHECK_THROW(lstm(arrays::ones({2, 5, 4})), catena::InvalidType);
  BOOST_CHECK_THROW(lstm(arrays::ones({2, 0, 3})), catena::ValueError);
  BOOST_CHECK_THROW(lstm(x, {arrays::ones({1, 2, 4}), arrays::ones({2, 2, 4})}), catena::InvalidType);
  BOOST_CHECK_THROW(lstm.call({Variable(x)}), catena::TypeError);
}

// nn::LSTM and nn::GRU with PyTorch's options are the networks of nn::torch, by whatever option they are made.
BOOST_AUTO_TEST_CASE(links_with_options_of_pytorch) {
  const nn::RecurrentOptions options{.num_layers = 2, .batch_first = true, .bidirectional = true};
  nn::torch::LSTM lstm(3, 5, options);
  nn::LSTM link(3, 5, options);
  link.layers->copyparams(lstm);
  const Variable x(astype(spread({4, 7, 3}), Dtype::float32)), h(astype(spread({4, 4, 5}), Dtype::float32));
  const auto [expected, last] = lstm(x, {h, h * 2});
  const auto [output, state] = link(x, {h, h * 2});
  const auto [hn, cn] = state;
  BOOST_CHECK_EQUAL(output.shape(), (Shape{4, 7, 10}));
  testing::assert_allclose(output.data(), expected.data(), 0, 0);
  testing::assert_allclose(hn.data(), last.h.data(), 0, 0);
  testing::assert_allclose(cn.data(), last.c.data(), 0, 0);
  BOOST_TEST(link.params().size() == lstm.params().size());
  BOOST_TEST(!link.h);
  sum(output).backward();
  for (const auto& [path, p] : link.namedparams()) BOOST_TEST(bool(p.grad()), path);
  // A copy has its own parameters, and the base class calls the same function.
  nn::LSTM copied = link;
  BOOST_TEST(!copied.layers->params()[0].is_same(link.layers->params()[0]));
  testing::assert_allclose(link.call({x}).data(), lstm(x).output.data(), 0, 0);
  // A matrix is a sequence without a batch.
  const auto [single, end] = link(x[0]);
  testing::assert_allclose(single.data(), lstm(x).output[0].data(), 1e-6, 1e-6);
  BOOST_CHECK_EQUAL(end.h.shape(), (Shape{4, 5}));
  BOOST_CHECK_EQUAL(nn::LSTM(3, 5, 2)(x).state.c.shape(), (Shape{2, 7, 5}));
  BOOST_CHECK_THROW(nn::LSTM(std::nullopt, 5, {.num_layers = 2}), catena::TypeError);

  nn::torch::GRU gru(3, 5, options);
  nn::GRU units(3, 5, options);
  units.layers->copyparams(gru);
  const auto [y, hy] = units(x, h);
  testing::assert_allclose(y.data(), gru(x, h).output.data(), 0, 0);
  testing::assert_allclose(hy.data(), gru(x, h).state.data(), 0, 0);
  testing::assert_allclose(units(x[1]).data(), gru(x).output[1].data(), 1e-6, 1e-6);
  BOOST_CHECK_EQUAL(nn::GRU(3, 5, 2)(x).state.shape(), (Shape{2, 7, 5}));
  BOOST_CHECK_THROW(nn::GRU(3, std::nullopt, {.num_layers = 2}), catena::TypeError);
}

// Without options: a whole sequence gives what the calls for its times give, from the states of zeros or given ones.
BOOST_AUTO_TEST_CASE(sequences_of_a_stateful_lstm) {
  nn::LSTM lstm(3, 4);
  const Variable x(astype(spread({5, 2, 3}), Dtype::float32));
  const auto [output, state] = lstm(x);
  BOOST_CHECK_EQUAL(output.shape(), (Shape{5, 2, 4}));
  BOOST_CHECK_EQUAL(state.h.shape(), (Shape{1, 2, 4}));
  BOOST_TEST(!lstm.h);  // the states of the link are those of the calls for times alone
  for (int t = 0; t < 5; ++t) {
    const auto [h, last] = lstm(x[t]);
    testing::assert_allclose(h.data(), output[t].data(), 1e-6, 1e-6);
    BOOST_TEST(last.h.is_same(lstm.h));
  }
  testing::assert_allclose(lstm.c.data(), state.c[0].data(), 1e-6, 1e-6);
  const auto [first, middle] = lstm(x(Slice(0, 2)));
  const auto [rest, end] = lstm(x(Slice(2, 5)), {middle.h, middle.c});
  testing::assert_allclose(rest.data(), output(Slice(2, 5)).data(), 1e-6, 1e-6);
  testing::assert_allclose(end.c.data(), state.c.data(), 1e-6, 1e-6);
  // Sequences of the lengths 3 and 5, in the order in which they are given.
  const auto packed = nn::utils::rnn::pack_padded_sequence(x, {3, 5}, {.enforce_sorted = false});
  const auto result = lstm(packed);
  const auto padded = nn::utils::rnn::pad_packed_sequence(result.output);
  testing::assert_allclose(padded.output(Slice(), 1).data(), output(Slice(), 1).data(), 1e-6, 1e-6);
  testing::assert_allclose(padded.output(Slice(0, 3), 0).data(), output(Slice(0, 3), 0).data(), 1e-6, 1e-6);
  testing::assert_allclose(result.state.h(0, 0).data(), output(2, 0).data(), 1e-6, 1e-6);
  testing::assert_allclose(result.state.h(0, 1).data(), output(4, 1).data(), 1e-6, 1e-6);
  BOOST_CHECK_THROW(lstm(x, {arrays::ones({1, 3, 4}), {}}), catena::InvalidType);
  BOOST_CHECK_THROW(lstm(arrays::ones({0, 2, 3})), catena::ValueError);
}

// The formula is that of nn::torch::GRU, which is compared with PyTorch above, with the same matrices.
BOOST_AUTO_TEST_CASE(sequences_of_a_gru) {
  nn::torch::GRU expected(3, 4);
  nn::GRU gru(4, 3);
  const Variable x(astype(spread({5, 2, 3}), Dtype::float32)), h(astype(spread({1, 2, 4}), Dtype::float32));
  nn::Linear* const linears[] = {&gru.W_r, &gru.W_z, &gru.W, &gru.U_r, &gru.U_z, &gru.U};
  for (std::size_t i = 0; i < 6; ++i) {
    nn::Link& layer = *expected.links({.skipself = true})[0];
    linears[i]->W.set_data(layer.param("w" + std::to_string(i)).data());
    linears[i]->b->set_data(layer.param("b" + std::to_string(i)).data());
  }
  const auto [output, state] = gru(x, h);
  const auto [y, last] = expected(x, h);
  testing::assert_allclose(output.data(), y.data(), 1e-6, 1e-6);
  testing::assert_allclose(state.data(), last.data(), 1e-6, 1e-6);
  const auto packed = nn::utils::rnn::pack_padded_sequence(x, {3, 5}, {.enforce_sorted = false});
  testing::assert_allclose(gru(packed, h).output.data.data(), expected(packed, h).output.data.data(), 1e-6, 1e-6);
  testing::assert_allclose(gru(packed, h).state.data(), expected(packed, h).state.data(), 1e-6, 1e-6);
  // Chainer's call. The error names the form with PyTorch's order of sizes, and no parameter changes.
  nn::GRU units(4, 3);
  const auto [next, same] = units(arrays::ones({2, 4}), arrays::ones({2, 3}));
  BOOST_CHECK_EQUAL(next.shape(), (Shape{2, 4}));
  BOOST_TEST(same.is_same(next));
  const std::vector<double> before = to_vector<double>(units.W_r.W.data());
  nn::GRU fresh(4, 3);
  for (nn::GRU* link : {&units, &fresh})
    BOOST_CHECK_EXCEPTION((*link)(arrays::ones({5, 2, 4})), catena::InvalidType, [](const catena::Error& e) {
      return std::string(e.what()).find("nn::GRU(in, out, {.num_layers = 1})") != std::string::npos;
    });
  BOOST_CHECK_THROW(fresh(arrays::ones({5, 2, 6})), catena::InvalidType);
  BOOST_CHECK_EQUAL(fresh.W.W.shape(), (Shape{4, 3}));
  BOOST_TEST(to_vector<double>(units.W_r.W.data()) == before, boost::test_tools::per_element());
  BOOST_CHECK_EQUAL(units(arrays::ones({5, 2, 3})).shape(), (Shape{5, 2, 4}));
  BOOST_CHECK_THROW(units(arrays::ones({0, 2, 3})), catena::ValueError);
}

// The result of a call is a variable, to which other variables are assigned.
BOOST_AUTO_TEST_CASE(outputs_are_assigned) {
  nn::LSTM lstm(3, 4);
  nn::GRU gru(4, 3);
  const Variable x(astype(spread({5, 2, 3}), Dtype::float32));
  auto h = lstm(x);
  const Variable last = h.state.h, twice = h + h;
  h = twice;
  BOOST_TEST((h.is_same(twice) && h.output().is_same(twice) && h.state.h.is_same(last)));
  auto g = gru(x);
  g = g + g;
  BOOST_CHECK_EQUAL(g.shape(), (Shape{5, 2, 4}));
  const nn::GRUOutput other = gru(x);
  g = other;
  BOOST_TEST((g.is_same(other) && g.state.is_same(other.state)));
}

BOOST_AUTO_TEST_CASE(states_are_tied) {
  nn::torch::LSTMState state{Variable(arrays::ones({1})), Variable(arrays::zeros({1}))};
  Variable h, c;
  std::tie(h, c) = nn::torch::LSTMState(state);
  BOOST_TEST((h.is_same(state.h) && c.is_same(state.c)));
}

BOOST_AUTO_TEST_SUITE_END()
