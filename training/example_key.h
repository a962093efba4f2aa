// The example that an iterator is loading, for datasets and transforms that compute something of its epoch and index.
#pragma once

#include <cstdint>
#include <optional>

#include <catena/kernels/base/export.h>

namespace training {

// Identifies an example among all that an iterator loads.
struct ExampleKey {
  // Seed of the random numbers that the dataset draws for the example. It depends on the seed of the iterator, the
  // epoch, the index and, if the order of an epoch holds the index several times, on how often it came before.
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;  // number of sweeps begun before, from 0; reset() of the iterator also begins one
  std::int64_t index = 0;  // in the dataset of the iterator, also within the datasets that this one wraps
  friend bool operator==(const ExampleKey&, const ExampleKey&) = default;
};

// Returns the key of the example that an iterator of this library is loading in the calling thread; empty outside of
// get_example() and get_batch(). In get_batch() it is the key of the first example of the batch, whose seed is that of
// the random numbers there. The key does not depend on the number of workers, and is the same after a resume:
//
//   training::TransformDataset(images, [](training::Example e) {
//     const double strength = training::example_key() ? std::min(1.0, training::example_key()->epoch / 10.0) : 1;
//     ...
//
// The random numbers of nd::random and autograd::default_generator() follow from the key already (SerialIterator), so
// transforms need it for other generators only, and for what changes with the epoch.
CATENA_EXPORT std::optional<ExampleKey> example_key() noexcept;

namespace internal {

// Makes a key that of the calling thread until the end of the scope; the key before it then returns.
class CATENA_EXPORT ExampleKeyScope {
 public:
  explicit ExampleKeyScope(const ExampleKey& key) noexcept;
  ~ExampleKeyScope();
  void set(const ExampleKey& key) noexcept;
  ExampleKeyScope(const ExampleKeyScope&) = delete;
  ExampleKeyScope& operator=(const ExampleKeyScope&) = delete;

 private:
  std::optional<ExampleKey> before_;
};

}  // namespace internal
}  // namespace training
