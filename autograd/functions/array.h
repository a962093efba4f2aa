// Differentiable functions that move elements.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/index_key.h>

namespace autograd {

using catena::ellipsis;
using catena::newaxis;
using catena::Slice;

// One length may be -1 (AssertionError for more). InvalidType when the sizes do not fit.
CATENA_EXPORT Variable reshape(const Variable& x, const Shape& shape);
// No axes: reversed. Negative axes count from the end.
CATENA_EXPORT Variable transpose(const Variable& x, const std::optional<Dims>& axes = {});
CATENA_EXPORT Variable broadcast_to(const Variable& x, const Shape& shape);
// Floating input; the same variable when the dtype is the same already.
CATENA_EXPORT Variable cast(const Variable& x, Dtype dtype);
// All to their common shape. ValueError for none, InvalidType when they do not fit.
CATENA_EXPORT Variables broadcast(const Variables& xs);
// Equal dtypes and ranks, equal lengths but along `axis` (InvalidType); at least one (ValueError).
CATENA_EXPORT Variable concat(const Variables& xs, int axis = 1);

// One item of an index: what basic indexing takes, or an array of integers.
class CATENA_EXPORT IndexItem {
 public:
  template <class T>
  requires std::convertible_to<T, catena::Key> IndexItem(const T& key) : key_(key) {}
  IndexItem(const Array& integers) : key_(0), array_(integers) {}
  IndexItem(const std::vector<std::int64_t>& integers);
  bool is_array() const noexcept { return bool(array_); }
  const catena::Key& key() const noexcept { return key_; }
  const Array& array() const noexcept { return array_; }

 private:
  catena::Key key_;
  Array array_;
};
// x[items] by NumPy's rules: integers, slices, ellipsis, newaxis and integer arrays, whose indices wrap. Gradients of
// repeated elements add up. InvalidType for more items than axes, IndexError for an integer out of range or arrays that
// do not broadcast.
CATENA_EXPORT Variable get_item(const Variable& x, const std::vector<IndexItem>& items);

}  // namespace autograd
