// LinearShift: changes a hyperparameter linearly with the number of calls.
#pragma once

#include <string>
#include <utility>

#include <catena/training/extensions/hyperparameter_shift.h>

namespace training {

struct LinearShiftOptions {
  OptimizerRef optimizer = {};  // default: the updater's "main"
};

// Changes attr from v1 to v2 between the calls t1 and t2; it is v1 up to t1 and v2 from t2 on. LinearShift("lr", {0.1,
// 0.01}, {1, 50}) has value_range = {v1, v2} and time_range = {t1, t2}. Times are numbers of calls, so their unit is
// that of the extension's trigger. ValueError if t1 > t2.
class CATENA_EXPORT LinearShift : public HyperparameterShift {
 public:
  using Options = LinearShiftOptions;
  LinearShift(std::string attr, std::pair<double, double> value_range, std::pair<double, double> time_range,
              Options options = {});
  std::string default_name() const override { return "LinearShift"; }

 protected:
  double value(std::int64_t t, double init) const override;

 private:
  std::pair<double, double> values_, times_;
};

}  // namespace training
