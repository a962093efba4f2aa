#include <catena/training/extensions/exponential_shift.h>

#include <catena/kernels/base/error.h>

namespace training {

ExponentialShift::ExponentialShift(std::string attr, double rate, const Options& options)
    : FormulaShift("ExponentialShift", std::move(attr), schedules::exponential(rate), rate > 1, options) {
  catena::check<catena::ValueError>(rate >= 0, "ExponentialShift", "the rate ", rate, " is negative");
}

}  // namespace training
