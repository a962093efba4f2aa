// The interface of the module that is linked to MPI (kernels/base/module.h). Internal to this folder.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <catena/kernels/base/export.h>

namespace training::communicators::internal {

// The calls of MPI that transports need. Failures are RuntimeErrors with MPI's text. Thread safety: any thread; one
// call is made at a time.
class MpiModule {
 public:
  struct Comm;     // a communicator of MPI; null: none
  struct Message;  // one that is under way

  // Starts MPI, which ends with the process.
  virtual Comm* world() const = 0;
  virtual Comm* split(Comm* comm, int color, int key) const = 0;  // a negative color gives null
  // Deletes the object. MPI keeps the communicator, because MPI_Comm_free waits for ranks that may have failed.
  virtual void release(Comm* comm) const noexcept = 0;
  virtual int rank(Comm* comm) const = 0;
  virtual int size(Comm* comm) const = 0;
  virtual std::vector<std::string> hosts(Comm* comm) const = 0;  // by rank
  virtual std::vector<int> members(Comm* comm) const = 0;        // the ranks in the world, by rank
  virtual Message* start_send(Comm* comm, int to, std::span<const std::byte> bytes) const = 0;
  virtual Message* start_receive(Comm* comm, int from, std::span<std::byte> bytes) const = 0;
  // Returns true when the message has arrived, with its length; makes progress.
  virtual bool test(Message* message, std::size_t& length) const = 0;
  virtual void release(Message* message) const noexcept = 0;  // gives it up if it is under way
  virtual void abort() const noexcept = 0;                    // ends all ranks

 protected:
  ~MpiModule() = default;
};

}  // namespace training::communicators::internal

extern "C" CATENA_EXPORT const training::communicators::internal::MpiModule* catena_training_mpi();
