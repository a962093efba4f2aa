// Ranks that are threads of one process, which exchange messages in memory: for tests, and to try out a distributed
// program without starting several processes.
//
//   training::communicators::run_thread_ranks(4, [](catena::Shared<communicators::Transport> transport) {
//     training::Communicator comm("naive", std::move(transport));
//     ...
//   });
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <catena/kernels/base/export.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/training/communicators/transport.h>

namespace training::communicators {

struct ThreadTransportOptions {
  // The host of each rank, by rank; by default all ranks have one host.
  std::vector<std::string> hosts = {};
  std::optional<double> timeout = 600;  // seconds; see Transport::set_timeout
};

// Returns the transport of each rank, by rank. A send is done at once, because the message is copied. A rank ends when
// its transport and those split from it are destroyed: ranks that wait for it then get a RuntimeError. ValueError for
// fewer than one rank, and for another number of hosts than ranks.
CATENA_EXPORT std::vector<catena::Shared<Transport>> thread_transports(int n, ThreadTransportOptions options = {});

// Runs `program` in n threads, each with the transport of its rank, until all have ended. Rethrows the exception of the
// rank that failed first; it also ends the ranks that wait for this one.
CATENA_EXPORT void run_thread_ranks(int n, const catena::Function<void(catena::Shared<Transport>)>& program,
                                    ThreadTransportOptions options = {});

}  // namespace training::communicators
