// The part of cuDNN 9's interface that is called here, declared so that it compiles without cuDNN's headers. A test
// compares these declarations with those headers if they are installed. Enumerations are passed as int.
//
// In the backend (graph) interface, every object is a descriptor with attributes: it is created, its attributes are
// set, and it is finalised. Batch normalization, recurrent networks and the functions of nd::cuda::cudnn have functions
// and descriptors of their own.
#pragma once

#include <cstddef>
#include <cstdint>

struct cudnnContext;  // the library's names of opaque types
struct cudnnTensorStruct;
struct cudnnFilterStruct;
struct cudnnConvolutionStruct;
struct cudnnPoolingStruct;
struct cudnnActivationStruct;
struct cudnnDropoutStruct;
struct cudnnSpatialTransformerStruct;
struct cudnnRNNStruct;
struct cudnnRNNDataStruct;
struct CUstream_st;

namespace nd::cuda::api {

using cudnn_handle = cudnnContext*;
using cudnn_descriptor = void*;  // of the graph interface
using cudnn_tensor_descriptor = cudnnTensorStruct*;
using cudnn_filter_descriptor = cudnnFilterStruct*;
using cudnn_convolution_descriptor = cudnnConvolutionStruct*;
using cudnn_pooling_descriptor = cudnnPoolingStruct*;
using cudnn_activation_descriptor = cudnnActivationStruct*;
using cudnn_dropout_descriptor = cudnnDropoutStruct*;
using cudnn_spatial_transformer_descriptor = cudnnSpatialTransformerStruct*;
using cudnn_rnn_descriptor = cudnnRNNStruct*;
using cudnn_rnn_data_descriptor = cudnnRNNDataStruct*;

// cudnnStatus_t; the thousands digit is the family of an error
using cudnn_status = int;
inline constexpr cudnn_status cudnn_success = 0, cudnn_not_initialized = 1001, cudnn_bad_param = 2000,
                              cudnn_not_supported = 3000, cudnn_internal_error = 4000,
                              cudnn_host_allocation_failed = 4003, cudnn_device_allocation_failed = 4004,
                              cudnn_execution_failed = 5000;

// cudnnDataType_t
inline constexpr int cudnn_float = 0, cudnn_double = 1, cudnn_half = 2, cudnn_bfloat16 = 9;

// cudnnBackendAttributeType_t
inline constexpr int cudnn_type_handle = 0, cudnn_type_data_type = 1, cudnn_type_boolean = 2, cudnn_type_int64 = 3,
                     cudnn_type_float = 4, cudnn_type_double = 5, cudnn_type_void_ptr = 6,
                     cudnn_type_convolution_mode = 7, cudnn_type_heuristic_mode = 8, cudnn_type_numerical_note = 11,
                     cudnn_type_pointwise_mode = 14, cudnn_type_descriptor = 15, cudnn_type_char = 24;

// cudnnBackendDescriptorType_t
inline constexpr int cudnn_pointwise = 0, cudnn_convolution = 1, cudnn_engine = 2, cudnn_engine_config = 3,
                     cudnn_engine_heuristic = 4, cudnn_execution_plan = 5, cudnn_operation_convolution_forward = 10,
                     cudnn_operation_convolution_filter = 11, cudnn_operation_convolution_data = 12,
                     cudnn_operation_pointwise = 13, cudnn_operation_graph = 15, cudnn_variant_pack = 16,
                     cudnn_tensor = 17, cudnn_device_properties = 38;

// cudnnBackendAttributeName_t, by descriptor
inline constexpr int cudnn_attr_pointwise_mode = 0, cudnn_attr_pointwise_math_type = 1;
inline constexpr int cudnn_attr_convolution_compute_type = 100, cudnn_attr_convolution_mode = 101,
                     cudnn_attr_convolution_dilations = 102, cudnn_attr_convolution_strides = 103,
                     cudnn_attr_convolution_post_paddings = 104, cudnn_attr_convolution_pre_paddings = 105,
                     cudnn_attr_convolution_spatial_dims = 106;
inline constexpr int cudnn_attr_heuristic_mode = 200, cudnn_attr_heuristic_graph = 201,
                     cudnn_attr_heuristic_results = 202, cudnn_attr_heuristic_properties = 204;
inline constexpr int cudnn_attr_engine_config_engine = 300;
inline constexpr int cudnn_attr_plan_handle = 400, cudnn_attr_plan_engine_config = 401,
                     cudnn_attr_plan_workspace_bytes = 402, cudnn_attr_plan_properties = 407;
inline constexpr int cudnn_attr_forward_alpha = 700, cudnn_attr_forward_beta = 701,
                     cudnn_attr_forward_convolution = 702, cudnn_attr_forward_w = 703, cudnn_attr_forward_x = 704,
                     cudnn_attr_forward_y = 705;
inline constexpr int cudnn_attr_data_alpha = 706, cudnn_attr_data_beta = 707, cudnn_attr_data_convolution = 708,
                     cudnn_attr_data_w = 709, cudnn_attr_data_dx = 710, cudnn_attr_data_dy = 711;
inline constexpr int cudnn_attr_filter_alpha = 712, cudnn_attr_filter_beta = 713, cudnn_attr_filter_convolution = 714,
                     cudnn_attr_filter_dw = 715, cudnn_attr_filter_x = 716, cudnn_attr_filter_dy = 717;
inline constexpr int cudnn_attr_operation_pointwise = 750, cudnn_attr_operation_pointwise_x = 751,
                     cudnn_attr_operation_pointwise_b = 752, cudnn_attr_operation_pointwise_y = 753;
inline constexpr int cudnn_attr_graph_handle = 800, cudnn_attr_graph_operations = 801;
inline constexpr int cudnn_attr_tensor_alignment = 900, cudnn_attr_tensor_data_type = 901,
                     cudnn_attr_tensor_dimensions = 902, cudnn_attr_tensor_strides = 903, cudnn_attr_tensor_id = 906,
                     cudnn_attr_tensor_virtual = 907;
inline constexpr int cudnn_attr_pack_ids = 1000, cudnn_attr_pack_pointers = 1001, cudnn_attr_pack_workspace = 1003;
inline constexpr int cudnn_attr_engine_notes = 1303;
inline constexpr int cudnn_attr_properties_json = 2702;

// cudnnTensorFormat_t, cudnnNanPropagation_t
inline constexpr int cudnn_nchw = 0, cudnn_nhwc = 1, cudnn_not_propagate_nan = 0;
// cudnnConvolutionMode_t, cudnnPointwiseMode_t
inline constexpr int cudnn_true_convolution = 0, cudnn_cross_correlation = 1, cudnn_pointwise_add = 0;
// cudnnPoolingMode_t, cudnnActivationMode_t, cudnnSamplerType_t
inline constexpr int cudnn_pooling_max = 0, cudnn_pooling_average_with_padding = 1,
                     cudnn_pooling_average_without_padding = 2, cudnn_pooling_max_deterministic = 3;
inline constexpr int cudnn_sigmoid = 0, cudnn_relu = 1, cudnn_tanh = 2, cudnn_clipped_relu = 3;
inline constexpr int cudnn_bilinear = 0;
// cudnnBackendHeurMode_t
inline constexpr int cudnn_heuristic_fallback = 2, cudnn_heuristic_a = 3;
// cudnnBackendNumericalNote_t
inline constexpr int cudnn_note_tensor_core = 0, cudnn_note_down_convert_inputs = 1,
                     cudnn_note_reduced_precision_reduction = 2, cudnn_note_nondeterministic = 4, cudnn_note_count = 10;

// cudnnBatchNormMode_t
inline constexpr int cudnn_batch_norm_per_activation = 0, cudnn_batch_norm_spatial = 1,
                     cudnn_batch_norm_spatial_persistent = 2;
// cudnnBatchNormOps_t
inline constexpr int cudnn_batch_norm_only = 0;
// cudnnRNNAlgo_t, cudnnRNNMode_t, cudnnRNNBiasMode_t, cudnnDirectionMode_t, cudnnRNNInputMode_t, cudnnRNNDataLayout_t
inline constexpr int cudnn_rnn_standard = 0;
inline constexpr int cudnn_rnn_relu = 0, cudnn_rnn_tanh = 1, cudnn_lstm = 2, cudnn_gru = 3;
inline constexpr int cudnn_rnn_double_bias = 2, cudnn_unidirectional = 0, cudnn_bidirectional = 1,
                     cudnn_linear_input = 0, cudnn_skip_input = 1;
inline constexpr int cudnn_rnn_packed = 1;
// cudnnMathType_t
inline constexpr int cudnn_default_math = 0, cudnn_fma_math = 3;
// cudnnForwardMode_t, cudnnWgradMode_t
inline constexpr int cudnn_inference = 0, cudnn_training = 1, cudnn_add_gradients = 0;

// Name of the function in the library, its name in the table of entry points, and its type. First the functions that
// both nd::cuda::cudnn and the networks of the framework call. The version and the texts have no status:
#define CATENA_CUDNN_TEXT_FUNCTIONS(X)                                \
  X(cudnnGetVersion, get_version, std::size_t())                      \
  X(cudnnGetErrorString, get_error_string, const char*(cudnn_status)) \
  X(cudnnGetLastErrorString, get_last_error_string, void(char* message, std::size_t bytes))
// The functions that write their result through the last parameter, here and below:
#define CATENA_CUDNN_COMMON_VALUES(X)                                                   \
  X(cudnnCreate, create, cudnn_status(cudnn_handle*))                                   \
  X(cudnnCreateTensorDescriptor, create_tensor, cudnn_status(cudnn_tensor_descriptor*)) \
  X(cudnnCreateRNNDescriptor, create_rnn, cudnn_status(cudnn_rnn_descriptor*))
#define CATENA_CUDNN_COMMON_CALLS(X)                                                                               \
  X(cudnnSetStream, set_stream, cudnn_status(cudnn_handle, CUstream_st*))                                          \
  X(cudnnDestroyTensorDescriptor, destroy_tensor, cudnn_status(cudnn_tensor_descriptor))                           \
  X(cudnnSetTensorNdDescriptor, set_tensor,                                                                        \
    cudnn_status(cudnn_tensor_descriptor, int type, int rank, const int* shape, const int* strides))               \
  X(cudnnDestroyRNNDescriptor, destroy_rnn, cudnn_status(cudnn_rnn_descriptor))                                    \
  X(cudnnSetRNNDescriptor_v8, set_rnn,                                                                             \
    cudnn_status(cudnn_rnn_descriptor, int algorithm, int cell, int bias, int direction, int input, int type,      \
                 int compute_type, int math_type, std::int32_t inputs, std::int32_t units, std::int32_t projected, \
                 std::int32_t layers, cudnn_dropout_descriptor, std::uint32_t flags))

// The functions that only nd::cuda::cudnn calls.
#define CATENA_CUDNN_UTILITY_VALUES(X)                                                                  \
  X(cudnnGetStream, get_stream, cudnn_status(cudnn_handle, CUstream_st**))                              \
  X(cudnnCreateFilterDescriptor, create_filter, cudnn_status(cudnn_filter_descriptor*))                 \
  X(cudnnCreateConvolutionDescriptor, create_convolution, cudnn_status(cudnn_convolution_descriptor*))  \
  X(cudnnCreatePoolingDescriptor, create_pooling, cudnn_status(cudnn_pooling_descriptor*))              \
  X(cudnnCreateActivationDescriptor, create_activation, cudnn_status(cudnn_activation_descriptor*))     \
  X(cudnnCreateDropoutDescriptor, create_dropout, cudnn_status(cudnn_dropout_descriptor*))              \
  X(cudnnDropoutGetStatesSize, get_dropout_states_size, cudnn_status(cudnn_handle, std::size_t* bytes)) \
  X(cudnnCreateSpatialTransformerDescriptor, create_spatial_transformer,                                \
    cudnn_status(cudnn_spatial_transformer_descriptor*))
#define CATENA_CUDNN_UTILITY_CALLS(X)                                                                                \
  X(cudnnDestroy, destroy, cudnn_status(cudnn_handle))                                                               \
  X(cudnnGetTensorNdDescriptor, get_tensor,                                                                          \
    cudnn_status(cudnn_tensor_descriptor, int room, int* type, int* rank, int* shape, int* strides))                 \
  X(cudnnDestroyFilterDescriptor, destroy_filter, cudnn_status(cudnn_filter_descriptor))                             \
  X(cudnnSetFilterNdDescriptor, set_filter,                                                                          \
    cudnn_status(cudnn_filter_descriptor, int type, int format, int rank, const int* shape))                         \
  X(cudnnGetFilterNdDescriptor, get_filter,                                                                          \
    cudnn_status(cudnn_filter_descriptor, int room, int* type, int* format, int* rank, int* shape))                  \
  X(cudnnDestroyConvolutionDescriptor, destroy_convolution, cudnn_status(cudnn_convolution_descriptor))              \
  X(cudnnSetConvolutionNdDescriptor, set_convolution,                                                                \
    cudnn_status(cudnn_convolution_descriptor, int rank, const int* pad, const int* stride, const int* dilation,     \
                 int mode, int compute_type))                                                                        \
  X(cudnnGetConvolutionNdDescriptor, get_convolution,                                                                \
    cudnn_status(cudnn_convolution_descriptor, int room, int* rank, int* pad, int* stride, int* dilation, int* mode, \
                 int* compute_type))                                                                                 \
  X(cudnnDestroyPoolingDescriptor, destroy_pooling, cudnn_status(cudnn_pooling_descriptor))                          \
  X(cudnnSetPoolingNdDescriptor, set_pooling,                                                                        \
    cudnn_status(cudnn_pooling_descriptor, int mode, int nan, int rank, const int* window, const int* pad,           \
                 const int* stride))                                                                                 \
  X(cudnnGetPoolingNdDescriptor, get_pooling,                                                                        \
    cudnn_status(cudnn_pooling_descriptor, int room, int* mode, int* nan, int* rank, int* window, int* pad,          \
                 int* stride))                                                                                       \
  X(cudnnDestroyActivationDescriptor, destroy_activation, cudnn_status(cudnn_activation_descriptor))                 \
  X(cudnnSetActivationDescriptor, set_activation,                                                                    \
    cudnn_status(cudnn_activation_descriptor, int mode, int nan, double coef))                                       \
  X(cudnnGetActivationDescriptor, get_activation,                                                                    \
    cudnn_status(cudnn_activation_descriptor, int* mode, int* nan, double* coef))                                    \
  X(cudnnActivationForward, activation,                                                                              \
    cudnn_status(cudnn_handle, cudnn_activation_descriptor, const void* alpha, cudnn_tensor_descriptor x_desc,       \
                 const void* x, const void* beta, cudnn_tensor_descriptor y_desc, void* y))                          \
  X(cudnnActivationBackward, activation_gradient,                                                                    \
    cudnn_status(cudnn_handle, cudnn_activation_descriptor, const void* alpha, cudnn_tensor_descriptor y_desc,       \
                 const void* y, cudnn_tensor_descriptor dy_desc, const void* dy, cudnn_tensor_descriptor x_desc,     \
                 const void* x, const void* beta, cudnn_tensor_descriptor dx_desc, void* dx))                        \
  X(cudnnDestroyDropoutDescriptor, destroy_dropout, cudnn_status(cudnn_dropout_descriptor))                          \
  X(cudnnSetDropoutDescriptor, set_dropout,                                                                          \
    cudnn_status(cudnn_dropout_descriptor, cudnn_handle, float dropout, void* states, std::size_t bytes,             \
                 unsigned long long seed))                                                                           \
  X(cudnnGetDropoutDescriptor, get_dropout,                                                                          \
    cudnn_status(cudnn_dropout_descriptor, cudnn_handle, float* dropout, void** states, unsigned long long* seed))   \
  X(cudnnGetRNNDescriptor_v8, get_rnn,                                                                               \
    cudnn_status(cudnn_rnn_descriptor, int* algorithm, int* cell, int* bias, int* direction, int* input, int* type,  \
                 int* compute_type, int* math_type, std::int32_t* inputs, std::int32_t* units,                       \
                 std::int32_t* projected, std::int32_t* layers, cudnn_dropout_descriptor*, std::uint32_t* flags))    \
  X(cudnnDestroySpatialTransformerDescriptor, destroy_spatial_transformer,                                           \
    cudnn_status(cudnn_spatial_transformer_descriptor))                                                              \
  X(cudnnSetSpatialTransformerNdDescriptor, set_spatial_transformer,                                                 \
    cudnn_status(cudnn_spatial_transformer_descriptor, int sampler, int type, int rank, const int* shape))
#define CATENA_CUDNN_UTILITY_FUNCTIONS(X) \
  CATENA_CUDNN_TEXT_FUNCTIONS(X)          \
  CATENA_CUDNN_COMMON_VALUES(X)           \
  CATENA_CUDNN_COMMON_CALLS(X)            \
  CATENA_CUDNN_UTILITY_VALUES(X)          \
  CATENA_CUDNN_UTILITY_CALLS(X)

// The functions that the networks call: the graph interface, which computes convolutions,
#define CATENA_CUDNN_GRAPH_FUNCTIONS(X)                                                                              \
  X(cudnnBackendCreateDescriptor, create_descriptor, cudnn_status(int type, cudnn_descriptor*))                      \
  X(cudnnBackendDestroyDescriptor, destroy_descriptor, cudnn_status(cudnn_descriptor))                               \
  X(cudnnBackendFinalize, finalize, cudnn_status(cudnn_descriptor))                                                  \
  X(cudnnBackendSetAttribute, set_attribute,                                                                         \
    cudnn_status(cudnn_descriptor, int name, int type, std::int64_t count, const void* elements))                    \
  X(cudnnBackendGetAttribute, get_attribute,                                                                         \
    cudnn_status(cudnn_descriptor, int name, int type, std::int64_t requested, std::int64_t* count, void* elements)) \
  X(cudnnBackendExecute, execute, cudnn_status(cudnn_handle, cudnn_descriptor plan, cudnn_descriptor variant_pack))
// batch normalization,
#define CATENA_CUDNN_BATCH_NORM_FUNCTIONS(X)                                                                           \
  X(cudnnBatchNormalizationForwardTraining, batch_norm_training,                                                       \
    cudnn_status(cudnn_handle, int mode, const void* alpha, const void* beta, cudnn_tensor_descriptor x_desc,          \
                 const void* x, cudnn_tensor_descriptor y_desc, void* y, cudnn_tensor_descriptor statistics,           \
                 const void* scale, const void* bias, double factor, void* running_mean, void* running_variance,       \
                 double eps, void* mean, void* inv_std))                                                               \
  X(cudnnBatchNormalizationForwardInference, batch_norm_inference,                                                     \
    cudnn_status(cudnn_handle, int mode, const void* alpha, const void* beta, cudnn_tensor_descriptor x_desc,          \
                 const void* x, cudnn_tensor_descriptor y_desc, void* y, cudnn_tensor_descriptor statistics,           \
                 const void* scale, const void* bias, const void* mean, const void* variance, double eps))             \
  X(cudnnBatchNormalizationBackward, batch_norm_backward,                                                              \
    cudnn_status(cudnn_handle, int mode, const void* alpha_data, const void* beta_data, const void* alpha_parameters,  \
                 const void* beta_parameters, cudnn_tensor_descriptor x_desc, const void* x,                           \
                 cudnn_tensor_descriptor dy_desc, const void* dy, cudnn_tensor_descriptor dx_desc, void* dx,           \
                 cudnn_tensor_descriptor statistics, const void* scale, void* dscale, void* dbias, double eps,         \
                 const void* mean, const void* inv_std))                                                               \
  X(cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize, get_batch_norm_training_workspace,                       \
    cudnn_status(cudnn_handle, int mode, int operations, cudnn_tensor_descriptor x_desc,                               \
                 cudnn_tensor_descriptor z_desc, cudnn_tensor_descriptor y_desc, cudnn_tensor_descriptor statistics,   \
                 cudnn_activation_descriptor, std::size_t* bytes))                                                     \
  X(cudnnGetBatchNormalizationBackwardExWorkspaceSize, get_batch_norm_backward_workspace,                              \
    cudnn_status(cudnn_handle, int mode, int operations, cudnn_tensor_descriptor x_desc,                               \
                 cudnn_tensor_descriptor y_desc, cudnn_tensor_descriptor dy_desc, cudnn_tensor_descriptor dz_desc,     \
                 cudnn_tensor_descriptor dx_desc, cudnn_tensor_descriptor statistics, cudnn_activation_descriptor,     \
                 std::size_t* bytes))                                                                                  \
  X(cudnnGetBatchNormalizationTrainingExReserveSpaceSize, get_batch_norm_reserve,                                      \
    cudnn_status(cudnn_handle, int mode, int operations, cudnn_activation_descriptor, cudnn_tensor_descriptor x_desc,  \
                 std::size_t* bytes))                                                                                  \
  X(cudnnBatchNormalizationForwardTrainingEx, batch_norm_training_ex,                                                  \
    cudnn_status(cudnn_handle, int mode, int operations, const void* alpha, const void* beta,                          \
                 cudnn_tensor_descriptor x_desc, const void* x, cudnn_tensor_descriptor z_desc, const void* z,         \
                 cudnn_tensor_descriptor y_desc, void* y, cudnn_tensor_descriptor statistics, const void* scale,       \
                 const void* bias, double factor, void* running_mean, void* running_variance, double eps, void* mean,  \
                 void* inv_std, cudnn_activation_descriptor, void* workspace, std::size_t workspace_bytes,             \
                 void* reserve, std::size_t reserve_bytes))                                                            \
  X(cudnnBatchNormalizationBackwardEx, batch_norm_backward_ex,                                                         \
    cudnn_status(cudnn_handle, int mode, int operations, const void* alpha_data, const void* beta_data,                \
                 const void* alpha_parameters, const void* beta_parameters, cudnn_tensor_descriptor x_desc,            \
                 const void* x, cudnn_tensor_descriptor y_desc, const void* y, cudnn_tensor_descriptor dy_desc,        \
                 const void* dy, cudnn_tensor_descriptor dz_desc, void* dz, cudnn_tensor_descriptor dx_desc, void* dx, \
                 cudnn_tensor_descriptor statistics, const void* scale, const void* bias, void* dscale, void* dbias,   \
                 double eps, const void* mean, const void* inv_std, cudnn_activation_descriptor, void* workspace,      \
                 std::size_t workspace_bytes, void* reserve, std::size_t reserve_bytes))
// and recurrent networks.
#define CATENA_CUDNN_RNN_FUNCTIONS(X)                                                                                  \
  X(cudnnCreateRNNDataDescriptor, create_rnn_data, cudnn_status(cudnn_rnn_data_descriptor*))                           \
  X(cudnnDestroyRNNDataDescriptor, destroy_rnn_data, cudnn_status(cudnn_rnn_data_descriptor))                          \
  X(cudnnSetRNNDataDescriptor, set_rnn_data,                                                                           \
    cudnn_status(cudnn_rnn_data_descriptor, int type, int layout, int times, int batch, int width, const int* lengths, \
                 void* padding))                                                                                       \
  X(cudnnGetRNNTempSpaceSizes, get_rnn_space,                                                                          \
    cudnn_status(cudnn_handle, cudnn_rnn_descriptor, int mode, cudnn_rnn_data_descriptor x, std::size_t* workspace,    \
                 std::size_t* reserve))                                                                                \
  X(cudnnGetRNNWeightSpaceSize, get_rnn_weight_space,                                                                  \
    cudnn_status(cudnn_handle, cudnn_rnn_descriptor, std::size_t* bytes))                                              \
  X(cudnnGetRNNWeightParams, get_rnn_weights,                                                                          \
    cudnn_status(cudnn_handle, cudnn_rnn_descriptor, std::int32_t state, std::size_t bytes, const void* weights,       \
                 std::int32_t matrix, cudnn_tensor_descriptor w_desc, void** w, cudnn_tensor_descriptor b_desc,        \
                 void** b))                                                                                            \
  X(cudnnRNNForward, rnn_forward,                                                                                      \
    cudnn_status(cudnn_handle, cudnn_rnn_descriptor, int mode, const std::int32_t* device_lengths,                     \
                 cudnn_rnn_data_descriptor x_desc, const void* x, cudnn_rnn_data_descriptor y_desc, void* y,           \
                 cudnn_tensor_descriptor h_desc, const void* hx, void* hy, cudnn_tensor_descriptor c_desc,             \
                 const void* cx, void* cy, std::size_t weight_bytes, const void* weights, std::size_t workspace_bytes, \
                 void* workspace, std::size_t reserve_bytes, void* reserve))                                           \
  X(cudnnRNNBackwardData_v8, rnn_backward_data,                                                                        \
    cudnn_status(cudnn_handle, cudnn_rnn_descriptor, const std::int32_t* device_lengths,                               \
                 cudnn_rnn_data_descriptor y_desc, const void* y, const void* dy, cudnn_rnn_data_descriptor x_desc,    \
                 void* dx, cudnn_tensor_descriptor h_desc, const void* hx, const void* dhy, void* dhx,                 \
                 cudnn_tensor_descriptor c_desc, const void* cx, const void* dcy, void* dcx, std::size_t weight_bytes, \
                 const void* weights, std::size_t workspace_bytes, void* workspace, std::size_t reserve_bytes,         \
                 void* reserve))                                                                                       \
  X(cudnnRNNBackwardWeights_v8, rnn_backward_weights,                                                                  \
    cudnn_status(cudnn_handle, cudnn_rnn_descriptor, int add, const std::int32_t* device_lengths,                      \
                 cudnn_rnn_data_descriptor x_desc, const void* x, cudnn_tensor_descriptor h_desc, const void* hx,      \
                 cudnn_rnn_data_descriptor y_desc, const void* y, std::size_t weight_bytes, void* dweights,            \
                 std::size_t workspace_bytes, void* workspace, std::size_t reserve_bytes, void* reserve))
#define CATENA_CUDNN_FUNCTIONS(X)      \
  CATENA_CUDNN_TEXT_FUNCTIONS(X)       \
  CATENA_CUDNN_COMMON_VALUES(X)        \
  CATENA_CUDNN_COMMON_CALLS(X)         \
  CATENA_CUDNN_GRAPH_FUNCTIONS(X)      \
  CATENA_CUDNN_BATCH_NORM_FUNCTIONS(X) \
  CATENA_CUDNN_RNN_FUNCTIONS(X)

}  // namespace nd::cuda::api
