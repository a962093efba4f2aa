// AttentionExtension on the CPU and on CUDA. Internal to this folder.
#pragma once

#include <catena/autograd/attention_extension.h>

namespace autograd::internal {

AttentionExtension& cpu_attention_extension();
AttentionExtension& cuda_attention_extension();

}  // namespace autograd::internal
