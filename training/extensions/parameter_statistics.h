// ParameterStatistics: statistics of parameters and their gradients.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/training/trainer.h>

namespace training {

// Converts the elements of a parameter, a non-empty one-dimensional array, to a 0-d or one-dimensional array on the
// same device.
using Statistic = catena::Function<Array(const Array& elements)>;
using Statistics = std::vector<std::pair<std::string, Statistic>>;

// Returns mean, std (of the population), min, max, zeros (the number of elements equal to 0), and percentile: at 0.13,
// 2.28, 15.87, 50, 84.13, 97.72 and 99.87 %, which for a normal distribution are -3 to 3 standard deviations.
CATENA_EXPORT Statistics default_statistics();
// Returns the percentiles of the elements, interpolated linearly between neighbours: an array of k for k percentages.
// The result is float32 for float16 and float64 for integers.
CATENA_EXPORT Array percentiles(const Array& elements, const std::vector<double>& percentages);

struct ParameterStatisticsOptions {
  Statistics statistics = default_statistics();
  bool report_params = true;
  bool report_grads = true;
  std::string prefix = {};                         // prefix of all keys, followed by "/"
  TriggerSpec result_trigger = {1, epoch};         // when the means are reported
  TriggerSpec trigger = TriggerSpec::not_given();  // Chainer's name of it; takes its place
};

// References to links, which must outlive the extension: ParameterStatistics(model), ParameterStatistics({a, b}).
class CATENA_EXPORT BorrowedLinks {
 public:
  BorrowedLinks(Link& one) : list_{&one} {}
  BorrowedLinks(std::initializer_list<Held<Link>> list) {
    for (const Held<Link>& link : list) list_.push_back(link.get());
  }
  auto begin() const noexcept { return list_.begin(); }
  auto end() const noexcept { return list_.end(); }

 private:
  std::vector<Link*> list_;
};

// At every call, evaluates each statistic of each parameter of the links, without waiting for a device. When its
// trigger fires, reports the means over the calls under "<prefix>/<link><parameter>/<data or grad>/<statistic>":
// "predictor/l1/W/grad/mean". <link> is the name of the link in the model that an optimizer of the trainer trains, or
// "None" for the model itself and for other links. A statistic with k > 1 values has the keys "<statistic>/0" to
// "<statistic>/<k - 1>". Parameters without data, null gradients and empty arrays are skipped.
class CATENA_EXPORT ParameterStatistics : public Extension {
 public:
  using Options = ParameterStatisticsOptions;
  ParameterStatistics(BorrowedLinks links, Options options);
  explicit ParameterStatistics(BorrowedLinks links) : ParameterStatistics(std::move(links), Options{}) {}
  void register_statistics(const std::string& name, Statistic function);  // replaces a statistic of that name
  void operator()(Trainer& trainer) override;
  // Stores "_summary" and "_trigger", which Chainer does not store.
  void serialize(nn::Serializer& s) override;
  std::string default_name() const override { return "parameter_statistics"; }

 private:
  void add(const std::string& key, const Array& values);

  BorrowedLinks links_;
  Options options_;
  catena::Shared<Trigger> result_trigger_;
  nn::DictSummary summary_;
};

}  // namespace training
