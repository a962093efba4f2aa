// Tracks bits without a value. Copying a structure also reads its padding, so bits read from shared memory that the
// block has not written may be moved between registers and lanes, to memory and back. It is an error if an instruction
// computes with such bits, compares or converts them, or uses them as an address, and if a store to global memory
// consists only of such bits. (A store of less than 4 bytes is an error only if the block has written nothing beside
// them, because large structures are copied byte by byte.)
//
// Only bits of registers, shared memory (shadow.h) and local memory are tracked; parameters of functions and the
// contents of global memory count as defined.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <catena/tests/support/cuda_device/ptx/decode.h>

namespace cuda_device::ptx {

struct Undefined {
  std::uint64_t mask = 0;
  std::uint64_t origin = 0;  // the position in shared memory from which they were read
};

// The undefined bits of a frame's registers.
class UndefinedRegisters {
 public:
  bool any() const { return !bits_.empty(); }
  void clear() { bits_.clear(); }
  Undefined of(std::int32_t number, unsigned lane) const;  // a constant has no undefined bits
  void set(std::int32_t number, unsigned lane, Undefined bits);

 private:
  std::unordered_map<std::uint32_t, Undefined> bits_;
};

// Returns the effect of an instruction on such bits, from its words and the registers that it reads and writes.
Flow flow_of(const Words& words, const Step& step, std::vector<std::int32_t> reads, std::vector<std::int32_t> writes);

// Replaces Step::run for a frame in which some registers have such bits.
void run_undefined(Warp& warp, const Step& step, Mask lanes);

}  // namespace cuda_device::ptx
