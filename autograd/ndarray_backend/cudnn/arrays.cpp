#include <catena/autograd/ndarray_backend/cudnn/arrays.h>

#include <catena/autograd/nn_extension/convolution.h>
#include <catena/ndarray/cuda/vendor/cudnn.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/engine/execute.h>

namespace autograd::internal::cudnn {

int cudnn_type(Dtype dtype) { return nd::cuda::cudnn::get_data_type(dtype); }

bool is_in(const Array& a, Layout layout) {
  const Dims packed = packed_strides(a.shape(), layout);
  const auto item = static_cast<std::int64_t>(catena::itemsize(a.dtype()));
  for (int i = 0; i < a.ndim(); ++i)
    if (a.shape(i) > 1 && a.strides()[i] != packed[i] * item) return false;
  return true;
}

Array empty_in(Layout layout, const Array& near, const Shape& shape, Dtype dtype) {
  return empty_images(near, shape, dtype, layout == Layout::channels_last);
}

namespace {

// Plans assume an alignment of 16 bytes. Memory from the pool is aligned, but a view with an offset may not be.
bool is_aligned(const Array& a) { return reinterpret_cast<std::uintptr_t>(a->data) % 16 == 0; }

}  // namespace

Array in_layout(const Array& a, Layout layout) {
  Array given = a;
  if (!is_in(a, layout) || !is_aligned(a)) {
    given = empty_in(layout, a, a.shape(), a.dtype());
    assign(given, a);
  }
  record_use(given);
  return given;
}

void record_use(const Array& a) {
  const catena::ArrayHeader* const used[] = {a.get()};
  nd::internal::record_operands(nd::internal::stream_for(a.device()), used);
}

Array extended(const Array& a, Layout layout, const Shape& shape) {
  if (a.shape() == shape) return in_layout(a, layout);
  const Array all = empty_in(layout, a, shape, a.dtype());
  Array images = all;
  for (int axis = 2; axis < shape.size(); ++axis) {
    fill(slice(images, axis, a.shape(axis), shape[axis]), 0);
    images = slice(images, axis, 0, a.shape(axis));
  }
  assign(images, a);
  return all;
}

Array without_extension(const Array& a, Layout layout, const Shape& shape) {
  if (a.shape() == shape) return a;
  Array images = a;
  for (int axis = 2; axis < shape.size(); ++axis) images = slice(images, axis, 0, shape[axis]);
  return in_layout(images, layout);
}

Layout layout_of(const Array& a) {
  return a.ndim() >= 3 && !a.is_c_contiguous() && is_in(a, Layout::channels_last) ? Layout::channels_last
                                                                                  : Layout::contiguous;
}

}  // namespace autograd::internal::cudnn
