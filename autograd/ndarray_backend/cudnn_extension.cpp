#include "autograd/ndarray_backend/cudnn_extension.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "autograd/ndarray_backend/cudnn_plans.h"
#include "ndarray/cuda/blas.h"
#include "ndarray/device/memory_pool.h"
#include "ndarray/device/stream.h"

namespace autograd::internal {
namespace {

using cudnn::Binding;
using cudnn::ConvolutionProblem;
using cudnn::Layout;
using cudnn::Pass;
using cudnn::PlanPtr;

int cudnn_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::float16: return cudnn::api::cudnn_half;
    case Dtype::bfloat16: return cudnn::api::cudnn_bfloat16;
    case Dtype::float64: return cudnn::api::cudnn_double;
    default: return cudnn::api::cudnn_float;
  }
}

// ---- arrays ---------------------------------------------------------------------------------------------------------------------
bool is_in(const Array& a, Layout layout) {
  const Dims packed = cudnn::packed_strides(a.shape(), layout);
  const auto item = static_cast<std::int64_t>(catena::itemsize(a.dtype()));
  for (int i = 0; i < a.ndim(); ++i)
    if (a.shape(i) > 1 && a.strides()[i] != packed[i] * item) return false;
  return true;
}

Array empty_in(Layout layout, const Array& near, const Shape& shape, Dtype dtype) {
  if (layout == Layout::contiguous) return near.backend().empty(shape, dtype, near.device());
  Shape packed{shape[0]};
  for (int i = 2; i < shape.size(); ++i) packed.push_back(shape[i]);
  packed.push_back(shape[1]);
  Dims axes{0, shape.size() - 1};
  for (int i = 1; i < shape.size() - 1; ++i) axes.push_back(i);
  return transpose(near.backend().empty(packed, dtype, near.device()), axes);
}

// Plans rely on 16 bytes; memory from the pool has them, a view into the middle of an array may not.
bool is_aligned(const Array& a) { return reinterpret_cast<std::uintptr_t>(a->data) % 16 == 0; }

// The array itself or a copy, for use on the current stream.
Array in_layout(const Array& a, Layout layout) {
  Array given = a;
  if (!is_in(a, layout) || !is_aligned(a)) {
    given = empty_in(layout, a, a.shape(), a.dtype());
    assign(given, a);
  }
  if (given->storage != nullptr) nd::MemoryPool::record_stream(*given->storage, nd::current_stream(given.device()));
  return given;
}

// Best first. 16-bit products are fast in channels-last memory alone, double ones are known in the other alone; float32 stays as it comes.
std::array<Layout, 2> layouts_for(const Array& a) {
  const bool narrow = catena::itemsize(a.dtype()) < 4;
  const bool last = narrow || (a.dtype() == Dtype::float32 && !a.is_c_contiguous() && is_in(a, Layout::channels_last));
  if (last) return {Layout::channels_last, Layout::contiguous};
  return {Layout::contiguous, Layout::channels_last};
}

Shape image_shape(std::int64_t n, std::int64_t channels, const Dims& spatial) {
  Shape shape{n, channels};
  for (const std::int64_t length : spatial) shape.push_back(length);
  return shape;
}

Array widened(const Array& a) { return a && catena::itemsize(a.dtype()) < 4 ? astype(a, Dtype::float32) : a; }

// ---- the extension ----------------------------------------------------------------------------------------------------------------
bool takes(const Array& a, const Array& b, std::int64_t result_size) {
  return a.ndim() >= 3 && a.ndim() <= 5 && a.size() > 0 && b.size() > 0 && result_size > 0;
}

// For arrays of the dtype and on the device of `near`.
PlanPtr find_plan(Pass pass, Layout layout, const Array& near, const Shape& x, const Shape& w, const Shape& y,
                  const ConvolutionSpec& spec) {
  const ConvolutionProblem p(pass, cudnn_type(near.dtype()), layout, x, w, y, spec);
  const cudnn::PlanRules rules{p.type, spec.deterministic, nd::cuda::tf32_allowed(), cudnn::max_workspace_size()};
  return cudnn::find_plan(near.device().id, p.key(), rules, [&p] { return p.describe(); });
}

class CudnnExtension final : public NnExtension {
 protected:
  Dtype convolution_dtype(Dtype dtype) const override { return dtype; }

  Array do_convolution(const Array& x, const Array& w, const Array& b, const ConvolutionSpec& spec, const Dims& out) override {
    const Shape y_shape = image_shape(x.shape(0), w.shape(0), out);
    if (takes(x, w, catena::size_of(y_shape))) {
      for (const Layout layout : layouts_for(x))
        for (const Pass pass : {Pass::forward_bias, Pass::forward}) {
          if (pass == Pass::forward_bias && !b) continue;
          const PlanPtr plan = find_plan(pass, layout, x, x.shape(), w.shape(), y_shape, spec);
          if (plan != nullptr) return forward(*plan, pass, layout, x, w, b, y_shape);
        }
    }
    return astype(NnExtension::do_convolution(widened(x), widened(w), widened(b), spec, out), x.dtype());
  }

  Array do_convolution_backward_data(const Array& w, const Array& gy, const Dims& spatial, const ConvolutionSpec& spec) override {
    const Shape x_shape = image_shape(gy.shape(0), w.shape(1) * spec.groups, spatial);
    if (takes(gy, w, catena::size_of(x_shape))) {
      for (const Layout layout : layouts_for(gy)) {
        const PlanPtr plan = find_plan(Pass::data, layout, gy, x_shape, w.shape(), gy.shape(), spec);
        if (plan == nullptr) continue;
        const Array filter = in_layout(w, layout), given = in_layout(gy, layout), gx = empty_in(layout, gy, x_shape, gy.dtype());
        const Binding bindings[] = {{cudnn::kX, gx->data}, {cudnn::kW, filter->data}, {cudnn::kY, given->data}};
        cudnn::execute(*plan, bindings, gy);
        set_last_implementation("cudnn");
        return gx;
      }
    }
    return astype(NnExtension::do_convolution_backward_data(widened(w), widened(gy), spatial, spec), gy.dtype());
  }

  Array do_convolution_backward_filter(const Array& x, const Array& gy, const Dims& kernel, const ConvolutionSpec& spec) override {
    const Shape w_shape = image_shape(gy.shape(1), x.shape(1) / spec.groups, kernel);
    if (takes(x, gy, catena::size_of(w_shape))) {
      for (const Layout layout : layouts_for(x)) {
        const PlanPtr plan = find_plan(Pass::filter, layout, x, x.shape(), w_shape, gy.shape(), spec);
        if (plan == nullptr) continue;
        const Array images = in_layout(x, layout), given = in_layout(gy, layout), gw = empty_in(layout, x, w_shape, x.dtype());
        const Binding bindings[] = {{cudnn::kX, images->data}, {cudnn::kW, gw->data}, {cudnn::kY, given->data}};
        cudnn::execute(*plan, bindings, x);
        set_last_implementation("cudnn");
        return contiguous(gw);  // as its filter lies: optimizers walk both together
      }
    }
    return astype(NnExtension::do_convolution_backward_filter(widened(x), widened(gy), kernel, spec), x.dtype());
  }

 private:
  static Array forward(const cudnn::Plan& plan, Pass pass, Layout layout, const Array& x, const Array& w, const Array& b,
                       const Shape& y_shape) {
    const Array images = in_layout(x, layout), filter = in_layout(w, layout);
    Array y = empty_in(layout, x, y_shape, x.dtype());
    if (pass == Pass::forward_bias) {
      const Array bias = in_layout(reshape(b, {1, b.size(), 1}), Layout::contiguous);
      const Binding bindings[] = {{cudnn::kX, images->data}, {cudnn::kW, filter->data}, {cudnn::kBias, bias->data}, {cudnn::kY, y->data}};
      cudnn::execute(plan, bindings, x);
    } else {
      const Binding bindings[] = {{cudnn::kX, images->data}, {cudnn::kW, filter->data}, {cudnn::kY, y->data}};
      cudnn::execute(plan, bindings, x);
      if (b) y += reshape(b, image_shape(1, b.size(), Dims::filled(y_shape.size() - 2, 1)));
    }
    set_last_implementation("cudnn");
    return y;
  }
};

}  // namespace

NnExtension* cudnn_extension() {
  static NnExtension* const extension = []() -> NnExtension* {
    const char* wanted = std::getenv("CHAINER_CUDNN");
    if ((wanted != nullptr && std::strcmp(wanted, "0") == 0) || !cudnn::is_available()) return nullptr;
    return new CudnnExtension;
  }();
  return extension;
}

}  // namespace autograd::internal
