#include <catena/autograd/attention_extension.h>

namespace autograd {

AttentionExtension::~AttentionExtension() = default;

}  // namespace autograd
