#include <catena/training/extensions/exponential_shift.h>

#include <cmath>

#include <catena/kernels/base/error.h>

namespace training {

ExponentialShift::ExponentialShift(std::string attr, double rate, Options options)
    : HyperparameterShift(std::move(attr), options.optimizer),
      rate_(rate),
      init_(options.init),
      target_(options.target) {
  catena::check<catena::ValueError>(rate >= 0, "ExponentialShift", "the rate ", rate, " is negative");
}

double ExponentialShift::value(std::int64_t t, double init) const {
  const double shifted = init_.value_or(init) * std::pow(rate_, double(t));
  if (!target_) return shifted;
  const double part = shifted / *target_;
  return (rate_ > 1 ? part > 1 : part < 1) ? *target_ : shifted;
}

}  // namespace training
