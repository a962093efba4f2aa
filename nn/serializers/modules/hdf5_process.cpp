#include <catena/nn/serializers/modules/hdf5_process.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <optional>
#include <utility>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/kernels/formats/byte_stream.h>

namespace nn::internal {
namespace {

using catena::check;
using catena::fail;
using catena::IOError;
using catena::NpyArray;
using catena::ValueError;

constexpr std::uint64_t kSeconds = 4, kBytesPerSecond = 20'000'000;
constexpr std::uint64_t kMostText = std::uint64_t(1) << 26, kMemory = std::uint64_t(1) << 28;  // bytes

// Returns the maximal number of elements for a file of that size: the maximal expansion of deflate, or 16 MB.
std::uint64_t most_elements(std::uint64_t file_bytes) {
  constexpr std::uint64_t kMostExpansion = 1040, kLargest = std::uint64_t(1) << 50;
  return std::max(std::min(file_bytes, kLargest) * kMostExpansion, std::uint64_t(1) << 24);
}

// Of processor time, for a question; elements are what an array consists of.
std::uint64_t seconds_for(bool has_elements, std::uint64_t file_bytes) {
  return kSeconds + (has_elements ? most_elements(file_bytes) / kBytesPerSecond : 0);
}

using Clock = std::chrono::steady_clock;

double timeout(const std::string& context) {
  constexpr const char* kName = "CATENA_HDF5_TIMEOUT";
  constexpr double kUsual = 60, kMost = 1e6;
  const char* const text = std::getenv(kName);
  if (text == nullptr || *text == '\0') return kUsual;
  const std::optional<double> seconds = catena::parse_real(text);
  check<ValueError>(seconds && *seconds > 0, context, kName, " is \"", text, "\"; it is a number of seconds above 0");
  return std::min(*seconds, kMost);
}

// ---- messages -------------------------------------------------------------------------------------

// One end of a pair of sockets. A message is a length and that many bytes; elements of arrays follow a message without
// a length.
class Socket {
 public:
  explicit Socket(int fd = -1) noexcept : fd_(fd) {}
  Socket(Socket&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  Socket& operator=(Socket o) noexcept {
    std::swap(fd_, o.fd_);
    return *this;
  }
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const noexcept { return fd_; }

  // Returns false if the other end is closed.
  bool send(const std::string& message) const {
    const std::uint64_t length = message.size();
    return send_bytes(&length, sizeof length) && send_bytes(message.data(), message.size());
  }
  // Nothing when the other end is gone, sends more than kMostText, or is late.
  std::optional<std::string> receive(std::optional<Clock::time_point> until = {}) const {
    std::uint64_t length = 0;
    if (!receive_bytes(&length, sizeof length, until) || length > kMostText) return {};
    std::string message(static_cast<std::size_t>(length), '\0');
    if (!receive_bytes(message.data(), message.size(), until)) return {};
    return message;
  }
  bool send_bytes(const void* from, std::size_t n) const {
    for (std::size_t done = 0; done < n;) {
      const ssize_t k = ::send(fd_, static_cast<const char*>(from) + done, n - done, MSG_NOSIGNAL);
      if (k >= 0) done += static_cast<std::size_t>(k);
      else if (errno != EINTR) return false;
    }
    return true;
  }

 private:
  bool receive_bytes(void* to, std::size_t n, std::optional<Clock::time_point> until) const {
    for (std::size_t done = 0; done < n;) {
      if (until && !is_readable(*until)) return false;
      const ssize_t k = ::recv(fd_, static_cast<char*>(to) + done, n - done, 0);
      if (k > 0) done += static_cast<std::size_t>(k);
      else if (k == 0 || errno != EINTR) return false;
    }
    return true;
  }
  bool is_readable(Clock::time_point until) const {
    for (;;) {
      struct pollfd p = {fd_, POLLIN, 0};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
      const int found = ::poll(&p, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX)));
      if (found > 0) return true;
      if (left <= 0 || (found < 0 && errno != EINTR)) return false;
    }
  }

  int fd_;
};

// The elements of one array, in memory of both processes. The child may have been taken over by a hostile file and cut
// the memory while it is read: the parent therefore reads it as a file, which a mapping would not survive.
class SharedElements {
 public:
  // Without memory.
  explicit SharedElements(int fd = -1) noexcept : fd_(fd) {}
  SharedElements(SharedElements&& o) noexcept
      : fd_(std::exchange(o.fd_, -1)), data_(std::exchange(o.data_, nullptr)), size_(o.size_) {}
  SharedElements& operator=(SharedElements o) noexcept {
    std::swap(fd_, o.fd_);
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    return *this;
  }
  ~SharedElements() {
    unmap();
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const noexcept { return fd_; }

  // In the child. std::bad_alloc.
  std::byte* map(std::size_t bytes) {
    unmap();
    if (::posix_fallocate(fd_, 0, static_cast<off_t>(bytes)) != 0) throw std::bad_alloc();
    void* const p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    data_ = p;
    size_ = bytes;
    return static_cast<std::byte*>(p);
  }
  void unmap() noexcept {
    if (data_ != nullptr) ::munmap(data_, size_);
    data_ = nullptr;
  }
  // In the parent; the memory is then given back. False if there are fewer bytes.
  bool take(std::byte* to, std::size_t bytes) const {
    std::size_t done = 0;
    while (done < bytes) {
      const ssize_t k = ::pread(fd_, to + done, bytes - done, static_cast<off_t>(done));
      if (k > 0) done += static_cast<std::size_t>(k);
      else if (k == 0 || errno != EINTR) break;
    }
    return ::ftruncate(fd_, 0) == 0 && done == bytes;
  }

 private:
  int fd_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

void put(std::string& to, std::string_view text) {
  const std::uint64_t n = text.size();
  to.append(reinterpret_cast<const char*>(&n), sizeof n);
  to += text;
}

// Reads values written by put(). A hostile file may have taken over the other process, so every value is checked.
class Reader {
 public:
  Reader(const std::string& context, std::string_view message) : context_(context), rest_(message) {}
  std::string_view text() {
    std::uint64_t n = 0;
    std::memcpy(&n, take(sizeof n).data(), sizeof n);
    return take(n);
  }
  std::int64_t number() {
    std::int64_t v = 0;
    std::memcpy(&v, take(sizeof v).data(), sizeof v);
    return v;
  }
  bool is_at_end() const noexcept { return rest_.empty(); }
  std::string_view take(std::uint64_t n) {
    check<ValueError>(n <= rest_.size(), context_, "the process that reads the file gave an answer that ends early");
    const std::string_view part = rest_.substr(0, static_cast<std::size_t>(n));
    rest_.remove_prefix(part.size());
    return part;
  }

 private:
  const std::string& context_;
  std::string_view rest_;
};

void put(std::string& to, std::int64_t v) { to.append(reinterpret_cast<const char*>(&v), sizeof v); }

// An array whose elements have that many bytes.
std::string description(const NpyArray& a, std::size_t bytes) {
  std::string to;
  put(to, a.descr);
  put(to, a.dtype ? std::int64_t(*a.dtype) : -1);
  put(to, std::int64_t(a.itemsize));
  put(to, std::int64_t(a.shape.size()));
  for (const std::int64_t n : a.shape) put(to, n);
  put(to, std::int64_t(bytes));
  return to;
}

// The array of a description, and the bytes of its elements.
std::pair<NpyArray, std::size_t> described(const std::string& context, std::string_view message, std::uint64_t most) {
  Reader r(context, message);
  NpyArray a;
  a.descr = r.text();
  const std::int64_t dtype = r.number();
  if (dtype >= 0 && dtype < catena::kNumDtypes) a.dtype = static_cast<catena::Dtype>(dtype);
  a.itemsize = static_cast<std::size_t>(r.number());
  for (std::int64_t rank = r.number(); rank > 0; --rank) a.shape.push_back(r.number());
  const auto bytes = static_cast<std::uint64_t>(r.number());
  const bool is_whole = !a.dtype || (a.itemsize == catena::itemsize(*a.dtype) &&
                                     bytes == static_cast<std::uint64_t>(catena::checked_size(a.shape)) * a.itemsize);
  check<ValueError>(r.is_at_end() && is_whole && bytes <= most, context,
                    "the process that reads the file gave an answer that is no array");
  return {std::move(a), static_cast<std::size_t>(bytes)};
}

// ---- the child ------------------------------------------------------------------------------------

template <class Resource> void limit(Resource what, std::uint64_t value) {
  struct rlimit now {};
  if (::getrlimit(what, &now) != 0) return;
  now.rlim_cur = std::min<rlim_t>(value, now.rlim_max);
  ::setrlimit(what, &now);
}

// Limits the processor time from now on, in addition to the time used so far.
void allow_seconds(std::uint64_t seconds) {
  struct timespec used {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  limit(RLIMIT_CPU, static_cast<std::uint64_t>(used.tv_sec) + 1 + seconds);
}

void allow_memory(std::uint64_t bytes) {
  const int fd = catena::open_descriptor("/proc/self/statm", O_RDONLY);
  char text[32] = "";
  const ssize_t n = fd < 0 ? 0 : ::read(fd, text, sizeof text - 1);
  if (fd >= 0) ::close(fd);
  std::uint64_t pages = 0;
  for (ssize_t i = 0; i < n && text[i] >= '0' && text[i] <= '9'; ++i)
    pages = pages * 10 + static_cast<std::uint64_t>(text[i] - '0');
  if (pages > 0) limit(RLIMIT_AS, pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + bytes);
}

// Otherwise the program's files would stay open as long as the child lives, and the child could write to them by
// mistake.
void close_all_but(int first, int second) {
  const auto [low, high] = std::minmax(first, second);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd <= 2; ++fd)
    if (nowhere >= 0) ::dup2(nowhere, fd);
  struct rlimit files {};
  const bool known = ::getrlimit(RLIMIT_NOFILE, &files) == 0;
  const int most = known && files.rlim_cur < (1 << 20) ? static_cast<int>(files.rlim_cur) : 1 << 20;
  if (low > 3) ::close_range(3, static_cast<unsigned>(low) - 1, 0);
  if (high > low + 1) ::close_range(static_cast<unsigned>(low) + 1, static_cast<unsigned>(high) - 1, 0);
  if (::close_range(static_cast<unsigned>(high) + 1, ~0U, 0) == 0) return;
  for (int fd = 3; fd < most; ++fd)
    if (fd != low && fd != high) ::close(fd);
}

// Returns the answer to a question, except for the elements of an array.
std::string answer(const Hdf5File& file, char question, const std::string& path) {
  if (question == 'g') return file.is_group(path) ? "+1" : "+0";
  if (question == 'd') return file.is_dataset(path) ? "+1" : "+0";
  std::string result(1, '+');
  for (const std::string& name : file.datasets(path)) put(result, name);
  return result;
}

// Returns f(), or an error instead: a letter for its class, and its text.
template <class F> std::string guarded(F&& f) {
  try {
    return f();
  } catch (const ValueError& e) {
    return std::string("V") + e.what();
  } catch (const IOError& e) {
    return std::string("I") + e.what();
  } catch (const catena::OutOfMemoryError&) {
    return "M";
  } catch (const std::bad_alloc&) {
    return "M";
  } catch (const std::exception& e) {
    return std::string("R") + e.what();
  }
}

[[noreturn]] void serve(const Socket& parent, SharedElements elements, std::uint64_t file_bytes,
                        const catena::Function<catena::Owned<Hdf5File>()>& open) {
  close_all_but(parent.fd(), elements.fd());
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGTERM}) ::signal(signal, SIG_DFL);
  for (const int signal : {SIGINT, SIGQUIT, SIGHUP}) ::signal(signal, SIG_IGN);  // of the terminal: the parent decides
  ::signal(SIGXFSZ, SIG_IGN);  // elements that are too large are an error like any other
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, most_elements(file_bytes));
  allow_memory(kMemory + 2 * most_elements(file_bytes));
  allow_seconds(seconds_for(false, file_bytes));
  catena::Owned<Hdf5File> file;
  const std::string opened = guarded([&] {
    file = open();
    return std::string("+");
  });
  if (!parent.send(opened) || !file) ::_exit(0);
  while (const std::optional<std::string> question = parent.receive()) {
    if (question->empty()) break;
    const bool for_array = (*question)[0] == 'r';
    const std::string path = question->substr(1);
    allow_seconds(seconds_for(for_array, file_bytes));
    const std::string answered = guarded([&] {
      if (!for_array) return answer(*file, (*question)[0], path);
      std::size_t bytes = 0;
      const std::optional<NpyArray> a = file->read_to(path, [&](std::size_t n) {
        bytes = n;
        return elements.map(n);
      });
      return a ? "+1" + description(*a, bytes) : std::string("+0");
    });
    elements.unmap();
    if (!parent.send(answered)) break;
  }
  ::_exit(0);  // skips destructors and atexit() functions, which belong to the parent
}

// ---- the parent -----------------------------------------------------------------------------------

class ProcessFile final : public Hdf5File {
 public:
  ProcessFile(std::string_view op, const std::string& filename, std::mutex& library,
              catena::Function<catena::Owned<Hdf5File>()> open)
      : context_(catena::io_context(op, filename)),
        file_bytes_(catena::FileAccess(op, filename).size()),
        library_(library),
        open_(std::move(open)) {
    start();
  }
  ~ProcessFile() override { end(); }

  const std::string& context() const noexcept override { return context_; }
  bool is_group(const std::string& path) const override { return locked_ask('g', path) == "1"; }
  bool is_dataset(const std::string& path) const override { return locked_ask('d', path) == "1"; }
  std::optional<NpyArray> read_to(const std::string& path, const Place& place) const override {
    const std::lock_guard lock(mutex_);
    const std::string result = ask('r', path);
    if (!result.starts_with('1')) return {};
    std::pair<NpyArray, std::size_t> found;
    try {
      found = described(context_, std::string_view(result).substr(1), most_elements(file_bytes_));
    } catch (const catena::Error&) {
      fail_as_damaged();  // the position in the stream is unknown
    }
    const std::size_t bytes = found.second;
    if (bytes > 0 && !elements_.take(place(bytes), bytes)) fail_as_damaged();
    return std::move(found.first);
  }
  std::vector<std::string> datasets(const std::string& group) const override {
    const std::string result = locked_ask('l', group);
    Reader r(context_, result);
    std::vector<std::string> names;
    while (!r.is_at_end()) names.emplace_back(r.text());
    return names;
  }
  void make_group(const std::string& path) override {
    check<ValueError>(!is_dataset(path), context_, "there is a dataset ", path,
                      ", so that no group can have this name");
    if (!is_group(path)) refuse(path);
  }
  void write(const std::string& path, catena::Dtype, const catena::Shape&, std::span<const std::byte>,
             std::optional<int>) override {
    refuse(path);
  }
  void write_text(const std::string& path, const std::string&) override { refuse(path); }
  void flush() override {}
  std::vector<std::byte> image() const override { refuse("image"); }

 private:
  [[noreturn]] void refuse(const std::string& path) const {
    fail<IOError>(context_, path, " cannot be made: the file is open for reading only");
  }

  void start() const {
    timeout_ = timeout(context_);
    catena::reserve_standard_descriptors();
    SharedElements elements(::memfd_create("elements of an HDF5 file", MFD_CLOEXEC));
    check<IOError>(elements.fd() >= 0, context_,
                   "there is no memory for the process that reads the file: ", std::strerror(errno));
    int ends[2];
    check<IOError>(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, context_,
                   "the process that reads the file cannot be started: ", std::strerror(errno));
    Socket own(ends[0]), childs(ends[1]);
    {
      std::unique_lock lock(library_);
      child_ = ::fork();
      if (child_ == 0) {
        lock.unlock();
        own = Socket();
        serve(childs, std::move(elements), file_bytes_, open_);
      }
    }
    const int error = errno;
    check<IOError>(child_ > 0, context_, "the process that reads the file cannot be started: ", std::strerror(error));
    process_ = ::getpid();
    socket_ = std::move(own);
    elements_ = std::move(elements);
    childs = Socket();  // so that the end of the child is seen
    try {
      receive('o');
    } catch (...) {
      end();
      throw;
    }
  }

  // Only the process that forked the child may wait for it.
  void end() const noexcept {
    socket_ = Socket();
    if (child_ > 0 && process_ == ::getpid()) {
      ::kill(child_, SIGKILL);
      while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) continue;
    }
    child_ = -1;
  }

  std::string locked_ask(char question, const std::string& path) const {
    const std::lock_guard lock(mutex_);
    return ask(question, path);
  }

  std::string ask(char question, const std::string& path) const {
    if (process_ != ::getpid()) {
      child_ = -1;
      start();
    }
    if (!damage_.empty()) throw ValueError(damage_);
    if (!socket_.send(question + path)) fail_as_damaged();
    return receive(question);
  }

  // The result in the answer to a question.
  std::string receive(char question) const {
    constexpr double kFileBytesPerSecond = 1'000'000;
    const double seconds =
        timeout_ + double(seconds_for(question == 'r', file_bytes_)) + double(file_bytes_) / kFileBytesPerSecond;
    const Clock::time_point until =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    const std::optional<std::string> answered = socket_.receive(until);
    if (answered || Clock::now() < until) return checked(answered);
    end();
    process_ = -1;  // the next question starts another child
    fail<IOError>(context_, "the process that reads the file has not answered for ", std::llround(seconds),
                  " s and was ended; the file system may hang (CATENA_HDF5_TIMEOUT=seconds allows more)");
  }

  // Returns the result in an answer. Rethrows an exception of the child.
  std::string checked(const std::optional<std::string>& answered) const {
    if (!answered || answered->empty()) fail_as_damaged();
    std::string text = answered->substr(1);
    switch ((*answered)[0]) {
      case '+': return text;
      case 'V': throw ValueError(text);
      case 'I': throw IOError(text);
      case 'M': fail<catena::OutOfMemoryError>(context_, "there is not enough memory to read the file");
      default: throw catena::RuntimeError(text);
    }
  }

  [[noreturn]] void fail_as_damaged() const {
    damage_ = why_it_ended();
    throw ValueError(damage_);
  }

  std::string why_it_ended() const {
    int status = 0;
    ::kill(child_, SIGKILL);  // it may have sent nonsense; if it has ended, its status is unchanged
    pid_t found = 0;
    while ((found = ::waitpid(child_, &status, 0)) < 0 && errno == EINTR) continue;
    const bool known = found == child_ && WIFSIGNALED(status);
    child_ = -1;
    if (known && WTERMSIG(status) == SIGXCPU)
      return catena::concat(context_, ": the file is damaged: the HDF5 library did not come to an end");
    return catena::concat(context_, ": the file is damaged: the HDF5 library ended its process",
                          known ? catena::concat(" by signal ", WTERMSIG(status)) : std::string());
  }

  std::string context_;
  std::uint64_t file_bytes_;
  std::mutex& library_;
  catena::Function<catena::Owned<Hdf5File>()> open_;
  mutable std::mutex mutex_;
  mutable Socket socket_;
  mutable SharedElements elements_;
  mutable double timeout_ = 0;
  mutable pid_t child_ = -1, process_ = -1;
  mutable std::string damage_;  // the message for all further questions after the end of the child
};

}  // namespace

catena::Owned<Hdf5File> open_in_process(std::string_view op, const std::string& filename, std::mutex& library,
                                        catena::Function<catena::Owned<Hdf5File>()> open) {
  return catena::Owned<Hdf5File>(new ProcessFile(op, filename, library, std::move(open)));
}

}  // namespace nn::internal
