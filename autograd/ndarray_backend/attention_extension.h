// AttentionExtension on the CPU. Internal to this folder.
#pragma once

#include <catena/autograd/attention_extension.h>

namespace autograd::internal {

AttentionExtension& cpu_attention_extension();

}  // namespace autograd::internal
