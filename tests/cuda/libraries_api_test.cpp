// Our declarations of NVIDIA's libraries against their headers, where those are: the same arguments, enumerations by
// what they are, and the same numbers. What is wrong does not compile.
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <string>
#include <type_traits>

#include <catena/ndarray/cuda/api/cublas.h>
#include <catena/ndarray/cuda/api/cublaslt.h>
#include <catena/ndarray/cuda/api/cudnn.h>
#include <catena/ndarray/cuda/api/cufft.h>
#include <catena/ndarray/cuda/api/curand.h>
#include <catena/ndarray/cuda/api/cusolver.h>
#include <catena/ndarray/cuda/api/cusparse.h>
#include <catena/ndarray/cuda/api/nccl.h>
#include <catena/ndarray/cuda/api/nvjpeg.h>
#include <catena/ndarray/cuda/api/nvtx.h>

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#define CATENA_HAS_CUBLASLT_HEADER 1
#endif
#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#define CATENA_HAS_CUBLAS_HEADER 1
#endif
#if __has_include(<curand.h>)
#include <curand.h>
#define CATENA_HAS_CURAND_HEADER 1
#endif
#if __has_include(<cusolverDn.h>)
#include <cusolverDn.h>
#define CATENA_HAS_CUSOLVER_HEADER 1
#endif
#if __has_include(<cufft.h>)
#include <cufft.h>
#define CATENA_HAS_CUFFT_HEADER 1
#endif
#if __has_include(<cusparse.h>)
#include <cusparse.h>
#define CATENA_HAS_CUSPARSE_HEADER 1
#endif
#if __has_include(<nvjpeg.h>)
#include <nvjpeg.h>
#define CATENA_HAS_NVJPEG_HEADER 1
#endif
#if __has_include(<cudnn.h>)
#include <cudnn.h>
#define CATENA_HAS_CUDNN_HEADER 1
#endif
#if __has_include(<nccl.h>)
#include <nccl.h>
#define CATENA_HAS_NCCL_HEADER 1
#endif
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define CATENA_HAS_NVTX_HEADER 1
#endif

namespace {

namespace api = nd::cuda::api;

// A type of theirs as we write it.
template <class T, class = void> struct plain { using type = T; };
template <class T> struct plain<T, std::enable_if_t<std::is_enum_v<T>>> {
  static_assert(sizeof(T) == sizeof(int));
  using type = int;
};
template <class T> struct plain<const T> { using type = const typename plain<T>::type; };
template <class T> struct plain<T*> { using type = typename plain<T>::type*; };
template <class R, class... A> struct plain<R(A...)> {
  using type = typename plain<R>::type(typename plain<A>::type...);
};
#define CATENA_COMPARE(symbol, field, ...) \
  static_assert(std::is_same_v<plain<decltype(::symbol)>::type, __VA_ARGS__>, #symbol);
#define CATENA_SAME(theirs, ours) static_assert(static_cast<long long>(theirs) == static_cast<long long>(ours), #theirs)

#ifdef CATENA_HAS_CUBLASLT_HEADER
template <> struct plain<cublasLtMatmulDescOpaque_t> { using type = api::cublaslt_opaque_matmul_desc; };
template <> struct plain<cublasLtMatrixLayoutOpaque_t> { using type = api::cublaslt_opaque_matrix_layout; };
template <> struct plain<cublasLtMatmulPreferenceOpaque_t> { using type = api::cublaslt_opaque_preference; };
template <> struct plain<cublasLtMatmulAlgo_t> { using type = api::cublaslt_algo; };
template <> struct plain<cublasLtMatmulHeuristicResult_t> { using type = api::cublaslt_heuristic_result; };
#endif
#ifdef CATENA_HAS_NVJPEG_HEADER
template <> struct plain<nvjpegImage_t> { using type = api::nvjpeg_image; };
#endif
#ifdef CATENA_HAS_NCCL_HEADER
template <> struct plain<ncclUniqueId> { using type = api::nccl_unique_id; };
template <> struct plain<ncclConfig_t> { using type = api::nccl_config; };
#endif

using namespace nd::cuda::api;

#ifdef CATENA_HAS_CUBLASLT_HEADER
CATENA_CUBLASLT_FUNCTIONS(CATENA_COMPARE)
CATENA_SAME(sizeof(cublasLtMatmulAlgo_t), sizeof(cublaslt_algo));
CATENA_SAME(sizeof(cublasLtMatmulHeuristicResult_t), sizeof(cublaslt_heuristic_result));
CATENA_SAME(offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize),
            offsetof(cublaslt_heuristic_result, workspace_bytes));
CATENA_SAME(offsetof(cublasLtMatmulHeuristicResult_t, state), offsetof(cublaslt_heuristic_result, state));
CATENA_SAME(CUBLAS_STATUS_SUCCESS, cublas_success);
CATENA_SAME(CUBLAS_STATUS_NOT_INITIALIZED, cublas_not_initialized);
CATENA_SAME(CUBLAS_STATUS_ALLOC_FAILED, cublas_alloc_failed);
CATENA_SAME(CUBLAS_STATUS_INVALID_VALUE, cublas_invalid_value);
CATENA_SAME(CUBLAS_STATUS_EXECUTION_FAILED, cublas_execution_failed);
CATENA_SAME(CUBLAS_STATUS_NOT_SUPPORTED, cublas_not_supported);
CATENA_SAME(CUDA_R_16F, cuda_r_16f);
CATENA_SAME(CUDA_R_16BF, cuda_r_16bf);
CATENA_SAME(CUDA_R_32F, cuda_r_32f);
CATENA_SAME(CUDA_R_64F, cuda_r_64f);
CATENA_SAME(CUDA_C_32F, cuda_c_32f);
CATENA_SAME(CUDA_C_64F, cuda_c_64f);
CATENA_SAME(CUBLAS_COMPUTE_32F, cublas_compute_32f);
CATENA_SAME(CUBLAS_COMPUTE_64F, cublas_compute_64f);
CATENA_SAME(CUBLAS_COMPUTE_32F_FAST_TF32, cublas_compute_32f_fast_tf32);
CATENA_SAME(CUBLAS_OP_N, cublas_op_n);
CATENA_SAME(CUBLAS_OP_T, cublas_op_t);
CATENA_SAME(CUBLASLT_MATMUL_DESC_TRANSA, cublaslt_desc_transpose_a);
CATENA_SAME(CUBLASLT_MATMUL_DESC_TRANSB, cublaslt_desc_transpose_b);
CATENA_SAME(CUBLASLT_MATMUL_DESC_EPILOGUE, cublaslt_desc_epilogue);
CATENA_SAME(CUBLASLT_MATMUL_DESC_BIAS_POINTER, cublaslt_desc_bias_pointer);
CATENA_SAME(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, cublaslt_layout_batch_count);
CATENA_SAME(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, cublaslt_layout_batch_stride);
CATENA_SAME(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, cublaslt_preference_workspace_bytes);
CATENA_SAME(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, cublaslt_preference_reduction_scheme);
CATENA_SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, cublaslt_preference_alignment_a);
CATENA_SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, cublaslt_preference_alignment_b);
CATENA_SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, cublaslt_preference_alignment_c);
CATENA_SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, cublaslt_preference_alignment_d);
CATENA_SAME(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, cublaslt_reduction_compute_type);
CATENA_SAME(CUBLASLT_EPILOGUE_DEFAULT, cublaslt_epilogue_default);
CATENA_SAME(CUBLASLT_EPILOGUE_RELU, cublaslt_epilogue_relu);
CATENA_SAME(CUBLASLT_EPILOGUE_BIAS, cublaslt_epilogue_bias);
CATENA_SAME(CUBLASLT_EPILOGUE_RELU_BIAS, cublaslt_epilogue_relu | cublaslt_epilogue_bias);
CATENA_SAME(CUBLASLT_EPILOGUE_GELU, cublaslt_epilogue_gelu);
CATENA_SAME(CUBLASLT_EPILOGUE_GELU_BIAS, cublaslt_epilogue_gelu | cublaslt_epilogue_bias);
#endif

#ifdef CATENA_HAS_CUBLAS_HEADER
CATENA_CUBLAS_FUNCTIONS(CATENA_COMPARE)
CATENA_SAME(CUBLAS_POINTER_MODE_HOST, cublas_pointer_mode_host);
CATENA_SAME(CUBLAS_POINTER_MODE_DEVICE, cublas_pointer_mode_device);
CATENA_SAME(CUBLAS_SIDE_LEFT, cublas_side_left);
CATENA_SAME(CUBLAS_SIDE_RIGHT, cublas_side_right);
CATENA_SAME(CUBLAS_OP_C, cublas_op_c);
#endif

#ifdef CATENA_HAS_CURAND_HEADER
CATENA_CURAND_FUNCTIONS(CATENA_COMPARE)
CATENA_SAME(CURAND_STATUS_SUCCESS, curand_success);
CATENA_SAME(CURAND_STATUS_VERSION_MISMATCH, curand_version_mismatch);
CATENA_SAME(CURAND_STATUS_NOT_INITIALIZED, curand_not_initialized);
CATENA_SAME(CURAND_STATUS_ALLOCATION_FAILED, curand_allocation_failed);
CATENA_SAME(CURAND_STATUS_TYPE_ERROR, curand_type_error);
CATENA_SAME(CURAND_STATUS_OUT_OF_RANGE, curand_out_of_range);
CATENA_SAME(CURAND_STATUS_LENGTH_NOT_MULTIPLE, curand_length_not_multiple);
CATENA_SAME(CURAND_STATUS_DOUBLE_PRECISION_REQUIRED, curand_double_precision_required);
CATENA_SAME(CURAND_STATUS_LAUNCH_FAILURE, curand_launch_failure);
CATENA_SAME(CURAND_STATUS_PREEXISTING_FAILURE, curand_preexisting_failure);
CATENA_SAME(CURAND_STATUS_INITIALIZATION_FAILED, curand_initialization_failed);
CATENA_SAME(CURAND_STATUS_ARCH_MISMATCH, curand_arch_mismatch);
CATENA_SAME(CURAND_STATUS_INTERNAL_ERROR, curand_internal_error);
CATENA_SAME(CURAND_RNG_PSEUDO_DEFAULT, curand_pseudo_default);
CATENA_SAME(CURAND_RNG_PSEUDO_XORWOW, curand_xorwow);
CATENA_SAME(CURAND_RNG_PSEUDO_MRG32K3A, curand_mrg32k3a);
CATENA_SAME(CURAND_RNG_PSEUDO_MTGP32, curand_mtgp32);
CATENA_SAME(CURAND_RNG_PSEUDO_MT19937, curand_mt19937);
CATENA_SAME(CURAND_RNG_PSEUDO_PHILOX4_32_10, curand_philox4_32_10);
CATENA_SAME(CURAND_RNG_QUASI_DEFAULT, curand_quasi_default);
CATENA_SAME(CURAND_RNG_QUASI_SOBOL32, curand_sobol32);
CATENA_SAME(CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, curand_scrambled_sobol32);
CATENA_SAME(CURAND_RNG_QUASI_SOBOL64, curand_sobol64);
CATENA_SAME(CURAND_RNG_QUASI_SCRAMBLED_SOBOL64, curand_scrambled_sobol64);
CATENA_SAME(CURAND_ORDERING_PSEUDO_BEST, curand_order_best);
CATENA_SAME(CURAND_ORDERING_PSEUDO_DEFAULT, curand_order_default);
CATENA_SAME(CURAND_ORDERING_PSEUDO_SEEDED, curand_order_seeded);
CATENA_SAME(CURAND_ORDERING_PSEUDO_LEGACY, curand_order_legacy);
CATENA_SAME(CURAND_ORDERING_PSEUDO_DYNAMIC, curand_order_dynamic);
CATENA_SAME(CURAND_ORDERING_QUASI_DEFAULT, curand_order_quasi_default);
#endif

#ifdef CATENA_HAS_CUSOLVER_HEADER
CATENA_CUSOLVER_FUNCTIONS(CATENA_COMPARE)
CATENA_SAME(CUSOLVER_STATUS_SUCCESS, cusolver_success);
CATENA_SAME(CUSOLVER_STATUS_NOT_INITIALIZED, cusolver_not_initialized);
CATENA_SAME(CUSOLVER_STATUS_ALLOC_FAILED, cusolver_alloc_failed);
CATENA_SAME(CUSOLVER_STATUS_INVALID_VALUE, cusolver_invalid_value);
CATENA_SAME(CUSOLVER_STATUS_ARCH_MISMATCH, cusolver_arch_mismatch);
CATENA_SAME(CUSOLVER_STATUS_MAPPING_ERROR, cusolver_mapping_error);
CATENA_SAME(CUSOLVER_STATUS_EXECUTION_FAILED, cusolver_execution_failed);
CATENA_SAME(CUSOLVER_STATUS_INTERNAL_ERROR, cusolver_internal_error);
CATENA_SAME(CUSOLVER_STATUS_NOT_SUPPORTED, cusolver_not_supported);
CATENA_SAME(CUBLAS_FILL_MODE_LOWER, cublas_fill_lower);
CATENA_SAME(CUBLAS_FILL_MODE_UPPER, cublas_fill_upper);
CATENA_SAME(CUBLAS_SIDE_LEFT, cusolver_side_left);
CATENA_SAME(CUBLAS_SIDE_RIGHT, cusolver_side_right);
CATENA_SAME(CUBLAS_OP_N, cusolver_op_n);
CATENA_SAME(CUBLAS_OP_T, cusolver_op_t);
CATENA_SAME(CUSOLVER_EIG_MODE_NOVECTOR, cusolver_values_only);
CATENA_SAME(CUSOLVER_EIG_MODE_VECTOR, cusolver_vectors);
#endif

#ifdef CATENA_HAS_CUFFT_HEADER
CATENA_CUFFT_FUNCTIONS(CATENA_COMPARE)
CATENA_SAME(CUFFT_SUCCESS, cufft_success);
CATENA_SAME(CUFFT_INVALID_PLAN, cufft_invalid_plan);
CATENA_SAME(CUFFT_ALLOC_FAILED, cufft_alloc_failed);
CATENA_SAME(CUFFT_INVALID_TYPE, cufft_invalid_type);
CATENA_SAME(CUFFT_INVALID_VALUE, cufft_invalid_value);
CATENA_SAME(CUFFT_INTERNAL_ERROR, cufft_internal_error);
CATENA_SAME(CUFFT_EXEC_FAILED, cufft_exec_failed);
CATENA_SAME(CUFFT_SETUP_FAILED, cufft_setup_failed);
CATENA_SAME(CUFFT_INVALID_SIZE, cufft_invalid_size);
CATENA_SAME(CUFFT_UNALIGNED_DATA, cufft_unaligned_data);
CATENA_SAME(CUFFT_INVALID_DEVICE, cufft_invalid_device);
CATENA_SAME(CUFFT_NO_WORKSPACE, cufft_no_workspace);
CATENA_SAME(CUFFT_NOT_IMPLEMENTED, cufft_not_implemented);
CATENA_SAME(CUFFT_NOT_SUPPORTED, cufft_not_supported);
CATENA_SAME(CUFFT_R2C, cufft_r2c);
CATENA_SAME(CUFFT_C2R, cufft_c2r);
CATENA_SAME(CUFFT_C2C, cufft_c2c);
CATENA_SAME(CUFFT_D2Z, cufft_d2z);
CATENA_SAME(CUFFT_Z2D, cufft_z2d);
CATENA_SAME(CUFFT_Z2Z, cufft_z2z);
CATENA_SAME(CUFFT_FORWARD, cufft_forward);
CATENA_SAME(CUFFT_INVERSE, cufft_inverse);
#endif

#ifdef CATENA_HAS_CUSPARSE_HEADER
CATENA_CUSPARSE_FUNCTIONS(CATENA_COMPARE)
CATENA_SAME(CUSPARSE_STATUS_SUCCESS, cusparse_success);
CATENA_SAME(CUSPARSE_STATUS_NOT_INITIALIZED, cusparse_not_initialized);
CATENA_SAME(CUSPARSE_STATUS_ALLOC_FAILED, cusparse_alloc_failed);
CATENA_SAME(CUSPARSE_STATUS_INVALID_VALUE, cusparse_invalid_value);
CATENA_SAME(CUSPARSE_STATUS_EXECUTION_FAILED, cusparse_execution_failed);
CATENA_SAME(CUSPARSE_STATUS_INTERNAL_ERROR, cusparse_internal_error);
CATENA_SAME(CUSPARSE_STATUS_NOT_SUPPORTED, cusparse_not_supported);
CATENA_SAME(CUSPARSE_INDEX_32I, cusparse_index_32);
CATENA_SAME(CUSPARSE_INDEX_64I, cusparse_index_64);
CATENA_SAME(CUSPARSE_INDEX_BASE_ZERO, cusparse_base_zero);
CATENA_SAME(CUSPARSE_ORDER_ROW, cusparse_order_row);
CATENA_SAME(CUSPARSE_OPERATION_NON_TRANSPOSE, cusparse_op_n);
CATENA_SAME(CUSPARSE_SPMV_CSR_ALG2, cusparse_spmv_csr_alg2);
CATENA_SAME(CUSPARSE_SPMM_CSR_ALG3, cusparse_spmm_csr_alg3);
#endif

#ifdef CATENA_HAS_NVJPEG_HEADER
CATENA_NVJPEG_FUNCTIONS(CATENA_COMPARE)
CATENA_SAME(NVJPEG_STATUS_SUCCESS, nvjpeg_success);
CATENA_SAME(NVJPEG_STATUS_NOT_INITIALIZED, nvjpeg_not_initialized);
CATENA_SAME(NVJPEG_STATUS_INVALID_PARAMETER, nvjpeg_invalid_parameter);
CATENA_SAME(NVJPEG_STATUS_BAD_JPEG, nvjpeg_bad_jpeg);
CATENA_SAME(NVJPEG_STATUS_JPEG_NOT_SUPPORTED, nvjpeg_jpeg_not_supported);
CATENA_SAME(NVJPEG_STATUS_ALLOCATOR_FAILURE, nvjpeg_allocator_failure);
CATENA_SAME(NVJPEG_STATUS_EXECUTION_FAILED, nvjpeg_execution_failed);
CATENA_SAME(NVJPEG_STATUS_ARCH_MISMATCH, nvjpeg_arch_mismatch);
CATENA_SAME(NVJPEG_STATUS_INTERNAL_ERROR, nvjpeg_internal_error);
CATENA_SAME(NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED, nvjpeg_implementation_not_supported);
CATENA_SAME(NVJPEG_OUTPUT_Y, nvjpeg_output_y);
CATENA_SAME(NVJPEG_OUTPUT_RGBI, nvjpeg_output_rgbi);
CATENA_SAME(NVJPEG_MAX_COMPONENT, nvjpeg_most_components);
static_assert(sizeof(nvjpegImage_t) == sizeof(nvjpeg_image));
#endif

#ifdef CATENA_HAS_CUDNN_HEADER
CATENA_CUDNN_FUNCTIONS(CATENA_COMPARE)
CATENA_CUDNN_UTILITY_FUNCTIONS(CATENA_COMPARE)
CATENA_SAME(CUDNN_STATUS_SUCCESS, cudnn_success);
CATENA_SAME(CUDNN_STATUS_NOT_INITIALIZED, cudnn_not_initialized);
CATENA_SAME(CUDNN_STATUS_BAD_PARAM, cudnn_bad_param);
CATENA_SAME(CUDNN_STATUS_EXECUTION_FAILED, cudnn_execution_failed);
CATENA_SAME(CUDNN_TENSOR_NCHW, cudnn_nchw);
CATENA_SAME(CUDNN_TENSOR_NHWC, cudnn_nhwc);
CATENA_SAME(CUDNN_NOT_PROPAGATE_NAN, cudnn_not_propagate_nan);
CATENA_SAME(CUDNN_CONVOLUTION, cudnn_true_convolution);
CATENA_SAME(CUDNN_POOLING_MAX, cudnn_pooling_max);
CATENA_SAME(CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING, cudnn_pooling_average_with_padding);
CATENA_SAME(CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING, cudnn_pooling_average_without_padding);
CATENA_SAME(CUDNN_POOLING_MAX_DETERMINISTIC, cudnn_pooling_max_deterministic);
CATENA_SAME(CUDNN_ACTIVATION_SIGMOID, cudnn_sigmoid);
CATENA_SAME(CUDNN_ACTIVATION_RELU, cudnn_relu);
CATENA_SAME(CUDNN_ACTIVATION_TANH, cudnn_tanh);
CATENA_SAME(CUDNN_ACTIVATION_CLIPPED_RELU, cudnn_clipped_relu);
CATENA_SAME(CUDNN_SAMPLER_BILINEAR, cudnn_bilinear);
CATENA_SAME(CUDNN_SKIP_INPUT, cudnn_skip_input);
CATENA_SAME(CUDNN_STATUS_NOT_SUPPORTED, cudnn_not_supported);
CATENA_SAME(CUDNN_STATUS_INTERNAL_ERROR, cudnn_internal_error);
CATENA_SAME(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, cudnn_host_allocation_failed);
CATENA_SAME(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, cudnn_device_allocation_failed);
CATENA_SAME(CUDNN_DATA_FLOAT, cudnn_float);
CATENA_SAME(CUDNN_DATA_DOUBLE, cudnn_double);
CATENA_SAME(CUDNN_DATA_HALF, cudnn_half);
CATENA_SAME(CUDNN_DATA_BFLOAT16, cudnn_bfloat16);
CATENA_SAME(CUDNN_TYPE_HANDLE, cudnn_type_handle);
CATENA_SAME(CUDNN_TYPE_DATA_TYPE, cudnn_type_data_type);
CATENA_SAME(CUDNN_TYPE_BOOLEAN, cudnn_type_boolean);
CATENA_SAME(CUDNN_TYPE_INT64, cudnn_type_int64);
CATENA_SAME(CUDNN_TYPE_FLOAT, cudnn_type_float);
CATENA_SAME(CUDNN_TYPE_DOUBLE, cudnn_type_double);
CATENA_SAME(CUDNN_TYPE_VOID_PTR, cudnn_type_void_ptr);
CATENA_SAME(CUDNN_TYPE_CONVOLUTION_MODE, cudnn_type_convolution_mode);
CATENA_SAME(CUDNN_TYPE_HEUR_MODE, cudnn_type_heuristic_mode);
CATENA_SAME(CUDNN_TYPE_NUMERICAL_NOTE, cudnn_type_numerical_note);
CATENA_SAME(CUDNN_TYPE_POINTWISE_MODE, cudnn_type_pointwise_mode);
CATENA_SAME(CUDNN_TYPE_BACKEND_DESCRIPTOR, cudnn_type_descriptor);
CATENA_SAME(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, cudnn_pointwise);
CATENA_SAME(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, cudnn_convolution);
CATENA_SAME(CUDNN_BACKEND_ENGINE_DESCRIPTOR, cudnn_engine);
CATENA_SAME(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, cudnn_engine_config);
CATENA_SAME(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, cudnn_engine_heuristic);
CATENA_SAME(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, cudnn_execution_plan);
CATENA_SAME(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, cudnn_operation_convolution_forward);
CATENA_SAME(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, cudnn_operation_convolution_filter);
CATENA_SAME(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, cudnn_operation_convolution_data);
CATENA_SAME(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, cudnn_operation_pointwise);
CATENA_SAME(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, cudnn_operation_graph);
CATENA_SAME(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, cudnn_variant_pack);
CATENA_SAME(CUDNN_BACKEND_TENSOR_DESCRIPTOR, cudnn_tensor);
CATENA_SAME(CUDNN_ATTR_POINTWISE_MODE, cudnn_attr_pointwise_mode);
CATENA_SAME(CUDNN_ATTR_POINTWISE_MATH_PREC, cudnn_attr_pointwise_math_type);
CATENA_SAME(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, cudnn_attr_convolution_compute_type);
CATENA_SAME(CUDNN_ATTR_CONVOLUTION_CONV_MODE, cudnn_attr_convolution_mode);
CATENA_SAME(CUDNN_ATTR_CONVOLUTION_DILATIONS, cudnn_attr_convolution_dilations);
CATENA_SAME(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, cudnn_attr_convolution_strides);
CATENA_SAME(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, cudnn_attr_convolution_post_paddings);
CATENA_SAME(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, cudnn_attr_convolution_pre_paddings);
CATENA_SAME(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, cudnn_attr_convolution_spatial_dims);
CATENA_SAME(CUDNN_ATTR_ENGINEHEUR_MODE, cudnn_attr_heuristic_mode);
CATENA_SAME(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, cudnn_attr_heuristic_graph);
CATENA_SAME(CUDNN_ATTR_ENGINEHEUR_RESULTS, cudnn_attr_heuristic_results);
CATENA_SAME(CUDNN_ATTR_ENGINECFG_ENGINE, cudnn_attr_engine_config_engine);
CATENA_SAME(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, cudnn_attr_plan_handle);
CATENA_SAME(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, cudnn_attr_plan_engine_config);
CATENA_SAME(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, cudnn_attr_plan_workspace_bytes);
CATENA_SAME(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, cudnn_attr_forward_alpha);
CATENA_SAME(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, cudnn_attr_forward_beta);
CATENA_SAME(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, cudnn_attr_forward_convolution);
CATENA_SAME(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, cudnn_attr_forward_w);
CATENA_SAME(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, cudnn_attr_forward_x);
CATENA_SAME(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, cudnn_attr_forward_y);
CATENA_SAME(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, cudnn_attr_data_alpha);
CATENA_SAME(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, cudnn_attr_data_beta);
CATENA_SAME(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, cudnn_attr_data_convolution);
CATENA_SAME(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, cudnn_attr_data_w);
CATENA_SAME(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, cudnn_attr_data_dx);
CATENA_SAME(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, cudnn_attr_data_dy);
CATENA_SAME(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, cudnn_attr_filter_alpha);
CATENA_SAME(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, cudnn_attr_filter_beta);
CATENA_SAME(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, cudnn_attr_filter_convolution);
CATENA_SAME(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, cudnn_attr_filter_dw);
CATENA_SAME(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, cudnn_attr_filter_x);
CATENA_SAME(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, cudnn_attr_filter_dy);
CATENA_SAME(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, cudnn_attr_operation_pointwise);
CATENA_SAME(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, cudnn_attr_operation_pointwise_x);
CATENA_SAME(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, cudnn_attr_operation_pointwise_b);
CATENA_SAME(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, cudnn_attr_operation_pointwise_y);
CATENA_SAME(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, cudnn_attr_graph_handle);
CATENA_SAME(CUDNN_ATTR_OPERATIONGRAPH_OPS, cudnn_attr_graph_operations);
CATENA_SAME(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, cudnn_attr_tensor_alignment);
CATENA_SAME(CUDNN_ATTR_TENSOR_DATA_TYPE, cudnn_attr_tensor_data_type);
CATENA_SAME(CUDNN_ATTR_TENSOR_DIMENSIONS, cudnn_attr_tensor_dimensions);
CATENA_SAME(CUDNN_ATTR_TENSOR_STRIDES, cudnn_attr_tensor_strides);
CATENA_SAME(CUDNN_ATTR_TENSOR_UNIQUE_ID, cudnn_attr_tensor_id);
CATENA_SAME(CUDNN_ATTR_TENSOR_IS_VIRTUAL, cudnn_attr_tensor_virtual);
CATENA_SAME(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, cudnn_attr_pack_ids);
CATENA_SAME(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, cudnn_attr_pack_pointers);
CATENA_SAME(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, cudnn_attr_pack_workspace);
CATENA_SAME(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, cudnn_attr_engine_notes);
CATENA_SAME(CUDNN_CROSS_CORRELATION, cudnn_cross_correlation);
CATENA_SAME(CUDNN_POINTWISE_ADD, cudnn_pointwise_add);
CATENA_SAME(CUDNN_HEUR_MODE_FALLBACK, cudnn_heuristic_fallback);
CATENA_SAME(CUDNN_HEUR_MODE_A, cudnn_heuristic_a);
CATENA_SAME(CUDNN_NUMERICAL_NOTE_TENSOR_CORE, cudnn_note_tensor_core);
CATENA_SAME(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS, cudnn_note_down_convert_inputs);
CATENA_SAME(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION, cudnn_note_reduced_precision_reduction);
CATENA_SAME(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC, cudnn_note_nondeterministic);
CATENA_SAME(CUDNN_NUMERICAL_NOTE_TYPE_COUNT, cudnn_note_count);
CATENA_SAME(CUDNN_TYPE_CHAR, cudnn_type_char);
#if CUDNN_VERSION >= 91900
CATENA_SAME(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, cudnn_device_properties);
CATENA_SAME(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, cudnn_attr_heuristic_properties);
CATENA_SAME(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, cudnn_attr_plan_properties);
CATENA_SAME(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, cudnn_attr_properties_json);
CATENA_SAME(CUDNN_BATCHNORM_PER_ACTIVATION, cudnn_batch_norm_per_activation);
CATENA_SAME(CUDNN_BATCHNORM_SPATIAL, cudnn_batch_norm_spatial);
CATENA_SAME(CUDNN_BATCHNORM_SPATIAL_PERSISTENT, cudnn_batch_norm_spatial_persistent);
CATENA_SAME(CUDNN_BATCHNORM_OPS_BN, cudnn_batch_norm_only);
CATENA_SAME(CUDNN_RNN_ALGO_STANDARD, cudnn_rnn_standard);
CATENA_SAME(CUDNN_RNN_RELU, cudnn_rnn_relu);
CATENA_SAME(CUDNN_RNN_TANH, cudnn_rnn_tanh);
CATENA_SAME(CUDNN_LSTM, cudnn_lstm);
CATENA_SAME(CUDNN_GRU, cudnn_gru);
CATENA_SAME(CUDNN_RNN_DOUBLE_BIAS, cudnn_rnn_double_bias);
CATENA_SAME(CUDNN_UNIDIRECTIONAL, cudnn_unidirectional);
CATENA_SAME(CUDNN_BIDIRECTIONAL, cudnn_bidirectional);
CATENA_SAME(CUDNN_LINEAR_INPUT, cudnn_linear_input);
CATENA_SAME(CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, cudnn_rnn_packed);
CATENA_SAME(CUDNN_DEFAULT_MATH, cudnn_default_math);
CATENA_SAME(CUDNN_FMA_MATH, cudnn_fma_math);
CATENA_SAME(CUDNN_FWD_MODE_INFERENCE, cudnn_inference);
CATENA_SAME(CUDNN_FWD_MODE_TRAINING, cudnn_training);
CATENA_SAME(CUDNN_WGRAD_MODE_ADD, cudnn_add_gradients);
#endif
#endif

#ifdef CATENA_HAS_NCCL_HEADER
CATENA_NCCL_FUNCTIONS(CATENA_COMPARE)
CATENA_NCCL_LATER_FUNCTIONS(CATENA_COMPARE)
CATENA_SAME(offsetof(ncclConfig_t, magic), offsetof(nccl_config, magic));
CATENA_SAME(offsetof(ncclConfig_t, version), offsetof(nccl_config, version));
CATENA_SAME(offsetof(ncclConfig_t, blocking), offsetof(nccl_config, blocking));
CATENA_SAME(offsetof(ncclConfig_t, maxCTAs), offsetof(nccl_config, max_ctas));
CATENA_SAME(offsetof(ncclConfig_t, netName), offsetof(nccl_config, net_name));
CATENA_SAME(NCCL_CONFIG_UNDEF_INT, nccl_undefined);
CATENA_SAME(sizeof(ncclUniqueId), sizeof(nccl_unique_id));
CATENA_SAME(ncclSuccess, nccl_success);
CATENA_SAME(ncclUnhandledCudaError, nccl_unhandled_cuda_error);
CATENA_SAME(ncclSystemError, nccl_system_error);
CATENA_SAME(ncclInternalError, nccl_internal_error);
CATENA_SAME(ncclInvalidArgument, nccl_invalid_argument);
CATENA_SAME(ncclInvalidUsage, nccl_invalid_usage);
CATENA_SAME(ncclRemoteError, nccl_remote_error);
CATENA_SAME(ncclInProgress, nccl_in_progress);
CATENA_SAME(ncclSum, nccl_sum);
CATENA_SAME(ncclProd, nccl_prod);
CATENA_SAME(ncclMax, nccl_max);
CATENA_SAME(ncclMin, nccl_min);
CATENA_SAME(ncclAvg, nccl_avg);
CATENA_SAME(ncclInt8, nccl_int8);
CATENA_SAME(ncclUint8, nccl_uint8);
CATENA_SAME(ncclInt32, nccl_int32);
CATENA_SAME(ncclUint32, nccl_uint32);
CATENA_SAME(ncclInt64, nccl_int64);
CATENA_SAME(ncclUint64, nccl_uint64);
CATENA_SAME(ncclFloat16, nccl_float16);
CATENA_SAME(ncclFloat32, nccl_float32);
CATENA_SAME(ncclFloat64, nccl_float64);
CATENA_SAME(ncclBfloat16, nccl_bfloat16);
#endif

#ifdef CATENA_HAS_NVTX_HEADER
CATENA_SAME(sizeof(nvtxEventAttributes_t), sizeof(nvtx_event_attributes));
CATENA_SAME(offsetof(nvtxEventAttributes_t, category), offsetof(nvtx_event_attributes, category));
CATENA_SAME(offsetof(nvtxEventAttributes_t, colorType), offsetof(nvtx_event_attributes, color_type));
CATENA_SAME(offsetof(nvtxEventAttributes_t, color), offsetof(nvtx_event_attributes, color));
CATENA_SAME(offsetof(nvtxEventAttributes_t, payload), offsetof(nvtx_event_attributes, payload));
CATENA_SAME(offsetof(nvtxEventAttributes_t, messageType), offsetof(nvtx_event_attributes, message_type));
CATENA_SAME(offsetof(nvtxEventAttributes_t, message), offsetof(nvtx_event_attributes, message));
CATENA_SAME(NVTX_VERSION, nvtx_event_attributes().version);
CATENA_SAME(NVTX_COLOR_ARGB, nvtx_color_argb);
CATENA_SAME(NVTX_MESSAGE_TYPE_ASCII, nvtx_message_ascii);
CATENA_SAME(NVTX_ETID_CALLBACKS, nvtx_table_callbacks);
CATENA_SAME(NVTX_ETID_VERSIONINFO, nvtx_table_version);
CATENA_SAME(NVTX_CB_MODULE_CORE, nvtx_module_core);
CATENA_SAME(NVTX_CB_MODULE_SIZE, nvtx_modules);
CATENA_SAME(NVTX_CBID_CORE_MarkEx, nvtx_slot_mark);
CATENA_SAME(NVTX_CBID_CORE_RangePushEx, nvtx_slot_range_push);
CATENA_SAME(NVTX_CBID_CORE_RangePop, nvtx_slot_range_pop);
CATENA_SAME(sizeof(NvtxExportTableCallbacks), sizeof(nvtx_callbacks_table));
CATENA_SAME(sizeof(NvtxExportTableVersionInfo), sizeof(nvtx_version_table));
static_assert(
    std::is_same_v<plain<std::remove_pointer_t<decltype(NvtxExportTableCallbacks::GetModuleFunctionTable)>>::type,
                   std::remove_pointer_t<decltype(nvtx_callbacks_table::get_module_function_table)>>);
static_assert(std::is_same_v<std::remove_pointer_t<NvtxInitializeInjectionNvtxFunc_t>,
                             std::remove_pointer_t<nvtx_initialize_injection>>);
#endif

BOOST_AUTO_TEST_SUITE(libraries_api)

// The comparison is done by the compiler; what is left is to say what it could not compare.
BOOST_AUTO_TEST_CASE(headers_that_were_compared) {
  std::string missing;
#ifndef CATENA_HAS_CUBLASLT_HEADER
  missing += " cublasLt.h";
#endif
#ifndef CATENA_HAS_CURAND_HEADER
  missing += " curand.h";
#endif
#ifndef CATENA_HAS_CUSOLVER_HEADER
  missing += " cusolverDn.h";
#endif
#ifndef CATENA_HAS_CUFFT_HEADER
  missing += " cufft.h";
#endif
#ifndef CATENA_HAS_CUSPARSE_HEADER
  missing += " cusparse.h";
#endif
#ifndef CATENA_HAS_NVJPEG_HEADER
  missing += " nvjpeg.h";
#endif
#ifndef CATENA_HAS_CUDNN_HEADER
  missing += " cudnn.h";
#endif
#ifndef CATENA_HAS_NCCL_HEADER
  missing += " nccl.h";
#endif
#ifndef CATENA_HAS_NVTX_HEADER
  missing += " nvtx3/nvToolsExt.h";
#endif
  if (!missing.empty())
    std::cout << "skipped: not on this machine, so our declarations were not compared with:" << missing << "\n";
  const char* toolkit = std::getenv("CATENA_TEST_CUDA_TOOLKIT");
  if (toolkit == nullptr || *toolkit == '\0') {
    std::cout << "skipped: there is no CUDA toolkit on this machine, so no header has to be there\n";
    return;
  }
  for (const char* header :
       {"cublasLt.h", "curand.h", "cusolverDn.h", "cufft.h", "cusparse.h"})  // the others are installed by themselves
    BOOST_TEST(missing.find(header) == std::string::npos, header << " is missing beside the toolkit in " << toolkit);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
