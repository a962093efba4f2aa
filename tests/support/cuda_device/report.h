// What the software device has to say about a program that misuses it.
//
// Thread safety: all functions may be called from any thread, and from a handler of a synchronous signal.
#pragma once

#include <string>

namespace cuda_device {

enum class ReportMode {
  abort,  // the program ends after the first report
  error   // it goes on; the context fails with CUDA_ERROR_ILLEGAL_ADDRESS
};
void set_report_mode(ReportMode mode);
ReportMode report_mode();

// Prints "software cuda: <text>" on stderr and keeps the text; ends the program in mode `abort`, or when `survivable`
// is false.
void report(const std::string& text, bool survivable = true);
std::string last_report();

// The calling thread's stack from the instruction `from` on (null: from the caller): "\n  in <function> at
// <file>:<line>" per frame, or the library and the offset in it where there is no debug information.
std::string describe_stack(const void* from = nullptr);

}  // namespace cuda_device
