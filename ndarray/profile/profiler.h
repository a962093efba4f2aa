// Folder ndarray/profile/: interfaces to profilers: this header controls what they collect, nvtx.h names ranges.
// Timers and events are in ndarray/device/stream.h. May use kernels/base/; the sources also ndarray/cuda/api/ and
// ndarray/cuda/runtime/.
//
// This header: the part of a program that a profiler collects. Tools that wait for it (nsys profile -c cudaProfilerApi)
// collect from start() to stop().
//
// Thread safety: all functions may be called from any thread; collection concerns the whole process.
#pragma once

#include <string>

#include <catena/kernels/base/export.h>

namespace nd {
namespace profiler {

// RuntimeError "CUDA is unavailable: <why>"; NotImplementedError for a driver without these functions.
CATENA_EXPORT void start();
CATENA_EXPORT void stop();

enum class OutputMode : int { key_value_pair = 0, csv = 1 };
// Always NotImplementedError: CUDA has removed it.
[[noreturn]] CATENA_EXPORT void initialize(const std::string& config_file, const std::string& output_file,
                                           OutputMode output_mode);

}  // namespace profiler

// Collects until the end of the scope, also when an exception ends it.
class CATENA_EXPORT ProfileScope {
 public:
  ProfileScope() { profiler::start(); }
  ~ProfileScope();
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;
};

}  // namespace nd
