// ProgressBar: how far training is, how fast, and how long it will take.
#pragma once

#include <deque>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>

#include <catena/training/trainer.h>

namespace training {

struct ProgressBarOptions {
  std::optional<std::pair<double, Unit>> training_length = {};  // default: that of the trainer's stop trigger
  std::int64_t update_interval = 100;                           // iterations between two updates
  int bar_length = 50;
  std::ostream* out = nullptr;        // default: std::cout
  std::optional<bool> terminal = {};  // default: what `out` is
};

// On a terminal, four lines that are drawn over at every update and erased at the end; elsewhere one plain line per
// update. TypeError at the first call when the length is neither given nor that of an IntervalTrigger.
class CATENA_EXPORT ProgressBar : public Extension {
 public:
  using Options = ProgressBarOptions;
  explicit ProgressBar(Options options);
  ProgressBar() : ProgressBar(Options{}) {}

  void operator()(Trainer& trainer) override;
  void finalize() override;
  std::string default_name() const override { return "ProgressBar"; }

 private:
  struct Sample {
    double iteration, epoch_detail, seconds;
  };
  struct Speed {
    double iterations, epochs;  // per second
  };
  Speed measure(const Updater& updater);

  Options options_;
  std::deque<Sample> recent_;
};

}  // namespace training
