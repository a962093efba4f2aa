// StopOnSignal: a training that ends in order when the machine is taken away from it.
#pragma once

#include <optional>
#include <vector>

#include <catena/training/trainer.h>

namespace training {

struct StopOnSignalOptions {
  std::vector<int> signals = {};  // default: SIGTERM and SIGINT; SIGUSR1 for schedulers that announce the end by it
};

// While the trainer runs, a signal does not end the process: the iteration is finished, the extensions that save the
// trainer save it, and run() returns. A second signal of the same kind ends the process as usual. The program then
// reports the reason to the one that started it:
//
//   trainer.extend(Snapshot({.autoload = true}));      // goes on where the last run was stopped
//   auto& signals = trainer.extend(StopOnSignal());
//   trainer.run();
//   if (signals.received()) return signals.exit_code();  // 143 for SIGTERM, as a shell has it
//
// Signals that the process ignores stay ignored (SIGINT of a job in the background). The dispositions before are there
// again when the training ends. A signal of one process stops all trainers of it that have the extension. UserWarning
// if no extension saves the trainer; RuntimeError for a signal that cannot be handled.
class CATENA_EXPORT StopOnSignal : public Extension {
 public:
  using Options = StopOnSignalOptions;
  explicit StopOnSignal(Options options);
  StopOnSignal() : StopOnSignal(Options{}) {}

  void initialize(Trainer& trainer) override;
  void operator()(Trainer& trainer) override;
  void finalize() override;
  std::string default_name() const override { return "StopOnSignal"; }

  // The signal that came while the trainer ran, if one did, also if the training was at its end anyway.
  const std::optional<int>& received() const noexcept { return received_; }
  // 128 and the number of the signal; 0 if there was none.
  int exit_code() const noexcept { return received_ ? 128 + *received_ : 0; }

 private:
  void note_received();
  Options options_;
  std::optional<int> received_;
  bool listens_ = false;
};

}  // namespace training
