#include <catena/autograd/product_extension.h>

namespace autograd {

ProductExtension::~ProductExtension() = default;

}  // namespace autograd
