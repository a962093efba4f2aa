// cuDNN's handles, descriptors and activations, in the manner of cupy.cudnn, for programs that call functions of cuDNN
// directly. (Convolutions, batch normalization and recurrent networks do not need them: the framework's functions use
// cuDNN if it is found.)
//
//   namespace cudnn = nd::cuda::cudnn;
//   nd::Array y = cudnn::activation_forward(x, cudnn::ActivationMode::relu);
//   cudnn::TensorDescriptor x_desc = cudnn::create_tensor_descriptor(x);
//   cudnn::FilterDescriptor w_desc = cudnn::create_filter_descriptor(w);
//   cudnnAnyOfItsFunctions(cudnn::get_handle(), x_desc.value(), x.data(), w_desc.value(), w.data(), ...);
//
// CudnnError or OutOfMemoryError for a bad status, RuntimeError if cuDNN 9 or newer is not available.
//
// Thread safety: all functions may be called from any thread; a handle may be used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <catena/kernels/base/pointers.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/cuda/api/cudnn.h>
#include <catena/ndarray/cuda/vendor/cudnn_library.h>
#include <catena/ndarray/cuda/vendor/low_level.h>

namespace nd::cuda::cudnn {

// ---- the library's functions --------------------------------------------------------------------
// The functions have the names of the table in ndarray/cuda/api/cudnn.h and the library's arguments, except that a
// result which the library writes through the last parameter is returned: `cudnn::get_stream(handle)`,
// `cudnn::get_tensor(desc, 8, &type, ...)`. The current device is made current for the library, too.
struct CATENA_EXPORT Library {
  static const api::CudnnUtilities& table();
  static void check(api::cudnn_status status, const char* call);
};
#define CATENA_VALUE_CALL(symbol, field, ...) \
  inline constexpr low_level::ValueCall<Library, &api::CudnnUtilities::field> field{#symbol};
#define CATENA_CALL(symbol, field, ...) \
  inline constexpr low_level::Call<Library, &api::CudnnUtilities::field> field{#symbol};
CATENA_CUDNN_COMMON_VALUES(CATENA_VALUE_CALL)
CATENA_CUDNN_UTILITY_VALUES(CATENA_VALUE_CALL)
CATENA_CUDNN_COMMON_CALLS(CATENA_CALL)
CATENA_CUDNN_UTILITY_CALLS(CATENA_CALL)
#undef CATENA_VALUE_CALL
#undef CATENA_CALL

CATENA_EXPORT std::size_t get_version();  // 91900 for 9.19.0

// Returns the handle of the current device, created at its first use and never destroyed. Its stream is the default
// stream unless the program sets it; functions below that take a handle set it to the current stream. RuntimeError if
// the CPU is current.
CATENA_EXPORT api::cudnn_handle get_handle();

// cudnnDataType_t of arrays: float32, float64, float16, bfloat16. TypeError for other dtypes.
CATENA_EXPORT int get_data_type(Dtype dtype);

// ---- descriptors --------------------------------------------------------------------------------
// A descriptor of cuDNN, destroyed with its last copy. It keeps alive the objects that cuDNN refers to: the states of a
// dropout descriptor, and the dropout descriptor of an RNN descriptor.
template <class T> class Descriptor {
 public:
  Descriptor() noexcept = default;  // null
  explicit Descriptor(catena::Shared<T> made) noexcept : made_(std::move(made)) {}
  T* value() const noexcept { return made_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(made_); }

 private:
  catena::Shared<T> made_;
};
using TensorDescriptor = Descriptor<cudnnTensorStruct>;
using FilterDescriptor = Descriptor<cudnnFilterStruct>;
using ConvolutionDescriptor = Descriptor<cudnnConvolutionStruct>;
using PoolingDescriptor = Descriptor<cudnnPoolingStruct>;
using ActivationDescriptor = Descriptor<cudnnActivationStruct>;
using DropoutDescriptor = Descriptor<cudnnDropoutStruct>;
using RnnDescriptor = Descriptor<cudnnRNNStruct>;
using SpatialTransformerDescriptor = Descriptor<cudnnSpatialTransformerStruct>;

enum class TensorFormat : int { nchw = api::cudnn_nchw, nhwc = api::cudnn_nhwc };
enum class ConvolutionMode : int {
  convolution = api::cudnn_true_convolution,  // the filter is flipped
  cross_correlation = api::cudnn_cross_correlation,
};
enum class PoolingMode : int {
  max = api::cudnn_pooling_max,
  average_count_include_padding = api::cudnn_pooling_average_with_padding,
  average_count_exclude_padding = api::cudnn_pooling_average_without_padding,
  max_deterministic = api::cudnn_pooling_max_deterministic,
};
enum class ActivationMode : int {
  sigmoid = api::cudnn_sigmoid,
  relu = api::cudnn_relu,
  tanh = api::cudnn_tanh,
  clipped_relu = api::cudnn_clipped_relu,
};
enum class RnnInputMode : int { linear = api::cudnn_linear_input, skip = api::cudnn_skip_input };
enum class DirectionMode : int { unidirectional = api::cudnn_unidirectional, bidirectional = api::cudnn_bidirectional };
enum class RnnMode : int {
  relu = api::cudnn_rnn_relu,
  tanh = api::cudnn_rnn_tanh,
  lstm = api::cudnn_lstm,
  gru = api::cudnn_gru,
};
enum class SamplerType : int { bilinear = api::cudnn_bilinear };

// The dtype, the shape and the strides of a C-contiguous array, on any device: only these are read. `format` is the
// order of the axes in memory for a shape (n, c, spatial axes...). TypeError for a dtype that cuDNN does not support,
// ValueError for an array that is null or not C-contiguous, and for lengths and strides above 2^31 - 1. cuDNN supports
// 2 to 8 axes, none of them empty.
CATENA_EXPORT TensorDescriptor create_tensor_descriptor(const Array& arr, TensorFormat format = TensorFormat::nchw);
inline TensorDescriptor create_tensor_nd_descriptor(const Array& arr) { return create_tensor_descriptor(arr); }
// Returns a descriptor without content, for functions that fill it.
CATENA_EXPORT TensorDescriptor create_uninitialized_tensor_descriptor();

// A filter of shape (out channels, in channels, spatial axes...). As for tensors, with 3 to 8 axes.
CATENA_EXPORT FilterDescriptor create_filter_descriptor(const Array& arr, TensorFormat format = TensorFormat::nchw);

// Paddings and strides of each spatial axis, without dilation. The sums of 16-bit floats are float32. ValueError unless
// pad and stride have the same number of elements.
CATENA_EXPORT ConvolutionDescriptor create_convolution_descriptor(
    const Dims& pad, const Dims& stride, Dtype dtype, ConvolutionMode mode = ConvolutionMode::cross_correlation);

// Windows of each spatial axis. NaNs are not propagated by a maximum. ValueError unless the three have the same number
// of elements.
CATENA_EXPORT PoolingDescriptor create_pooling_descriptor(const Dims& ksize, const Dims& stride, const Dims& pad,
                                                          PoolingMode mode);

// `coef` is the ceiling of clipped_relu. NaNs are not propagated by relu.
CATENA_EXPORT ActivationDescriptor create_activation_descriptor(ActivationMode mode, double coef = 0);

// Returns an int8 array on the current device for the states of a generator, with the size that cuDNN requires.
CATENA_EXPORT Array create_dropout_states(api::cudnn_handle handle);
// Dropout; `dropout` is the ratio of elements that are set to 0. Starts the generator of `states` with the seed, on the
// current stream. ValueError unless `states` is C-contiguous, on the current device, and of at least
// state_size_in_bytes, and the ratio is in [0, 1].
CATENA_EXPORT DropoutDescriptor create_dropout_descriptor(api::cudnn_handle handle, double dropout, const Array& states,
                                                          std::size_t state_size_in_bytes, std::uint64_t seed);
// Sets another ratio for a descriptor and leaves its states unchanged. ValueError for a null descriptor and a ratio
// outside [0, 1].
CATENA_EXPORT void set_dropout_descriptor(const DropoutDescriptor& desc, api::cudnn_handle handle, double dropout);

// A network of num_layers layers of hidden_size units, with two biases in each. `input_size` is the length of its input
// vectors, hidden_size if it is 0. 16-bit floats are computed in float32. `dropout_desc` may be null. ValueError for
// sizes that are not positive, and for RnnInputMode::skip with an input_size other than hidden_size.
CATENA_EXPORT RnnDescriptor create_rnn_descriptor(std::int64_t hidden_size, std::int64_t num_layers,
                                                  const DropoutDescriptor& dropout_desc, RnnInputMode input_mode,
                                                  DirectionMode direction, RnnMode mode, Dtype dtype,
                                                  std::int64_t input_size = 0);

// The sampled images have the shape dim_a (n, c, spatial axes...). ValueError unless dim_a has nb_dims elements.
CATENA_EXPORT SpatialTransformerDescriptor create_spatial_transformer_descriptor(SamplerType sampler_type, Dtype dtype,
                                                                                 std::int64_t nb_dims,
                                                                                 const Shape& dim_a);

// ---- activations --------------------------------------------------------------------------------
// Returns a new C-contiguous array of the shape and dtype of x: sigmoid, max(x, 0), tanh, or min(max(x, 0), coef). Runs
// on the current stream of x's device. ValueError for a null array and an array on the CPU, TypeError for a dtype that
// cuDNN does not support.
CATENA_EXPORT Array activation_forward(const Array& x, ActivationMode mode, double coef = 0);
// Returns the gradient with respect to x, where y = activation_forward(x, mode, coef) and gy is the gradient with
// respect to y. Besides the errors above: ValueError for arrays of several shapes or devices, TypeError for several
// dtypes.
CATENA_EXPORT Array activation_backward(const Array& x, const Array& y, const Array& gy, ActivationMode mode,
                                        double coef = 0);

}  // namespace nd::cuda::cudnn
