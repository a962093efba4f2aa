#include <catena/training/communicators/socket_transport.h>

#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/training/communicators/endpoint.h>
#include <catena/training/communicators/rendezvous.h>
#include <catena/training/communicators/socket_endpoint.h>

namespace training::communicators {

catena::Shared<Transport> socket_transport(const SocketTransportOptions& options) {
  constexpr const char* op = "socket_transport";
  catena::check<catena::ValueError>(options.size >= 1 && options.rank >= 0 && options.rank < options.size, op, "rank ",
                                    options.rank, " is none of ", options.size);
  internal::check_timeout(op, options.timeout);
  internal::Mesh mesh = internal::join_mesh(options);
  return internal::world_transport(
      catena::Shared<internal::SocketEndpoint>::make(options.rank, std::move(mesh.sockets)), std::move(mesh.hosts),
      options.timeout);
}

}  // namespace training::communicators
