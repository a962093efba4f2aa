// Arrays in the memory layouts that cuDNN descriptors state. Internal to this folder.
#pragma once

#include <catena/autograd/ndarray_backend/cudnn/plans.h>

namespace autograd::internal::cudnn {

int cudnn_type(Dtype dtype);
// Returns the dtype of statistics and parameters for arrays of `dtype`: float32 for 16-bit floats.
inline Dtype wide(Dtype dtype) { return catena::itemsize(dtype) < 4 ? Dtype::float32 : dtype; }

// True if the array is dense in the order of `layout`.
bool is_in(const Array& a, Layout layout);
// Returns a new array of the given logical shape, on the device of `near`.
Array empty_in(Layout layout, const Array& near, const Shape& shape, Dtype dtype);
// Records that work on the current stream of its device uses the array.
void record_use(const Array& a);
// Returns the array itself or a copy in `layout`, for use on the current stream.
Array in_layout(const Array& a, Layout layout);
// Returns a copy in `layout` of images (N, C, spatial...), with zeros at the end of each axis that is shorter than in
// `shape`; in_layout(a, layout) if no axis is shorter.
Array extended(const Array& a, Layout layout, const Shape& shape);
// Returns the first elements of every axis, as many as in `shape`, dense in `layout`.
Array without_extension(const Array& a, Layout layout, const Shape& shape);
inline Array packed(const Array& a) { return in_layout(a, Layout::contiguous); }
// Returns channels-last if the array has that memory layout, else contiguous.
Layout layout_of(const Array& a);

// The factors of "alpha * result + beta * previous content", in the type that cuDNN expects for arrays of `dtype`.
class Scales {
 public:
  explicit Scales(Dtype dtype) : double_(dtype == Dtype::float64) {}
  const void* one() const { return double_ ? static_cast<const void*>(&one64_) : &one32_; }
  const void* zero() const { return double_ ? static_cast<const void*>(&zero64_) : &zero32_; }

 private:
  static constexpr double one64_ = 1, zero64_ = 0;
  static constexpr float one32_ = 1, zero32_ = 0;
  bool double_;
};

}  // namespace autograd::internal::cudnn
