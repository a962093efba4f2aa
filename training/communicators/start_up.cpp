// The run to which this process belongs, and create_communicator().
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <typeinfo>
#include <utility>

#include <catena/autograd/debug.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/training/communicators/agreement.h>
#include <catena/training/communicators/communicator_state.h>
#include <catena/training/communicators/mpi_transport.h>
#include <catena/training/communicators/socket_transport.h>
#include <catena/training/communicators/sockets.h>
#include <catena/training/communicators/thread_transport.h>

namespace training {
namespace {

using catena::check;
using catena::concat;
using catena::Shared;
using catena::ValueError;
using communicators::Transport;

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

int number(const char* name) {
  const std::string text = variable(name);
  const auto value = catena::parse_integer(text);
  check<ValueError>(value && *value >= 0 && *value <= 1'000'000, "create_communicator", name, " is \"", text,
                    "\", not the number of a rank or of ranks");
  return static_cast<int>(*value);
}

// How the process was started.
enum class Start { alone, launcher, mpi };
Start start_of_process() {
  if (!variable("CATENA_RANK").empty()) return Start::launcher;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (!variable(name).empty()) return Start::mpi;
  return Start::alone;
}

std::optional<double> time_limit(std::optional<double> otherwise) {
  constexpr const char* name = "CATENA_COMM_TIMEOUT";
  const std::string text = variable(name);
  if (text.empty()) return otherwise;
  const auto seconds = catena::parse_real(text);
  check<ValueError>(seconds && *seconds > 0, "create_communicator", name, " is \"", text,
                    "\", not a number of seconds above 0");
  return seconds;
}

Shared<Transport> join(const CommunicatorOptions& options) {
  switch (start_of_process()) {
    case Start::mpi: return communicators::internal::mpi_transport();
    case Start::launcher: {
      const int size = number("CATENA_SIZE");
      check<ValueError>(size == 1 || !variable("CATENA_RENDEZVOUS").empty(), "create_communicator",
                        "CATENA_RANK is set, CATENA_RENDEZVOUS is not: it is host:port or a path, the same on all ",
                        "ranks (catena-run sets all of them)");
      return communicators::socket_transport({.rank = number("CATENA_RANK"),
                                              .size = size,
                                              .rendezvous = variable("CATENA_RENDEZVOUS"),
                                              .timeout = options.timeout});
    }
    default:
      return communicators::thread_transports(
          1, {.hosts = {communicators::internal::host_name()}, .timeout = options.timeout})[0];
  }
}

// ---- exceptions that nothing catches ------------------------------------------------------------
// The run of this process. Never destroyed: threads of transports use it until the process has ended.
struct Run {
  Shared<Transport> world;
  pid_t process;  // children of a fork are no ranks
};
Run* the_run = nullptr;
std::terminate_handler previous_handler = nullptr;

std::string current_error() {
  const std::exception_ptr error = std::current_exception();
  if (!error) return "std::terminate() was called";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return concat(autograd::internal::class_name(typeid(e)), ": ", e.what());
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

[[noreturn]] void end_run() {
  if (::getpid() == the_run->process) {
    const std::string error = current_error();
    std::fflush(nullptr);
    std::fputs(concat("catena: rank ", the_run->world->rank(), " of ", the_run->world->size(), " ends by ", error, "\n")
                   .c_str(),
               stderr);
    the_run->world->announce_abort(error);
  }
  if (previous_handler != nullptr) previous_handler();
  std::abort();
}

Shared<Transport> world(const CommunicatorOptions& options) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (the_run == nullptr) {
    the_run = new Run{join(options), ::getpid()};
    if (the_run->world->size() > 1) previous_handler = std::set_terminate(end_run);
  }
  check<catena::RuntimeError>(the_run->process == ::getpid(), "create_communicator", "this process is a child of rank ",
                              the_run->world->rank(), " and no rank itself");
  return the_run->world;
}

}  // namespace

CommunicatorPtr create_communicator(std::string_view name, CommunicatorOptions options) {
  internal::check_communicator(name, options);
  options.timeout = time_limit(options.timeout);
  const Shared<Transport> all = world(options);
  all->set_timeout(options.timeout);
  const auto& dtype = options.allreduce_grad_dtype;
  communicators::internal::agree(
      *all, catena::concat("create_communicator ", name, dtype ? catena::concat(" in ", *dtype) : std::string()));
  return Shared<Communicator>::make(name, all->split(0, all->rank()), std::move(options));
}

}  // namespace training
