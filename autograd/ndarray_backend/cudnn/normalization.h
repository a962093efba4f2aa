// Batch normalization by cuDNN. Internal to this folder. All functions throw NotSupported unless the kept axes are one
// block, and the normalized axes are axis 0 and all axes after the block: cuDNN supports only this case.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal::cudnn {

// The functions of NnExtension with these names.
Arrays batch_normalization(const Array& x, const Array& gamma, const Array& beta, double eps, const Dims& axes,
                           const BatchStatistics& statistics);
Arrays batch_normalization_backward(const Array& x, const Array& gy, const Array& gamma, const Array& mean,
                                    const Array& inv_std, const Dims& axes, const Array& reserve);
Array fixed_batch_normalization(const Array& x, const Array& gamma, const Array& beta, const Array& mean,
                                const Array& var, double eps);

}  // namespace autograd::internal::cudnn
