// The classes of measures (evaluation.h) and losses (loss.h).
#pragma once

#include <catena/nn/functions/evaluation.h>
#include <catena/nn/functions/loss.h>
#include <catena/nn/functions/objects/function_object.h>

namespace nn::functions {

struct CATENA_EXPORT Accuracy : FunctionObjectOf<Variable> {
  explicit Accuracy(std::optional<int> ignore_label = std::nullopt);
  Accuracy(Accuracy&) = default;
  template <std::same_as<Accuracy> T> Accuracy(const T& other) : FunctionObjectOf(other) {}
};
struct BinaryAccuracy : BinaryObject<"BinaryAccuracy", binary_accuracy> {};
struct CATENA_EXPORT ClassificationSummary : FunctionObjectOf<nn::ClassificationSummary> {
  explicit ClassificationSummary(std::optional<int> label_num, double beta, int ignore_label);
};
struct CATENA_EXPORT R2_score : FunctionObjectOf<Variable> {
  explicit R2_score(const Array& sample_weight, const std::string& multioutput);
};

struct AbsoluteError : BinaryObject<"AbsoluteError", absolute_error, FunctionObject::composed> {};
struct CATENA_EXPORT Contrastive : FunctionObjectOf<Variable> {
  explicit Contrastive(double margin, const std::string& reduce = "mean");
};
struct CATENA_EXPORT ConnectionistTemporalClassification : FunctionObjectOf<Variable> {
  explicit ConnectionistTemporalClassification(int blank_symbol, const std::string& reduce = "mean");
};
struct CATENA_EXPORT CrossCovariance : FunctionObjectOf<Variable> {
  explicit CrossCovariance(const std::string& reduce = "half_squared_sum");
};
struct CATENA_EXPORT DeCov : FunctionObjectOf<Variable> {
  explicit DeCov(const std::string& reduce = "half_squared_sum");
};
struct CATENA_EXPORT Hinge : FunctionObjectOf<Variable> {
  explicit Hinge(const std::string& norm = "L1", const std::string& reduce = "mean");
};
struct CATENA_EXPORT HuberLoss : FunctionObjectOf<Variable> {
  explicit HuberLoss(double delta, const std::string& reduce = "sum_along_second_axis");
};
struct MeanAbsoluteError : BinaryObject<"MeanAbsoluteError", mean_absolute_error, FunctionObject::composed> {};
struct MeanSquaredError : BinaryObject<"MeanSquaredError", mean_squared_error> {};
struct CATENA_EXPORT NegativeSamplingFunction : FunctionObjectOf<Variable> {
  explicit NegativeSamplingFunction(const Sampler& sampler, int sample_size, const std::string& reduce = "sum");
  const Array& samples() const { return kept(0); }
};
struct CATENA_EXPORT SigmoidCrossEntropy : FunctionObjectOf<Variable> {
  explicit SigmoidCrossEntropy(bool use_cudnn = true, bool normalize = true, const std::string& reduce = "mean");
};
struct CATENA_EXPORT SoftmaxCrossEntropy : FunctionObjectOf<Variable> {
  explicit SoftmaxCrossEntropy(bool use_cudnn = true, bool normalize = true, bool cache_score = true,
                               const Array& class_weight = Array(), int ignore_label = -1,
                               const std::string& reduce = "mean");
};
struct SquaredError : BinaryObject<"SquaredError", squared_error, FunctionObject::composed> {};
struct CATENA_EXPORT Triplet : FunctionObjectOf<Variable> {
  explicit Triplet(double margin, const std::string& reduce = "mean");
};

}  // namespace nn::functions
