// Planned failures: call number N of an entry point fails with a code of its library.
//
// $CATENA_SOFTWARE_CUDA_FAIL plans some for a whole program: "cuMemAlloc_v2:3:2" (entry point, number of the call,
// code), with
// ":sticky" at the end when all later calls fail as well; several are separated by commas.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <string>

#include <catena/tests/support/cuda_device/entry.h>

namespace cuda_device {

// Call number `nth` of the entry point, counted from now and from 1, fails with `code`; sticky: all later ones too. The
// entry "kernel" is the execution of a kernel or of a library's work, whose failure the context does not survive.
// False: no such entry point, or nth < 1.
bool arm_fault(const std::string& entry, int nth, int code, bool sticky);
void clear_faults();

struct Fault {
  int code = 0;  // 0: none
  bool sticky = false;
};
// Every call of an entry point begins here: it is counted, and this says whether it fails now. The library decides what
// the code means; a function that has no status to return is counted only.
Fault begin_call(Entry entry);

}  // namespace cuda_device
