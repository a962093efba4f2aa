// Folder training/multi_node: optimizers whose gradients are means over the ranks of a communicator. Communicators are
// in training/communicators. This folder may use training, training/communicators, nn, autograd and kernels/base.
//
//   auto comm = training::create_communicator("naive");
//   training::Adam adam(0.001);
//   auto optimizer = training::create_multi_node_optimizer(adam, *comm);
//   optimizer->setup(model);
//   training::StandardUpdater updater(iterator, optimizer);    // with this rank's part of the data
//
// If all ranks have batches of one size and the loss is a mean over its examples, every rank gets the weights that one
// process would get from all batches together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/training/communicators/communicator.h>
#include <catena/training/optimizer.h>

namespace training {

// The steps of a multi-node optimizer, in the order in which this rank makes them.
struct MultiNodeEvent {
  enum class Kind {
    broadcast,       // the weights of rank 0 have been broadcast in place of an update
    bucket_ready,    // all gradients of the bucket are final; it waits for its turn
    bucket_started,  // the communication of the bucket begins, in a thread of its own
    bucket_ended,
    backward_ended,  // the last backward pass before the update
  };
  Kind kind;
  std::int64_t bucket = -1;
  friend bool operator==(const MultiNodeEvent&, const MultiNodeEvent&) = default;
};

struct MultiNodeOptimizerOptions {
  // An update uses the means of the gradients before the last ones, which were communicated while the last ones were
  // computed. The update after a broadcast is left out, because there are no gradients before. Files of the optimizer
  // have these means: saving waits until they have been communicated, and the first update after a load uses those of
  // all parameters that are trained then, also of those that were frozen during the load.
  bool double_buffering = false;
  // A parameter that has no gradient on some rank counts as zero there. Otherwise it is a ValueError, on all ranks,
  // with its path.
  bool zero_fill = true;
  // Gradients travel in buckets of about this size (at least one parameter each).
  std::size_t bucket_bytes = std::size_t(25) << 20;
  // A bucket is communicated as soon as its gradients are final, while the rest of backward runs: in update(lossfun),
  // StandardUpdater and Optimizer::backward. Otherwise, and after Variable::backward, in update().
  bool overlap = true;
  // ZeRO-1 (Rajbhandari et al., arXiv:1910.02054): each rank has the states of its part of the parameters only, updates
  // that part from the sum of its gradients, and gives the new values to the others. Parameters of others have no
  // gradient after an update, unless there are hooks or loss scaling, which read all gradients.
  bool shard_states = false;
  // Called with each event, also in the communication thread, but never in two threads at a time.
  catena::Function<void(const MultiNodeEvent&)> observer = {};
};

namespace internal {
CATENA_EXPORT void make_multi_node(Optimizer& optimizer, const Communicator& communicator,
                                   const MultiNodeOptimizerOptions& options);
}

// Makes the optimizer one of several ranks, and returns it: a reference to a given optimizer, or the given shared
// pointer. Everything else about it stays as it is: target, hooks, which get the means of the gradients, groups,
// hyperparameters, files. Before or after setup(); called by all ranks.
//
// The first update broadcasts parameters and persistents of rank 0 in place of a step, and so does each one after the
// set of initialized parameters has changed on some rank. The first update of an optimizer that has been loaded (t() is
// not 0, or it was saved after its broadcast) is an ordinary one if all ranks have the same weights. It is a
// ValueError if the ranks have then made different numbers of updates.
//
// With accumulation (StandardUpdater), only the last micro-batch communicates. Gradients travel in the dtype
// allreduce_grad_dtype of the communicator. With "naive", the means are the same bits for every size of buckets.
//
// "pure_nccl" sums gradients of parameters on the GPU of its rank. A parameter on another device, or of another dtype
// or shape than on rank 0, is a ValueError on all ranks, with the rank, the parameter and the difference.
//
// If a backward pass or an update throws on one rank, the others get a RuntimeError with its message from their update;
// later updates are RuntimeErrors. If the function of the loss throws, the others get an error when this rank ends. The
// communication thread ends with the optimizer, which must not outlive the transport of the communicator. An
// autograd::Trace (or TraceReport) of the optimizer's thread has a row with the communication of each bucket: its bytes
// and its parameters. ValueError for a bucket_bytes of 0, for LBFGS, and for an optimizer that is a multi-node
// optimizer already.
//
// StandardUpdater captures updates over "pure_nccl": the sums of the buckets are nodes of the graph, beside those of
// the backward pass. The next update throws an error of a replay, on this rank or another. RuntimeError for other
// communicators, with double_buffering or shard_states, and for updates in a program's own captured work
// (autograd/capture.h). All ranks must give gradients to the parameters that had them in the update before the capture.
template <class O>
requires std::is_base_of_v<Optimizer, O> catena::Shared<O> create_multi_node_optimizer(
    O& optimizer, const Communicator& communicator, const MultiNodeOptimizerOptions& options = {}) {
  internal::make_multi_node(optimizer, communicator, options);
  return catena::Shared<O>::borrowed(&optimizer);
}
template <class S>
requires requires(const S& s) {
  typename S::element_type;
  static_cast<Optimizer&>(*s);
}
catena::Shared<typename S::element_type> create_multi_node_optimizer(S optimizer, const Communicator& communicator,
                                                                     const MultiNodeOptimizerOptions& options = {}) {
  internal::make_multi_node(*optimizer, communicator, options);
  return optimizer;
}
// An optimizer cannot be moved: give it a name first, or a std::make_shared<Adam>().
template <class O>
requires(std::is_base_of_v<Optimizer, O> && !std::is_lvalue_reference_v<O>) void create_multi_node_optimizer(
    O&& optimizer, const Communicator& communicator, const MultiNodeOptimizerOptions& options = {}) = delete;
// From a shared communicator, as create_communicator returns it.
template <class O, class C>
requires requires(const C& c) {
  typename C::element_type;
  static_cast<const Communicator&>(*c);
}
auto create_multi_node_optimizer(O&& optimizer, const C& communicator, const MultiNodeOptimizerOptions& options = {}) {
  return create_multi_node_optimizer(std::forward<O>(optimizer), *communicator, options);
}

// With shard_states: gives every rank the states of all parameters (and with double_buffering the means that the next
// update uses), so that each may save the optimizer. They are dropped in the next update. Called by all ranks. Without
// shard_states, does nothing. ValueError if the optimizer is no multi-node optimizer.
CATENA_EXPORT void consolidate_states(Optimizer& optimizer);

}  // namespace training
