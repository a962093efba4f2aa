// Bound calls: the descriptions of call.h after binding. Operands are memory with strides, have been broadcast and
// checked, and do not overlap in a way that matters. Both backends of ndarray execute them. A kind of call whose
// description has the same fields for arrays and for bound operands is one template of namespace `over`.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>

#include <catena/kernels/base/function.h>
#include <catena/kernels/index_rule.h>
#include <catena/kernels/registry/program.h>
#include <catena/kernels/registry/random_kind.h>

namespace catena {

enum class ScatterMode : std::uint8_t { set, add };

// The length of the shortest pieces of CountPieces.
inline constexpr std::int64_t kLeastPiece = 2048;
// The number of counts of an array of n elements, whatever the pieces of its backend.
constexpr std::int64_t size_of_counts(std::int64_t n) { return 1 + (n + kLeastPiece - 1) / kLeastPiece; }

// ---- calls over arrays and over memory: In and Out are pointers to arrays (call.h) or bound operands --------------
namespace over {

// Throws IndexError that names the first number that breaks the rule. The CPU always checks. Other devices check only
// if the backend was configured to do so; the call then does not wait, and the next call that waits for the device
// throws the error. Axes along which the bound indices are repeated have been removed.
template <class In> struct CheckIndices {
  In indices{};  // of any integer dtype
  IndexRule rule;
  std::string_view name = "index";  // used in messages
  std::string_view op() const { return name; }
};

// out = a @ b over the last two axes; leading axes are broadcast: the bound operands have one rank. Rank >= 2; all
// operands have one dtype. float16 and bfloat16 accumulate in float32 and round once.
template <class In, class Out = In> struct Matmul {
  In a{}, b{};
  Out out{};
  std::string_view op() const { return "matmul"; }
};

// Running reduction with the bodies of a reduction: element i along `axis` is the reduction of elements 0 to i. `out`
// has the shape of `in`; the dtypes are any: values are converted to and from the types of the loop.
template <class In, class Out = In> struct Scan {
  const KernelDef* kernel = nullptr;
  int loop = 0;
  In in{};
  int axis = 0;
  Out out{};
  std::string_view op() const { return kernel->name; }
};

// Stable ascending sort along `axis`, NaN last, in order of appearance. `out` has the shape of `in`, and the dtype of
// `in` or, with `positions`, int64. With `kth` (positions in ascending order), the element at each of these positions
// is the one of the sorted row; no greater element precedes it and no smaller one follows it. The order is otherwise
// undefined, but NaN is last; a complete sort serves every kth.
template <class In, class Out = In> struct Sort {
  In in{};
  int axis = 0;
  bool positions = false;
  Out out{};
  std::span<const std::int64_t> kth = {};
  std::string_view op() const { return "sort"; }
};

// Concatenates the pieces along `axis`. All pieces have the dtype of `out`, and its shape except for the length along
// the axis. These lengths add up to the length of `out`, which is C-contiguous. Bound pieces have elements.
template <class In, class Out = In> struct Join {
  std::span<const In> pieces;
  int axis = 0;
  Out out{};
  std::string_view name = "join";  // used in messages
  std::string_view op() const { return name; }
};

// Numbers of non-zero elements: `counts[0]` is that of the array, and the other elements of `counts` are for a later
// Nonzero or Compress of the same backend, with the same operand: the numbers before each of the pieces, in C order,
// into which that backend divides the array. `counts` is C-contiguous, int64, with at least size_of_counts() elements.
template <class In, class Out = In> struct CountPieces {
  In in{};
  Out counts{};
  std::string_view op() const { return "nonzero"; }
};

// Positions of the non-zero elements in C order. `counts` is the output of CountPieces for `in`; it may be null (bound:
// without data) for arrays of up to kLeastPiece elements, which are one piece. `out` is C-contiguous, int64, of shape
// (rank, counts[0]): one row per axis.
template <class In, class Out = In> struct Nonzero {
  In in{}, counts{};
  Out out{};
  std::string_view op() const { return "nonzero"; }
};

// Random numbers of the Philox stream of `seed` from counter `offset` on. `refresh` returns the offset of each later
// run if the call is captured in a graph; if it is null, the call cannot be captured. The bound `out` is C-contiguous.
template <class Out> struct Random {
  RandomKind kind = RandomKind::uniform;
  std::uint64_t seed = 0, offset = 0;
  std::int64_t low = 0, high = 0;
  Out out{};
  const Function<std::uint64_t()>* refresh = nullptr;
  std::string_view op() const { return "random"; }
};

}  // namespace over

// One of several kinds of calls. It refers to the call, which must outlive it.
template <class... Calls> class AnyOf {
 public:
  template <class C>
  requires(std::same_as<C, Calls> || ...) AnyOf(const C& call) : call_(&call), kind_(kind_of<C>()) {}
  // Calls f(call) with the call itself.
  template <class F> void visit(F&& f) const { static_cast<void>((visits<Calls>(f) || ...)); }

 private:
  template <class C> static constexpr std::size_t kind_of() {
    std::size_t kind = 0;
    static_cast<void>(((std::same_as<C, Calls> || (++kind, false)) || ...));
    return kind;
  }
  // A chain of tests: the most frequent kind is the first.
  template <class C, class F> bool visits(F& f) const {
    if (kind_ != kind_of<C>()) return false;
    f(*static_cast<const C*>(call_));
    return true;
  }

  const void* call_;
  std::size_t kind_;
};

namespace call {
struct MultiTensor;
}
namespace bound {

using CheckIndices = over::CheckIndices<BoundOperand>;
using Matmul = over::Matmul<BoundOperand>;
using Scan = over::Scan<BoundOperand>;
using Sort = over::Sort<BoundOperand>;
using Join = over::Join<BoundOperand>;
using CountPieces = over::CountPieces<BoundOperand>;
using Nonzero = over::Nonzero<BoundOperand>;
using Random = over::Random<BoundOperand>;
struct Factorize;  // factorize.h
struct Fft;        // fft.h

// An elementwise or indexed program of one or several steps.
struct Elementwise {
  const Program* program = nullptr;
  std::span<const BoundOperand> operands;
  const Shape* loop = nullptr;
};

// One elementwise kernel over n elements: element i of operand k is at data[k] + i * stride[k] (bytes). Operands have
// the compute types of the loop; a stride is the size of an element, or 0 for a single value.
struct Flat {
  const KernelDef* kernel = nullptr;
  int loop = 0;
  std::byte* const* data = nullptr;
  const std::int64_t* stride = nullptr;
  std::int64_t n = 0;
};

// out = reduction of `in` over `axes` (sorted, non-negative). `out` has the rank of `in`, with length 1 and stride 0
// along the reduced axes. Operands may have any dtype: values are converted to and from the types of the loop.
struct Reduce {
  const KernelDef* kernel = nullptr;
  int loop = 0;
  BoundOperand in, out;
  Dims axes;
  // Elementwise programs before and after the reduction, in the same pass; null: none. `pre` has one output, which is
  // reduced. In that case `in` has no data; it gives the shape and the dtype, and its strides give the best order of
  // visiting the elements. `post` has one output, which is stored; its input 0 is the reduced value. The other inputs
  // of `pre` have one stride per axis of in.shape, the inputs of `post` one per axis of out.shape. The programs have no
  // in-outs, and all their kernels are elementwise.
  const Program* pre = nullptr;
  std::span<const BoundOperand> pre_inputs;
  const Program* post = nullptr;
  std::span<const BoundOperand> post_inputs;  // the inputs of `post` from 1 on
  std::int64_t ddof = 0;                      // as in call::Reduce

  std::int64_t divisor(std::int64_t elements) const { return elements > ddof ? elements - ddof : 0; }
};

// A row-wise kernel over `axes` of `shape`. Every operand has one stride per axis of `shape`; per-row outputs have
// stride 0 along `axes`. Operands may have any dtype.
struct RowWise {
  const KernelDef* kernel = nullptr;
  int loop = 0;
  Shape shape;
  Dims axes;
  std::span<const BoundOperand> operands;
};
struct RowWiseAndSums {
  RowWise rows;
  std::span<const Reduce> sums;
};

// Indexing by arrays. Over the loop shape, element i of the base is at
//   base + sum_k i_k * base.strides[k] + sum_j wrap(index_j[i], length_j) * stride_j.
// All index arrays have been broadcast to the loop shape. Indices may have any integer dtype. They wrap modulo the
// length; the call layer has checked those that must be checked.
struct Index {
  BoundOperand index;
  std::int64_t length = 0;
  std::int64_t stride = 0;
};
struct Gather {
  Shape loop;
  BoundOperand base;  // read by a gather, written by a scatter
  std::span<const Index> axes;
  BoundOperand other;  // the output of a gather, the values of a scatter; has the dtype of base
};
struct Scatter {
  Gather walk;
  ScatterMode mode = ScatterMode::set;
};

// Copies the elements at which the mask is true, one behind the other. All memory is contiguous: n bytes of the mask, n
// elements of `item` bytes (a power of two up to 16) of `in`, and `count` of them of `out`. `counts` is as in Nonzero.
struct Compress {
  std::int64_t n = 0, count = 0, item = 1;
  const std::int64_t* counts = nullptr;
  const std::byte* mask = nullptr;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
};

// Everything that a backend of ndarray executes.
using Call = AnyOf<Elementwise, Reduce, RowWise, RowWiseAndSums, Scan, call::MultiTensor, Gather, Scatter, CheckIndices,
                   Sort, Join, CountPieces, Nonzero, Matmul, Random, Factorize, Fft, Compress>;

}  // namespace bound
}  // namespace catena
