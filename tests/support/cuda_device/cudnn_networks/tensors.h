// Tensors of the software cuDNN's networks: their elements as numbers, in any order of the axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <catena/tests/support/cuda_device/cudnn.h>

namespace cuda_device::software_cudnn {

using Lengths = std::vector<std::int64_t>;

// Strides in elements.
struct Tensor {
  int type = cudnn_float;
  Lengths shape, strides;
};

inline Tensor tensor_of(const cudnnTensorStruct& d) {
  return {d.type, Lengths(d.shape.begin(), d.shape.end()), Lengths(d.strides.begin(), d.strides.end())};
}
inline std::int64_t product(const Lengths& lengths) {
  std::int64_t n = 1;
  for (const std::int64_t length : lengths) n *= length;
  return n;
}
inline std::size_t extent(const Tensor& t) {
  std::int64_t last = 0;
  for (std::size_t axis = 0; axis < t.shape.size(); ++axis) last += (t.shape[axis] - 1) * t.strides[axis];
  return static_cast<std::size_t>(last + 1) * bytes_of(t.type);
}

// The axes 0, 1, ...
inline std::vector<int> in_order(const Tensor& t) {
  std::vector<int> axes;
  for (std::size_t axis = 0; axis < t.shape.size(); ++axis) axes.push_back(static_cast<int>(axis));
  return axes;
}

// Calls f(index) for every index below `lengths`, the last one fastest.
template <class F> void for_each_index(const Lengths& lengths, F&& f) {
  if (product(lengths) == 0) return;
  Lengths index(lengths.size(), 0);
  for (;;) {
    f(static_cast<const Lengths&>(index));
    std::size_t axis = lengths.size();
    while (axis > 0 && ++index[axis - 1] == lengths[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

// Calls f(offset) for every element, the axis axes.back() fastest.
template <class F> void for_each_element(const Tensor& t, const std::vector<int>& axes, F&& f) {
  Lengths outer;
  for (std::size_t k = 0; k + 1 < axes.size(); ++k) outer.push_back(t.shape[static_cast<std::size_t>(axes[k])]);
  const auto last = static_cast<std::size_t>(axes.back());
  for_each_index(outer, [&](const Lengths& index) {
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < index.size(); ++k) offset += index[k] * t.strides[static_cast<std::size_t>(axes[k])];
    for (std::int64_t i = 0; i < t.shape[last]; ++i) f(offset + i * t.strides[last]);
  });
}

// Returns the elements in the order of `axes`, the last axis innermost.
template <class A> std::vector<A> read(const Tensor& t, const void* data, const std::vector<int>& axes) {
  std::vector<A> values;
  values.reserve(static_cast<std::size_t>(product(t.shape)));
  with_type(t.type, [&]<class T>(T) {
    const T* const first = static_cast<const T*>(data);
    for_each_element(t, axes, [&](std::int64_t offset) { values.push_back(static_cast<A>(first[offset])); });
  });
  return values;
}
// Writes alpha * values + beta * the previous elements, which are not read if beta is 0.
template <class A>
void write(const Tensor& t, void* data, const std::vector<int>& axes, const std::vector<A>& values, double alpha,
           double beta) {
  std::size_t k = 0;
  with_type(t.type, [&]<class T>(T) {
    T* const first = static_cast<T*>(data);
    for_each_element(t, axes, [&](std::int64_t offset) {
      const A before = beta == 0 ? A(0) : static_cast<A>(beta) * static_cast<A>(first[offset]);
      first[offset] = T(static_cast<A>(alpha) * values[k++] + before);
    });
  });
}

}  // namespace cuda_device::software_cudnn
