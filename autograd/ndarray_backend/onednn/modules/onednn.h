// The function table of the oneDNN module (kernels/base/module.h): convolutions of non-empty float32 arrays with one to
// three spatial axes. A null array means that oneDNN has no implementation. Internal to this folder.
#pragma once

#include <catena/autograd/nn_extension.h>

namespace autograd::internal {

struct OnednnModule {
  Array (*convolution)(const Array& x, const Array& w, const Array& b, const Shape& y_shape,
                       const ConvolutionSpec& spec);
  Array (*backward_data)(const Array& w, const Array& gy, const Shape& x_shape, const ConvolutionSpec& spec);
  Array (*backward_filter)(const Array& x, const Array& gy, const Shape& w_shape, const ConvolutionSpec& spec);
};

extern "C" CATENA_EXPORT const OnednnModule* catena_autograd_ndarray_onednn();

}  // namespace autograd::internal
