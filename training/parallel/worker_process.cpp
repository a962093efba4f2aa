#include <catena/training/parallel/worker_process.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>
#include <system_error>
#include <typeinfo>
#include <utility>
#include <vector>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/debug.h>
#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/warning.h>
#include <catena/training/parallel/fork_gate.h>

#if __has_include(<sys/socket.h>) && __has_include(<sys/mman.h>) && __has_include(<sys/wait.h>)
#define CATENA_HAS_FORK 1
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <thread>
#endif

namespace training::internal {

using catena::check;
using catena::RuntimeError;

void check_stop_timeout(const char* who, double seconds) {
  check<catena::ValueError>(seconds >= 0, who, "stop_timeout is ", seconds, "; it is a number of seconds, at least 0");
}

#ifndef CATENA_HAS_FORK

namespace {
[[noreturn]] void fail_without_fork() {
  catena::fail<catena::NotImplementedError>("WorkerProcess", "this system has no fork(); use threads in place of ",
                                            "processes (MultithreadIterator, ParallelUpdater)");
}
}  // namespace
SharedMemory::SharedMemory(std::size_t) { fail_without_fork(); }
SharedMemory::~SharedMemory() = default;
WorkerProcess::WorkerProcess(std::string, int, const Handler&) { fail_without_fork(); }
WorkerProcess::~WorkerProcess() = default;
void WorkerProcess::send(std::string_view) { fail_without_fork(); }
std::string WorkerProcess::receive() { fail_without_fork(); }
std::string WorkerProcess::receive(double) { fail_without_fork(); }
void WorkerProcess::hang_up() noexcept {}
void WorkerProcess::stop(std::span<WorkerProcess* const>, double) noexcept {}

#else

// ---- errors of the child, thrown in the parent --------------------------------------------------
namespace {

// An exception class that consists only of a message. Both processes are one program, so a class has one name.
struct Transported {
  const std::type_info* type;
  void (*throw_with)(const std::string& text);
};
template <class... E> std::vector<Transported> transported_classes() {
  return {{&typeid(E), [](const std::string& text) { throw E(text); }}...};
}
const std::vector<Transported>& transported() {
  static const auto& classes = *new std::vector<Transported>(
      transported_classes<catena::Error, catena::ValueError, catena::OverflowError, catena::TypeError,
                          catena::IndexError, catena::KeyError, catena::AttributeError, catena::AssertionError,
                          catena::RuntimeError, catena::NotImplementedError, catena::IOError, catena::LinAlgError,
                          catena::OutOfMemoryError, catena::CompileError, std::runtime_error, std::logic_error,
                          std::invalid_argument, std::out_of_range, std::domain_error, std::length_error,
                          std::range_error, std::overflow_error, std::underflow_error>());
  return classes;
}

// To be called in a catch block.
std::string describe_current_exception() {
  MessageWriter w;
  const auto describe = [&w](const std::type_info& type, std::string_view text) {
    w.put_text(type.name());
    w.put_text(text);
  };
  try {
    throw;
  } catch (const std::bad_alloc&) {
    describe(typeid(catena::OutOfMemoryError), "the process is out of memory");
  } catch (const std::exception& e) {
    const auto is_class = [&e](const Transported& t) { return typeid(e) == *t.type; };
    if (std::any_of(transported().begin(), transported().end(), is_class)) describe(typeid(e), e.what());
    else describe(typeid(RuntimeError), catena::concat(autograd::internal::class_name(typeid(e)), ": ", e.what()));
  } catch (...) {
    describe(typeid(RuntimeError), "an exception that is no std::exception");
  }
  return w.take();
}

[[noreturn]] void throw_described(std::string_view description) {
  MessageReader r(description);
  const std::string_view name = r.get_text();
  const std::string text(r.get_text());
  for (const Transported& t : transported())
    if (name == t.type->name()) t.throw_with(text);
  throw RuntimeError(text);
}

std::string system_error(int code) { return std::error_code(code, std::generic_category()).message(); }

}  // namespace

// ---- shared memory ------------------------------------------------------------------------------
SharedMemory::SharedMemory(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  void* const p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  check<catena::OutOfMemoryError>(p != MAP_FAILED, "SharedMemory", "cannot map ", bytes,
                                  " bytes: ", system_error(errno));
  data_ = static_cast<std::byte*>(p);
}
SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

// ---- frames: kind, size, bytes ------------------------------------------------------------------
namespace {

enum class Frame : std::uint64_t { message, error };
struct Head {
  Frame frame;
  std::uint64_t size;
};

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0  // where it is missing, SO_NOSIGPIPE is set instead
#endif

// Returns false if the other side has closed the connection.
bool write_all(int socket, const void* from, std::size_t bytes) {
  auto* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t n = ::send(socket, at, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}
// Reads the bytes that have arrived, at most `bytes`; returns 0 if the other side has closed the connection.
std::size_t read_some(int socket, void* to, std::size_t bytes) {
  for (;;) {
    const ssize_t n = ::recv(socket, to, bytes, 0);
    if (n >= 0 || errno != EINTR) return n > 0 ? static_cast<std::size_t>(n) : 0;
  }
}
bool read_all(int socket, void* to, std::size_t bytes) {
  for (auto* at = static_cast<char*>(to); bytes > 0;) {
    const std::size_t n = read_some(socket, at, bytes);
    if (n == 0) return false;
    at += n;
    bytes -= n;
  }
  return true;
}
bool write_frame(int socket, Frame frame, std::string_view bytes) {
  const Head head{frame, bytes.size()};
  return write_all(socket, &head, sizeof head) && write_all(socket, bytes.data(), bytes.size());
}

bool is_readable(int socket, int milliseconds) {
  pollfd p{socket, POLLIN, 0};
  return ::poll(&p, 1, milliseconds) > 0;
}

void flush_streams() {
  const catena::BrokenPipeScope unread;
  std::cout.flush();
  std::clog.flush();
  std::fflush(nullptr);
}

// ---- the child ----------------------------------------------------------------------------------
// Other children may hold a copy of the parent's side of the socket, so the end of the parent may not close it.
bool next_frame(int socket, pid_t parent, Head& head, std::string& bytes) {
  constexpr int kMilliseconds = 1000;
  while (!is_readable(socket, kMilliseconds))
    if (::getppid() != parent) return false;
  if (!read_all(socket, &head, sizeof head)) return false;
  bytes.resize(head.size);
  return read_all(socket, bytes.data(), bytes.size());
}

void serve(int socket, pid_t parent, const WorkerProcess::Handler& handler) {
  Head head{};
  std::string bytes;
  while (next_frame(socket, parent, head, bytes) && head.frame == Frame::message) {
    Frame kind = Frame::message;
    std::string answer;
    try {
      answer = handler(bytes);
    } catch (...) {
      kind = Frame::error;
      answer = describe_current_exception();
    }
    if (!write_frame(socket, kind, answer)) return;
  }
}

[[noreturn]] void live(int socket, pid_t parent, int threads, const WorkerProcess::Handler& handler) noexcept {
  constexpr int kFailed = 70;
  try {
    ForkGate::in_child();
    // Terminals and schedulers send these to all processes of a group. The parent ends its workers, so that it can
    // finish its iteration first (StopOnSignal); without a parent they end by themselves.
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_IGN);
    autograd::default_backend().exchange_default_device(autograd::Device{});  // a child cannot use CUDA
    catena::set_max_threads(threads);
    serve(socket, parent, handler);
    flush_streams();
    ::_exit(0);
  } catch (...) {
    ::_exit(kFailed);
  }
}

}  // namespace

// ---- the parent ---------------------------------------------------------------------------------
WorkerProcess::WorkerProcess(std::string name, int threads, const Handler& handler) : name_(std::move(name)) {
  catena::reserve_standard_descriptors();
  int sockets[2];
  check<RuntimeError>(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0, name_,
                      "cannot make a pair of sockets: ", system_error(errno));
  for (const int s : sockets) {
    ::fcntl(s, F_SETFD, FD_CLOEXEC);
#ifdef SO_NOSIGPIPE
    const int on = 1;
    ::setsockopt(s, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
  }
  flush_streams();  // otherwise both processes would write the buffered output
  const pid_t parent = ::getpid();
  pid_t child = -1;
  {
    const ForkGate::Fork alone;
    child = ::fork();
    if (child == 0) {
      ::close(sockets[0]);
      live(sockets[1], parent, threads, handler);
    }
  }
  const int error = errno;
  ::close(sockets[1]);
  if (child < 0) ::close(sockets[0]);
  check<RuntimeError>(child > 0, name_, "cannot start a process: ", system_error(error));
  pid_ = child;
  socket_ = sockets[0];
}

WorkerProcess::~WorkerProcess() {
  constexpr double kSeconds = 5;
  WorkerProcess* const self = this;
  stop({&self, 1}, kSeconds);
  ::close(socket_);
}

void WorkerProcess::hang_up() noexcept {
  hung_up_ = true;
  ::shutdown(socket_, SHUT_RDWR);
}

bool WorkerProcess::has_ended() {
  const std::lock_guard lock(mutex_);
  if (ended_) return true;
  int status = 0;
  const pid_t found = ::waitpid(static_cast<pid_t>(pid_), &status, WNOHANG);
  if (found > 0) status_ = status;
  ended_ = found > 0 || (found < 0 && errno == ECHILD);  // other code may have waited for it
  return ended_;
}

// Kills the child only while its process id is valid, which means until the process has been waited for.
void WorkerProcess::kill() noexcept {
  const std::lock_guard lock(mutex_);
  if (!ended_) ::kill(static_cast<pid_t>(pid_), SIGKILL);
}

bool WorkerProcess::wait_for_end(std::span<WorkerProcess* const> processes, double timeout) {
  constexpr auto kStep = std::chrono::milliseconds(2);
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    bool all = true;
    for (WorkerProcess* p : processes) all = p->has_ended() && all;
    if (all) return true;
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >= timeout) return false;
    std::this_thread::sleep_for(kStep);
  }
}

// Called by destructors, so it allocates nothing, and errors of the warning are ignored.
void WorkerProcess::stop(std::span<WorkerProcess* const> processes, double timeout) noexcept {
  for (WorkerProcess* p : processes) p->hang_up();
  if (wait_for_end(processes, timeout)) return;
  for (WorkerProcess* p : processes)
    if ((p->killed_ = !p->has_ended())) p->kill();
  constexpr double kSeconds = 5;
  const bool all = wait_for_end(processes, kSeconds);
  for (const WorkerProcess* p : processes) {
    if (p->killed_) try {
        catena::warn("UserWarning", catena::concat(p->name_, ": the process ", p->pid_, " did not end within ", timeout,
                                                   " s and was killed", all ? "" : ", but goes on"));
      } catch (const std::exception&) {}
  }
}

void WorkerProcess::fail_ended() {
  std::string how = "has ended";
  if (status_ != kUnknown && WIFSIGNALED(status_)) {
    const int signal = WTERMSIG(status_);
    how = catena::concat("was killed by signal ", signal, " (", ::strsignal(signal), ")",
                         signal == SIGKILL ? ", as the system does when memory runs out" : "");
  } else if (status_ != kUnknown && WIFEXITED(status_)) {
    how = catena::concat("has ended with exit status ", WEXITSTATUS(status_));
  }
  catena::fail<RuntimeError>(name_, "the process ", pid_, " ", how);
}

// The end of the process may not close the socket, because its own children may have a copy.
void WorkerProcess::read(void* to, std::size_t bytes, double timeout) {
  constexpr int kMilliseconds = 200;
  const auto start = std::chrono::steady_clock::now();
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    bool readable = is_readable(socket_, kMilliseconds);
    if (!readable && has_ended()) {
      readable = is_readable(socket_, 0);
      if (!readable) fail_ended();
    }
    check<RuntimeError>(!hung_up_, name_, "the process was told to end");
    if (!readable) {
      const double waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      check<RuntimeError>(waited < timeout, name_, "the process ", pid_, " has not answered within ", timeout, " s");
      continue;
    }
    const std::size_t n = read_some(socket_, at, bytes);
    if (n == 0) break;
    at += n;
    bytes -= n;
  }
  if (bytes == 0) return;
  // The socket is closed, so the process has ended or will end soon.
  constexpr double kSeconds = 1;
  WorkerProcess* const self = this;
  wait_for_end({&self, 1}, kSeconds);
  fail_ended();
}

void WorkerProcess::send(std::string_view message) {
  if (ended_) fail_ended();
  if (write_frame(socket_, Frame::message, message)) return;
  char byte = 0;
  read(&byte, 1, std::numeric_limits<double>::infinity());  // throws the cause of the end of the process
  fail_ended();
}

std::string WorkerProcess::receive() { return receive(std::numeric_limits<double>::infinity()); }

std::string WorkerProcess::receive(double timeout) {
  Head head{};
  read(&head, sizeof head, timeout);
  std::string bytes(head.size, '\0');
  read(bytes.data(), bytes.size(), timeout);
  if (head.frame == Frame::error) throw_described(bytes);
  return bytes;
}

#endif

}  // namespace training::internal
