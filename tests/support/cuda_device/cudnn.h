// The cuDNN of the software device: its opaque types, and the parts that its files share. Statuses and their texts are
// those of cuDNN 9.19.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <catena/kernels/base/export.h>
#include <catena/kernels/bfloat16.h>
#include <catena/kernels/float16.h>
#include <catena/ndarray/cuda/api/cudnn.h>
#include <catena/tests/support/cuda_device/library_work.h>

// The library's opaque types.
struct cudnnContext {
  CUstream_st* stream = nullptr;
};
struct cudnnTensorStruct {
  int type = nd::cuda::api::cudnn_float;
  std::vector<int> shape, strides;
};
struct cudnnFilterStruct {
  int type = nd::cuda::api::cudnn_float, format = nd::cuda::api::cudnn_nchw;
  std::vector<int> shape;
};
struct cudnnConvolutionStruct {
  std::vector<int> pad, stride, dilation;
  int mode = 0, compute_type = 0;
};
struct cudnnPoolingStruct {
  int mode = 0, nan = 0;
  std::vector<int> window, pad, stride;
};
struct cudnnActivationStruct {
  int mode = 0, nan = 0;
  double coef = 0;
};
struct cudnnDropoutStruct {
  float dropout = 0;
  void* states = nullptr;
  unsigned long long seed = 0;
};
struct cudnnRNNStruct {
  int algorithm, cell, bias, direction, input, type, compute_type, math_type;
  std::int32_t inputs, units, projected, layers;
  cudnnDropoutStruct* dropout;
  std::uint32_t flags;
};
struct cudnnSpatialTransformerStruct {
  int sampler = 0, type = 0;
  std::vector<int> shape;
};

namespace cuda_device::software_cudnn {

using namespace nd::cuda::api;

constexpr int kExecutionFailed = cudnn_execution_failed;  // for the macro CATENA_LIBRARY_CALL

// Sets the text of the last error of this thread, and returns the status.
CATENA_EXPORT cudnn_status refuse(cudnn_status status, const char* words = "");

// The prologue of an entry point, and a condition on its arguments, whose text is the error.
#define CUDNN_CALL(symbol)                                                             \
  cuda_device::software_cudnn::refuse(cuda_device::software_cudnn::cudnn_success, ""); \
  CATENA_LIBRARY_CALL(symbol)
#define REQUIRE(condition) \
  if (!(condition)) return refuse(cudnn_bad_param, "not " #condition)

inline bool is_type(int type) {
  return type == cudnn_float || type == cudnn_double || type == cudnn_half || type == cudnn_bfloat16;
}
inline std::size_t bytes_of(int type) { return type == cudnn_double ? 8 : type == cudnn_float ? 4 : 2; }
// Bytes that the tensor spans.
inline std::size_t extent(const cudnnTensorStruct& t) {
  std::size_t last = 0;
  for (std::size_t axis = 0; axis < t.shape.size(); ++axis)
    last += static_cast<std::size_t>(t.shape[axis] - 1) * static_cast<std::size_t>(t.strides[axis]);
  return (last + 1) * bytes_of(t.type);
}

// Element `position` of the tensor in the order of its axes.
template <class T, class Address> T& element(const cudnnTensorStruct& t, Address* data, std::size_t position) {
  std::size_t offset = 0;
  for (std::size_t axis = t.shape.size(); axis-- > 0;) {
    const auto length = static_cast<std::size_t>(t.shape[axis]);
    offset += position % length * static_cast<std::size_t>(t.strides[axis]);
    position /= length;
  }
  return static_cast<T*>(data)[offset];
}
inline std::size_t count_of(const cudnnTensorStruct& t) {
  std::size_t n = 1;
  for (const int length : t.shape) n *= static_cast<std::size_t>(length);
  return n;
}

template <class F> void with_type(int type, F&& f) {
  switch (type) {
    case cudnn_double: return f(double());
    case cudnn_half: return f(catena::float16(0.f));
    case cudnn_bfloat16: return f(catena::bfloat16(0.f));
    default: return f(float());
  }
}
inline double scale(int type, const void* p) {
  return type == cudnn_double ? *static_cast<const double*>(p) : static_cast<double>(*static_cast<const float*>(p));
}

}  // namespace cuda_device::software_cudnn
