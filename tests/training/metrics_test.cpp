// Measures of classifications, counted by hand, as functions and as objects that collect batches.
#include <catena/training/metrics.h>

#include <cmath>

#include <catena/tests/support/training_fixtures.h>

using namespace test;
using namespace training;
namespace m = training::metrics;

namespace {

const auto exact = boost::test_tools::tolerance(1e-12);
template <class F> void refused(F f) { BOOST_CHECK_THROW(f(), catena::ValueError); }
// Predicted 0, 1, 1, 2 where the labels are 0, 1, 2, 2; the second best of the third is 2.
Variable scores() { return Variable(floats({3, 1, 2, 0, 5, 1, 0, 3, 2, 1, 0, 4}, {4, 3})); }
Variable labels() { return Variable(ints({0, 1, 2, 2})); }

}  // namespace

BOOST_AUTO_TEST_SUITE(metrics)

BOOST_AUTO_TEST_CASE(of_classes) {
  BOOST_TEST(m::accuracy(scores(), labels()) == 0.75);
  BOOST_TEST(m::accuracy(scores(), labels(), {.top_k = 2}) == 1.0);
  BOOST_TEST((m::confusion_matrix(scores(), labels()) == m::Counts{{1, 0, 0}, {0, 1, 0}, {0, 1, 1}}));
  BOOST_TEST((m::confusion_matrix(ints({1, 0}), ints({1, 1}), {.num_classes = 2}) == m::Counts{{0, 0}, {1, 1}}));
  BOOST_TEST(m::precision(scores(), labels()) == (1 + 0.5 + 1) / 3, exact);
  BOOST_TEST(m::recall(scores(), labels()) == (1 + 1 + 0.5) / 3, exact);
  const double f1 = m::f1_score(scores(), labels()), by_hand = (1 + 2.0 / 3 + 2.0 / 3) / 3;
  BOOST_TEST(f1 == by_hand, exact);
  BOOST_TEST(m::recall(scores(), labels(), {.average = "micro"}) == 0.75, exact);
  BOOST_TEST(m::recall(scores(), labels(), {.average = "weighted"}) == (1 + 1 + 2 * 0.5) / 4, exact);
  BOOST_TEST(m::accuracy(Variable(floats({0.2f, 0.6f, 0.7f}, {3})), ints({0, 1, 0}), {.threshold = 0.65}) == 1.0 / 3,
             exact);
}

BOOST_AUTO_TEST_CASE(area_under_the_curve) {
  const Variable t(ints({0, 0, 1, 1}));
  BOOST_TEST(m::auroc(Variable(floats({0.1f, 0.4f, 0.35f, 0.8f}, {4})), t) == 0.75, exact);
  BOOST_TEST(m::auroc(Variable(floats({1, 1, 1, 1}, {4, 1})), t) == 0.5, exact);
  BOOST_TEST(m::auroc(Variable(floats({9, 0.1f, 9, 0.4f, 9, 0.35f, 9, 0.8f}, {4, 2})), t) == 0.75, exact);
  refused([] { m::auroc(Variable(floats({1, 2}, {2})), Variable(ints({1, 1}))); });
  refused([] { m::auroc(Variable(floats({1, 2}, {2})), Variable(ints({0, 2}))); });
  refused([] { m::auroc(Variable(floats({1, std::nanf("")}, {2})), Variable(ints({0, 1}))); });
}

BOOST_AUTO_TEST_CASE(collected) {
  m::Accuracy accuracy({.num_classes = 3});
  BOOST_CHECK_THROW(accuracy.compute(), catena::RuntimeError);
  BOOST_TEST(accuracy(scores(), labels()) == 0.75);
  accuracy.update(Variable(floats({0, 0, 1, 1, 0, 0}, {2, 3})), ints({0, 1}));
  BOOST_TEST(accuracy.compute() == 0.5);
  accuracy.reset();
  BOOST_CHECK_THROW(accuracy.compute(), catena::RuntimeError);
  m::ConfusionMatrix counts({.num_classes = 3});
  counts.update(scores(), labels());
  counts.update(scores(), labels());
  BOOST_TEST(counts.compute()[2][1] == 2);
  counts.reset();
  BOOST_TEST(counts.compute()[2][1] == 0);
  m::MeanMetric mean;
  BOOST_CHECK_THROW(mean.compute(), catena::RuntimeError);
  mean.update(1);
  mean.update(Variable(floats({4}, {1})), 2);
  BOOST_TEST(mean.compute() == 3, exact);
  m::AUROC area;
  area.update(Variable(floats({0.1f, 0.8f}, {2})), Variable(ints({0, 1})));
  BOOST_TEST(area.compute() == 1.0);
}

BOOST_AUTO_TEST_CASE(batches_of_one_label) {
  m::AUROC area;
  area.update(Variable(floats({0.1f, 0.4f}, {2})), ints({0, 0}));
  area.update(Variable(floats({0.35f, 0.8f}, {2})), ints({1, 1}));
  BOOST_TEST(area.compute() == 0.75, exact);
  refused([&] { area.update(Variable(floats({1, 2}, {2})), ints({0, 2})); });
  refused([&] { area.update(Variable(floats({1, 2}, {2})), ints({0})); });
  refused([&] { area.update(Variable(floats({1, 2, 3}, {1, 3})), ints({0})); });
  refused([&] { area(Variable(floats({1, 2}, {2})), ints({1, 1})); });
  BOOST_TEST(area.compute() == 0.75, exact);  // nothing of these was collected
}

// The definitions of torchmetrics' Binary*: class 1 is predicted above the threshold; of 3 predictions 2 are right, of
// the 4 labels 1 two are found.
BOOST_AUTO_TEST_CASE(of_two_classes) {
  const Variable y(floats({0.9f, 0.75f, 0.25f, 0.5f, 0.7f, 0.1f}, {6})), t(ints({1, 1, 1, 1, 0, 0}));
  const m::Options binary{.task = "binary"};
  BOOST_TEST(m::precision(y, t, binary) == 2.0 / 3, exact);
  BOOST_TEST(m::recall(y, t, binary) == 0.5, exact);
  BOOST_TEST(m::f1_score(y, t, binary) == 4.0 / 7, exact);
  BOOST_TEST(m::f1_score(y, t, {.task = "binary", .average = "micro"}) == 4.0 / 7, exact);
  BOOST_TEST(m::accuracy(y, t, binary) == 0.5, exact);
  BOOST_TEST((m::confusion_matrix(y, t, binary) == m::Counts{{1, 1}, {2, 2}}));
  BOOST_TEST(m::recall(y, t) == (0.5 + 0.75) / 2, exact);  // "multiclass" counts 0.5 as 1, and is the mean of classes
  const Variable logits(floats({3, 1, -1, 0, 2, -2}, {6}));
  BOOST_TEST(m::precision(logits, t, binary) == 2.0 / 3, exact);
  BOOST_TEST(m::recall(logits, t, {.task = "binary", .threshold = 0.25}) == 1, exact);  // the logit -1 is 0.269
  m::Recall recall(binary);
  BOOST_TEST(recall(Variable(ints({1, 0})), ints({1, 1})) == 0.5, exact);
  m::ConfusionMatrix counts(binary);
  counts.update(y, t);
  BOOST_TEST((counts.compute() == m::Counts{{1, 1}, {2, 2}}));
  refused([] { m::precision(scores(), labels(), {.task = "binary"}); });
  refused([] { m::recall(Variable(ints({1, 2})), ints({1, 1}), {.task = "binary"}); });
  refused([] { m::accuracy(scores(), labels(), {.task = "multilabel"}); });
  refused([] { m::Accuracy({.task = "multilabel"}); });
}

BOOST_AUTO_TEST_CASE(refused_arguments) {
  refused([] { m::accuracy(scores(), ints({0, 1})); });
  refused([] { m::accuracy(scores(), labels(), {.top_k = 4}); });
  refused([] { m::confusion_matrix(scores(), labels(), {.num_classes = 2}); });
  refused([] { m::precision(scores(), labels(), {.average = "mean"}); });
  refused([] { m::ConfusionMatrix(m::Options{}); });
}

BOOST_AUTO_TEST_SUITE_END()
