// Messages between the processes of a run: the interface on which communicators are built.
//
// An implementation moves bytes from one rank to another; everything else (arrays, objects, collectives, models) is
// written once, over this interface, in communicator.h.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/export.h>
#include <catena/kernels/base/pointers.h>

namespace training::communicators {

// A rank has waited for another one longer than the time limit allows; the message names both. Other failures of
// communication are RuntimeErrors.
CATENA_DEFINE_ERROR(TimeoutError, catena::RuntimeError);

// Thread safety: a transport may be used by one thread at a time; a thread that communicates in the background uses a
// transport of its own (Communicator::split).
class CATENA_EXPORT Transport {
 public:
  virtual ~Transport();
  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  // The name of each rank's host, by rank: ranks of equal names share a machine.
  virtual const std::vector<std::string>& hosts() const noexcept = 0;
  // The seconds that a request waits for another rank; empty: without limit. A transport of split() begins with the
  // limit of this one.
  virtual void set_timeout(std::optional<double> seconds) = 0;

  // A message that is being sent or received. The bytes must live and stay unchanged until wait() has returned or
  // thrown, or is_done() has returned true.
  class CATENA_EXPORT Request {
   public:
    virtual ~Request();
    virtual bool is_done() = 0;  // also makes progress
    // RuntimeError, with the ranks in the whole run, if the other one has ended or its message has another length;
    // TimeoutError, with the rank that is waited for, after the time limit of the transport.
    virtual void wait() = 0;
  };
  // Messages between two ranks arrive in the order in which they were sent. Message lengths must agree.
  virtual catena::Owned<Request> start_send(int to, std::span<const std::byte> bytes) = 0;
  virtual catena::Owned<Request> start_receive(int from, std::span<std::byte> bytes) = 0;

  // A transport among the ranks that give the same color, ordered by (key, rank); ranks with a negative color get none.
  // Called by all ranks.
  virtual catena::Shared<Transport> split(int color, int key) = 0;
  // Ends what all other ranks of the run wait for, with the message and this rank's number: a RuntimeError there. Of
  // MPI: ends all ranks. To be called by a rank that is about to end.
  virtual void announce_abort(const std::string& message) noexcept = 0;
  // Ends all ranks of the run, with the message and this rank's number; does not return. (Ranks that are threads get a
  // RuntimeError with this text from what they wait for, and so does the caller.)
  [[noreturn]] virtual void abort(const std::string& message) = 0;
};

}  // namespace training::communicators
