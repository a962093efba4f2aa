// Batch normalization by cuDNN. Internal to this folder. All throw NotSupported where the axes are not what cuDNN
// knows: the first one and all that follow some kept ones.
#pragma once

#include <catena/autograd/backend/nn_extension.h>

namespace autograd::internal::cudnn {

// As the functions of NnExtension.
Arrays batch_normalization(const Array& x, const Array& gamma, const Array& beta, double eps, const Dims& axes);
Arrays batch_normalization_backward(const Array& x, const Array& gy, const Array& gamma, const Array& mean,
                                    const Array& inv_std, const Dims& axes);
Array fixed_batch_normalization(const Array& x, const Array& gamma, const Array& beta, const Array& mean,
                                const Array& var, double eps);

}  // namespace autograd::internal::cudnn
