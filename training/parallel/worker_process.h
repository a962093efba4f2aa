// A child process that answers messages, and memory that is shared with it. Internal to this folder.
//
// The child is made by fork() without exec(), so it has all objects of the parent as they were. It has one thread, the
// caller's. It must not use CUDA (a driver does not survive a fork), and it never returns from the constructor: it ends
// by _exit(), without destructors and handlers of the parent. It ends when the parent does.
//
// Where there is no fork(), the constructors throw NotImplementedError.
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

// Zeroed memory that children forked later share.
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
  // The answer to a message; runs in the child.
  using Handler = catena::Function<std::string(std::string_view message)>;
  // Forks. `name` is what messages call it: "worker 2". `threads`: of catena::parallel_for in the child.
  WorkerProcess(std::string name, int threads, const Handler& handler);
  ~WorkerProcess();  // stop(), with a few seconds
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // Tells the child to end after what it is doing. A thread that waits in receive() gets a RuntimeError at once. May be
  // called from any thread.
  void hang_up() noexcept;
  // Hangs up, waits until the processes have ended, `timeout` seconds for all of them together, and kills those that
  // have not, with a warning: a handler may hang, or the process be stopped by a signal. One that survives even that,
  // as in a system call on a file server that is gone, is left to the system. No other thread may use the processes.
  static void stop(const std::vector<WorkerProcess*>& processes, double timeout) noexcept;

  // Every message gets one answer. receive() throws what the handler threw (classes of kernels/base/error.h and of the
  // standard library as they are, others as RuntimeError), and a RuntimeError when the process has ended, which is
  // noticed within a second.
  void send(std::string_view message);
  std::string receive();
  // RuntimeError if it has not come after `timeout` seconds, without which receive() waits as long as it takes.
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
  static bool wait_for_end(const std::vector<WorkerProcess*>& processes, double timeout);
  void read(void* to, std::size_t bytes, double timeout);

  std::string name_;
  std::int64_t pid_ = -1;
  int socket_ = -1;
  std::mutex mutex_;                  // of what has become of the process
  std::atomic<bool> hung_up_{false};  // its answers are not waited for
  std::atomic<bool> ended_{false};
  int status_ = kUnknown;  // of waitpid(), when it has ended
};

// ValueError unless the number of seconds is at least 0.
void check_stop_timeout(const char* who, double seconds);

// Writes and reads messages: numbers as they lie in memory, texts with their length.
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
  std::byte* reserve(std::size_t n) {  // n bytes to be filled before anything else is put
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
