// Programs and bound operands.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <catena/kernels/base/scalar.h>
#include <catena/kernels/registry/kernel.h>

namespace catena {

inline constexpr int kMaxSlots = 32;

// One application of a kernel inside a program: operand k of the kernel is slot[k] of the program.
struct Step {
  const KernelDef* kernel = nullptr;
  std::uint16_t loop = 0;
  std::array<std::uint8_t, kMaxOperands> slot{};

  const Loop& resolved() const { return kernel->loop_table[loop]; }
  const char* body() const { return resolved().body != nullptr ? resolved().body : kernel->name; }
};

// A sequence of kernels. Slots are numbered in the order inputs, in-outs, outputs, temporaries. Each slot has a dtype,
// and every store to it rounds to that dtype, so a fused float16 chain gives the same result as separate operations. An
// eager operation is a program of one step.
struct Program {
  std::span<const Step> steps;
  std::span<const Dtype> slots;
  std::uint8_t nin = 0, ninout = 0, nout = 0;

  int num_operands() const { return nin + ninout + nout; }
  int num_temporaries() const { return static_cast<int>(slots.size()) - num_operands(); }
};

// The program of one eager operation, stored on the stack of the caller.
class EagerProgram : public Program {
 public:
  EagerProgram(const KernelDef& def, int loop) : step_{&def, static_cast<std::uint16_t>(loop), kIdentity} {
    steps = {&step_, 1};
    slots = {def.loop_table[loop].type.data(), std::size_t(def.num_operands())};
    nin = def.nin;
    ninout = def.ninout;
    nout = def.nout;
  }
  EagerProgram(const EagerProgram&) = delete;
  EagerProgram& operator=(const EagerProgram&) = delete;

 private:
  static constexpr std::array<std::uint8_t, kMaxOperands> kIdentity = {0, 1, 2,  3,  4,  5,  6,  7,
                                                                       8, 9, 10, 11, 12, 13, 14, 15};
  Step step_;
};

// A non-owning strided reference to memory. Elementwise operands have been broadcast: one stride per axis of the loop
// shape. Raw operands and operands of bound calls have their own shape. An immediate operand is a host scalar: `data`
// points to host memory with one element of `dtype`, and all strides are 0.
struct BoundOperand {
  std::byte* data = nullptr;
  Dtype dtype = Dtype::float64;
  bool immediate = false;
  const Shape* shape = nullptr;
  const Strides* strides = nullptr;
};

// Holds a scalar as an element for the duration of a call.
struct ScalarCell {
  alignas(16) std::byte bytes[16];
  ScalarCell() = default;
  ScalarCell(const Scalar& s, Dtype t) { s.store(t, bytes); }
};

}  // namespace catena
