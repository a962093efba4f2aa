// The argument of a call as a user passes it.
#pragma once

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/scalar.h>

namespace catena {

// An input as the user passes it: an array or a host scalar.
class Input {
 public:
  Input() noexcept = default;  // the number 0
  Input(const ArrayHeader& a) noexcept : array_(&a) {}
  Input(const Scalar& s) noexcept : scalar_(s) {}
  bool is_array() const noexcept { return array_ != nullptr; }
  const ArrayHeader& array() const noexcept { return *array_; }
  const Scalar& scalar() const noexcept { return scalar_; }

 private:
  const ArrayHeader* array_ = nullptr;
  Scalar scalar_;
};

}  // namespace catena
