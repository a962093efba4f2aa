// Indexing: views by basic keys, copies and writes by integer arrays and masks, and the functions take, scatter_add,
// diagonal, choose...
//
//   a(1, Slice(0, 5))          a view; a(1) = b and a(1) += b write through it
//   a(i), a(_, i, j)           i, j integer arrays or vectors of any integer type: a copy; a(i) = b writes the elements
//   a({0, 2}), a(_, {0, 2})    lists of indices: the same
//   a(a > 0), a(_, m)          masks, arrays of bool or std::vector<bool>: the same for the elements where it is true
//
// Index arrays are broadcast together (IndexError if they do not broadcast); integers beside them count as 0-d index
// arrays. In the result, the broadcast shape replaces the indexed axes if these are adjacent among the keys, otherwise
// it comes first. An axis of length n has the indices -n to n - 1. On the CPU any other index is an IndexError that
// names it, and nothing has been written then; on CUDA it wraps, that is, it is taken modulo n, unless checks are
// switched on (ndarray/engine/index_check.h). A selection without elements checks nothing. IndexError for index arrays
// that are neither integer nor bool, and for indices of an axis of length 0. All arrays must be on one device
// (ValueError).
//
// A mask of rank k is equivalent to the k index arrays that nonzero() returns for it, so it can be combined with other
// keys. Its shape must equal the lengths of the k axes at its position (IndexError), except that a length of 0 fits any
// axis: such a mask, as an empty std::vector<bool>, selects nothing. A mask of rank 0 selects the whole array or
// nothing of it, along a new axis of length 1 or 0. The selected elements are in C order of the mask. Masks wait for
// the device.
//
// Thread safety: may be called from any thread; the caller must order writes to an array with other accesses.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/kernels/base/error_context.h>
#include <catena/kernels/registry/kernel_declaration.h>
#include <catena/ndarray/core/array.h>

namespace nd {

// One item of a key: a basic key or an index array. A vector stays on the host until the device of the indexed array is
// known.
class IndexKey {
 public:
  template <class K>
  requires(std::is_convertible_v<const K&, Key> && !catena::is_index_array<K>) IndexKey(const K& key)
      : key_(Key(key)) {}
  IndexKey(const Array& indices) : is_array_(true), array_(indices) {}
  template <class P>
  requires(catena::is_selection<P>) IndexKey(const P& indices) : IndexKey(indices.get()) {}
  IndexKey(std::initializer_list<catena::Integer> indices)
      : IndexKey(std::vector<std::int64_t>(indices.begin(), indices.end())) {}
  template <class L>
  requires(catena::is_index_list<L>) IndexKey(const L& indices)
      : IndexKey(std::vector<std::int64_t>(indices.begin(), indices.end())) {}
  CATENA_EXPORT IndexKey(const std::vector<std::int64_t>& indices);
  CATENA_EXPORT IndexKey(const std::vector<bool>& mask);

  bool is_array() const noexcept { return is_array_; }
  bool is_vector() const noexcept { return is_vector_; }  // then array() is on the host
  const Array& array() const noexcept { return array_; }
  const Key& basic() const noexcept { return key_; }

 private:
  bool is_array_ = false, is_vector_ = false;
  Key key_ = 0;
  Array array_;
};

// The result of a(i). As a temporary it refers to the selected elements: a(i) = b and a(i) += b write them. Otherwise
// it is an array of its own, a copy of the elements that is created when it is first read or copied, and
// `auto p = a(i)` is used like nd::Array p = a(i): returned, captured, stored, assigned another array (p = b), used as
// a key. It has the members of Array. RuntimeError if `a` or an index array was written before the first read.
class CATENA_EXPORT Array::IndexProxy : public catena::ArrayMembers<Array::IndexProxy> {
 public:
  using not_a_function = void;
  IndexProxy(const Array& a, std::vector<IndexKey> keys);
  IndexProxy(const IndexProxy& o) : versions_(0), copy_(o.get()) {}

  const Array& get() const;                      // the copy of the elements
  Array copy(OrderLike order = Order::C) const;  // the elements are copied once if this is the first use
  operator const Array&() const { return get(); }
  operator Operand() const { return get(); }
  template <class E>
  requires(std::is_arithmetic_v<E> && !std::is_same_v<E, bool>) explicit operator E() const {
    return static_cast<E>(get());
  }

  // Writes `value`, broadcast to the shape of the selection (ValueError) and cast unsafely. If several values have the
  // same destination, the last one stays on the CPU, and an undefined one on other devices.
  void operator=(const Operand& value) &&;
  template <class V = Values> void operator=(const std::type_identity_t<V>& values) && {  // a(i) = {1, 2}
    assign_values(values);
  }
  void operator=(const IndexProxy& value) && { std::move(*this) = Operand(value); }
  void operator=(const Operand&) & =
      delete;  // write a(i) = x for elements of a, p(nd::ellipsis) = x for those of a copy p
  // p = b: from now on, p is another array, as nd::Array p would be.
  void operator=(const Array& another) & { copy_ = another; }
  void operator=(const IndexProxy& another) & { copy_ = another.get(); }
  // On a temporary: reads, calculates in the array's dtype (as in-place operators do) and writes; an element that is
  // selected several times changes once. (scatter_add adds all contributions.) On a named copy: changes the copy.
  void operator+=(const Operand& value) &&;
  void operator-=(const Operand& value) &&;
  void operator*=(const Operand& value) &&;
  void operator/=(const Operand& value) &&;
  void operator%=(const Operand& value) &&;
  void operator&=(const Operand& value) &&;
  void operator|=(const Operand& value) &&;
  void operator^=(const Operand& value) &&;
  void operator<<=(const Operand& value) &&;
  void operator>>=(const Operand& value) &&;
  void operator+=(const Operand& value) & { Array(get()) += value; }
  void operator-=(const Operand& value) & { Array(get()) -= value; }
  void operator*=(const Operand& value) & { Array(get()) *= value; }
  void operator/=(const Operand& value) & { Array(get()) /= value; }
  void operator%=(const Operand& value) & { Array(get()) %= value; }
  void operator&=(const Operand& value) & { Array(get()) &= value; }
  void operator|=(const Operand& value) & { Array(get()) |= value; }
  void operator^=(const Operand& value) & { Array(get()) ^= value; }
  void operator<<=(const Operand& value) & { Array(get()) <<= value; }
  void operator>>=(const Operand& value) & { Array(get()) >>= value; }

  explicit operator bool() const { return bool(get()); }
  Array operator-() const { return -get(); }
  Array operator~() const { return ~get(); }
  Array operator+() const { return +get(); }

 private:
  void assign_values(const Values& values) const;  // in routines/creation.cpp
  Array read() const;
  void change(const catena::KernelDef& operation, const Operand& value) const;
  std::uint64_t versions() const;  // increases with every write to the array or an index array

  Array array_;
  std::vector<IndexKey> keys_;
  std::uint64_t versions_;
  mutable Array copy_;  // null until it is read
};
using IndexProxy = Array::IndexProxy;

}  // namespace nd

template <> inline constexpr bool catena::is_selection<nd::IndexProxy> = true;
template <> struct catena::array_behind<nd::IndexProxy> : nd::internal::ArrayBehind {
  static const nd::Array& get(const nd::IndexProxy& p) { return p.get(); }
};

namespace nd {

template <class... K>
requires(internal::advanced_keys<K...>) Array::IndexProxy Array::operator()(const K&... keys) const try {
  return IndexProxy(*this, std::vector<IndexKey>{IndexKey(keys)...});
} catch (...) {
  catena::rethrow_standard("getitem");
}
template <class K>
requires(internal::advanced_keys<K>) Array::IndexProxy Array::operator[](const K& key) const { return (*this)(key); }
inline Array::IndexProxy Array::operator()(std::initializer_list<catena::Integer> list) const try {
  return IndexProxy(*this, {IndexKey(list)});
} catch (...) {
  catena::rethrow_standard("getitem");
}
inline Array::IndexProxy Array::operator[](std::initializer_list<catena::Integer> list) const { return (*this)(list); }
inline Array::IndexProxy Array::operator()(std::initializer_list<catena::Integer> first,
                                           std::initializer_list<catena::Integer> second) const try {
  return IndexProxy(*this, {IndexKey(first), IndexKey(second)});
} catch (...) {
  catena::rethrow_standard("getitem");
}
template <class K>
Array::IndexProxy Array::operator()(const K& first, std::initializer_list<catena::Integer> second) const try {
  return IndexProxy(*this, {IndexKey(first), IndexKey(second)});
} catch (...) {
  catena::rethrow_standard("getitem");
}
template <class K>
Array::IndexProxy Array::operator()(std::initializer_list<catena::Integer> first, const K& second) const try {
  return IndexProxy(*this, {IndexKey(first), IndexKey(second)});
} catch (...) {
  catena::rethrow_standard("getitem");
}

// Returns the elements that the keys select, one key per item of the list: a view for basic keys, a copy if there is an
// index array.
CATENA_EXPORT Array getitem(const Array& a, std::span<const IndexKey> keys);
inline Array getitem(const Array& a, std::initializer_list<IndexKey> keys) {
  return getitem(a, std::span(keys.begin(), keys.size()));
}
// a[keys] = value, broadcast and cast unsafely. ValueError if it does not broadcast.
CATENA_EXPORT void setitem(const Array& a, std::span<const IndexKey> keys, const Operand& value);
inline void setitem(const Array& a, std::initializer_list<IndexKey> keys, const Operand& value) {
  setitem(a, std::span(keys.begin(), keys.size()), value);
}

// a[keys] += value, where an element that is selected several times receives every contribution: scatter_add(a, i, 1),
// scatter_add(a, {i, j}, v), scatter_add(a, {Slice(), i}, v). A list of integers alone is one list of indices, as in
// a({0, 0, 1}): scatter_add(a, {0, 0, 1}, 1). `value` is cast unsafely to the dtype of `a` and broadcast to the shape
// of the selection (ValueError). On the CPU, contributions are added in C order.
CATENA_EXPORT void scatter_add(const Array& a, std::span<const IndexKey> keys, const Operand& value);
template <class K = IndexKey>
void scatter_add(const Array& a, std::initializer_list<std::type_identity_t<K>> keys, const Operand& value) {
  scatter_add(a, std::span<const IndexKey>(keys.begin(), keys.size()), value);
}
inline void scatter_add(const Array& a, std::initializer_list<catena::Integer> indices, const Operand& value) {
  const IndexKey key(indices);
  scatter_add(a, std::span(&key, 1), value);
}
inline void scatter_add(const Array& a, const IndexKey& key, const Operand& value) {
  scatter_add(a, std::span(&key, 1), value);
}
// As above along one axis, for all positions along the earlier axes. ValueError for an axis out of range.
CATENA_EXPORT void scatter_add(const Array& a, const Array& indices, const Operand& value, int axis);

struct TakeOptions {
  [[no_unique_address]] Named named = Named();
  std::optional<int> axis = {};  // default: index the flattened array
  Array out = {};  // TypeError for a dtype other than that of `a`, ValueError for a shape other than the result's
  // The rule for an index out of range: "raise" is an IndexError, which waits for the device; "wrap" takes the index
  // modulo the length; "clip" takes the nearest element, also for negative indices. Without a mode: as in a(i).
  std::optional<std::string_view> mode = {};
};
// Returns a copy of the elements at `indices` along an axis, of shape a.shape[:axis] + indices.shape +
// a.shape[axis+1:]. ValueError for an axis out of range or another mode. A 0-d array counts as an array of length 1.
CATENA_EXPORT Array take(const Array& a, const IndexKey& indices, const TakeOptions& options = {});
inline Array take(const Array& a, const IndexKey& indices, int axis) { return take(a, indices, {.axis = axis}); }
// Picks one element along an axis (of the flattened array without one) for each element of `indices`. Both arrays have
// the same rank (ValueError), and all other axes broadcast. Indices have any integer dtype (IndexError otherwise).
CATENA_EXPORT Array take_along_axis(const Array& a, const Array& indices,
                                    std::optional<int> axis);  // in element_access.cpp

namespace internal {
// Returns indices into n elements that follow the rule of that mode; `indices` itself without a mode. IndexError and
// ValueError as for TakeOptions.
CATENA_EXPORT Array indices_in_mode(std::string_view op, const Array& indices, std::int64_t n,
                                    const std::optional<std::string_view>& mode);
}  // namespace internal

// Returns the elements of the flattened array where the flattened condition (any dtype, nonzero is true) holds.
// ValueError if the condition has more elements than the array. Waits for the device.
CATENA_EXPORT Array extract(const Array& condition, const Array& a);

struct CompressOptions {
  [[no_unique_address]] Named named = Named();
  std::optional<int> axis = {};  // default: of the flattened array
  Array out = {};  // TypeError for a dtype other than that of `a`, ValueError for a shape other than the result's
};
// Returns the slices along an axis where the condition holds; it must have rank 1 and not be longer than the axis
// (ValueError). Waits for the device.
CATENA_EXPORT Array compress(const Array& condition, const Array& a, const CompressOptions& options = {});
inline Array compress(const Array& condition, const Array& a, int axis) {
  return compress(condition, a, {.axis = axis});
}

// Returns index arrays of an open grid from N arrays of rank 1 (ValueError for other ranks): the k-th result has length
// 1 on all axes but axis k, so that a(g[0], g[1]) selects all pairs of rows and columns. A mask is replaced by the
// positions of its true elements, which waits for the device; an array without elements becomes int64.
CATENA_EXPORT std::vector<Array> ix_(const std::vector<Array>& args);

// The diagonals of the matrices over axes axis1 and axis2, as a writable view: first the other axes, then the diagonal.
// offset > 0: above the main diagonal. ValueError for rank < 2, axes out of range or equal.
CATENA_EXPORT Array diagonal(const Array& a, std::int64_t offset = 0, int axis1 = 0, int axis2 = 1);

// Sets the elements a[i, i, ..., i] to `value`, cast unsafely, in arrays of any layout. With `wrap`, the diagonal of a
// matrix with more rows than columns starts again after one row that is left out. ValueError for rank < 2, and for rank
// > 2 unless all lengths are equal.
CATENA_EXPORT void fill_diagonal(const Array& a, const Scalar& value, bool wrap = false);

struct ChooseOptions {
  Array out = {};                   // must have the shape of the result; any dtype of the same kind
  std::string_view mode = "raise";  // or "wrap" (modulo) or "clip"
};
// result[i] = choices[a[i]][i], with `a` and the choices broadcast together; the dtype is the promotion of all choices.
// ValueError for no choices and for an index out of range in mode "raise", which waits for the device; TypeError for
// another mode or indices that are not integers.
CATENA_EXPORT Array choose(const Array& a, const std::vector<Array>& choices, const ChooseOptions& options = {});

}  // namespace nd
