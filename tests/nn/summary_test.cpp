// Texts of links and tables of models.
#include <catena/nn/summary.h>

#include <sstream>

#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

struct Net : nn::Chain {
  nn::Convolution2D conv{8, 3, {.pad = 1, .nobias = true}};
  nn::Sequential body{nn::Linear(4, 4), nn::relu, nn::Linear(4, 5, {.n_batch_axes = -1})};
  nn::Parameter scale{1.0, {2, 3}};
  nn::Parameter late{nn::Initializer(0.0)};
  NN_MEMBERS(conv, body, scale, late)
  Variable operator()(const Variable& x) { return body(autograd::mean(conv(x), {2, 3}) * 0.5); }
};

template <class T> std::string printed(const T& object) {
  std::ostringstream out;
  out << object;
  return out.str();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(summaries)

BOOST_AUTO_TEST_CASE(nested_text) {
  BOOST_TEST(printed(Net()) ==
             "Net(scale=(2, 3), late=None\n"
             "  (conv): Convolution2D(in_channels=None, out_channels=8, ksize=3, pad=1, nobias=True)\n"
             "  (body): Sequential(\n"
             "    (0): Linear(in_size=4, out_size=4)\n"
             "    (function)\n"
             "    (2): Linear(in_size=4, out_size=5, n_batch_axes=-1)\n"
             "  )\n"
             ")");
  BOOST_TEST(nn::to_string(nn::Sequential()) == "Sequential()");
  nn::Sequential named({{"fc", nn::Linear(4, 2)}, {"act", nn::relu}});
  named.append(nn::Linear(2, 1));
  BOOST_TEST(nn::to_string(named) ==
             "Sequential(\n"
             "  (fc): Linear(in_size=4, out_size=2)\n"
             "  (function)\n"
             "  (2): Linear(in_size=2, out_size=1)\n"
             ")");
}

BOOST_AUTO_TEST_CASE(arguments_of_layers) {
  const auto is = [](const nn::Link& link, const std::string& text) { BOOST_TEST(nn::to_string(link) == text); };
  is(nn::Linear(3), "Linear(in_size=None, out_size=3)");
  is(nn::Convolution2D(4, 8, {3, 5}, {.stride = 2, .pad = {1, 2}, .dilate = 2, .groups = 2}),
     "Convolution2D(in_channels=4, out_channels=8, ksize=(3, 5), stride=2, pad=(1, 2), dilate=2, groups=2)");
  is(nn::Deconvolution2D(4, 8, 3, {.outsize = nn::Pair(9)}),
     "Deconvolution2D(in_channels=4, out_channels=8, ksize=3, outsize=9)");
  is(nn::DepthwiseConvolution2D(4, 2, 3, {.nobias = true}),
     "DepthwiseConvolution2D(in_channels=4, channel_multiplier=2, ksize=3, nobias=True)");
  is(nn::Convolution1D(4, 8, 3, {.stride = 2}),
     "Convolution1D(ndim=1, in_channels=4, out_channels=8, ksize=3, stride=2)");
  is(nn::DeconvolutionND(3, 4, 8, {3, 2, 1}, {.pad = 1, .nobias = true}),
     "DeconvolutionND(ndim=3, in_channels=4, out_channels=8, ksize=(3, 2, 1), pad=1, nobias=True)");
  is(nn::BatchNormalization(5, {.decay = 0.5, .use_beta = false}),
     "BatchNormalization(size=5, decay=0.5, use_beta=False)");
  is(nn::BatchNormalization(5, {.axis = {0, 1}}), "BatchNormalization(size=5, axis=(0, 1))");
  is(nn::LayerNormalization(), "LayerNormalization(size=None)");
  is(nn::RMSNorm(7, {.eps = 0.5}), "RMSNorm(size=7, eps=0.5)");
  is(nn::GroupNormalization(2, 4), "GroupNormalization(groups=2, size=4)");
  is(nn::InstanceNormalization(std::nullopt, {.affine = false}), "InstanceNormalization(affine=False)");
  is(nn::EmbedID(10, 4, {.ignore_label = -1}), "EmbedID(in_size=10, out_size=4, ignore_label=-1)");
  is(nn::NStepLSTM(2, 3, 4, 0.5), nn::to_string(nn::NStepLSTM(2, 3, 4, 0.5)));
  BOOST_TEST(nn::to_string(nn::NStepLSTM(2, 3, 4, 0.5))
                 .starts_with("NStepLSTM(n_layers=2, in_size=3, out_size=4, dropout=0.5\n"));
  BOOST_TEST(
      nn::to_string(nn::LSTM(4)).starts_with("LSTM(in_size=None, out_size=4\n  (upward): Linear(in_size=None, "));
  BOOST_TEST(nn::to_string(nn::MultiHeadAttention(8, 4, {.dropout = 0.25}))
                 .starts_with("MultiHeadAttention(embed_dim=8, num_heads=4, dropout=0.25\n"));
  is(nn::PReLU(Shape{3}), "PReLU(W=(3,))");
}

BOOST_AUTO_TEST_CASE(rows_and_totals) {
  Net net;
  const nn::ModelSummary before = nn::summary(net);
  BOOST_TEST(before.num_params == 20 + 25 + 6);
  BOOST_TEST(before.rows[1].has_uninitialized);
  net.late.initialize({7});
  net.body = nn::Sequential(nn::Linear(8, 4), nn::relu, nn::Linear(4, 5));
  net.disable_update("/body/2");
  const Variable x(autograd::arrays::ones({2, 3, 6, 6}));
  const nn::ModelSummary s = nn::summary(net, x);
  BOOST_REQUIRE(s.rows.size() == 5u);
  struct Row {
    const char *path, *type;
    int depth;
    Shape output;
    std::int64_t params, trainable;
  };
  const Row expected[] = {{"/", "Net", 0, {2, 5}, 13, 13},
                          {"/conv", "Convolution2D", 1, {2, 8, 6, 6}, 216, 216},
                          {"/body", "Sequential", 1, {2, 5}, 0, 0},
                          {"/body/0", "Linear", 2, {2, 4}, 36, 36},
                          {"/body/2", "Linear", 2, {2, 5}, 25, 0}};
  for (std::size_t i = 0; i < 5; ++i) {
    const nn::SummaryRow& r = s.rows[i];
    BOOST_TEST_CONTEXT(r.path) {
      BOOST_TEST(r.path == expected[i].path);
      BOOST_TEST(r.type == expected[i].type);
      BOOST_TEST(r.depth == expected[i].depth);
      BOOST_REQUIRE(r.output_shapes.size() == 1u);
      BOOST_TEST(r.output_shapes[0] == expected[i].output);
      BOOST_TEST(r.num_params == expected[i].params);
      BOOST_TEST(r.num_trainable == expected[i].trainable);
      BOOST_TEST((r.dtype == Dtype::float32));
      BOOST_TEST((r.device == net.device()));
      BOOST_TEST(r.calls == 1);
    }
  }
  BOOST_TEST(s.num_params == 290);
  BOOST_TEST(s.num_trainable == 265);
  BOOST_TEST(s.num_bytes == 1160);
  BOOST_TEST(s.num_params == net.count_params());
}

BOOST_AUTO_TEST_CASE(table) {
  struct Small : nn::Chain {
    nn::Linear l1{4, 300}, unused{2, 2};
    NN_MEMBERS(l1, unused)
    Variable operator()(const Variable& x) { return l1(x); }
  } small;
  small.to_cpu();
  const std::string device = catena::to_string(small.device());
  BOOST_TEST(printed(nn::summary(small, Variable(autograd::arrays::ones({2, 4}, Dtype::float32, small.device())))) ==
             "path      link    output    params  dtype    device\n"
             "---------------------------------------------------\n"
             "/         Small   (2, 300)       -  float32  cpu:0\n"
             " /l1      Linear  (2, 300)   1,500  float32  cpu:0\n"
             " /unused  Linear  -              6  float32  cpu:0\n"
             "---------------------------------------------------\n"
             "parameters: 1,506, trainable: 1,506, bytes: 6,024\n");
}

BOOST_AUTO_TEST_CASE(calls_and_options) {
  StatefulMLP model(5, 2);
  const Variable x(autograd::arrays::ones({4, 3}));
  const nn::ModelSummary once = nn::summary(model, Variables{x});
  BOOST_TEST(model.bn.N == 0);
  for (const double m : values(model.bn.avg_mean.array())) BOOST_TEST(m == 0);  // test mode
  BOOST_TEST(!model.l1.W.grad());
  const nn::ModelSummary twice = nn::summary(model,
                                             [&] {
                                               model(x);
                                               BOOST_TEST(!model(x).creator());
                                             },
                                             {.train = true, .max_depth = 0});
  BOOST_TEST(twice.rows.size() == 1u);
  BOOST_TEST(twice.rows[0].calls == 0);  // its operator() was called directly
  BOOST_TEST(twice.num_params == once.num_params);
  double sum = 0;
  for (const double m : values(model.bn.avg_mean.array())) sum += std::abs(m);
  BOOST_TEST(sum > 0);
  // Two inputs, several results, a link that is called twice.
  nn::StatelessLSTM cell(3, 2);
  const nn::ModelSummary of_cell = nn::summary(cell, [&] {
    const auto [c, h] = cell({}, {}, x);
    cell(c, h, x);
  });
  BOOST_TEST(of_cell.rows[0].output_shapes.size() == 2u);
  BOOST_TEST(of_cell.rows[0].calls == 2);
  BOOST_TEST(of_cell.rows[2].path == "/lateral");
  BOOST_TEST(of_cell.rows[2].calls == 1);
  struct Sum : nn::Chain {
    nn::Linear l{3, 3};
    NN_MEMBERS(l)
    Variable operator()(const Variable& a, const Variable& b) { return l(a + b); }
  } two;
  BOOST_TEST(nn::summary(two, {x, x}).rows[0].output_shapes[0] == Shape({4, 3}));
  // Of an input of this shape.
  nn::Sequential net(nn::Linear(3, 8), nn::Linear(8, 2));
  const nn::ModelSummary of_shape = nn::summary(net, {5, 3}, {.max_depth = 0});
  BOOST_TEST(of_shape.rows.size() == 1u);
  BOOST_TEST(of_shape.rows[0].output_shapes[0] == Shape({5, 2}));
  BOOST_TEST(of_shape.num_params == 50);
}

// Shared parameters count once.
BOOST_AUTO_TEST_CASE(shared_links) {
  struct Tied : nn::Chain {
    std::shared_ptr<nn::Linear> a = std::make_shared<nn::Linear>(2, 2), b = a;
    NN_MEMBERS(a, b)
    Variable operator()(const Variable& x) { return (*b)((*a)(x)); }
  } tied;
  const nn::ModelSummary s = nn::summary(tied, Variable(autograd::arrays::ones({1, 2})));
  BOOST_TEST(s.num_params == 6);
  BOOST_TEST(s.rows.size() == 2u);
  BOOST_TEST(s.rows[1].calls == 2);
}

BOOST_AUTO_TEST_CASE(parameters_without_a_shape) {
  nn::Linear lazy(3);
  BOOST_TEST(lazy.params().size() == 2u);
  BOOST_TEST(lazy.params(false).size() == 1u);
  BOOST_TEST(lazy.namedparams(true).size() == 2u);
  BOOST_TEST(lazy.namedparams(false).at(0).path == "/b");
}

BOOST_AUTO_TEST_SUITE_END()
