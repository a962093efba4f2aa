#include <catena/autograd/ndarray_backend/onednn/extension.h>

#if CATENA_HAS_ONEDNN
#include <catena/autograd/array.h>
#include <catena/autograd/ndarray_backend/convolution/depthwise.h>
#include <catena/autograd/ndarray_backend/convolution/direct_convolution.h>
#include <catena/autograd/ndarray_backend/convolution/pointwise.h>
#include <catena/autograd/ndarray_backend/convolution/sampled.h>
#include <catena/autograd/ndarray_backend/convolution/winograd.h>
#include <catena/autograd/ndarray_backend/onednn/modules/onednn.h>
#include <catena/kernels/base/module.h>
#endif

namespace autograd::internal {

#if CATENA_HAS_ONEDNN

namespace {

const OnednnModule& onednn() {
  static const OnednnModule& module = *CATENA_LOAD_MODULE(catena_autograd_ndarray_onednn);
  return module;
}

Shape shape_of(std::int64_t first, std::int64_t second, const Dims& spatial) {
  Shape shape{first, second};
  for (std::int64_t n : spatial) shape.push_back(n);
  return shape;
}

Dims spatial_of(const Array& a) {
  Dims spatial;
  for (int i = 2; i < a.ndim(); ++i) spatial.push_back(a.shape(i));
  return spatial;
}

// The base class computes operations, dtypes and shapes that oneDNN does not support.
class OnednnExtension final : public NnExtension {
 protected:
  // Computes a medium number of rows as a convolution over one row of N positions, which reads its filter in the layout
  // for its products; a matrix product would convert w to such a layout in every call.
  Array do_linear(const Array& x, const Array& w, const Array& b) override {
    constexpr std::int64_t kFewRows = 2, kManyRows = 128;  // limits between which the convolution is faster
    constexpr std::int64_t kWeights = 100'000;
    const std::int64_t n = x.shape(0), inputs = x.shape(1), outputs = w.shape(0);
    const Shape y_shape{1, outputs, n};
    if (n >= kFewRows && n <= kManyRows && w.size() >= kWeights && w.is_c_contiguous()) {
      const Array row = transpose(reshape(x, {1, n, inputs}), Dims{0, 2, 1}), filter = reshape(w, {outputs, inputs, 1});
      const ConvolutionSpec spec{.stride = {1}, .pad = {0}, .dilate = {1}};
      if (const Array y = takes(row, filter, y_shape) ? onednn().convolution(row, filter, b, y_shape, spec) : Array())
        return reshape(transpose(y, Dims{0, 2, 1}), {n, outputs});
    }
    return NnExtension::do_linear(x, w, b);
  }

  Array do_convolution(const Array& x, const Array& w, const Array& b, const ConvolutionSpec& spec,
                       const Dims& out) override {
    const Shape y_shape = shape_of(x.shape(0), w.shape(0), out);
    if (takes(x, w, y_shape)) {
      if (const Array y = depthwise_convolution(x, w, b, y_shape, spec)) return y;
      if (is_sampled(x.shape(), w.shape(), y_shape, spec))
        return do_convolution(sampled(x, out, spec), w, b, dense(spec), out);
      if (const Array y = pointwise_convolution(x, w, b, y_shape, spec)) return y;
      if (const Array y = winograd_convolution(x, w, b, y_shape, spec)) return y;
      if (const Array y = direct_convolution(x, w, b, y_shape, spec)) return y;
      if (const Array y = onednn().convolution(x, w, b, y_shape, spec)) return y;
    }
    return NnExtension::do_convolution(x, w, b, spec, out);
  }

  Array do_convolution_backward_data(const Array& w, const Array& gy, const Dims& spatial,
                                     const ConvolutionSpec& spec) override {
    const Shape x_shape = shape_of(gy.shape(0), w.shape(1) * spec.groups, spatial);
    if (takes(gy, w, x_shape)) {
      if (const Array gx = depthwise_convolution_backward_data(w, gy, x_shape, spec)) return gx;
      if (is_sampled(x_shape, w.shape(), gy.shape(), spec))
        return spread(do_convolution_backward_data(w, gy, spatial_of(gy), dense(spec)), x_shape, spec);
      if (const Array gx = pointwise_convolution_backward_data(w, gy, x_shape, spec)) return gx;
      if (const Array gx = winograd_convolution_backward_data(w, gy, x_shape, spec)) return gx;
      if (const Array gx = direct_convolution_backward_data(w, gy, x_shape, spec)) return gx;
      if (const Array gx = onednn().backward_data(w, gy, x_shape, spec)) return gx;
    }
    return NnExtension::do_convolution_backward_data(w, gy, spatial, spec);
  }

  Array do_convolution_backward_filter(const Array& x, const Array& gy, const Dims& kernel,
                                       const ConvolutionSpec& spec) override {
    const Shape w_shape = shape_of(gy.shape(1), x.shape(1) / spec.groups, kernel);
    if (takes(x, gy, w_shape)) {
      if (const Array gw = depthwise_convolution_backward_filter(x, gy, w_shape, spec)) return gw;
      if (is_sampled(x.shape(), w_shape, gy.shape(), spec))
        return do_convolution_backward_filter(sampled(x, spatial_of(gy), spec), gy, kernel, dense(spec));
      if (const Array gw = pointwise_convolution_backward_filter(x, gy, w_shape, spec)) return gw;
      if (const Array gw = winograd_convolution_backward_filter(x, gy, w_shape, spec)) return gw;
      if (const Array gw = direct_convolution_backward_filter(x, gy, w_shape, spec)) return gw;
      if (const Array gw = onednn().backward_filter(x, gy, w_shape, spec)) return gw;
    }
    return NnExtension::do_convolution_backward_filter(x, gy, kernel, spec);
  }

 private:
  static bool takes(const Array& a, const Array& b, const Shape& result) {
    return a.dtype() == Dtype::float32 && b.dtype() == Dtype::float32 && a.ndim() >= 3 && a.ndim() <= 5 &&
           a.size() > 0 && b.size() > 0 && catena::size_of(result) > 0;
  }
};

}  // namespace

NnExtension* onednn_extension() {
  static NnExtension* extension = new OnednnExtension;
  return extension;
}

#else

NnExtension* onednn_extension() { return nullptr; }

#endif

}  // namespace autograd::internal
