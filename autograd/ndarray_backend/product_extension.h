// ProductExtension by cuBLASLt, and QuantizedProductExtension by the loops of the CPU. Internal to this folder.
#pragma once

#include <catena/autograd/product_extension.h>

namespace autograd::internal {

ProductExtension& cuda_product_extension();
QuantizedProductExtension& cpu_quantized_product_extension();

}  // namespace autograd::internal
