#include <catena/autograd/attention_extension.h>

namespace autograd {

AttentionExtension::~AttentionExtension() = default;
bool AttentionExtension::takes(const AttentionCall&) const { return true; }

}  // namespace autograd
