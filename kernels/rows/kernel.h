// What a registered kernel is: one row that names a body, the dtypes it has loops for, and the host loops compiled from
// it. A backend never has a method per operation; it executes rows.
//
// Loop signatures are text, one character per operand (NumPy's dtype characters, 'E' = bfloat16):
//   "ff->f"        two inputs, one output
//   "f&ff->"       one input, two in-out operands (bodies take them by reference)
//   "*fll->f"      '*': the operand is raw (indexed kernels: the body gets a View and reads where it likes)
//   "@f&f->"       '@': a 0-d input shared by all tensors of a multi-tensor call
//   "ff->f;ff"     ';': then come outputs of one element per row (row kernels)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <catena/kernels/base/dtype.h>
#include <catena/kernels/base/shape.h>

namespace catena {

inline constexpr int kMaxOperands = 16;

enum class KernelKind : std::uint8_t { elementwise, indexed, reduction, row, multi_tensor };

using KernelId = std::uint64_t;
constexpr KernelId kernel_id(std::string_view name) {  // FNV-1a
  std::uint64_t h = 0xcbf29ce484222325u;
  for (char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

// Elementwise: element i of operand k lies at ptr[k] + i * stride[k] (bytes), in the compute type of its slot. Any
// strides; outputs may be identical to inputs but not overlap them otherwise. The result does not depend on strides or
// on n.
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

// Reduction: accumulators are opaque cells of acc_bytes, aligned to 64 bytes at the start of an array of them. Order of
// combination: element i goes to lane i % kLanes, lanes are combined as a binary tree. `reduce` and `accumulate` follow
// the same order, so the result does not depend on which axis is the contiguous one.
inline constexpr int kLanes = 32;
// What a scan visits: `width` neighbouring rows, of each the elements `index` to index + n. Element i of row j lies at
// in + i * in_step + j * in_stride, its result (compute type of the loop's output) goes to out + i * out_step + j *
// out_stride.
struct ScanBlock {
  const std::byte* in;
  std::int64_t in_step, in_stride;
  std::byte* out;
  std::int64_t out_step, out_stride;
  std::int64_t index, n, width;
};
struct ReductionLoop {
  std::size_t acc_bytes;
  void (*init)(std::byte* acc, std::int64_t n);
  // n elements, at ptr + i * stride, numbered from `index`, into one accumulator (n <= a chunk; the caller combines
  // chunks).
  void (*reduce)(std::byte* acc, const std::byte* ptr, std::int64_t stride, std::int64_t index, std::int64_t n);
  // element j, all numbered `index`, into accumulator j.
  void (*accumulate)(std::byte* acc, const std::byte* ptr, std::int64_t stride, std::int64_t index, std::int64_t n);
  void (*combine)(std::byte* acc, const std::byte* other, std::int64_t n);  // acc[j] = combine(acc[j], other[j])
  // out[j] (compute type of the loop's output) from acc[j] of `count` elements.
  void (*finish)(const std::byte* acc, std::int64_t count, std::byte* out, std::int64_t stride, std::int64_t n);
  // Running results: accumulator j goes on with row j, one element after the other, and element 0 replaces what it
  // held.
  void (*scan)(std::byte* acc, const ScanBlock& block);
};

// Row: two phases of reduction over one set of axes, then a write of every element. A row arrives in segments; all
// operands are compute types; per-row operands have stride 0. `stats` holds the two accumulators and their lanes.
struct RowLoop {
  std::size_t stats_bytes;
  int phases;  // 1 or 2
  void (*init)(std::byte* stats);
  void (*phase0)(std::byte* stats, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n);
  void (*finish0)(std::byte* stats, std::byte* const* ptr, std::int64_t count);  // ptr: first element of the row
  void (*phase1)(std::byte* stats, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n);
  void (*finish1)(std::byte* stats, std::byte* const* ptr, std::int64_t count);  // also writes the per-row outputs
  void (*write)(const std::byte* stats, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n);
  // For bodies whose output follows from what phase 1 has mapped (null for others): phase 1 leaves that in the output,
  // where the second function finishes it. The same bits as phase1 and write, but nothing is mapped twice; the output
  // must keep its elements in between.
  void (*phase1_kept)(std::byte* stats, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n);
  void (*write_kept)(const std::byte* stats, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n);
};

// Multi-tensor: n contiguous elements of one tensor (compute types; '@' operands point at one element); `hyper` is its
// block of hyperparameters.
using MultiTensorFn = void (*)(const double* hyper, std::byte* const* ptr, std::int64_t n);

struct Loop {
  std::array<Dtype, kMaxOperands> type;  // inputs, in-outs, outputs, per-row outputs, as they are stored
  ElementwiseFn elementwise = nullptr;   // exactly one of these five is set
  IndexedFn indexed = nullptr;
  const ReductionLoop* reduction = nullptr;
  const RowLoop* row = nullptr;
  MultiTensorFn multi_tensor = nullptr;
};

// What is special about a row; a decision never asks for its id or its name.
enum RowTraits : std::uint8_t {
  no_traits = 0,
  refuses_bool = 1,  // no meaning for bools that everybody shares: bool operands do not climb to int8
  is_copy = 2,       // the output is the input
  is_random = 4,     // numbers of a Philox stream: the inputs begin with its seed and offset
  may_scan = 8,      // reductions that are used as running results
};

struct KernelDef {
  KernelId id;
  const char* name;    // also the functor's name: catena::k::<name>
  const char* header;  // where the body stands: "catena/kernels/elementwise/arithmetic.h"
  KernelKind kind;
  std::uint8_t nin, ninout, nout, nrow;
  std::uint16_t raw;     // bit k: operand k is raw
  std::uint16_t shared;  // bit k: operand k is a '@' operand
  RowTraits traits;
  bool transcendental;  // host loops run on whole vectors only, so that a value does not depend on its position
  bool has_identity;    // reductions: an empty input gives the identity
  const Loop* loop_table;
  std::uint16_t num_loops;

  std::span<const Loop> loops() const { return {loop_table, num_loops}; }
  int num_operands() const { return nin + ninout + nout + nrow; }
  int first_output() const { return nin + ninout; }
  bool is(RowTraits t) const { return (traits & t) != 0; }
  // The same row with one more trait.
  constexpr KernelDef with(RowTraits t) const {
    KernelDef d = *this;
    d.traits = static_cast<RowTraits>(d.traits | t);
    return d;
  }
};

// What kind of public function stands on a row (family.h).
enum class RowUse : std::uint8_t { unary, binary, unary_test, binary_test, own, internal };
struct RegisteredRow {
  const KernelDef* row;
  RowUse use;
  operator const KernelDef&() const { return *row; }
};
// Every row. Tests, code generation and tools find them here; there is no second list.
CATENA_EXPORT std::span<const RegisteredRow> all_rows();
// The row of that id or name, for tools and tests (product code writes rows::add); throws KeyError naming it when there
// is none.
CATENA_EXPORT const KernelDef& find_kernel(KernelId id);
CATENA_EXPORT const RegisteredRow& find_row(std::string_view name);
inline const KernelDef& find_kernel(std::string_view name) { return find_row(name); }

template <std::size_t N>
struct fixed_string {
  char text[N] = {};
  constexpr fixed_string(const char (&s)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = s[i];
  }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

// "ff->f" of a loop of `def`.
CATENA_EXPORT std::string signature(const KernelDef& def, const Loop& loop);

}  // namespace catena
