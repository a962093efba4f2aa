// Layers of later versions of Chainer, against their formulas in PyTorch, with gradients of all parameters.
#include <cmath>

#include <catena/autograd/functions/reduction.h>
#include <catena/nn/functional_call.h>
#include <catena/tests/support/framework_golden.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

// Calls f with the inputs of a case in place of the parameters of the link: {path, name in the case}.
template <class L, class F>
auto with(const GoldenCall& c, L link, const std::vector<std::pair<std::string, std::string>>& names, F f) {
  link.to_dtype(Dtype::float64);
  std::vector<nn::NamedParam> given;
  for (const auto& [path, name] : names) given.push_back({path, c.x(name)});
  return nn::functional_call(link, given, [&] { return f(link); });
}
Variables both(const nn::LSTMState& s) { return {s.c, s.h}; }

Variables child_sum(const GoldenCall& c) {
  Variables cs, hs;
  for (int k = 1; k <= int(c.integer("children", 0)); ++k) {
    cs.push_back(c.x("c" + std::to_string(k)));
    hs.push_back(c.x("h" + std::to_string(k)));
  }
  std::vector<std::pair<std::string, std::string>> names{{"/W_x/W", "W_x"}, {"/W_x/b", "b_x"}};
  if (!cs.empty()) names.insert(names.end(), {{"/W_h_aio/W", "W_aio"}, {"/W_h_f/W", "W_f"}});
  return with(c, nn::ChildSumTreeLSTM(4, 3), names, [&](auto& node) { return both(node(cs, hs, c.x("x"))); });
}
Variables n_ary(const GoldenCall& c) {
  return with(c, nn::NaryTreeLSTM(4, 3), {{"/W_x/W", "W_x"}, {"/W_x/b", "b_x"}, {"/W_h1/W", "W1"}, {"/W_h2/W", "W2"}},
              [&](auto& node) {
                return both(node({c.x("c1"), c.x("c2")}, {c.x("h1"), c.x("h2")}, c.x("x")));
              });
}
Variables mgu(const GoldenCall& c) {
  return with(c, nn::MGU(4, 3), {{"/W_f/W", "W_f"}, {"/W_f/b", "b_f"}, {"/W_h/W", "W_h"}, {"/W_h/b", "b_h"}},
              [&](auto& cell) { return Variables{cell(c.x("h"), c.x("x"))}; });
}
Variables local_convolution(const GoldenCall& c) {
  const nn::LocalConvolution2D link(2, 3, {{5, 4}}, {2, 3}, {.stride = int(c.integer("stride", 1))});
  return with(c, link, {{"/W", "W"}, {"/b", "b"}}, [&](auto& l) { return Variables{l(c.x("x"))}; });
}
Variables separable(const GoldenCall& c) {
  const nn::DepthwiseSeparableConvolution2D link(2, 3, {3, 2},
                                                 {.stride = int(c.integer("stride", 1)),
                                                  .pad = int(c.integer("pad", 0)),
                                                  .channel_multiplier = int(c.integer("multiplier", 1))});
  return with(c, link, {{"/depthwise/W", "Wd"}, {"/depthwise/b", "bd"}, {"/pointwise/W", "Wp"}, {"/pointwise/b", "bp"}},
              [&](auto& l) { return Variables{l(c.x("x"))}; });
}
Variables normalized_over_axes(const GoldenCall& c) {
  const nn::BatchNormalization link(c.x("gamma").shape(), {.eps = c.number("eps", 0), .axis = c.axes("axis")});
  return with(c, link, {{"/gamma", "gamma"}, {"/beta", "beta"}},
              [&](auto& l) { return Variables{l(c.x("x"), {.test = false})}; });
}

Variables decorrelated(const GoldenCall& c) {
  return {nn::decorrelated_batch_normalization(c.x("x"),
                                               {.groups = int(c.integer("groups", 1)), .eps = c.number("eps", 0)})};
}

Variable image() {
  return Variable(autograd::random_normal({2, 2, 5, 4}, 0, 1, Dtype::float32, autograd::default_generator()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(later_links)

BOOST_AUTO_TEST_CASE(golden_values) {
  run_golden("torch_links", {{"child_sum_tree_lstm", child_sum},
                             {"n_ary_tree_lstm", n_ary},
                             {"mgu", mgu},
                             {"local_convolution_2d", local_convolution},
                             {"depthwise_separable_convolution_2d", separable},
                             {"batch_normalization_axis", normalized_over_axes},
                             {"decorrelated_batch_normalization", decorrelated}});
}

BOOST_AUTO_TEST_CASE(nodes_of_trees) {
  nn::ChildSumTreeLSTM node(std::nullopt, 3);
  const Variable x(floats({1, 2, 3, 4}, {2, 2}));
  const auto leaf = node({}, {}, x);
  BOOST_TEST(node.W_x.W.shape() == Shape({12, 2}));
  const Variable zero(floats({0, 0, 0, 0, 0, 0}, {2, 3}));
  // Null states are zeros, whatever their number.
  const auto a = node({leaf.c, {}}, {leaf.h, {}}, x), b = node({leaf.c, zero}, {leaf.h, zero}, x);
  check_close(a.c.data(), b.c.data(), 1e-6, 1e-6, "c");
  check_close(a.h.data(), b.h.data(), 1e-6, 1e-6, "h");
  BOOST_TEST(has(message_of<catena::ValueError>([&] { node({leaf.c}, {leaf.h}, {}); }), "without an input size"));
  BOOST_TEST(has(message_of<catena::ValueError>([&] { node({leaf.c}, {}, x); }), "1 c and 0 h"));
  BOOST_CHECK_THROW(node({}, {}, {}), catena::ValueError);

  nn::ChildSumTreeLSTM inner(2, 3);
  const auto without = inner({leaf.c}, {leaf.h}, {}), with_zeros = inner({leaf.c}, {leaf.h}, x * 0);
  check_close(without.h.data(), with_zeros.h.data(), 1e-6, 1e-6, "no input");

  nn::NaryTreeLSTM ternary(2, 3, {.n_ary = 3});
  BOOST_TEST(ternary.namedparams().size() == 5u);
  BOOST_TEST(ternary.namedparams()[2].path == "/W_h1/W");
  BOOST_TEST(ternary({}, {}, x).h.shape() == Shape({2, 3}));
  BOOST_TEST(ternary({leaf.c, {}, {}}, {leaf.h, {}, {}}, {}).h.shape() == Shape({2, 3}));
  BOOST_TEST(has(message_of<catena::ValueError>([&] { ternary({leaf.c}, {leaf.h}, x); }), "1 children; 3 are needed"));
  BOOST_CHECK_THROW(nn::NaryTreeLSTM(2, 3, 0), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(the_state_of_mgu) {
  nn::StatefulMGU link(2, 3);
  nn::StatelessMGU cell(2, 3);
  cell.copyparams(link);
  const Variable x(floats({1, -2, 0.5f, 3}, {2, 2}));
  Variable h(floats({0, 0, 0, 0, 0, 0}, {2, 3}));
  for (int t = 0; t < 3; ++t) {
    h = cell(h, x);
    BOOST_TEST(same_bits(link(x).data(), h.data()));
  }
  link.reset_state();
  BOOST_TEST(!link.h);
  link.set_state(h);
  BOOST_TEST(same_bits(link(x).data(), cell(h, x).data()));
}

BOOST_AUTO_TEST_CASE(images) {
  nn::LocalConvolution2D lazy(3, 2, {.stride = 2, .nobias = true});
  BOOST_TEST(lazy(image()).shape() == Shape({2, 3, 2, 2}));
  BOOST_TEST(lazy.W.shape() == Shape({3, 2, 2, 2, 2, 2}));
  BOOST_TEST(!lazy.b.has_value());
  const nn::LocalConvolution2D given(2, 3, {{5, 4}}, 2, {.initialW = 0.5, .initial_bias = 2});
  BOOST_TEST(values(given.W.data())[0] == 0.5);
  BOOST_TEST(values(given.b->data())[0] == 2);
  BOOST_CHECK_THROW(nn::LocalConvolution2D(2, 3, {{5, 4}}, 6), catena::ValueError);
  BOOST_CHECK_THROW(nn::LocalConvolution2D(2, 3, {{5, 4}}, 2, {.stride = 0}), catena::ValueError);

  // Without offsets it is a convolution.
  nn::DeformableConvolution2D moved(std::nullopt, 3, {3, 2}, {.stride = 2, .pad = 1, .deform_initial_bias = 0.25});
  const Variable x = image();
  const Variable y = moved(x);
  check_close(y.data(),
              nn::convolution_2d(x, moved.deform_conv.W, *moved.deform_conv.b, {.stride = 2, .pad = 1}).data(), 1e-5,
              1e-5, "deformable");
  BOOST_TEST(moved.offset_conv.W.shape() == Shape({12, 2, 3, 2}));
  y.sum().backward();
  for (const nn::NamedParam& p : moved.namedparams()) BOOST_TEST(bool(p.param.grad()), p.path);
  nn::DeformableConvolution2D other(
      2, 3, 2, 1, 0, {.offset_nobias = true, .offset_initialW = 0.1, .deform_nobias = true, .deform_initialW = 1.0});
  BOOST_TEST(other.namedparams().size() == 2u);
  BOOST_TEST(values(other.deform_conv.W.data())[0] == 1);
  const Variable offset = other.offset_conv(x);
  BOOST_TEST(same_bits(other(x).data(), nn::deformable_convolution_2d_sampler(x, offset, other.deform_conv.W).data()));
  nn::DeformableConvolution2D shifted(2, 1, 1, {.offset_initial_bias = 1});  // one pixel down and to the right
  const Variable all = shifted(x);
  autograd::fill(shifted.offset_conv.b->data(), 0);
  const auto part = [](const Array& a, std::int64_t first) {
    return autograd::slice(autograd::slice(a, 2, first, first + 4), 3, first, first + 3);
  };
  check_close(part(all.data(), 0), part(shifted(x).data(), 1), 1e-5, 1e-5, "shifted");

  const nn::DepthwiseSeparableConvolution2D plain(2, 3, 3, 1, 1,
                                                  {.dilate = 2, .nobias = true, .initialW = 0.5, .initial_bias = 1});
  BOOST_TEST(plain.namedparams().size() == 2u);
  BOOST_TEST((plain.depthwise.geometry.dilate == nn::Pair(2)));
  BOOST_TEST(values(plain.pointwise.W.data())[0] == 0.5);
  nn::DepthwiseSeparableConvolution2D late(std::nullopt, 3, 3);
  BOOST_TEST(late(x).shape() == Shape({2, 3, 3, 2}));
}

BOOST_AUTO_TEST_CASE(swish_with_a_parameter) {
  nn::Swish lazy, one(Shape{}, 0.5);
  const Variable x(floats({1, -2, 0.5f, 3, 0, 1}, {2, 3}));
  const Variable y = lazy(x);
  BOOST_TEST(same_bits(y.data(), nn::swish(x, lazy.beta).data()));
  BOOST_TEST(lazy.beta.shape() == Shape({3}));
  BOOST_TEST(one.beta.shape() == Shape{});
  check_close(one(x).data(), nn::swish(x, 0.5).data(), 1e-6, 1e-6, "swish");
  one(x).sum().backward();
  BOOST_TEST(bool(one.beta.grad()));
}

BOOST_AUTO_TEST_CASE(biases_of_transposed_convolutions) {
  BOOST_TEST(nn::Deconvolution1D(2, 3, 2).b.has_value());
  BOOST_TEST(!nn::Deconvolution1D(2, 3, 2, {.nobias = true}).b.has_value());
  BOOST_TEST(!nn::Deconvolution3D(2, 3, 2, {.initial_bias = {}}).b.has_value());
  BOOST_TEST(!nn::DeconvolutionND(2, 2, 3, 2, {.nobias = true}).b.has_value());
  BOOST_TEST(values(nn::Deconvolution1D(2, 3, 2, {.initial_bias = 0.5}).b->data())[0] == 0.5);
  BOOST_TEST(values(nn::Convolution1D(2, 3, 2, {.initial_bias = 0.5}).b->data())[0] == 0.5);
  BOOST_TEST(!nn::Convolution1D(2, 3, 2, {.nobias = true}).b.has_value());
}

BOOST_AUTO_TEST_CASE(axes_of_batch_normalization) {
  nn::BatchNormalization link(3, {.initial_avg_mean = 1, .initial_avg_var = 4, .axis = {0, 1}});
  const Variable x(floats({1, 3, 5, 3, 5, 7, 5, 7, 9, 7, 9, 11}, {2, 2, 3}));
  const Variable y = link(x, {.test = true});
  check_close(y.data(), ((x - 1) / 2).data(), 1e-4, 1e-4, "test mode");
  link(x, {.test = false});
  check_close(link.avg_mean.array(), floats({1.3f, 1.5f, 1.7f}, {3}), 1e-5, 1e-5, "average");
  BOOST_CHECK_THROW(link(Variable(floats({1, 2, 3}, {3}))), catena::ValueError);
  nn::BatchNormalization none(3, {.axis = nn::Shape{}});
  BOOST_CHECK_THROW(none(x), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(whitened_channels) {
  nn::DecorrelatedBatchNormalization link(6, {.groups = 2, .decay = 0.75, .eps = 1e-5});
  BOOST_TEST(link.params().empty());
  const Variable x(autograd::random_normal({50, 6, 3}, 1, 2, Dtype::float32, autograd::default_generator()));
  // Before training the averages are those of no change.
  check_close(link(x, {.test = true}).data(), x.data(), 1e-6, 1e-6, "test mode");
  const Variable y = link(x, {.test = false});
  const std::vector<double> v = values(y.data());
  for (std::size_t g = 0; g < 2; ++g)
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) {
        double product = 0;
        for (std::size_t i = 0; i < 50; ++i)
          for (std::size_t k = 0; k < 3; ++k)
            product += v[(i * 6 + 3 * g + a) * 3 + k] * v[(i * 6 + 3 * g + b) * 3 + k] / 150;
        BOOST_TEST(std::abs(product - (a == b)) < 1e-3);
      }
  const Array first = autograd::copy(link.avg_projection.array());
  const std::vector<double> mean = values(link.avg_mean.array());
  BOOST_TEST(mean[0] > 0.1);  // a quarter of the mean, which is near 1
  BOOST_TEST(mean[0] < 0.5);
  // Finetuning: plain averages, which after one batch are those of the batch.
  link.start_finetuning();
  link(x, {.test = false, .finetune = true});
  BOOST_TEST(link.N == 1);
  check_close(link(x, {.test = true}).data(), y.data(), 1e-4, 1e-4, "finetuned");
  BOOST_TEST(!same_bits(link.avg_projection.array(), first));
  // Equal channels have equal eigenvalues, for which the gradient is finite, too.
  Variable dead(autograd::arrays::zeros({4, 6, 2}));
  nn::decorrelated_batch_normalization(dead, {.groups = 1}).sum().backward();
  BOOST_TEST(!autograd::has_nan(dead.grad()));
  BOOST_TEST(has(message_of<catena::ValueError>([] { nn::DecorrelatedBatchNormalization(6, {.groups = 4}); }),
                 "4 groups do not divide"));
  BOOST_CHECK_THROW(nn::DecorrelatedBatchNormalization(8), catena::ValueError);
  BOOST_CHECK_THROW(nn::decorrelated_batch_normalization(x, {.groups = 2, .eps = 0}), catena::ValueError);
  BOOST_CHECK_THROW(nn::decorrelated_batch_normalization(x, {.groups = 5}), catena::ValueError);
  BOOST_CHECK_THROW(
      nn::decorrelated_batch_normalization(x, {.groups = 2, .running_mean = autograd::arrays::zeros({6})}),
      catena::ValueError);
  BOOST_CHECK_THROW(nn::fixed_decorrelated_batch_normalization(x, x, x, 2), catena::ValueError);
  BOOST_CHECK_THROW(nn::decorrelated_batch_normalization(Variable(autograd::arrays::zeros({0, 2})), {.groups = 1}),
                    catena::ValueError);
  BOOST_CHECK_THROW(nn::decorrelated_batch_normalization(Variable(autograd::arrays::zeros({4})), {.groups = 1}),
                    catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(labels_of_a_classifier) {
  struct Net : nn::Chain {
    nn::Linear l{2, 3};
    NN_MEMBERS(l)
    Variable operator()(const Variable& a, const Variable& b) { return l(a - b); }
  };
  const Variable a(floats({1, 2, 3, 4}, {2, 2}), {.name = "a"}), b(floats({0, 1, 1, 0}, {2, 2}), {.name = "b"}),
      t(ints({0, 2}), {.name = "label"});
  nn::Classifier last{Net()};
  const Array expected = last(Variables{a, b, t}).data();
  const auto loss = [&](nn::LabelKey key, const Variables& args) {
    nn::Classifier<Net> c(Net(), {.label_key = key});
    c.copyparams(last);
    return c(args).data();
  };
  BOOST_TEST(same_bits(loss(0, {t, a, b}), expected));
  BOOST_TEST(same_bits(loss(-2, {a, t, b}), expected));
  BOOST_TEST(same_bits(loss("label", {a, t, b}), expected));
  BOOST_TEST(same_bits(loss(std::string("label"), {t, a, b}), expected));
  BOOST_CHECK_THROW(loss(3, {a, b, t}), catena::IndexError);
  BOOST_TEST(has(message_of<catena::KeyError>([&] { loss("t", {a, b, t}); }), "(there are: a, b, label)"));
}

BOOST_AUTO_TEST_CASE(null_angles) {
  BOOST_TEST(has(message_of<catena::ValueError>([] {
                   nn::rotary_embedding(Variable(floats({1, 2, 3, 4}, {2, 2})), Array());
                 }),
                 "rotary_angles"));
}

BOOST_AUTO_TEST_SUITE_END()
