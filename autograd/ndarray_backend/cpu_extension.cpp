#include <catena/autograd/ndarray_backend/cpu_extension.h>

#include <catena/autograd/array.h>
#include <catena/autograd/ndarray_backend/convolution/choose.h>
#include <catena/autograd/ndarray_backend/onednn/convolution.h>

namespace autograd::internal {
namespace {

class CpuExtension final : public NnExtension {
 protected:
  Array do_convolution(const Convolution& c) override { return convolve(c); }

  // Computes a medium number of rows as a convolution over one row of N positions, which reads its filter in the layout
  // for its products; a matrix product would convert w to such a layout in every call.
  Array do_linear(const Array& x, const Array& w, const Array& b) override {
    constexpr std::int64_t kFewRows = 2, kManyRows = 128;  // limits between which the convolution is faster
    constexpr std::int64_t kWeights = 100'000;
    const std::int64_t n = x.shape(0), inputs = x.shape(1), outputs = w.shape(0);
    if (x.dtype() == Dtype::float32 && n >= kFewRows && n <= kManyRows && w.size() >= kWeights && w.is_c_contiguous()) {
      const Array row = transpose(reshape(x, {1, n, inputs}), Dims{0, 2, 1}), filter = reshape(w, {outputs, inputs, 1});
      const ConvolutionSpec spec{.stride = {1}, .pad = {0}, .dilate = {1}};
      if (const Array y = onednn_convolution({Convolution::Pass::forward, spec, row.shape(), filter.shape(),
                                              Shape{1, outputs, n}, row, filter, Array(), b})) {
        set_last_implementation("onednn");
        return reshape(transpose(y, Dims{0, 2, 1}), {n, outputs});
      }
    }
    return NnExtension::do_linear(x, w, b);
  }
};

}  // namespace

NnExtension& cpu_nn_extension() {
  static NnExtension& extension = *new CpuExtension;
  return extension;
}

}  // namespace autograd::internal
