// Recurrent networks by cuDNN. Internal to this folder. Both functions throw NotSupported for networks that cuDNN does
// not support.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal::cudnn {

// The do_ functions of NnExtension, for networks without dropout.
RnnResult rnn(const RnnOperands& operands, const RnnSpec& spec);
RnnGradients rnn_backward(const RnnOperands& operands, const RnnSpec& spec, const RnnResult& result,
                          const RnnOutputGradients& g);
// True if rnn() of this file made the result, false if the portable implementation did.
bool is_own(const RnnResult& result);

}  // namespace autograd::internal::cudnn
