// Products of matrices with an addend that is added before the result is rounded, and products with 8-bit weights.
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

class CATENA_EXPORT QuantizedProductExtension {
 public:
  static constexpr std::string_view kName = "quantized_product";
  virtual ~QuantizedProductExtension();
  // Returns scale (x w^T) + b for x (N, inputs), int8 w (outputs, inputs), and scale and b (outputs), all on one
  // device; b may be null. Returns null if this backend has no such function for these arrays.
  virtual Array linear(const Array& x, const Array& w, const Array& scale, const Array& b) = 0;
};

}  // namespace autograd
