#include <catena/training/multi_node/ranks.h>

#include <exception>

#include <catena/kernels/base/error.h>

namespace training::internal {

void on_all_ranks(const Communicator& comm, std::string_view op, const catena::Function<void()>& f) {
  std::exception_ptr own;
  std::string message;  // empty: this rank has not failed
  try {
    f();
  } catch (const std::exception& error) {
    own = std::current_exception();
    message = catena::concat("!", error.what());
  } catch (...) {
    own = std::current_exception();
    message = "!an exception of a class that is not derived from std::exception";
  }
  std::vector<std::string> all;
  try {
    all = comm.allgather_obj(message);
  } catch (...) {  // of the two errors the first one is the cause
    if (own) std::rethrow_exception(own);
    throw;
  }
  if (own) std::rethrow_exception(own);
  for (std::size_t r = 0; r < all.size(); ++r)
    catena::check<catena::RuntimeError>(all[r].empty(), op, "rank ", r,
                                        " has failed: ", std::string_view(all[r]).substr(all[r].empty() ? 0 : 1));
}

const AnyCommunicator& checked(std::string_view op, const AnyCommunicator& comm) {
  catena::check<catena::TypeError>(comm.get() != nullptr, op,
                                   "the communicator is null; create_communicator() makes one");
  return comm;
}

void check_rank(std::string_view op, const Communicator& comm, int rank, std::string_view what) {
  catena::check<catena::ValueError>(rank >= 0 && rank < comm.size(), op, what, " is ", rank, ", but there are ",
                                    comm.size(), " ranks");
}

}  // namespace training::internal
