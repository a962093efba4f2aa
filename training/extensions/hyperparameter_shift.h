// Base class of the extensions that change a hyperparameter by a schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catena/training/trainer.h>

namespace training {

// An optimizer as an option: its address, or the optimizer itself.
class OptimizerRef {
 public:
  OptimizerRef(Optimizer* optimizer = nullptr) noexcept : optimizer_(optimizer) {}
  OptimizerRef(Optimizer& optimizer) noexcept : optimizer_(&optimizer) {}
  operator Optimizer*() const noexcept { return optimizer_; }

 private:
  Optimizer* optimizer_;
};

// Sets the hyperparameter `attr` of an optimizer to value(t). The optimizer is the updater's "main" unless one is
// given, which must outlive the extension. t counts calls, not iterations, and begins at 1. The call before training,
// which a resumed run has as well, sets value(t - 1), the value of the current interval; every further call sets
// value(t) and increments t.
class CATENA_EXPORT HyperparameterShift : public Extension {
 public:
  void operator()(Trainer& trainer) override;
  // Stores "_t", as in Chainer, and, below "_catena", the initial values of the hyperparameter, for schedules that
  // start from them: in a resumed run the optimizer has the current ones.
  void serialize(nn::Serializer& s) override;

 protected:
  HyperparameterShift(std::string attr, Optimizer* optimizer);
  // Returns the value after t calls; `init` is the value at the first call.
  virtual double value(std::int64_t t, double init) const = 0;
  // From now on, the parameter group of this name is shifted instead of the optimizer; with an empty name, the
  // optimizer and every group that has a value of its own.
  void shift_groups(std::string only);

 private:
  double& init_of(const ParamGroup& group);
  std::string attr_;
  Optimizer* optimizer_;
  std::int64_t t_ = 1;
  std::optional<double> init_;
  bool shifts_groups_ = false;
  std::string only_group_;
  std::vector<std::pair<std::string, double>> group_inits_;  // by name
};

}  // namespace training
