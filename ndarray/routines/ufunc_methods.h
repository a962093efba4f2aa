// The methods of NumPy's binary functions. In namespace nd::ufuncs, math.h has each of its binary functions as an
// object, which has the methods and is called like the function:
//
//   nd::ufuncs::add.reduce(a, 1)                np.add.reduce(a, 1)
//   nd::ufuncs::maximum.accumulate(a)           np.maximum.accumulate(a)
//   nd::ufuncs::subtract.outer(v, w)            np.subtract.outer(v, w)
//   nd::ufuncs::multiply.at(a, {0, 0, 1}, 2)    np.multiply.at(a, [0, 0, 1], 2)
//   nd::ufuncs::add(a, b, {.where = m})         np.add(a, b, where=m)
//
// reduce, accumulate and reduceat are for functions whose order of application does not matter (beside rounding): add,
// multiply, maximum, minimum, fmax, fmin, logical_and, logical_or, logical_xor, bitwise_and, bitwise_or, bitwise_xor,
// gcd, lcm, hypot, logaddexp, logaddexp2. TypeError for the others, and for an array of rank 0 or a null array.
//
// Thread safety: may be called from any thread; the caller must order writes to an array with other accesses.
#pragma once

#include <catena/kernels/registry/kernel_declaration.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/routines/indexing.h>

namespace nd {

struct UfuncCallOptions {
  Array out = {};
  std::optional<Dtype> dtype = {};
  Casting casting = Casting::same_kind;
  Array where = {};  // mask that broadcasts with the operands: elements of `out` are written where it is nonzero
};
struct UfuncReduceOptions {
  [[no_unique_address]] Named named = Named();
  Axes axis = 0;  // None: all axes
  std::optional<Dtype> dtype = {};
  Array out = {};
  bool keepdims = false;
  std::optional<Scalar> initial = {};  // the first operand, also the result for no elements
  Array where = {};                    // mask that broadcasts to the array: elements where it is 0 are left out
};
struct UfuncScanOptions {
  [[no_unique_address]] Named named = Named();
  int axis = 0;
  std::optional<Dtype> dtype = {};
  Array out = {};
};

// A binary function with NumPy's methods.
class CATENA_EXPORT BinaryUfunc {
 public:
  explicit constexpr BinaryUfunc(const catena::KernelDef& def) : def_(&def) {}

  // The function. With options.where and without options.out, elements that are not selected are 0.
  Array operator()(const Operand& x1, const Operand& x2, const UfuncCallOptions& options = {}) const;

  // The function of all pairs of elements: the result has the shape of x1 followed by that of x2.
  Array outer(const Operand& x1, const Operand& x2, const UfuncOptions& options = {}) const;

  // Combines the elements along the axes. The result has the dtype of the function; bools and integers of fewer than 64
  // bits are added and multiplied as int64 or uint64. ValueError for no elements, or for options.where, if the function
  // has no identity (maximum, minimum, fmax, fmin, lcm) and there is no options.initial.
  Array reduce(const Array& a, const UfuncReduceOptions& options = {}) const;
  template <class O = UfuncReduceOptions> Array reduce(const Array& a, const Axes& axis, const O& more = {}) const {
    return reduce(a, internal::at_axis<UfuncReduceOptions>(axis, more));
  }

  // Element i along the axis is the reduction of elements 0 to i.
  Array accumulate(const Array& a, const UfuncScanOptions& options = {}) const;
  template <class O = UfuncScanOptions> Array accumulate(const Array& a, int axis, const O& more = {}) const {
    return accumulate(a, internal::at_axis<UfuncScanOptions>(axis, more));
  }

  // Reduces slices along the axis: slice i begins at indices[i] and ends before indices[i + 1], the last one with the
  // axis. A slice that would have no element has the one at indices[i]; the
  // result of one element is the element. IndexError for indices outside of the axis and
  // no indices at all; they are read on the host, which waits for the device.
  Array reduceat(const Array& a, const Array& indices, const UfuncScanOptions& options = {}) const;
  Array reduceat(const Array& a, const std::vector<std::int64_t>& indices, const UfuncScanOptions& options = {}) const;
  Array reduceat(const Array& a, std::initializer_list<catena::Integer> indices,
                 const UfuncScanOptions& options = {}) const;

  // a[keys] = f(a[keys], b) for one selected element after the other, so that an element that is selected several times
  // changes each time. `b` broadcasts to the selection. TypeError if the result does not cast to the dtype of `a` under
  // casting 'same_kind'. Functions other than add and subtract wait for the device.
  void at(const Array& a, std::span<const IndexKey> keys, const Operand& b) const;
  template <class K = IndexKey>
  void at(const Array& a, std::initializer_list<std::type_identity_t<K>> keys, const Operand& b) const {
    at(a, std::span<const IndexKey>(keys.begin(), keys.size()), b);
  }
  void at(const Array& a, std::initializer_list<catena::Integer> indices, const Operand& b) const {
    at(a, IndexKey(indices), b);
  }
  void at(const Array& a, const IndexKey& key, const Operand& b) const { at(a, std::span(&key, 1), b); }

 private:
  const catena::KernelDef* def_;
};

// a[keys] = max(a[keys], value), or min, for one selected element after the other: keys and errors as for
// BinaryUfunc::at. If one of two numbers is NaN, so is the result.
CATENA_EXPORT void scatter_max(const Array& a, std::span<const IndexKey> keys, const Operand& value);
CATENA_EXPORT void scatter_min(const Array& a, std::span<const IndexKey> keys, const Operand& value);
#define ND_SCATTER(name)                                                                                              \
  template <class K = IndexKey>                                                                                       \
  void name(const Array& a, std::initializer_list<std::type_identity_t<K>> keys, const Operand& value) {              \
    name(a, std::span<const IndexKey>(keys.begin(), keys.size()), value);                                             \
  }                                                                                                                   \
  inline void name(const Array& a, const IndexKey& key, const Operand& value) { name(a, std::span(&key, 1), value); } \
  inline void name(const Array& a, std::initializer_list<catena::Integer> indices, const Operand& value) {            \
    name(a, IndexKey(indices), value);                                                                                \
  }
ND_SCATTER(scatter_max)
ND_SCATTER(scatter_min)
#undef ND_SCATTER

}  // namespace nd
