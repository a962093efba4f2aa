#include <catena/autograd/group_normalization_extension.h>

namespace autograd {

GroupNormalizationExtension::~GroupNormalizationExtension() = default;

}  // namespace autograd
