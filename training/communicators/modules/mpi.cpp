// The module that is linked to MPI.
#include <catena/training/communicators/mpi_module.h>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <mutex>

#include <catena/kernels/base/error.h>

namespace training::communicators::internal {

struct MpiModule::Comm {
  MPI_Comm comm;
};
struct MpiModule::Message {
  MPI_Request request = MPI_REQUEST_NULL;
  bool is_receive = false;
  std::size_t expected = 0;
};

namespace {

using catena::RuntimeError;
using Comm = MpiModule::Comm;
using Message = MpiModule::Message;

constexpr int kTag = 1;

// One call of MPI at a time (MPI_THREAD_SERIALIZED). No exception is thrown with the lock: a program without a handler
// is terminated where it is thrown, and MPI is called then.
template <class Call> int locked(Call&& call) {
  static auto& mutex = *new std::mutex;  // threads may use it until the process has ended
  const std::lock_guard lock(mutex);
  return call();
}

void check(int result, const char* function) {
  if (result == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  locked([&] { return MPI_Error_string(result, text.data(), &length); });
  catena::fail<RuntimeError>(function, text.data());
}
#define CATENA_MPI(function, ...) check(locked([&] { return function(__VA_ARGS__); }), #function)

// MPI_Finalize waits for all ranks; after an error some of them will not come.
void at_exit(int status, void*) {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (is_finalized != 0) return;
  if (status == 0) MPI_Finalize();
  else MPI_Abort(MPI_COMM_WORLD, status);
}

Comm* owned(MPI_Comm comm) {
  CATENA_MPI(MPI_Comm_set_errhandler, comm, MPI_ERRORS_RETURN);
  return new Comm{comm};
}

int length_of(std::size_t bytes) {
  catena::check<catena::ValueError>(bytes <= INT_MAX, "MPI", bytes, " bytes are more than a message takes, ", INT_MAX);
  return static_cast<int>(bytes);
}

class Module final : public MpiModule {
 public:
  Comm* world() const override {
    int is_initialized = 0, provided = MPI_THREAD_SINGLE;
    CATENA_MPI(MPI_Initialized, &is_initialized);
    if (is_initialized == 0) {
      CATENA_MPI(MPI_Init_thread, nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
      ::on_exit(at_exit, nullptr);
    } else {
      CATENA_MPI(MPI_Query_thread, &provided);
    }
    catena::check<RuntimeError>(provided >= MPI_THREAD_SERIALIZED, "MPI_Init_thread",
                                "this MPI may be called by one thread only; MPI_THREAD_SERIALIZED is needed");
    return owned(MPI_COMM_WORLD);
  }
  Comm* split(Comm* comm, int color, int key) const override {
    MPI_Comm part = MPI_COMM_NULL;
    CATENA_MPI(MPI_Comm_split, comm->comm, color < 0 ? MPI_UNDEFINED : color, key, &part);
    return part == MPI_COMM_NULL ? nullptr : owned(part);
  }
  void release(Comm* comm) const noexcept override { delete comm; }
  int rank(Comm* comm) const override {
    int rank = 0;
    CATENA_MPI(MPI_Comm_rank, comm->comm, &rank);
    return rank;
  }
  int size(Comm* comm) const override {
    int size = 0;
    CATENA_MPI(MPI_Comm_size, comm->comm, &size);
    return size;
  }
  std::vector<std::string> hosts(Comm* comm) const override {
    constexpr int kWidth = MPI_MAX_PROCESSOR_NAME;
    std::array<char, kWidth> name{};
    int length = 0;
    CATENA_MPI(MPI_Get_processor_name, name.data(), &length);
    std::vector<char> all(name.size() * static_cast<std::size_t>(size(comm)));
    CATENA_MPI(MPI_Allgather, name.data(), kWidth, MPI_CHAR, all.data(), kWidth, MPI_CHAR, comm->comm);
    std::vector<std::string> hosts;
    for (std::size_t at = 0; at < all.size(); at += name.size()) hosts.emplace_back(&all[at]);
    return hosts;
  }
  std::vector<int> members(Comm* comm) const override {
    int own = 0;
    CATENA_MPI(MPI_Comm_rank, MPI_COMM_WORLD, &own);
    std::vector<int> members(static_cast<std::size_t>(size(comm)));
    CATENA_MPI(MPI_Allgather, &own, 1, MPI_INT, members.data(), 1, MPI_INT, comm->comm);
    return members;
  }

  Message* start_send(Comm* comm, int to, std::span<const std::byte> bytes) const override {
    const int length = length_of(bytes.size());
    auto* const message = new Message;
    const int result =
        locked([&] { return MPI_Isend(bytes.data(), length, MPI_BYTE, to, kTag, comm->comm, &message->request); });
    return started(message, result, "MPI_Isend");
  }
  Message* start_receive(Comm* comm, int from, std::span<std::byte> bytes) const override {
    const int length = length_of(bytes.size());
    auto* const message = new Message{MPI_REQUEST_NULL, true, bytes.size()};
    const int result =
        locked([&] { return MPI_Irecv(bytes.data(), length, MPI_BYTE, from, kTag, comm->comm, &message->request); });
    return started(message, result, "MPI_Irecv");
  }
  bool test(Message* message, std::size_t& length) const override {
    int done = 0, count = 0;
    MPI_Status status{};
    int result = MPI_SUCCESS;
    locked([&] {
      result = MPI_Test(&message->request, &done, &status);
      return result == MPI_SUCCESS && done != 0 && message->is_receive ? MPI_Get_count(&status, MPI_BYTE, &count)
                                                                       : MPI_SUCCESS;
    });
    if (result != MPI_SUCCESS) {
      int kind = MPI_SUCCESS;
      CATENA_MPI(MPI_Error_class, result, &kind);
      // The first part of a longer message has arrived: there is one more byte at least.
      if (kind != MPI_ERR_TRUNCATE) check(result, "MPI_Test");
      length = message->expected + 1;
      return true;
    }
    length = message->is_receive ? static_cast<std::size_t>(count) : 0;
    return done != 0;
  }
  void release(Message* message) const noexcept override {
    locked([&] {
      if (message->request != MPI_REQUEST_NULL) {
        if (message->is_receive) MPI_Cancel(&message->request);
        MPI_Request_free(&message->request);
      }
      return MPI_SUCCESS;
    });
    delete message;
  }
  void abort() const noexcept override { MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE); }

 private:
  static Message* started(Message* message, int result, const char* function) {
    if (result == MPI_SUCCESS) return message;
    delete message;
    check(result, function);
    return nullptr;
  }
};

}  // namespace
}  // namespace training::communicators::internal

extern "C" const training::communicators::internal::MpiModule* catena_training_mpi() {
  static const training::communicators::internal::Module module;
  return &module;
}
