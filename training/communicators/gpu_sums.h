// Sums over the ranks that their GPUs make without the host (NCCL). Internal to training.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <catena/autograd/backend/comm_extension.h>
#include <catena/training/communicators/endpoint.h>
#include <catena/training/communicators/transport.h>

namespace training::communicators::internal {

// NCCL does not detect everywhere that another rank has ended, and waits for it without end. A wait of this class has
// the time limit of the communicator, and ends with the transport's error for a rank that has ended.
//
// Thread safety: belongs to one thread at a time.
class CATENA_EXPORT GpuSums {
 public:
  // The part of this rank, on the current device. Collective; ValueError or RuntimeError, on all ranks, if one has no
  // GPU or no NCCL. RuntimeError that names a rank which has ended, TimeoutError after `timeout` seconds.
  GpuSums(Transport& transport, std::optional<double> timeout);

  bool takes(autograd::Dtype dtype) const { return rank_->takes(dtype); }
  autograd::Device device() const noexcept { return device_; }
  // a = the sum over the ranks, in place, on the current stream of device(), where `a` is. All ranks make the same
  // calls in the same order.
  void enqueue(const autograd::Array& a);
  // Waits until the work of the current stream has ended. Throws as the constructor does, and errors of NCCL; after an
  // error, all later calls are RuntimeErrors. Not for captured work.
  void wait();

 private:
  // The state of a wait.
  struct Wait {
    Deadline deadline;
    std::exception_ptr ended = {};  // another rank has ended
    Deadline::Clock::time_point since = {};
  };
  void look(Wait& wait);
  void look_for_ended(Wait& wait);
  [[noreturn]] void fail(std::exception_ptr error);
  void check_works() const;

  std::optional<double> timeout_;
  int self_ = 0;
  autograd::Device device_;
  // A receive from each other rank, for a message that is never sent: it fails when the rank ends.
  catena::Shared<Transport> watched_;
  std::vector<std::byte> nothing_;
  std::vector<catena::Owned<Transport::Request>> never_;
  catena::Owned<autograd::CommExtension::Rank> rank_;
  std::string failure_;
};

}  // namespace training::communicators::internal
