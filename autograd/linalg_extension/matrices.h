// Stacks of matrices in host memory, and names of matrices in messages. Internal to this folder.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include <catena/autograd/backend/backend.h>

namespace autograd::internal {

// Returns "the matrix", or "matrix (1, 2) of the stack" for the i-th matrix.
std::string name_of(const Array& a, std::int64_t i);

// Returns the shape of `a` with other lengths in place of the last two.
Shape stacked(const Array& a, std::initializer_list<std::int64_t> lengths);

// The matrices of a stack in host memory, one after the other.
struct Stack {
  std::vector<double> values;
  std::int64_t count, rows, columns;
  double* at(std::int64_t i) { return values.data() + i * rows * columns; }
};
Stack host_stack(const Array& a);
// Returns the values as an array of the dtype and on the device of `a`.
Array on_device_of(const Array& a, const std::vector<double>& values, const Shape& shape);

}  // namespace autograd::internal
