// How ranks that are processes come together. Internal to this folder.
#pragma once

#include <string>
#include <vector>

#include <catena/training/communicators/socket_transport.h>
#include <catena/training/communicators/sockets.h>

namespace training::communicators::internal {

struct Mesh {
  std::vector<Socket> sockets;     // by rank; none for this rank
  std::vector<std::string> hosts;  // by rank
};

// Every rank connects to rank 0 and sends the address where it listens itself. When all have come, rank 0 sends all
// addresses to each one, and they connect to each other, the higher rank to the lower.
Mesh join_mesh(const SocketTransportOptions& options);

}  // namespace training::communicators::internal
