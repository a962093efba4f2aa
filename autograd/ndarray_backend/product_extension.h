// ProductExtension by cuBLASLt. Internal to this folder.
#pragma once

#include <catena/autograd/product_extension.h>

namespace autograd::internal {

ProductExtension& cuda_product_extension();

}  // namespace autograd::internal
