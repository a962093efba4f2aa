// Assignment and copies: the members of Array that write or read elements.
#include <algorithm>

#include <catena/kernels/base/error.h>
#include <catena/kernels/rows/cast.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/engine/execute.h>

namespace nd {

using catena::check;

namespace internal {
namespace {

Array empty_on(const Shape& shape, Dtype dtype, Device device) { return Array(new_array(shape, dtype, device)); }

// A C-order copy on the device of `a`, converted to `dtype`.
Array converted(const Array& a, Dtype dtype) {
  Array result = empty_on(a.shape(), dtype, a.device());
  assign("astype", result, a);
  return result;
}

// True if several elements of the array share memory, as in a result of broadcast_to.
bool repeats_elements(const Array& a) {
  for (int i = 0; i < a.ndim(); ++i)
    if (a.strides()[i] == 0 && a.shape()[i] > 1) return a.size() > 0;
  return false;
}

// `from` broadcast to the shape of `to`; extra leading axes of length 1 are dropped.
Array broadcast_for(std::string_view op, const Array& from, const Array& to) {
  Array source = from;
  while (source.ndim() > to.ndim() && source.shape()[0] == 1) {
    Shape shape = source.shape();
    Strides strides = source.strides();
    shape.erase(0);
    strides.erase(0);
    source = make_view(source, shape, strides);
  }
  if (source.shape() == to.shape()) return source;
  return make_view(source, to.shape(), catena::broadcast_strides(op, source.shape(), source.strides(), to.shape()));
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
  if (order == Order::C) return Array(new_array(shape, dtype, device, op));
  Shape reversed = shape;
  std::reverse(reversed.begin(), reversed.end());
  const Array result = Array(new_array(reversed, dtype, device, op)).transpose();
  catena::take_ownership(*result.get());
  return result;
}

Array contiguous(const Array& a) { return a.is_c_contiguous() ? a : converted(a, a.dtype()); }

void to_host(const Array& a, void* c_order) { copy_to_host(c_order, *contiguous(a).get()); }

void from_host(const Array& a, const void* c_order) {
  if (a.is_c_contiguous()) {
    copy_from_host(*a.get(), c_order);
    // The caller may change pinned memory as soon as this returns.
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

void Array::fill(const Scalar& value) const { internal::assign("fill", *this, value); }

void Array::operator=(const Operand& value) && { internal::assign("assignment", *this, value); }

// ---- shapes that may need a copy ----------------------------------------------------------------
Array Array::reshape(const Shape& requested) const {
  const Shape to = catena::resolve_reshape("reshape", shape(), requested);
  if (const std::optional<Strides> s = catena::reshape_strides(shape(), strides(), to, itemsize()))
    return internal::make_view(*this, to, *s);
  return internal::make_view(internal::contiguous(*this), to, catena::c_strides(to, itemsize()));
}

Array Array::flatten() const {
  const Array result = internal::empty_on(Shape{size()}, dtype(), device());
  internal::assign("flatten", internal::make_view(result, shape(), catena::c_strides(shape(), itemsize())), *this);
  return result;
}

// ---- copies -------------------------------------------------------------------------------------
Array Array::to_device(Device to) const {
  if (device() == to) return *this;
  const Array source = internal::contiguous(*this);
  Array result = internal::empty_on(shape(), dtype(), to);
  internal::copy_bytes(*result.get(), *source.get());
  return result;
}

Array Array::copy(Order order) const {
  if (order == Order::C) return internal::converted(*this, dtype());
  Array result = internal::empty_in_order(shape(), dtype(), device(), order);
  internal::assign("copy", result, *this);
  return result;
}

Array Array::astype(Dtype to, const AstypeOptions& options) const {
  if (to == dtype() && !options.copy) return *this;
  return internal::converted(*this, to);
}

}  // namespace nd
