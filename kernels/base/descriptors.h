// Descriptors of files, pipes and sockets that never get the numbers of the standard streams, and writing to pipes
// whose reader is gone.
#pragma once

#include <catena/kernels/base/export.h>

namespace catena {

// Opens each of the descriptors 0, 1 and 2 that is closed, so that no other file gets its number. A program may have
// closed them, or been started without them (`program >&-`). open(), socket() and similar functions would then give
// these numbers to files, and text printed to the standard output would go into a file or a socket. Reading from and
// writing to the occupied descriptors fails as before (EBADF), and programs that are started from this one have them
// closed. Must be called before anything that opens descriptors, in other libraries, too. Costs three system calls if
// all are open.
CATENA_EXPORT void reserve_standard_descriptors() noexcept;

// As open(2), closed on exec(), after reserve_standard_descriptors(). Returns -1 with errno if it fails.
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
