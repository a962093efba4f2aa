// Reads HDF5 files in a process of its own, for the HDF5 library is not hardened against damaged files: on some of them
// it crashes, overwrites its memory or does not come to an end. Here such a file is a ValueError, and the program goes
// on.
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
// `library` is what protects the HDF5 library: it is held while the process forks, so that no other thread is within
// the library then. Errors of open() and of the answers are thrown here. IOError when there can be no process. A
// process that has been forked from the owner of the object makes a child of its own at its first question.
catena::Owned<Hdf5File> open_in_process(std::string_view op, const std::string& filename, std::mutex& library,
                                        catena::Function<catena::Owned<Hdf5File>()> open);

}  // namespace nn::internal
