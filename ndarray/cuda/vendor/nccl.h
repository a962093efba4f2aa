// Communication between GPUs by NCCL, opened at first use: the ground under updaters and communicators of several
// devices.
//
//   auto all = nd::cuda::NcclCommunicator::all({0, 1});             // one process, one communicator for each device
//   {
//     nd::cuda::NcclGroup group;                                    // what one thread asks of several of them belongs
//     together for (int i = 0; i < 2; ++i) all[i].all_reduce(g[i], g[i]); group.end();
//   }
// Across processes: one makes nccl_unique_id() and tells the others, and each makes NcclCommunicator(size, id, rank).
//
// Arrays are C-contiguous, on the communicator's device (ValueError), of a floating dtype or integers of 8, 32 or 64
// bits (TypeError). Work is enqueued on the current stream of that device; in and out may be one array where their
// shapes agree. RuntimeError when NCCL is not there.
//
// Thread safety: one communicator must not be used by two threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/cuda/api/nccl.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/ndarray/device/device.h>

namespace nd::cuda {

namespace api {
struct NcclFunctions {
  CATENA_NCCL_FUNCTIONS(CATENA_FIELD)
};
struct NcclNames {
#define CATENA_NAME(symbol, field, ...) static constexpr const char* field = #symbol;
  CATENA_NCCL_FUNCTIONS(CATENA_NAME)
#undef CATENA_NAME
};
}  // namespace api

struct Nccl : api::NcclFunctions {
  std::string path;
  int version = 0;  // 22809
};
// RuntimeError "NCCL is unavailable: libnccl.so.2 not found (tried: ...)", always with the same text.
CATENA_EXPORT const Nccl& nccl();

// What the processes of a communicator must agree on.
using NcclUniqueId = api::nccl_unique_id;
CATENA_EXPORT NcclUniqueId nccl_unique_id();

enum class NcclOp : int {
  sum = api::nccl_sum,
  prod = api::nccl_prod,
  max = api::nccl_max,
  min = api::nccl_min,
  avg = api::nccl_avg
};

class CATENA_EXPORT NcclCommunicator {
 public:
  // Rank `rank` of `size`, on the current device; returns when all of them are there. ValueError for a rank that is
  // none and for a current device that is the CPU.
  NcclCommunicator(int size, const NcclUniqueId& id, int rank);
  // One for each of the devices, in their order, all of this process. ValueError for none, for a number that no device
  // has and for one that is given twice.
  static std::vector<NcclCommunicator> all(std::span<const int> devices);
  static std::vector<NcclCommunicator> all(std::initializer_list<int> devices) {
    return all(std::span<const int>(devices));
  }

  int size() const noexcept { return size_; }
  int rank_id() const noexcept { return rank_; }
  int device_id() const noexcept { return device_; }

  // out = the combination of all ranks' `in`.
  void all_reduce(const Array& in, const Array& out, NcclOp op = NcclOp::sum) const;
  // The same on rank `root` alone; elsewhere `out` is not written and may be null.
  void reduce(const Array& in, const Array& out, int root, NcclOp op = NcclOp::sum) const;
  // The elements of rank `root`, everywhere.
  void broadcast(const Array& a, int root) const;
  // out (size, in.size() elements): the ranks' `in` one after the other.
  void all_gather(const Array& in, const Array& out) const;
  // in (size, out.size() elements): its combination, of which rank r gets part r.
  void reduce_scatter(const Array& in, const Array& out, NcclOp op = NcclOp::sum) const;
  void send(const Array& a, int peer) const;
  void receive(const Array& a, int peer) const;

  // Throws what went wrong in work that was enqueued before, on this rank or another.
  void check_async_error() const;
  // Ends all work of the communicator, also that which waits for other ranks. It can only be destroyed afterwards.
  void abort();

 private:
  struct Destroy {
    int device;
    void operator()(api::nccl_comm comm) const noexcept;
  };
  NcclCommunicator(api::nccl_comm comm, int size, int rank, int device);
  void check_peer(const char* op, int peer) const;
  StreamRef prepare(const char* op, std::initializer_list<Array> arrays) const;

  std::unique_ptr<ncclComm, Destroy> comm_;
  int size_, rank_, device_;
};

// Calls between its making and end() are one: needed where a thread speaks for several ranks, or sends and receives at
// once.
class CATENA_EXPORT NcclGroup {
 public:
  NcclGroup();
  ~NcclGroup();  // end(), where that was not called: after an exception
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  void end();

 private:
  bool open_ = true;
};

}  // namespace nd::cuda
