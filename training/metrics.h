// Measures of classifications: functions of scores and labels, and objects that collect batches. The names are those of
// torchmetrics. (Reported values of a Trainer are nn::report, and nn/functions/evaluation.h has Chainer's functions.)
//
//   const double all = training::metrics::accuracy(y, t);                    // y (N, C) scores or (N) classes, t (N)
//   training::metrics::Accuracy collected({.num_classes = 10});
//   for (...) collected.update(model(x), t);
//   const double mean = collected.compute();
//
// Scores (N, C) count as the class with the greatest one; floating scores (N) or (N, 1) of two classes count as 1 from
// `threshold` on, with task "binary" above it. All is computed on the host. ValueError for labels of another number,
// labels that are no class, and options that are out of range.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catena/autograd/variable.h>

namespace training::metrics {

using autograd::Array;
using autograd::Variable;

// Options of all measures.
struct Options {
  // "multiclass", or "binary": the classes are 0 and 1, floating scores (N) or (N, 1) of which some lie outside of 0 to
  // 1 are logits, and precision, recall and F1 are those of class 1, whatever `average` is. ValueError for others.
  std::string task = "multiclass";
  std::int64_t num_classes = 0;  // 0: as many as there are scores, or the greatest class and 2 at least
  double threshold = 0.5;
  std::int64_t top_k = 1;  // accuracy: the label is among the classes with the k greatest scores
  std::string average =
      "macro";  // of the measures of classes: "macro", "micro", or "weighted" by their numbers of labels
};

// Counts (num_classes x num_classes): [label][predicted].
using Counts = std::vector<std::vector<std::int64_t>>;

// The share of right predictions, and the counts of all pairs of a label and a predicted class.
CATENA_EXPORT double accuracy(const Variable& y, const Variable& t, const Options& options = {});
CATENA_EXPORT Counts confusion_matrix(const Variable& y, const Variable& t, const Options& options = {});
// Of what is predicted as a class the part that is right; of the labels of a class the part that is found; and their
// harmonic mean. A class without predictions or labels counts as 0; in "macro" a class without both is left out.
CATENA_EXPORT double precision(const Variable& y, const Variable& t, const Options& options = {});
CATENA_EXPORT double recall(const Variable& y, const Variable& t, const Options& options = {});
CATENA_EXPORT double f1_score(const Variable& y, const Variable& t, const Options& options = {});
// The area under the curve of the part of found positives over that of false ones: the probability that a positive has
// a greater score than a negative, equal scores being one half. y (N) or (N, 1), or (N, 2) of which the second column
// has the scores. ValueError unless labels 0 and 1 both occur.
CATENA_EXPORT double auroc(const Variable& y, const Variable& t);

// Collects batches. compute() is the measure of all since reset(); RuntimeError without a batch. The constructor throws
// a ValueError for another task.
class CATENA_EXPORT Metric {
 public:
  virtual ~Metric();
  void update(const Variable& y, const Variable& t);  // after an error, the batch is not collected
  // The measure of this batch alone, which is collected as well.
  double operator()(const Variable& y, const Variable& t);
  virtual double compute() const = 0;
  virtual void reset();

 protected:
  explicit Metric(Options options);
  virtual double of(const Variable& y, const Variable& t) const = 0;
  // Throws for a batch that cannot be a part of the whole; by default, for one that has no measure.
  virtual void check(const Variable& y, const Variable& t) const { of(y, t); }
  Variable scores() const;
  Variable labels() const;
  Options options_;

 private:
  void collect(const Variable& y, const Variable& t);
  std::vector<Array> scores_, labels_;
};
#define CATENA_METRIC(Class, function)                                                  \
  struct CATENA_EXPORT Class : Metric {                                                 \
    explicit Class(Options options = {}) : Metric(std::move(options)) {}                \
    double compute() const override { return of(scores(), labels()); }                  \
                                                                                        \
   protected:                                                                           \
    double of(const Variable& y, const Variable& t) const override { return function; } \
  };
// The measures of these names.
CATENA_METRIC(Accuracy, accuracy(y, t, options_))
CATENA_METRIC(Precision, precision(y, t, options_))
CATENA_METRIC(Recall, recall(y, t, options_))
CATENA_METRIC(F1Score, f1_score(y, t, options_))
#undef CATENA_METRIC
// The function auroc of all batches, of which one may have labels of one class only; operator() needs both, as auroc.
struct CATENA_EXPORT AUROC : Metric {
  explicit AUROC(Options options = {}) : Metric(std::move(options)) {}
  double compute() const override { return of(scores(), labels()); }

 protected:
  double of(const Variable& y, const Variable& t) const override { return auroc(y, t); }
  void check(const Variable& y, const Variable& t) const override;
};

// Adds up the counts of batches.
class CATENA_EXPORT ConfusionMatrix {
 public:
  explicit ConfusionMatrix(Options options);  // ValueError without num_classes, unless the task is "binary"
  void update(const Variable& y, const Variable& t);
  const Counts& compute() const noexcept { return counts_; }
  void reset();

 private:
  Options options_;
  Counts counts_;
};

// The mean of numbers, with weights.
class CATENA_EXPORT MeanMetric {
 public:
  void update(double value, double weight = 1) noexcept { sum_ += value * weight, weight_ += weight; }
  void update(const Variable& value, double weight = 1) { update(value.item<double>(), weight); }
  double compute() const;  // RuntimeError without a value
  void reset() noexcept { sum_ = weight_ = 0; }

 private:
  double sum_ = 0, weight_ = 0;
};

}  // namespace training::metrics
