// The members of Communicator. Internal to training.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include <catena/training/communicators/communicator.h>
#include <catena/training/communicators/gpu_sums.h>

namespace training {

struct Communicator::Impl {
  enum class Kind { naive, flat, pure_nccl, dummy };  // in the order of the names in communicator.cpp

  Kind kind;
  std::string name;
  catena::Shared<communicators::Transport> transport;
  CommunicatorOptions options;
  int intra_rank = 0, intra_size = 0, inter_rank = 0, inter_size = 0;
  catena::Owned<communicators::internal::GpuSums> gpus = {};  // for pure_nccl

  int size() const noexcept { return transport->size(); }
  bool is_rank(int rank) const noexcept { return rank >= 0 && rank < size(); }
  // The problem of the array as a summand; empty: none.
  std::string summand_problem(std::string_view op, const Array& a) const;
  void agree_on_sum(const Array& a) const;  // collective; throws the errors of allreduce(a)
  // The sum over the ranks, divided by `divisor`, on the device of `a`; a new array, or `a` if it may be overwritten.
  // All ranks have agreed on the call.
  Array sum(const Array& a, bool may_overwrite, std::optional<double> divisor = {}) const;
};

namespace internal {
// ValueError for a name or options that no communicator has.
void check_communicator(std::string_view name, const CommunicatorOptions& options);

struct CATENA_EXPORT CommunicatorAccess {
  // The sums of arrays of the dtype by GPUs alone; null if the host takes part in them.
  static communicators::internal::GpuSums* gpu_sums(const Communicator& communicator, autograd::Dtype dtype);
  // A second communicator of all ranks, for agreements and values that travel between the hosts: without NCCL.
  static catena::Shared<Communicator> split_on_hosts(const Communicator& communicator);
  // Runs check(), which throws for arguments that this rank cannot pass on, before a collective call. If it throws, the
  // other ranks, which are in the agreement of that call, get a ValueError with the message and this rank. `is_sum`:
  // the call is a sum, which is not collective with "dummy", so that the other ranks get no error. `op`: the name of
  // the function, for messages of check() that lack it.
  template <class F>
  static void check_arguments(const Communicator& communicator, const F& check, bool is_sum = false,
                              std::string_view op = {}) {
    try {
      check();
    } catch (const std::exception& e) {
      announce(communicator, (op.empty() ? "" : std::string(op) + ": ") + e.what(), is_sum);
      throw;
    }
  }
  // As allreduce(a), divided by `divisor` where there is one. May overwrite `a`.
  static Array consume(const Communicator& comm, const Array& a, std::optional<double> divisor);

 private:
  static void announce(const Communicator& communicator, std::string problem, bool is_sum) noexcept;
};
}  // namespace internal

}  // namespace training
