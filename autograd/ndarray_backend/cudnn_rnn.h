// Recurrent networks by cuDNN. Internal to this folder. Both throw NotSupported where cuDNN has no such network.
#pragma once

#include <catena/autograd/backend/nn_extension.h>

namespace autograd::internal::cudnn {

// As the do_ functions of NnExtension; there is no dropout in them.
RnnResult rnn(const RnnOperands& operands, const RnnSpec& spec);
RnnGradients rnn_backward(const RnnOperands& operands, const RnnSpec& spec, const RnnResult& result,
                          const RnnOutputGradients& g);
// Whether rnn() of this file made the result, and not the portable implementation.
bool is_own(const RnnResult& result);

}  // namespace autograd::internal::cudnn
