// Reads HDF5 files in a separate process, because the HDF5 library is not hardened against damaged files: on some of
// them it crashes, overwrites its memory or does not finish. Here such a file is a ValueError, and the program
// continues.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include <catena/kernels/base/function.h>
#include <catena/nn/serializers/hdf5_file.h>

namespace nn::internal {

// A file that a child process has opened by open(), and from which it answers what the returned object is asked. The
// child lives as long as the object; what its library does wrong ends the child alone. It gets 4 seconds of processor
// time for each question, and for each 20 MB of elements that the file's size justifies another one; and 256 MB of
// memory beside these elements, which are handed over in memory that both processes share.
//
// A child that waits, for a file server that is gone, say, uses no processor time: an answer may take 60 seconds beside
// the processor time and a second for each MB of the file; then the child is ended, which is an IOError, and the next
// question starts another one. The environment variable CATENA_HDF5_TIMEOUT replaces the 60 (ValueError if it is no
// number of seconds).
//
// `library` is the mutex of the HDF5 library: it is held during the fork, so that no other thread is inside the library
// then. Errors of open() and of the answers are rethrown here. IOError if no process can be started. A process that was
// forked from the owner of the object starts its own child at its first question.
catena::Owned<Hdf5File> open_in_process(std::string_view op, const std::string& filename, std::mutex& library,
                                        catena::Function<catena::Owned<Hdf5File>()> open);

}  // namespace nn::internal
