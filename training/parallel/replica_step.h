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

// True if a parameter has no array yet.
bool has_pending_params(const Link& model);

// Runs forward and backward on a batch. Afterwards the parameters have the gradients of this batch, and no others.
// Returns the loss with its graph. `device` is the default device during the call.
Variable compute_gradients(Link& model, const ReplicaLoss& loss_func, const Example& batch,
                           std::optional<Device> device, double loss_scale = 1);

// Returns each replica's share of all examples: the weight of its gradients in those of the whole batch. 1 / n for n
// replicas if there are no examples.
std::vector<double> shares_of(const std::vector<std::int64_t>& examples);
// Multiplies the gradients of a model by a number.
void scale_gradients(const Link& model, double by);

// Returns seeds for the random numbers of `count` replicas in this update, from the thread's default generator, whose
// state is part of snapshots.
std::vector<std::uint64_t> replica_seeds(std::size_t count);

// The calling thread's modes (including those of config()) and reporter, for threads that work on its behalf.
class CallerState {
 public:
  CallerState();
  // Calls f() with these modes in an autograd::RandomScope(seed); reports go to `reported`.
  void run(std::uint64_t seed, nn::Observation& reported, const catena::Function<void()>& f) const;
  // To be called in the caller's thread: passes on the reports of a run().
  void report(const nn::Observation& reported) const;

 private:
  autograd::internal::Modes modes_;
  autograd::internal::CudnnModes cudnn_modes_;
  autograd::ConfigOptions entries_;  // other entries of config()
  bool tells_of_losses_;
  nn::Reporter* reporter_;
};

}  // namespace training::internal
