// The workers of MultiprocessParallelUpdater. Internal to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include <catena/kernels/base/pointers.h>
#include <catena/training/parallel/persistents.h>
#include <catena/training/parallel/replica_step.h>

namespace training::updaters::internal {

// The objects from which workers are created. The main model is not a worker.
struct Team {
  Held<Link> main;
  std::vector<Held<Iterator>> iterators;  // one per worker
  std::vector<Device> devices;            // the device of the main model first
  Converter converter;
  training::internal::ReplicaLoss loss_func;
  double stop_timeout;  // time limit for worker processes to end
};

// An update is begin(), which gives the workers the parameters of the main model, and then add_gradients().
class Replicas {
 public:
  virtual ~Replicas();
  virtual bool is_running() const = 0;
  virtual void setup() = 0;
  virtual void begin(const std::vector<std::uint64_t>& seeds) = 0;
  // Waits for the workers. Replaces the gradients of the main model, which are those of a batch of `examples`, by the
  // mean of all gradients, weighted by the numbers of examples.
  virtual void add_gradients(std::int64_t examples) = 0;
  virtual void fetch_state() = 0;  // gets iterators and persistents from running workers
  // Ends the workers. With in_good_order, first fetches their state and finalizes their iterators.
  virtual void stop(bool in_good_order) = 0;
  virtual training::internal::Persistents persistents(std::size_t worker) = 0;
  virtual void set_persistents(std::size_t worker, const training::internal::Persistents& values) = 0;
};

catena::Shared<Replicas> thread_replicas(Team team, std::vector<Held<Link>> models);
catena::Shared<Replicas> process_replicas(Team team);

// Does a worker's part of an update; sets `examples` to the number of examples in its batch. An error says where it
// happened, but does not name the worker.
Variable worker_step(Iterator& iterator, Link& model, const Team& team, Device device, std::int64_t& examples);

}  // namespace training::updaters::internal
