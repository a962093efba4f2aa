// Which part of a program a profiler looks at: tools that were told to wait (nsys profile -c cudaProfilerApi) collect
// from start to stop.
//
// Thread safety: all functions may be called from any thread; collecting concerns the whole process.
#pragma once

#include <string>

#include <catena/kernels/base/export.h>

namespace nd {
namespace profiler {

// RuntimeError "CUDA is unavailable: <why>", NotImplementedError for a driver that has no such functions.
CATENA_EXPORT void start();
CATENA_EXPORT void stop();

enum class OutputMode : int { key_value_pair = 0, csv = 1 };
// CUDA dropped it: always NotImplementedError.
[[noreturn]] CATENA_EXPORT void initialize(const std::string& config_file, const std::string& output_file,
                                           OutputMode output_mode);

}  // namespace profiler

// Collects from here to the end of the scope, also when an exception ends it.
class CATENA_EXPORT ProfileScope {
 public:
  ProfileScope() { profiler::start(); }
  ~ProfileScope();
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;
};

}  // namespace nd
