// Recurrent networks by cuDNN. Internal to this folder. Both functions throw NotSupported for networks that cuDNN
// lacks.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal::cudnn {

// The do_ functions of NnExtension; the networks have no dropout.
RnnResult rnn(const RnnOperands& operands, const RnnSpec& spec);
RnnGradients rnn_backward(const RnnOperands& operands, const RnnSpec& spec, const RnnResult& result,
                          const RnnOutputGradients& g);
// Whether the result is of rnn() of this file, not of the portable implementation.
bool is_own(const RnnResult& result);

}  // namespace autograd::internal::cudnn
