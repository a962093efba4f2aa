// Gradients of single examples in one pass, against a pass for each example.
#include <catena/nn/links/per_example_grads.h>

#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

Variable drawn(const Shape& shape) {
  return Variable(autograd::random_normal(shape, 0, 1, Dtype::float32, autograd::default_generator()));
}

// Counts how often the losses are computed: 1 with the rules and with vmap, 2 if the rules do not apply, and N more if
// the function must be called for each example.
struct Losses {
  std::function<Variable(const Variables&)> f;
  int calls = 0;
  Variables of(nn::Link& link, const Variables& batch, bool vectorized) {
    calls = 0;
    return nn::per_example_grads(link, [&](const Variables& b) { return ++calls, f(b); }, batch,
                                 {.vectorized = vectorized});
  }
  // A backward pass for each example.
  Variables one_by_one(nn::Link& link, const Variables& batch) {
    std::vector<Variables> rows;
    for (std::int64_t i = 0; i < batch[0].shape(0); ++i) {
      Variables example;
      for (const Variable& x : batch) example.push_back(Variable(autograd::slice(x.data(), 0, i, i + 1)));
      f(example);  // initialises parameters
      link.cleargrads();
      f(example).backward();
      const Variables parameters = link.params();
      rows.resize(parameters.size());
      for (std::size_t k = 0; k < parameters.size(); ++k) {
        const autograd::Array g =
            parameters[k].grad() ? parameters[k].grad() : autograd::zeros_like(parameters[k].data());
        rows[k].push_back(Variable(autograd::copy(g)));
      }
    }
    link.cleargrads();
    Variables stacked;
    for (const Variables& of_parameter : rows) stacked.push_back(autograd::stack(of_parameter, 0));
    return stacked;
  }
};

// One number for each example, which is not linear in the output.
Variable numbers_of(const Variable& y) {
  const Variable flat = autograd::reshape(y, {y.shape(0), y.size() / y.shape(0)});
  return autograd::sum(autograd::sin(flat * 0.7) + autograd::square(flat) * 0.1, {1});
}

template <class L> void check_same(L link, const Variables& batch, std::function<Variable(const Variables&)> f = {}) {
  if (!f) f = [&](const Variables& b) { return numbers_of(link(b[0])); };
  Losses losses{f};
  const Variables by_vmap_first = losses.of(link, batch, false);  // initialises parameters
  const Variables expected = losses.one_by_one(link, batch);
  const Variables by_vmap = losses.of(link, batch, false);
  BOOST_TEST(losses.calls == (expected.empty() ? 0 : 1));  // nothing to compute without parameters
  const Variables by_rules = losses.of(link, batch, true);
  BOOST_TEST(losses.calls == 1);
  for (const Variables& g : {by_vmap_first, by_vmap, by_rules}) {
    BOOST_REQUIRE(g.size() == expected.size());
    for (std::size_t i = 0; i < g.size(); ++i)
      check_close(g[i].data(), expected[i].data(), 2e-4, 2e-4, link.namedparams()[i].path);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(per_example)

BOOST_AUTO_TEST_CASE(products) {
  check_same(nn::Linear(4, 3), {drawn({5, 4})});
  check_same(nn::Linear(4, 3, {.nobias = true, .n_batch_axes = -1}), {drawn({5, 2, 6, 4})});
  check_same(nn::Linear(3), {drawn({1, 4})});
  check_same(nn::Linear(12, 3, {.n_batch_axes = 1}), {drawn({2, 3, 4})});
}

BOOST_AUTO_TEST_CASE(convolutions) {
  const Variable x = drawn({3, 4, 5, 6});
  check_same(nn::Convolution2D(4, 6, {2, 3}, {.stride = 2, .pad = 1, .groups = 2}), {x});
  check_same(nn::Convolution2D(4, 3, 3, {.dilate = 2, .nobias = true}), {x});
  check_same(nn::Deconvolution2D(4, 6, {2, 3}, {.stride = 2, .pad = 1, .groups = 2}), {x});
  check_same(nn::Deconvolution2D(4, 2, 2, {.stride = 2, .outsize = nn::Pair(11, 12)}), {x});
  check_same(nn::DepthwiseConvolution2D(4, 2, 3, {.pad = 1}), {x});
  check_same(nn::Convolution1D(4, 3, 3, {.stride = 2, .pad = 1}), {drawn({3, 4, 7})});
  check_same(nn::Deconvolution1D(4, 3, 3, {.stride = 2, .pad = 1}), {drawn({3, 4, 5})});
  check_same(nn::Convolution3D(2, 3, 2), {drawn({2, 2, 3, 4, 3})});
}

BOOST_AUTO_TEST_CASE(tables_and_normalization) {
  const Variable ids(autograd::array(std::vector<std::int32_t>{0, 2, 2, 4, -1, 3, 1, 0, 0}, {3, 3}));
  check_same(nn::EmbedID(5, 2, {.ignore_label = -1}), {ids});
  check_same(nn::EmbedID(5, 2, {.ignore_label = 2}),
             {Variable(autograd::array(std::vector<std::int32_t>{0, 2, 2, 4}, {4}))});
  check_same(nn::EmbedID(5, 2, {.ignore_label = 7}),  // the label is no row, and not one of the copies either
             {Variable(autograd::array(std::vector<std::int32_t>{0, 2, 7, 4}, {4}))});
  check_same(nn::LayerNormalization(4), {drawn({3, 2, 4})});
  check_same(nn::LayerNormalization(4, {.bias = false}), {drawn({3, 2, 4})});
  check_same(nn::RMSNorm(4), {drawn({3, 4})});
  check_same(nn::GroupNormalization(2, 4), {drawn({3, 4, 2, 3})});
  check_same(nn::InstanceNormalization(4), {drawn({3, 4, 2, 3})});
}

// The gradient of the sum is then made of rounding errors, which depend on the order of the additions.
BOOST_AUTO_TEST_CASE(examples_that_cancel) {
  const autograd::Array x = drawn({50, 3, 64}).data(), rows = autograd::reshape(x, {150, 64}),
                        last = autograd::slice(rows, 0, 149, 150);
  autograd::assign(last, -autograd::sum(autograd::slice(rows, 0, 0, 149), 0, true));
  nn::Linear link(64, 1, {.nobias = true, .n_batch_axes = -1});
  Losses losses{[&](const Variables& b) { return autograd::sum(link(b[0]), {1, 2}); }};
  const Variables by_rules = losses.of(link, {Variable(x)}, true);
  BOOST_TEST(losses.calls == 1);
  check_close(by_rules[0].data(), autograd::sum(x, 1, true), 1e-5, 1e-5, "W");
}

BOOST_AUTO_TEST_CASE(networks) {
  check_same(TinyMLP(), {drawn({4, 4})});
  struct Net : nn::Chain {
    nn::Convolution2D conv{2, 3, 3};
    nn::GroupNormalization norm{1, 3};
    nn::Linear head{3, 4}, unused{2, 2};
    NN_MEMBERS(conv, norm, head, unused)
    Variable operator()(const Variable& x) { return head(autograd::mean(nn::relu(norm(conv(x))), {2, 3})); }
  } net;
  const Variable t(ints({0, 3, 1}));
  check_same(net, {drawn({3, 2, 5, 5}), t},
             [&](const Variables& b) { return nn::softmax_cross_entropy(net(b[0]), b[1], {.reduce = "no"}); });
  // A link that is called several times, and recurrent layers.
  nn::LSTM lstm(3, 4);
  check_same(lstm, {drawn({3, 6, 3})}, [&](const Variables& b) {
    lstm.reset_state();
    Variable h;
    for (int step = 0; step < 6; ++step) h = lstm(autograd::get_item(b[0], {autograd::Slice(), step}));
    return numbers_of(h);
  });
  check_same(nn::TransformerEncoderLayer(8, 2, {.dim_feedforward = 6, .dropout = 0}), {drawn({3, 4, 8})});
}

// Where the rules do not hold, the result is that of vmap.
BOOST_AUTO_TEST_CASE(other_networks) {
  const auto check = [](nn::Link& link, Losses losses, const Variables& batch) {
    const Variables expected = losses.one_by_one(link, batch), g = losses.of(link, batch, true);
    BOOST_TEST(losses.calls == 2);
    for (std::size_t i = 0; i < g.size(); ++i) check_close(g[i].data(), expected[i].data(), 2e-5, 2e-5, "vmap");
  };
  nn::PReLU prelu;
  check(prelu, {[&](const Variables& b) { return numbers_of(prelu(b[0])); }}, {drawn({3, 2})});
  nn::Linear tied(3, 3);  // its weight is used outside of the link, too
  check(tied, {[&](const Variables& b) { return numbers_of(nn::linear(tied(b[0]), tied.W)); }}, {drawn({4, 3})});
  nn::Linear folded(3, 2);  // axis 0 has more than the examples
  check(folded, {[&](const Variables& b) {
          const std::int64_t n = b[0].shape(0);
          return numbers_of(autograd::reshape(folded(autograd::reshape(b[0], {2 * n, 3})), {n, 4}));
        }},
        {drawn({3, 6})});
  nn::EmbedID padded(4, 2, {.padding_idx = 0});
  check(padded, {[&](const Variables& b) { return numbers_of(padded(b[0])); }}, {Variable(ints({0, 1, 2}))});
}

// Functions that vmap calls for each example: their running averages get the statistics of each.
BOOST_AUTO_TEST_CASE(a_call_for_each_example) {
  nn::BatchNormalization norm(2);
  Losses losses{[&](const Variables& b) { return numbers_of(norm(b[0])); }};
  const Variable x = drawn({3, 2, 4, 4});
  const Variables expected = losses.one_by_one(norm, {x});
  const Variables g = losses.of(norm, {x}, false);
  BOOST_TEST(losses.calls == 4);
  for (std::size_t i = 0; i < g.size(); ++i) BOOST_TEST(same_bits(g[i].data(), expected[i].data()));
  const auto scope = autograd::train_mode(false);
  losses.of(norm, {x}, false);
  BOOST_TEST(losses.calls == 1);
}

BOOST_AUTO_TEST_CASE(errors) {
  nn::Linear l(3, 2);
  const auto mean = [&](const Variables& b) { return autograd::sum(l(b[0])); };
  BOOST_TEST(has(message_of<catena::ValueError>([&] {
                   nn::per_example_grads(l, mean, {drawn({4, 3})}, {.vectorized = true});
                 }),
                 "reduce"));
  const auto fine = [&](const Variables& b) { return numbers_of(l(b[0])); };
  BOOST_CHECK_THROW(nn::per_example_grads(l, fine, {drawn({0, 3})}, {.vectorized = true}), catena::ValueError);
  BOOST_CHECK_THROW(nn::per_example_grads(l, fine, {}, {.vectorized = true}), std::exception);
}

BOOST_AUTO_TEST_SUITE_END()
