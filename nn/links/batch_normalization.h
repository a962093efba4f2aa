// Batch normalization layer.
#pragma once

#include <concepts>
#include <optional>

#include <catena/nn/functions/normalization.h>
#include <catena/nn/link.h>
#include <catena/nn/parameter_handle.h>

namespace nn {

struct BatchNormalizationLinkOptions {
  double decay = 0.9, eps = 2e-5;
  // Of parameters and averages; by default that of the configuration, where mixed16 means float32.
  std::optional<autograd::Dtype> dtype = {};
  bool use_gamma = true, use_beta = true;
  Initializer initial_gamma = 1.0, initial_beta = 0.0;
  // Initial running statistics. Later versions of Chainer use an initial variance of 1, so that test mode is meaningful
  // before the first training step.
  Initializer initial_avg_mean = 0.0, initial_avg_var = 0.0;
  std::optional<bool> use_cudnn = {};  // see nn::BatchNormalizationOptions
  // The axes of x over which statistics are taken; the others have the shape `size`. Default: axis 0 and those behind
  // the axes of `size`. ValueError in the call for axes that x does not have, and for none.
  catena::Axes axis = {};
};
struct BatchNormalizationCallOptions {
  std::optional<bool> test = {};  // default: the opposite of the thread's train mode
  bool finetune = false;          // plain averages over all calls instead of moving averages
};

//   BatchNormalization(8)  BatchNormalization({4, 5})  BatchNormalization(8, {.axis = {0, 1}})   // x (N, T, 8)
//
// Normalizes with the statistics of the batch and updates moving averages of them; test mode uses the averages. In
// training, a batch with one element per statistic is normalized to beta: a UserWarning says so, and what to do.
class CATENA_EXPORT BatchNormalization : public internal::ScaleAndShift<OptionalParameter> {
 public:
  using Options = BatchNormalizationLinkOptions;
  explicit BatchNormalization(const Shape& size, const Options& options = {});
  explicit BatchNormalization(int size, const Options& options = {}) : BatchNormalization(Shape{size}, options) {}

  NN_MEMBERS(gamma, beta, avg_mean, avg_var, N)
  Variable operator()(const Variable& x, const BatchNormalizationCallOptions& options = {});
  // link(x, true), link(x, false, true)
  template <std::same_as<bool> B> Variable operator()(const Variable& x, B test, bool finetune = false) {
    return (*this)(x, BatchNormalizationCallOptions{.test = test, .finetune = finetune});
  }
  void start_finetuning() { N = 0; }

  Persistent avg_mean, avg_var;
  std::int64_t N = 0;
  double decay, eps;
  std::optional<bool> use_cudnn;
  catena::Axes axis;

 private:
  Variable normalized(const Variable& x, const BatchNormalizationCallOptions& options);
};

struct BatchRenormalizationLinkOptions {
  double rmax = 1, dmax = 0, decay = 0.9, eps = 2e-5;
  std::optional<autograd::Dtype> dtype = {};  // as in BatchNormalizationLinkOptions
  bool use_gamma = true, use_beta = true;
  Initializer initial_gamma = 1.0, initial_beta = 0.0, initial_avg_mean = 0.0, initial_avg_var = 1.0;
};

// BatchNormalization that trains with batch_renormalization(). The published schedule begins with rmax 1 and dmax 0,
// which is batch normalization, and raises both in the first thousands of steps: they are members to be assigned.
class CATENA_EXPORT BatchRenormalization : public BatchNormalization {
 public:
  using Options = BatchRenormalizationLinkOptions;
  explicit BatchRenormalization(const Shape& size, const Options& options = {});
  explicit BatchRenormalization(int size, const Options& options = {}) : BatchRenormalization(Shape{size}, options) {}

  Variable operator()(const Variable& x, const BatchNormalizationCallOptions& options = {});

  double rmax, dmax;
};

}  // namespace nn
