// PyTorch's AveragedModel: a copy of a model that has averages of its weights.
#pragma once

#include <concepts>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/nn/link.h>
#include <catena/training/lr_schedulers.h>
#include <catena/training/weight_average.h>

namespace training {

// The two kinds of averages of AveragedModel: with this decay, or of all updates equally.
inline WeightAverageOptions get_ema_multi_avg_fn(double decay = 0.999) { return {.decay = decay}; }
inline WeightAverageOptions get_swa_multi_avg_fn() { return {.equal = true}; }

struct AveragedModelOptions {
  WeightAverageOptions multi_avg_fn = {.equal = true};
};

// A model of its own, `module`, whose parameters are averages of those of another model, which is trained:
//
//   training::AveragedModel ema(model, training::get_ema_multi_avg_fn(0.999));      // or {.decay = 0.999}
//   for (...) { optimizer.step(); ema.update_parameters(model); }
//   autograd::Variable y = ema(x);
//
// Without options all updates count equally. The first update copies the weights. Other arrays, such as the statistics
// of BatchNormalization, keep the values from the constructor. The trained model must outlive the AveragedModel.
// WeightAverage keeps the averages alone, and is an extension of a Trainer.
template <class Model> class AveragedModel {
 public:
  explicit AveragedModel(Model& model, WeightAverageOptions options = {.equal = true})
      : module(model), model_(&model), average_(model, options) {}
  // With PyTorch's name of the argument: AveragedModel(model, {.multi_avg_fn = get_ema_multi_avg_fn(0.99)}).
  template <std::same_as<AveragedModelOptions> O = AveragedModelOptions>
  AveragedModel(Model& model, const O& options) : AveragedModel(model, options.multi_avg_fn) {}

  // ValueError for another model than that of the constructor.
  void update_parameters(const Model& model) {
    catena::check<catena::ValueError>(&model == model_, "AveragedModel",
                                      "update_parameters got another model than the constructor");
    average_.update();
    average_.copy_to(module);
  }
  template <class... A> decltype(auto) operator()(A&&... args) { return module(std::forward<A>(args)...); }
  std::int64_t n_averaged() const noexcept { return average_.n(); }

  Model module;

 private:
  Model* model_;
  WeightAverage average_;
};

// PyTorch's module.
namespace swa_utils {
using namespace training;
}  // namespace swa_utils

}  // namespace training
