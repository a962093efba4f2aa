// Who uses device memory, and whether anything orders them.
//
// Time is kept in vector clocks: each stream has a slot, each operation of it a position, and a clock says for every
// slot how many operations of that stream are known to lie before. In check mode (jit.h) the last accesses to every
// byte are kept, and one that does not know an earlier access to the same byte, one of the two writing, is reported.
//
// Thread safety: all functions are called under the runtime's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cuda_device {

using Clock = std::vector<std::uint64_t>;
void join(Clock& into, const Clock& other);  // the later of the two, slot by slot

// What is executed now.
struct Actor {
  std::string what;  // "kernel add", "copy"
  const void* stream = nullptr;
  std::size_t slot = 0;
  std::uint64_t position = 0;
  const Clock* clock = nullptr;
  bool kernel = false;
  const void* arguments = nullptr;  // of a kernel: the values, which it reads where they are
  std::size_t argument_bytes = 0;
  bool failed = false;  // an access was reported, and the program goes on

  std::string text() const;  // "kernel add on stream 0x55d0"
};
void begin_actor(Actor* actor);
void end_actor();
Actor* current_actor();  // of the calling thread; null: it executes nothing

// At first: whether kernels are instrumented. Copies and fills are checked in any case.
bool check_mode();
void set_check_mode(bool on);

// An access of what is executed. Called by copies and fills, and for every access of a kernel to memory that is not its
// block's own where kernels are instrumented. Reports one that is outside every allocation in use, or unordered; does
// nothing out of check mode.
void check_access(const void* address, std::size_t bytes, bool write, const void* code_address);

// The bytes are no longer what they were: nothing before this counts.
void forget_accesses(const void* data, std::size_t bytes);

}  // namespace cuda_device
