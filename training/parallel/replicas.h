// The workers of MultiprocessParallelUpdater. Internal to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include <catena/kernels/base/pointers.h>
#include <catena/training/parallel/persistents.h>
#include <catena/training/parallel/replica_step.h>

namespace training::updaters::internal {

// The objects that workers are created from. The main model is not a worker.
struct Team {
  Held<Link> main;
  std::vector<Held<Iterator>> iterators;  // one per worker
  std::vector<Device> devices;            // that of the main model first
  Converter converter;
  training::internal::ReplicaLoss loss_func;
  double stop_timeout;  // seconds that worker processes have to end
};

// One update: begin(), which gives the workers the parameters of the main model, and add_gradients().
class Replicas {
 public:
  virtual ~Replicas();
  virtual bool is_running() const = 0;
  virtual void setup() = 0;
  virtual void begin(const std::vector<std::uint64_t>& seeds) = 0;
  // Waits for the workers, and makes the gradients of the main model, which are those of a batch of `examples`, the
  // mean of all, weighted by the numbers of examples.
  virtual void add_gradients(std::int64_t examples) = 0;
  virtual void fetch_state() = 0;  // iterators and persistents, as they are in the workers, if these run
  // Ends the workers. In good order, their state is fetched and their iterators are finalized before.
  virtual void stop(bool in_good_order) = 0;
  virtual training::internal::Persistents persistents(std::size_t worker) = 0;
  virtual void set_persistents(std::size_t worker, const training::internal::Persistents& values) = 0;
};

catena::Shared<Replicas> thread_replicas(Team team, std::vector<Held<Link>> models);
catena::Shared<Replicas> process_replicas(Team team);

// A worker's part of an update; `examples` becomes the number of those in its batch. An error says where it
// happened, but not in which worker.
Variable worker_step(Iterator& iterator, Link& model, const Team& team, Device device, std::int64_t& examples);

}  // namespace training::updaters::internal
