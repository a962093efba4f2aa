// ProfileReport: the times of the parts of an iteration, as observations.
#pragma once

#include <optional>
#include <string>

#include <catena/kernels/base/pointers.h>
#include <catena/training/trainer.h>

namespace training {

struct ProfileReportOptions {
  std::string prefix = "time";  // of the reported keys
  // Waits for a GPU at the ends of the parts, so that a part has the time of its work. Without it, the time of work
  // that is not finished falls into the next part that waits.
  bool synchronize = true;
};

// Reports, in seconds, after every update:
//   time/data        from its start to the first forward: the batch, its conversion, its way to the device
//   time/forward     to the first backward: the model and the loss
//   time/backward    to the end of the last backward
//   time/update      to the end: the optimizer, also the sum over devices of an updater for several
//   time/extensions  from the end of the update before to its start (not at the first iteration, nor after an
//                    iteration at which the trigger of this extension did not fire)
//   time/iteration   the sum of these
// Log reports have the means of the interval.
//
// The parts are known by the functions that the thread of the trainer calls. Where there are none (replays of a
// captured graph, updaters whose threads or processes do all the work), time/iteration and time/extensions alone are
// reported; with several forwards and backwards in one update (gradients of several batches, several losses) the first
// forward and the first backward count as the borders. KeyError at the start beside another ProfileReport.
class CATENA_EXPORT ProfileReport : public Extension {
 public:
  using Options = ProfileReportOptions;
  explicit ProfileReport(Options options);
  ProfileReport() : ProfileReport(Options{}) {}

  void initialize(Trainer& trainer) override;
  void before_update(Trainer& trainer) override;
  void operator()(Trainer& trainer) override;
  void finalize() override;
  std::string default_name() const override { return "ProfileReport"; }

 private:
  class Clock;
  Options options_;
  catena::Shared<Clock> clock_;
  std::optional<double> ended_;  // the last update, in seconds
};

}  // namespace training
