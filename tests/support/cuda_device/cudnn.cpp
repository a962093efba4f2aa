// cuDNN of the software device: handles and descriptors, which are checked as by cuDNN 9.19. With the activations of
// cudnn_activations.cpp these are all calls of nd::cuda::cudnn. The functions for networks are in a library of their
// own (folder cudnn_networks), so the framework finds no cuDNN where only this one is.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <catena/kernels/base/export.h>
#include <catena/ndarray/cuda/api/cudnn.h>
#include <catena/tests/support/cuda_device/cudnn.h>
#include <catena/tests/support/cuda_device/record.h>

using namespace cuda_device::software_cudnn;

namespace cuda_device::exports {
#define CATENA_TYPE(symbol, field, ...) using symbol##_type = __VA_ARGS__;
CATENA_CUDNN_UTILITY_FUNCTIONS(CATENA_TYPE)
#undef CATENA_TYPE
}  // namespace cuda_device::exports
extern "C" {
#define CATENA_DECLARE(symbol, field, ...) CATENA_EXPORT cuda_device::exports::symbol##_type symbol;
CATENA_CUDNN_UTILITY_FUNCTIONS(CATENA_DECLARE)
#undef CATENA_DECLARE
}

namespace {

constexpr int kMostAxes = 8, kMostSpatialAxes = 6;
constexpr std::size_t kStateBytes = 1000;

thread_local std::string last_words;

bool all(const int* values, int n, int least) {
  return std::all_of(values, values + n, [least](int v) { return v >= least; });
}
std::vector<int> list(const int* values, int n) { return {values, values + n}; }
void copy_out(const std::vector<int>& values, int capacity, int* to) {
  std::copy_n(values.begin(), std::min(values.size(), static_cast<std::size_t>(std::max(capacity, 0))), to);
}
template <class T> cudnn_status create_one(T** to) {
  *to = new T{};
  return cudnn_success;
}
template <class T> cudnn_status destroy_one(T* made) {
  delete made;
  return cudnn_success;
}

}  // namespace

cudnn_status cuda_device::software_cudnn::refuse(cudnn_status status, const char* words) {
  last_words = words;
  return status;
}

// ---- version, texts, handles --------------------------------------------------------------------
std::size_t cudnnGetVersion() {
  cuda_device::count_call(cuda_device::Entry::cudnnGetVersion);
  return 91900;
}
const char* cudnnGetErrorString(cudnn_status status) {
  cuda_device::count_call(cuda_device::Entry::cudnnGetErrorString);
  switch (status) {
    case cudnn_success: return "CUDNN_STATUS_SUCCESS";
    case cudnn_not_initialized: return "CUDNN_STATUS_NOT_INITIALIZED";
    case cudnn_bad_param: return "CUDNN_STATUS_BAD_PARAM";
    case cudnn_not_supported: return "CUDNN_STATUS_NOT_SUPPORTED";
    case cudnn_internal_error: return "CUDNN_STATUS_INTERNAL_ERROR";
    case cudnn_host_allocation_failed: return "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED";
    case cudnn_device_allocation_failed: return "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED";
    case cudnn_execution_failed: return "CUDNN_STATUS_EXECUTION_FAILED";
    default: return "CUDNN_UNKNOWN_STATUS";
  }
}
void cudnnGetLastErrorString(char* message, std::size_t bytes) {
  cuda_device::count_call(cuda_device::Entry::cudnnGetLastErrorString);
  if (bytes == 0) return;
  std::strncpy(message, last_words.c_str(), bytes - 1);
  message[bytes - 1] = 0;
}
cudnn_status cudnnCreate(cudnn_handle* h) {
  CUDNN_CALL(cudnnCreate);
  if (!cuda_device::context_is_usable()) return refuse(cudnn_not_initialized);
  return create_one(h);
}
cudnn_status cudnnDestroy(cudnn_handle h) {
  CUDNN_CALL(cudnnDestroy);
  return destroy_one(h);
}
cudnn_status cudnnSetStream(cudnn_handle h, CUstream_st* stream) {
  CUDNN_CALL(cudnnSetStream);
  h->stream = stream;
  return cudnn_success;
}
cudnn_status cudnnGetStream(cudnn_handle h, CUstream_st** stream) {
  CUDNN_CALL(cudnnGetStream);
  *stream = h->stream;
  return cudnn_success;
}

// ---- descriptors --------------------------------------------------------------------------------
#define CREATE_AND_DESTROY(Name, type)                     \
  cudnn_status cudnnCreate##Name##Descriptor(type* to) {   \
    CUDNN_CALL(cudnnCreate##Name##Descriptor);             \
    return create_one(to);                                 \
  }                                                        \
  cudnn_status cudnnDestroy##Name##Descriptor(type made) { \
    CUDNN_CALL(cudnnDestroy##Name##Descriptor);            \
    return destroy_one(made);                              \
  }
CREATE_AND_DESTROY(Tensor, cudnn_tensor_descriptor)
CREATE_AND_DESTROY(Filter, cudnn_filter_descriptor)
CREATE_AND_DESTROY(Convolution, cudnn_convolution_descriptor)
CREATE_AND_DESTROY(Pooling, cudnn_pooling_descriptor)
CREATE_AND_DESTROY(Activation, cudnn_activation_descriptor)
CREATE_AND_DESTROY(Dropout, cudnn_dropout_descriptor)
CREATE_AND_DESTROY(RNN, cudnn_rnn_descriptor)
CREATE_AND_DESTROY(SpatialTransformer, cudnn_spatial_transformer_descriptor)

cudnn_status cudnnSetTensorNdDescriptor(cudnn_tensor_descriptor d, int type, int rank, const int* shape,
                                        const int* strides) {
  CUDNN_CALL(cudnnSetTensorNdDescriptor);
  REQUIRE(d != nullptr);
  REQUIRE(rank >= 2);
  if (rank > kMostAxes) return refuse(cudnn_not_supported);
  REQUIRE(is_type(type));
  REQUIRE(all(shape, rank, 1));
  *d = {type, list(shape, rank), list(strides, rank)};
  return cudnn_success;
}
cudnn_status cudnnGetTensorNdDescriptor(cudnn_tensor_descriptor d, int capacity, int* type, int* rank, int* shape,
                                        int* strides) {
  CUDNN_CALL(cudnnGetTensorNdDescriptor);
  REQUIRE(d != nullptr);
  *type = d->type;
  *rank = static_cast<int>(d->shape.size());
  copy_out(d->shape, capacity, shape);
  copy_out(d->strides, capacity, strides);
  return cudnn_success;
}

cudnn_status cudnnSetFilterNdDescriptor(cudnn_filter_descriptor d, int type, int format, int rank, const int* shape) {
  CUDNN_CALL(cudnnSetFilterNdDescriptor);
  REQUIRE(d != nullptr);
  REQUIRE(rank > 2);
  if (rank > kMostAxes) return refuse(cudnn_not_supported);
  REQUIRE(is_type(type));
  REQUIRE(format == cudnn_nchw || format == cudnn_nhwc);
  REQUIRE(all(shape, rank, 1));
  *d = {type, format, list(shape, rank)};
  return cudnn_success;
}
cudnn_status cudnnGetFilterNdDescriptor(cudnn_filter_descriptor d, int capacity, int* type, int* format, int* rank,
                                        int* shape) {
  CUDNN_CALL(cudnnGetFilterNdDescriptor);
  REQUIRE(d != nullptr);
  *type = d->type;
  *format = d->format;
  *rank = static_cast<int>(d->shape.size());
  copy_out(d->shape, capacity, shape);
  return cudnn_success;
}

cudnn_status cudnnSetConvolutionNdDescriptor(cudnn_convolution_descriptor d, int rank, const int* pad,
                                             const int* stride, const int* dilation, int mode, int compute_type) {
  CUDNN_CALL(cudnnSetConvolutionNdDescriptor);
  REQUIRE(d != nullptr);
  if (rank > kMostSpatialAxes) return refuse(cudnn_not_supported);
  REQUIRE(all(pad, rank, 0));
  REQUIRE(all(stride, rank, 1));
  REQUIRE(all(dilation, rank, 1));
  REQUIRE(mode == cudnn_true_convolution || mode == cudnn_cross_correlation);
  REQUIRE(is_type(compute_type));
  *d = {list(pad, rank), list(stride, rank), list(dilation, rank), mode, compute_type};
  return cudnn_success;
}
cudnn_status cudnnGetConvolutionNdDescriptor(cudnn_convolution_descriptor d, int capacity, int* rank, int* pad,
                                             int* stride, int* dilation, int* mode, int* compute_type) {
  CUDNN_CALL(cudnnGetConvolutionNdDescriptor);
  REQUIRE(d != nullptr);
  *rank = static_cast<int>(d->pad.size());
  copy_out(d->pad, capacity, pad);
  copy_out(d->stride, capacity, stride);
  copy_out(d->dilation, capacity, dilation);
  *mode = d->mode;
  *compute_type = d->compute_type;
  return cudnn_success;
}

cudnn_status cudnnSetPoolingNdDescriptor(cudnn_pooling_descriptor d, int mode, int nan, int rank, const int* window,
                                         const int* pad, const int* stride) {
  CUDNN_CALL(cudnnSetPoolingNdDescriptor);
  REQUIRE(d != nullptr);
  REQUIRE(rank > 0);
  if (rank > kMostSpatialAxes) return refuse(cudnn_not_supported);
  REQUIRE(mode >= cudnn_pooling_max && mode <= cudnn_pooling_max_deterministic);
  REQUIRE(all(window, rank, 1));
  REQUIRE(all(stride, rank, 1));
  *d = {mode, nan, list(window, rank), list(pad, rank), list(stride, rank)};
  return cudnn_success;
}
cudnn_status cudnnGetPoolingNdDescriptor(cudnn_pooling_descriptor d, int capacity, int* mode, int* nan, int* rank,
                                         int* window, int* pad, int* stride) {
  CUDNN_CALL(cudnnGetPoolingNdDescriptor);
  REQUIRE(d != nullptr);
  *mode = d->mode;
  *nan = d->nan;
  *rank = static_cast<int>(d->window.size());
  copy_out(d->window, capacity, window);
  copy_out(d->pad, capacity, pad);
  copy_out(d->stride, capacity, stride);
  return cudnn_success;
}

cudnn_status cudnnSetActivationDescriptor(cudnn_activation_descriptor d, int mode, int nan, double coef) {
  CUDNN_CALL(cudnnSetActivationDescriptor);
  REQUIRE(d != nullptr);
  REQUIRE(mode >= cudnn_sigmoid && mode <= cudnn_clipped_relu);
  *d = {mode, nan, coef};
  return cudnn_success;
}
cudnn_status cudnnGetActivationDescriptor(cudnn_activation_descriptor d, int* mode, int* nan, double* coef) {
  CUDNN_CALL(cudnnGetActivationDescriptor);
  REQUIRE(d != nullptr);
  *mode = d->mode;
  *nan = d->nan;
  *coef = d->coef;
  return cudnn_success;
}

cudnn_status cudnnDropoutGetStatesSize(cudnn_handle h, std::size_t* bytes) {
  CUDNN_CALL(cudnnDropoutGetStatesSize);
  REQUIRE(h != nullptr);
  *bytes = kStateBytes;
  return cudnn_success;
}
// Without states, sets only the ratio.
cudnn_status cudnnSetDropoutDescriptor(cudnn_dropout_descriptor d, cudnn_handle h, float dropout, void* states,
                                       std::size_t bytes, unsigned long long seed) {
  CUDNN_CALL(cudnnSetDropoutDescriptor);
  REQUIRE(d != nullptr);
  REQUIRE(h != nullptr);
  REQUIRE(dropout >= 0 && dropout <= 1);
  d->dropout = dropout;
  if (states == nullptr) return cudnn_success;
  REQUIRE(bytes >= kStateBytes);
  REQUIRE(cuda_device::is_device_memory(states, bytes));
  d->states = states;
  d->seed = seed;
  const auto work = [=] { std::memset(states, static_cast<int>(seed % 128), bytes); };
  return cuda_device::submit_library_work("cudnnSetDropoutDescriptor", h->stream, work)
             ? cudnn_success
             : refuse(cudnn_execution_failed);
}
cudnn_status cudnnGetDropoutDescriptor(cudnn_dropout_descriptor d, cudnn_handle h, float* dropout, void** states,
                                       unsigned long long* seed) {
  CUDNN_CALL(cudnnGetDropoutDescriptor);
  REQUIRE(d != nullptr);
  REQUIRE(h != nullptr);
  *dropout = d->dropout;
  *states = d->states;
  *seed = d->seed;
  return cudnn_success;
}

cudnn_status cudnnSetRNNDescriptor_v8(cudnn_rnn_descriptor d, int algorithm, int cell, int bias, int direction,
                                      int input, int type, int compute_type, int math_type, std::int32_t inputs,
                                      std::int32_t units, std::int32_t projected, std::int32_t layers,
                                      cudnn_dropout_descriptor dropout, std::uint32_t flags) {
  CUDNN_CALL(cudnnSetRNNDescriptor_v8);
  REQUIRE(d != nullptr);
  REQUIRE(cell >= cudnn_rnn_relu && cell <= cudnn_gru);
  REQUIRE(is_type(type) && is_type(compute_type));
  REQUIRE(inputs > 0 && units > 0 && projected > 0 && layers > 0);
  *d = {algorithm, cell,   bias,  direction, input,  type,    compute_type,
        math_type, inputs, units, projected, layers, dropout, flags};
  return cudnn_success;
}
cudnn_status cudnnGetRNNDescriptor_v8(cudnn_rnn_descriptor d, int* algorithm, int* cell, int* bias, int* direction,
                                      int* input, int* type, int* compute_type, int* math_type, std::int32_t* inputs,
                                      std::int32_t* units, std::int32_t* projected, std::int32_t* layers,
                                      cudnn_dropout_descriptor* dropout, std::uint32_t* flags) {
  CUDNN_CALL(cudnnGetRNNDescriptor_v8);
  REQUIRE(d != nullptr);
  *algorithm = d->algorithm;
  *cell = d->cell;
  *bias = d->bias;
  *direction = d->direction;
  *input = d->input;
  *type = d->type;
  *compute_type = d->compute_type;
  *math_type = d->math_type;
  *inputs = d->inputs;
  *units = d->units;
  *projected = d->projected;
  *layers = d->layers;
  *dropout = d->dropout;
  *flags = d->flags;
  return cudnn_success;
}

cudnn_status cudnnSetSpatialTransformerNdDescriptor(cudnn_spatial_transformer_descriptor d, int sampler, int type,
                                                    int rank, const int* shape) {
  CUDNN_CALL(cudnnSetSpatialTransformerNdDescriptor);
  REQUIRE(d != nullptr);
  REQUIRE(sampler == cudnn_bilinear);
  REQUIRE(is_type(type));
  *d = {sampler, type, list(shape, rank)};
  return cudnn_success;
}
