// observe_value and observe_lr: add a value to the observation.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

#include <catena/kernels/base/function.h>
#include <catena/training/trainer.h>

namespace training {

// Sets observation[observation_key] = target_func(trainer), once per epoch by default, before the extensions that read
// it. A LogReport that adds its entry in the same iteration has the value.
class CATENA_EXPORT ObserveValue : public Extension {
 public:
  ObserveValue(std::string observation_key, catena::Function<nn::Observed(Trainer&)> target_func);
  void operator()(Trainer& trainer) override;
  std::string default_name() const override { return "_observe_value"; }

 private:
  std::string key_;
  catena::Function<nn::Observed(Trainer&)> target_func_;
};

// trainer.extend(observe_value("scale", [](Trainer& t) { return ...; }))
inline ObserveValue observe_value(std::string observation_key, catena::Function<nn::Observed(Trainer&)> target_func) {
  return {std::move(observation_key), std::move(target_func)};
}
// A function that returns a hyperparameter or an integer: observe_value("lr", [&](Trainer&) { return optimizer.lr; }).
template <class F>
requires((std::is_integral_v<std::invoke_result_t<F&, Trainer&>> ||
          !std::is_convertible_v<std::invoke_result_t<F&, Trainer&>,
                                 nn::Observed>)&&std::is_convertible_v<std::invoke_result_t<F&, Trainer&>, double>)
    ObserveValue observe_value(std::string observation_key, F target_func) {
  return {std::move(observation_key), [f = std::move(target_func)](Trainer& trainer) mutable {
            return nn::Observed(static_cast<double>(f(trainer)));
          }};
}

// Observes the learning rate of an optimizer: get_hyper("lr"), for Adam the bias-corrected rate of its last update. If
// there is none (AdaDelta), the KeyError lists the hyperparameters.
struct ObserveLrOptions {
  std::string optimizer_name = "main", observation_key = "lr";
};
CATENA_EXPORT ObserveValue observe_lr(const ObserveLrOptions& options = {});
template <std::convertible_to<std::string> Name>
ObserveValue observe_lr(const Name& optimizer_name, std::string observation_key = "lr") {
  return observe_lr(ObserveLrOptions{optimizer_name, std::move(observation_key)});
}

}  // namespace training
