#include <catena/training/metrics.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <catena/kernels/base/error.h>

namespace training::metrics {

using catena::check;
using catena::ValueError;

namespace {

// Scores on the host: n rows of `columns`, which is 0 for classes.
struct Table {
  std::vector<double> values;
  std::int64_t n = 0, columns = 0;
  const double* row(std::int64_t i) const { return values.data() + i * std::max<std::int64_t>(columns, 1); }
};

std::vector<std::int64_t> labels_of(const Variable& t) { return autograd::to_vector<std::int64_t>(t.data()); }

Table table_of(const char* op, const Variable& y, std::size_t labels) {
  check<ValueError>(y.ndim() == 1 || y.ndim() == 2, op, "the scores have the shape ", y.shape(),
                    "; (N, C) or (N) is needed");
  Table table{autograd::to_vector<double>(y.data()), y.shape()[0], y.ndim() == 2 ? y.shape()[1] : 0};
  if (y.ndim() == 1 && catena::is_floating(y.dtype())) table.columns = 1;
  check<ValueError>(std::size_t(table.n) == labels, op, "there are ", table.n, " scores and ", labels, " labels");
  check<ValueError>(table.n > 0, op, "there are no examples");
  return table;
}

bool is_binary(const char* op, const Options& o) {
  check<ValueError>(o.task == "binary" || o.task == "multiclass", op, "task is \"", o.task,
                    "\"; it is \"binary\" or \"multiclass\"");
  return o.task == "binary";
}

// The predicted class of each row.
std::vector<std::int64_t> predicted(const char* op, const Table& table, const Options& o) {
  const bool binary = is_binary(op, o);
  check<ValueError>(!binary || table.columns <= 2, op, "task is \"binary\", and there are scores of ", table.columns,
                    " classes");
  const bool logits = binary && table.columns == 1 &&
                      std::any_of(table.values.begin(), table.values.end(), [](double y) { return y < 0 || y > 1; });
  std::vector<std::int64_t> classes;
  for (std::int64_t i = 0; i < table.n; ++i) {
    const double* const row = table.row(i);
    if (table.columns == 0) {
      classes.push_back(std::int64_t(row[0]));
    } else if (table.columns > 1) {
      classes.push_back(std::max_element(row, row + table.columns) - row);
    } else {
      const double score = logits ? 1 / (1 + std::exp(-row[0])) : row[0];
      classes.push_back((binary ? score > o.threshold : score >= o.threshold) ? 1 : 0);
    }
  }
  return classes;
}

Counts counts_of(const char* op, const Variable& y, const Variable& t, const Options& o) {
  const std::vector<std::int64_t> labels = labels_of(t);
  const Table table = table_of(op, y, labels.size());
  const std::vector<std::int64_t> guesses = predicted(op, table, o);
  const bool binary = o.task == "binary", counted = !binary && o.num_classes == 0;
  std::int64_t classes = binary ? 2 : counted ? std::max<std::int64_t>(table.columns, 2) : o.num_classes;
  if (counted && table.columns < 2)
    for (std::size_t i = 0; i < labels.size(); ++i) classes = std::max({classes, labels[i] + 1, guesses[i] + 1});
  const auto n = static_cast<std::size_t>(classes);
  Counts counts(n, std::vector<std::int64_t>(n));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (const std::int64_t c : {labels[i], guesses[i]})
      check<ValueError>(c >= 0 && c < classes, op, "the class ", c, " is none of ", classes);
    ++counts[std::size_t(labels[i])][std::size_t(guesses[i])];
  }
  return counts;
}

// The numbers of a class: right, predicted, labels.
struct OfClass {
  double right, guessed, labels;
};
double ratio(double a, double b) { return b > 0 ? a / b : 0; }

template <class Measure>
double averaged(const char* op, const Variable& y, const Variable& t, const Options& o, Measure measure) {
  check<ValueError>(o.average == "macro" || o.average == "micro" || o.average == "weighted", op, "average is \"",
                    o.average, "\"; it is \"macro\", \"micro\" or \"weighted\"");
  const Counts counts = counts_of(op, y, t, o);
  OfClass all{0, 0, 0};
  double sum = 0, weights = 0, last = 0;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    OfClass one{double(counts[c][c]), 0, double(std::accumulate(counts[c].begin(), counts[c].end(), std::int64_t(0)))};
    for (const auto& row : counts) one.guessed += double(row[c]);
    all = {all.right + one.right, all.guessed + one.guessed, all.labels + one.labels};
    const double weight = o.average == "weighted" ? one.labels : one.guessed + one.labels > 0 ? 1 : 0;
    last = measure(one);
    sum += weight * last;
    weights += weight;
  }
  if (o.task == "binary") return last;  // of class 1
  return o.average == "micro" ? measure(all) : ratio(sum, weights);
}

}  // namespace

double accuracy(const Variable& y, const Variable& t, const Options& o) {
  const std::vector<std::int64_t> labels = labels_of(t);
  const Table table = table_of("accuracy", y, labels.size());
  check<ValueError>(o.top_k >= 1 && (o.top_k == 1 || o.top_k <= table.columns), "accuracy", "top_k is ", o.top_k,
                    " of ", table.columns, " scores");
  const std::vector<std::int64_t> guesses = predicted("accuracy", table, o);
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < table.n; ++i) {
    const std::int64_t label = labels[std::size_t(i)];
    if (o.top_k == 1) {
      right += guesses[std::size_t(i)] == label;
      continue;
    }
    check<ValueError>(label >= 0 && label < table.columns, "accuracy", "the class ", label, " is none of ",
                      table.columns);
    const double* const row = table.row(i);
    // Of equal scores the earlier one counts as greater.
    std::int64_t before = 0;
    for (std::int64_t c = 0; c < table.columns; ++c)
      before += row[c] > row[label] || (row[c] == row[label] && c < label);
    right += before < o.top_k;
  }
  return double(right) / double(table.n);
}

Counts confusion_matrix(const Variable& y, const Variable& t, const Options& o) {
  return counts_of("confusion_matrix", y, t, o);
}
double precision(const Variable& y, const Variable& t, const Options& o) {
  return averaged("precision", y, t, o, [](const OfClass& c) { return ratio(c.right, c.guessed); });
}
double recall(const Variable& y, const Variable& t, const Options& o) {
  return averaged("recall", y, t, o, [](const OfClass& c) { return ratio(c.right, c.labels); });
}
double f1_score(const Variable& y, const Variable& t, const Options& o) {
  return averaged("f1_score", y, t, o, [](const OfClass& c) { return ratio(2 * c.right, c.guessed + c.labels); });
}

namespace {

// The scores of class 1 and the labels.
struct OfTwoClasses {
  std::vector<double> scores;
  std::vector<std::int64_t> labels;
};

OfTwoClasses two_classes(const Variable& y, const Variable& t) {
  OfTwoClasses all{{}, labels_of(t)};
  const Table table = table_of("auroc", y, all.labels.size());
  check<ValueError>(table.columns <= 2, "auroc", "there are scores of ", table.columns, " classes; two are possible");
  for (std::int64_t i = 0; i < table.n; ++i) {
    all.scores.push_back(table.row(i)[table.columns == 2 ? 1 : 0]);
    check<ValueError>(!std::isnan(all.scores.back()), "auroc", "the score of example ", i,
                      " is NaN, which has no place in an order; scores are numbers");
  }
  for (const std::int64_t label : all.labels)
    check<ValueError>(label == 0 || label == 1, "auroc", "a label is ", label, "; it is 0 or 1");
  return all;
}

}  // namespace

double auroc(const Variable& y, const Variable& t) {
  const auto [scores, labels] = two_classes(y, t);
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(), [&of = scores](std::size_t a, std::size_t b) { return of[a] < of[b]; });
  double positives = 0, negatives = 0, pairs = 0;
  for (std::size_t i = 0; i < order.size();) {
    double up = 0, down = 0;  // of equal scores
    std::size_t j = i;
    for (; j < order.size() && scores[order[j]] == scores[order[i]]; ++j) (labels[order[j]] == 1 ? up : down) += 1;
    pairs += up * (negatives + down / 2);
    positives += up, negatives += down;
    i = j;
  }
  check<ValueError>(positives > 0 && negatives > 0, "auroc", "there are ", positives, " labels 1 and ", negatives,
                    " labels 0; both are needed");
  return pairs / (positives * negatives);
}

Metric::Metric(Options options) : options_(std::move(options)) { is_binary("Metric", options_); }
Metric::~Metric() = default;
void Metric::update(const Variable& y, const Variable& t) {
  check(y, t);
  collect(y, t);
}
double Metric::operator()(const Variable& y, const Variable& t) {
  const double value = of(y, t);
  collect(y, t);
  return value;
}
void AUROC::check(const Variable& y, const Variable& t) const { two_classes(y, t); }
void Metric::collect(const Variable& y, const Variable& t) {
  scores_.push_back(autograd::copy(y.data()));
  labels_.push_back(autograd::copy(t.data()));
}
void Metric::reset() {
  scores_.clear();
  labels_.clear();
}
namespace {
Variable joined(const std::vector<Array>& parts) {
  check<catena::RuntimeError>(!parts.empty(), "Metric.compute", "there is no batch: call update() before");
  return Variable(autograd::concatenate(parts, 0), {.requires_grad = false});
}
}  // namespace
Variable Metric::scores() const { return joined(scores_); }
Variable Metric::labels() const { return joined(labels_); }

ConfusionMatrix::ConfusionMatrix(Options options) : options_(std::move(options)) {
  if (is_binary("ConfusionMatrix", options_)) options_.num_classes = 2;
  check<ValueError>(options_.num_classes >= 1, "ConfusionMatrix", "num_classes is ", options_.num_classes,
                    " and must be at least 1");
  reset();
}
void ConfusionMatrix::reset() {
  const auto n = std::size_t(options_.num_classes);
  counts_.assign(n, std::vector<std::int64_t>(n));
}
void ConfusionMatrix::update(const Variable& y, const Variable& t) {
  const Counts more = confusion_matrix(y, t, options_);
  for (std::size_t i = 0; i < more.size(); ++i)
    for (std::size_t j = 0; j < more.size(); ++j) counts_[i][j] += more[i][j];
}

double MeanMetric::compute() const {
  check<catena::RuntimeError>(weight_ != 0, "MeanMetric", "there is no value: call update() before");
  return sum_ / weight_;
}

}  // namespace training::metrics
