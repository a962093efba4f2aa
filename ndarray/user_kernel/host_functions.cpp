#include <catena/ndarray/user_kernel/host_functions.h>

#include <algorithm>
#include <numeric>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/manipulation.h>

namespace nd::internal {
namespace {

using catena::check;

Array converted(const char* op, const Array& a, Dtype dtype) {
  check<TypeError>(!a.is_null(), op, "the array is null");
  check<TypeError>(catena::can_cast(a.dtype(), dtype, catena::Casting::same_kind), op, "the function takes ", dtype,
                   ", and the array is ", a.dtype(),
                   ", which the casting \"same_kind\" does not convert: write .astype(", dtype, ")");
  return ascontiguousarray(a.to_device({}), dtype);
}

}  // namespace

Array host_array(const Shape& shape, Dtype dtype) {
  const DeviceScope on{Device()};
  return nd::empty(shape, dtype);
}

std::vector<Array> on_host(const char* op, const std::vector<Array>& args, std::vector<Dtype> dtypes) {
  std::vector<Array> host;
  for (std::size_t i = 0; i < args.size(); ++i) host.push_back(converted(op, args[i], dtypes[i]));
  host = broadcast_arrays(host);
  for (Array& a : host) a = ascontiguousarray(a);
  return host;
}

Array beside(const std::vector<Array>& args, const Array& result) { return result.to_device(args[0].device()); }

HostRows::HostRows(const char* op, const Array& a, std::optional<int> given, Dtype dtype) : device(a.device()) {
  const Array host = converted(op, a, dtype), source = given ? host : host.reshape(-1);
  axis = given ? catena::normalize_axis(op, *given, a.ndim()) : 0;
  const Array last = moveaxis(source, axis, -1);
  moved = last.shape();
  rows = ascontiguousarray(last);
  length = moved.back();
  count = length == 0 ? 0 : rows.size() / length;
}

Array HostRows::restored(const Array& result) const {
  return moveaxis(result.reshape(moved), -1, axis).to_device(device);
}

Array argsort_rows(const HostRows& x, const void* data, std::size_t itemsize, const LessFunction& less) {
  const Array result = host_array(x.rows.shape(), Dtype::int64);
  std::int64_t* const positions = result.data<std::int64_t>();
  const auto size = std::int64_t(itemsize);
  for (std::int64_t row = 0; row < x.count; ++row) {
    const char* const in = static_cast<const char*>(data) + row * x.length * size;
    std::int64_t* const out = positions + row * x.length;
    std::iota(out, out + x.length, 0);
    std::stable_sort(out, out + x.length,
                     [&](std::int64_t i, std::int64_t k) { return less(in + i * size, in + k * size); });
  }
  return x.restored(result);
}

Array taken_along(const Array& a, const Array& positions, std::optional<int> axis) {
  return axis ? take_along_axis(a, positions, *axis) : take_along_axis(a.reshape(-1), positions, 0);
}

std::vector<Array> keys_and_values(const Array& keys, const Array& values, Dtype dtype) {
  constexpr const char* op = "reduce_by_key";
  check<TypeError>(!keys.is_null(), op, "the array of the keys is null");
  std::vector<Array> host{ascontiguousarray(keys.to_device({})), converted(op, values, dtype)};
  check<ValueError>(keys.ndim() == 1 && keys.shape() == values.shape(), op, "keys have the shape ", keys.shape(),
                    " and values ", values.shape(), "; both must be one sequence of the same length");
  return host;
}

std::vector<std::int64_t> beginnings(const Array& keys) {
  std::vector<std::int64_t> begins;
  if (keys.size() == 0) return begins;
  const Array differs = keys(Slice(1, {})) != keys(Slice({}, -1));
  begins.push_back(0);
  const bool* const found = differs.data<const bool>();
  for (std::int64_t i = 0; i < differs.size(); ++i)
    if (found[i]) begins.push_back(i + 1);
  return begins;
}

Array taken(const Array& a, const std::vector<std::int64_t>& positions) {
  const DeviceScope on(a.device());
  return take(a, array(positions, Dtype::int64), {.axis = 0});
}

}  // namespace nd::internal
