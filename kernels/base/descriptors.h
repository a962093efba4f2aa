// Descriptors of files, pipes and sockets that never take the places of the standard streams, and writing to pipes
// whose reader has gone.
#pragma once

#include <catena/kernels/base/export.h>

namespace catena {

// A program may have closed the descriptors 0, 1 or 2, or been started without them (`program >&-`). open(), socket()
// and the like then give these numbers to files, and what is printed to the standard output goes into a file, or to the
// other side of a socket. This function occupies the closed ones of the three. Reading from and writing to them fails
// as before (EBADF), and programs that are started from this one have them closed. To be called before anything that
// opens descriptors, in other libraries, too. Costs three system calls where all are open.
CATENA_EXPORT void reserve_standard_descriptors() noexcept;

// As open(2) and openat(2), closed on exec(), after reserve_standard_descriptors(). -1 with errno if it fails.
CATENA_EXPORT int open_descriptor(const char* path, int flags, unsigned mode = 0) noexcept;

// While one lives, what this thread does raises no such signal. The program's disposition of the signal, and other
// threads, are left alone. Scopes may be nested.
class CATENA_EXPORT SignalScope {
 public:
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

 protected:
  explicit SignalScope(int signal) noexcept;
  ~SignalScope();

 private:
  int signal_;
  bool was_blocked_, was_pending_;
};

// A write to a pipe or a socket without reader fails with EPIPE and raises no SIGPIPE, which would end the program: a
// training that is printed to `| head` is to go on.
class CATENA_EXPORT BrokenPipeScope : public SignalScope {
 public:
  BrokenPipeScope() noexcept;
};

// A write beyond the limit on the size of files (`ulimit -f`) fails with EFBIG, as one on a full disk does, and raises
// no SIGXFSZ, which would end the program.
class CATENA_EXPORT FileLimitScope : public SignalScope {
 public:
  FileLimitScope() noexcept;
};

}  // namespace catena
