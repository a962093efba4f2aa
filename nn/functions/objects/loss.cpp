#include <catena/nn/functions/objects/loss.h>

#include <catena/nn/functions/objects/arguments.h>

namespace nn::functions {

namespace {

Variable negative_samples(Arrays& kept, const Variables& x, const Sampler& sampler, int sample_size,
                          const std::string& reduce) {
  const Array drawn = draw_of(kept);
  const Sampler again = drawn ? Sampler([drawn](const Shape&) { return drawn; }) : sampler;
  const NegativeSamplingResult r =
      negative_sampling(x[0], x[1], x[2], again, sample_size, {.reduce = reduce}, return_samples);
  kept = {r.samples};
  return r.loss;
}

}  // namespace

Accuracy::Accuracy(std::optional<int> ignore_label)
    : FunctionObjectOf("Accuracy", {2}, node, [=](const Variables& x) { return accuracy(x[0], x[1], ignore_label); }) {}
ClassificationSummary::ClassificationSummary(std::optional<int> label_num, double beta, int ignore_label)
    : FunctionObjectOf("ClassificationSummary", {2}, node, [=](const Variables& x) {
        const auto s =
            classification_summary(x[0], x[1], {.label_num = label_num, .beta = beta, .ignore_label = ignore_label});
        return Variables{s.precision, s.recall, s.fbeta, s.support};
      }) {}
R2_score::R2_score(const Array& sample_weight, const std::string& multioutput)
    : FunctionObjectOf("R2_score", {2}, node, [=](const Variables& x) {
        return r2_score(x[0], x[1], {.sample_weight = sample_weight, .multioutput = multioutput});
      }) {}

Contrastive::Contrastive(double margin, const std::string& reduce)
    : FunctionObjectOf("Contrastive", {3}, composed, [=](const Variables& x) {
        return contrastive(x[0], x[1], x[2], {.margin = margin, .reduce = reduce});
      }) {}
ConnectionistTemporalClassification::ConnectionistTemporalClassification(int blank_symbol, const std::string& reduce)
    : FunctionObjectOf("ConnectionistTemporalClassification", {4, many}, composed, [=](const Variables& x) {
        return connectionist_temporal_classification(behind(x, 3), x[2], blank_symbol, x[0].data(), x[1].data(),
                                                     reduce);
      }) {}
CrossCovariance::CrossCovariance(const std::string& reduce)
    : FunctionObjectOf("CrossCovariance", {2}, composed,
                       [=](const Variables& x) { return cross_covariance(x[0], x[1], {.reduce = reduce}); }) {}
DeCov::DeCov(const std::string& reduce)
    : FunctionObjectOf("DeCov", {1}, composed, [=](const Variables& x) { return decov(x[0], {.reduce = reduce}); }) {}
Hinge::Hinge(const std::string& norm, const std::string& reduce)
    : FunctionObjectOf("Hinge", {2}, composed,
                       [=](const Variables& x) { return hinge(x[0], x[1], {.norm = norm, .reduce = reduce}); }) {}
HuberLoss::HuberLoss(double delta, const std::string& reduce)
    : FunctionObjectOf("HuberLoss", {2}, composed,
                       [=](const Variables& x) { return huber_loss(x[0], x[1], delta, {.reduce = reduce}); }) {}
NegativeSamplingFunction::NegativeSamplingFunction(const Sampler& sampler, int sample_size, const std::string& reduce)
    : FunctionObjectOf("NegativeSamplingFunction", {3}, composed, [=](const Variables& x, Arrays& kept) {
        return negative_samples(kept, x, sampler, sample_size, reduce);
      }) {}
SigmoidCrossEntropy::SigmoidCrossEntropy(bool use_cudnn, bool normalize, const std::string& reduce)
    : FunctionObjectOf("SigmoidCrossEntropy", {2}, composed, [=](const Variables& x) {
        return sigmoid_cross_entropy(x[0], x[1],
                                     {.normalize = normalize, .reduce = reduce, .use_cudnn = if_false(use_cudnn)});
      }) {}
SoftmaxCrossEntropy::SoftmaxCrossEntropy(bool use_cudnn, bool normalize, bool cache_score, const Array& class_weight,
                                         int ignore_label, const std::string& reduce)
    : FunctionObjectOf("SoftmaxCrossEntropy", {2}, node, [=](const Variables& x) {
        return softmax_cross_entropy(x[0], x[1],
                                     {.normalize = normalize,
                                      .cache_score = cache_score,
                                      .class_weight = class_weight,
                                      .ignore_label = ignore_label,
                                      .reduce = reduce,
                                      .use_cudnn = if_false(use_cudnn)});
      }) {}
Triplet::Triplet(double margin, const std::string& reduce)
    : FunctionObjectOf("Triplet", {3}, composed, [=](const Variables& x) {
        return triplet(x[0], x[1], x[2], {.margin = margin, .reduce = reduce});
      }) {}

}  // namespace nn::functions
