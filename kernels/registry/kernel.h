// The folder kernels/registry/: kernels and their calls. A kernel describes a body: its name, the dtypes it has loops
// for, and the host loops compiled from it (loops_*.cpp). The folder also has the constants
// kernels::<name> (families.h), the registry, the embedded text of the bodies, programs (sequences of kernels),
// binding, and the descriptions of calls. Bodies are in the folders of their families. A backend executes calls; it has
// no method per operation. May use kernels/base/ and the headers of kernels/.
//
// This header: the kernel itself. Loop signatures are text with one character per operand (NumPy's dtype characters;
// 'E' is bfloat16):
//   "ff->f"        two inputs, one output
//   "f&ff->"       one input, two in-out operands (bodies take them by reference)
//   "*fll->f"      '*': the operand is raw (indexed kernels: the body gets a View and may read any element)
//   "@f&f->"       '@': a 0-d input shared by all tensors of a multi-tensor call
//   "ff->f;ff"     outputs behind ';' have one element per row (row-wise kernels)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <catena/kernels/base/dtype.h>
#include <catena/kernels/base/shape.h>
#include <catena/kernels/registry/kernel_declaration.h>

namespace catena {

enum class KernelKind : std::uint8_t { elementwise, indexed, reduction, row_wise, multi_tensor };

using KernelId = std::uint64_t;
constexpr KernelId kernel_id(std::string_view name) {  // FNV-1a
  std::uint64_t h = 0xcbf29ce484222325u;
  for (char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

// Elementwise: element i of operand k is at ptr[k] + i * stride[k] (bytes), in the compute type of its slot. Strides
// are arbitrary. An output may be identical to an input but must not overlap it otherwise. Results do not depend on the
// strides or on n.
using ElementwiseFn = void (*)(std::byte* const* ptr, const std::int64_t* stride, std::int64_t n);

// Indexed: positions begin..end of the loop shape in C order. Non-raw operands have been broadcast to the loop shape;
// raw ones keep their own shape. Operands have exactly the dtypes of the loop (16-bit floats included).
struct IndexedCall {
  std::byte* const* data;
  const Shape* const* shape;
  const Strides* const* strides;
  const Shape* loop;
};
using IndexedFn = void (*)(const IndexedCall& call, std::int64_t begin, std::int64_t end);

// Reduction: accumulators are opaque cells of acc_bytes bytes; an array of them is aligned to 64 bytes. Order of
// combination in host loops (CUDA: kernels/device/reduction.h): element i goes to lane i % lanes; a lane combines its
// elements in groups of `group`, and the groups one after the other; the lanes are combined as a binary tree. All
// functions follow this order, so the result does not depend on which axis is contiguous. Groups bound how many numbers
// are added up one after the other, and with that the rounding errors; long reductions are cut into chunks whose
// results are joined as a tree (ndarray/cpu/reduce.cpp).
inline constexpr int kLanes = 32;
inline constexpr std::int64_t kGroup = 16;
inline constexpr std::int64_t kOneGroup = INT64_MAX;  // all elements of a lane are one group
inline constexpr std::int64_t kMostFolded = 4096;     // elements of an accumulator that the lanes combine
// The elements that one call of `scan` processes: elements index to index + n of `width` rows with any strides. Element
// i of row j is at in + i * in_step + j * in_stride; its result, in the compute type of the loop's output, goes to out
// + i * out_step + j * out_stride.
struct ScanBlock {
  const std::byte* in;
  std::int64_t in_step, in_stride;
  std::byte* out;
  std::int64_t out_step, out_stride;
  std::int64_t index, n, width;
};
// The elements that one call of a fold processes: `rows` rows, each of n contiguous elements. Element i of row r is at
// in + r * row_step + i * itemsize. For `fold` a row has the elements of one output; for `fold_columns` and
// `fold_positions` it has one element of each of n outputs.
struct ReductionBlock {
  const std::byte* in;
  std::int64_t row_step, rows, index, n;
};
// The loops are compiled for contiguous elements of a few types; other operands pass through tiles
// (reduction_loop.cpp).
struct ReductionLoop {
  std::size_t acc_bytes;
  Dtype in, element;   // compute type of the loop's input; type that the folds read: the same or a wider one
  Dtype result, out;   // the type that `store` writes; compute type of the loop's output
  bool any_order;      // the bits of a result do not depend on the order of combination
  bool short_rows;     // folding rows of fewer than kLanes elements takes no longer than reading them
  std::int64_t group;  // kGroup or kOneGroup
  bool adds_pairs;     // adding an element to an accumulator gives the same bits as combining it with the accumulator
                       // of that element alone
  int lanes;           // kLanes, or fewer, where a vector of them is enough and combining them is costly
  void (*init)(std::byte* acc, std::int64_t n);
  // Reduces the n elements of row r, numbered from `index`, and combines the result with accumulator r.
  void (*fold)(std::byte* acc, const ReductionBlock& block);
  // As `fold`, with prefetching, for elements that are in no cache. Null if `fold` is as fast.
  void (*fold_prefetching)(std::byte* acc, const ReductionBlock& block);
  // Adds one row: element j to accumulator j, the partial result of a group. All elements have the number `index`.
  void (*add_row)(std::byte* acc, const std::byte* elements, std::int64_t index, std::int64_t n);
  // Combines element j of all rows and adds the result to accumulator j, the partial result of a lane. The rows
  // are a group or the beginning of one. `first`: the accumulators are uninitialised. Null if the loop has only
  // add_row.
  void (*fold_columns)(std::byte* acc, const ReductionBlock& block, bool first);
  // Adds element j of row r, which has the number index + r, to accumulator j. Null unless the result is the number of
  // an element (argmax, argmin); other loops ignore the numbers.
  void (*fold_positions)(std::byte* acc, const ReductionBlock& block);
  void (*combine)(std::byte* acc, const std::byte* other, std::int64_t n);  // acc[j] = combine(acc[j], other[j])
  // As `combine`, for accumulators of chunks; there may be many chunks.
  void (*join)(std::byte* acc, const std::byte* other, std::int64_t n);
  void (*store)(const std::byte* acc, std::int64_t count, std::byte* out, std::int64_t stride, std::int64_t n);
  // True if no further element can change the accumulator. Null if that never happens.
  bool (*is_final)(const std::byte* acc);
  // Running results: accumulator j continues with row j, element by element; the element with number 0 overwrites the
  // previous content. Null if the kernel lacks the trait may_scan.
  void (*scan)(std::byte* acc, const ScanBlock& block);

  // Reduces n elements at ptr + i * stride, numbered from `index`, into one accumulator. Unless any_order is true, n
  // must be at most kMostFolded.
  CATENA_EXPORT void reduce(std::byte* acc, const std::byte* ptr, std::int64_t stride, std::int64_t index,
                            std::int64_t n) const;
  // As `reduce` for `rows` rows, each into its own accumulator. block.in points at elements of the type `in`, `stride`
  // bytes apart.
  CATENA_EXPORT void reduce_rows(std::byte* acc, const ReductionBlock& block, std::int64_t stride) const;
  // Adds element j to accumulator j, for n elements that all have the number `index`.
  CATENA_EXPORT void accumulate(std::byte* acc, const std::byte* ptr, std::int64_t stride, std::int64_t index,
                                std::int64_t n) const;
  // Calls fold_positions for elements of the type `in`, `stride` bytes apart.
  CATENA_EXPORT void accumulate_positions(std::byte* acc, const ReductionBlock& block, std::int64_t stride) const;
  // Computes out[j], in the compute type of the loop's output, from acc[j], which has reduced `count` elements.
  CATENA_EXPORT void finish(const std::byte* acc, std::int64_t count, std::byte* out, std::int64_t stride,
                            std::int64_t n) const;
};

// Row-wise: one or two phases of reduction over one set of axes, then a write of every element. A row is passed in
// segments; all operands have one compute type, and inputs with one element per row have stride 0. The loops are
// compiled for contiguous operands; other operands pass through tiles (row_wise_loop.cpp).
struct RowProgress {
  std::int64_t position;  // number of elements of the current phase so far: element i always goes to lane i % kLanes
};
inline constexpr int kColumnBytes = 64;  // bytes of the neighbouring rows that `columns` computes in one vector
inline constexpr int kFinishedRows = kColumnBytes / 8;
struct RowWiseLoop {
  std::size_t stats_bytes;  // size of the accumulators and their lanes, which begin with a RowProgress
  Dtype type;
  int phases, nin, nout, nsums;  // phases: number of passes that fold; one pass may fold both phases of a body
  std::uint16_t per_row;         // bit k: input k has one element per row
  std::uint16_t shared;          // bit k: input k is the same for all rows
  void (*init)(std::byte* stats);
  // Reduces n elements, starting at element `position` of the row. If `position` is not a multiple of kLanes, the
  // elements must not extend beyond the next multiple.
  void (*fold[2])(std::byte* stats, std::byte* const* ptr, std::int64_t n);
  // Ends a phase for `rows` rows (at most kFinishedRows). Rows are finished together because their logarithms, roots
  // and divisions fit in one vector. The memory of row r is at stats + r * stats_bytes. Its first elements, and its
  // per-row outputs, which the last phase writes, are at ptr[r * kMaxOperands + k].
  void (*finish[2])(std::byte* stats, std::byte* const* ptr, std::int64_t rows, std::int64_t count);
  void (*store)(const std::byte* stats, std::byte* const* ptr, std::int64_t n);
  // fold_kept stores the mapped values of phase 1 in the output and store_kept computes the result from them there, so
  // that no element is mapped twice; the result has the same bits. The output must not change in between. Null for
  // bodies whose output cannot be computed from the mapped values.
  void (*fold_kept)(std::byte* stats, std::byte* const* ptr, std::int64_t n);
  void (*store_kept)(const std::byte* stats, std::byte* const* ptr, std::int64_t n);
  // Computes all phases and outputs of `width` neighbouring rows of `count` elements. Element i of row j of operand k
  // is element j at ptr[k] + i * step[k]; operands with one element per row begin at ptr[k]. `width` must be a multiple
  // of rows_per_vector(). The result has the same bits as with the other functions.
  void (*columns)(std::byte* const* ptr, const std::int64_t* step, std::int64_t count, std::int64_t width);
  // As `store`, and adds the contribution of element i to sum k to element i of the array at sums[k]. Null if
  // KernelDef::sums is empty.
  void (*store_sums)(const std::byte* stats, std::byte* const* ptr, std::byte* const* sums, std::int64_t n);
  // As `columns`, and adds the contribution of element i of row j, for j < `live`, to element i * rows_per_vector() + j
  // % rows_per_vector() of the array at sums[k].
  void (*columns_sums)(std::byte* const* ptr, const std::int64_t* step, std::int64_t count, std::int64_t width,
                       std::byte* const* sums, std::int64_t live);

  std::int64_t rows_per_vector() const { return kColumnBytes / static_cast<std::int64_t>(itemsize(type)); }
  void finish0(std::byte* stats, std::byte* const* ptr, std::int64_t count) const { finish[0](stats, ptr, 1, count); }
  void finish1(std::byte* stats, std::byte* const* ptr, std::int64_t count) const { finish[1](stats, ptr, 1, count); }
  bool keeps() const { return fold_kept != nullptr; }
  CATENA_EXPORT void phase0(std::byte* stats, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n) const;
  CATENA_EXPORT void phase1(std::byte* stats, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n) const;
  CATENA_EXPORT void phase1_kept(std::byte* stats, std::byte* const* ptr, const std::int64_t* stride,
                                 std::int64_t n) const;
  CATENA_EXPORT void write(const std::byte* stats, std::byte* const* ptr, const std::int64_t* stride,
                           std::int64_t n) const;
  CATENA_EXPORT void write_kept(const std::byte* stats, std::byte* const* ptr, const std::int64_t* stride,
                                std::int64_t n) const;
  CATENA_EXPORT void write_sums(const std::byte* stats, std::byte* const* ptr, const std::int64_t* stride,
                                std::byte* const* sums, std::int64_t n) const;
};

// Multi-tensor: n contiguous elements of one tensor, in compute types; '@' operands point at one element. `hyper` is
// the block of hyperparameters of the tensor.
using MultiTensorFn = void (*)(const double* hyper, std::byte* const* ptr, std::int64_t n);

struct Loop {
  std::array<Dtype, kMaxOperands> type;  // stored dtypes: inputs, in-outs, outputs, per-row outputs
  ElementwiseFn elementwise = nullptr;   // exactly one of these five is set
  IndexedFn indexed = nullptr;
  const ReductionLoop* reduction = nullptr;
  const RowWiseLoop* row_wise = nullptr;
  MultiTensorFn multi_tensor = nullptr;
  const char* body = nullptr;  // name of the functor catena::k::<body> if it is not that of the kernel
};

// Special properties of a kernel. Backends and the call layer decide by these, never by the id, name or address of a
// kernel. (A routine that is made for a few kernels may compare their addresses: ndarray/routines/reduction.cpp.)
enum KernelTraits : std::uint8_t {
  no_traits = 0,
  refuses_bool = 1,        // TypeError for bools instead of promotion to int8, because libraries differ
  is_copy = 2,             // the output is the input
  is_random = 4,           // draws from a Philox stream; the first inputs are its seed and offset
  may_scan = 8,            // the reduction can be used as a scan
  takes_any_integer = 16,  // a host integer that the arrays' dtype cannot hold counts as int64 or uint64 instead of
                           // being refused: comparisons, and functions that return floats (true_divide)
};

struct KernelDef;

// A sum over the other axes of a row-wise kernel. The kernel's loops can compute it in the pass that writes. It is the
// sum of `map` over some inputs of the kernel, or of one input if `map` is null. `input` begins with the positions of
// these inputs.
struct RowSum {
  const KernelDef* map;
  std::array<std::uint8_t, kMaxOperands> input;
};
inline constexpr int kMaxRowSums = 4;

struct KernelDef {
  KernelId id;
  const char* name;    // equal to the name of the functor catena::k::<name>, but see Loop::body
  const char* header;  // the header with the body: "catena/kernels/elementwise/arithmetic.h"
  KernelKind kind;
  std::uint8_t nin, ninout, nout, nrow;
  std::uint16_t raw;     // bit k: operand k is raw
  std::uint16_t shared;  // bit k: operand k is a '@' operand
  KernelTraits traits;
  bool transcendental;  // the host loops run on whole vectors only, so that a value does not depend on its position
  bool has_identity;    // reductions: an empty input gives the identity
  const Loop* loop_table;
  std::uint16_t num_loops;
  // For each dtype: index of the first loop whose inputs and in-outs all have it, or no_loop.
  std::array<std::uint8_t, internal::kDtypeInfo.size()> uniform_loop;
  std::span<const RowSum> sums = {};  // at most kMaxRowSums
  static constexpr std::uint8_t no_loop = 0xff;

  std::span<const Loop> loops() const { return {loop_table, num_loops}; }
  int num_operands() const { return nin + ninout + nout + nrow; }
  int first_output() const { return nin + ninout; }
  // Index of the first loop whose inputs all have this dtype, or -1.
  int loop_of(Dtype t) const {
    const std::uint8_t i = uniform_loop[static_cast<std::size_t>(t)];
    return i == no_loop ? -1 : i;
  }
  bool is(KernelTraits t) const { return (traits & t) != 0; }
  // Returns a copy of the kernel with one more trait.
  constexpr KernelDef with(KernelTraits t) const {
    KernelDef d = *this;
    d.traits = static_cast<KernelTraits>(d.traits | t);
    return d;
  }
  constexpr KernelDef with_identity() const {
    KernelDef d = *this;
    d.has_identity = true;
    return d;
  }
  constexpr KernelDef with_sums(std::span<const RowSum> s) const {
    KernelDef d = *this;
    d.sums = s;
    return d;
  }
};

// The public function that is made from a kernel (kernels/lists/): an elementwise function of one or of two arrays, a
// reduction, a function with a signature of its own, which is written in ndarray/routines/, or none, because other
// functions use the kernel.
enum class KernelUse : std::uint8_t { unary, binary, reduction, own, internal };
struct RegisteredKernel {
  const KernelDef* kernel;
  KernelUse use;
  operator const KernelDef&() const { return *kernel; }
};
// Returns all registered kernels. Tests, code generation and tools use this list.
CATENA_EXPORT std::span<const RegisteredKernel> all_kernels();
// Returns the kernel with that id or name. Throws KeyError with the id or name if there is none. For tools and tests;
// other code uses the constants kernels::<name>.
CATENA_EXPORT const KernelDef& find_kernel(KernelId id);
CATENA_EXPORT const RegisteredKernel& find_registered(std::string_view name);
CATENA_EXPORT const RegisteredKernel* find_registered_if_any(std::string_view name);  // null if there is none
inline const KernelDef& find_kernel(std::string_view name) { return find_registered(name); }

template <std::size_t N> struct fixed_string {
  char text[N] = {};
  constexpr fixed_string(const char (&s)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = s[i];
  }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

// Returns the signature of a loop of `def`, such as "ff->f".
CATENA_EXPORT std::string signature(const KernelDef& def, const Loop& loop);

}  // namespace catena
