// Communication between GPUs by NCCL, opened at first use; the basis of updaters and communicators for several devices.
//
//   auto all = nd::cuda::NcclCommunicator::all({0, 1});   // one process, one communicator for each device
//   {
//     nd::cuda::NcclGroup group;                          // joins the calls of one thread for several communicators
//     for (int i = 0; i < 2; ++i) all[i].all_reduce(g[i], g[i]);
//     group.end();
//   }
// Across processes: one process creates an id with nccl_unique_id() and sends it to the others, and each constructs
// NcclCommunicator(size, id, rank). Work that waits for a rank whose process has ended never ends
// by itself; wait() ends it.
//
// Arrays are C-contiguous, on the communicator's device (ValueError), of a floating dtype or an integer dtype of 8, 32
// or 64 bits (TypeError). Work is enqueued on the current stream of that device; in and out may be the same array if
// their shapes are equal. The work of a group is enqueued when the outermost group ends, and the arrays live until
// then. RuntimeError if NCCL is not available.
//
// Thread safety: one communicator must not be used by two threads at once.
#pragma once

#include <cstdint>
#include <functional>
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
  CATENA_NCCL_LATER_FUNCTIONS(CATENA_FIELD)
};
struct NcclNames {
#define CATENA_NAME(symbol, field, ...) static constexpr const char* field = #symbol;
  CATENA_NCCL_FUNCTIONS(CATENA_NAME)
  CATENA_NCCL_LATER_FUNCTIONS(CATENA_NAME)
#undef CATENA_NAME
};
}  // namespace api

struct Nccl : api::NcclFunctions {
  std::string path;
  int version = 0;  // 22809
};
// RuntimeError "NCCL is unavailable: libnccl.so.2 not found (tried: ...)", with the same text at every call.
CATENA_EXPORT const Nccl& nccl();

// Identifies a communicator; all its processes must use the same one.
using NcclUniqueId = api::nccl_unique_id;
CATENA_EXPORT NcclUniqueId nccl_unique_id();

enum class NcclOp : int {
  sum = api::nccl_sum,
  prod = api::nccl_prod,
  max = api::nccl_max,
  min = api::nccl_min,
  avg = api::nccl_avg
};

struct NcclOptions {
  // No call of the communicator blocks this thread inside of NCCL (ncclCommInitRankConfig with blocking = 0). An NCCL
  // before 2.17 cannot do that, and blocks.
  bool nonblocking = false;
  // With nonblocking: called again and again while the constructor waits for the other ranks. An exception ends the
  // wait, and is thrown on.
  std::function<void()> while_waiting = {};
};

class CATENA_EXPORT NcclCommunicator {
 public:
  // Creates rank `rank` of `size`, on the current device; returns when all ranks have called it. ValueError for an
  // invalid rank, if the current device is the CPU, and for while_waiting without nonblocking.
  NcclCommunicator(int size, const NcclUniqueId& id, int rank, const NcclOptions& options = {});
  // Returns one communicator per device, in order, all in this process. ValueError for no devices, a device number that
  // does not exist, or a repeated one.
  static std::vector<NcclCommunicator> all(std::span<const int> devices);
  NcclCommunicator(NcclCommunicator&&) noexcept = default;
  NcclCommunicator& operator=(NcclCommunicator&&) noexcept = default;
  static std::vector<NcclCommunicator> all(std::initializer_list<int> devices) {
    return all(std::span<const int>(devices));
  }

  int size() const noexcept { return size_; }
  int rank_id() const noexcept { return rank_; }
  int device_id() const noexcept { return device_; }

  // out = the combination of the `in` of all ranks.
  void all_reduce(const Array& in, const Array& out, NcclOp op = NcclOp::sum) const;
  // As all_reduce, on rank `root` only; on other ranks `out` is not written and may be null.
  void reduce(const Array& in, const Array& out, int root, NcclOp op = NcclOp::sum) const;
  // Copies the elements of rank `root` to all ranks.
  void broadcast(const Array& a, int root) const;
  // out, of shape (size, in.size()): the arrays `in` of all ranks, one after the other.
  void all_gather(const Array& in, const Array& out) const;
  // Combines `in`, of shape (size, out.size()), over all ranks; rank r gets part r.
  void reduce_scatter(const Array& in, const Array& out, NcclOp op = NcclOp::sum) const;
  void send(const Array& a, int peer) const;
  void receive(const Array& a, int peer) const;

  // Throws the error of earlier enqueued work, on this rank or another.
  void check_async_error() const;
  // Waits until the work of the current stream of the device has ended, and calls while_waiting again and again
  // meanwhile. An exception of while_waiting, or an error of the work on this rank or another, aborts the communicator
  // and with it the work, and is thrown on. RuntimeError in captured work, and for a communicator that was aborted.
  void wait(const std::function<void()>& while_waiting = {});
  // Aborts all work of the communicator, including work that waits for other ranks; its results have no meaning.
  // Afterwards the communicator can only be destroyed.
  void abort();

 private:
  struct Handle;
  NcclCommunicator(api::nccl_comm comm, int size, int rank, int device);
  void check_peer(const char* op, int peer) const;
  StreamRef prepare(const char* op, std::initializer_list<Array> arrays) const;
  api::nccl_comm comm() const noexcept;
  void join(const NcclUniqueId& id, const NcclOptions& options);

  std::shared_ptr<Handle> handle_;  // also kept by groups with its work and by graphs in which it was captured
  int size_, rank_, device_;
};

// Joins the calls between its construction and end(). Needed if one thread acts for several ranks, or sends and
// receives at the same time.
class CATENA_EXPORT NcclGroup {
 public:
  NcclGroup();
  ~NcclGroup();  // ends the group if an exception has prevented end()
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  void end();

 private:
  bool open_ = true;
};

}  // namespace nd::cuda
