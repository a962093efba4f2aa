#include <catena/ndarray/routines/element_access.h>

#include <algorithm>
#include <tuple>

#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/index_plan.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/core/view.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/routines/editing.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/operand.h>
#include <catena/ndarray/routines/reduction.h>

namespace nd {

using catena::check;

namespace {

struct LeastAndGreatest {
  std::int64_t least, greatest;
};
// Of an array with at least one element. Waits for the device.
LeastAndGreatest range_of(const Array& indices) {
  return {amin(indices).item<std::int64_t>(), amax(indices).item<std::int64_t>()};
}

void check_integers(std::string_view op, const Array& indices) {
  check<TypeError>(catena::is_integer(indices.dtype()), op, "indices have the dtype ", indices.dtype(),
                   ", must be integers");
}

void check_mode(std::string_view op, std::string_view mode) {
  check<ValueError>(mode == "raise" || mode == "wrap" || mode == "clip", op, "mode is '", mode,
                    "', must be 'raise', 'wrap' or 'clip'");
}

}  // namespace

Array internal::indices_in_mode(std::string_view op, const Array& indices, std::int64_t n,
                                const std::optional<std::string_view>& mode) {
  if (!mode) return indices;
  check_mode(op, *mode);
  if (indices.size() == 0 || n == 0) return indices;
  if (*mode == "wrap") return indices.astype(Dtype::int64, {.copy = false}) % n;
  if (*mode == "clip") return clip(indices.astype(Dtype::int64, {.copy = false}), 0, n - 1);
  if (indices.device().kind == Device::Kind::cpu) return indices;  // checked when they are used
  const auto [least, greatest] = range_of(indices);
  for (const std::int64_t index : {least, greatest})
    check<IndexError>(index >= -n && index < n, op, "the index ", index, " is out of range for ", n, " elements");
  return indices;
}

// ---- along an axis ------------------------------------------------------------------------------
namespace {

// The elements that index arrays pick along an axis: the loop over `shape`, as in catena::call::Gather.
struct Picked {
  Array base;
  Shape shape;
  Strides strides;
  catena::call::Index index;
};

Picked picked(std::string_view op, const Array& a, const Array& indices, std::optional<int> axis) {
  check<TypeError>(!a.is_null(), op, "the array is null");
  check<TypeError>(!indices.is_null(), op, "the index array is null");
  catena::check_index_dtype(op, indices.dtype());
  Picked p{axis ? a : a.ravel(), {}, {}, {}};
  check<ValueError>(indices.ndim() == p.base.ndim(), op, "the indices have rank ", indices.ndim(), ", the array ",
                    p.base.ndim(), "; the ranks must be the same");
  const int along = catena::normalize_axis(op, axis.value_or(0), p.base.ndim());
  Shape others = p.base.shape();
  others[along] = 1;
  p.shape = catena::broadcast_shapes(op, others, indices.shape());
  const std::int64_t length = p.base.shape()[along];
  check<IndexError>(length > 0 || catena::size_of(p.shape) == 0, op,
                    "an axis of length 0 has no elements for indices of shape ", indices.shape());
  p.strides = catena::broadcast_strides(op, others, p.base.strides(), p.shape);
  p.strides[along] = 0;
  p.index = {indices.get(), length, p.base.strides()[along], along};
  return p;
}

}  // namespace

Array take_along_axis(const Array& a, const Array& indices, std::optional<int> axis) {
  const Picked p = picked("take_along_axis", a, indices, axis);
  const Array out(internal::new_array(p.shape, a.dtype(), a.device(), "take_along_axis"));
  internal::execute(
      catena::call::Gather{p.base.get(), p.strides, {&p.index, 1}, &p.shape, out.get(), "take_along_axis"});
  return out;
}

void put_along_axis(const Array& arr, const Array& indices, const Operand& values, std::optional<int> axis) {
  constexpr std::string_view op = "put_along_axis";
  check<TypeError>(!arr.is_null(), op, "the array is null");
  internal::check_output_layout(op, *arr.get());
  if (!axis && !arr.is_c_contiguous()) {  // ravel() would copy
    check<ValueError>(indices.ndim() == 1, op, "the indices have rank ", indices.ndim(),
                      ", must have rank 1 for the flattened array");
    const Array all = broadcast_to(internal::as_array(values, arr.device()), indices.shape());
    return put(arr, indices, all);
  }
  const Picked p = picked(op, arr, indices, axis);
  Array source;
  if (values.is_array()) {
    source = values.array();
    if (source.ndim() > p.shape.size())
      source =
          internal::view_as(source, catena::without_leading_axes(source.shape(), source.strides(), p.shape.size()));
  }
  const catena::Input input = source.is_null() ? catena::Input(values.scalar()) : catena::Input(*source.get());
  internal::execute(
      catena::call::Scatter{catena::ScatterMode::set, p.base.get(), p.strides, {&p.index, 1}, &p.shape, input, op});
}

// ---- flat positions and masks -------------------------------------------------------------------
namespace {

// Returns the values of an argument as an array of rank 1 on `device`.
Array flat_values(const ArrayLike& values, Device device) {
  return (values.is_array() ? values.array() : values.array().to_device(device)).ravel();
}

// Returns n of the values, repeated if there are fewer, or the only value.
Array repeated(const Array& values, std::int64_t n) {
  if (values.size() == 1) return values.reshape(Shape{});
  return values.size() < n ? resize(values, n) : internal::part(values, 0, 0, n);
}

Array mask_of(std::string_view op, const Array& a, const Array& mask) {
  check<TypeError>(!a.is_null() && !mask.is_null(), op, "an array is null");
  check<ValueError>(mask.size() == a.size(), op, "the mask of shape ", mask.shape(),
                    " has another size than the array ", "of shape ", a.shape());
  return mask.reshape(a.shape()).astype(Dtype::bool_, {.copy = false});
}

void check_safe(std::string_view op, const ArrayLike& values, Dtype to) {
  if (values.is_array()) catena::check_output_cast(op, values.array().dtype(), to, Casting::safe);
}

// Returns the positions along each axis of flat positions, which may be negative: then the first axis is.
std::vector<IndexKey> keys_of(const Array& flat, const Shape& shape) {
  std::vector<IndexKey> keys(std::size_t(shape.size()), IndexKey(0));
  Array rest = flat.astype(Dtype::int64, {.copy = false});
  for (int axis = shape.size() - 1; axis > 0; --axis) {
    const auto [quotient, remainder] = divmod(rest, shape[axis]);
    keys[std::size_t(axis)] = remainder;
    rest = quotient;
  }
  keys[0] = rest;
  return keys;
}

}  // namespace

void put(const Array& a, const IndexKey& ind, const ArrayLike& v, const PutOptions& options) try {
  check<TypeError>(!a.is_null(), "put", "the array is null");
  if (options.mode) check_mode("put", *options.mode);
  const DeviceScope scope(a.device());
  check<TypeError>(ind.is_array() || ind.basic().kind() == Key::Kind::integer, "put",
                   "the positions are neither integers nor an array");
  const Array given = ind.is_array() ? ind.array() : array(ind.basic().index());
  check_integers("put", given);
  const Array indices = (ind.is_vector() ? given.to_device(a.device()) : given).ravel();
  const Array values = flat_values(v, a.device());
  if (indices.size() == 0 || values.size() == 0) return;
  check<IndexError>(a.size() > 0, "put", "an array without elements has no positions");
  const Array at = internal::indices_in_mode("put", indices, a.size(), options.mode);
  const Array each = repeated(values, at.size());
  if (a.is_c_contiguous()) return setitem(a.reshape(-1), {IndexKey(at)}, each);
  setitem(a, keys_of(at, a.shape()), each);
} catch (...) {
  internal::rethrow_out_of_memory("put");
}

void place(const Array& arr, const Array& mask, const ArrayLike& vals) try {
  const Array where = mask_of("place", arr, mask);
  check_safe("place", vals, arr.dtype());
  const Array values = flat_values(vals, arr.device());
  if (values.size() == 1) return setitem(arr, {IndexKey(where)}, values.reshape(Shape{}));
  const std::int64_t count = count_nonzero(where);
  check<ValueError>(count == 0 || values.size() > 0, "place", "there are no values for ", count, " elements");
  if (count > 0) setitem(arr, {IndexKey(where)}, repeated(values, count));
} catch (...) {
  internal::rethrow_out_of_memory("place");
}

void putmask(const Array& a, const Array& mask, const ArrayLike& values) try {
  const Array where = mask_of("putmask", a, mask);
  check_safe("putmask", values, a.dtype());
  const Array flat = flat_values(values, a.device());
  if (flat.size() == 0 || a.size() == 0) return;
  const Array each = repeated(flat, a.size());
  copyto(a, each.ndim() == 0 ? each : each.reshape(a.shape()), {.casting = Casting::unsafe, .where = where});
} catch (...) {
  internal::rethrow_out_of_memory("putmask");
}

// ---- choices by conditions ----------------------------------------------------------------------
Array select(const std::vector<Array>& condlist, const std::vector<Operand>& choicelist, const Operand& default_) try {
  const std::size_t n = condlist.size();
  check<ValueError>(n == choicelist.size(), "select", n, " conditions are given for ", choicelist.size(),
                    " choices; both lists must have the same length");
  check<ValueError>(n > 0, "select", "there are no conditions");
  Shape shape;
  std::vector<catena::Input> inputs;
  std::vector<Operand> operands(choicelist);
  operands.push_back(default_);
  for (const Operand& x : operands) {
    if (x.is_array()) shape = catena::broadcast_shapes("select", shape, x.header()->shape);
    inputs.push_back(x);
  }
  for (std::size_t k = 0; k < n; ++k) {
    check<TypeError>(!condlist[k].is_null() && condlist[k].dtype() == Dtype::bool_, "select", "condition ", k,
                     " is no array of bools");
    shape = catena::broadcast_shapes("select", shape, condlist[k].shape());
    operands.push_back(condlist[k]);
  }
  const Dtype dtype = catena::result_type(inputs);
  const Array result(internal::new_array(shape, dtype, internal::common_device("select", operands), "select"));
  for (std::size_t k = n; k-- > 0;) {
    const Operand in[] = {condlist[k], choicelist[k], k + 1 == n ? default_ : Operand(result)};
    internal::apply_ufunc(catena::kernels::where, in, UfuncOptions{.out = result, .dtype = dtype});
  }
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("select");
}

Array piecewise(const Array& x, const std::vector<Array>& condlist, const std::vector<Piece>& funclist) try {
  std::vector<Array> conditions;
  for (const Array& c : condlist) conditions.push_back(c.astype(Dtype::bool_, {.copy = false}));
  const std::size_t n = conditions.size();
  check<ValueError>(n > 0 && (funclist.size() == n || funclist.size() == n + 1), "piecewise", funclist.size(),
                    " pieces are given for ", n, " conditions; give one for each, and one for all other elements");
  if (funclist.size() > n) {
    Array any = conditions[0];
    for (const Array& c : conditions) any = any | c;
    conditions.push_back(logical_not(any));
  }
  const DeviceScope scope(x.device());
  const Array result = zeros_like(x);
  for (std::size_t k = 0; k < conditions.size(); ++k) {
    const IndexKey key(conditions[k]);
    if (!funclist[k].function()) {
      setitem(result, {key}, funclist[k].number());
      continue;
    }
    const Array elements = getitem(x, {key});
    if (elements.size() > 0) setitem(result, {key}, funclist[k].function()(elements));
  }
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("piecewise");
}

// ---- positions as numbers -----------------------------------------------------------------------
namespace {

void check_order(std::string_view op, Order order) {
  check<ValueError>(order == Order::C || order == Order::F, op, "the order must be C or F");
}

Array index_along(const Operand& given, Device device, std::int64_t n, int axis, std::string_view mode) {
  constexpr std::string_view op = "ravel_multi_index";
  const Array x = internal::as_array(given, device);
  check_integers(op, x);
  const Array i = x.astype(Dtype::int64, {.copy = false});
  if (i.size() == 0) return i;
  check<ValueError>(n > 0, op, "axis ", axis, " of length 0 has no index");
  if (mode == "raise") {
    const auto [least, greatest] = range_of(i);
    check<ValueError>(least >= 0 && greatest < n, op, "indices from ", least, " to ", greatest,
                      " are not all in the range of axis ", axis, " of length ", n);
    return i;
  }
  return internal::indices_in_mode(op, i, n, mode);
}

}  // namespace

Array ravel_multi_index(const std::vector<Operand>& multi_index, const Shape& dims, const RavelOptions& options) try {
  constexpr std::string_view op = "ravel_multi_index";
  const int rank = dims.size();
  check<ValueError>(static_cast<int>(multi_index.size()) == rank && rank > 0, op, multi_index.size(),
                    " indices are given for the shape ", dims, "; give one for each dimension");
  const std::size_t modes = options.mode.size();
  check<ValueError>(modes == 1 || modes == multi_index.size(), op, modes, " modes are given for ", rank,
                    " dimensions; give one, or one for each");
  for (const std::string_view mode : options.mode) check_mode(op, mode);
  check_order(op, options.order);
  catena::checked_size(dims);
  const Device device = internal::common_device(op, multi_index);
  Array result;
  std::int64_t stride = 1;
  for (int k = 0; k < rank; ++k) {
    const int axis = options.order == Order::C ? rank - 1 - k : k;
    const auto at = static_cast<std::size_t>(axis);
    const Array i = index_along(multi_index[at], device, dims[axis], axis, options.mode[modes == 1 ? 0 : at]);
    if (result.is_null()) result = i;
    else result = std::move(result) + i * stride;
    stride *= dims[axis];
  }
  return result.get() == (multi_index[0].is_array() ? multi_index[0].header() : nullptr) ? result.copy() : result;
} catch (...) {
  internal::rethrow_out_of_memory("ravel_multi_index");
}
Array ravel_multi_index(const std::vector<Array>& multi_index, const Shape& dims, const RavelOptions& options) {
  return ravel_multi_index(std::vector<Operand>(multi_index.begin(), multi_index.end()), dims, options);
}

std::vector<Array> unravel_index(const Operand& indices, const Shape& shape, Order order) try {
  constexpr std::string_view op = "unravel_index";
  check_order(op, order);
  const std::int64_t size = catena::checked_size(shape);
  const Array given = internal::as_array(indices, current_device());
  check_integers(op, given);
  Array rest = given.astype(Dtype::int64, {.copy = false});
  if (rest.size() > 0) {
    const auto [least, greatest] = range_of(rest);
    check<ValueError>(least >= 0 && greatest < size, op, "positions from ", least, " to ", greatest,
                      " are not all in the range of ", size, " elements of shape ", shape);
  }
  std::vector<Array> result(std::size_t(shape.size()));
  for (int k = 0; k < shape.size(); ++k) {
    const int axis = order == Order::C ? shape.size() - 1 - k : k;
    Array& along = result[std::size_t(axis)];
    if (k + 1 == shape.size()) along = rest.get() == given.get() ? rest.copy() : rest;
    else std::tie(rest, along) = divmod(rest, std::max(shape[axis], std::int64_t(1)));
  }
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("unravel_index");
}

}  // namespace nd
