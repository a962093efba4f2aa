// Class labels as inputs of functions: arrays of any integer dtype. Internal.
#pragma once

#include <optional>
#include <string_view>

#include <catena/autograd/array.h>
#include <catena/autograd/type_check.h>

namespace nn::internal {

// Throws an InvalidType unless input i is an integer.
inline void expect_labels(const autograd::type_check::TypeInfoTuple& in_types, int i) {
  using namespace autograd::type_check;
  if (!catena::is_integer(in_types.dtype(std::size_t(i)))) expect(in_types[i].dtype.kind() == 'i');
}

// Throws an IndexError for a label that is neither a class nor `ignored`: on the CPU, and on CUDA if nd::check_indices
// is on. In debug mode, labels on all other devices are checked too, which blocks; the error is then Chainer's
// ValueError. allow_negative: negative labels are no classes but are allowed.
void check_labels(std::string_view op, const autograd::Array& t, std::int64_t classes, std::optional<int> ignored,
                  bool allow_negative = false);

// Converts to the dtype that the kernels read; returns t itself if it has it.
autograd::Array labels_of(const autograd::Array& t);

}  // namespace nn::internal
