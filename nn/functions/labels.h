// Class labels as inputs of functions: arrays of any integer dtype. Internal.
#pragma once

#include <catena/autograd/array.h>
#include <catena/autograd/type_check.h>

namespace nn::internal {

// InvalidType unless input i is an integer.
inline void expect_labels(const autograd::type_check::TypeInfoTuple& in_types, int i) {
  using namespace autograd::type_check;
  if (!catena::is_integer(in_types.dtype(std::size_t(i)))) expect(in_types[i].dtype.kind() == 'i');
}

// In the dtype that the kernels read; t itself if it has it.
inline autograd::Array labels_of(const autograd::Array& t) { return autograd::astype(t, autograd::Dtype::int32); }

}  // namespace nn::internal
