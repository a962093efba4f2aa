// Iterators that load ahead of their use: in threads of this process, or in processes of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <catena/training/parallel/loading_iterator.h>

namespace training {

// Loads in threads of this process (see LoadingIterator for what both classes promise). get_example and get_batch are
// called from several threads at once. Fits datasets whose work is in C++ that holds no lock: decoding images, reading
// files.
//
// The destructor and finalize() wait for the examples that threads are loading, and begin no others. A thread cannot be
// ended from outside, so a get_example that never returns keeps them for ever; they warn of it after 5 seconds. After
// an error for the sake of `timeout` its thread stays at work, and another next() goes on with the other threads.
class CATENA_EXPORT MultithreadIterator : public internal::LoadingIterator {
 public:
  struct Options {
    bool repeat = true;
    bool shuffle = true;
    int n_threads = 1;
    std::int64_t n_prefetch = 1;             // batches that are loaded ahead, at least 1
    std::optional<std::uint64_t> seed = {};  // as of SerialIterator
    std::optional<double> timeout = {};      // seconds for an example, as of LoadingIterator; empty: no limit
  };
  // ValueError for a batch size or a number of threads below 1, a timeout that is not above 0, and an empty dataset.
  MultithreadIterator(AnyDataset dataset, std::int64_t batch_size, Options options);
  MultithreadIterator(AnyDataset dataset, std::int64_t batch_size)
      : MultithreadIterator(std::move(dataset), batch_size, Options{}) {}
  catena::Owned<Iterator> copy() const override;

 protected:
  catena::Owned<internal::BatchLoader> start(std::int64_t bytes) override;

 private:
  int n_threads_;
  std::optional<double> timeout_;
};

// Loads in worker processes, which hand the arrays over in shared memory (see LoadingIterator for what both classes
// promise). Fits datasets whose code must not run in several threads at once, and those that may crash.
//
// The workers are made by fork() at the first next() after the construction or finalize(), so they have the dataset as
// it is then; changes that get_example makes to it stay in the worker. Rules:
//   - get_example and get_batch work on arrays in host memory. A worker must not use CUDA; an example with an array on
//     another device than the CPU is a TypeError.
//   - While next() starts workers, no other thread of the program may be at work with arrays, since a lock that it
//     holds would stay locked in the worker. Threads of Catena itself need no care: those of iterators and updaters are
//     waited for, and the others hold no lock between operations.
// A worker that is killed, or crashes, is a RuntimeError of next() that says how it has ended. A worker that hangs does
// not keep the destructor and finalize(): after `stop_timeout` it is killed, with a warning.
// NotImplementedError from next() where there is no fork(): use MultithreadIterator there.
class CATENA_EXPORT MultiprocessIterator : public internal::LoadingIterator {
 public:
  struct Options {
    bool repeat = true;
    bool shuffle = true;
    std::optional<int> n_processes = {};  // empty: catena::max_threads()
    std::int64_t n_prefetch = 1;          // batches that are loaded ahead, at least 1
    // Bytes of shared memory of a worker. Empty: as many as the largest example of the first batch needs (as that batch
    // needs, if the dataset stacks batches). Larger examples go through a pipe, which is slower, after a warning.
    std::optional<std::int64_t> shared_mem = {};
    std::optional<std::uint64_t> seed = {};  // as of SerialIterator
    // Seconds that the destructor and finalize() wait for workers to end, in all, before they kill them.
    double stop_timeout = 5;
    std::optional<double> timeout = {};  // seconds for an example, as of LoadingIterator; empty: no limit
  };
  // ValueError for a batch size or a number of processes below 1, negative shared_mem or stop_timeout, a timeout that
  // is not above 0, and an empty dataset.
  MultiprocessIterator(AnyDataset dataset, std::int64_t batch_size, Options options);
  MultiprocessIterator(AnyDataset dataset, std::int64_t batch_size)
      : MultiprocessIterator(std::move(dataset), batch_size, Options{}) {}
  catena::Owned<Iterator> copy() const override;

 protected:
  catena::Owned<internal::BatchLoader> start(std::int64_t bytes) override;
  bool stores_order_always() const override { return true; }

 private:
  int n_processes_;
  std::optional<std::int64_t> shared_mem_;
  double stop_timeout_;
  std::optional<double> timeout_;
};

}  // namespace training
