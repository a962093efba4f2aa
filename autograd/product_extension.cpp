#include <catena/autograd/product_extension.h>

namespace autograd {

ProductExtension::~ProductExtension() = default;
QuantizedProductExtension::~QuantizedProductExtension() = default;

}  // namespace autograd
