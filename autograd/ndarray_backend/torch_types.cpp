#include <catena/autograd/ndarray_backend/torch_types.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/ndarray_backend/torch_complex.h>
#include <catena/autograd/promotion.h>
#include <catena/autograd/random_state.h>
#include <catena/kernels/base/seed.h>
#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/random.h>
#include <catena/ndarray/routines/stride_tricks.h>
#include <catena/ndarray/routines/text_files.h>

namespace autograd {

using catena::check;
using catena::is_complex_dtype;
using catena::is_floating;
using catena::ValueError;

namespace {

// 0: bool, 1: integer, 2: floating, 3: complex.
int level_of(Dtype d) { return is_complex_dtype(d) ? 3 : is_floating(d) ? 2 : d == Dtype::bool_ ? 0 : 1; }

// Numbers come last, arrays with axes first.
int rank_of(const TensorArgument& x) { return !x.is_array() ? 0 : x.array().ndim() == 0 ? 1 : 2; }
Dtype dtype_of(const TensorArgument& x) {
  if (x.is_array()) return x.array().dtype();
  const Scalar number = nd::Operand(x).scalar();
  if (number.is_complex()) return internal::complex_of(get_dtype());
  if (number.is_floating()) return get_dtype();
  return number.kind() == Scalar::Kind::bool_ ? Dtype::bool_ : Dtype::int64;
}

}  // namespace

Dtype result_type(const TensorArgument& x, const TensorArgument& y) {
  const bool swapped = rank_of(x) < rank_of(y);
  const Dtype high = dtype_of(swapped ? y : x), low = dtype_of(swapped ? x : y);
  if (rank_of(x) == rank_of(y)) return internal::promoted(high, low);
  if (level_of(low) <= level_of(high)) return high;
  return level_of(low) == 3 && level_of(high) == 2 ? internal::complex_of(high) : internal::promoted(high, low);
}
bool can_cast(Dtype from, Dtype to) { return level_of(from) <= level_of(to); }

std::uint64_t seed() {
  static std::atomic<std::uint64_t> calls{0};
  const std::uint64_t fresh = derived_seed(catena::initial_seed(), calls.fetch_add(1, std::memory_order_relaxed));
  autograd::seed(fresh);
  return fresh;
}

Device get_default_device() { return nd::current_device(); }
void set_default_device(const DeviceOption& device) { nd::set_current_device(device.value_or(nd::default_device())); }
void set_deterministic_debug_mode(std::string_view mode) {
  check<ValueError>(mode == "default" || mode == "error", "set_deterministic_debug_mode", "the mode is \"", mode,
                    "\"; it is \"default\" or \"error\"");
  use_deterministic_algorithms(mode == "error");
}

Variable from_file(const std::string& path, const FromFileOptions& o) {
  return from_numpy(nd::fromfile(path, {.dtype = o.dtype, .count = o.size}));
}
Variable frombuffer(std::span<const std::byte> bytes, const FromBufferOptions& o) {
  return internal::tensor_root(nd::frombuffer(bytes, o.dtype, o.count, o.offset), {.requires_grad = o.requires_grad});
}

Variable empty_strided(const Shape& shape, const Dims& strides, const TensorOptions& o) {
  check<ValueError>(shape.size() == strides.size(), "empty_strided", "there are ", strides.size(),
                    " strides for the shape ", shape);
  std::int64_t last = 0, size = 1;
  for (int i = 0; i < int(shape.size()); ++i) {
    check<ValueError>(strides[i] >= 0, "empty_strided", "the stride ", strides[i], " is negative");
    last += (shape[i] - 1) * strides[i];
    size *= shape[i];
  }
  const nd::Array memory =
      internal::made(internal::Filling::empty, {size == 0 ? 0 : last + 1}, {.dtype = o.dtype, .device = o.device})
          .data();
  std::vector<std::int64_t> bytes;
  for (int i = 0; i < int(shape.size()); ++i) bytes.push_back(strides[i] * catena::itemsize(memory.dtype()));
  return internal::tensor_root(nd::lib::stride_tricks::as_strided(memory, shape, bytes), o);
}
Variable empty_permuted(const Shape& shape, const Dims& physical, const TensorOptions& o) {
  check<ValueError>(shape.size() == physical.size(), "empty_permuted", "there are ", physical.size(),
                    " axes for the shape ", shape);
  std::vector<std::int64_t> strides(std::size_t(shape.size()), -1);
  std::int64_t stride = 1;
  for (int i = int(shape.size()); i-- > 0;) {
    const int axis = catena::normalize_axis("empty_permuted", int(physical[i]), int(shape.size()));
    check<ValueError>(strides[axis] < 0, "empty_permuted", "the axis ", axis, " is given twice");
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return empty_strided(shape, strides, o);
}

Variable range(double start, double end, double step, const TensorOptions& o) {
  check<ValueError>(step != 0 && (end - start) / step >= 0, "range", "the step ", step, " does not lead from ", start,
                    " to ", end);
  const double count = std::floor((end - start) / step) + 1;
  TensorOptions floating = o;
  floating.dtype = o.dtype.value_or(get_dtype());
  return internal::range_of(start, start + (count - 0.5) * step, step, floating);
}
Variable nonzero_static(const Variable& x, const NonzeroStaticOptions& o) {
  check<ValueError>(o.size >= 0, "nonzero_static", "the size is ", o.size, ", it must not be negative");
  const Array found = nonzero(x).data();
  const std::int64_t n = std::min(o.size, found.shape(0));
  const Array rows = arrays::full({o.size, std::int64_t(x.ndim())}, o.fill_value, Dtype::int64, x.device());
  if (n > 0) assign(slice(rows, 0, 0, n), slice(found, 0, 0, n));
  return as_variable(rows);
}
Variable binomial(const Variable& count, const Variable& prob) {
  const nd::DeviceScope scope(count.device());
  const nd::Array n = nd::Array(count.data()).astype(nd::int64), p = nd::Array(prob.data()).astype(nd::float64);
  return as_variable(nd::Array(nd::random::binomial(n, p)).astype(count.dtype()));
}

}  // namespace autograd
