// The order of accesses to device memory.
//
// Order is tracked by vector clocks: each stream has a slot, each of its operations a position, and a clock has, for
// every slot, the number of operations of that stream that precede. In check mode (jit.h) the last accesses to every
// byte are stored. An access is reported if its clock does not include an earlier access to the same byte and one of
// the two writes.
//
// Thread safety: all functions are called under the runtime's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cuda_device {

using Clock = std::vector<std::uint64_t>;
void join(Clock& into, const Clock& other);  // the maximum of each slot

// An operation in execution.
struct Actor {
  std::string what;  // "kernel add", "copy"
  const void* stream = nullptr;
  std::size_t slot = 0;
  std::uint64_t position = 0;
  const Clock* clock = nullptr;
  bool kernel = false;
  const void* arguments = nullptr;  // the argument values of a kernel, which it reads in place
  std::size_t argument_bytes = 0;
  bool failed = false;  // an access was reported and the program continues

  std::string text() const;  // "kernel add on stream 0x55d0"
};
void begin_actor(Actor* actor);
void end_actor();
Actor* current_actor();  // of the calling thread; null: no operation in execution

// Default: true if kernels are instrumented. Copies and fills are checked in any case.
bool check_mode();
void set_check_mode(bool on);

// Checks an access of the current operation. Called by copies and fills, and by instrumented kernels for every access
// to memory outside their block. Reports an access that is outside all allocations in use, or unordered. Has no effect
// outside check mode.
void check_access(const void* address, std::size_t bytes, bool write, const void* code_address);

// Forgets all accesses to these bytes, because their content is replaced (allocation or free).
void forget_accesses(const void* data, std::size_t bytes);

}  // namespace cuda_device
