#include <catena/ndarray/routines/editing.h>

#include <algorithm>
#include <numeric>

#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/sorting.h>

namespace nd {

using catena::check;
using internal::part;

namespace {

// An array and the axis of a call; without an axis, the flattened array and its only axis.
struct Edited {
  Array array;
  int axis = 0;

  Edited(const char* op, const Array& a, std::optional<int> given)
      : array(given ? a : a.ravel()), axis(given ? catena::normalize_axis(op, *given, a.ndim()) : 0) {}
  std::int64_t length() const { return array.shape()[axis]; }
  Array empty_of(std::int64_t n) const {
    Shape shape = array.shape();
    shape[axis] = n;
    return Array(internal::new_array(shape, array.dtype(), array.device()));
  }
  // Copies n slices to another array along the axis.
  void copy(const char* op, const Array& to, std::int64_t at, std::int64_t from, std::int64_t n) const {
    if (n > 0) internal::assign(op, part(to, axis, at, n), part(array, axis, from, n));
  }
};

std::int64_t in_range(const char* op, std::int64_t index, std::int64_t n, std::int64_t end, int axis) {
  check<IndexError>(index >= -n && index < end, op, "the index ", index, " is out of range for axis ", axis,
                    " of length ", n);
  return index < 0 ? index + n : index;
}

Array index_array(const char* op, const IndexKey& obj) {
  const Array& a = obj.array();
  check<TypeError>(!a.is_null(), op, "the index array is null");
  check<IndexError>(a.dtype() == Dtype::bool_ || catena::is_integer(a.dtype()), op, "index arrays have the dtype ",
                    a.dtype(), ", must be integers or bool");
  return a;
}

}  // namespace

Array append(const Array& arr, const ArrayLike& values, std::optional<int> axis) try {
  const Array more = values.is_array() ? values.array() : values.array().to_device(arr.device());
  if (!axis) return concatenate({arr.ravel(), more.ravel()});
  return concatenate({arr, more}, *axis);
} catch (...) {
  internal::rethrow_out_of_memory("append");
}

// ---- insert -------------------------------------------------------------------------------------
namespace {

// The positions of insertions, on the host. `is_number`: one position that was not given as a list.
struct Positions {
  std::vector<std::int64_t> list;
  bool is_number = false;
};

Positions positions_of(const IndexKey& obj, std::int64_t n) {
  if (!obj.is_array()) {
    check<TypeError>(obj.basic().kind() == Key::Kind::integer || obj.basic().kind() == Key::Kind::slice, "insert",
                     "a position is a number, a slice, a list or an array");
    if (obj.basic().kind() == Key::Kind::integer) return {{obj.basic().index()}, true};
    Positions p;
    const catena::SliceRange range = catena::resolve_slice("insert", obj.basic().slice(), n);
    for (std::int64_t i = 0; i < range.length; ++i) p.list.push_back(range.start + i * range.step);
    return p;
  }
  const Array a = index_array("insert", obj);
  check<ValueError>(a.ndim() <= 1, "insert", "the positions have rank ", a.ndim(), ", must have rank 1");
  const bool is_mask = a.dtype() == Dtype::bool_;
  check<ValueError>(!is_mask || a.ndim() == 1, "insert", "a mask of rank 0 is no list of positions");
  return {(is_mask ? flatnonzero(a) : a).to_vector<std::int64_t>(), a.ndim() == 0};
}

Array inserted_at_one(const Edited& e, std::int64_t position, bool is_number, const Array& given) {
  const std::int64_t n = e.length(), at = in_range("insert", position, n, n + 1, e.axis);
  Array values = given.astype(e.array.dtype(), {.copy = false});
  while (values.ndim() < e.array.ndim()) values = expand_dims(values, 0);
  if (is_number) values = moveaxis(values, 0, e.axis);
  const std::int64_t count = values.shape(e.axis);
  const Array result = e.empty_of(n + count);
  e.copy("insert", result, 0, 0, at);
  if (count > 0) internal::assign("insert", part(result, e.axis, at, count), values);
  e.copy("insert", result, at + count, at, n - at);
  return result;
}

// Copies the array to the elements of the result that are not at the positions; order: sorts the positions.
void copy_around(const Edited& e, const Array& result, const std::vector<std::int64_t>& positions,
                 const std::vector<std::int64_t>& order) {
  constexpr std::int64_t kLongRun = 64;  // from this length on, copying a run is cheaper than reading its indices
  const auto n = e.length(), count = static_cast<std::int64_t>(positions.size());
  const bool by_runs = count * kLongRun <= n && e.array.device().kind == Device::Kind::cpu;
  std::vector<std::int64_t> sources(by_runs ? 0 : static_cast<std::size_t>(n + count));
  std::int64_t from = 0;
  for (std::int64_t k = 0; k <= count; ++k) {
    const std::int64_t end = k < count ? positions[std::size_t(order[std::size_t(k)])] - k : n;
    if (by_runs) e.copy("insert", result, from + k, from, end - from);
    else std::iota(sources.begin() + from + k, sources.begin() + end + k, from);
    from = end;
  }
  if (!by_runs && n > 0) take(e.array, sources, {.axis = e.axis, .out = result});
}

Array inserted(const Edited& e, std::vector<std::int64_t> positions, const Array& values) {
  const auto n = e.length(), count = static_cast<std::int64_t>(positions.size());
  for (std::int64_t& p : positions) p = in_range("insert", p, n, n + 1, e.axis);
  // Position k of the sorted list moves by the number of insertions before it.
  std::vector<std::int64_t> order(positions.size());
  std::iota(order.begin(), order.end(), 0);
  const auto before = [&](auto i, auto j) { return positions[std::size_t(i)] < positions[std::size_t(j)]; };
  std::stable_sort(order.begin(), order.end(), before);
  for (std::int64_t k = 0; k < count; ++k) positions[std::size_t(order[std::size_t(k)])] += k;
  const Array result = e.empty_of(n + count);
  copy_around(e, result, positions, order);
  std::vector<IndexKey> keys(std::size_t(e.axis), IndexKey(Slice()));
  keys.emplace_back(positions);
  setitem(result, keys, values);
  return result;
}

}  // namespace

Array insert(const Array& arr, const IndexKey& obj, const ArrayLike& values, std::optional<int> axis) try {
  const Edited e("insert", arr, axis);
  const Positions p = positions_of(obj, e.length());
  const Array given = values.is_array() ? values.array() : values.array().to_device(arr.device());
  if (p.list.size() == 1) return inserted_at_one(e, p.list[0], p.is_number, given);
  return inserted(e, p.list, given);
} catch (...) {
  internal::rethrow_out_of_memory("insert");
}

// ---- delete -------------------------------------------------------------------------------------
Array delete_(const Array& arr, const IndexKey& obj, std::optional<int> axis) try {
  const Edited e("delete_", arr, axis);
  const std::int64_t n = e.length();
  std::int64_t first = 0, count = 1;
  if (!obj.is_array()) {
    const Key& key = obj.basic();
    check<TypeError>(key.kind() == Key::Kind::integer || key.kind() == Key::Kind::slice, "delete_",
                     "elements are selected by a number, a slice, a list, an array or a mask");
    catena::SliceRange range{0, 1, 1};
    if (key.kind() == Key::Kind::integer) range.start = in_range("delete_", key.index(), n, n, e.axis);
    else range = catena::resolve_slice("delete_", key.slice(), n);
    count = range.length;
    first = range.step < 0 && count > 0 ? range.start + (count - 1) * range.step : range.start;
    if (count <= 1 || std::abs(range.step) == 1) {
      const Array result = e.empty_of(n - count);
      if (count == 0) first = n;
      e.copy("delete_", result, 0, 0, first);
      e.copy("delete_", result, first, first + count, n - count - first);
      return result;
    }
  }
  const DeviceScope scope(arr.device());
  Array keep = ones(n, Dtype::bool_);
  if (obj.is_array()) {
    const Array a = index_array("delete_", obj);
    if (a.dtype() == Dtype::bool_) {
      check<ValueError>(a.shape() == keep.shape(), "delete_", "the mask has shape ", a.shape(), ", axis ", e.axis,
                        " has the length ", n);
      keep = logical_not(a.to_device(arr.device()));
    } else {
      setitem(keep, {obj}, false);
    }
  } else {
    keep(obj.basic().slice()) = false;
  }
  return e.array.ndim() == 1 ? getitem(e.array, {IndexKey(keep)}) : compress(keep, e.array, e.axis);
} catch (...) {
  internal::rethrow_out_of_memory("delete_");
}

// ---- resize and block ---------------------------------------------------------------------------
Array resize(const Array& a, const Shape& new_shape) try {
  const Array result(internal::new_array(new_shape, a.dtype(), a.device(), "resize"));
  const std::int64_t size = result.size(), n = a.size();
  if (size == 0) return result;
  if (n == 0) {
    result.fill(0);
    return result;
  }
  const Array line = result.reshape(-1), elements = a.ravel();
  const std::int64_t whole = size / n, rest = size % n;
  if (whole > 0) internal::assign("resize", part(line, 0, 0, whole * n).reshape(whole, n), elements);
  if (rest > 0) internal::assign("resize", part(line, 0, whole * n, rest), part(elements, 0, 0, rest));
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("resize");
}

namespace {

// Arrays and the positions of their first elements in the array that they make up.
struct Blocks {
  Shape shape;
  std::vector<std::pair<Array, Dims>> pieces;
};

Blocks joined_blocks(const std::vector<Blocks>& list, int axis) {
  Blocks all{list[0].shape, {}};
  all.shape[axis] = 0;
  for (const Blocks& b : list) {
    for (int i = 0; i < b.shape.size(); ++i)
      check<ValueError>(i == axis || b.shape[i] == all.shape[i], "block", "blocks of the shapes ", list[0].shape,
                        " and ", b.shape, " do not fit together along axis ", axis);
    for (const auto& [array, at] : b.pieces) {
      all.pieces.emplace_back(array, at);
      all.pieces.back().second[axis] += all.shape[axis];
    }
    all.shape[axis] += b.shape[axis];
  }
  return all;
}

Array assembled(const Blocks& blocks) {
  std::vector<Operand> operands;
  Dtype dtype = blocks.pieces[0].first.dtype();
  for (const auto& [array, at] : blocks.pieces) {
    operands.emplace_back(array);
    dtype = promote_types(dtype, array.dtype());
  }
  const Array result(internal::new_array(blocks.shape, dtype, internal::common_device("block", operands), "block"));
  for (const auto& [array, at] : blocks.pieces) {
    Array to = result;
    for (int i = 0; i < at.size(); ++i) to = part(to, i, at[i], array.shape()[i]);
    internal::assign("block", to, array);
  }
  return result;
}

// Returns the depth of the lists, and raises `rank` to the greatest rank of an array.
int depth_of(const Block& block, int& rank) {
  if (block.is_array()) {
    rank = std::max(rank, block.array().ndim());
    return 0;
  }
  check<ValueError>(!block.list().empty(), "block", "a list has no arrays");
  const int depth = depth_of(block.list()[0], rank);
  for (const Block& b : block.list())
    check<ValueError>(depth_of(b, rank) == depth, "block", "the lists have different depths");
  return depth + 1;
}

// Arrays of lists of that depth, with `rank` axes.
Blocks blocks_of(const Block& block, int depth, int rank) {
  if (depth == 0) {
    Array a = block.array();
    while (a.ndim() < rank) a = expand_dims(a, 0);
    return {a.shape(), {{a, Dims::filled(rank, 0)}}};
  }
  std::vector<Blocks> list;
  for (const Block& b : block.list()) list.push_back(blocks_of(b, depth - 1, rank));
  return joined_blocks(list, rank - depth);
}

}  // namespace

Array block(const Block& arrays) try {
  int rank = 0;
  const int depth = depth_of(arrays, rank);
  return assembled(blocks_of(arrays, depth, std::max(rank, depth)));
} catch (...) {
  internal::rethrow_out_of_memory("block");
}

// ---- trim_zeros ---------------------------------------------------------------------------------
Array trim_zeros(const Array& filt, const TrimZerosOptions& options) {
  const auto has = [&](char c) { return options.trim.find_first_of(c == 'f' ? "fF" : "bB") != options.trim.npos; };
  check<ValueError>(!options.trim.empty() && options.trim.size() <= 2 && (has('f') || has('b')) &&
                        (options.trim.size() == 1 || (has('f') && has('b'))),
                    "trim_zeros", "trim is '", options.trim, "', must be 'f', 'b' or 'fb'");
  const Array other = filt != 0;
  Array result = filt;
  for (const std::int64_t k : catena::normalize_axes("trim_zeros", options.axis, filt.ndim())) {
    const int axis = static_cast<int>(k);
    Dims others;
    for (int i = 0; i < filt.ndim(); ++i)
      if (i != axis) others.push_back(i);
    const Array any_other = others.empty() ? other : other.any(others);
    const std::int64_t n = any_other.size();
    if (n == 0 || !bool(any_other.any())) {
      result = part(result, axis, 0, 0);
      continue;
    }
    const std::int64_t first = has('f') ? any_other.argmax().item<std::int64_t>() : 0;
    const std::int64_t end = has('b') ? n - flip(any_other).argmax().item<std::int64_t>() : n;
    result = part(result, axis, first, end - first);
  }
  return result;
}

}  // namespace nd
