// MultiprocessParallelUpdater: data parallel training with a worker and an iterator per device.
#pragma once

#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/training/parallel/devices.h>
#include <catena/training/updater.h>

namespace training::updaters {

namespace internal {
class Replicas;
}

// In every update, each worker computes the gradients of a batch of its own iterator. The main model gets the mean of
// these gradients, weighted by the number of examples per batch, and the optimizer updates it; the workers then get the
// new parameters. The first elements of `iterators` and of `devices` belong to the main model.
//
//   auto parts = training::split_dataset_n_random(train, 2);
//   training::SerialIterator first(parts[0], 100), second(parts[1], 100);
//   MultiprocessParallelUpdater({first, second}, optimizer, model, {.devices = {0, 1}});     // GPUs
//   MultiprocessParallelUpdater({first, second}, optimizer, model, {.devices = {-1, -1}});   // CPU
//
// On GPUs a worker is a thread with a copy of the model, and NCCL transfers arrays between GPUs. On the CPU a worker is
// a process made by fork() at the first update, with the model in its state at that time; it returns its gradients in
// shared memory. It has its share of catena::max_threads(), and no other thread of the program may work with arrays
// during the fork. Without fork(), this is a NotImplementedError (ParallelUpdater uses threads).
//
// If the loss is a mean over its examples, the gradients are therefore those of one model on all batches together, and
// optimizers, hooks and schedules do not depend on the number of workers. (Chainer adds the gradients, and changes
// hyperparameters of the optimizer instead.)
//
// On the CPU, gradients are added in the order of the devices. The sum of two GPUs does not depend on the order, so
// these runs are reproducible bit for bit; for more GPUs, NCCL chooses the order. Every dtype is communicated without
// conversion. A parameter without gradient counts as zeros. Only reports of the main model reach the trainer.
// Persistents (running statistics) are not synchronized. Random numbers of a worker (dropout, nd::random) depend on the
// default generator of the caller's thread and the number of the worker, so a resumed run draws the same numbers.
//
// update() throws an error of a worker, also its death, with "worker 1: " before the message. All workers are then
// stopped, and the updater can only be destroyed.
class CATENA_EXPORT MultiprocessParallelUpdater : public StandardUpdater {
 public:
  using Loss = catena::Function<Variable(Link& model, const Variables& args)>;
  struct Options {
    Converter converter = default_converter;
    Devices devices = {};
    Loss loss_func = {};  // default: the call of the model; the function gets the replica to use
    // Seconds that finalize() waits for the state of worker processes, and for them to end, before it kills them.
    double stop_timeout = 10;
  };
  // ValueError unless there is one device per iterator, no iterator is null, and the devices are either different GPUs
  // or all the CPU; for datasets of different lengths; and for a model that is not the optimizer's target. KeyError for
  // named devices without "main". RuntimeError for GPUs without NCCL, with the reason.
  template <class L>
  MultiprocessParallelUpdater(std::vector<Held<Iterator>> iterators, Held<Optimizer> optimizer, L& model,
                              Options options) requires(std::is_base_of_v<Link, L>)
      : MultiprocessParallelUpdater(iterators, optimizer, copies_of(model, *optimizer, options), options) {}
  // For workers on the CPU; ValueError for GPUs, because copying the model requires its class.
  MultiprocessParallelUpdater(std::vector<Held<Iterator>> iterators, Held<Optimizer> optimizer, Options options);
  ~MultiprocessParallelUpdater() override;
  MultiprocessParallelUpdater(MultiprocessParallelUpdater&&) noexcept;

  // True if GPUs can be used, because NCCL is available. Workers on the CPU do not need it.
  static bool available();

  // Starts the workers. The first update calls it; further calls do nothing.
  void setup_workers();
  void update_core() override;
  // Stops the workers and finalizes all iterators; may be called repeatedly. A later update starts them again. A
  // process that hangs is killed after `stop_timeout`; this is a RuntimeError, because the position of its iterator is
  // lost. The destructor also kills it. Threads (on GPUs) cannot be ended from outside, so finalize() waits for them.
  void finalize() override;
  // Stores, in addition to StandardUpdater, the iterator and persistents of worker k under "_catena/worker:<k>", which
  // it first requests from the workers. If a file does not have them, those of the workers are unchanged.
  void serialize(nn::Serializer& s) override;

 private:
  MultiprocessParallelUpdater(std::vector<Held<Iterator>> iterators, Held<Optimizer> optimizer,
                              std::vector<Held<Link>> copies, Options options);
  template <class L>
  static std::vector<Held<Link>> copies_of(L& model, const Optimizer& optimizer, const Options& options) {
    training::internal::check_copyable("MultiprocessParallelUpdater", model, typeid(L));
    std::vector<Held<Link>> copies;
    for (std::size_t n = number_of_copies(model, optimizer, options); n > 0; --n)
      copies.push_back(Held<Link>(L(model)));
    return copies;
  }
  static std::size_t number_of_copies(const Link& model, const Optimizer& optimizer, const Options& options);
  void local_step();

  Loss loss_func_;
  std::vector<Held<Iterator>> others_;  // iterators of the workers
  std::vector<Device> devices_;
  catena::Shared<internal::Replicas> replicas_;
  Variable loss_;              // loss of the last update, with its graph
  std::int64_t examples_ = 0;  // number of examples in the last batch of the main model
  bool failed_ = false;
};

}  // namespace training::updaters
