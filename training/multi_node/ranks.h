// Common to the functions of this folder: their argument for a communicator, and errors that all ranks see, which are
// internal to this folder and its tests.
#pragma once

#include <string_view>

#include <catena/kernels/base/function.h>
#include <catena/training/communicators/communicator.h>
#include <catena/training/held.h>

namespace training {

// A communicator argument: what create_communicator() returns is shared; *comm is borrowed, and must outlive its users.
using AnyCommunicator = Held<const Communicator>;

namespace internal {

// Collective. Calls f on every rank. If it throws on one, every rank throws: a rank on which it has thrown that
// exception, the others a RuntimeError with the first such rank and its message. Thus no rank waits for one that has
// failed.
CATENA_EXPORT void on_all_ranks(const Communicator& comm, std::string_view op, const catena::Function<void()>& f);

// TypeError, which begins with `op`, for a null communicator.
const AnyCommunicator& checked(std::string_view op, const AnyCommunicator& comm);
// ValueError unless there is such a rank.
void check_rank(std::string_view op, const Communicator& comm, int rank, std::string_view what);

}  // namespace internal
}  // namespace training
