// The transport of the ranks that mpirun has started. Internal to this folder.
#pragma once

#include <catena/kernels/base/pointers.h>
#include <catena/training/communicators/transport.h>

namespace training::communicators::internal {

// All ranks of the run. To be called once. RuntimeError if the build has no MPI, or MPI cannot be started.
catena::Shared<Transport> mpi_transport();

}  // namespace training::communicators::internal
