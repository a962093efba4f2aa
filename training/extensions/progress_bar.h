// ProgressBar: the progress of training, its speed, and the estimated time to finish.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/training/trainer.h>

namespace training {

// A length that need not be given: {20, "epoch"}.
struct OptionalLength : std::optional<std::pair<double, Unit>> {
  OptionalLength() = default;
  OptionalLength(std::pair<double, Unit> length) : optional(length) {}
  template <class N>
  OptionalLength(N length, UnitName unit) requires std::is_arithmetic_v<N>
      : optional(std::pair(static_cast<double>(length), Unit(unit))) {}
};

struct ProgressBarOptions {
  OptionalLength training_length = {};  // default: the length in the trainer's stop trigger
  std::int64_t update_interval = 100;   // iterations between two updates of the bar
  int bar_length = 50;
  std::ostream* out = nullptr;        // default: std::cout
  std::optional<bool> terminal = {};  // default: true if `out` is a terminal
};

// Prints four lines on a terminal, which every update overwrites and which are erased at the end; otherwise one plain
// line per update. TypeError at the first call if no length is given and the stop trigger is not an IntervalTrigger.
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
  std::vector<Sample> recent_;
};

}  // namespace training
