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

// While an object exists, a write of this thread to a pipe or a socket without reader fails with EPIPE and raises no
// SIGPIPE, which would end the program: a training whose output goes to `| head` should continue. The program's
// disposition of the signal and other threads are not changed. Scopes may be nested.
class CATENA_EXPORT BrokenPipeScope {
 public:
  BrokenPipeScope() noexcept;
  ~BrokenPipeScope();
  BrokenPipeScope(const BrokenPipeScope&) = delete;
  BrokenPipeScope& operator=(const BrokenPipeScope&) = delete;

 private:
  bool was_blocked_, was_pending_;
};

}  // namespace catena
