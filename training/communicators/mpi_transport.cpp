#include <catena/training/communicators/mpi_transport.h>

#include <catena/kernels/base/error.h>

#ifdef CATENA_HAS_MPI

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

#include <catena/kernels/base/module.h>
#include <catena/training/communicators/endpoint.h>
#include <catena/training/communicators/mpi_module.h>

namespace training::communicators::internal {
namespace {

using catena::check;
using catena::Owned;
using catena::Shared;
using catena::ValueError;

const MpiModule& mpi() {
  static const auto& module = *CATENA_LOAD_MODULE(catena_training_mpi);
  return module;
}

class MpiRequest final : public Transport::Request {
 public:
  // The ranks in the whole run.
  MpiRequest(MpiModule::Message* message, int from, int to, int other, std::size_t expected,
             std::optional<double> timeout)
      : message_(message), from_(from), to_(to), other_(other), expected_(expected), deadline_(timeout) {}
  ~MpiRequest() override { mpi().release(message_); }

  bool is_done() override {
    if (is_done_) return true;
    std::size_t length = 0;
    is_done_ = mpi().test(message_, length);
    const bool is_receive = other_ == from_;
    if (is_done_ && is_receive) check_length(from_, to_, length, expected_);
    if (!is_done_ && deadline_.has_passed()) fail_late(is_receive ? to_ : from_, other_, deadline_);
    return is_done_;
  }
  // Polls, because MPI has no waiting with a time limit; with pauses, so that another rank may compute on this core.
  void wait() override {
    constexpr int kAtOnce = 200, kYielding = 2000;
    constexpr auto kPause = std::chrono::microseconds(100);
    for (int tries = 0; !is_done(); ++tries) {
      if (tries > kYielding) std::this_thread::sleep_for(kPause);
      else if (tries > kAtOnce) std::this_thread::yield();
    }
  }

 private:
  MpiModule::Message* message_;
  int from_, to_, other_;
  std::size_t expected_;
  Deadline deadline_;
  bool is_done_ = false;
};

struct ReleaseComm {
  void operator()(MpiModule::Comm* comm) const noexcept { mpi().release(comm); }
};

class MpiTransport final : public Transport {
 public:
  MpiTransport(MpiModule::Comm* comm, std::optional<double> timeout)
      : comm_(comm),
        rank_(mpi().rank(comm)),
        size_(mpi().size(comm)),
        hosts_(mpi().hosts(comm)),
        members_(mpi().members(comm)),
        timeout_(timeout) {}

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  const std::vector<std::string>& hosts() const noexcept override { return hosts_; }
  void set_timeout(std::optional<double> seconds) override { timeout_ = seconds; }

  Owned<Request> start_send(int to, std::span<const std::byte> bytes) override {
    check_other("start_send", to);
    MpiModule::Message* const message = mpi().start_send(comm_.get(), to, bytes);
    return Owned<Request>(new MpiRequest(message, member(rank_), member(to), member(to), bytes.size(), timeout_));
  }
  Owned<Request> start_receive(int from, std::span<std::byte> bytes) override {
    check_other("start_receive", from);
    MpiModule::Message* const message = mpi().start_receive(comm_.get(), from, bytes);
    return Owned<Request>(new MpiRequest(message, member(from), member(rank_), member(from), bytes.size(), timeout_));
  }

  Shared<Transport> split(int color, int key) override {
    MpiModule::Comm* const part = mpi().split(comm_.get(), color, key);
    if (part == nullptr) return {};
    return Shared<MpiTransport>::make(part, timeout_);
  }

  void announce_abort(const std::string&) noexcept override { mpi().abort(); }
  void abort(const std::string& message) override {
    std::fflush(nullptr);
    std::fputs(catena::concat("catena: ", aborted_text(member(rank_), message), "\n").c_str(), stderr);
    mpi().abort();
    std::abort();  // not reached
  }

 private:
  int member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }
  void check_other(const char* op, int rank) const {
    check<ValueError>(rank >= 0 && rank < size_, op, "there is no rank ", rank, " among ", size_);
    check<ValueError>(rank != rank_, op, "rank ", rank, " is this rank itself");
  }

  std::unique_ptr<MpiModule::Comm, ReleaseComm> comm_;
  int rank_, size_;
  std::vector<std::string> hosts_;
  std::vector<int> members_;  // the ranks in the whole run
  std::optional<double> timeout_;
};

}  // namespace

Shared<Transport> mpi_transport() { return Shared<MpiTransport>::make(mpi().world(), std::nullopt); }

}  // namespace training::communicators::internal

#else

namespace training::communicators::internal {

catena::Shared<Transport> mpi_transport() {
  catena::fail<catena::RuntimeError>("create_communicator", "the process was started by mpirun, but this build of ",
                                     "Catena has no MPI. Install its library (Debian: libopenmpi-dev) and configure ",
                                     "with -DCATENA_WITH_MPI=ON, or start the ranks by catena-run");
}

}  // namespace training::communicators::internal

#endif
