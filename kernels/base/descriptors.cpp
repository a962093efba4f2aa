#include <catena/kernels/base/descriptors.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

namespace catena {
namespace {

constexpr int kStandard = 3;  // descriptors 0, 1 and 2

// Opens a descriptor that can be neither read nor written; it gets the lowest free number.
int open_unusable() noexcept {
#ifdef O_PATH
  return ::open("/", O_PATH | O_CLOEXEC);
#else
  return ::open("/", O_RDONLY | O_CLOEXEC);
#endif
}

sigset_t set_of(int signal) noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  return set;
}

bool is_pending(int signal) noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigpending(&set);
  return sigismember(&set, signal) == 1;
}

void take(const sigset_t& set) noexcept {
#ifdef __APPLE__
  int unused = 0;
  sigwait(&set, &unused);
#else
  const timespec at_once{};
  while (sigtimedwait(&set, nullptr, &at_once) < 0 && errno == EINTR) continue;
#endif
}

}  // namespace

void reserve_standard_descriptors() noexcept {
  const int error = errno;
  for (int fd = 0; fd < kStandard; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    const int made = open_unusable();
    // Another thread may have taken the number.
    if (made >= kStandard) ::close(made);
  }
  errno = error;
}

int open_descriptor(const char* path, int flags, unsigned mode) noexcept {
  reserve_standard_descriptors();
  const int fd = ::open(path, flags | O_CLOEXEC, static_cast<mode_t>(mode));
  if (fd < 0 || fd >= kStandard) return fd;
  // Another thread may have closed a standard stream meanwhile.
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, kStandard);
  const int error = errno;
  ::close(fd);
  reserve_standard_descriptors();
  errno = error;
  return moved;
}

SignalScope::SignalScope(int signal) noexcept : signal_(signal), was_blocked_(false), was_pending_(is_pending(signal)) {
  const sigset_t set = set_of(signal);
  sigset_t before;
  sigemptyset(&before);
  pthread_sigmask(SIG_BLOCK, &set, &before);
  was_blocked_ = sigismember(&before, signal) == 1;
}

SignalScope::~SignalScope() {
  const int error = errno;
  const sigset_t set = set_of(signal_);
  if (!was_pending_ && is_pending(signal_)) take(set);
  if (!was_blocked_) pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  errno = error;
}

BrokenPipeScope::BrokenPipeScope() noexcept : SignalScope(SIGPIPE) {}
FileLimitScope::FileLimitScope() noexcept : SignalScope(SIGXFSZ) {}

}  // namespace catena
