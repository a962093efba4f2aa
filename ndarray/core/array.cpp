#include <catena/ndarray/core/array.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <ostream>

#include <catena/kernels/base/retained.h>
#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/core/view.h>
#include <catena/ndarray/core/wrap.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/memory/memory.h>

namespace nd {

using catena::check;
using catena::fail;

// ---- flags --------------------------------------------------------------------------------------
bool Flags::operator[](std::string_view name) const {
  if (name == "C_CONTIGUOUS") return c_contiguous;
  if (name == "F_CONTIGUOUS") return f_contiguous;
  if (name == "OWNDATA") return owndata;
  fail<KeyError>("flags", "there is no flag named \"", name,
                 "\"; the flags are C_CONTIGUOUS, F_CONTIGUOUS and OWNDATA");
}

std::ostream& operator<<(std::ostream& out, const Flags& f) {
  const auto text = [](bool b) { return b ? "True" : "False"; };
  return out << "  C_CONTIGUOUS : " << text(f.c_contiguous) << "\n  F_CONTIGUOUS : " << text(f.f_contiguous)
             << "\n  OWNDATA : " << text(f.owndata);
}

namespace internal {
namespace {

// Kernels on CUDA read whole elements; on the host, a complex number may be aligned like its real part.
bool is_aligned(const void* p, Dtype t, Device device) {
  const Dtype unit = device.kind == Device::Kind::cpu ? catena::real_dtype(t) : t;
  return reinterpret_cast<std::uintptr_t>(p) % catena::itemsize(unit) == 0;
}

}  // namespace

Array make_view(const Array& base, const Shape& shape, const Strides& strides, std::int64_t offset_bytes, Dtype dtype) {
  return Array(catena::make_view_header(*base.get(), offset_bytes, dtype, shape, strides));
}

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
  check<ValueError>(size == 0 || is_aligned(data, dtype, device), "wrap", "the address ", data,
                    " is not aligned for elements of ", dtype, " on ", device);
  auto* first = static_cast<std::byte*>(data);
  const catena::ByteRange range = catena::byte_range(shape, strides, item);
  Storage* storage = wrap_storage(size == 0 ? first : first + range.begin,
                                  static_cast<std::size_t>(range.end - range.begin), device, std::move(deleter));
  catena::ArrayHeader* h = catena::make_header(storage, first, dtype, shape, strides, device, &array_owner());
  catena::release(storage);  // the header has taken its own reference
  return h;
}

}  // namespace

void check_wrapped(const Shape& shape, std::size_t elements) {
  check<ValueError>(static_cast<std::uint64_t>(catena::checked_size(shape)) <= elements, "wrap", "the shape ", shape,
                    " has ", catena::size_of(shape), " elements, the list ", elements);
}

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
std::int64_t Array::shape(int axis) const { return header().shape[catena::normalize_axis("shape", axis, ndim())]; }

bool Array::is_f_contiguous() const { return catena::is_f_contiguous(shape(), strides(), itemsize()); }

Array Array::base() const {
  catena::ArrayHeader* const owner = header().base;
  if (owner == nullptr) return {};
  return Array(catena::retained(*owner));
}

bool Array::shares_memory(const Array& o) const { return catena::share_bytes(header(), o.header()); }

void Array::copy_shape(std::int64_t* lengths, int rank) const {
  check<ValueError>(ndim() == rank, "shape", "an array of shape ", shape(), " has ", ndim(), " axes, not ", rank);
  std::copy(shape().begin(), shape().end(), lengths);
}

std::int64_t Array::len() const {
  check<TypeError>(ndim() > 0, "len", "a 0-d array has no length");
  return shape()[0];
}

std::uint64_t Array::version() const { return header().storage ? version_of(*h_->storage) : 0; }

void Array::expose() const {
  if (catena::Storage* s = header().storage) nd::expose(*s);
}

OrderLike::OrderLike(char letter) {
  const std::string_view letters = "CFAK";
  const std::size_t at = letters.find(letter);
  check<ValueError>(letter != '\0' && at != letters.npos, "order", "'", std::string_view(&letter, 1),
                    "' is not one of the orders 'C', 'F', 'A' and 'K'");
  order_ = static_cast<Order>(at);
}

std::byte* Array::address_of(const std::int64_t* positions, int n) const {
  const catena::ArrayHeader& h = *h_;
  check<ValueError>(h.device.kind == Device::Kind::cpu, "at", "the array is on the device ", h.device,
                    "; elements of host memory only can be referred to: write item<E>(...), or a.to_host()");
  check<ValueError>(n == h.shape.size(), "at", n, " positions were given for an array of rank ", h.shape.size());
  std::byte* element = h.data;
  for (int axis = 0; axis < n; ++axis) {
    const std::int64_t length = h.shape[axis], i = positions[axis] < 0 ? positions[axis] + length : positions[axis];
    check<IndexError>(i >= 0 && i < length, "at", "the index ", positions[axis], " is out of range for axis ", axis,
                      " of length ", length);
    element += i * h.strides[axis];
  }
  return element;
}

MemoryPointer Array::data() const {
  const catena::ArrayHeader& h = header();
  catena::Storage* const storage = h.base != nullptr ? h.base->storage : h.storage;
  if (h.size == 0 || storage == nullptr) return {};
  catena::retain(storage);
  return MemoryPointer(storage, h.data - storage->data);
}

// ---- elements -----------------------------------------------------------------------------------
void Array::throw_element_type(Dtype t, const char* op) const {
  fail<TypeError>(op, "the array has dtype ", dtype(), ", elements of ", t, " were asked for");
}

void Array::throw_null() { fail<TypeError>("array", "the array is null: it was made by nd::Array() or moved from"); }
void internal::check_owner(std::string_view op, const catena::HeaderRef& a) {
  check<ValueError>(a->owner == &array_owner(), op, "the array was made by ", a->owner->name, ", not by ndarray");
}
void Operand::throw_null() { fail<TypeError>("operand", "the array is null"); }
catena::ArrayHeader* Operand::checked(const catena::HeaderRef& handle) {
  if (!handle) throw_null();
  internal::check_owner("operand", handle);
  return handle.get();
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

// ---- shape --------------------------------------------------------------------------------------
using internal::view_as;

void Array::set_shape(const Shape& requested) const {
  const Shape to = catena::resolve_reshape("set_shape", shape(), requested);
  const std::optional<Strides> strides = catena::reshape_strides(shape(), this->strides(), to, itemsize());
  check<AttributeError>(strides.has_value(), "set_shape", "an array of shape ", shape(), " and strides ",
                        this->strides(), " cannot be seen as ", to, " without a copy; use reshape");
  h_->shape = to;
  h_->strides = *strides;
  h_->c_contiguous = catena::is_c_contiguous(to, *strides, itemsize());
}

Array Array::transpose() const {
  return ndim() < 2 ? *this : view_as(*this, catena::reversed_axes(h_->shape, h_->strides));
}

Array Array::transpose(const Dims& axes) const {
  return view_as(*this, catena::permuted_axes("transpose", header().shape, header().strides, axes));
}

Array Array::swapaxes(int axis1, int axis2) const {
  return view_as(*this, catena::swapped_axes("swapaxes", header().shape, header().strides, axis1, axis2));
}

Array Array::squeeze(const Axes& axes) const {
  const catena::ViewSpec layout = catena::squeezed_axes("squeeze", header().shape, header().strides, axes);
  return layout.shape.size() == ndim() ? *this : view_as(*this, layout);
}

Array Array::view() const { return internal::make_view(*this, shape(), strides()); }

Array Array::view(Dtype to) const {
  check<TypeError>(static_cast<int>(to) < catena::kNumDtypes, "view", "there is no dtype number ", int(to));
  const auto old_item = static_cast<std::int64_t>(itemsize()),
             new_item = static_cast<std::int64_t>(catena::itemsize(to));
  if (size() > 0)
    check<ValueError>(internal::is_aligned(h_->data, to, device()), "view", "the first element is not aligned for ",
                      to);
  if (old_item == new_item) return internal::make_view(*this, h_->shape, h_->strides, 0, to);
  check<ValueError>(ndim() > 0, "view", "a 0-d array of ", dtype(), " cannot be seen as ", to,
                    ", which has another itemsize");
  check<ValueError>(is_c_contiguous(), "view", "an array that is not C-contiguous cannot change its itemsize from ",
                    old_item, " to ", new_item);
  Shape shape = header().shape;
  check<ValueError>(shape.back() * old_item % new_item == 0, "view", "the last axis has ", shape.back() * old_item,
                    " bytes, which is no multiple of ", new_item, ", the itemsize of ", to);
  shape.back() = shape.back() * old_item / new_item;
  return internal::make_view(*this, shape, catena::c_strides(shape, catena::itemsize(to)), 0, to);
}

Array Array::reduced_view(std::optional<Dtype> to) const {
  const Array typed = to && *to != dtype() ? view(*to) : *this;
  if (typed.ndim() <= 1) return typed;
  const Shape& lengths = typed.shape();
  Shape shape;
  Strides strides;
  for (int i = 0; i < lengths.size() && typed.size() != 0; ++i) {
    if (lengths[i] == 1) continue;
    const std::int64_t step = typed.strides()[i];
    if (!shape.empty() && strides.back() == step * lengths[i]) {
      shape.back() *= lengths[i];
      strides.back() = step;
    } else {
      shape.push_back(lengths[i]);
      strides.push_back(step);
    }
  }
  if (typed.size() == 0) shape = Shape{0}, strides = Strides{static_cast<std::int64_t>(typed.itemsize())};
  return shape.size() == typed.ndim() ? typed : internal::make_view(typed, shape, strides);
}

}  // namespace nd
