// MultiprocessParallelUpdater: data parallel training with a worker and an iterator for every device.
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

// In every update, each worker computes the gradients of a batch of its own iterator; the mean of these, in which every
// batch counts by its number of examples, is given to the main model, which the optimizer updates; the workers get the
// new parameters. The first of `iterators` and of `devices` are those of the main model.
//
//   auto parts = training::split_dataset_n_random(train, 2);
//   training::SerialIterator first(parts[0], 100), second(parts[1], 100);
//   MultiprocessParallelUpdater({first, second}, optimizer, model, {.devices = {0, 1}});     // GPUs
//   MultiprocessParallelUpdater({first, second}, optimizer, model, {.devices = {-1, -1}});   // CPU
//
// On GPUs a worker is a thread with a copy of the model, and arrays go from GPU to GPU by NCCL. On the CPU a worker is
// a process made by fork() at the first update, which has the model as it is then, and hands over its gradients in
// shared memory; it has its share of catena::max_threads(), and no other thread of the program may be at work with
// arrays at that time. Where there is no fork(), that is a NotImplementedError (ParallelUpdater uses threads).
//
// So a loss that is a mean over its examples gives the gradients that one model would have of all the batches as one,
// and optimizers, their hooks and schedules do not depend on the number of workers. (Chainer adds the gradients up, and
// changes hyperparameters of the optimizer instead.)
//
// Gradients are added in the order of the devices on the CPU, and of two GPUs in any order, so that a run is
// reproducible bit for bit; the order for more GPUs is NCCL's. Every dtype is communicated as it is. A parameter
// without gradient counts as zeros. Reports of the main model alone reach the trainer. Persistents (running statistics)
// are not synchronized. Random numbers of a worker (dropout, nd::random) follow from the default generator of the
// caller's thread and the number of the worker, so a resumed run draws the same.
//
// An error of a worker, its death included, is thrown by update(), with "worker 1: " before its message; all workers
// are stopped then, and the updater can only be destroyed.
class CATENA_EXPORT MultiprocessParallelUpdater : public StandardUpdater {
 public:
  using Loss = catena::Function<Variable(Link& model, const Variables& args)>;
  struct Options {
    Converter converter = default_converter;
    Devices devices = {};
    Loss loss_func = {};  // default: the call of the model. It gets the replica that it is to use.
    // Seconds that finalize() waits for the state of worker processes, and that these have to end, before they are
    // killed.
    double stop_timeout = 10;
  };
  // ValueError unless there is a device for every iterator, none of them null, and either all are GPUs, none of them
  // twice, or all are the CPU; for datasets of different lengths; and for a model that is not the optimizer's target.
  // KeyError for devices by name without "main". RuntimeError for GPUs without NCCL, which says why it is unavailable.
  template <class L>
  requires(std::is_base_of_v<Link, L>) MultiprocessParallelUpdater(std::vector<Held<Iterator>> iterators,
                                                                   Held<Optimizer> optimizer, L& model, Options options)
      : MultiprocessParallelUpdater(iterators, optimizer, copies_of(model, *optimizer, options), options) {}
  // For workers on the CPU; ValueError for GPUs, for a copy needs the class of the model.
  MultiprocessParallelUpdater(std::vector<Held<Iterator>> iterators, Held<Optimizer> optimizer, Options options);
  ~MultiprocessParallelUpdater() override;
  MultiprocessParallelUpdater(MultiprocessParallelUpdater&&) noexcept;

  // Whether GPUs can be used: NCCL is there. Workers on the CPU do not need it.
  static bool available();

  // Starts the workers. The first update calls it; further calls do nothing.
  void setup_workers();
  void update_core() override;
  // Stops the workers and finalizes all iterators; may be called repeatedly. A later update starts them again. A
  // process that hangs is killed after `stop_timeout`, which is a RuntimeError since its iterator's position is lost;
  // the destructor kills it likewise. Threads (on GPUs) cannot be ended from outside: they are waited for.
  void finalize() override;
  // Besides what StandardUpdater stores, iterator and persistents of worker k under "_catena/worker:<k>". A file
  // without them leaves the workers' as they are. The workers are asked before.
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
  std::vector<Held<Iterator>> others_;  // of the workers
  std::vector<Device> devices_;
  catena::Shared<internal::Replicas> replicas_;
  Variable loss_;              // of the last update, with its graph
  std::int64_t examples_ = 0;  // in the last batch of the main model
  bool failed_ = false;
};

}  // namespace training::updaters
