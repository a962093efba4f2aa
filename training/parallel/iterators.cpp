#include <catena/training/parallel/iterators.h>

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include <catena/autograd/debug.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/warning.h>
#include <catena/training/parallel/batch_loader.h>
#include <catena/training/parallel/packed_example.h>
#include <catena/training/parallel/worker_process.h>

namespace training {

using catena::check;
using catena::ValueError;
using internal::BatchLoader;
using internal::ExampleReader;
using internal::ExampleWriter;
using internal::LoadFunction;
using internal::LoadUnit;
using internal::MessageReader;
using internal::MessageWriter;

// ---- threads ------------------------------------------------------------------------------------
MultithreadIterator::MultithreadIterator(AnyDataset dataset, std::int64_t batch_size, Options options)
    : LoadingIterator("MultithreadIterator", std::move(dataset), batch_size,
                      {options.repeat, options.shuffle, options.seed, options.order_sampler}, options.n_prefetch),
      n_threads_(options.n_threads),
      timeout_(options.timeout) {
  check<ValueError>(n_threads_ >= 1, "MultithreadIterator", "n_threads is ", n_threads_);
  internal::check_timeout("MultithreadIterator", timeout_);
}

catena::Owned<Iterator> MultithreadIterator::copy() const {
  return catena::Owned<Iterator>(new MultithreadIterator(*this));
}

catena::Owned<BatchLoader> MultithreadIterator::start(std::int64_t) {
  const LoadFunction load = [dataset = dataset()](const LoadUnit& unit, autograd::RandomScope& random) {
    return load_unit(*dataset, unit, random);
  };
  return catena::Owned<BatchLoader>(new BatchLoader(
      "MultithreadIterator", std::vector<LoadFunction>(static_cast<std::size_t>(n_threads_), load), timeout_));
}

// ---- messages between an iterator and its workers ------------------------------------------------
namespace {

std::string message_of(const LoadUnit& unit) {
  MessageWriter w;
  w.put(unit.is_batch);
  w.put(std::uint64_t(unit.selected.indices.size()));
  for (const ExampleKey& key : unit.selected.keys) w.put(key);
  return w.take();
}
LoadUnit unit_of(std::string_view message) {
  MessageReader r(message);
  LoadUnit unit;
  unit.is_batch = r.get<bool>();
  auto& [indices, keys] = unit.selected;
  keys.resize(r.get<std::uint64_t>());
  for (ExampleKey& key : keys) {
    key = r.get<ExampleKey>();
    indices.push_back(key.index);
  }
  return unit;
}

// As load_unit(), but classes of exceptions that do not cross the border of a process, of which load_unit() names no
// example, become the RuntimeError that is to cross it, with the example.
Batch load_and_name(const DatasetMixin& dataset, const LoadUnit& unit, autograd::RandomScope& random) {
  const auto place = [&] { return internal::place_of(unit.selected.indices, unit.is_batch); };
  try {
    return load_unit(dataset, unit, random);
  } catch (const std::exception& e) {
    if (std::string_view(e.what()).starts_with(place())) throw;
    catena::fail<catena::RuntimeError>(place(), autograd::internal::class_name(typeid(e)), ": ", e.what());
  } catch (...) {
    catena::fail<catena::RuntimeError>(place(), "an exception that is no std::exception");
  }
}

// Runs in the child. The answer begins with the number of bytes that the arrays need.
std::string load_in_child(const DatasetMixin& dataset, std::string_view message, std::span<std::byte> memory) {
  const LoadUnit unit = unit_of(message);
  autograd::RandomScope random(0);
  const Batch batch = load_and_name(dataset, unit, random);
  ExampleWriter examples(memory);
  MessageWriter body;
  body.put(batch.stacked.has_value());
  if (batch.stacked) examples.put(body, *batch.stacked);
  body.put(std::uint64_t(batch.examples.size()));
  for (const Example& e : batch.examples) {
    try {
      examples.put(body, e);
    } catch (...) {
      catena::rethrow_from(internal::place_of(unit.selected.indices, unit.is_batch));
    }
  }
  MessageWriter answer;
  answer.put(std::uint64_t(examples.needed()));
  answer.put_text(body.take());
  return answer.take();
}

// Runs in the parent.
Batch batch_of(MessageReader body, std::span<const std::byte> memory) {
  ExampleReader examples(memory);
  Batch batch;
  if (body.get<bool>()) batch.stacked = examples.get(body);
  batch.examples.resize(body.get<std::uint64_t>());
  for (Example& e : batch.examples) e = examples.get(body);
  return batch;
}

// A worker process with its shared memory and its connection.
struct Worker {
  internal::SharedMemory memory;
  internal::WorkerProcess process;

  Worker(int number, std::size_t bytes, const DatasetPtr& dataset)
      : memory(bytes),
        process(catena::concat("MultiprocessIterator, worker ", number), 1,
                [dataset, shared = memory.bytes()](std::string_view message) {
                  return load_in_child(*dataset, message, shared);
                }) {}

  Batch load(const LoadUnit& unit, std::atomic<std::size_t>& most) {
    std::string answer;
    try {
      answer = process.call(message_of(unit));
    } catch (const catena::RuntimeError&) {
      if (process.is_running()) throw;
      catena::rethrow_from("while " + internal::place_of(unit.selected.indices, unit.is_batch) + " was loaded");
    }
    MessageReader r(answer);
    const auto needed = std::size_t(r.get<std::uint64_t>());
    for (std::size_t before = most.load(); before < needed && !most.compare_exchange_weak(before, needed);) {}
    Batch batch = batch_of(MessageReader(r.get_text()), memory.bytes());
    batch.indices = unit.selected.indices;
    return batch;
  }
};

// The state that the threads of a ProcessLoader share; it outlives them.
struct Workers {
  std::vector<std::unique_ptr<Worker>> all;
  std::vector<internal::WorkerProcess*> processes;  // of them, for destructors, which must not allocate
  std::atomic<std::size_t> most{0};                 // largest size of a unit so far, in bytes
  double stop_timeout;

  // Delegates, so that the destructor stops those that are started before an error.
  Workers(int number, std::size_t shared, const DatasetPtr& dataset, double timeout) : Workers(timeout) {
    all.reserve(std::size_t(number));
    processes.reserve(std::size_t(number));
    for (int k = 0; k < number; ++k) {
      all.push_back(std::make_unique<Worker>(k, shared, dataset));
      processes.push_back(&all.back()->process);
    }
  }
  explicit Workers(double timeout) : stop_timeout(timeout) {}
  ~Workers() { internal::WorkerProcess::stop(processes, stop_timeout); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
};

// Has one thread per process, which waits for the answers of the process and copies them.
class ProcessLoader final : public BatchLoader {
 public:
  ProcessLoader(std::shared_ptr<Workers> workers, std::size_t shared, std::optional<double> timeout)
      : BatchLoader("MultiprocessIterator", functions(*workers), timeout),
        workers_(std::move(workers)),
        shared_(shared) {}
  ~ProcessLoader() override {
    // so that threads that wait for a process end
    for (internal::WorkerProcess* process : workers_->processes) process->hang_up();
    stop();
  }

  bool is_stuck() override { return false; }  // its processes are killed
  void after_take() override {
    const std::size_t most = workers_->most.load();
    if (warned_ || most <= shared_) return;
    warned_ = true;
    catena::warn("UserWarning",
                 catena::concat("MultiprocessIterator: an example needs ", most, " bytes, which do not fit into the ",
                                shared_, " bytes of shared memory; such examples go through a pipe, which is slower (",
                                "give shared_mem = ", most, ")"));
  }

 private:
  static std::vector<LoadFunction> functions(Workers& workers) {
    std::vector<LoadFunction> result;
    for (const auto& w : workers.all)
      result.push_back([worker = w.get(), most = &workers.most](const LoadUnit& u, autograd::RandomScope&) {
        return worker->load(u, *most);
      });
    return result;
  }

  std::shared_ptr<Workers> workers_;
  std::size_t shared_;
  bool warned_ = false;
};

}  // namespace

// ---- processes ----------------------------------------------------------------------------------
MultiprocessIterator::MultiprocessIterator(AnyDataset dataset, std::int64_t batch_size, Options options)
    : LoadingIterator("MultiprocessIterator", std::move(dataset), batch_size,
                      {options.repeat, options.shuffle, options.seed, options.order_sampler}, options.n_prefetch),
      n_processes_(options.n_processes.value_or(catena::max_threads())),
      shared_mem_(options.shared_mem),
      stop_timeout_(options.stop_timeout),
      timeout_(options.timeout) {
  check<ValueError>(n_processes_ >= 1, "MultiprocessIterator", "n_processes is ", n_processes_);
  check<ValueError>(shared_mem_.value_or(0) >= 0, "MultiprocessIterator", "shared_mem is ", shared_mem_.value_or(0));
  internal::check_stop_timeout("MultiprocessIterator", stop_timeout_);
  internal::check_timeout("MultiprocessIterator", timeout_);
}

catena::Owned<Iterator> MultiprocessIterator::copy() const {
  return catena::Owned<Iterator>(new MultiprocessIterator(*this));
}

catena::Owned<BatchLoader> MultiprocessIterator::start(std::int64_t bytes) {
  const auto shared = static_cast<std::size_t>(shared_mem_.value_or(bytes));
  // All processes are started before the first thread.
  auto workers = std::make_shared<Workers>(n_processes_, shared, dataset(), stop_timeout_);
  return catena::Owned<BatchLoader>(new ProcessLoader(std::move(workers), shared, timeout_));
}

}  // namespace training
