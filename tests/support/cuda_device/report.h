// Reports of errors of the program that uses the software device.
//
// Thread safety: all functions may be called from any thread, and from a handler of a synchronous signal.
#pragma once

#include <string>

namespace cuda_device {

enum class ReportMode {
  abort,  // the first report ends the program
  error   // the program continues; the context fails with CUDA_ERROR_ILLEGAL_ADDRESS
};
void set_report_mode(ReportMode mode);
ReportMode report_mode();

// Prints "software cuda: <text>" to stderr and stores the text. Ends the program in mode `abort` or if `survivable` is
// false.
void report(const std::string& text, bool survivable = true);
std::string last_report();

// Returns the calling thread's stack from the instruction `from` (null: from the caller): "
//   in <function> at <file>:<line>" per frame, or the library and the offset in it if there is no debug information.
std::string describe_stack(const void* from = nullptr);

}  // namespace cuda_device
