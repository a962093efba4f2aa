// The part of cuDNN 9's backend (graph) interface that we call, as declared here: nothing of ours is compiled with its headers. A test
// compares these declarations with those headers where they are. Enumerations are passed as int.
//
// Everything is a descriptor with attributes: it is created, its attributes are set, it is finalised.
#pragma once

#include <cstddef>
#include <cstdint>

struct cudnnContext;  // the library's own name of the opaque type
struct CUstream_st;

namespace nd::cuda::api {

using cudnn_handle = cudnnContext*;
using cudnn_descriptor = void*;

// cudnnStatus_t; thousands are families
using cudnn_status = int;
inline constexpr cudnn_status cudnn_success = 0, cudnn_not_supported = 3000, cudnn_internal_error = 4000,
                              cudnn_host_allocation_failed = 4003, cudnn_device_allocation_failed = 4004;

// cudnnDataType_t
inline constexpr int cudnn_float = 0, cudnn_double = 1, cudnn_half = 2, cudnn_bfloat16 = 9;

// cudnnBackendAttributeType_t
inline constexpr int cudnn_type_handle = 0, cudnn_type_data_type = 1, cudnn_type_boolean = 2, cudnn_type_int64 = 3, cudnn_type_float = 4,
                     cudnn_type_double = 5, cudnn_type_void_ptr = 6, cudnn_type_convolution_mode = 7, cudnn_type_heuristic_mode = 8,
                     cudnn_type_numerical_note = 11, cudnn_type_pointwise_mode = 14, cudnn_type_descriptor = 15,
                     cudnn_type_char = 24;

// cudnnBackendDescriptorType_t
inline constexpr int cudnn_pointwise = 0, cudnn_convolution = 1, cudnn_engine = 2, cudnn_engine_config = 3, cudnn_engine_heuristic = 4,
                     cudnn_execution_plan = 5, cudnn_operation_convolution_forward = 10, cudnn_operation_convolution_filter = 11,
                     cudnn_operation_convolution_data = 12, cudnn_operation_pointwise = 13, cudnn_operation_graph = 15,
                     cudnn_variant_pack = 16, cudnn_tensor = 17, cudnn_device_properties = 38;

// cudnnBackendAttributeName_t, by descriptor
inline constexpr int cudnn_attr_pointwise_mode = 0, cudnn_attr_pointwise_math_type = 1;
inline constexpr int cudnn_attr_convolution_compute_type = 100, cudnn_attr_convolution_mode = 101, cudnn_attr_convolution_dilations = 102,
                     cudnn_attr_convolution_strides = 103, cudnn_attr_convolution_post_paddings = 104,
                     cudnn_attr_convolution_pre_paddings = 105, cudnn_attr_convolution_spatial_dims = 106;
inline constexpr int cudnn_attr_heuristic_mode = 200, cudnn_attr_heuristic_graph = 201, cudnn_attr_heuristic_results = 202,
                     cudnn_attr_heuristic_properties = 204;
inline constexpr int cudnn_attr_engine_config_engine = 300;
inline constexpr int cudnn_attr_plan_handle = 400, cudnn_attr_plan_engine_config = 401, cudnn_attr_plan_workspace_bytes = 402,
                     cudnn_attr_plan_properties = 407;
inline constexpr int cudnn_attr_forward_alpha = 700, cudnn_attr_forward_beta = 701, cudnn_attr_forward_convolution = 702,
                     cudnn_attr_forward_w = 703, cudnn_attr_forward_x = 704, cudnn_attr_forward_y = 705;
inline constexpr int cudnn_attr_data_alpha = 706, cudnn_attr_data_beta = 707, cudnn_attr_data_convolution = 708, cudnn_attr_data_w = 709,
                     cudnn_attr_data_dx = 710, cudnn_attr_data_dy = 711;
inline constexpr int cudnn_attr_filter_alpha = 712, cudnn_attr_filter_beta = 713, cudnn_attr_filter_convolution = 714,
                     cudnn_attr_filter_dw = 715, cudnn_attr_filter_x = 716, cudnn_attr_filter_dy = 717;
inline constexpr int cudnn_attr_operation_pointwise = 750, cudnn_attr_operation_pointwise_x = 751, cudnn_attr_operation_pointwise_b = 752,
                     cudnn_attr_operation_pointwise_y = 753;
inline constexpr int cudnn_attr_graph_handle = 800, cudnn_attr_graph_operations = 801;
inline constexpr int cudnn_attr_tensor_alignment = 900, cudnn_attr_tensor_data_type = 901, cudnn_attr_tensor_dimensions = 902,
                     cudnn_attr_tensor_strides = 903, cudnn_attr_tensor_id = 906, cudnn_attr_tensor_virtual = 907;
inline constexpr int cudnn_attr_pack_ids = 1000, cudnn_attr_pack_pointers = 1001, cudnn_attr_pack_workspace = 1003;
inline constexpr int cudnn_attr_engine_notes = 1303;
inline constexpr int cudnn_attr_properties_json = 2702;

// cudnnConvolutionMode_t, cudnnPointwiseMode_t
inline constexpr int cudnn_cross_correlation = 1, cudnn_pointwise_add = 0;
// cudnnBackendHeurMode_t
inline constexpr int cudnn_heuristic_fallback = 2, cudnn_heuristic_a = 3;
// cudnnBackendNumericalNote_t
inline constexpr int cudnn_note_tensor_core = 0, cudnn_note_down_convert_inputs = 1, cudnn_note_reduced_precision_reduction = 2,
                     cudnn_note_nondeterministic = 4, cudnn_note_count = 10;

// Name of the function in the library, its name in our table, and its type.
#define CATENA_CUDNN_FUNCTIONS(X)                                                                                                   \
  X(cudnnGetVersion, get_version, std::size_t())                                                                                    \
  X(cudnnGetErrorString, get_error_string, const char*(cudnn_status))                                                               \
  X(cudnnGetLastErrorString, get_last_error_string, void(char* message, std::size_t bytes))                                         \
  X(cudnnCreate, create, cudnn_status(cudnn_handle*))                                                                               \
  X(cudnnSetStream, set_stream, cudnn_status(cudnn_handle, CUstream_st*))                                                           \
  X(cudnnBackendCreateDescriptor, create_descriptor, cudnn_status(int type, cudnn_descriptor*))                                     \
  X(cudnnBackendDestroyDescriptor, destroy_descriptor, cudnn_status(cudnn_descriptor))                                              \
  X(cudnnBackendFinalize, finalize, cudnn_status(cudnn_descriptor))                                                                 \
  X(cudnnBackendSetAttribute, set_attribute,                                                                                        \
    cudnn_status(cudnn_descriptor, int name, int type, std::int64_t count, const void* elements))                                   \
  X(cudnnBackendGetAttribute, get_attribute,                                                                                        \
    cudnn_status(cudnn_descriptor, int name, int type, std::int64_t room, std::int64_t* count, void* elements))                     \
  X(cudnnBackendExecute, execute, cudnn_status(cudnn_handle, cudnn_descriptor plan, cudnn_descriptor variant_pack))

}  // namespace nd::cuda::api
