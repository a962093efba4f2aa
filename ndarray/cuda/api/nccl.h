// The part of NCCL's interface that the CUDA backend calls, declared here so that it compiles without NCCL. A test
// compares these declarations with the library's header if that is installed. Enumerations are passed as int.
#pragma once

#include <cstddef>

struct ncclComm;  // the library's name of the opaque type
struct CUstream_st;

namespace nd::cuda::api {

using nccl_comm = ncclComm*;
struct nccl_unique_id {
  char internal[128];
};

// The beginning of ncclConfig_t that every release since 2.17 reads.
inline constexpr unsigned nccl_config_magic = 0xcafebeef;
inline constexpr int nccl_undefined = -2147483647 - 1;
struct nccl_config {
  std::size_t size = sizeof(nccl_config);
  unsigned magic = nccl_config_magic, version = 21700;
  int blocking = nccl_undefined, cga_cluster_size = nccl_undefined, min_ctas = nccl_undefined,
      max_ctas = nccl_undefined;
  const char* net_name = nullptr;
};

// ncclResult_t
using nccl_result = int;
inline constexpr nccl_result nccl_success = 0, nccl_unhandled_cuda_error = 1, nccl_system_error = 2,
                             nccl_internal_error = 3, nccl_invalid_argument = 4, nccl_invalid_usage = 5,
                             nccl_remote_error = 6, nccl_in_progress = 7;
// ncclRedOp_t
inline constexpr int nccl_sum = 0, nccl_prod = 1, nccl_max = 2, nccl_min = 3, nccl_avg = 4;
// ncclDataType_t
inline constexpr int nccl_int8 = 0, nccl_uint8 = 1, nccl_int32 = 2, nccl_uint32 = 3, nccl_int64 = 4, nccl_uint64 = 5,
                     nccl_float16 = 6, nccl_float32 = 7, nccl_float64 = 8, nccl_bfloat16 = 9;

// Name of the function in the library, its name in the table of entry points, and its type.
#define CATENA_NCCL_FUNCTIONS(X)                                                                                   \
  X(ncclGetVersion, get_version, nccl_result(int* version))                                                        \
  X(ncclGetUniqueId, get_unique_id, nccl_result(nccl_unique_id*))                                                  \
  X(ncclGetErrorString, get_error_string, const char*(nccl_result))                                                \
  X(ncclGetLastError, get_last_error, const char*(nccl_comm))                                                      \
  X(ncclCommInitRank, comm_init_rank, nccl_result(nccl_comm*, int size, nccl_unique_id, int rank))                 \
  X(ncclCommInitAll, comm_init_all, nccl_result(nccl_comm*, int count, const int* devices))                        \
  X(ncclCommDestroy, comm_destroy, nccl_result(nccl_comm))                                                         \
  X(ncclCommAbort, comm_abort, nccl_result(nccl_comm))                                                             \
  X(ncclCommGetAsyncError, comm_get_async_error, nccl_result(nccl_comm, nccl_result* error))                       \
  X(ncclAllReduce, all_reduce,                                                                                     \
    nccl_result(const void* send, void* receive, std::size_t count, int type, int op, nccl_comm, CUstream_st*))    \
  X(ncclReduce, reduce,                                                                                            \
    nccl_result(const void* send, void* receive, std::size_t count, int type, int op, int root, nccl_comm,         \
                CUstream_st*))                                                                                     \
  X(ncclBroadcast, broadcast,                                                                                      \
    nccl_result(const void* send, void* receive, std::size_t count, int type, int root, nccl_comm, CUstream_st*))  \
  X(ncclAllGather, all_gather,                                                                                     \
    nccl_result(const void* send, void* receive, std::size_t send_count, int type, nccl_comm, CUstream_st*))       \
  X(ncclReduceScatter, reduce_scatter,                                                                             \
    nccl_result(const void* send, void* receive, std::size_t receive_count, int type, int op, nccl_comm,           \
                CUstream_st*))                                                                                     \
  X(ncclSend, send, nccl_result(const void* data, std::size_t count, int type, int peer, nccl_comm, CUstream_st*)) \
  X(ncclRecv, receive, nccl_result(void* data, std::size_t count, int type, int peer, nccl_comm, CUstream_st*))    \
  X(ncclGroupStart, group_start, nccl_result())                                                                    \
  X(ncclGroupEnd, group_end, nccl_result())
// Functions of later releases. Without the function, the field is null.
#define CATENA_NCCL_LATER_FUNCTIONS(X)             \
  X(ncclCommInitRankConfig, comm_init_rank_config, \
    nccl_result(nccl_comm*, int size, nccl_unique_id, int rank, nccl_config*))

}  // namespace nd::cuda::api
