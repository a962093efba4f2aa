// Iterators that load ahead: in threads of this process, or in worker processes.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

#include <catena/training/parallel/loading_iterator.h>

namespace training {

// Loads in threads of this process (see LoadingIterator for the properties of both classes). Several threads call
// get_example and get_batch at once. Suits datasets that work in C++ code without locks: decoding images, reading
// files.
//
// The destructor and finalize() wait for the examples that threads are loading, and begin no others. A thread cannot be
// ended from outside, so a get_example that never returns keeps them for ever; they warn of it after 5 seconds. After
// an error for the sake of `timeout` its thread stays at work, and another next() goes on with the other threads.
class CATENA_EXPORT MultithreadIterator : public internal::LoadingIterator {
 public:
  struct Options {
    bool repeat = true;
    std::optional<bool> shuffle = {};  // as of SerialIterator
    int n_threads = 1;
    std::int64_t n_prefetch = 1;             // batches that are loaded ahead, at least 1
    std::optional<std::uint64_t> seed = {};  // as of SerialIterator
    std::optional<double> timeout = {};      // seconds for an example, as of LoadingIterator; empty: no limit
    std::optional<AnyOrderSampler> order_sampler = {};  // as of SerialIterator
  };
  // ValueError for a batch size or a number of threads below 1, a timeout that is not above 0, an empty dataset, and a
  // sampler that is made for another dataset or is given beside `shuffle`.
  MultithreadIterator(AnyDataset dataset, std::int64_t batch_size, Options options);
  MultithreadIterator(AnyDataset dataset, std::int64_t batch_size)
      : MultithreadIterator(std::move(dataset), batch_size, Options{}) {}
  // repeat and shuffle by position, as in Chainer.
  template <std::same_as<bool> Bool>
  MultithreadIterator(AnyDataset dataset, std::int64_t batch_size, Bool repeat, Bool shuffle = true)
      : MultithreadIterator(std::move(dataset), batch_size, Options{.repeat = repeat, .shuffle = shuffle}) {}
  catena::Owned<Iterator> copy() const override;

 protected:
  catena::Owned<internal::BatchLoader> start(std::int64_t bytes) override;

 private:
  int n_threads_;
  std::optional<double> timeout_;
};

// Loads in worker processes, which return the arrays in shared memory (see LoadingIterator for the properties of both
// classes). Suits datasets whose code must not run in several threads at once, or may crash.
//
// The workers are made by fork() at the first next() after construction or finalize(), so they have the dataset in its
// state at that time; changes that get_example makes to it stay in the worker. Rules:
//   - get_example and get_batch work on arrays in host memory, and the CPU is the current device in them. A worker must
//     not use CUDA; an example with an array on another device is a TypeError.
//   - While next() starts workers, no other thread of the program may work with arrays, because a lock that it holds
//     would stay locked in the worker. This does not apply to Catena's own threads: next() waits for those of iterators
//     and updaters, and the others hold no lock between operations.
// Workers ignore SIGINT and SIGTERM, which may go to all processes of a group: the program ends them.
// If a worker is killed or crashes, next() throws a RuntimeError with the cause of its end. If a worker hangs, the
// destructor and finalize() kill it after `stop_timeout`, with a warning. On systems without fork(), next() throws a
// NotImplementedError: use MultithreadIterator there.
class CATENA_EXPORT MultiprocessIterator : public internal::LoadingIterator {
 public:
  struct Options {
    bool repeat = true;
    std::optional<bool> shuffle = {};     // as of SerialIterator
    std::optional<int> n_processes = {};  // empty: catena::max_threads()
    std::int64_t n_prefetch = 1;          // batches that are loaded ahead, at least 1
    // Bytes of shared memory per worker. Empty: the size of the largest example of the first batch (of the whole batch,
    // if the dataset stacks batches). Larger examples are sent through a pipe, which is slower, after a warning.
    std::optional<std::int64_t> shared_mem = {};
    std::optional<std::uint64_t> seed = {};  // as for SerialIterator
    // Total time in seconds that the destructor and finalize() wait for workers to end before they kill them.
    double stop_timeout = 5;
    std::optional<double> timeout = {};  // seconds for an example, as of LoadingIterator; empty: no limit
    std::optional<AnyOrderSampler> order_sampler = {};  // as of SerialIterator
  };
  // ValueError for a batch size or a number of processes below 1, negative shared_mem or stop_timeout, a timeout that
  // is not above 0, an empty dataset, and a sampler that is made for another dataset or is given beside `shuffle`.
  MultiprocessIterator(AnyDataset dataset, std::int64_t batch_size, Options options);
  MultiprocessIterator(AnyDataset dataset, std::int64_t batch_size)
      : MultiprocessIterator(std::move(dataset), batch_size, Options{}) {}
  // repeat and shuffle by position, as in Chainer.
  template <std::same_as<bool> Bool>
  MultiprocessIterator(AnyDataset dataset, std::int64_t batch_size, Bool repeat, Bool shuffle = true)
      : MultiprocessIterator(std::move(dataset), batch_size, Options{.repeat = repeat, .shuffle = shuffle}) {}
  catena::Owned<Iterator> copy() const override;

 protected:
  catena::Owned<internal::BatchLoader> start(std::int64_t bytes) override;
  bool stores_order_always() const override { return true; }
  bool loads_on_host() const override { return true; }

 private:
  int n_processes_;
  std::optional<std::int64_t> shared_mem_;
  double stop_timeout_;
  std::optional<double> timeout_;
};

}  // namespace training
