// Communicators of ncclCommInitAll, whose ranks are in one process. A collective begins when all ranks have called it:
// it waits for the streams of all ranks and is executed on the stream of the first; the other streams wait for it.
//
// A thread that calls for only one rank, outside a group, waits until the other ranks have called, but at most two
// seconds: then the call is a system error.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include <catena/ndarray/cuda/api/driver.h>
#include <catena/ndarray/cuda/api/nccl.h>
#include <catena/tests/support/cuda_device/nccl_call.h>

namespace cuda_device::nccl {

struct Clique {
  explicit Clique(std::vector<nd::cuda::api::cu_context> contexts_)
      : contexts(std::move(contexts_)), requests(contexts.size()) {}
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<nd::cuda::api::cu_context> contexts;  // by rank
  std::vector<std::deque<Request>> requests;        // for each rank, in order
  std::uint64_t tickets = 0;                        // number of tickets handed out
};

// A call of a thread for a rank.
struct CliqueCall {
  std::shared_ptr<Clique> clique;
  int rank;
  std::uint64_t ticket;
};

CliqueCall add(const std::shared_ptr<Clique>& clique, int rank, const Request& request);
// Submits the work that is complete, and waits for the requests of other ranks that these calls need.
nd::cuda::api::nccl_result begin(const std::vector<CliqueCall>& calls);
void abort(Clique& clique);

}  // namespace cuda_device::nccl
