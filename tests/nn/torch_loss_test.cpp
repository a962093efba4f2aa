// Losses in the forms of PyTorch.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include <catena/autograd/autocast.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/testing.h>
#include <catena/kernels/base/warning.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/connection.h>
#include <catena/nn/functions/probability_loss.h>
#include <catena/nn/functions/similarity.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using test::spread;

namespace {

using Call = const test::GoldenCall&;

double value(const Variable& x) { return to_vector<double>(x.data())[0]; }
auto says(const std::string& text) {
  return [text](const catena::Error& e) {
    const bool good = std::string(e.what()).find(text) != std::string::npos;
    if (!good) BOOST_TEST_MESSAGE(e.what());
    return good;
  };
}

const test::GoldenFunctions kProbabilities = {
    {"binary_cross_entropy_with_logits",
     [](Call c) {
       return Variables{nn::binary_cross_entropy_with_logits(
           c.x("x"), c.x("t"),
           {.weight = c.array("weight"), .pos_weight = c.array("pos_weight"), .reduce = c.text("reduce", "mean")})};
     }},
    {"binary_cross_entropy",
     [](Call c) { return Variables{nn::binary_cross_entropy(c.x("x"), c.x("t"), c.text("reduce", "mean"))}; }},
    {"focal_loss",
     [](Call c) {
       return Variables{nn::focal_loss(
           c.x("x"), c.x("t"),
           {.gamma = c.number("gamma", 2), .alpha = c.number("alpha", 0.25), .reduce = c.text("reduce", "mean")})};
     }},
    {"softmax_focal_loss",
     [](Call c) {
       return Variables{nn::softmax_focal_loss(c.x("x"), c.x("t"),
                                               {.gamma = c.number("gamma", 2),
                                                .class_weight = c.array("class_weight"),
                                                .reduce = c.text("reduce", "mean")})};
     }},
    {"nll_loss",
     [](Call c) {
       return Variables{nn::nll_loss(c.x("x"), c.x("t"),
                                     {.class_weight = c.array("class_weight"), .reduce = c.text("reduce", "mean")})};
     }},
    {"softmax_cross_entropy",
     [](Call c) {
       return Variables{nn::softmax_cross_entropy(c.x("x"), c.x("t"),
                                                  {.class_weight = c.array("class_weight"),
                                                   .reduce = c.text("reduce", "mean"),
                                                   .label_smoothing = c.number("label_smoothing", 0),
                                                   .normalize_by_weight = true})};
     }},
    {"linear_cross_entropy",
     [](Call c) { return Variables{nn::linear_cross_entropy(c.x("x"), c.x("W"), c.x("b"), c.x("t"), {.chunk = 3})}; }},
    {"kl_div",
     [](Call c) {
       return Variables{nn::kl_div(c.x("x"), c.x("t"),
                                   {.reduce = c.text("reduce", "mean"), .log_target = c.flag("log_target", false)})};
     }},
    {"poisson_nll",
     [](Call c) {
       return Variables{nn::poisson_nll(c.x("x"), c.x("t"),
                                        {.log_input = c.flag("log_input", true),
                                         .full = c.flag("full", false),
                                         .reduce = c.text("reduce", "mean")})};
     }},
    {"gaussian_nll_loss",
     [](Call c) {
       return Variables{nn::gaussian_nll_loss(c.x("x"), c.x("t"), c.x("var"),
                                              {.full = c.flag("full", false), .reduce = c.text("reduce", "mean")})};
     }},
    {"ctc_loss_of_log_probabilities",
     [](Call c) {
       const std::string reduce = c.text("reduce", "mean");
       return Variables{
           nn::ctc_loss(nn::log_softmax(c.x("x"), 2), c.x("t"), c.array("input_length"), c.array("label_length"),
                        {.blank = 1, .reduction = reduce == "no" ? "none" : reduce, .zero_infinity = true})};
     }},
    {"ctc_loss",
     [](Call c) {
       return Variables{nn::connectionist_temporal_classification(c.x("x"), c.x("t"), 0,
                                                                  {.input_length = c.array("input_length"),
                                                                   .label_length = c.array("label_length"),
                                                                   .reduce = c.text("reduce", "mean"),
                                                                   .normalize = c.text("reduce", "") == "mean"})};
     }},
};

const test::GoldenFunctions kDistances = {
    {"cosine_similarity",
     [](Call c) { return Variables{nn::cosine_similarity(c.x("x"), c.x("y"), int(c.integer("axis", 1)))}; }},
    {"pairwise_distance",
     [](Call c) {
       return Variables{
           nn::pairwise_distance(c.x("x"), c.x("y"), {.p = c.number("p", 2), .keepdims = c.flag("keepdims", false)})};
     }},
    {"mean_squared_error",
     [](Call c) { return Variables{nn::mean_squared_error(c.x("x"), c.x("y"), c.text("reduce", "mean"))}; }},
    {"mean_absolute_error",
     [](Call c) { return Variables{nn::mean_absolute_error(c.x("x"), c.x("y"), c.text("reduce", "mean"))}; }},
    {"smooth_l1",
     [](Call c) {
       return Variables{nn::smooth_l1(c.x("x"), c.x("y"), c.number("beta", 1), c.text("reduce", "mean"))};
     }},
    {"margin_ranking_loss",
     [](Call c) {
       return Variables{nn::margin_ranking_loss(c.x("x"), c.x("y"), c.x("t"),
                                                {.margin = c.number("margin", 0), .reduce = c.text("reduce", "mean")})};
     }},
    {"cosine_embedding_loss",
     [](Call c) {
       return Variables{nn::cosine_embedding_loss(
           c.x("x"), c.x("y"), c.x("t"), {.margin = c.number("margin", 0), .reduce = c.text("reduce", "mean")})};
     }},
    {"hinge_embedding_loss",
     [](Call c) {
       return Variables{nn::hinge_embedding_loss(
           c.x("x"), c.x("t"), {.margin = c.number("margin", 0), .reduce = c.text("reduce", "mean")})};
     }},
    {"soft_margin_loss",
     [](Call c) { return Variables{nn::soft_margin_loss(c.x("x"), c.x("t"), {c.text("reduce", "mean")})}; }},
    {"triplet_margin_loss",
     [](Call c) {
       return Variables{nn::triplet_margin_loss(c.x("x"), c.x("y"), c.x("z"),
                                                {.margin = c.number("margin", 1),
                                                 .p = c.number("p", 2),
                                                 .swap = c.flag("swap", false),
                                                 .reduce = c.text("reduce", "mean")})};
     }},
    {"info_nce",
     [](Call c) { return Variables{nn::info_nce(c.x("x"), c.x("y"), {.temperature = c.number("temperature", 0.1)})}; }},
    {"multi_margin_loss",
     [](Call c) {
       return Variables{nn::multi_margin_loss(c.x("x"), c.x("t"),
                                              {.p = int(c.integer("p", 1)),
                                               .margin = c.number("margin", 1),
                                               .class_weight = c.array("class_weight"),
                                               .reduce = c.text("reduce", "mean")})};
     }},
    {"multilabel_margin_loss",
     [](Call c) { return Variables{nn::multilabel_margin_loss(c.x("x"), c.x("t"), {c.text("reduce", "mean")})}; }},
    {"multilabel_soft_margin_loss",
     [](Call c) {
       return Variables{nn::multilabel_soft_margin_loss(
           c.x("x"), c.x("t"), {.class_weight = c.array("class_weight"), .reduce = c.text("reduce", "mean")})};
     }},
};

std::string warning;
struct Listening {
  catena::WarningHandler before =
      catena::set_warning_handler([](std::string_view, std::string_view text) { warning = text; });
  Listening() { warning.clear(); }
  ~Listening() { catena::set_warning_handler(before); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_loss)

BOOST_AUTO_TEST_CASE(golden_values_of_pytorch) {
  test::GoldenFunctions all = kProbabilities;
  all.insert(kDistances.begin(), kDistances.end());
  test::run_golden("torch_loss", all,
                   {.once_only = {"mean_absolute_error", "smooth_l1", "margin_ranking_loss", "cosine_embedding_loss",
                                  "hinge_embedding_loss", "triplet_margin_loss", "multi_margin_loss",
                                  "multilabel_margin_loss", "pairwise_distance"}});
}

// Differences of float64 of both orders, 16-bit dtypes, strides.
BOOST_AUTO_TEST_CASE(derivatives_and_narrow_dtypes) {
  const Array x = spread({4, 3}, -2, 2), y = spread({4, 3}, -1, 1, 1), p = spread({4, 3}, 0.1, 0.9, 2);
  const Array t = array(std::vector<std::int32_t>{2, 0, -1, 1}, {4});
  // A dtype more is a compilation of all kernels on a GPU.
  const test::DerivativeOptions options{
      .atol16 = 4e-3, .rtol16 = 2e-2, .narrow = test::default_device().kind == Device::Kind::cpu};
  const auto check = [&](const char* name, const test::DifferentiableFunction& f, const Arrays& in) {
    test::check_derivatives(name, f, in, options);
  };
  using V = const Variables&;
  check("logits", [](V v) { return Variables{nn::binary_cross_entropy_with_logits(v[0], v[1], "no")}; }, {x, p});
  check("bce", [](V v) { return Variables{nn::binary_cross_entropy(v[0], v[1])}; }, {p, spread({4, 3}, 0, 1, 7)});
  check("focal", [](V v) { return Variables{nn::focal_loss(v[0], v[1])}; }, {x, p});
  check("softmax focal", [](V v) { return Variables{nn::softmax_focal_loss(v[0], v[1])}; }, {x, t});
  check("nll", [](V v) { return Variables{nn::nll_loss(v[0], v[1])}; }, {x, t});
  check("smoothed",
        [](V v) { return Variables{nn::softmax_cross_entropy(v[0], v[1], {.reduce = "no", .label_smoothing = 0.2})}; },
        {x, t});
  check("smoothed, without score",
        [](V v) {
          return Variables{nn::softmax_cross_entropy(v[0], v[1], {.cache_score = false, .label_smoothing = 0.2})};
        },
        {x, t});
  check("kl", [](V v) { return Variables{nn::kl_div(v[0], v[1], "batchmean")}; }, {x, p});
  check("cosine", [](V v) { return Variables{nn::cosine_similarity(v[0], v[1])}; }, {x, y});
  check("distance", [](V v) { return Variables{nn::pairwise_distance(v[0], v[1])}; }, {x, y});
  check("info_nce", [](V v) { return Variables{nn::info_nce(v[0], v[1], {.temperature = 0.5})}; }, {x, y});
  check("many classes",
        [](V v) { return Variables{nn::linear_cross_entropy(v[0], v[1], {}, v[2], {.chunk = 2, .reduce = "sum"})}; },
        {x, spread({5, 3}, -1, 1, 4), t});
}

BOOST_AUTO_TEST_CASE(logits_far_from_zero) {
  Variable x(array<float>({-150, 150, -150, 150}, {4})), t(array<float>({0, 1, 1, 0}, {4}));
  Variable loss = nn::binary_cross_entropy_with_logits(x, t, {.reduce = "no"});
  BOOST_TEST((to_vector<float>(loss.data()) == std::vector<float>{0, 0, 150, 150}));
  loss.set_grad(arrays::ones({4}));
  loss.backward();
  BOOST_TEST((to_vector<float>(x.grad()) == std::vector<float>{0, 0, -1, 1}));
  // A small loss keeps its digits: log(1 + exp(-20)).
  const double small =
      value(nn::binary_cross_entropy_with_logits(Variable(array<float>({20}, {1})), Variable(array<float>({1}, {1}))));
  BOOST_TEST(std::fabs(small - std::log1p(std::exp(-20.0))) < 1e-15);
  // Ends of probabilities.
  Variable p(array<float>({0, 1, 0, 1}, {4}));
  Variable ends = nn::binary_cross_entropy(p, t, "no");
  BOOST_TEST((to_vector<float>(ends.data()) == std::vector<float>{0, 0, 100, 100}));
}

BOOST_AUTO_TEST_CASE(zeros_and_certain_predictions_have_finite_gradients) {
  const auto finite = [](const char* name, const std::function<Variable(const Variable&)>& f, const Array& x) {
    Variable v(x);
    Variable y = sum(f(v));
    y.backward({.enable_double_backprop = true});
    BOOST_TEST(!has_nan(v.grad()), name);
    Variable g = sum(v.grad_variable() * v.grad_variable());
    v.cleargrad();
    g.backward();
    if (v.grad()) BOOST_TEST(!has_nan(v.grad()), name << ", twice");
  };
  const Variable target(array<float>({0, 1, 0, 1}, {2, 2}));
  const Array none = arrays::zeros({2, 2}), certain = array<float>({-300, 300, 300, -300}, {2, 2});
  const Variable label(array(std::vector<std::int32_t>{1, 0}, {2}));
  finite(
      "cosine", [&](const Variable& x) { return nn::cosine_similarity(x, target); }, none);
  finite(
      "distance", [&](const Variable& x) { return nn::pairwise_distance(x, x, {.eps = 0}); }, none);
  finite(
      "distance 3", [&](const Variable& x) { return nn::pairwise_distance(x, x, {.p = 3, .eps = 0}); }, none);
  finite(
      "focal", [&](const Variable& x) { return nn::focal_loss(x, target, {.gamma = 0.5}); }, certain);
  finite(
      "softmax focal", [&](const Variable& x) { return nn::softmax_focal_loss(x, label, {.gamma = 0.5}); }, certain);
  finite(
      "kl", [&](const Variable& x) { return nn::kl_div(log(nn::softmax(x) + 1e-6), target); }, certain);
  finite(
      "info_nce", [&](const Variable& x) { return nn::info_nce(x, target); }, none);
}

BOOST_AUTO_TEST_CASE(ignored_labels_warn_and_give_zero) {
  const Variable t(arrays::full({3}, -1, Dtype::int32));
  for (const bool smooth : {false, true}) {
    Variable x(arrays::ones({3, 2}));
    const Listening listening;
    Variable loss = nn::softmax_cross_entropy(x, t, {.label_smoothing = smooth ? 0.1 : 0.0});
    loss.backward();
    BOOST_TEST(value(loss) == 0);
    BOOST_TEST((to_vector<float>(x.grad()) == std::vector<float>(6, 0.f)));
    if (x.device().kind == Device::Kind::cpu)
      BOOST_TEST(warning ==
                 "softmax_cross_entropy: all labels are -1, which is ignored: the mean is 0 and has no gradient. "
                 "Leave such batches out, or give another ignore_label");
  }
  const Listening listening;
  BOOST_TEST(value(nn::nll_loss(Variable(arrays::ones({3, 2})), t)) == 0);
  BOOST_TEST(warning.starts_with("nll_loss: all") == (test::default_device().kind == Device::Kind::cpu));
  warning.clear();
  BOOST_TEST(value(nn::nll_loss(Variable(arrays::ones({3, 2})), t, {.class_weight = arrays::ones({2})})) == 0);
  BOOST_TEST(warning.starts_with("nll_loss: all") == (test::default_device().kind == Device::Kind::cpu));
  warning.clear();
  nn::softmax_cross_entropy(Variable(arrays::ones({3, 2})), t, {.reduce = "sum"});
  nn::softmax_cross_entropy(Variable(arrays::ones({0, 2})), Variable(arrays::zeros({0}, Dtype::int32)));
  BOOST_TEST(warning == "");
}

BOOST_AUTO_TEST_CASE(many_classes_in_chunks) {
  const Array x = spread({7, 3}), W = spread({5, 3}, -1, 1, 1), b = spread({5}, -1, 1, 2);
  const Array t = array(std::vector<std::int32_t>{2, 0, -1, 1, 4, 3, 3}, {7});
  const auto run = [&](bool chunks, const char* reduce) {
    Variables in{Variable(x), Variable(W), Variable(b)};
    Variable loss = chunks ? nn::linear_cross_entropy(in[0], in[1], in[2], Variable(t),
                                                      {.chunk = 3, .label_smoothing = 0.1, .reduce = reduce})
                           : nn::softmax_cross_entropy(nn::linear(in[0], in[1], in[2]), Variable(t),
                                                       {.reduce = reduce, .label_smoothing = 0.1});
    loss.backward();
    return Arrays{loss.data(), in[0].grad(), in[1].grad(), in[2].grad()};
  };
  for (const char* reduce : {"mean", "sum"}) {
    const Arrays one = run(false, reduce), chunks = run(true, reduce);
    for (std::size_t k = 0; k < one.size(); ++k)
      BOOST_CHECK_NO_THROW(testing::assert_allclose(chunks[k], one[k], 1e-12, 1e-12));
  }
  BOOST_CHECK_THROW(nn::linear_cross_entropy(Variable(x), Variable(W), {}, Variable(t), {.chunk = 0}),
                    catena::ValueError);
}

BOOST_AUTO_TEST_CASE(losses_of_16_bit_inputs_are_float32_in_a_scope_of_autocast) {
  if (test::default_device().kind != Device::Kind::cpu) return;  // as above: a dtype more is a compilation
  const Variable x(astype(spread({4, 3}), Dtype::float16)), t(arrays::zeros({4}, Dtype::int32));
  const auto losses = [&] {
    return Variables{nn::info_nce(x, x), nn::linear_cross_entropy(x, x, {}, t), nn::kl_div(x, x),
                     nn::softmax_focal_loss(x, t), nn::multi_margin_loss(x, t)};
  };
  for (const Variable& loss : losses()) BOOST_TEST(loss.dtype() == Dtype::float16);
  const auto scope = autocast(Dtype::float16);
  for (const Variable& loss : losses()) BOOST_TEST(loss.dtype() == Dtype::float32);
}

BOOST_AUTO_TEST_CASE(losses_with_their_options) {
  const Variable x(spread({4, 3})), t(arrays::zeros({4}, Dtype::int32)), p(arrays::ones({4, 3}, x.dtype()));
  const auto same = [](const Variable& a, const Variable& b) {
    BOOST_TEST(to_vector<double>(a.data()) == to_vector<double>(b.data()), boost::test_tools::per_element());
  };
  same(nn::CrossEntropyLoss()(x, t), nn::cross_entropy(x, t));
  same(nn::CrossEntropyLoss({.reduction = "sum", .label_smoothing = 0.1})(x, t),
       nn::cross_entropy(x, t, {.reduction = "sum", .label_smoothing = 0.1}));
  same(nn::BCEWithLogitsLoss({.reduce = "no"})(x, p), nn::binary_cross_entropy_with_logits(x, p, "no"));
  same(nn::mse_loss(x, p), nn::mean_squared_error(x, p));
  same(nn::l1_loss(x, p, "sum"), nn::mean_absolute_error(x, p, "sum"));
  // Labels of ctc_loss in rows, and one after the other.
  const auto ints = [](const std::vector<std::int32_t>& v, const Shape& shape) { return array(v, shape); };
  const Variable log_probs = nn::log_softmax(Variable(spread({5, 2, 3})), 2);
  const Array lengths = ints({5, 4}, {2}), counts = ints({2, 1}, {2});
  const Variable rows(ints({1, 2, 1, 0}, {2, 2})), joined(ints({1, 2, 1}, {3}));
  same(nn::ctc_loss(log_probs, rows, lengths, counts), nn::ctc_loss(log_probs, joined, lengths, counts));
  BOOST_CHECK_THROW(nn::ctc_loss(log_probs, rows, lengths, counts, {.reduction = "no"}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(labels_of_sequences_one_after_the_other) {
  const Variable x(spread({5, 3, 4}));
  const Array lengths = array(std::vector<std::int32_t>{2, 0, 1}, {3});
  const Variable joined(array(std::vector<std::int32_t>{1, 2, 3}, {3}));
  const Variable rows(array(std::vector<std::int32_t>{1, 2, 0, 0, 3, 0}, {3, 2}));
  const auto loss = [&](const Variable& scores, const Variable& t, bool first) {
    return nn::connectionist_temporal_classification(
        scores, t, 0, {.label_length = lengths, .reduce = "no", .normalize = first, .batch_first = first});
  };
  const std::vector<double> expected = to_vector<double>(loss(x, rows, false).data());
  BOOST_TEST(to_vector<double>(loss(x, joined, false).data()) == expected, boost::test_tools::per_element());
  const Variable wide(astype(rows.data(), Dtype::int64));
  BOOST_TEST(to_vector<double>(loss(x, wide, false).data()) == expected, boost::test_tools::per_element());
  // Sums of 16-bit scores are formed in float32.
  const Variable narrow = loss(Variable(astype(x.data(), Dtype::float16)), rows, false);
  BOOST_TEST(narrow.dtype() == Dtype::float16);
  for (std::size_t k = 0; k < 3; ++k)
    BOOST_TEST(std::fabs(to_vector<double>(narrow.data())[k] - expected[k]) < 4e-3 * expected[k]);
  const std::vector<double> divided = to_vector<double>(loss(transpose(x, {1, 0, 2}), joined, true).data());
  for (std::size_t k = 0; k < 3; ++k) BOOST_TEST(std::fabs(divided[k] - expected[k] / (k == 0 ? 2 : 1)) < 1e-12);
  const auto alone = [&](const nn::CTCOptions& o) { nn::connectionist_temporal_classification(x, joined, 0, o); };
  BOOST_CHECK_EXCEPTION(alone({}), catena::ValueError, says("labels of one axis need label_length"));
  BOOST_CHECK_EXCEPTION(alone({.label_length = array(std::vector<std::int32_t>{2, 2, 1}, {3})}), catena::ValueError,
                        says("label_length adds up to 5, but there are 3 labels"));
  BOOST_CHECK_EXCEPTION(nn::connectionist_temporal_classification(Variables{Variable(arrays::ones({3, 4}))}, rows, 0,
                                                                  {.batch_first = true}),
                        catena::ValueError, says("batch_first needs scores in one Variable (B, T, V)"));
}

BOOST_AUTO_TEST_CASE(errors_name_the_inputs) {
  const Variable x(arrays::ones({4, 3})), t(arrays::zeros({3}, Dtype::int32));
  BOOST_CHECK_EXCEPTION(nn::softmax_cross_entropy(x, t), catena::InvalidType,
                        says("SoftmaxCrossEntropy (Forward)\n\nExpect: x.shape[0] == t.shape[0]\nActual: 4 != 3"));
  BOOST_CHECK_EXCEPTION(nn::mean_squared_error(x, Variable(arrays::ones({3}))), catena::InvalidType,
                        says("Expect: x0.shape == x1.shape\nActual: (4, 3) != (3,)"));
  BOOST_CHECK_EXCEPTION(nn::binary_cross_entropy_with_logits(x, Variable(arrays::zeros({4, 3}, Dtype::int32))),
                        catena::InvalidType, says("t.dtype == x.dtype"));
  BOOST_CHECK_EXCEPTION(nn::mean_squared_error(x, x, "average"), catena::ValueError,
                        says("mean_squared_error: reduce is \"average\"; it must be \"mean\", \"sum\" or \"no\""));
  BOOST_CHECK_EXCEPTION(nn::kl_div(x, x, "none"), catena::ValueError, says("kl_div: reduce is \"none\""));
  BOOST_CHECK_THROW(nn::smooth_l1(x, x, -1), catena::ValueError);
  BOOST_CHECK_THROW(nn::focal_loss(x, x, {.gamma = -1}), catena::ValueError);
  BOOST_CHECK_THROW(nn::info_nce(x, x, {.temperature = 0}), catena::ValueError);
  BOOST_CHECK_THROW(nn::pairwise_distance(x, x, {.p = 0}), catena::ValueError);
  BOOST_CHECK_THROW(nn::multi_margin_loss(x, Variable(arrays::zeros({4}, Dtype::int32)), {.p = 3}), catena::ValueError);
  BOOST_CHECK_THROW(nn::binary_cross_entropy(x, x, {.pos_weight = arrays::ones({3})}), catena::ValueError);
  BOOST_CHECK_THROW(nn::binary_cross_entropy_with_logits(x, x, {.weight = arrays::ones({5})}), catena::ValueError);
  BOOST_CHECK_THROW(nn::cosine_embedding_loss(x, x, Variable(arrays::ones({3}))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(empty_batches) {
  const Variable x(arrays::ones({0, 3})), t(arrays::zeros({0}, Dtype::int32));
  for (const char* reduce : {"mean", "sum", "no"}) BOOST_TEST_CONTEXT(reduce) {
      const Shape shape = reduce == std::string("no") ? Shape{0} : Shape{};
      BOOST_CHECK(nn::nll_loss(x, t, {.reduce = reduce}).shape() == shape);
      BOOST_CHECK(nn::multi_margin_loss(x, t, {.reduce = reduce}).shape() == shape);
      BOOST_CHECK(nn::multilabel_margin_loss(x, Variable(arrays::zeros({0, 3}, Dtype::int32)), {reduce}).shape() ==
                  shape);
      BOOST_CHECK(nn::triplet_margin_loss(x, x, x, {.reduce = reduce}).shape() == shape);
      BOOST_CHECK(nn::softmax_cross_entropy(x, t, {.reduce = reduce, .label_smoothing = 0.1}).shape() == shape);
    }
  BOOST_TEST(value(nn::linear_cross_entropy(x, Variable(arrays::ones({2, 3})), {}, t)) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
