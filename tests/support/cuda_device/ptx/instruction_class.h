// The class of a PTX instruction, for counters (kernel_profile.h).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include <catena/tests/support/cuda_device/kernel_profile.h>

namespace cuda_device::ptx {

// From the text of an instruction, such as "@%p1 add.s32 %r1, %r2, 1;". Loads and stores to any space but that of
// parameters and constants have the class `global`, which their address decides.
InstructionClass class_of(std::string_view text);
// Finds instructions that the assembler merges with an earlier one: the addition to a product of 64 bits becomes a part
// of the multiplication, which is repeated for further additions to the same product, and logical operations also
// compare their result with 0.
class Merged {
 public:
  // The next instruction of a routine, with the numbers of its registers; negative numbers are constants. Changes its
  // class if it is merged.
  void find(std::string_view text, std::int32_t result, std::span<const std::int32_t> operands, InstructionClass& kind);

 private:
  std::map<std::int32_t, bool> products_;  // by register; true: added to something
  std::set<std::int32_t> logic_;           // registers with the results of logical operations
};

bool is_store(std::string_view text);
// A load of memory that the kernel does not change.
bool is_read_only_load(std::string_view text);

}  // namespace cuda_device::ptx
