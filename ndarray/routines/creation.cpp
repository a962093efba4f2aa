#include <catena/ndarray/routines/creation.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/math.h>

namespace nd {

using catena::check;
using catena::fail;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Runs the kernel of a range with an output of that dtype on the current device.
Array run_range(std::string_view op, const catena::KernelDef& def, std::int64_t n, Dtype dtype,
                std::initializer_list<catena::Input> inputs) {
  const Array a(internal::new_array(Shape{n}, dtype, current_device(), op));
  catena::ArrayHeader* const out = a.get();
  const catena::EagerProgram program(def, catena::choose_loop_by_output(def, dtype));
  internal::execute(catena::call::Elementwise{&program, {inputs.begin(), inputs.size()}, {&out, 1}, op});
  return a;
}

Array with_leading_axes(const Array& a, int ndmin) {
  if (a.ndim() >= ndmin) return a;
  Shape shape = a.shape();
  while (shape.size() < ndmin) shape.insert(0, 1);
  return a.reshape(shape);
}

}  // namespace

// ---- by shape -----------------------------------------------------------------------------------
namespace internal {
namespace {

Array uninitialised(std::string_view op, const Shape& shape, const CreateOptions& options, Dtype otherwise) {
  return empty_in_order(shape, options.dtype.value_or(otherwise), current_device(), options.order, op);
}

Array filled(std::string_view op, const Shape& shape, const CreateOptions& options, const Scalar& value) {
  const Array a = uninitialised(op, shape, options, value.natural_dtype());
  a.fill(value);
  return a;
}

Array new_like(const char* op, const Array& a, const LikeOptions& options) {
  const Dtype dtype = options.dtype.value_or(a.dtype());
  if (!options.shape) return empty_in_order_of(a, dtype, current_device(), options.order);
  const bool fortran =
      options.order == Order::F || (options.order == Order::A && !is_in_order(a, Order::C) && is_in_order(a, Order::F));
  return empty_in_order(*options.shape, dtype, current_device(), fortran ? Order::F : Order::C, op);
}

}  // namespace

Array empty(const Shape& shape, const CreateOptions& options) {
  return uninitialised("empty", shape, options, Dtype::float64);
}
Array zeros(const Shape& shape, const CreateOptions& options) { return filled("zeros", shape, options, 0.0); }
Array ones(const Shape& shape, const CreateOptions& options) { return filled("ones", shape, options, 1.0); }
Array full(const Shape& shape, const Scalar& value, const CreateOptions& options) {
  return filled("full", shape, options, value);
}

}  // namespace internal

Array internal::empty_like(const Array& a, const LikeOptions& options) try {
  return new_like("empty_like", a, options);
} catch (...) {
  internal::rethrow_out_of_memory("empty_like");
}
Array internal::full_like(const Array& a, const Scalar& value, const LikeOptions& options, const char* op) try {
  const Array result = new_like(op, a, options);
  result.fill(value);
  return result;
} catch (...) {
  internal::rethrow_out_of_memory(op);
}

// ---- from data ----------------------------------------------------------------------------------
namespace internal {

Array from_elements(const void* data, Dtype data_dtype, const Shape& shape, const ArrayOptions& options) {
  Array a(new_array(shape, data_dtype, current_device()));
  from_host(a, data);
  const Order order = options.order == Order::F ? Order::F : Order::C;
  a = a.astype(options.dtype.value_or(data_dtype), {.copy = order == Order::F, .order = order});
  return with_leading_axes(a, options.ndmin);
}

}  // namespace internal

Array Array::of_elements(const void* data, std::size_t n, Dtype stored, Dtype dtype) {
  return internal::from_elements(data, stored, Shape(n), {.dtype = dtype});
}

namespace internal {
namespace {

// Throws if an integer dtype cannot hold all elements; the least and the greatest element and NaN decide.
template <class E> void check_range_of(const E* data, std::int64_t n, Dtype to) {
  using C = catena::compute_t<E>;
  C least = C(data[0]), greatest = least;
  bool any_nan = false;
  for (std::int64_t i = 0; i < n; ++i) {
    const C x = C(data[i]);
    least = x < least ? x : least;
    greatest = x > greatest ? x : greatest;
    any_nan |= x != x;
  }
  for (const Scalar& s : {Scalar(least), Scalar(greatest), any_nan ? Scalar(kNaN) : Scalar(least)})
    catena::check_fits("array", s, to);
}
void check_range(const Values& values, std::int64_t n, Dtype to) {
  const Dtype from = values.stored();
  if (n == 0 || !catena::is_integer(to) || catena::is_complex_dtype(from) || catena::can_cast(from, to)) return;
  catena::visit_real_dtype("array", from, [&](auto tag) {
    check_range_of(static_cast<const typename decltype(tag)::type*>(values.data()), n, to);
  });
}

}  // namespace

Array from_values(const Values& values, const Shape& shape, const ArrayOptions& options) {
  const std::int64_t n = catena::size_of(values.shape());
  check<ValueError>(catena::checked_size(shape) == n, "array", n, " values do not fill the shape ", shape, " of ",
                    catena::checked_size(shape), " elements");
  ArrayOptions o = options;
  if (!o.dtype) o.dtype = values.dtype();
  else if (values.in_braces()) check_range(values, n, *o.dtype);
  return from_elements(values.data(), values.stored(), shape, o);
}

Array from_array(const Array& a, const ArrayOptions& options) try {
  const Dtype dtype = options.dtype.value_or(a.dtype());
  const Array source = options.copy ? a.to_device(current_device()) : a;
  const Array result = source.astype(dtype, {.copy = options.copy && source.get() == a.get(), .order = options.order});
  return with_leading_axes(result, options.ndmin);
} catch (...) {
  rethrow_out_of_memory("array");
}

Array from_scalar(const Scalar& value, const ArrayOptions& options) {
  return with_leading_axes(full(Shape{}, value, {.dtype = options.dtype}), options.ndmin);
}

}  // namespace internal

void Values::enter(std::size_t length, int depth) {
  if (shape_.size() == depth) shape_.push_back(static_cast<std::int64_t>(length));
  check<ValueError>(shape_[depth] == static_cast<std::int64_t>(length), "array",
                    "nested lists have different lengths, ", shape_[depth], " and ", length);
}

void Values::append(const void* element, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(element);
  copy_.insert(copy_.end(), first, first + bytes);
}

void Values::widen(const std::initializer_list<internal::Number>& list, std::optional<Dtype>& common) {
  for (const internal::Number& n : list) {
    const Dtype own = n.value.natural_dtype();
    common = common ? promote_types(*common, own) : own;
  }
}
void Values::add_scalars(const std::initializer_list<internal::Number>& list, int depth) {
  enter(list.size(), depth);
  for (const internal::Number& n : list) {
    const catena::ScalarCell cell(n.value, stored_);
    append(cell.bytes, itemsize(stored_));
  }
}

Array asarray(const Array& a, std::optional<Dtype> dtype) try {
  return a.astype(dtype.value_or(a.dtype()), {.copy = false});
} catch (...) {
  internal::rethrow_out_of_memory("asarray");
}

Array ascontiguousarray(const Array& a, std::optional<Dtype> dtype) try {
  if (dtype && *dtype != a.dtype()) return a.astype(*dtype);
  return internal::contiguous(a);
} catch (...) {
  internal::rethrow_out_of_memory("ascontiguousarray");
}

Array asfortranarray(const Array& a, std::optional<Dtype> dtype) try {
  return a.astype(dtype.value_or(a.dtype()), {.copy = false, .order = Order::F});
} catch (...) {
  internal::rethrow_out_of_memory("asfortranarray");
}

Array internal::host_array(const Values& values) {
  const DeviceScope host(cpu_device);
  return array(values);
}

ArrayLike::ArrayLike(const Scalar& number) : number_(number) {
  const DeviceScope host(cpu_device);
  array_ = nd::array(number);
}
ArrayLike::ArrayLike(const Values& list) : array_(internal::host_array(list)) {}

// ---- ranges -------------------------------------------------------------------------------------
namespace {

std::int64_t range_length(const Scalar& start, const Scalar& stop, const Scalar& step) {
  if (start.is_floating() || stop.is_floating() || step.is_floating()) {
    check<ValueError>(step.to_double() != 0, "arange", "the step is 0");
    const double n = std::ceil((stop.to_double() - start.to_double()) / step.to_double());
    check<ValueError>(n < 9.2e18 && !std::isnan(n), "arange", "the range from ", start, " to ", stop, " with step ",
                      step, " has no length");
    return n > 0 ? static_cast<std::int64_t>(n) : 0;
  }
  const auto wide = [](const Scalar& s) {
    return s.kind() == Scalar::Kind::unsigned_ ? static_cast<__int128>(s.to<std::uint64_t>())
                                               : static_cast<__int128>(s.to<std::int64_t>());
  };
  const __int128 by = wide(step), distance = wide(stop) - wide(start);
  check<ValueError>(by != 0, "arange", "the step is 0");
  const __int128 n = distance / by + (distance % by != 0 && (distance < 0) == (by < 0) ? 1 : 0);
  check<ValueError>(n <= INT64_MAX, "arange", "the range from ", start, " to ", stop, " with step ", step,
                    " has more than 2^63 - 1 elements");
  return n > 0 ? static_cast<std::int64_t>(n) : 0;
}

}  // namespace

Array internal::arange(const Scalar& start, const Scalar& stop, const Scalar& step, const CreateOptions& options) {
  for (const Scalar& s : {start, stop, step})
    check<TypeError>(!s.is_complex(), "arange", "the complex number ", s, " is no bound of a range");
  const bool floating = start.is_floating() || stop.is_floating() || step.is_floating();
  const Dtype dtype = options.dtype.value_or(floating ? Dtype::float64 : Dtype::int64);
  const std::int64_t n = range_length(start, stop, step);
  check<TypeError>(!catena::is_complex_dtype(dtype), "arange", "there is no range of ", dtype, " numbers");
  if (catena::is_integer(dtype)) {
    // As in NumPy, the step is the distance between the first two values after their conversion to integers.
    const Scalar second = n > 1 ? start + step : start;
    if (n > 0) catena::check_fits("arange", start, dtype);
    catena::check_fits("arange", n > 1 ? second : Scalar(0), dtype);
    const auto whole = [](const Scalar& s) { return s.is_floating() ? Scalar(s.to<std::int64_t>()) : s; };
    return run_range("arange", catena::kernels::arange, n, dtype, {whole(start), whole(second) - whole(start)});
  }
  if (dtype != Dtype::bool_) return run_range("arange", catena::kernels::arange, n, dtype, {start, step});
  check<TypeError>(n <= 2, "arange", "a range of ", n, " bools; at most two make sense");
  return run_range("arange", catena::kernels::arange, n, dtype,
                   {Scalar(start.to<bool>()), Scalar(start.to_double() + step.to_double() != 0)});
}

std::pair<Array, double> linspace_retstep(double start, double stop, std::int64_t num, const LinspaceOptions& options) {
  check<ValueError>(num >= 0, "linspace", "the number of samples ", num, " is negative");
  const Dtype dtype = options.dtype.value_or(Dtype::float64);
  const std::int64_t div = options.endpoint ? num - 1 : num;
  const double step = num > 1 ? (stop - start) / static_cast<double>(div) : kNaN;
  // The kernel rounds to its compute type; for 16-bit floats, rounding again to their dtype would be one rounding too
  // many.
  const bool by_float64 =
      catena::is_complex_dtype(dtype) || (catena::is_floating(dtype) && catena::itemsize(dtype) == 2);
  // A single number is the start.
  const Scalar by = num > 1 ? step : 0.0, distance = num > 1 ? stop - start : 0.0;
  const std::int64_t last = options.endpoint && num > 1 ? num - 1 : -1;
  const Array values = run_range("linspace", catena::kernels::linspace, num, by_float64 ? Dtype::float64 : dtype,
                                 {Scalar(start), Scalar(stop), by, distance,
                                  Scalar(static_cast<double>(std::max<std::int64_t>(div, 1))), Scalar(last)});
  return {values.astype(dtype, {.copy = false}), step};
}

Array linspace(double start, double stop, std::int64_t num, const LinspaceOptions& options) {
  return linspace_retstep(start, stop, num, options).first;
}

Array logspace(double start, double stop, std::int64_t num, const LogspaceOptions& options) try {
  const Array exponents = linspace(start, stop, num, {.endpoint = options.endpoint});
  return power(options.base, exponents).astype(options.dtype.value_or(Dtype::float64), {.copy = false});
} catch (...) {
  internal::rethrow_out_of_memory("logspace");
}

std::vector<Array> meshgrid(const std::vector<Array>& given, const MeshgridOptions& options) try {
  check<ValueError>(options.indexing == "xy" || options.indexing == "ij", "meshgrid", "indexing is '", options.indexing,
                    "', must be 'xy' or 'ij'");
  const auto n = static_cast<int>(given.size());
  Shape grid;
  std::vector<Array> xi;
  for (const Array& x : given) {
    check<ValueError>(!x.is_null() && x.ndim() <= 1, "meshgrid", "input ", grid.size(), " is no 1-D array");
    xi.push_back(x.ndim() == 0 ? x.reshape(1) : x);
    grid.push_back(x.size());
  }
  if (n <= 1) return xi;
  const std::vector<Operand> operands(xi.begin(), xi.end());
  internal::common_device("meshgrid", operands);
  const bool swapped = options.indexing == "xy";
  if (swapped) std::swap(grid[0], grid[1]);
  std::vector<Array> result;
  for (int i = 0; i < n; ++i) {
    const int axis = swapped && i < 2 ? 1 - i : i;
    const Array& x = xi[std::size_t(i)];
    Strides strides = Strides::filled(n, 0);
    strides[axis] = x.strides()[0];
    Shape shape = options.sparse ? Shape::filled(n, 1) : grid;
    shape[axis] = x.size();
    const Array view = internal::make_view(x, shape, strides);
    result.push_back(options.copy ? view.copy() : view);
  }
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("meshgrid");
}

// ---- matrices -----------------------------------------------------------------------------------
Array eye(std::int64_t N, const EyeOptions& options) {
  const Array a = internal::uninitialised("eye", {N, options.M.value_or(N)}, {.order = options.order}, options.dtype);
  a.fill(0);
  a.diagonal(options.k).fill(1);
  return a;
}

Array identity(std::int64_t n, Dtype dtype) try { return eye(n, {.dtype = dtype}); } catch (...) {
  internal::rethrow_out_of_memory("identity");
}

Array diag(const Array& v, std::int64_t k) try {
  check<ValueError>(v.ndim() == 1 || v.ndim() == 2, "diag", "the array has rank ", v.ndim(), ", must be 1-D or 2-D");
  if (v.ndim() == 2) return v.diagonal(k);
  std::int64_t n = 0;
  const bool fits = k > INT64_MIN && !__builtin_add_overflow(v.size(), k < 0 ? -k : k, &n);
  check<ValueError>(fits, "diag", "diagonal ", k, " is too far away");
  const Array a(internal::new_array(Shape{n, n}, v.dtype(), v.device()));
  a.fill(0);
  internal::assign("diag", a.diagonal(k), v);
  return a;
} catch (...) {
  internal::rethrow_out_of_memory("diag");
}

Array diagflat(const Array& v, std::int64_t k) try { return diag(v.ravel(), k); } catch (...) {
  internal::rethrow_out_of_memory("diagflat");
}

// ---- assignment of host data --------------------------------------------------------------------
namespace {
Array on_device(const Values& values, Device device) {
  return internal::from_values(values, values.shape(), {}).to_device(device);
}
}  // namespace

void Array::assign_values(const Values& values) const {
  internal::assign("assignment", *this, on_device(values, device()));
}
void IndexProxy::assign_values(const Values& values) const {
  setitem(array_, keys_, on_device(values, array_.device()));
}

}  // namespace nd
