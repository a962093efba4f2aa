// Losses under the names of PyTorch's modules, against their formulas.
#include <catena/nn/functions/loss_modules.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numbers>

#include <catena/nn/functions/activation.h>
#include <catena/tests/support/framework_devices.h>

using namespace autograd;
using Doubles = std::vector<double>;

namespace {

Variable matrix(const Doubles& v, std::int64_t columns) {
  return Variable(array<double>(v, {std::int64_t(v.size()) / columns, columns}));
}
Variable row(const Doubles& v) { return Variable(array<double>(v, {std::int64_t(v.size())})); }
Variable ints(const std::vector<std::int32_t>& v) { return Variable(array<std::int32_t>(v, {std::int64_t(v.size())})); }
void check(const Variable& loss, const Doubles& expected) {
  const Doubles got = to_vector<double>(loss.data());
  BOOST_REQUIRE_EQUAL(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) BOOST_TEST(std::abs(got[i] - expected[i]) < 1e-6, got[i]);
}
// The losses one by one, their sum and their mean, of a module of these inputs.
template <class Loss, class O, class... X> void check_reductions(O options, const Doubles& losses, const X&... x) {
  double sum = 0;
  for (const double loss : losses) sum += loss;
  options.reduction = "none";
  check(Loss(options)(x...), losses);
  options.reduction = "sum";
  check(Loss(options)(x...), {sum});
  options.reduction = "mean";
  check(Loss(options)(x...), {sum / double(losses.size())});
  // Texts are PyTorch's: "no" is a word of the option reduce.
  for (const char* text : {"average", "no", "None", ""}) {
    options.reduction = text;
    const Loss unknown(options);
    BOOST_CHECK_EXCEPTION(unknown(x...), catena::ValueError, [&](const catena::ValueError& e) {
      const std::string message = e.what();
      return message.find("reduction is \"" + std::string(text) + "\"") != std::string::npos &&
             message.find("\"none\"") != std::string::npos;
    });
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(loss_modules)

BOOST_AUTO_TEST_CASE(distances) {
  const Variable x = row({0, 3, -2}), t = row({1, 1, 0.5});
  check_reductions<nn::L1Loss>(nn::LossReduction(), {1, 2, 2.5}, x, t);
  check_reductions<nn::MSELoss>(nn::LossReduction(), {1, 4, 6.25}, x, t);
  check(nn::MSELoss()(x, t), {11.25 / 3});
  check(nn::L1Loss()(x, t), {5.5 / 3});
  check_reductions<nn::HuberLoss>(nn::HuberLossOptions(), {0.5, 1.5, 2}, x, t);
  check_reductions<nn::HuberLoss>(nn::HuberLossOptions{.delta = 2}, {0.5, 2, 3}, x, t);
  BOOST_CHECK_THROW(nn::HuberLoss({.delta = -1})(x, t), catena::ValueError);
  // The functions with these options.
  check(nn::mse_loss(x, t, {.reduction = "none"}), {1, 4, 6.25});
  check(nn::mse_loss(x, t, {.reduction = "sum"}), {11.25});
  check(nn::l1_loss(x, t, {.reduction = "none"}), {1, 2, 2.5});
  check(nn::mse_loss(x, t, {}), {11.25 / 3});
  check(nn::mse_loss(x, t, {.reduce = "no"}), {1, 4, 6.25});
  check(nn::huber_loss(x, t), {4.0 / 3});
  check(nn::huber_loss(x, t, {.reduction = "sum", .delta = 2}), {5.5});
}

BOOST_AUTO_TEST_CASE(probabilities) {
  const Variable p = row({0.5, 0.25}), q = row({1, 0});
  check_reductions<nn::BCELoss>(nn::BinaryCrossEntropyOptions(), {std::log(2), -std::log(0.75)}, p, q);
  check(nn::BCELoss({.weight = array<double>({2, 0}, {2}), .reduction = "sum"})(p, q), {2 * std::log(2)});
  check_reductions<nn::BCEWithLogitsLoss>(nn::BinaryCrossEntropyOptions(), {std::log(2), std::log(2)}, row({0, 0}), q);
  const Variable log_q = row({-1, -2}), target = row({1, 0.5});
  check_reductions<nn::KLDivLoss>(nn::KLDivOptions(), {1, 0.5 * (std::log(0.5) + 2)}, log_q, target);
  check(nn::KLDivLoss({.reduction = "batchmean", .log_target = true})(matrix({-1, -2}, 2), matrix({0, -2}, 2)), {1});
  check_reductions<nn::PoissonNLLLoss>(nn::PoissonNLLOptions(), {1, std::exp(1) - 2}, row({0, 1}), row({3, 2}));
  check(nn::PoissonNLLLoss({.log_input = false, .eps = 0, .reduction = "sum"})(row({2}), row({3})),
        {2 - 3 * std::log(2)});
  check_reductions<nn::GaussianNLLLoss>(nn::GaussianNLLOptions(), {2, 0.5 * std::log(2) + 0.25}, row({1, 0}),
                                        row({3, 1}), row({1, 2}));
  check(nn::GaussianNLLLoss({.full = true})(row({1}), row({1}), row({1})), {0.5 * std::log(2 * std::numbers::pi)});
}

BOOST_AUTO_TEST_CASE(classes) {
  const Variable log_p = matrix({-1, -2, -3, -4, -5, -6}, 2), labels = ints({0, 1, 0});
  check_reductions<nn::NLLLoss>(nn::NLLLossOptions(), {1, 4, 5}, log_p, labels);
  // Divided by the weights of the labels; -100 is ignored, and another number if it is given.
  const Array weight = array<double>({1, 3}, {2});
  check(nn::NLLLoss({.weight = weight})(log_p, labels), {(1 + 12 + 5) / 5.0});
  check(nn::NLLLoss()(log_p, ints({0, -100, 0})), {3});
  check(nn::NLLLoss({.ignore_index = 1})(log_p, labels), {3});
  check(nn::nll_loss(log_p, labels, {.reduction = "sum"}), {10});
  check(nn::nll_loss(log_p, labels), {10.0 / 3});
}

BOOST_AUTO_TEST_CASE(pairs_and_triples) {
  const Variable a = matrix({1, 0, 0, 2}, 2), b = matrix({0, 1, 0, 1}, 2);
  check_reductions<nn::CosineEmbeddingLoss>(nn::MarginOptions{.margin = 0.25}, {1, 0.75}, a, b, ints({1, -1}));
  check_reductions<nn::MarginRankingLoss>(nn::MarginOptions{.margin = 0.5}, {1.5, 0}, row({1, 4}), row({2, 1}),
                                          ints({1, 1}));
  const Variable zero = matrix({0, 0, 0, 0}, 2), far = matrix({3, 4, 0, 0.5}, 2);
  // Distances of 5 and 0.5, from 1e-6 that is added to differences on.
  check_reductions<nn::TripletMarginLoss>(nn::TripletMarginOptions{.margin = 1, .eps = 0}, {0, 0.5}, zero, zero, far);
  check(nn::TripletMarginLoss({.margin = 6, .p = 1, .eps = 0, .reduction = "none"})(zero, zero, far), {0, 5.5});
  // `reduce` stays.
  check(nn::margin_ranking_loss(row({1, 4}), row({2, 1}), ints({1, 1}), {.reduce = "no"}), {1, 3 - 3});
  check(nn::hinge_embedding_loss(row({1, 4}), ints({1, -1}), {.margin = 5, .reduction = "none"}), {1, 1});
}

// Two times of two symbols of probability 1/2: the label 1 is (1, 1), (0, 1) or (1, 0).
BOOST_AUTO_TEST_CASE(sequences) {
  const Variable log_probs = nn::log_softmax(Variable(arrays::zeros({2, 1, 2}, Dtype::float64)), 2);
  const Variable label(array<std::int32_t>({1}, {1, 1}));
  const Array two = array<std::int32_t>({2}, {1}), one = array<std::int32_t>({1}, {1});
  check(nn::CTCLoss()(log_probs, label, two, one), {-std::log(0.75)});
  check(nn::CTCLoss({.reduction = "none"})(log_probs, label, two, one), {-std::log(0.75)});
  check(nn::CTCLoss()(log_probs, label, Variable(two), Variable(one)), {-std::log(0.75)});
  check(nn::ctc_loss(log_probs, label, Variable(two), Variable(one)), {-std::log(0.75)});
  const Variable zero_label(array<std::int32_t>({0}, {1, 1}));
  check(nn::CTCLoss({.blank = 1})(log_probs, zero_label, two, one), {-std::log(0.75)});
}

BOOST_AUTO_TEST_SUITE_END()
