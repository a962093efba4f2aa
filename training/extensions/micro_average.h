// MicroAverage: the quotient of the sums of two observed values over an interval.
#pragma once

#include <string>

#include <catena/kernels/base/pointers.h>
#include <catena/training/trainer.h>

namespace training {

// Adds observation[numerator_key] and observation[denominator_key], numbers or 0-d arrays, to two sums at every call;
// ignores iterations without one of them, or in which one is no scalar. When its trigger fires, reports the quotient of
// the sums as result_key and resets them. A denominator of 0 gives NaN. It is called at every iteration; the trigger is
// its own.
class CATENA_EXPORT MicroAverage : public Extension {
 public:
  MicroAverage(std::string numerator_key, std::string denominator_key, std::string result_key,
               TriggerSpec result_trigger = {1, epoch});
  void operator()(Trainer& trainer) override;
  // Stores "_numerator" and "_denominator", as in Chainer, and the trigger under "_trigger".
  void serialize(nn::Serializer& s) override;
  std::string default_name() const override { return "MicroAverage"; }

 private:
  std::string numerator_key_, denominator_key_, result_key_;
  catena::Shared<Trigger> result_trigger_;
  nn::DictSummary sums_;  // reads device values seldom
};

}  // namespace training
