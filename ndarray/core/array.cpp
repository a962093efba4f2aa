#include <catena/ndarray/core/array.h>

#include <algorithm>
#include <cstring>
#include <ostream>

#include <catena/kernels/rows/cast.h>
#include <catena/kernels/rows/families.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/engine/ufunc.h>

namespace nd {

using catena::check;
using catena::fail;

// ---- flags --------------------------------------------------------------------------------------
bool Flags::operator[](std::string_view name) const {
  if (name == "C_CONTIGUOUS") return c_contiguous;
  if (name == "F_CONTIGUOUS") return f_contiguous;
  if (name == "OWNDATA") return owndata;
  fail<KeyError>("flags", "there is no flag named ", name, "; the flags are C_CONTIGUOUS, F_CONTIGUOUS and OWNDATA");
}

std::ostream& operator<<(std::ostream& out, const Flags& f) {
  const auto text = [](bool b) { return b ? "True" : "False"; };
  return out << "  C_CONTIGUOUS : " << text(f.c_contiguous) << "\n  F_CONTIGUOUS : " << text(f.f_contiguous)
             << "\n  OWNDATA : " << text(f.owndata);
}

// ---- copies between arrays ----------------------------------------------------------------------
namespace internal {
namespace {

Array empty_on(const Shape& shape, Dtype dtype, Device device) { return Array(new_array(shape, dtype, device)); }

// A C-order copy on the device of `a`, converted to `dtype`.
Array converted(const Array& a, Dtype dtype) {
  Array result = empty_on(a.shape(), dtype, a.device());
  assign("astype", result, a);
  return result;
}

// The backend that can copy between two devices: CUDA knows the host, the CPU knows only itself.
void copy_bytes(std::byte* to, Device to_device, const std::byte* from, Device from_device, std::size_t bytes) {
  const Device device = to_device.kind == Device::Kind::cuda ? to_device : from_device;
  backend(device.kind).copy(to, to_device, from, from_device, bytes, current_stream(device));
}

void wait_for(Device device) {
  if (device.kind != Device::Kind::cpu) backend(device.kind).synchronize(current_stream(device));
}

// Several elements of the array share memory, as in the result of broadcast_to.
bool repeats_elements(const Array& a) {
  for (int i = 0; i < a.ndim(); ++i)
    if (a.strides()[i] == 0 && a.shape()[i] > 1) return a.size() > 0;
  return false;
}

void assign_scalar(std::string_view op, const Array& to, const Scalar& value) {
  const catena::KernelDef& def = catena::rows::copy;
  const int loop = catena::choose_loop_by_output(def, to.dtype());
  const catena::Input input(value);
  catena::ArrayHeader* const output = to.get();
  catena::BoundCall call;
  call.bind(op, {&input, 1}, {&output, 1}, def.loop_table[loop].type.data());
  launch(def, loop, call.operands(), call.loop(), to.device());
}

// Same shape, one device, no harmful overlap.
void assign_array(std::string_view op, const Array& to, const Array& from) {
  if (to.dtype() == from.dtype() && to.is_c_contiguous() && from.is_c_contiguous()) {
    if (to->data != from->data) copy_bytes(to->data, to.device(), from->data, from.device(), to.nbytes());
    return;
  }
  const catena::KernelDef& def = catena::rows::copy;
  const int loop = catena::choose_loop_by_output(def, to.dtype());
  const catena::Input input(*from.get());
  catena::ArrayHeader* const output = to.get();
  catena::BoundCall call;
  call.bind(op, {&input, 1}, {&output, 1}, def.loop_table[loop].type.data());
  record_use(*from.get());
  record_use(*to.get());
  launch(def, loop, call.operands(), call.loop(), to.device());
}

// `from` seen at the shape of `to`; extra leading axes of length 1 are dropped.
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

Array make_view(const Array& base, const Shape& shape, const Strides& strides, std::int64_t offset_bytes, Dtype dtype) {
  std::byte* data = base->data;
  if (data != nullptr && catena::size_of(shape) != 0) data += offset_bytes;
  return Array(catena::make_header(base->storage, data, dtype, shape, strides, base.device(), base->owner));
}

void assign(std::string_view op, const Array& to, const Operand& from) {
  if (!from.is_array()) {
    if (to.size() == 0) return;
    assign_scalar(op, to, from.scalar());
    touch(to);
    return;
  }
  if (from.header() == to.get()) return;
  Array source = broadcast_for(op, from.array(), to);
  check<ValueError>(!repeats_elements(to), op, "an array of shape ", to.shape(), " and strides ", to.strides(),
                    " has elements that share memory, so arrays cannot be assigned to it");
  if (to.size() == 0) return;
  if (!(source.device() == to.device())) source = source.to_device(to.device());
  if (catena::overlaps(*source.get(), *to.get())) source = converted(source, source.dtype());
  assign_array(op, to, source);
  touch(to);
}

Array contiguous(const Array& a) { return a.is_c_contiguous() ? a : converted(a, a.dtype()); }

void to_host(const Array& a, void* c_order) {
  if (a.size() == 0) return;
  const Array source = contiguous(a);
  copy_bytes(static_cast<std::byte*>(c_order), cpu_device, source->data, source.device(), source.nbytes());
  wait_for(source.device());
}

void from_host(const Array& a, const void* c_order) {
  if (a.size() == 0) return;
  if (!a.is_c_contiguous()) {
    const Array packed = empty_on(a.shape(), a.dtype(), a.device());
    from_host(packed, c_order);
    assign("from_host", a, packed);
    return;
  }
  copy_bytes(a->data, a.device(), static_cast<const std::byte*>(c_order), cpu_device, a.nbytes());
  wait_for(a.device());
  touch(a);
}

// ---- accessor and wrapping ----------------------------------------------------------------------
void check_accessor(const Array& a, Dtype dtype, int rank) {
  check<TypeError>(a.dtype() == dtype, "accessor", "the array has dtype ", a.dtype(), ", the accessor is for ", dtype);
  check<ValueError>(a.ndim() == rank, "accessor", "the array has rank ", a.ndim(), ", the accessor is for rank ", rank);
  check<ValueError>(a.device().kind == Device::Kind::cpu, "accessor", "the array is on ", a.device(),
                    ", which the host cannot access");
}

void throw_accessor_index(int axis, std::int64_t index, std::int64_t length) {
  fail<IndexError>("accessor", "index ", index, " is out of range for axis ", axis, " of length ", length);
}

namespace {

catena::ArrayHeader* wrapped_header(void* data, const Shape& shape, Dtype dtype, const WrapOptions& options,
                                    std::function<void()> deleter) {
  const std::size_t item = catena::itemsize(dtype);
  const std::int64_t size = catena::checked_size(shape);
  const Strides strides = options.strides ? *options.strides : catena::c_strides(shape, item);
  check<ValueError>(strides.size() == shape.size(), "wrap", "strides ", strides, " and shape ", shape,
                    " have different ranks");
  for (std::int64_t s : strides)
    check<ValueError>(s % static_cast<std::int64_t>(item) == 0, "wrap", "strides ", strides, " are no multiples of ",
                      item, ", the itemsize of ", dtype);
  check<ValueError>(data != nullptr || size == 0, "wrap", "a null pointer cannot hold an array of shape ", shape);
  const Device device = options.device.value_or(cpu_device);
  auto* first = static_cast<std::byte*>(data);
  const catena::ByteRange range = catena::byte_range(shape, strides, item);
  Storage* storage = wrap_storage(size == 0 ? first : first + range.begin,
                                  static_cast<std::size_t>(range.end - range.begin), device, std::move(deleter));
  catena::ArrayHeader* h = catena::make_header(storage, first, dtype, shape, strides, device, &array_owner());
  catena::release(storage);  // the header has taken its own reference
  return h;
}

}  // namespace

Array wrap(void* data, const Shape& shape, Dtype dtype, const WrapOptions& options, void (*destroy)(void*, void*),
           void* context) {
  try {
    std::function<void()> deleter;
    if (destroy) deleter = [=] { destroy(context, data); };
    return Array(wrapped_header(data, shape, dtype, options, std::move(deleter)));
  } catch (...) {
    if (destroy) destroy(context, data);
    throw;
  }
}

}  // namespace internal

// ---- attributes ---------------------------------------------------------------------------------
std::int64_t Array::shape(int axis) const {
  return h_->shape[catena::normalize_axis<IndexError>("shape", axis, ndim())];
}

bool Array::is_f_contiguous() const noexcept { return catena::is_f_contiguous(h_->shape, h_->strides, itemsize()); }

bool Array::owndata() const noexcept {
  const catena::Storage* s = h_->storage;
  return s == nullptr || (h_->data == s->data && nbytes() == s->bytes && (is_c_contiguous() || is_f_contiguous()));
}

bool Array::shares_memory(const Array& o) const noexcept {
  if (h_->storage == nullptr || h_->storage != o->storage || size() == 0 || o.size() == 0) return false;
  const catena::ByteRange a = catena::byte_range(shape(), strides(), itemsize());
  const catena::ByteRange b = catena::byte_range(o.shape(), o.strides(), o.itemsize());
  return h_->data + a.begin < o->data + b.end && o->data + b.begin < h_->data + a.end;
}

std::int64_t Array::len() const {
  check<TypeError>(ndim() > 0, "len", "a 0-d array has no length");
  return shape()[0];
}

std::uint64_t Array::version() const noexcept {
  return h_->storage ? h_->storage->version.load(std::memory_order_relaxed) : 0;
}

// ---- elements -----------------------------------------------------------------------------------
void Array::throw_element_type(Dtype t, const char* op) const {
  fail<TypeError>(op, "the array has dtype ", dtype(), ", elements of ", t, " were asked for");
}

void Operand::throw_null() { fail<TypeError>("operand", "the array is null"); }

void Array::item_to(Dtype t, void* value) const {
  check<ValueError>(size() == 1, "item", "an array of shape ", shape(), " has ", size(), " elements, not one");
  const catena::CastFn cast = catena::cast_function(dtype(), t);
  alignas(16) std::byte element[16];
  const std::byte* from = h_->data;
  if (device().kind != Device::Kind::cpu) {
    internal::copy_bytes(element, cpu_device, from, device(), itemsize());
    internal::wait_for(device());
    from = element;
  }
  cast(from, 0, static_cast<std::byte*>(value), 0, 1);
}

Scalar Array::item() const {
  return visit_dtype(dtype(), [this](auto tag) { return Scalar(item<typename decltype(tag)::type>()); });
}

Array::operator bool() const {
  check<ValueError>(!is_null(), "truth value", "the array is null; is_null() tells");
  if (size() == 0) return false;
  check<ValueError>(size() == 1, "truth value", "an array of shape ", shape(), " has ", size(),
                    " elements, so its truth value is ambiguous; use any or all");
  return item<bool>();
}

void Array::fill(const Scalar& value) const { internal::assign("fill", *this, value); }

void Array::operator=(const Operand& value) && { internal::assign("assignment", *this, value); }

// ---- shape --------------------------------------------------------------------------------------
Array Array::reshape(const Shape& requested) const {
  const Shape to = catena::resolve_reshape("reshape", shape(), requested);
  if (const std::optional<Strides> s = catena::reshape_strides(shape(), strides(), to, itemsize()))
    return internal::make_view(*this, to, *s);
  return internal::make_view(internal::contiguous(*this), to, catena::c_strides(to, itemsize()));
}

Array Array::transpose() const {
  if (ndim() < 2) return *this;
  Shape shape = h_->shape;
  Strides strides = h_->strides;
  std::reverse(shape.begin(), shape.end());
  std::reverse(strides.begin(), strides.end());
  return internal::make_view(*this, shape, strides);
}

Array Array::transpose(const Dims& axes) const {
  check<ValueError>(axes.size() == ndim(), "transpose", axes.size(), " axes ", axes,
                    " were given for an array of rank ", ndim());
  Shape to = h_->shape;
  Strides to_strides = h_->strides;
  std::uint64_t seen = 0;
  for (int i = 0; i < axes.size(); ++i) {
    const int axis = catena::normalize_axis<IndexError>("transpose", axes[i], ndim());
    check<ValueError>(((seen >> axis) & 1) == 0, "transpose", "axis ", axis, " is given twice in ", axes);
    seen |= std::uint64_t(1) << axis;
    to[i] = h_->shape[axis];
    to_strides[i] = h_->strides[axis];
  }
  return internal::make_view(*this, to, to_strides);
}

Array Array::swapaxes(int axis1, int axis2) const {
  const int a = catena::normalize_axis("swapaxes", axis1, ndim()),
            b = catena::normalize_axis("swapaxes", axis2, ndim());
  Shape to = h_->shape;
  Strides to_strides = h_->strides;
  std::swap(to[a], to[b]);
  std::swap(to_strides[a], to_strides[b]);
  return internal::make_view(*this, to, to_strides);
}

Array Array::ravel() const { return reshape(Shape{-1}); }

Array Array::flatten() const {
  const Array packed = internal::converted(*this, dtype());
  return internal::make_view(packed, Shape{size()}, catena::c_strides(Shape{size()}, itemsize()));
}

Array Array::squeeze(const Axes& axes) const {
  const Dims& given = axes.values();
  if (ndim() == 0) {
    check<ValueError>(given.size() <= 1 && (given.empty() || given[0] == 0 || given[0] == -1), "squeeze", "axes ",
                      given, " are out of range for arrays of rank 0");
    return *this;
  }
  Dims drop;
  if (axes.given()) {
    drop = catena::normalize_axes("squeeze", axes, ndim());
    for (std::int64_t a : drop)
      check<ValueError>(shape()[static_cast<int>(a)] == 1, "squeeze", "axis ", a, " of shape ", shape(),
                        " has a length other than 1");
  } else {
    for (int i = 0; i < ndim(); ++i)
      if (shape()[i] == 1) drop.push_back(i);
  }
  if (drop.empty()) return *this;
  Shape to = h_->shape;
  Strides to_strides = h_->strides;
  for (int i = drop.size() - 1; i >= 0; --i) {
    to.erase(static_cast<int>(drop[i]));
    to_strides.erase(static_cast<int>(drop[i]));
  }
  return internal::make_view(*this, to, to_strides);
}

Array Array::view() const { return internal::make_view(*this, h_->shape, h_->strides); }

Array Array::view(Dtype to) const {
  const auto old_item = static_cast<std::int64_t>(itemsize()),
             new_item = static_cast<std::int64_t>(catena::itemsize(to));
  if (size() > 0)
    check<ValueError>(reinterpret_cast<std::uintptr_t>(h_->data) % catena::itemsize(to) == 0, "view",
                      "the first element is not aligned for ", to);
  if (old_item == new_item) return internal::make_view(*this, h_->shape, h_->strides, 0, to);
  check<ValueError>(ndim() > 0, "view", "a 0-d array of ", dtype(), " cannot be seen as ", to,
                    ", which has another itemsize");
  check<ValueError>(is_c_contiguous(), "view", "an array that is not C-contiguous cannot change its itemsize from ",
                    old_item, " to ", new_item);
  Shape shape = h_->shape;
  check<ValueError>(shape.back() * old_item % new_item == 0, "view", "the last axis has ", shape.back() * old_item,
                    " bytes, which is no multiple of ", new_item, ", the itemsize of ", to);
  shape.back() = shape.back() * old_item / new_item;
  return internal::make_view(*this, shape, catena::c_strides(shape, catena::itemsize(to)), 0, to);
}

// ---- copies -------------------------------------------------------------------------------------
Array Array::to_device(Device to) const {
  if (device() == to) return *this;
  const Array source = internal::contiguous(*this);
  Array result = internal::empty_on(shape(), dtype(), to);
  if (size() > 0) internal::copy_bytes(result->data, to, source->data, source.device(), nbytes());
  return result;
}

Array Array::copy(Order order) const {
  const Device to = current_device();
  const Array source = to_device(to);
  if (order == Order::C) return source.get() == get() ? internal::converted(source, dtype()) : source;
  Shape reversed = shape();
  std::reverse(reversed.begin(), reversed.end());
  Array result = internal::empty_on(reversed, dtype(), to).transpose();
  internal::assign("copy", result, source);
  return result;
}

Array Array::astype(Dtype to, const AstypeOptions& options) const {
  if (to == dtype() && !options.copy) return *this;
  return internal::converted(*this, to);
}

}  // namespace nd
