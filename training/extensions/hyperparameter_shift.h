// Base of the extensions that change a hyperparameter by a schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <catena/training/trainer.h>

namespace training {

// Sets the hyperparameter `attr` of an optimizer (the updater's "main" unless one is given, which must outlive the
// extension) to value(t). t counts the calls, not the iterations: the call before training, which a resumed run has,
// too, sets value(t - 1), the value of the interval that is under way; every further call sets value(t) and counts it.
// t begins at 1.
class CATENA_EXPORT HyperparameterShift : public Extension {
 public:
  void operator()(Trainer& trainer) override;
  // "_t", as in Chainer. Below "_catena" the value that the hyperparameter had at first, for schedules that begin
  // there: a resumed run finds the optimizer with the value that it had reached.
  void serialize(nn::Serializer& s) override;

 protected:
  HyperparameterShift(std::string attr, Optimizer* optimizer);
  // The value after t calls; `init` is what the hyperparameter was at the first call.
  virtual double value(std::int64_t t, double init) const = 0;

 private:
  std::string attr_;
  Optimizer* optimizer_;
  std::int64_t t_ = 1;
  std::optional<double> init_;
};

}  // namespace training
