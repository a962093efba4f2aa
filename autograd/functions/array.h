// Differentiable functions that move elements: reshape, transpose, broadcast, indexing, concatenation, cast.
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

// One length may be -1 (AssertionError for more). InvalidType when the sizes differ.
CATENA_EXPORT Variable reshape(const Variable& x, const Shape& shape);
// Without axes: reversed. Negative axes count from the end.
CATENA_EXPORT Variable transpose(const Variable& x, const std::optional<Dims>& axes = {});
CATENA_EXPORT Variable broadcast_to(const Variable& x, const Shape& shape);
// Floating input; x itself when it has the dtype.
CATENA_EXPORT Variable cast(const Variable& x, Dtype dtype);
// Broadcasts all to their common shape. ValueError for an empty list, InvalidType when the shapes do not broadcast.
CATENA_EXPORT Variables broadcast(const Variables& xs);
// Equal dtypes, ranks and lengths except along `axis` (else InvalidType); at least one array (else ValueError).
CATENA_EXPORT Variable concat(const Variables& xs, int axis = 1);

// One item of an index: an item of basic indexing or an array of integers.
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
// x[items] by NumPy's rules: integers, slices, ellipsis, newaxis and integer arrays. Gradients of repeated elements are
// summed. InvalidType for more items than axes; IndexError for an integer out of range or arrays that do not broadcast.
// An index out of range in an array is an IndexError on the CPU; on CUDA it wraps unless nd::check_indices is on.
CATENA_EXPORT Variable get_item(const Variable& x, const std::vector<IndexItem>& items);

}  // namespace autograd
