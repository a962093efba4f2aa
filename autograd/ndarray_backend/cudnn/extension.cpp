#include <catena/autograd/ndarray_backend/cudnn/extension.h>

#include <cstdlib>
#include <cstring>
#include <optional>

#include <catena/autograd/ndarray_backend/convolution/choose.h>
#include <catena/autograd/ndarray_backend/cudnn/library.h>
#include <catena/autograd/ndarray_backend/cudnn/normalization.h>
#include <catena/autograd/ndarray_backend/cudnn/rnn.h>
#include <catena/kernels/base/atomic.h>
#include <catena/kernels/base/warning.h>

namespace autograd::internal {
namespace {

using cudnn::NotSupported;

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
  Array do_convolution(const Convolution& c) override { return convolve(c); }

  // Max pooling is not overridden: its result includes the positions of the maxima (int32 in the window, the first
  // among equal elements). cuDNN gives 8-bit positions at most, only in some layouts, and does not define the choice
  // among equal elements; its gradient needs x and y, which this interface does not retain. Average pooling is not
  // overridden either: cuDNN (9.19 on an H100) also needs x and y for the gradient, and computes wrong averages of
  // bfloat16 arrays with innermost channels. The portable kernels are limited by memory bandwidth, so cuDNN would not
  // be faster.

  Arrays do_batch_normalization(const Array& x, const Array& gamma, const Array& beta, double eps, const Dims& axes,
                                const BatchStatistics& statistics) override {
    if (auto made = by_cudnn([&] { return cudnn::batch_normalization(x, gamma, beta, eps, axes, statistics); }))
      return *made;
    return NnExtension::do_batch_normalization(x, gamma, beta, eps, axes, statistics);
  }

  Arrays do_batch_normalization_backward(const Array& x, const Array& gy, const Array& gamma, const Array& mean,
                                         const Array& inv_std, const Dims& axes, const Array& reserve) override {
    if (auto made =
            by_cudnn([&] { return cudnn::batch_normalization_backward(x, gy, gamma, mean, inv_std, axes, reserve); }))
      return *made;
    return NnExtension::do_batch_normalization_backward(x, gy, gamma, mean, inv_std, axes, reserve);
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
