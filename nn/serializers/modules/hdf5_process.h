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

// Returns a file that a child process has opened by open(); the child answers the calls of the returned object. The
// child exists as long as the object, and an error of its library ends only the child. For each question it has 4
// seconds of processor time, plus one for each 20 MB of elements that the size of the file permits. It has 256 MB of
// memory in addition to these elements, which briefly exist in both processes.
//
// `library` is the mutex of the HDF5 library: it is held during the fork, so that no other thread is inside the library
// then. Errors of open() and of the answers are rethrown here. IOError if no process can be started. A process that was
// forked from the owner of the object starts its own child at its first question.
catena::Owned<Hdf5File> open_in_process(std::string_view op, const std::string& filename, std::mutex& library,
                                        catena::Function<catena::Owned<Hdf5File>()> open);

}  // namespace nn::internal
