// Indexing: views by basic keys, copies and writes by integer arrays and masks, and the functions take, scatter_add,
// diagonal, choose...
//
//   a(1, Slice(0, 5))          a view; a(1) = b and a(1) += b write through it
//   a(i), a(Slice(), i, j)     i, j integer arrays or std::vector<std::int64_t>: reads as a copy, a(i) = b writes the
//   elements a(a > 0), a(Slice(), m)    masks, arrays of bool or std::vector<bool>: the same with the elements where
//   the mask is true
//
// Index arrays are broadcast together to one shape (IndexError when they do not fit); integers beside them count as 0-d
// index arrays. In the result that shape replaces the indexed axes where these are neighbours among the keys, otherwise
// it comes first. Indices wrap: each is taken modulo the length of its axis, never out of bounds (IndexError only for
// an axis of length 0). Index arrays of another dtype than integer are an IndexError. All arrays must be on one device
// (ValueError).
//
// A mask of rank k stands for the k index arrays that nonzero() makes of it, and so may be combined with other keys; it
// must have exactly the lengths of the k axes at its place (IndexError). Their elements come in C order of the mask.
// Masks wait for the device.
//
// Thread safety: may be called from any thread; writing an array that another thread uses is the caller's to order.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include <catena/ndarray/core/array.h>

namespace nd {

// One item of a key: a basic one or an array of indices.
class IndexKey {
 public:
  template <class K>
  requires(std::is_convertible_v<const K&, Key> && !internal::is_index_array<K>) IndexKey(const K& key)
      : key_(Key(key)) {}
  IndexKey(const Array& indices) : key_(indices) {}
  CATENA_EXPORT IndexKey(const std::vector<std::int64_t>& indices);
  CATENA_EXPORT IndexKey(const std::vector<bool>& mask);

  bool is_array() const noexcept { return std::holds_alternative<Array>(key_); }
  const Array& array() const { return std::get<Array>(key_); }
  const Key& basic() const { return std::get<Key>(key_); }

 private:
  std::variant<Key, Array> key_;
};

// What a(i) gives: the selected elements, until they are asked for. Not to be kept: write Array b = a(i) for a copy.
class CATENA_EXPORT Array::IndexProxy {
 public:
  IndexProxy(const Array& a, std::vector<IndexKey> keys) : array_(a), keys_(std::move(keys)) {}
  IndexProxy(const IndexProxy&) = delete;

  Array get() const;  // a copy of the elements
  operator Array() const { return get(); }
  operator Operand() const {
    operand_ = get();
    return operand_;
  }

  // Writes `value`, broadcast to the shape of the selection (ValueError) and converted unsafely. Of several values for
  // one element the last stays on the CPU; on other devices one of them does.
  void operator=(const Operand& value) &&;
  void operator=(const IndexProxy& value) && { std::move(*this) = Operand(value); }
  // Reads, calculates in the array's dtype (as in-place operators do) and writes: repeated elements change once.
  // scatter_add adds them all.
  void operator+=(const Operand& value) &&;
  void operator-=(const Operand& value) &&;
  void operator*=(const Operand& value) &&;
  void operator/=(const Operand& value) &&;

 private:
  Array array_;
  std::vector<IndexKey> keys_;
  mutable Array operand_;  // keeps what an Operand refers to
};
using IndexProxy = Array::IndexProxy;

template <class... K>
requires(internal::advanced_keys<K...>) Array::IndexProxy Array::operator()(const K&... keys) const {
  return IndexProxy(*this, std::vector<IndexKey>{IndexKey(keys)...});
}
template <class K>
requires(internal::advanced_keys<K>) Array::IndexProxy Array::operator[](const K& key) const { return (*this)(key); }

// The elements that the keys select: a view for basic keys, a copy when there is an index array.
CATENA_EXPORT Array getitem(const Array& a, std::span<const IndexKey> keys);
inline Array getitem(const Array& a, std::initializer_list<IndexKey> keys) {
  return getitem(a, std::span(keys.begin(), keys.size()));
}
// a[keys] = value, broadcast and converted unsafely. ValueError when the shapes do not fit.
CATENA_EXPORT void setitem(const Array& a, std::span<const IndexKey> keys, const Operand& value);
inline void setitem(const Array& a, std::initializer_list<IndexKey> keys, const Operand& value) {
  setitem(a, std::span(keys.begin(), keys.size()), value);
}

// a[keys] += value, where elements that are selected several times receive every contribution: scatter_add(a, i, 1),
// scatter_add(a, {i, j}, v), scatter_add(a, {Slice(), i}, v). `value` is converted to the dtype of `a` (unsafely) and
// broadcast to the shape of the selection (ValueError). On the CPU contributions are added in C order.
CATENA_EXPORT void scatter_add(const Array& a, std::span<const IndexKey> keys, const Operand& value);
inline void scatter_add(const Array& a, std::initializer_list<IndexKey> keys, const Operand& value) {
  scatter_add(a, std::span(keys.begin(), keys.size()), value);
}
inline void scatter_add(const Array& a, const IndexKey& key, const Operand& value) {
  scatter_add(a, std::span(&key, 1), value);
}
// The same along one axis: all earlier axes are taken whole. ValueError for an axis out of range.
CATENA_EXPORT void scatter_add(const Array& a, const Array& indices, const Operand& value, int axis);

struct TakeOptions {
  std::optional<int> axis = {};  // default: of the flattened array
  Array out = {};  // TypeError for another dtype than that of `a`, ValueError for another shape than the result's
};
// The elements at `indices` along an axis, as a copy of shape a.shape[:axis] + indices.shape + a.shape[axis+1:].
// ValueError for an axis out of range. A 0-d array counts as one of length 1.
CATENA_EXPORT Array take(const Array& a, const Array& indices, const TakeOptions& options = {});
CATENA_EXPORT Array take(const Array& a, const std::vector<std::int64_t>& indices, const TakeOptions& options = {});
inline Array take(const Array& a, std::initializer_list<std::int64_t> indices, const TakeOptions& options = {}) {
  return take(a, std::vector<std::int64_t>(indices), options);
}
// One index: the axis goes away.
namespace internal {
CATENA_EXPORT Array take_one(const Array& a, std::int64_t index, const TakeOptions& options);
}
template <std::integral I>
Array take(const Array& a, I index, const TakeOptions& options = {}) {
  return internal::take_one(a, static_cast<std::int64_t>(index), options);
}

// The elements at `indices` along an axis (of the flattened array when there is none), one for each of them: with the
// ranks of both equal (ValueError), all other axes broadcast. Indices of any integer dtype (IndexError), modulo the
// length.
CATENA_EXPORT Array take_along_axis(const Array& a, const Array& indices, std::optional<int> axis);

// The elements of the flattened array where the condition (any dtype, tested as nonzero), flattened too, holds.
// ValueError when that has more elements. Waits for the device.
CATENA_EXPORT Array extract(const Array& condition, const Array& a);

struct CompressOptions {
  std::optional<int> axis = {};  // default: of the flattened array
  Array out = {};  // TypeError for another dtype than that of `a`, ValueError for another shape than the result's
};
// The slices along an axis where the condition, of rank 1 and not longer than the axis (ValueError), holds. Waits for
// the device.
CATENA_EXPORT Array compress(const Array& condition, const Array& a, const CompressOptions& options = {});

// N arrays of rank 1 as index arrays of an open grid: the k-th gets length 1 on all axes but axis k, so that a(g[0],
// g[1]) is the product of the rows and columns. A mask stands for the positions of its true elements (which waits for
// the device); an array without elements becomes int64. ValueError for another rank.
CATENA_EXPORT std::vector<Array> ix_(const std::vector<Array>& args);

// The diagonal of every matrix that axes axis1 and axis2 span, as a writable view: the other axes, then the diagonal.
// offset > 0: above the main diagonal. ValueError for rank < 2, axes out of range or equal.
CATENA_EXPORT Array diagonal(const Array& a, std::int64_t offset = 0, int axis1 = 0, int axis2 = 1);

struct ChooseOptions {
  Array out = {};                   // must have the shape of the result; any dtype of the same kind
  std::string_view mode = "raise";  // or "wrap" (modulo) or "clip"
};
// result[i] = choices[a[i]][i], with `a` and the choices broadcast together; the dtype is that of all choices.
// ValueError for an index out of range in mode "raise", which waits for the device, and for no choices; TypeError for
// another mode or indices that are no integers.
CATENA_EXPORT Array choose(const Array& a, const std::vector<Array>& choices, const ChooseOptions& options = {});

}  // namespace nd
