// Scans, sorts, reductions by key and histograms with an operation given as text: one definition for the CPU and CUDA.
//
//   nd::scan(a, "max(a, b)")                                  // running maxima
//   nd::scan(a, "a * b % 97", {.exclusive = true, .identity = "1"})
//   nd::sort(a, "abs(a) < abs(b)")                            // by magnitude
//   auto [keys, sums] = nd::reduce_by_key(k, v, "a + b");
//   auto [h, edges] = nd::weighted_histogram(a, "x * x", {.bins = 20});
//
// A text is an expression of C++ in `a` and `b` (weighted_histogram: `x`), which have the type T, the dtype of the
// array. It may use what an ElementwiseKernel may use (elementwise_kernel.h), and functions of the preamble. It is
// compiled at its first call for a dtype. A combination must be associative; it need not be commutative. The order in
// which it is applied depends on lengths only, except that CPU and CUDA group rounded sums differently.
//
// Errors: ValueError for an empty text, an axis out of range and arrays on different devices; TypeError for a null
// array; CompileError with the source and the compiler's message.
//
// Thread safety: may be called from any thread; the caller must order writes to an array with other accesses.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/ndarray/core/array.h>
#include <catena/ndarray/routines/histogram.h>

namespace nd {

struct TextScanOptions {
  [[no_unique_address]] Named named = Named();
  std::optional<int> axis = {};           // default: the flattened array
  bool exclusive = false;                 // element i combines the elements before i; needs the identity (ValueError)
  std::string identity = {};              // expression: element 0 of an exclusive scan
  std::string preamble = {};              // placed at file scope before the kernel, where T is the dtype
  std::vector<std::string> options = {};  // for the compiler
};
// Returns the running results along an axis, with the shape and the dtype of the array (rank 1 without an axis).
// Element i combines the elements 0 to i by `combine`, an expression of the result `a` of earlier elements and the
// result `b` of later ones.
CATENA_EXPORT Array scan(const Array& a, std::string_view combine, const TextScanOptions& options = {});

struct TextSortOptions {
  [[no_unique_address]] Named named = Named();
  std::optional<int> axis = -1;  // without a value: the array is flattened
  std::string preamble = {};
  std::vector<std::string> options = {};
};
namespace internal {
CATENA_EXPORT Array sort_by_text(const Array& a, std::string_view less, const TextSortOptions& options);
CATENA_EXPORT Array argsort_by_text(const Array& a, std::string_view less, const TextSortOptions& options);
}  // namespace internal
// Returns a copy sorted so that no element is `less` than one before it. `less` is an expression that is true if `a`
// must stand before `b`, a strict weak order: false for equal elements. The sort is stable.
template <std::convertible_to<std::string_view> Text>
Array sort(const Array& a, const Text& less, const TextSortOptions& options = {}) {
  return internal::sort_by_text(a, less, options);
}
// Returns the int64 positions that sort along the axis.
template <std::convertible_to<std::string_view> Text>
Array argsort(const Array& a, const Text& less, const TextSortOptions& options = {}) {
  return internal::argsort_by_text(a, less, options);
}

struct ReduceByKeyOptions {
  std::string equal = "a == b";  // expression in two neighbouring keys, true if they are equal
  std::string preamble = {};     // placed before both texts; T is the dtype of the values or of the keys
  std::vector<std::string> options = {};
};
// Combines the values of neighbouring equal keys, as thrust::reduce_by_key does: returns the first key of each run and
// the combination of its values, in the order of the runs. Sort keys and values first (argsort, take) to combine all
// values of a key. Both arrays have rank 1 and one length (ValueError). Waits for the device.
CATENA_EXPORT std::pair<Array, Array> reduce_by_key(const Array& keys, const Array& values, std::string_view combine,
                                                    const ReduceByKeyOptions& options = {});

struct TextHistogramOptions {
  [[no_unique_address]] Named named = Named();
  Bins bins = 10;
  BinRange range = {};
  bool density = false;
  std::string preamble = {};
  std::vector<std::string> options = {};
};
// Returns the sums of the weights in the bins, and the edges, as histogram(a, {.weights = ...}) does. The weight of an
// element `x` is the value of the expression `weight`, converted to float64. Errors as for histogram.
CATENA_EXPORT std::pair<Array, Array> weighted_histogram(const Array& a, std::string_view weight,
                                                         const TextHistogramOptions& options = {});

}  // namespace nd
