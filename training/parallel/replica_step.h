// The part of an update that runs for one replica of a model, in any thread. Internal to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <catena/autograd/config.h>
#include <catena/autograd/flag.h>
#include <catena/kernels/base/function.h>
#include <catena/nn/reporter.h>
#include <catena/training/updater.h>

namespace training::internal {

using ReplicaLoss = catena::Function<Variable(Link& model, const Variables& args)>;

// Whether a parameter is still without an array.
bool has_pending_params(const Link& model);

// Forward and backward on a batch: afterwards the parameters have this batch's gradients, and no others. The loss keeps
// its graph. On `device`, which is the default device meanwhile.
Variable compute_gradients(Link& model, const ReplicaLoss& loss_func, const Example& batch,
                           std::optional<Device> device);

// The part of `examples` in the sum of all replicas' examples: the weight of a replica's gradients in those of the
// whole batch. 1 / n of n replicas where there are no examples at all.
std::vector<double> shares_of(const std::vector<std::int64_t>& examples);
// Multiplies the gradients of a model by a number.
void scale_gradients(const Link& model, double by);

// Seeds for the random numbers of `count` replicas in this update, from the thread's default generator, whose state
// is part of snapshots.
std::vector<std::uint64_t> replica_seeds(std::size_t count);

// The calling thread's modes (those of config() included) and reporter, for threads that work on its behalf.
class CallerState {
 public:
  CallerState();
  // f() with these modes in an autograd::RandomScope(seed); what it reports goes to `reported`.
  void run(std::uint64_t seed, nn::Observation& reported, const catena::Function<void()>& f) const;
  // In the caller's thread: reports what a run() has reported.
  void report(const nn::Observation& reported) const;

 private:
  autograd::internal::Modes modes_;
  autograd::internal::CudnnModes cudnn_modes_;
  bool tells_of_losses_;
  nn::Reporter* reporter_;
};

}  // namespace training::internal
