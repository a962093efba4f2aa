// Communicators: the ranks of a distributed run, and what they exchange (ChainerMN's interface).
//
//   auto comm = training::create_communicator("naive");
//   auto mean = comm->allreduce(x) / comm->size();
//
// Every function without a destination or source is collective: all ranks call it, in the same order and with the same
// root. Arguments that do not fit those of the other ranks are a ValueError with the same text on every rank, and so
// are ranks that call different functions; nothing has changed then. A rank that has ended is a RuntimeError with its
// number, one that does not come a TimeoutError (transport.h).
//
// Arrays may be on any device, and keep dtype and shape. Those from other ranks are on the device of the argument,
// or on the current device where there is none; a rank's own arrays are returned as they are, not copied.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/link.h>
#include <catena/training/communicators/transport.h>

namespace training {

namespace internal {
struct CommunicatorAccess;
}

using autograd::Array;

struct CommunicatorOptions {
  // The dtype in which gradients travel: float16, bfloat16 or float32; by default that of the parameters.
  std::optional<autograd::Dtype> allreduce_grad_dtype = {};
  // Seconds that a call waits for another rank before it is a TimeoutError with the missing rank; empty: forever. The
  // variable CATENA_COMM_TIMEOUT, which `catena-run --timeout` sets, takes precedence in create_communicator().
  std::optional<double> timeout = 600;
};

// Thread safety: belongs to one thread at a time; see split().
class CATENA_EXPORT Communicator {
 public:
  // create_communicator() is the usual way. `name` is one of its names. All ranks of the transport make one; errors as
  // there.
  Communicator(std::string_view name, catena::Shared<communicators::Transport> transport,
               CommunicatorOptions options = {});
  virtual ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  std::string_view name() const noexcept;
  int rank() const noexcept;
  int size() const noexcept;
  int intra_rank() const noexcept;  // among the ranks of this host
  int intra_size() const noexcept;
  int inter_rank() const noexcept;  // of this host among the hosts
  int inter_size() const noexcept;
  const CommunicatorOptions& options() const noexcept;
  communicators::Transport& transport() const noexcept;
  // A communicator of the ranks that give the same color, ordered by (key, rank); null for a negative color. With one
  // color for all ranks it is a second communicator, for another thread. Collective.
  catena::Shared<Communicator> split(int color, int key) const;

  // ---- arrays ----
  void send(const Array& a, int dest) const;
  Array recv(int source) const;
  Array bcast(const Array& a, int root = 0) const;                 // the array of the root; others may give none
  std::vector<Array> gather(const Array& a, int root = 0) const;   // by rank, on the root; empty on others
  std::vector<Array> allgather(const Array& a) const;              // by rank
  Array scatter(const std::vector<Array>& a, int root = 0) const;  // the root's entry for this rank
  std::vector<Array> alltoall(const std::vector<Array>& a) const;  // entry r comes from rank r
  Array allreduce(const Array& a) const;                           // the sum over all ranks
  // As allreduce, in place. The same bits on every rank; "naive" adds in the order of the ranks.
  void allreduce_into(const Array& a) const;

  // ---- objects: text, which may have any bytes ----
  void send_obj(std::string_view object, int dest) const;
  std::string recv_obj(int source) const;
  std::string bcast_obj(std::string_view object, int root = 0) const;
  std::vector<std::string> gather_obj(std::string_view object, int root = 0) const;
  std::vector<std::string> allgather_obj(std::string_view object) const;
  std::string scatter_obj(const std::vector<std::string>& objects, int root = 0) const;
  // The sum of each named number over the ranks; ranks may have different names.
  std::map<std::string, double> allreduce_obj(const std::map<std::string, double>& numbers) const;
  void barrier() const;

  // ---- models ----
  // Gives all ranks the parameters and persistents of rank 0, in sorted order of their paths; creates parameters that
  // are pending on this rank only. ValueError, on all ranks, naming the first difference, if the models differ in
  // paths, shapes or dtypes. Parameters that are pending on rank 0 are left alone.
  void bcast_data(nn::Link& model) const;
  // Replaces all gradients by their mean over the ranks, each rank with the same weight. A gradient that only some
  // ranks have is a ValueError with the path; with zero_fill it counts as zero on the others, and all get the mean. A
  // parameter that has none on any rank, is frozen or is pending stays as it is. The models are compared as by
  // bcast_data; their parameters may be on different devices. A gradient of another dtype, shape or device than its
  // parameter (after set_data) is a ValueError on all ranks.
  void multi_node_mean_grad(nn::Link& model, bool zero_fill = false) const;

 private:
  friend struct internal::CommunicatorAccess;
  struct Impl;
  catena::Owned<Impl> impl_;
};

// A shared communicator that has the members of the communicator as well: comm.rank() is comm->rank().
class CommunicatorPtr : public catena::Shared<Communicator> {
 public:
  using Shared::Shared;
  CommunicatorPtr() noexcept = default;
  CommunicatorPtr(catena::Shared<Communicator> p) noexcept : Shared(std::move(p)) {}
  int rank() const noexcept { return (*this)->rank(); }
  int size() const noexcept { return (*this)->size(); }
  int intra_rank() const noexcept { return (*this)->intra_rank(); }
  int intra_size() const noexcept { return (*this)->intra_size(); }
  int inter_rank() const noexcept { return (*this)->inter_rank(); }
  int inter_size() const noexcept { return (*this)->inter_size(); }
  CommunicatorPtr split(int color, int key) const { return (*this)->split(color, key); }
  void send(const Array& a, int dest) const { (*this)->send(a, dest); }
  Array recv(int source) const { return (*this)->recv(source); }
  Array bcast(const Array& a, int root = 0) const { return (*this)->bcast(a, root); }
  std::vector<Array> gather(const Array& a, int root = 0) const { return (*this)->gather(a, root); }
  std::vector<Array> allgather(const Array& a) const { return (*this)->allgather(a); }
  Array allreduce(const Array& a) const { return (*this)->allreduce(a); }
  std::string bcast_obj(std::string_view object, int root = 0) const { return (*this)->bcast_obj(object, root); }
  std::map<std::string, double> allreduce_obj(const std::map<std::string, double>& numbers) const {
    return (*this)->allreduce_obj(numbers);
  }
  void barrier() const { (*this)->barrier(); }
  void bcast_data(nn::Link& model) const { (*this)->bcast_data(model); }
  void multi_node_mean_grad(nn::Link& model, bool zero_fill = false) const {
    (*this)->multi_node_mean_grad(model, zero_fill);
  }
};

// The communicator of this process's run. Names:
//   "naive"      CPU or GPU, through the host; sums in the order of the ranks, the same for every number of hosts
//   "flat"       CPU or GPU, through the host; sums around a ring
//   "pure_nccl"  sums and means by NCCL, on the device that is current now, a GPU of its own for each rank; a call
//                returns when its sum is computed; an array on another device is a ValueError on all ranks. The other
//                functions, and dtypes that NCCL lacks, through the host
//   "dummy"      as "naive", but sums and means are this rank's own values: to measure what communication costs
// The run is that of mpirun (MPI is loaded at run time), or of catena-run; a process that was started by neither is the
// only rank. Collective. ValueError for another name or dtype, RuntimeError if MPI or NCCL is needed and missing.
//
// From the first call on, an exception that nothing catches prints its message with the rank before it ends the
// process, and the other ranks get it in what they wait for.
CATENA_EXPORT CommunicatorPtr create_communicator(std::string_view name = "naive", CommunicatorOptions options = {});

}  // namespace training
