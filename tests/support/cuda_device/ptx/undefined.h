// Bits without a value. A copy of a structure reads its padding, too, so what was read of shared memory that the block
// has not written may be moved: between registers and lanes, to memory and back. An instruction that computes with such
// bits, compares or converts them, or takes them for an address, is an error, and so is a store to global memory of
// nothing else. (Of less than 4 bytes only if the block has written nothing beside them: large structures are copied
// byte by byte.)
//
// Only bits of registers, shared memory (shadow.h) and local memory are followed; parameters of functions and what
// global memory holds count as defined.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <catena/tests/support/cuda_device/ptx/decode.h>

namespace cuda_device::ptx {

struct Undefined {
  std::uint64_t mask = 0;
  std::uint64_t origin = 0;  // where in shared memory they were read
};

// Those of a frame's registers.
class UndefinedRegisters {
 public:
  bool any() const { return !bits_.empty(); }
  void clear() { bits_.clear(); }
  Undefined of(std::int32_t number, unsigned lane) const;  // of a constant: none
  void set(std::int32_t number, unsigned lane, Undefined bits);

 private:
  std::unordered_map<std::uint32_t, Undefined> bits_;
};

// What an instruction does to such bits, from its words and the registers that it reads and writes.
Flow flow_of(const Words& words, const Step& step, std::vector<std::int32_t> reads, std::vector<std::int32_t> writes);

// Step::run for a frame some of whose registers have such bits.
void run_undefined(Warp& warp, const Step& step, Mask lanes);

}  // namespace cuda_device::ptx
