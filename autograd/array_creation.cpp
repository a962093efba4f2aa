// Creation, copies and moves of the value API.
#include <catena/autograd/array.h>

#include <cstring>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/backend/scoped_backend.h>
#include <catena/autograd/view.h>
#include <catena/kernels/registry/families.h>

namespace autograd {
namespace {

using catena::check;
using catena::ValueError;

Device device_or_default(Backend& backend, const std::optional<Device>& device) {
  return device ? *device : backend.default_device();
}

}  // namespace

// ---- creation -----------------------------------------------------------------------------------
Array arrays::empty(const Shape& shape, Dtype dtype, std::optional<Device> device) {
  Backend& backend = default_backend();
  return backend.empty(shape, dtype, device_or_default(backend, device));
}

Array arrays::full(const Shape& shape, const Scalar& value, Dtype dtype, std::optional<Device> device) {
  Array a = arrays::empty(shape, dtype, device);
  fill(a, value);
  return a;
}
Array arrays::zeros(const Shape& shape, Dtype dtype, std::optional<Device> device) {
  return arrays::full(shape, 0, dtype, device);
}
Array arrays::ones(const Shape& shape, Dtype dtype, std::optional<Device> device) {
  return arrays::full(shape, 1, dtype, device);
}

Array empty_like(const Array& a) { return a.backend().empty(a.shape(), a.dtype(), a.device()); }
Array full_like(const Array& a, const Scalar& value) {
  Array b = empty_like(a);
  fill(b, value);
  return b;
}
Array zeros_like(const Array& a) { return full_like(a, 0); }
Array ones_like(const Array& a) { return full_like(a, 1); }

Array from_host(const void* data, const Shape& shape, Dtype dtype, std::optional<Device> device) {
  Backend& backend = default_backend();
  return backend.from_host(data, shape, dtype, device_or_default(backend, device));
}

Array arrays::arange(std::int64_t n, Dtype dtype, std::optional<Device> device) {
  check<ValueError>(n >= 0, "arange", "the length ", n, " is negative");
  if (dtype == Dtype::bool_) return astype(arrays::arange(n, Dtype::int64, device), dtype);
  // Computed on the device, so that it can be part of a captured graph.
  const Array numbers = arrays::empty({n}, dtype, device);
  const Operand first_and_step[] = {0, 1};
  if (n > 0) apply_indexed(catena::kernels::arange, first_and_step, {&numbers, 1});
  return numbers;
}

// ---- reading back -------------------------------------------------------------------------------
void to_host(const Array& a, void* c_order) { a.backend().to_host(a, c_order); }

Scalar item(const Array& a) {
  check<ValueError>(a.size() == 1, "item", "an array of shape ", a.shape(), " is not one element");
  alignas(catena::kMaxItemsize) std::byte bytes[catena::kMaxItemsize];
  a.backend().to_host(a, bytes);
  return catena::visit_dtype(a.dtype(), [&](auto tag) {
    typename decltype(tag)::type value;
    std::memcpy(&value, bytes, sizeof(value));
    return Scalar(value);
  });
}

// ---- copies and moves ---------------------------------------------------------------------------
Array copy(const Array& a) {
  Array out = empty_like(a);
  assign(out, a);
  return out;
}

Array contiguous(const Array& a) { return a.is_c_contiguous() ? a : copy(a); }

Array astype(const Array& a, Dtype dtype) {
  if (a.dtype() == dtype) return a;
  Array out = a.backend().empty(a.shape(), dtype, a.device());
  assign(out, a);
  return out;
}

Array to_device(const Array& a, Device device) { return a.device() == device ? a : a.backend().to_device(a, device); }

void assign(const Array& to, const Operand& from) {
  check<ValueError>(bool(to), "assign", "the array to write is null");
  if (from.is_array()) {
    const Array& source = from.array();
    if (source.get() == to.get()) return;
    const Array both[] = {to, source};
    check_same_device("assign", both);
    // As in NumPy, the source may have leading axes of length 1 that the target lacks.
    if (source.ndim() > to.ndim() && source.shape(0) == 1)
      return assign(
          to, internal::view_as(source, catena::without_leading_axes(source.shape(), source.strides(), to.ndim())));
  } else {
    catena::check_fits("assign", from.scalar(), to.dtype());
  }
  const Input input = from.is_array() ? Input(*from.array().get()) : Input(from.scalar());
  const catena::EagerProgram program(catena::kernels::copy, catena::kernels::copy.loop_of(to.dtype()));
  catena::ArrayHeader* const out = to.get();
  to.backend().execute(catena::call::Elementwise{&program, {&input, 1}, {&out, 1}});
}

void fill(const Array& to, const Scalar& value) { assign(to, value); }

void copy_across(const Array& to, const Array& from) {
  check<ValueError>(to.shape() == from.shape(), "copy_across", "shapes ", to.shape(), " and ", from.shape(), " differ");
  if (same_backend(to, from)) return assign(to, to_device(from, to.device()));
  std::vector<std::byte> bytes(static_cast<std::size_t>(from.size()) * catena::itemsize(from.dtype()));
  to_host(from, bytes.data());
  assign(to, to.backend().from_host(bytes.data(), from.shape(), from.dtype(), to.device()));
}

bool same_backend(const Array& a, const Array& b) noexcept {
  return a->owner == b->owner || internal::scoped_backend() != nullptr;
}

void check_same_device(std::string_view op, std::span<const Array> arrays) {
  const Array* first = nullptr;
  for (const Array& a : arrays) {
    if (!a) continue;
    if (first == nullptr) first = &a;
    check<ValueError>(same_backend(a, *first), op, "arrays of ", (*first)->owner->name, " and of ", a->owner->name,
                      " do not go together; copy_across moves elements");
    check<ValueError>(a.device() == first->device(), op, "arrays live on ", first->device(), " and on ", a.device(),
                      "; they must be on one device");
  }
}

}  // namespace autograd
