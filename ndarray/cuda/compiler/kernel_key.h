// The key of a compiled kernel. One struct is the complete key, in memory and on disk; it does not contain values of
// scalars.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <catena/kernels/registry/program.h>

namespace nd::cuda {

using catena::Dtype;

// Groups of forms whose texts one function makes: those of codegen_text.h, for elementwise forms one in
// elementwise.cpp. Each family has a file in ndarray/cuda/plans/; compress and offsets are in nonzero.cpp.
enum class Family : std::uint8_t {
  elementwise,
  reduce,
  row_wise,
  multi_tensor,
  random,
  scan,
  // No registered kernel takes part in the families below: the key alone describes the text.
  gather,
  matmul,
  nonzero,
  compress,
  offsets,
  sort,
  index_check,
  join,
  depthwise,
  fft,
  attention,
};

// The launch skeletons (kernels/device/).
enum class Form : std::uint8_t {
  contiguous,      // elementwise: all operands contiguous or scalars
  strided,         // elementwise, any strides
  indexed,         // programs with an indexed step
  indexed_apart,   // the same; the positions of a thread are a warp apart
  recurrence,      // elementwise, in the order of the first axis; one block per position along the second one
  reduce_block,    // one block per output
  reduce_warp,     // a warp or a part of it per output, for few elements
  reduce_columns,  // neighbouring threads reduce neighbouring outputs
  reduce_second,   // combines the partial results of split reductions
  row_block,       // one block per row; as in row_warp and row_part, its elements stay in registers if they fit
  row_warp,        // one warp per row
  row_part,        // kPartLanes threads per row
  row_long,        // one block per row, whose elements are loaded in every phase
  row_columns,     // one thread per row; neighbouring threads process neighbouring rows
  multi_tensor,
  random,            // four elements per thread
  scan_rows,         // running results: one block per row
  scan_columns,      // neighbouring threads process neighbouring rows
  scan_chain,        // one block per piece of a long row
  scan_column_sums,  // results of the pieces of long columns
  scan_carries,      // combination of the pieces before each piece
  gather,            // dtypes: bool, then those of the index arrays
  scatter,           // as gather
  scatter_add,       // dtypes: the elements, then the index arrays
  scatter_add_few,   // one index array, over so few targets that a block has a place for each in shared memory
  matmul_tiles,
  matmul_rows,          // at most four rows of results, one warp per column
  matmul_columns,       // at most four rows of results, neighbouring threads compute neighbouring columns
  matmul_second,        // combines the partial results of split products
  nonzero_count,        // number of non-zero elements before each piece of the array
  nonzero_count_bytes,  // as nonzero_count, of contiguous bytes
  nonzero_write,
  compress_write,  // the elements at which the mask is true
  offsets,         // exclusive running sums of counts
  clear,           // sets counts to zero
  sort_block,      // rows that fit a block
  sort_count,      // longer rows: number of occurrences of each value of each digit
  sort_move,       // moves elements to their places by one digit
  select_count,    // number of occurrences of a digit among the elements that may be pivots
  select_move,     // moves elements to their sides of the pivots
  index_check,     // looks for indices out of range
  join,
  depthwise,  // depthwise convolutions: rank: the stride, per_thread: the length of the filter, many_pieces: channels
              // last
  depthwise_data,     // gradients of their images, with a stride
  depthwise_filter,   // gradients of their filters
  fft_stage,          // one factor of the length of Fourier transforms
  attention,          // the fields are described in plans/attention.cpp
  attention_queries,  // the gradient of the queries
  attention_keys,     // the gradients of keys and values
  end                 // the number of forms
};
CATENA_EXPORT std::string_view name_of(Form form);
CATENA_EXPORT Family family_of(Form form);

struct KernelKey {
  // program_hash, kernel_hash or, for reductions with programs, reduction_hash: the computation and its types
  std::uint64_t program = 0;
  // Of the operands in memory; raw operands: of the loop; radix sort: then int64 if the result is positions.
  std::array<Dtype, catena::kMaxOperands> dtypes{};
  Form form = Form::contiguous;
  // Axes of the loop, or kept axes, after merging; 0: known at run time. reduced_rank: the reduced axes, likewise.
  std::uint8_t rank = 1, reduced_rank = 1;
  // Strided and indexed: elements that a thread computes. Row-wise kernels: elements that it can keep; 1 stands for
  // kRowElements. Reductions over columns: neighbouring outputs of a thread.
  std::uint8_t per_thread = 1;
  std::uint8_t index_arrays = 0;  // gather, scatter
  // Gather, scatter, join: bytes that a thread moves at once. Row-wise kernels: bytes of an access to the widest
  // operand; 0 stands for 16. reduce_warp: threads per output; reduce_columns: threads side by side; in both, 0 stands
  // for a warp and 63 for a block.
  std::uint8_t word_bytes = 0;
  // Join: the parameters hold kManyPieces pieces, not kFewPieces. Reductions: several blocks share the elements of an
  // output. Depthwise convolutions: channels are last.
  bool many_pieces = false;
  bool index32 = true;  // positions and byte offsets fit 31 bits; radix sort: counts fit 30 bits
  // Bit k: input k has one element for the whole loop; bit 8 + k: one per row or output (row-wise kernels, reductions
  // with programs).
  std::uint16_t scalars = 0;
  std::uint32_t arch = 0;       // for example 90; the source text does not depend on it
  std::uint64_t toolchain = 0;  // toolchain_hash(): headers, options, compiler

  friend bool operator==(const KernelKey&, const KernelKey&) = default;
  CATENA_EXPORT std::uint64_t hash() const;
};

CATENA_EXPORT std::uint64_t program_hash(const catena::Program& program);
CATENA_EXPORT std::uint64_t kernel_hash(const catena::KernelDef& def, const catena::Loop& loop);

}  // namespace nd::cuda
