// What a compiled kernel is found by. One struct holds the full key, for memory and disk alike; values of scalars are
// never part of it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <catena/kernels/rows/program.h>

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
  row_block,       // a block per row, whose elements stay in registers
  row_warp,        // a warp per row, the same
  row_long,        // a block per row, whose elements are read again in every phase
  row_columns,     // a thread per row: neighbouring threads work on neighbouring rows
  multi_tensor,
  random,         // four elements per thread
  scan_rows,      // running results: a block per row
  scan_columns,   // neighbouring threads work on neighbouring rows
  scan_row_sums,  // of the pieces of rows that are scanned in pieces
  scan_column_sums,
  scan_carries,  // what comes before each piece
  // Those below are known by their key alone; no row of the registry is part of them.
  gather,   // dtypes: an unsigned integer (16 bytes: complex128) of the size of the elements, then those of the index
            // arrays
  scatter,  // the same; reduced_rank: number of index arrays
  scatter_add,  // dtypes: of the elements, then those of the index arrays
  matmul_tiles,
  matmul_rows,     // at most four rows of results, a warp per column
  matmul_columns,  // at most four rows of results, neighbouring threads work on neighbouring columns
  matmul_second,   // combines the partial results of split products
  nonzero_count,   // of every piece of the array
  nonzero_write,
  offsets,     // running sums of counts, each without its own
  sort_block,  // rows that fit a block
  sort_keys,   // longer rows: keys that sort as unsigned integers
  sort_count,  // how often each digit occurs in every piece
  sort_move,   // to the places by one digit
  sort_result,
};
CATENA_EXPORT std::string_view name_of(Form form);

struct KernelKey {
  std::uint64_t program = 0;  // program_hash or kernel_hash: what is computed, and in which types
  std::array<Dtype, catena::kMaxOperands> dtypes{};  // of the operands in memory; a raw operand has its loop's dtype
  Form form = Form::contiguous;
  std::uint8_t rank = 1;  // axes of the loop, or kept axes, after merging; 0 = known at run time
  std::uint8_t reduced_rank =
      1;  // reductions and rows; indexed programs: neighbouring elements that a thread works on at once
  std::uint16_t scalars = 0;  // bit k: input k is one element for the whole loop; rows, bit 8 + k: for a whole row
  bool index32 = true;        // positions and byte offsets fit 31 bits
  std::uint32_t arch = 0;     // 90; decides the code, not the text
  std::uint64_t text = 0;     // text_hash(): headers, options, compiler

  friend bool operator==(const KernelKey&, const KernelKey&) = default;
  CATENA_EXPORT std::uint64_t hash() const;
};

CATENA_EXPORT std::uint64_t program_hash(const catena::Program& program);
CATENA_EXPORT std::uint64_t kernel_hash(const catena::KernelDef& def, const catena::Loop& loop);

}  // namespace nd::cuda
