// Communicators of ncclCommInitRank: ranks that may be in different processes of one machine. They exchange files in a
// folder that has the name of the communicator: their parts of collectives, and messages. Every rank holds a lock on a
// file of its own, which the system releases when the process ends, however it ends.
//
// As on a real device, work that waits for a rank that has ended goes on waiting until the communicator is aborted;
// ncclCommGetAsyncError returns an error. A call in which the ranks differ has no effect and is such an error, too.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <catena/ndarray/cuda/api/nccl.h>
#include <catena/tests/support/cuda_device/nccl_call.h>

namespace cuda_device::nccl {

class Rank {
 public:
  struct State;

  // Takes part as `rank` of `size`. `status` becomes ncclSuccess, ncclInvalidUsage if another rank has this number, or
  // ncclSystemError if its file cannot be made.
  Rank(const std::string& id, int size, int rank, nd::cuda::api::nccl_result& status);

  // ncclInProgress until all ranks have come; then the first failure of the communicator, or ncclSuccess.
  nd::cuda::api::nccl_result status() const;
  // Submits the calls of a group, all of this rank, to their streams. Messages of one stream are under way together.
  nd::cuda::api::nccl_result submit(const std::vector<Request>& calls) const;
  // Ends the work of the communicator, which has no effect any more, and leaves it.
  void abort() const;

 private:
  // Shared with work on streams and in graphs. The rank leaves the communicator when nothing refers to the state.
  std::shared_ptr<State> state_;
};

// Removes the files of communicators all of whose ranks have ended without leaving them.
void remove_ended();

}  // namespace cuda_device::nccl
