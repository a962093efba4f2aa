// Evaluation measures without gradients; the result has the dtype of y.
#pragma once

#include <concepts>
#include <optional>
#include <string>

#include <catena/autograd/variable.h>

namespace nn {

using autograd::Array;
using autograd::Variable;

// Returns the fraction of samples whose argmax over axis 1 of y equals t (any integer dtype); among equal maxima, the
// first one. Samples with ignore_label are not counted; 0 if no sample is counted. A negative label, which losses use
// for ignored samples, is always a miss. Any other label that is neither a class nor ignore_label is an error as in
// softmax_cross_entropy; where labels are not checked, it is a miss.
CATENA_EXPORT Variable accuracy(const Variable& y, const Variable& t, std::optional<int> ignore_label = {});
struct AccuracyOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<int> ignore_label = {};
};
template <std::same_as<AccuracyOptions> O = AccuracyOptions>  // accuracy(y, t, {}) has no label to ignore
Variable accuracy(const Variable& y, const Variable& t, const O& o) {
  return accuracy(y, t, o.ignore_label);
}

// Returns the fraction of scores y with the right sign: y >= 0 means 1, y < 0 means 0. Labels -1 are not counted; 0 if
// no label is counted. Equal shapes (InvalidType).
CATENA_EXPORT Variable binary_accuracy(const Variable& y, const Variable& t);

// ---- per class ----
// y (N, C, d...) and t (N, d...) are as in accuracy; the predicted class is the argmax over axis 1. Results have the
// shape (label_num); support is int64, the number of labels of each class. A class without labels has recall NaN; a
// class that is never predicted has precision NaN.
struct ClassificationOptions {
  std::optional<int> label_num = {};  // default: the greatest label + 1, which waits for the device
  double beta = 1;                    // the weight of recall in fbeta
  int ignore_label = -1;              // samples with this label are not counted
};
struct ClassificationSummary {
  Variable precision, recall, fbeta, support;
};
// precision = hits / predictions, recall = hits / labels, fbeta = (1 + beta^2) p r / (beta^2 p + r). A label that is
// not less than label_num belongs to no class; in debug mode it is an AssertionError.
CATENA_EXPORT ClassificationSummary classification_summary(const Variable& y, const Variable& t,
                                                           const ClassificationOptions& options = {});
//   auto [p, support] = precision(y, t, 10);
struct ClassScores {
  Variable score, support;
};
CATENA_EXPORT ClassScores precision(const Variable& y, const Variable& t, std::optional<int> label_num = {},
                                    int ignore_label = -1);
CATENA_EXPORT ClassScores recall(const Variable& y, const Variable& t, std::optional<int> label_num = {},
                                 int ignore_label = -1);
CATENA_EXPORT ClassScores fbeta_score(const Variable& y, const Variable& t, std::optional<int> label_num = {},
                                      double beta = 1, int ignore_label = -1);
CATENA_EXPORT ClassScores f1_score(const Variable& y, const Variable& t, std::optional<int> label_num = {},
                                   int ignore_label = -1);

// 1 - sum((pred - truth)^2) / sum((truth - mean(truth))^2) over axis 0; 0 where the divisor is 0. Returns the mean over
// all columns ("uniform_average") or one value per column ("raw_values"); ValueError for other texts. Equal shapes.
// Sample weights are a NotImplementedError.
struct R2Options {
  Array sample_weight = {};
  std::string multioutput = "uniform_average";
};
CATENA_EXPORT Variable r2_score(const Variable& pred, const Variable& truth, const R2Options& options = {});

}  // namespace nn
