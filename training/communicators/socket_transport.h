// Ranks that are processes, connected by sockets: TCP, or Unix sockets on one machine. Needs no MPI; the program
// catena-run starts the ranks.
#pragma once

#include <optional>
#include <string>

#include <catena/kernels/base/export.h>
#include <catena/kernels/base/pointers.h>
#include <catena/training/communicators/transport.h>

namespace training::communicators {

struct SocketTransportOptions {
  int rank = 0;
  int size = 1;
  // Where rank 0 listens and the others come to: "host:port", or the path of a Unix socket. Beside a path, the other
  // ranks make sockets of their own: "path.1". Every program that reaches these addresses can join, so they belong into
  // a private network or folder.
  std::string rendezvous = {};
  std::optional<double> timeout = 600;  // seconds, for joining, too; see Transport::set_timeout
};

// Returns when all ranks have joined. A thread of its own moves the messages. ValueError for options that make no
// sense; TimeoutError, with the ranks that have not come; RuntimeError if ranks do not agree on the size, or if one
// comes twice.
CATENA_EXPORT catena::Shared<Transport> socket_transport(const SocketTransportOptions& options);

}  // namespace training::communicators
