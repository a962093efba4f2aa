#include <catena/training/extensions/micro_average.h>

#include <limits>

#include <catena/training/stored_number.h>

namespace training {

namespace {

constexpr const char* kNumerator = "numerator";
constexpr const char* kDenominator = "denominator";

double sum_of(const nn::DictSummary& sums, const char* key) {
  for (const auto& [name, summary] : sums.summaries())
    if (name == key) return summary.sum();
  return 0;
}

}  // namespace

MicroAverage::MicroAverage(std::string numerator_key, std::string denominator_key, std::string result_key,
                           TriggerSpec result_trigger)
    : numerator_key_(std::move(numerator_key)),
      denominator_key_(std::move(denominator_key)),
      result_key_(std::move(result_key)),
      result_trigger_(result_trigger.make()) {
  priority = PRIORITY_EDITOR;
}

void MicroAverage::operator()(Trainer& trainer) {
  const nn::Observed* const numerator = trainer.observation().find(numerator_key_);
  const nn::Observed* const denominator = trainer.observation().find(denominator_key_);
  if (numerator != nullptr && denominator != nullptr && numerator->is_scalar() && denominator->is_scalar()) {
    sums_.add(kNumerator, *numerator);
    sums_.add(kDenominator, *denominator);
  }
  if (!result_trigger_ || !trainer.asks(*result_trigger_)) return;
  const double below = sum_of(sums_, kDenominator);
  nn::report(result_key_, below == 0 ? std::numeric_limits<double>::quiet_NaN() : sum_of(sums_, kNumerator) / below);
  sums_ = {};
}

void MicroAverage::serialize(nn::Serializer& s) {
  internal::restore_on_rollback(s, sums_);
  double numerator = sum_of(sums_, kNumerator), denominator = sum_of(sums_, kDenominator);
  s("_numerator", numerator);
  s("_denominator", denominator);
  if (result_trigger_) result_trigger_->serialize(*s["_trigger"]);
  if (s.is_writer()) return;
  sums_ = {};
  nn::Summary sum;
  sum.set(numerator, 0, 1);
  sums_.set(kNumerator, sum);
  sum.set(denominator, 0, 1);
  sums_.set(kDenominator, sum);
}

}  // namespace training
