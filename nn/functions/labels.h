// Class labels as inputs of functions: arrays of any integer dtype. Internal.
#pragma once

#include <optional>
#include <string_view>

#include <catena/autograd/array.h>
#include <catena/autograd/type_check.h>

namespace nn::internal {

// InvalidType unless input i is an integer.
inline void expect_labels(const autograd::type_check::TypeInfoTuple& in_types, int i) {
  using namespace autograd::type_check;
  if (!catena::is_integer(in_types.dtype(std::size_t(i)))) expect(in_types[i].dtype.kind() == 'i');
}

// IndexError for a label that is neither one of the classes nor `ignored`, on the CPU, and on CUDA if nd::check_indices
// is on. In debug mode, all other devices are waited for; the error is then the reference's ValueError.
// allow_negative: no class has such a label, but the function has a use for it.
void check_labels(std::string_view op, const autograd::Array& t, std::int64_t classes, std::optional<int> ignored,
                  bool allow_negative = false);

// In the dtype that the kernels read; t itself if it has it.
inline autograd::Array labels_of(const autograd::Array& t) { return autograd::astype(t, autograd::Dtype::int32); }

}  // namespace nn::internal
