#include <catena/ndarray/routines/indexing.h>

#include <algorithm>
#include <array>

#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/index_plan.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/core/view.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/compress.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/index_check.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/loops_mask.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/sorting.h>
#include <catena/ndarray/routines/stride_tricks.h>

namespace nd {

using catena::check;

Array Array::index(std::span<const Key> keys) const try {
  return internal::view_as(*this, catena::basic_index("index", shape(), strides(), keys));
} catch (...) {
  internal::rethrow_out_of_memory("index");
}

namespace {

template <class T> Array on_host(const std::vector<T>& values) {
  const DeviceScope host(cpu_device);
  return nd::array(values);
}

}  // namespace

IndexKey::IndexKey(const std::vector<std::int64_t>& indices)
    : is_array_(true), is_vector_(true), array_(on_host(indices)) {}
IndexKey::IndexKey(const std::vector<bool>& mask) : is_array_(true), is_vector_(true), array_(on_host(mask)) {}

Array Array::element(const Dims& at) const {
  Dims place = at;
  if (at.size() == 1 && ndim() != 1) {  // in the flattened array
    std::int64_t rest = at[0] < 0 ? at[0] + size() : at[0];
    check<IndexError>(rest >= 0 && rest < size(), "item", "the index ", at[0], " is out of range for an array of ",
                      size(), " elements");
    place = shape();
    for (int axis = ndim() - 1; axis >= 0; --axis) {
      place[axis] = rest % shape()[axis];
      rest /= shape()[axis];
    }
  }
  check<ValueError>(place.size() == ndim(), "item", at.size(), " positions were given for an array of rank ", ndim());
  std::vector<Key> keys;
  for (std::int64_t index : place) keys.emplace_back(index);
  return index(keys);
}

namespace {

// Returns the keys with vectors replaced by arrays on `device`.
std::vector<IndexKey> keys_on(Device device, std::span<const IndexKey> keys) {
  std::vector<IndexKey> list;
  for (const IndexKey& k : keys) list.push_back(k.is_vector() ? IndexKey(k.array().to_device(device)) : k);
  return list;
}

// ---- masks to index arrays ----------------------------------------------------------------------
bool is_mask(const IndexKey& key) {
  return key.is_array() && !key.array().is_null() && key.array().dtype() == Dtype::bool_;
}

// Returns the number of axes that a key indexes; 0 for an ellipsis, which takes the rest.
int consumed_axes(const IndexKey& key) {
  if (key.is_array()) return is_mask(key) ? key.array().ndim() : 1;
  return key.basic().kind() == Key::Kind::integer || key.basic().kind() == Key::Kind::slice;
}

// A key other than a mask, and the axis of the given array that it indexes.
struct PlainKey {
  IndexKey key;
  int axis = 0;
  bool in_range = false;  // positions of the true elements of a mask
};

// An array and keys without masks that select the same elements as the original keys.
struct Unmasked {
  Array base;
  std::vector<PlainKey> keys;
};

void check_devices(std::string_view op, const Array& a, std::span<const IndexKey> keys) {
  internal::OneDevice one(op);
  one.add(a.get());
  for (const IndexKey& k : keys)
    if (k.is_array()) one.add(k.array().get());
}

// Returns `a` with its first `rank` axes flattened.
Array flattened(const Array& a, int rank) {
  Shape shape{1};
  for (int i = 0; i < a.ndim(); ++i)
    if (i < rank) shape[0] *= a.shape()[i];
    else shape.push_back(a.shape()[i]);
  return a.reshape(shape);
}

// Replaces every mask by the positions of its true elements, one index array per axis. The axes of a leading mask are
// flattened if that is a view, because one index array is cheaper than several. A mask of rank 0 selects all or nothing
// along a new axis.
Unmasked without_masks(std::string_view op, const Array& a, std::span<const IndexKey> given) {
  const std::vector<IndexKey> keys = keys_on(a.device(), given);
  check_devices(op, a, keys);
  Unmasked u{a, {}};
  int consuming = 0, axis = 0, base_axis = 0;
  for (const IndexKey& k : keys) consuming += consumed_axes(k);
  for (const IndexKey& k : keys) {
    if (!is_mask(k)) {
      const bool rest = !k.is_array() && k.basic().kind() == Key::Kind::ellipsis;
      const int passed = rest ? std::max(a.ndim() - consuming, 0) : consumed_axes(k);
      u.keys.push_back({k, axis});
      axis += passed;
      base_axis += passed;
      continue;
    }
    const Array& mask = k.array();
    catena::check_mask(op, mask.shape(), a.shape(), axis);
    axis += mask.ndim();
    if (mask.ndim() == 0) {
      u.base = expand_dims(u.base, base_axis++);
      u.keys.push_back({flatnonzero(mask), axis, true});
    } else if (u.keys.empty() && mask.ndim() > 1 && mask.size() > 0 && a.is_c_contiguous()) {
      u.base = flattened(a, mask.ndim());
      u.keys.push_back({flatnonzero(mask), axis, true});
      base_axis = 1;
    } else {
      for (const Array& positions : nonzero(mask)) u.keys.push_back({positions, axis, true});
      base_axis += mask.ndim();
    }
  }
  return u;
}

// ---- keys to a gather ---------------------------------------------------------------------------
// A selection by index arrays: the array with basic keys applied, the shape of the result, and the index arrays.
struct Selection {
  Array base;
  Strides base_strides;
  Shape shape;
  std::vector<catena::call::Index> indices = {};
  std::vector<Array> views = {};  // owns index arrays
};

void check_index_array(std::string_view op, const Array& i) {
  check<TypeError>(!i.is_null(), op, "an index array is null");
  catena::check_index_dtype(op, i.dtype());
}

// An integer beside index arrays counts as one of them, so it wraps if they do.
Selection select(std::string_view op, const Array& a, std::span<const PlainKey> keys) {
  std::vector<catena::IndexPart> parts;
  for (const PlainKey& k : keys) {
    if (k.key.is_array()) check_index_array(op, k.key.array());
    parts.push_back({k.key.array().get(), k.key.basic(), k.axis});
  }
  const bool wraps = a.device().kind != Device::Kind::cpu && !checks_indices();
  const catena::IndexPlan plan = catena::plan_index(op, a.shape(), a.strides(), parts, wraps);
  Selection s{internal::view_as(a, plan.view), plan.view_strides(), plan.shape};
  const catena::IndexPlan::Indexed* indexed = plan.arrays.begin();
  for (const PlainKey& k : keys) {
    if (!k.key.is_array()) continue;
    const auto& [array, view_axis, axis, strides] = *indexed++;
    s.views.push_back(internal::make_view(k.key.array(), plan.shape, strides));
    s.indices.push_back(
        {s.views.back().get(), plan.view.shape[view_axis], plan.view.strides[view_axis], axis, k.in_range});
  }
  return s;
}

bool has_array(std::span<const IndexKey> keys) {
  return std::any_of(keys.begin(), keys.end(), [](const IndexKey& k) { return k.is_array(); });
}

std::vector<Key> basic_keys(std::span<const IndexKey> keys) {
  std::vector<Key> list;
  for (const IndexKey& k : keys) list.push_back(k.basic());
  return list;
}

void gather_into(std::string_view op, const Selection& s, const Array& out) {
  internal::execute(catena::call::Gather{s.base.get(), s.base_strides, s.indices, &s.shape, out.get(), op});
}

Array gather(std::string_view op, const Selection& s) {
  const Array out(internal::new_array(s.shape, s.base.dtype(), s.base.device(), op));
  gather_into(op, s, out);
  return out;
}

// Returns `value` without leading axes of length 1 that exceed `rank`.
Array trimmed(const Array& value, int rank) {
  if (value.ndim() <= rank) return value;
  return internal::view_as(value, catena::without_leading_axes(value.shape(), value.strides(), rank));
}

void scatter(std::string_view op, const Array& a, const Selection& s, const Operand& value, catena::ScatterMode mode) {
  internal::check_output_layout(op, *a.get());
  const Array source = value.is_array() ? trimmed(value.array(), s.shape.size()) : Array();
  const catena::Input values = source.is_null() ? catena::Input(value.scalar()) : catena::Input(*source.get());
  internal::execute(catena::call::Scatter{mode, s.base.get(), s.base_strides, s.indices, &s.shape, values, op});
}

std::vector<IndexKey> along_axis(const Array& indices, int axis) {
  std::vector<IndexKey> keys(static_cast<std::size_t>(axis), IndexKey(Slice()));
  keys.emplace_back(indices);
  return keys;
}

// Index arrays of one axis: the array and the part of it that is used.
struct AxisIndices {
  Array array;
  Shape shape;
  Strides strides;
  bool in_range = false;  // positions of the true elements of a mask

  explicit AxisIndices(const Array& a) : array(a), shape(a.shape()), strides(a.strides()) {}
};

// Returns the positions of the true elements of a mask, flattened to rank 1.
AxisIndices indices_of_mask(const Array& mask) {
  AxisIndices i(internal::nonzero_rows(mask.ndim() == 1 ? mask : mask.ravel()));
  i.shape.erase(0);
  i.strides.erase(0);
  i.in_range = true;
  return i;
}

// Returns the slices of `source` at `indices` along an axis. This is the most frequent selection; it needs no keys and
// at most one view.
Array take_along(std::string_view op, const Array& source, const AxisIndices& indices, int axis, const Array& given) {
  check_index_array(op, indices.array);
  const std::int64_t length = source.shape()[axis];
  check<IndexError>(length > 0 || catena::size_of(indices.shape) == 0, op,
                    "an axis of length 0 has no elements for indices of shape ", indices.shape);
  Shape shape = source.shape();
  Strides base_strides = source.strides(), strides = Strides::filled(shape.size(), 0);
  const std::int64_t step = base_strides[axis];
  shape.erase(axis);
  base_strides.erase(axis);
  strides.erase(axis);
  for (int i = indices.shape.size() - 1; i >= 0; --i) {
    shape.insert(axis, indices.shape[i]);
    base_strides.insert(axis, 0);
    strides.insert(axis, indices.strides[i]);
  }
  if (!given.is_null()) {
    check<TypeError>(given.dtype() == source.dtype(), op, "the output has dtype ", given.dtype(), ", must have ",
                     source.dtype());
    check<ValueError>(given.shape() == shape, op, "the output has shape ", given.shape(), ", the result has ", shape);
    internal::check_output_layout(op, *given.get());
  }
  const Array out = given.is_null() ? Array(internal::new_array(shape, source.dtype(), source.device(), op)) : given;
  const Array view =
      indices.array.shape() == shape ? indices.array : internal::make_view(indices.array, shape, strides);
  const catena::call::Index index{view.get(), length, step, axis, indices.in_range};
  internal::execute(catena::call::Gather{source.get(), base_strides, {&index, 1}, &shape, out.get(), op});
  return out;
}

// Returns a null array unless the only key is one array, along the first axis or as a mask of the first axes.
Array taken_by_one(std::string_view op, const Array& a, std::span<const IndexKey> keys) {
  if (keys.size() != 1 || keys[0].is_vector() || !keys[0].is_array() || a.ndim() == 0) return {};
  const Array& key = keys[0].array();
  if (!is_mask(keys[0])) return take_along(op, a, AxisIndices(key), 0, {});
  if (key.ndim() == 0 || (key.ndim() > 1 && (key.size() == 0 || !a.is_c_contiguous()))) return {};
  check_devices(op, a, keys);
  catena::check_mask(op, key.shape(), a.shape(), 0);
  if (key.shape() == a.shape() && a.is_c_contiguous() && key.is_c_contiguous() && a.size() > 0)
    return internal::compress_by_mask(a, key);
  if (key.ndim() == 1) return take_along(op, a, indices_of_mask(key), 0, {});
  return take_along(op, flattened(a, key.ndim()), indices_of_mask(key), 0, {});
}

// Handles a mask of the first axes with one value for all elements. Returns false, without effect, for other keys and
// values.
bool filled_by_mask(std::string_view op, const Array& a, std::span<const IndexKey> keys, const Operand& value) {
  if (keys.size() != 1 || keys[0].is_vector() || !is_mask(keys[0])) return false;
  const Array& mask = keys[0].array();
  if (mask.ndim() == 0 || mask.size() == 0) return false;
  if (value.is_array() && (value.array().size() != 1 || value.array().device() != a.device())) return false;
  check_devices(op, a, keys);
  catena::check_mask(op, mask.shape(), a.shape(), 0);
  internal::check_output_layout(op, *a.get());
  // A number is converted on the host, and becomes a parameter of the kernel.
  const Array one(internal::new_array(Shape{}, a.dtype(), value.is_array() ? a.device() : cpu_device));
  const Array given = value.is_array() ? value.array().reshape(Shape{}) : Array();
  internal::convert_into(op, given.is_null() ? catena::Input(value.scalar()) : catena::Input(*given.get()), *one.get());
  if (a.device().kind == Device::Kind::cpu && mask.ndim() == a.ndim() && a.is_c_contiguous() &&
      mask.is_c_contiguous() && !may_share_memory(a, mask)) {
    const catena::ArrayHeader *const reads[] = {mask.get(), one.get()}, *const written = a.get();
    internal::launch_on(internal::stream_for(a.device()), reads, {&written, 1},
                        [&] { internal::fill_true(a, mask, one); });
    return true;
  }
  // Writes every element, with this value or its own.
  Shape shape = mask.shape();
  shape.resize(a.ndim(), 1);
  const Array where = mask.ndim() < a.ndim() ? mask.reshape(shape) : mask;
  // Elements that are not selected must keep every bit, so bools and 16-bit floats are moved as integers: a byte of a
  // bool may be neither 0 nor 1, and a selection in float32 would change signalling NaNs.
  const bool is_bool = a.dtype() == Dtype::bool_, is_half = !is_bool && a.itemsize() == 2;
  const Dtype moved = is_bool ? Dtype::uint8 : (is_half ? Dtype::uint16 : a.dtype());
  const Array source = one.view(moved), target = a.view(moved);
  const Operand in[] = {where, source.device() == a.device() ? Operand(source) : Operand(Scalar(source.item())),
                        target};
  internal::apply_ufunc(catena::kernels::where, in, UfuncOptions{.out = target, .dtype = moved});
  return true;
}

}  // namespace

// ---- items --------------------------------------------------------------------------------------
Array getitem(const Array& a, std::span<const IndexKey> keys) try {
  if (!has_array(keys)) return a.index(basic_keys(keys));
  if (const Array one = taken_by_one("index", a, keys); !one.is_null()) return one;
  const Unmasked u = without_masks("index", a, keys);
  return gather("index", select("index", u.base, u.keys));
} catch (...) {
  internal::rethrow_out_of_memory("index");
}

void setitem(const Array& a, std::span<const IndexKey> keys, const Operand& value) try {
  if (!has_array(keys)) return internal::assign("assignment", a.index(basic_keys(keys)), value);
  if (filled_by_mask("assignment", a, keys, value)) return;
  const Unmasked u = without_masks("assignment", a, keys);
  scatter("assignment", a, select("assignment", u.base, u.keys), value, catena::ScatterMode::set);
} catch (...) {
  internal::rethrow_out_of_memory("setitem");
}

void scatter_add(const Array& a, std::span<const IndexKey> keys, const Operand& value) {
  if (has_array(keys)) {
    const Unmasked u = without_masks("scatter_add", a, keys);
    scatter("scatter_add", a, select("scatter_add", u.base, u.keys), value, catena::ScatterMode::add);
    return;
  }
  const Array view = a.index(basic_keys(keys));
  Array source(internal::new_array(value.is_array() ? value.header()->shape : Shape{}, a.dtype(), a.device()));
  internal::convert_into("scatter_add", value, *source.get());
  internal::apply_in_place(catena::kernels::add, view, trimmed(source, view.ndim()));
}

void scatter_add(const Array& a, const Array& indices, const Operand& value, int axis) {
  const int at = catena::normalize_axis("scatter_add", axis, a.ndim());
  scatter_add(a, along_axis(indices, at), value);
}

IndexProxy::IndexProxy(const Array& a, std::vector<IndexKey> keys)
    : array_(a), keys_(std::move(keys)), versions_(versions()) {}

std::uint64_t IndexProxy::versions() const {
  std::uint64_t sum = array_.version();
  for (const IndexKey& key : keys_)
    if (key.is_array()) sum += key.array().version();
  return sum;
}

Array IndexProxy::read() const {
  check<RuntimeError>(versions() == versions_, "index",
                      "the array was written between p = a(i) and the first use of p; write nd::Array p = a(i)");
  return getitem(array_, keys_);
}

const Array& IndexProxy::get() const {
  if (copy_.is_null()) copy_ = read();
  return copy_;
}

Array IndexProxy::copy(OrderLike order) const {
  return copy_.is_null() && order == Order::C && has_array(keys_) ? read() : get().copy(order);
}

void IndexProxy::operator=(const Operand& value) && { setitem(array_, keys_, value); }

void IndexProxy::change(const catena::KernelDef& operation, const Operand& value) const {
  const Array& elements = get();
  internal::apply_in_place(operation, elements, value);
  setitem(array_, keys_, elements);
}
void IndexProxy::operator+=(const Operand& value) && { change(catena::kernels::add, value); }
void IndexProxy::operator-=(const Operand& value) && { change(catena::kernels::subtract, value); }
void IndexProxy::operator*=(const Operand& value) && { change(catena::kernels::multiply, value); }
void IndexProxy::operator/=(const Operand& value) && { change(catena::kernels::true_divide, value); }
void IndexProxy::operator%=(const Operand& value) && { change(catena::kernels::remainder, value); }
void IndexProxy::operator&=(const Operand& value) && { change(catena::kernels::bitwise_and, value); }
void IndexProxy::operator|=(const Operand& value) && { change(catena::kernels::bitwise_or, value); }
void IndexProxy::operator^=(const Operand& value) && { change(catena::kernels::bitwise_xor, value); }
void IndexProxy::operator<<=(const Operand& value) && { change(catena::kernels::left_shift, value); }
void IndexProxy::operator>>=(const Operand& value) && { change(catena::kernels::right_shift, value); }

// ---- take ---------------------------------------------------------------------------------------
namespace {

// Returns the key of a call of take as an array of indices on the device of the array.
Array indices_of(const IndexKey& key, Device device) {
  if (key.is_vector()) return key.array().to_device(device);
  if (key.is_array()) return key.array();
  check<TypeError>(key.basic().kind() == Key::Kind::integer, "take", "the indices are neither integers nor an array");
  const DeviceScope scope(device);
  return array(key.basic().index());
}

}  // namespace

Array take(const Array& a, const IndexKey& key, const TakeOptions& options) {
  const Array indices = indices_of(key, a.device());
  const Array source = a.ndim() == 0 || !options.axis ? a.ravel() : a;
  const int axis = options.axis ? catena::normalize_axis("take", *options.axis, source.ndim()) : 0;
  const Array within = internal::indices_in_mode("take", indices, source.shape()[axis], options.mode);
  return take_along("take", source, AxisIndices(within), axis, options.out);
}

Array Array::take(const IndexKey& indices, std::optional<int> axis) const { return take(indices, {.axis = axis}); }
Array Array::take(const IndexKey& indices, const TakeOptions& options) const {
  return nd::take(*this, indices, options);
}
Array Array::compress(const Array& condition, std::optional<int> axis) const {
  return compress(condition, {.axis = axis});
}
Array Array::compress(const Array& condition, const CompressOptions& options) const {
  return nd::compress(condition, *this, options);
}
Array Array::choose(const std::vector<Array>& choices) const { return choose(choices, {}); }
Array Array::choose(const std::vector<Array>& choices, const ChooseOptions& options) const {
  return nd::choose(*this, choices, options);
}
void Array::scatter_add(std::span<const IndexKey> keys, const Operand& value) const {
  nd::scatter_add(*this, keys, value);
}
void Array::scatter_add(std::initializer_list<catena::Integer> indices, const Operand& value) const {
  nd::scatter_add(*this, indices, value);
}
void Array::scatter_add(const IndexKey& key, const Operand& value) const { nd::scatter_add(*this, key, value); }
Array Array::diagonal(std::int64_t offset, int axis1, int axis2) const {
  return nd::diagonal(*this, offset, axis1, axis2);
}

Array extract(const Array& condition, const Array& a) {
  check<TypeError>(!condition.is_null() && !a.is_null(), "extract", "an array is null");
  check<ValueError>(condition.size() <= a.size(), "extract", "the condition has ", condition.size(),
                    " elements, the array ", a.size());
  return take_along("extract", a.ravel(), indices_of_mask(condition), 0, {});
}

Array compress(const Array& condition, const Array& a, const CompressOptions& options) {
  check<TypeError>(!condition.is_null() && !a.is_null(), "compress", "an array is null");
  check<ValueError>(condition.ndim() == 1, "compress", "the condition has rank ", condition.ndim(),
                    ", must have rank 1");
  const Array source = options.axis ? a : a.ravel();
  const int axis = catena::normalize_axis("compress", options.axis.value_or(0), source.ndim());
  check<ValueError>(condition.size() <= source.shape()[axis], "compress", "the condition has ", condition.size(),
                    " elements, axis ", axis, " of shape ", source.shape(), " is shorter");
  return take_along("compress", source, indices_of_mask(condition), axis, options.out);
}

std::vector<Array> ix_(const std::vector<Array>& args) {
  std::vector<Array> list;
  const int rank = static_cast<int>(args.size());
  for (int k = 0; k < rank; ++k) {
    const Array& a = args[std::size_t(k)];
    check<TypeError>(!a.is_null(), "ix_", "argument ", k, " is null");
    check<ValueError>(a.ndim() == 1, "ix_", "argument ", k, " has rank ", a.ndim(), ", must have rank 1");
    Shape shape = Shape::filled(rank, 1);
    const Array indices = a.dtype() == Dtype::bool_ ? flatnonzero(a) : a.size() == 0 ? a.astype(Dtype::int64) : a;
    shape[k] = indices.size();
    list.push_back(indices.reshape(shape));
  }
  return list;
}

// ---- diagonal and choose ------------------------------------------------------------------------
Array diagonal(const Array& a, std::int64_t offset, int axis1, int axis2) {
  check<ValueError>(a.ndim() >= 2, "diagonal", "an array of rank ", a.ndim(),
                    " has no diagonals; the rank must be at least 2");
  const int row = catena::normalize_axis("diagonal", axis1, a.ndim()),
            column = catena::normalize_axis("diagonal", axis2, a.ndim());
  check<ValueError>(row != column, "diagonal", "axes ", axis1, " and ", axis2, " are the same");
  const std::int64_t rows = a.shape()[row], columns = a.shape()[column];
  std::int64_t length = 0, first = 0;  // for any int64 offset: computed only after the range check
  if (offset >= 0 && offset < columns) {
    length = std::min(rows, columns - offset);
    first = offset * a.strides()[column];
  } else if (offset < 0 && offset > -rows) {
    length = std::min(rows + offset, columns);
    first = -offset * a.strides()[row];
  }
  Shape shape = a.shape();
  Strides strides = a.strides();
  for (int axis : {std::max(row, column), std::min(row, column)}) {
    shape.erase(axis);
    strides.erase(axis);
  }
  shape.push_back(length);
  strides.push_back(a.strides()[row] + a.strides()[column]);
  return internal::make_view(a, shape, strides, first);
}

void fill_diagonal(const Array& a, const Scalar& value, bool wrap) {
  check<ValueError>(a.ndim() >= 2, "fill_diagonal", "an array of rank ", a.ndim(),
                    " has no diagonal; the rank must be at least 2");
  const Shape& shape = a.shape();
  std::int64_t length = shape[0], step = 0;
  for (int i = 0; i < a.ndim(); ++i) {
    check<ValueError>(a.ndim() == 2 || shape[i] == shape[0], "fill_diagonal", "the lengths of shape ", shape,
                      " differ, and the rank is more than 2");
    length = std::min(length, shape[i]);
    step += a.strides()[i];
  }
  // Fills whole diagonals that follow each other, and a part of one.
  const std::int64_t period = shape[1] + 1, blocks = wrap && a.ndim() == 2 ? shape[0] / period : 0;
  const std::int64_t next = a.strides()[0] * period, rest = std::min(shape[0] - blocks * period, length);
  internal::make_view(a, {blocks, shape[1]}, {next, step}).fill(value);
  internal::make_view(a, {rest}, {step}, blocks * next).fill(value);
}

namespace {

Array indices_within(const Array& a, std::int64_t n, std::string_view mode) {
  if (mode == "wrap" || a.size() == 0) return a;
  if (mode == "clip") return clip(a.astype(Dtype::int64), std::int64_t(0), n - 1);
  const Scalar low = amin(a).item(), high = amax(a).item();
  const bool inside = low.to_double() >= 0 && high.to_double() < static_cast<double>(n);
  check<ValueError>(inside, "choose", "indices from ", low, " to ", high, " are not all in the range of ", n,
                    " choices");
  return a;
}

}  // namespace

Array choose(const Array& a, const std::vector<Array>& choices, const ChooseOptions& options) try {
  const bool known = options.mode == "raise" || options.mode == "wrap" || options.mode == "clip";
  check<TypeError>(known, "choose", "mode is '", options.mode, "', must be 'raise', 'wrap' or 'clip'");
  check<TypeError>(catena::is_integer(a.dtype()) || a.dtype() == Dtype::bool_, "choose", "indices have the dtype ",
                   a.dtype(), ", must be integers");
  check<ValueError>(!choices.empty(), "choose", "there are no choices");
  Shape shape = a.shape();
  for (const Array& c : choices) shape = catena::broadcast_shapes("choose", shape, c.shape());
  std::vector<Array> whole;
  for (const Array& c : choices) whole.push_back(broadcast_to(c, shape));
  const Array numbers = indices_within(a.dtype() == Dtype::bool_ ? a.astype(Dtype::uint8) : a,
                                       std::int64_t(choices.size()), options.mode);
  const Array all = stack(whole);
  Selection s;
  s.base = all;
  s.shape = shape;
  s.base_strides = all.strides();
  s.base_strides.erase(0);
  s.indices.push_back({numbers.get(), all.shape()[0], all.strides()[0], 0, true});
  const Array result = gather("choose", s);
  if (options.out.is_null()) return result;
  check<ValueError>(options.out.shape() == shape, "choose", "the output has shape ", options.out.shape(),
                    ", the result has ", shape);
  catena::check_output_cast("choose", result.dtype(), options.out.dtype(), Casting::same_kind);
  internal::assign("choose", options.out, result);
  return options.out;
} catch (...) {
  internal::rethrow_out_of_memory("choose");
}

}  // namespace nd
