// Products of matrices with an addend that is added before the result is rounded.
#pragma once

#include <string_view>

#include <catena/autograd/backend/backend.h>

namespace autograd {

class CATENA_EXPORT ProductExtension {
 public:
  static constexpr std::string_view kName = "product";
  virtual ~ProductExtension();
  // Returns x w^T + b for x (N, inputs), w (outputs, inputs) and b (outputs), all of one dtype on one device; null if
  // this backend has no such function for these arrays.
  virtual Array linear(const Array& x, const Array& w, const Array& b) = 0;
};

}  // namespace autograd
