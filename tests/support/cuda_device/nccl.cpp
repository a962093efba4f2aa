// NCCL of the software device: its entry points. Communicators are those of nccl_clique.h and nccl_ranks.h.
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include <catena/kernels/base/export.h>
#include <catena/ndarray/cuda/api/nccl.h>
#include <catena/tests/support/cuda_device/exports.h>
#include <catena/tests/support/cuda_device/library_work.h>
#include <catena/tests/support/cuda_device/nccl_call.h>
#include <catena/tests/support/cuda_device/nccl_clique.h>
#include <catena/tests/support/cuda_device/nccl_ranks.h>
#include <catena/tests/support/cuda_device/record.h>

using namespace nd::cuda::api;
using namespace cuda_device::nccl;

struct ncclComm {
  std::shared_ptr<Clique> clique;  // of ncclCommInitAll; else null
  std::unique_ptr<Rank> process;   // of the other communicators
  int rank = 0, size = 0;
};

namespace cuda_device::exports {
#define CATENA_TYPE(symbol, field, ...) using symbol##_type = __VA_ARGS__;
CATENA_NCCL_FUNCTIONS(CATENA_TYPE)
CATENA_NCCL_LATER_FUNCTIONS(CATENA_TYPE)
#undef CATENA_TYPE
}  // namespace cuda_device::exports
extern "C" {
#define CATENA_DECLARE(symbol, field, ...) CATENA_EXPORT cuda_device::exports::symbol##_type symbol;
CATENA_NCCL_FUNCTIONS(CATENA_DECLARE)
CATENA_NCCL_LATER_FUNCTIONS(CATENA_DECLARE)
#undef CATENA_DECLARE
}

namespace {

constexpr int kExecutionFailed = nccl_unhandled_cuda_error;  // for the macro CATENA_LIBRARY_CALL
constexpr std::chrono::seconds kPatience(60);                // of ncclCommInitRank

// The group of this thread.
struct Group {
  int depth = 0;
  std::vector<CliqueCall> calls;
  std::vector<std::pair<Rank*, std::vector<Request>>> of_ranks;  // in the order of their first calls
  std::vector<Rank*> joining;                                    // made in this group
};
thread_local Group group;

nccl_result wait_for_all(const Rank& rank) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    const nccl_result status = rank.status();
    if (status != nccl_in_progress) return status;
    if (std::chrono::steady_clock::now() > end) return nccl_system_error;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

std::vector<Request>& calls_of(Rank* rank) {
  for (auto& [other, calls] : group.of_ranks)
    if (other == rank) return calls;
  return group.of_ranks.emplace_back(rank, std::vector<Request>()).second;
}

nccl_result add(ncclComm* comm, const Request& r, std::size_t read, std::size_t written) {
  if (comm == nullptr) return nccl_invalid_argument;
  if (!cuda_device::context_is_usable()) return nccl_unhandled_cuda_error;
  if (comm->process != nullptr && group.depth == 0 && comm->process->status() == nccl_in_progress)
    return nccl_invalid_argument;
  const std::size_t item = bytes_of(r.type);
  if (read > 0 && !cuda_device::is_device_memory(r.from, read * item)) return nccl_invalid_argument;
  if (written > 0 && !cuda_device::is_device_memory(r.to, written * item)) return nccl_invalid_argument;
  if (r.count == 0) return nccl_success;
  if (comm->process != nullptr) {
    if (group.depth == 0) return comm->process->submit({r});
    calls_of(comm->process.get()).push_back(r);
    return nccl_success;
  }
  CliqueCall call = cuda_device::nccl::add(comm->clique, comm->rank, r);
  if (group.depth == 0) return begin({call});
  group.calls.push_back(std::move(call));
  return nccl_success;
}

// Returns before all ranks have come unless `blocking`.
nccl_result make(nccl_comm* comm, int size, const nccl_unique_id& id, int rank, bool blocking) {
  if (size < 1 || rank < 0 || rank >= size) return nccl_invalid_argument;
  nccl_result status = nccl_success;
  auto made = std::make_unique<ncclComm>();
  made->process = std::make_unique<Rank>(std::string(id.internal), size, rank, status);
  made->rank = rank;
  made->size = size;
  if (status != nccl_success) return status;
  if (!blocking) {
    *comm = made.release();
    return nccl_in_progress;
  }
  if (group.depth > 0) group.joining.push_back(made->process.get());
  else status = wait_for_all(*made->process);
  if (status == nccl_success) *comm = made.release();
  return status;
}

}  // namespace

nccl_result ncclGetVersion(int* version) {
  CATENA_LIBRARY_CALL(ncclGetVersion);
  *version = 22800;
  return nccl_success;
}
// A name that no other process of this machine gives.
nccl_result ncclGetUniqueId(nccl_unique_id* id) {
  CATENA_LIBRARY_CALL(ncclGetUniqueId);
  static std::mutex mutex;
  static std::uint64_t next = 0;
  const std::lock_guard lock(mutex);
  remove_ended();
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const std::string name = std::to_string(::getpid()) + "." + std::to_string(now) + "." + std::to_string(++next);
  *id = {};
  name.copy(id->internal, sizeof id->internal - 1);
  return nccl_success;
}
const char* ncclGetErrorString(nccl_result) {
  cuda_device::count_call(cuda_device::Entry::ncclGetErrorString);
  return "an error of the software NCCL";
}
const char* ncclGetLastError(nccl_comm) {
  cuda_device::count_call(cuda_device::Entry::ncclGetLastError);
  return "";
}

nccl_result ncclCommInitRank(nccl_comm* comm, int size, nccl_unique_id id, int rank) {
  CATENA_LIBRARY_CALL(ncclCommInitRank);
  return make(comm, size, id, rank, true);
}
nccl_result ncclCommInitRankConfig(nccl_comm* comm, int size, nccl_unique_id id, int rank, nccl_config* config) {
  CATENA_LIBRARY_CALL(ncclCommInitRankConfig);
  if (config->magic != nccl_config_magic || config->size != sizeof *config) return nccl_invalid_argument;
  return make(comm, size, id, rank, config->blocking != 0);
}

nccl_result ncclCommInitAll(nccl_comm* comms, int count, const int* devices) {
  CATENA_LIBRARY_CALL(ncclCommInitAll);
  std::vector<cu_context> contexts(static_cast<std::size_t>(count));
  for (int rank = 0; rank < count; ++rank)
    if (cuDevicePrimaryCtxRetain(&contexts[static_cast<std::size_t>(rank)], devices[rank]) != cu_success)
      return nccl_unhandled_cuda_error;
  const auto clique = std::make_shared<Clique>(std::move(contexts));
  for (int rank = 0; rank < count; ++rank) comms[rank] = new ncclComm{clique, nullptr, rank, count};
  return nccl_success;
}

nccl_result ncclCommDestroy(nccl_comm comm) {
  CATENA_LIBRARY_CALL(ncclCommDestroy);
  delete comm;
  return nccl_success;
}
nccl_result ncclCommAbort(nccl_comm comm) {
  CATENA_LIBRARY_CALL(ncclCommAbort);
  if (comm->process != nullptr) comm->process->abort();
  else abort(*comm->clique);
  delete comm;
  return nccl_success;
}
nccl_result ncclCommGetAsyncError(nccl_comm comm, nccl_result* error) {
  CATENA_LIBRARY_CALL(ncclCommGetAsyncError);
  if (!cuda_device::context_is_usable()) *error = nccl_unhandled_cuda_error;
  else *error = comm->process != nullptr ? comm->process->status() : nccl_success;
  return nccl_success;
}

nccl_result ncclAllReduce(const void* send, void* receive, std::size_t count, int type, int op, nccl_comm comm,
                          CUstream_st* stream) {
  CATENA_LIBRARY_CALL(ncclAllReduce);
  return add(comm, {Kind::all_reduce, send, receive, count, type, op, -1, stream}, count, count);
}
nccl_result ncclReduce(const void* send, void* receive, std::size_t count, int type, int op, int root, nccl_comm comm,
                       CUstream_st* stream) {
  CATENA_LIBRARY_CALL(ncclReduce);
  return add(comm, {Kind::reduce, send, receive, count, type, op, root, stream}, count, comm->rank == root ? count : 0);
}
nccl_result ncclBroadcast(const void* send, void* receive, std::size_t count, int type, int root, nccl_comm comm,
                          CUstream_st* stream) {
  CATENA_LIBRARY_CALL(ncclBroadcast);
  return add(comm, {Kind::broadcast, send, receive, count, type, 0, root, stream}, comm->rank == root ? count : 0,
             count);
}
nccl_result ncclAllGather(const void* send, void* receive, std::size_t count, int type, nccl_comm comm,
                          CUstream_st* stream) {
  CATENA_LIBRARY_CALL(ncclAllGather);
  return add(comm, {Kind::all_gather, send, receive, count, type, 0, -1, stream}, count,
             count * static_cast<std::size_t>(comm->size));
}
nccl_result ncclReduceScatter(const void* send, void* receive, std::size_t count, int type, int op, nccl_comm comm,
                              CUstream_st* stream) {
  CATENA_LIBRARY_CALL(ncclReduceScatter);
  return add(comm, {Kind::reduce_scatter, send, receive, count, type, op, -1, stream},
             count * static_cast<std::size_t>(comm->size), count);
}
nccl_result ncclSend(const void* data, std::size_t count, int type, int peer, nccl_comm comm, CUstream_st* stream) {
  CATENA_LIBRARY_CALL(ncclSend);
  return add(comm, {Kind::send, data, nullptr, count, type, 0, peer, stream}, count, 0);
}
nccl_result ncclRecv(void* data, std::size_t count, int type, int peer, nccl_comm comm, CUstream_st* stream) {
  CATENA_LIBRARY_CALL(ncclRecv);
  return add(comm, {Kind::receive, nullptr, data, count, type, 0, peer, stream}, 0, count);
}

nccl_result ncclGroupStart() {
  CATENA_LIBRARY_CALL(ncclGroupStart);
  ++group.depth;
  return nccl_success;
}
nccl_result ncclGroupEnd() {
  if (const int planned = cuda_device::begin_library_call(cuda_device::Entry::ncclGroupEnd, kExecutionFailed)) {
    group = {};  // releases the calls of the group
    return planned;
  }
  if (group.depth == 0) return nccl_invalid_usage;
  if (--group.depth > 0) return nccl_success;
  const Group ended = std::exchange(group, {});
  for (const Rank* rank : ended.joining)
    if (const nccl_result status = wait_for_all(*rank); status != nccl_success) return status;
  for (const auto& [rank, calls] : ended.of_ranks)
    if (const nccl_result status = rank->submit(calls); status != nccl_success) return status;
  return begin(ended.calls);
}
