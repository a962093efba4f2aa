// Assignment and copies: the members of Array that write or read elements.
#include <algorithm>
#include <cstdlib>

#include <catena/kernels/base/device_name.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/cast.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/core/view.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/out_of_memory.h>

namespace nd {

using catena::check;

namespace internal {
namespace {

Array empty_on(const Shape& shape, Dtype dtype, Device device) { return Array(new_array(shape, dtype, device)); }

// Returns a copy on the device of `a`, converted to `dtype`.
Array converted(const Array& a, Dtype dtype, Order order = Order::C) {
  const Array result = empty_in_order_of(a, dtype, a.device(), order);
  assign("astype", result, a);
  return result;
}

// Replaces the order A by C or F, depending on the layout of `a`.
Order order_for(Order order, const Array& a) {
  if (order != Order::A) return order;
  return a.is_f_contiguous() && !a.is_c_contiguous() ? Order::F : Order::C;
}

// True if several elements of the array share memory, as in a result of broadcast_to.
bool repeats_elements(const Array& a) {
  for (int i = 0; i < a.ndim(); ++i)
    if (a.strides()[i] == 0 && a.shape()[i] > 1) return a.size() > 0;
  return false;
}

// Returns `from` broadcast to the shape of `to`; extra leading axes of length 1 are dropped.
Array broadcast_for(std::string_view op, const Array& from, const Array& to) {
  if (from.shape() == to.shape()) return from;
  if (from.ndim() > to.ndim() && from.shape()[0] == 1)
    return broadcast_for(op, view_as(from, catena::without_leading_axes(from.shape(), from.strides(), to.ndim())), to);
  return view_as(from, catena::broadcast_view(op, from.shape(), from.strides(), to.shape()));
}

}  // namespace

void assign(std::string_view op, const Array& to, const Operand& from) {
  const Dtype given = from.is_array() ? from.header()->dtype : from.scalar().natural_dtype();
  catena::warn_of_lost_imaginary_part(op, given, to.dtype());
  if (!from.is_array()) return convert_into(op, from.scalar(), *to.get());
  if (from.header() == to.get()) return;
  const Array source = broadcast_for(op, from.array(), to);
  OneDevice one(op);
  one.add(to.get());
  one.add(source.get());
  check<ValueError>(!repeats_elements(to), op, "an array of shape ", to.shape(), " and strides ", to.strides(),
                    " has elements that share memory, so arrays cannot be assigned to it");
  if (to.size() == 0) return;
  const bool same_bytes = to.dtype() == source.dtype() && to.is_c_contiguous() && source.is_c_contiguous();
  if (same_bytes && !catena::overlaps(*source.get(), *to.get())) return copy_bytes(*to.get(), *source.get());
  convert_into(op, *source.get(), *to.get());
}

Array empty_in_order(const Shape& shape, Dtype dtype, Device device, Order order, std::string_view op) {
  check<TypeError>(order == Order::C || order == Order::F, op, "the order of a new array is C or F, not ",
                   order == Order::A ? "A" : "K");
  if (order == Order::C) return Array(new_array(shape, dtype, device, op));
  Shape reversed = shape;
  std::reverse(reversed.begin(), reversed.end());
  const Array result = Array(new_array(reversed, dtype, device, op)).transpose();
  catena::take_ownership(*result.get());
  return result;
}

Array empty_in_order_of(const Array& a, Dtype dtype, Device device, Order order) {
  const Order chosen = order_for(order, a);
  if (chosen != Order::K || a.is_c_contiguous())
    return empty_in_order(a.shape(), dtype, device, chosen == Order::K ? Order::C : chosen);
  const Dims axes = catena::axes_in_memory(a.strides());
  const Shape packed = catena::permuted_axes("array", a.shape(), a.strides(), axes).shape;
  const Array result = empty_on(packed, dtype, device).transpose(catena::inverse_axes(axes));
  catena::take_ownership(*result.get());
  return result;
}

bool is_in_order(const Array& a, Order order) {
  switch (order_for(order, a)) {
    case Order::C: return a.is_c_contiguous();
    case Order::F: return a.is_f_contiguous();
    default: return catena::dense_order(a.shape(), a.strides(), a.itemsize()).has_value();
  }
}

Array contiguous(const Array& a) { return a.is_c_contiguous() ? a : converted(a, a.dtype()); }

void to_host(const Array& a, void* c_order) { copy_to_host(c_order, *contiguous(a).get()); }

void from_host(const Array& a, const void* c_order) {
  if (a.is_c_contiguous()) {
    copy_from_host(*a.get(), c_order);
    // The caller may change pinned memory as soon as this function returns.
    if (a.device().kind != Device::Kind::cpu) runtime(a.device().kind).synchronize(stream_for(a.device()));
    return;
  }
  const Array packed = empty_on(a.shape(), a.dtype(), a.device());
  from_host(packed, c_order);
  assign("from_host", a, packed);
}

}  // namespace internal

// ---- elements -----------------------------------------------------------------------------------
void Array::item_to(Dtype t, void* value) const {
  check<ValueError>(size() == 1, "item", "an array of shape ", shape(), " has ", size(), " elements, not one");
  catena::warn_of_lost_imaginary_part("item", dtype(), t);
  const catena::CastFn cast = catena::cast_function(dtype(), t);
  alignas(catena::kMaxItemsize) std::byte element[catena::kMaxItemsize];
  const std::byte* from = h_->data;
  if (device().kind != Device::Kind::cpu) {
    internal::copy_to_host(element, *h_);
    from = element;
  }
  cast(from, 0, static_cast<std::byte*>(value), 0, 1);
  // The bytes of a bool array may come from a view of another dtype; in a bool variable only 0 and 1 are defined.
  auto* byte = static_cast<unsigned char*>(value);
  if (t == Dtype::bool_) *byte = *byte != 0;
}

void Array::throw_no_number() const {
  catena::fail<TypeError>("number", "an array of shape ", shape(), " has ", size(),
                          " elements, and only an array of one element is a number; to_vector() gives them all");
}

void Array::fill(const Scalar& value) const { internal::assign("fill", *this, value); }

void Array::operator=(const Operand& value) && { internal::assign("assignment", *this, value); }

// ---- shapes that may need a copy ----------------------------------------------------------------
Array Array::reshape(const Shape& requested, OrderLike order) const try {
  check<ValueError>(order != Order::K, "reshape", "elements cannot be read in order K; the orders are C, F and A");
  if (internal::order_for(order, *this) == Order::F) {
    Shape reversed = catena::resolve_reshape("reshape", shape(), requested);
    std::reverse(reversed.begin(), reversed.end());
    const Array from = transpose().reshape(reversed);
    return from.ndim() < 2 ? from : from.transpose();
  }
  const Shape to = catena::resolve_reshape("reshape", shape(), requested);
  if (const std::optional<Strides> s = catena::reshape_strides(shape(), strides(), to, itemsize()))
    return internal::make_view(*this, to, *s);
  return internal::make_view(internal::contiguous(*this), to, catena::c_strides(to, itemsize()));
} catch (...) {
  internal::rethrow_out_of_memory("reshape");
}

Array Array::ravel(OrderLike order) const {
  if (order != Order::K) return reshape(Shape{-1}, order);
  return transpose(catena::axes_in_memory(strides())).reshape(Shape{-1});
}

Array Array::flatten(OrderLike order) const try {
  if (order != Order::C) {
    const Array line = ravel(order);
    return line.shares_memory(*this) ? line.copy() : line;
  }
  const Array result = internal::empty_on(Shape{size()}, dtype(), device());
  internal::assign("flatten", internal::make_view(result, shape(), catena::c_strides(shape(), itemsize())), *this);
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("flatten");
}

// ---- copies -------------------------------------------------------------------------------------
Array Array::to_host() const try {
  const Array result = internal::empty_on(shape(), dtype(), cpu_device);
  internal::to_host(*this, result->data);
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("to_host");
}

Array Array::to_host(const Stream& stream) const try {
  const StreamScope scope(stream);
  const Array source = internal::contiguous(*this), result = internal::empty_on(shape(), dtype(), cpu_device);
  internal::copy_to_host_async(result->data, *source.get());
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("to_host");
}

namespace {

void check_set(const Array& to, const Array& host) {
  check<TypeError>(!host.is_null() && host.device().kind == Device::Kind::cpu, "set",
                   "the elements must be an array in host memory");
  check<TypeError>(host.dtype() == to.dtype(), "set", "the array in host memory has dtype ", host.dtype(),
                   ", the array ", to.dtype());
  check<ValueError>(host.shape() == to.shape(), "set", "the array in host memory has shape ", host.shape(),
                    ", the array ", to.shape());
  check<RuntimeError>(to.is_c_contiguous(), "set", "an array of shape ", to.shape(), " and strides ", to.strides(),
                      " is not C-contiguous");
}

}  // namespace

void Array::set(const Array& host) const {
  check_set(*this, host);
  internal::from_host(*this, internal::contiguous(host)->data);
}

void Array::set(const Array& host, const Stream& stream) const {
  check_set(*this, host);
  if (!host.is_c_contiguous()) return set(host);  // the packed copy does not outlive this call
  const StreamScope scope(stream);
  internal::copy_from_host(*h_, host->data);
}

Array Array::to_device(Device to) const try {
  if (device() == to) return *this;
  const Array source = internal::contiguous(*this);
  Array result = internal::empty_on(shape(), dtype(), to);
  internal::copy_bytes(*result.get(), *source.get());
  return result;
} catch (...) {
  internal::rethrow_out_of_memory("to_device");
}

Array Array::copy(OrderLike order) const try { return internal::converted(*this, dtype(), order); } catch (...) {
  internal::rethrow_out_of_memory("copy");
}

Array Array::astype(Dtype to, const AstypeOptions& options) const try {
  if (to == dtype() && !options.copy && (options.order == Order::C || internal::is_in_order(*this, options.order)))
    return *this;
  return internal::converted(*this, to, options.order);
} catch (...) {
  internal::rethrow_out_of_memory("astype");
}

Array Array::to(Dtype dtype) const { return astype(dtype, {.copy = false}); }
Array Array::to(std::string_view device) const {
  return to(catena::device_from_name("Array.to", device, current_device()));
}

}  // namespace nd
