// A child process that answers messages, and memory that is shared with it. Internal to this folder.
//
// The child is made by fork() without exec(), so it has all objects of the parent in their state at that time. It has
// one thread, that of the caller. It must not use CUDA (a driver does not survive a fork), and it never returns from
// the constructor: it ends by _exit(), without destructors and handlers of the parent. It ends when the parent ends.
//
// On systems without fork(), the constructors throw a NotImplementedError.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/function.h>

namespace training::internal {

// Zeroed memory, shared with children that are forked later.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes);  // OutOfMemoryError
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  std::span<std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

class WorkerProcess {
 public:
  // Returns the answer to a message; runs in the child.
  using Handler = catena::Function<std::string(std::string_view message)>;
  // Forks. `name` is used in messages: "worker 2". `threads`: number of threads of catena::parallel_for in the child.
  WorkerProcess(std::string name, int threads, const Handler& handler);
  ~WorkerProcess();  // stop(), with a few seconds
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // Closes the connection: the child ends after its present work. A thread that waits in receive() gets a RuntimeError
  // at once. May be called from any thread.
  void hang_up() noexcept;
  // Hangs up, and waits until the processes have ended, in total for `timeout` seconds. Kills the remaining processes,
  // with a warning: a handler may hang, or the process may be stopped by a signal. If a process survives even that, for
  // example in a system call on an unreachable file server, it is left to the system. No other thread may use the
  // processes.
  static void stop(std::span<WorkerProcess* const> processes, double timeout) noexcept;

  // Every message has one answer. receive() rethrows an exception of the handler (classes of kernels/base/error.h and
  // of the standard library unchanged, others as RuntimeError). It throws a RuntimeError within a second after the
  // process has ended.
  void send(std::string_view message);
  std::string receive();
  // Throws a RuntimeError if there is no answer after `timeout` seconds. Without a timeout, receive() waits without
  // limit.
  std::string receive(double timeout);
  std::string call(std::string_view message) {
    send(message);
    return receive();
  }
  bool is_running() const noexcept { return !ended_.load(); }  // as of the last call

 private:
  static constexpr int kUnknown = -1;
  [[noreturn]] void fail_ended();
  bool has_ended();
  void kill() noexcept;
  static bool wait_for_end(std::span<WorkerProcess* const> processes, double timeout);
  void read(void* to, std::size_t bytes, double timeout);

  std::string name_;
  std::int64_t pid_ = -1;
  int socket_ = -1;
  std::mutex mutex_;                  // protects the state of the process
  std::atomic<bool> hung_up_{false};  // no thread waits for its answers
  std::atomic<bool> ended_{false};
  bool killed_ = false;    // by stop()
  int status_ = kUnknown;  // result of waitpid() after the end
};

// Throws a ValueError unless the number of seconds is at least 0.
void check_stop_timeout(const char* who, double seconds);

// Writes and reads messages: numbers in their memory format, texts with their length.
class MessageWriter {
 public:
  template <class T> void put(const T& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  void put_text(std::string_view text) {
    put(std::uint64_t(text.size()));
    bytes_.append(text);
  }
  std::byte* reserve(std::size_t n) {  // the caller must fill these n bytes before it puts anything else
    bytes_.resize(bytes_.size() + n);
    return reinterpret_cast<std::byte*>(bytes_.data() + bytes_.size() - n);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}
  template <class T> T get() {
    T v;
    std::memcpy(&v, get_bytes(sizeof v).data(), sizeof v);
    return v;
  }
  std::string_view get_text() { return get_bytes(get<std::uint64_t>()); }
  std::string_view get_bytes(std::size_t n) {
    catena::check<catena::RuntimeError>(n <= rest_.size(), "WorkerProcess", "a message ends too early");
    const std::string_view result = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return result;
  }
  bool is_empty() const noexcept { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace training::internal
