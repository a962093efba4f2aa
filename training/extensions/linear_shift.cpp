#include <catena/training/extensions/linear_shift.h>

#include <catena/kernels/base/error.h>

namespace training {

LinearShift::LinearShift(std::string attr, std::pair<double, double> value_range, std::pair<double, double> time_range,
                         Options options)
    : HyperparameterShift(std::move(attr), options.optimizer), values_(value_range), times_(time_range) {
  catena::check<catena::ValueError>(times_.first <= times_.second, "LinearShift", "the time range ", times_.first,
                                    " to ", times_.second, " runs backwards");
}

double LinearShift::value(std::int64_t t, double) const {
  const auto [t1, t2] = times_;
  const auto [v1, v2] = values_;
  if (double(t) <= t1) return v1;
  if (double(t) >= t2) return v2;
  return v1 + (double(t) - t1) / (t2 - t1) * (v2 - v1);
}

}  // namespace training
