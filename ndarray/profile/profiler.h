// Folder ndarray/profile/: interfaces to profilers. This header controls which part of a program they record; nvtx.h
// names ranges. Timers and events are in ndarray/device/stream.h. May use kernels/base/; the sources also
// ndarray/cuda/api/ and ndarray/cuda/runtime/.
//
// This header: selects the part of a program that a profiler records. Tools that wait for it (nsys profile -c
// cudaProfilerApi) record from start() to stop().
//
// Thread safety: all functions may be called from any thread; recording concerns the whole process.
#pragma once

#include <string>

#include <catena/kernels/base/export.h>

namespace nd {
namespace profiler {

// RuntimeError "CUDA is unavailable: <why>"; NotImplementedError for a driver without these functions.
CATENA_EXPORT void start();
CATENA_EXPORT void stop();

// The format of the profiler's file.
enum class OutputMode : int { key_value_pair = 0, csv = 1 };
// Always NotImplementedError: CUDA does not have this function any more.
[[noreturn]] CATENA_EXPORT void initialize(const std::string& config_file, const std::string& output_file,
                                           OutputMode output_mode);

}  // namespace profiler

// Records until the end of the scope, also if an exception ends it.
class CATENA_EXPORT ProfileScope {
 public:
  ProfileScope() { profiler::start(); }
  ~ProfileScope();
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;
};

}  // namespace nd
