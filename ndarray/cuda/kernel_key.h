// What a compiled kernel is found by. One struct holds the full key, for memory and disk alike; values of scalars are never part of it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "kernels/host/program.h"

namespace nd::cuda {

using catena::Dtype;

// The launch skeletons (kernels/device/).
enum class Form : std::uint8_t {
  contiguous,      // elementwise: every operand contiguous or a scalar
  strided,         // elementwise, any strides
  indexed,         // programs with an indexed step
  reduce_block,    // a block per output
  reduce_warp,     // a warp per output: few elements each
  reduce_columns,  // neighbouring threads work on neighbouring outputs
  reduce_second,   // combines the partial results of split reductions
  row_block,       // a block per row
  row_warp,
  multi_tensor,
};
CATENA_EXPORT std::string_view name_of(Form form);

struct KernelKey {
  std::uint64_t program = 0;  // program_hash or kernel_hash: what is computed, and in which types
  std::array<Dtype, catena::kMaxOperands> dtypes{};  // of the operands in memory; a raw operand has its loop's dtype
  Form form = Form::contiguous;
  std::uint8_t rank = 1;         // axes of the loop, or kept axes, after merging; 0 = known at run time
  std::uint8_t reduced_rank = 1;  // reductions and rows
  std::uint16_t scalars = 0;      // bit k: input k is one element for the whole loop
  bool index32 = true;            // positions and byte offsets fit 31 bits
  std::uint32_t arch = 0;         // 90; decides the code, not the text
  std::uint64_t text = 0;         // text_hash(): headers, options, compiler

  friend bool operator==(const KernelKey&, const KernelKey&) = default;
  CATENA_EXPORT std::uint64_t hash() const;
};

CATENA_EXPORT std::uint64_t program_hash(const catena::Program& program);
CATENA_EXPORT std::uint64_t kernel_hash(const catena::KernelDef& def, const catena::Loop& loop);

}  // namespace nd::cuda
