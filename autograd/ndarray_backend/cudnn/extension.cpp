#include <catena/autograd/ndarray_backend/cudnn/extension.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <catena/autograd/ndarray_backend/cudnn/arrays.h>
#include <catena/autograd/ndarray_backend/cudnn/normalization.h>
#include <catena/autograd/ndarray_backend/cudnn/rnn.h>
#include <catena/kernels/base/atomic.h>
#include <catena/kernels/base/warning.h>
#include <catena/ndarray/cuda/vendor/blas.h>

namespace autograd::internal {
namespace {

using cudnn::Binding;
using cudnn::ConvolutionProblem;
using cudnn::cudnn_type;
using cudnn::empty_in;
using cudnn::extended;
using cudnn::image_shape;
using cudnn::in_layout;
using cudnn::is_in;
using cudnn::Layout;
using cudnn::NotSupported;
using cudnn::Pass;
using cudnn::PlanPtr;

// ---- convolutions -------------------------------------------------------------------------------
// Returns the layouts to try, best first. 16-bit products are fast only in channels-last memory; float64 has plans only
// for contiguous memory; float32 keeps the layout of the array.
std::array<Layout, 2> layouts_for(const Array& a) {
  const bool narrow = catena::itemsize(a.dtype()) < 4;
  const bool last = narrow || (a.dtype() == Dtype::float32 && !a.is_c_contiguous() && is_in(a, Layout::channels_last));
  if (last) return {Layout::channels_last, Layout::contiguous};
  return {Layout::contiguous, Layout::channels_last};
}

Array widened(const Array& a) { return a && catena::itemsize(a.dtype()) < 4 ? astype(a, Dtype::float32) : a; }

bool takes(const Array& a, const Array& b, std::int64_t result_size) {
  return a.ndim() >= 3 && a.ndim() <= 5 && a.size() > 0 && b.size() > 0 && result_size > 0;
}

// Returns the plan for arrays of the dtype and on the device of `near`.
PlanPtr find_plan(Pass pass, Layout layout, const Array& near, const Shape& x, const Shape& w, const Shape& y,
                  const ConvolutionSpec& spec) {
  const ConvolutionProblem p(pass, cudnn_type(near.dtype()), layout, x, w, y, spec);
  const cudnn::PlanRules rules{p.type, spec.deterministic, nd::cuda::tf32_allowed(), cudnn::max_workspace_size()};
  return cudnn::find_plan(near.device().id, p.key(), rules, [&p] { return p.describe(); });
}

// ---- the extension ------------------------------------------------------------------------------
// Returns f() and records cuDNN as the implementation; returns nothing if f throws NotSupported.
template <class F> auto by_cudnn(F&& f) -> std::optional<decltype(f())> {
  try {
    auto made = f();
    set_last_implementation("cudnn");
    return made;
  } catch (const NotSupported&) {
    return std::nullopt;
  }
}

class CudnnExtension final : public NnExtension {
 protected:
  Dtype convolution_dtype(Dtype dtype) const override { return dtype; }

  Array do_convolution(const Array& x, const Array& w, const Array& b, const ConvolutionSpec& spec,
                       const Dims& out) override {
    const Shape y_shape = image_shape(x.shape(0), w.shape(0), out);
    if (takes(x, w, catena::size_of(y_shape))) {
      for (const Layout layout : layouts_for(x))
        for (const Pass pass : {Pass::forward_bias, Pass::forward}) {
          if (pass == Pass::forward_bias && !b) continue;
          const PlanPtr plan = find_plan(pass, layout, x, x.shape(), w.shape(), y_shape, spec);
          if (plan == nullptr) continue;
          const Array images = extended(x, layout, cudnn::symmetric_input(x.shape(), w.shape(), y_shape, spec));
          return forward(plan, pass, layout, images, w, b, y_shape);
        }
    }
    return astype(NnExtension::do_convolution(widened(x), widened(w), widened(b), spec, out), x.dtype());
  }

  Array do_convolution_backward_data(const Array& w, const Array& gy, const Dims& spatial,
                                     const ConvolutionSpec& spec) override {
    const Shape x_shape = image_shape(gy.shape(0), w.shape(1) * spec.groups, spatial);
    if (takes(gy, w, catena::size_of(x_shape))) {
      for (const Layout layout : layouts_for(gy)) {
        const PlanPtr plan = find_plan(Pass::data, layout, gy, x_shape, w.shape(), gy.shape(), spec);
        if (plan == nullptr) continue;
        const Array filter = in_layout(w, layout), given = in_layout(gy, layout),
                    gx = empty_in(layout, gy, cudnn::symmetric_input(x_shape, w.shape(), gy.shape(), spec), gy.dtype());
        const Binding bindings[] = {{cudnn::kX, gx->data}, {cudnn::kW, filter->data}, {cudnn::kY, given->data}};
        cudnn::execute(plan, bindings, gy);
        const Array made = cudnn::without_extension(gx, layout, x_shape);
        set_last_implementation("cudnn");
        return made;
      }
    }
    return astype(NnExtension::do_convolution_backward_data(widened(w), widened(gy), spatial, spec), gy.dtype());
  }

  Array do_convolution_backward_filter(const Array& x, const Array& gy, const Dims& kernel,
                                       const ConvolutionSpec& spec) override {
    const Shape w_shape = image_shape(gy.shape(1), x.shape(1) / spec.groups, kernel);
    if (takes(x, gy, catena::size_of(w_shape))) {
      for (const Layout layout : layouts_for(x)) {
        const PlanPtr plan = find_plan(Pass::filter, layout, x, x.shape(), w_shape, gy.shape(), spec);
        if (plan == nullptr) continue;
        const Array images = extended(x, layout, cudnn::symmetric_input(x.shape(), w_shape, gy.shape(), spec)),
                    given = in_layout(gy, layout), gw = empty_in(layout, x, w_shape, x.dtype());
        const Binding bindings[] = {{cudnn::kX, images->data}, {cudnn::kW, gw->data}, {cudnn::kY, given->data}};
        cudnn::execute(plan, bindings, x);
        set_last_implementation("cudnn");
        return contiguous(gw);  // like the filter: optimizers read both with one index
      }
    }
    return astype(NnExtension::do_convolution_backward_filter(widened(x), widened(gy), kernel, spec), x.dtype());
  }

  // Max pooling is not overridden: its result includes the positions of the maxima (int32 in the window, the first
  // among equal elements). cuDNN gives 8-bit positions at most, only in some layouts, and does not define the choice
  // among equal elements; its gradient needs x and y, which this interface does not retain. Average pooling is not
  // overridden either: cuDNN (9.19 on an H100) also needs x and y for the gradient, and computes wrong averages of
  // bfloat16 arrays with innermost channels. The portable kernels are limited by memory bandwidth, so cuDNN would not
  // be faster.

  Arrays do_batch_normalization(const Array& x, const Array& gamma, const Array& beta, double eps,
                                const Dims& axes) override {
    if (auto made = by_cudnn([&] { return cudnn::batch_normalization(x, gamma, beta, eps, axes); })) return *made;
    return NnExtension::do_batch_normalization(x, gamma, beta, eps, axes);
  }

  Arrays do_batch_normalization_backward(const Array& x, const Array& gy, const Array& gamma, const Array& mean,
                                         const Array& inv_std, const Dims& axes) override {
    if (auto made = by_cudnn([&] { return cudnn::batch_normalization_backward(x, gy, gamma, mean, inv_std, axes); }))
      return *made;
    return NnExtension::do_batch_normalization_backward(x, gy, gamma, mean, inv_std, axes);
  }

  Array do_fixed_batch_normalization(const Array& x, const Array& gamma, const Array& beta, const Array& mean,
                                     const Array& var, double eps) override {
    if (auto made = by_cudnn([&] { return cudnn::fixed_batch_normalization(x, gamma, beta, mean, var, eps); }))
      return *made;
    return NnExtension::do_fixed_batch_normalization(x, gamma, beta, mean, var, eps);
  }

  RnnResult do_rnn(const RnnOperands& o, const RnnSpec& spec) override {
    if (auto made = by_cudnn([&] { return cudnn::rnn(o, spec); })) return *made;
    return NnExtension::do_rnn(o, spec);
  }

  RnnGradients do_rnn_backward(const RnnOperands& o, const RnnSpec& spec, const RnnResult& result,
                               const RnnOutputGradients& g) override {
    if (!cudnn::is_own(result)) return NnExtension::do_rnn_backward(o, spec, result, g);
    if (auto made = by_cudnn([&] { return cudnn::rnn_backward(o, spec, result, g); })) return *made;
    return NnExtension::do_rnn_backward(o, spec, NnExtension::do_rnn(o, spec), g);
  }

 private:
  static Array forward(const PlanPtr& plan, Pass pass, Layout layout, const Array& images, const Array& w,
                       const Array& b, const Shape& y_shape) {
    const Array filter = in_layout(w, layout);
    Array y = empty_in(layout, images, y_shape, images.dtype());
    if (pass == Pass::forward_bias) {
      const Array bias = in_layout(reshape(b, {1, b.size(), 1}), Layout::contiguous);
      const Binding bindings[] = {
          {cudnn::kX, images->data}, {cudnn::kW, filter->data}, {cudnn::kBias, bias->data}, {cudnn::kY, y->data}};
      cudnn::execute(plan, bindings, images);
    } else {
      const Binding bindings[] = {{cudnn::kX, images->data}, {cudnn::kW, filter->data}, {cudnn::kY, y->data}};
      cudnn::execute(plan, bindings, images);
      if (b) y += reshape(b, image_shape(1, b.size(), Dims::filled(y_shape.size() - 2, 1)));
    }
    set_last_implementation("cudnn");
    return y;
  }
};

}  // namespace

bool cudnn_is_disabled() {
  const char* wanted = std::getenv("CHAINER_CUDNN");
  return wanted != nullptr && std::strcmp(wanted, "0") == 0;
}

void warn_without_cudnn() {
  static catena::Atomic<bool> looked{false};
  if (looked.load() || looked.exchange(true)) return;  // this function is called before every convolution
  if (cudnn_is_disabled() || cudnn::is_available()) return;
  catena::warn("RuntimeWarning",
               "cuDNN is not found: convolutions and the like use the library's own kernels. Install cuDNN 9 for "
               "faster ones (CUDNN_PATH may name its folder), or set CHAINER_CUDNN=0 to silence this warning.");
}

NnExtension* cudnn_extension() {
  static NnExtension* const extension = []() -> NnExtension* {
    return cudnn_is_disabled() || !cudnn::is_available() ? nullptr : make_cudnn_extension().release();
  }();
  return extension;
}

std::unique_ptr<NnExtension> make_cudnn_extension() { return std::make_unique<CudnnExtension>(); }

}  // namespace autograd::internal
