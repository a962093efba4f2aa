// Planned failures: call number N of an entry point fails with a code of its library.
//
// $CATENA_SOFTWARE_CUDA_FAIL plans failures for a whole program: "cuMemAlloc_v2:3:2" (entry point, number of the call,
// code), followed by ":sticky" if all later calls fail as well; several are separated by commas.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <string>

#include <catena/tests/support/cuda_device/entry.h>

namespace cuda_device {

// Makes call number `nth` of the entry point, counted from now and from 1, fail with `code`; sticky: also all later
// calls. Entry "kernel" is the execution of a kernel or of a library's work, after which the context is unusable.
// Returns false for an unknown entry point or nth < 1.
bool arm_fault(const std::string& entry, int nth, int code, bool sticky);
void clear_faults();

struct Fault {
  int code = 0;  // 0: none
  bool sticky = false;
};
// Called first by every entry point: counts the call and returns the planned failure, if any. The library interprets
// the code; a function without a status ignores it.
Fault begin_call(Entry entry);

}  // namespace cuda_device
