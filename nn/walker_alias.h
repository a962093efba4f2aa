// Samples from a discrete distribution in constant time per sample, by Walker's alias method. Also converts arrays to
// matrices and vectors.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include <catena/autograd/array.h>

namespace nn {

using autograd::Array;
using autograd::Shape;

// Draws i with the probability probs[i] / sum(probs):
//   WalkerAlias sampler({5, 3, 2});
//   Array ids = sampler.sample({100, 5});   // int32, on the sampler's device
// Building the tables takes O(n log n). ValueError for an empty list, for negative numbers and NaN, and for a sum of 0.
// Samples are drawn from the thread's generator (autograd::seed). A WalkerAlias converts to the Sampler of
// negative_sampling. Thread safety: sample may be called from any thread.
class CATENA_EXPORT WalkerAlias {
 public:
  explicit WalkerAlias(const std::vector<double>& probs);
  template <class T>
  requires std::is_arithmetic_v<T>
  explicit WalkerAlias(const std::vector<T>& probs) : WalkerAlias(std::vector<double>(probs.begin(), probs.end())) {}
  WalkerAlias(std::initializer_list<double> probs) : WalkerAlias(std::vector<double>(probs)) {}

  Array sample(const Shape& shape) const;
  Array operator()(const Shape& shape) const { return sample(shape); }

  void to_device(autograd::Device device);
  void to_cpu() { to_device({}); }
  void to_gpu(int id = 0) { to_device({autograd::Device::Kind::cuda, static_cast<std::int16_t>(id)}); }

  // The tables: in cell k, values[2 k] is drawn if the fraction is at most threshold[k], else values[2 k + 1].
  const Array& threshold() const noexcept { return threshold_; }  // float32 (n)
  const Array& values() const noexcept { return values_; }        // int32 (2 n)

 private:
  Array threshold_, values_;
};

// Returns x as a matrix: all axes but the first are merged. A view if the layout allows it. ValueError for 0-d arrays.
CATENA_EXPORT Array as_mat(const Array& x);
// Returns x as a vector.
CATENA_EXPORT Array as_vec(const Array& x);

}  // namespace nn
