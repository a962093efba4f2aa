#include <catena/training/extensions/parameter_statistics.h>

#include <algorithm>
#include <cmath>

#include <catena/autograd/array_backend.h>
#include <catena/kernels/base/error.h>
#include <catena/training/stored_number.h>
#include <catena/training/summary_state.h>

namespace training {

using autograd::Dtype;

Array percentiles(const Array& elements, const std::vector<double>& percentages) {
  catena::check<catena::ValueError>(elements.ndim() == 1 && elements.size() > 0, "percentiles",
                                    "a one-dimensional array with elements is needed, not one of shape ",
                                    elements.shape());
  std::vector<std::int64_t> below, above;
  std::vector<double> part;
  const auto last = double(elements.size() - 1);
  for (const double p : percentages) {
    catena::check<catena::ValueError>(p >= 0 && p <= 100, "percentiles", "the percentage ", p, " is not in 0 to 100");
    const double at = p / 100 * last;
    below.push_back(std::int64_t(std::floor(at)));
    above.push_back(std::int64_t(std::ceil(at)));
    part.push_back(at - std::floor(at));
  }
  const Array sorted = autograd::empty_like(elements);
  elements.backend().execute(catena::call::Sort{elements.get(), 0, false, sorted.get()});
  const Dtype wide = catena::is_floating(elements.dtype()) ? catena::compute_dtype(elements.dtype()) : Dtype::float64;
  const autograd::Shape shape{std::int64_t(percentages.size())};
  const auto at = [&](const std::vector<std::int64_t>& positions) {
    return autograd::astype(autograd::take(sorted, autograd::array(positions, shape, elements.device()), 0), wide);
  };
  const Array low = at(below);
  return low + (at(above) - low) * autograd::astype(autograd::array(part, shape, elements.device()), wide);
}

Statistics default_statistics() {
  const auto deviation = [](const Array& a) {
    const Array centred = a - autograd::mean(a);
    return autograd::apply(catena::kernels::sqrt, {autograd::mean(centred * centred)});
  };
  const auto zeros = [](const Array& a) {
    return autograd::sum(autograd::astype(autograd::apply(catena::kernels::equal, {a, 0}), Dtype::int64));
  };
  return {{"mean", [](const Array& a) { return autograd::mean(a); }},
          {"std", deviation},
          {"min", [](const Array& a) { return autograd::amin(a); }},
          {"max", [](const Array& a) { return autograd::amax(a); }},
          {"zeros", zeros},
          {"percentile", [](const Array& a) {
             return percentiles(a, {0.13, 2.28, 15.87, 50, 84.13, 97.72, 99.87});
           }}};
}

ParameterStatistics::ParameterStatistics(BorrowedLinks links, Options options)
    : links_(std::move(links)),
      options_(std::move(options)),
      result_trigger_((options_.trigger.is_given() ? options_.trigger : options_.result_trigger).make()) {
  priority = PRIORITY_WRITER;
}

void ParameterStatistics::register_statistics(const std::string& name, Statistic function) {
  for (auto& [known, statistic] : options_.statistics)
    if (known == name) {
      statistic = std::move(function);
      return;
    }
  options_.statistics.emplace_back(name, std::move(function));
}

namespace {

// Returns the name of a link in the model that contains it: the last part of its path.
std::string name_in_model(Trainer& trainer, const Link* link) {
  for (const auto& [name, optimizer] : trainer.updater().get_all_optimizers())
    for (const nn::NamedLink& l : optimizer->target().namedlinks(true))
      if (l.link == link) return l.path.substr(l.path.rfind('/') + 1);
  return "None";
}

}  // namespace

void ParameterStatistics::add(const std::string& key, const Array& values) {
  if (!values || values.size() == 0) return;
  const Array elements = autograd::reshape(values, {values.size()});
  for (const auto& [name, statistic] : options_.statistics) {
    const Array result = statistic(elements);
    const std::int64_t n = result.size();
    if (n == 1) {
      summary_.add(key + "/" + name, nn::Observed(result));
      continue;
    }
    for (std::int64_t i = 0; i < n; ++i)
      summary_.add(key + "/" + name + "/" + std::to_string(i), nn::Observed(autograd::slice(result, 0, i, i + 1)));
  }
}

void ParameterStatistics::operator()(Trainer& trainer) {
  const std::string prefix = options_.prefix.empty() ? "" : options_.prefix + "/";
  for (Link* const link : links_) {
    const std::string start = prefix + name_in_model(trainer, link);
    for (const nn::NamedParam& p : link->namedparams()) {
      if (options_.report_params) add(start + p.path + "/data", p.param.data());
      if (options_.report_grads) add(start + p.path + "/grad", p.param.grad());
    }
  }
  if (!result_trigger_ || !trainer.asks(*result_trigger_)) return;
  for (const auto& [key, mean] : summary_.compute_mean()) nn::report(key, mean);
  summary_ = {};
}

void ParameterStatistics::serialize(nn::Serializer& s) {
  internal::restore_on_rollback(s, summary_);
  internal::serialize_summary(*s["_summary"], summary_);
  if (result_trigger_) result_trigger_->serialize(*s["_trigger"]);
}

}  // namespace training
