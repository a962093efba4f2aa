#include <catena/training/parallel/replicas.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <catena/autograd/random_state.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/parallel.h>
#include <catena/training/parallel/flat_params.h>
#include <catena/training/parallel/packed_state.h>
#include <catena/training/parallel/worker_process.h>

namespace training::updaters::internal {
namespace {

using nn::serializers::DictionarySerializer;
using training::internal::FlatParams;
using training::internal::MessageReader;
using training::internal::MessageWriter;
using training::internal::packed;
using training::internal::PackedDeserializer;
using training::internal::Persistents;
using training::internal::SharedMemory;
using training::internal::WorkerProcess;

enum class Order : std::uint8_t { step, state, finalize };

void to_memory(const Array& flat, std::byte*& at) {
  autograd::to_host(flat, at);
  at += flat.size() * std::int64_t(catena::itemsize(flat.dtype()));
}
Array from_memory(const FlatParams::Part& part, const std::byte*& at) {
  const Array a = autograd::from_host(at, {part.size}, part.dtype, Device{});
  at += part.bytes();
  return a;
}

// The part of a worker that runs in the child.
class Child {
 public:
  Child(const Team& team, std::size_t k, const Persistents& persistents, std::span<std::byte> params,
        std::span<std::byte> grads)
      : team_(team), iterator_(team.iterators[k]), persistents_(persistents), params_(params), grads_(grads) {}

  std::string operator()(std::string_view message) {
    if (!started_) persistents_.apply_to(*team_.main);
    started_ = true;
    MessageReader r(message);
    switch (r.get<Order>()) {
      case Order::step: {
        const auto count = r.get<std::uint64_t>(), bytes = r.get<std::uint64_t>();
        MessageWriter w;
        w.put(step(r.get<std::uint64_t>(), count, bytes));
        return w.take();
      }
      case Order::state: return state();
      case Order::finalize: iterator_->finalize(); break;
    }
    return {};
  }

 private:
  // `count` and `bytes` describe the parameters of the main model in the shared memory. Returns the number of examples
  // in the batch.
  std::int64_t step(std::uint64_t seed, std::uint64_t count, std::uint64_t bytes) {
    const FlatParams flat(*team_.main);
    catena::check<catena::RuntimeError>(flat.count() == count && std::uint64_t(flat.bytes()) == bytes,
                                        "MultiprocessParallelUpdater", "the model of the worker has ", flat.count(),
                                        " parameters of ", flat.bytes(), " bytes now, the main model ", count, " of ",
                                        bytes, "; the forward pass must change the parameters of all replicas alike");
    const std::byte* from = params_.data();
    for (const FlatParams::Part& part : flat.parts()) part.set_data(from_memory(part, from));
    const autograd::RandomScope random(seed);
    if (loss_) loss_.unchain_backward();
    std::int64_t examples = 0;
    loss_ = worker_step(*iterator_, *team_.main, team_, Device{}, examples);
    std::byte* to = grads_.data();
    for (const FlatParams::Part& part : flat.parts()) to_memory(part.grads(), to);
    return examples;
  }
  std::string state() {
    DictionarySerializer s;
    iterator_->serialize(*s["iterator"]);
    Persistents(*team_.main).serialize(*s["model"]);
    return packed(s);
  }

  Team team_;
  Held<Iterator> iterator_;
  Persistents persistents_;
  std::span<std::byte> params_, grads_;
  Variable loss_;
  bool started_ = false;
};

// Forks one process per worker. Its model is the main model in its state at that time.
class ProcessReplicas final : public Replicas {
 public:
  explicit ProcessReplicas(Team team) : team_(std::move(team)), persistents_(team_.iterators.size()) {}

  ~ProcessReplicas() override { end_processes(); }

  bool is_running() const override { return params_ != nullptr; }

  void setup() override {
    if (is_running()) return;
    const FlatParams flat(*team_.main);
    const auto bytes = static_cast<std::size_t>(flat.bytes());
    const auto n = int(team_.devices.size());
    // Threads and processes that load ahead belong to this process; positions and orders are kept.
    for (const Held<Iterator>& it : team_.iterators) it->finalize();
    auto params = std::make_unique<SharedMemory>(bytes);
    std::vector<std::unique_ptr<SharedMemory>> grads;
    std::vector<std::unique_ptr<WorkerProcess>> workers;
    for (std::size_t k = 0; k < team_.iterators.size(); ++k) {
      grads.push_back(std::make_unique<SharedMemory>(bytes));
      workers.push_back(std::make_unique<WorkerProcess>(
          catena::concat("MultiprocessParallelUpdater, worker ", k + 1), std::max(1, catena::max_threads() / n),
          Child(team_, k, persistents_[k], params->bytes(), grads[k]->bytes())));
    }
    std::vector<WorkerProcess*> processes;
    for (const auto& worker : workers) processes.push_back(worker.get());
    count_ = flat.count();
    bytes_ = flat.bytes();
    params_ = std::move(params);
    grads_ = std::move(grads);
    workers_ = std::move(workers);
    processes_ = std::move(processes);
  }

  void begin(const std::vector<std::uint64_t>& seeds) override {
    const FlatParams flat(*team_.main);
    if (flat.count() != count_ || flat.bytes() != bytes_) {  // a parameter was made or replaced after the fork
      stop(true);
      setup();
    }
    std::byte* to = params_->bytes().data();
    for (const FlatParams::Part& part : flat.parts()) to_memory(part.data(), to);
    for (std::size_t k = 0; k < workers_.size(); ++k) {
      MessageWriter w;
      w.put(Order::step);
      w.put(std::uint64_t(count_));
      w.put(std::uint64_t(bytes_));
      w.put(seeds[k]);
      try {
        workers_[k]->send(w.take());
      } catch (...) {
        catena::rethrow_from(catena::concat("worker ", k + 1));
      }
    }
  }

  void add_gradients(std::int64_t examples) override {
    std::vector<std::int64_t> all{examples};
    for (std::size_t k = 0; k < workers_.size(); ++k) {
      try {
        const std::string answer = workers_[k]->receive();
        all.push_back(MessageReader(answer).get<std::int64_t>());
      } catch (...) {
        catena::rethrow_from(catena::concat("worker ", k + 1));
      }
    }
    const std::vector<double> shares = training::internal::shares_of(all);
    std::vector<const std::byte*> from;
    for (const auto& memory : grads_) from.push_back(memory->bytes().data());
    const FlatParams flat(*team_.main);
    for (const FlatParams::Part& part : flat.parts()) {
      const Array sum = part.grads();
      sum *= shares[0];
      for (std::size_t k = 0; k < from.size(); ++k) {
        const Array of_worker = from_memory(part, from[k]);
        of_worker *= shares[k + 1];
        sum += of_worker;
      }
      part.set_grads(sum);
    }
  }

  void fetch_state() override { fetch_state(std::numeric_limits<double>::infinity()); }
  void fetch_state(double timeout) {
    for (std::size_t k = 0; k < workers_.size(); ++k) {
      workers_[k]->send(message(Order::state));
      const PackedDeserializer state(workers_[k]->receive(timeout));
      team_.iterators[k]->serialize(*state["iterator"]);
      persistents_[k] = Persistents(*team_.main);
      persistents_[k].serialize(*state["model"]);
    }
  }

  void stop(bool in_good_order) override {
    if (in_good_order) {
      fetch_state(team_.stop_timeout);
      for (const auto& worker : workers_) worker->send(message(Order::finalize));
      for (const auto& worker : workers_) worker->receive(team_.stop_timeout);
    }
    end_processes();
    grads_.clear();
    params_.reset();
  }
  Persistents persistents(std::size_t worker) override {
    return persistents_[worker].is_empty() ? Persistents(*team_.main) : persistents_[worker];
  }
  void set_persistents(std::size_t worker, const Persistents& values) override { persistents_[worker] = values; }

 private:
  void end_processes() {
    WorkerProcess::stop(processes_, team_.stop_timeout);
    processes_.clear();
    workers_.clear();
  }
  static std::string message(Order order) {
    MessageWriter w;
    w.put(order);
    return w.take();
  }

  Team team_;
  std::vector<Persistents> persistents_;  // persistents of the workers, where they differ from those of the main model
  std::size_t count_ = 0;                 // number of parameters when the workers were made
  std::int64_t bytes_ = 0;                // size of these parameters
  std::unique_ptr<SharedMemory> params_;
  std::vector<std::unique_ptr<SharedMemory>> grads_;
  std::vector<std::unique_ptr<WorkerProcess>> workers_;
  std::vector<WorkerProcess*> processes_;  // the same, for the destructor, which must not allocate
};

}  // namespace

catena::Shared<Replicas> process_replicas(Team team) { return catena::Shared<ProcessReplicas>::make(std::move(team)); }

}  // namespace training::updaters::internal
