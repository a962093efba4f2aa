#include <catena/training/extensions/formula_shifts.h>

#include <algorithm>
#include <cmath>

#include <catena/kernels/base/error.h>

namespace training {

using catena::check;
using catena::ValueError;

namespace {

double not_negative(const char* who, double gamma) {
  check<ValueError>(gamma >= 0, who, "gamma is ", gamma, "; it is not negative");
  return gamma;
}
double positive(const char* who, const char* what, double length) {
  check<ValueError>(length > 0, who, what, " is ", length, "; it is positive");
  return length;
}

}  // namespace

FormulaShift::FormulaShift(const char* name, std::string attr, Schedule formula, bool grows, const Options& options)
    : HyperparameterShift(std::move(attr), options.optimizer),
      name_(name),
      formula_(std::move(formula)),
      grows_(grows),
      init_(options.init),
      target_(options.target) {}

double FormulaShift::value(std::int64_t t, double init) const {
  const double shifted = formula_(init_.value_or(init), double(t));
  if (!target_) return shifted;
  const double part = shifted / *target_;
  return (grows_ ? part > 1 : part < 1) ? *target_ : shifted;
}

InverseShift::InverseShift(std::string attr, double gamma, double power, const Options& options)
    : FormulaShift("InverseShift", std::move(attr), schedules::inverse(not_negative("InverseShift", gamma), power),
                   power < 0, options) {}

StepShift::StepShift(std::string attr, double gamma, double step, const Options& options)
    : FormulaShift("StepShift", std::move(attr),
                   schedules::step(positive("StepShift", "the step", step), not_negative("StepShift", gamma)),
                   gamma > 1, options) {}

MultistepShift::MultistepShift(std::string attr, double gamma, std::vector<double> step_value, const Options& options)
    : FormulaShift("MultistepShift", std::move(attr),
                   schedules::multi_step(std::move(step_value), not_negative("MultistepShift", gamma)), gamma > 1,
                   options) {}

PolynomialShift::PolynomialShift(std::string attr, double rate, double max_count, const Options& options)
    : FormulaShift(
          "PolynomialShift", std::move(attr),
          [rate, length = positive("PolynomialShift", "max_count", max_count)](double base, double t) {
            return base * std::pow(std::max(0.0, 1 - t / length), rate);
          },
          rate < 0, options) {}

WarmupShift::WarmupShift(std::string attr, double warmup_start, double warmup_iter, const Options& options)
    : FormulaShift(
          "WarmupShift", std::move(attr),
          [warmup_start, length = positive("WarmupShift", "warmup_iter", warmup_iter)](double base, double t) {
            return t >= length ? base : warmup_start + (base - warmup_start) * (t / length);
          },
          true, options) {}

}  // namespace training
