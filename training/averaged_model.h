// PyTorch's AveragedModel: a copy of a model that has averages of its weights.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>
#include <vector>

#include <catena/autograd/config.h>
#include <catena/autograd/operators.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/function.h>
#include <catena/nn/link.h>
#include <catena/training/lr_schedulers.h>
#include <catena/training/weight_average.h>

namespace training {

// The two kinds of averages of AveragedModel: with this decay, or of all updates equally.
inline WeightAverageOptions get_ema_multi_avg_fn(double decay = 0.999) { return {.decay = decay}; }
inline WeightAverageOptions get_swa_multi_avg_fn() { return {.equal = true}; }

namespace internal {
// The new average of a parameter, from the one before, the parameter, and the number of updates before.
using AverageFunction =
    catena::Function<autograd::Variable(const autograd::Variable&, const autograd::Variable&, std::int64_t)>;

// The next values of a model of averages. All of them are computed and checked before assign() sets one, so that an
// error changes nothing. Both models must outlive the object.
class CATENA_EXPORT NextAverages {
 public:
  NextAverages(nn::Link& averages, nn::Link& model, std::int64_t n) : averages_(averages), model_(model), n_(n) {}
  // The parameters become the function's results, at the first update (n = 0) those of the model. ValueError for a
  // result of another shape, and for a model with another number of parameters.
  void compute_params(const AverageFunction& function);
  // The persistents become those of the model, its floating arrays, with a function, the results of it. ValueError as
  // for parameters.
  void compute_buffers(const AverageFunction& function);
  void assign();

 private:
  void add(const autograd::Array& to, const autograd::Variable& average, const char* what);
  nn::Link& averages_;
  nn::Link& model_;
  std::int64_t n_;
  bool copies_params_ = false, copies_buffers_ = false;
  std::vector<std::pair<autograd::Array, autograd::Array>> results_;  // arrays of the averages and their new values
};
}  // namespace internal

struct AveragedModelOptions {
  // A function in place of multi_avg_fn: {.avg_fn = [](auto& averaged, auto& p, auto n) { return (averaged + p) / 2;
  // }}.
  internal::AverageFunction avg_fn = {};
  WeightAverageOptions multi_avg_fn = {.equal = true};
  bool use_buffers = false;  // the floating persistents, such as running statistics, are averaged like the parameters
};

// A model of its own, `module`, whose parameters are averages of those of another model, which is trained:
//
//   training::AveragedModel ema(model, training::get_ema_multi_avg_fn(0.999));      // or {.decay = 0.999}
//   for (...) { optimizer.step(); ema.update_parameters(model); }
//   autograd::Variable y = ema(x);
//
// Without options all updates count equally. The first update copies the weights. Persistents, such as the statistics
// of BatchNormalization, become those of the trained model at each update, or, with use_buffers, averages. The trained
// model must outlive the AveragedModel. WeightAverage keeps the averages alone, and is an extension of a Trainer.
template <class Model> class AveragedModel {
 public:
  explicit AveragedModel(Model& model, WeightAverageOptions options = {.equal = true})
      : module(model), model_(&model), average_(model, options) {}
  // With PyTorch's name of the argument: AveragedModel(model, {.multi_avg_fn = get_ema_multi_avg_fn(0.99)}).
  template <std::same_as<AveragedModelOptions> O = AveragedModelOptions>
  AveragedModel(Model& model, const O& options) : AveragedModel(model, options.multi_avg_fn) {
    avg_fn_ = options.avg_fn;
    use_buffers_ = options.use_buffers;
  }

  // ValueError for another model than that of the constructor.
  void update_parameters(const Model& model) {
    catena::check<catena::ValueError>(&model == model_, "AveragedModel",
                                      "update_parameters got another model than the constructor");
    internal::NextAverages next(module, *model_, n_averaged());
    if (avg_fn_) {
      next.compute_params(avg_fn_);
      next.compute_buffers(use_buffers_ ? avg_fn_ : internal::AverageFunction());
    } else {
      const double part = average_.part();
      internal::AverageFunction of_buffers;
      if (use_buffers_) of_buffers = [part](const auto& a, const auto& p, std::int64_t) { return a + (p - a) * part; };
      next.compute_buffers(of_buffers);
      average_.update();
      average_.copy_to(module);
    }
    next.assign();
    if (avg_fn_) ++n_;
  }
  template <class... A> decltype(auto) operator()(A&&... args) { return module(std::forward<A>(args)...); }
  AveragedModel& train(bool mode = true) {
    module.train(mode);
    return *this;
  }
  AveragedModel& eval() { return train(false); }
  std::int64_t n_averaged() const noexcept { return avg_fn_ ? n_ : average_.n(); }

  Model module;

 private:
  Model* model_;
  WeightAverage average_;
  internal::AverageFunction avg_fn_;
  std::int64_t n_ = 0;  // of updates by avg_fn_
  bool use_buffers_ = false;
};

namespace internal {
// The links of batch normalization of a model. While the object lives, their running statistics become the means over
// the batches, and the model and the thread are in training mode, without a graph.
class CATENA_EXPORT StatisticsOfBatches {
 public:
  explicit StatisticsOfBatches(nn::Link& model);
  ~StatisticsOfBatches();
  StatisticsOfBatches(const StatisticsOfBatches&) = delete;
  StatisticsOfBatches& operator=(const StatisticsOfBatches&) = delete;
  void begin_batch();

 private:
  struct Known;
  std::vector<Known> known_;
  std::vector<std::pair<nn::Link*, bool>> modes_;  // of the links, as they were
  autograd::using_config mode_;
  std::int64_t batches_ = 0;
};
template <class Model> nn::Link& link_of(Model& model) {
  if constexpr (requires { model.module; }) return model.module;
  else return model;
}
}  // namespace internal

// Computes the running statistics of batch normalization anew, as means over the batches of a loader, after weights
// have been averaged: update_bn(loader, swa_model). The model gets the first component of each batch, in training mode,
// and has its own mode afterwards.
template <class Loader, class Model> void update_bn(Loader&& loader, Model& model) {
  internal::StatisticsOfBatches statistics(internal::link_of(model));
  for (const auto& batch : loader) {
    statistics.begin_batch();
    model(autograd::Variable(batch.values[0]));
  }
}

// PyTorch's module.
namespace swa_utils {
using namespace training;
}  // namespace swa_utils

}  // namespace training
