#include <catena/kernels/base/array_header.h>

#include <new>
#include <ostream>

#include <catena/kernels/base/free_list.h>

namespace catena {
ArrayHeader* new_header() { return new (internal::allocate_block(sizeof(ArrayHeader), "array")) ArrayHeader; }

void delete_header(ArrayHeader* h) noexcept {
  if (h->base == nullptr) release(h->storage);
  else if (drop_reference(h->base->refs)) delete_header(h->base);
  h->~ArrayHeader();
  internal::free_block(h, sizeof(ArrayHeader));
}

namespace {

// Creates a header. Takes over one reference to the storage, or to the base. The header of an array without elements
// begins at `data`, every other one `offset` bytes later.
ArrayHeader* header_over(Storage* storage, ArrayHeader* base, std::byte* data, std::int64_t offset, Dtype dtype,
                         const Shape& shape, const Strides& strides, Device device, const ArrayOwner* owner) {
  ArrayHeader* h = new_header();
  h->dtype = dtype;
  h->device = device;
  h->storage = storage;
  h->base = base;
  h->owner = owner;
  h->shape = shape;
  h->strides = strides;
  // One pass for the size and for is_c_contiguous(). Unsigned, because the bytes of a broadcast array may overflow.
  std::uint64_t step = itemsize(dtype), size = 1;
  bool packed = true;
  for (int i = shape.size() - 1; i >= 0; --i) {
    const auto n = static_cast<std::uint64_t>(shape[i]);
    packed &= n == 1 || static_cast<std::uint64_t>(strides[i]) == step;
    step *= n;
    size *= n;
  }
  h->c_contiguous = packed || size == 0;
  h->size = static_cast<std::int64_t>(size);
  h->data = size == 0 ? data : data + offset;
  return h;
}

}  // namespace

ArrayHeader* make_header(Storage* storage, std::byte* data, Dtype dtype, const Shape& shape, const Strides& strides,
                         Device device, const ArrayOwner* owner) {
  ArrayHeader* h = header_over(storage, nullptr, data, 0, dtype, shape, strides, device, owner);
  retain(storage);
  return h;
}

ArrayHeader* make_view_header(ArrayHeader& of, std::int64_t offset, Dtype dtype, const Shape& shape,
                              const Strides& strides) {
  ArrayHeader& base = of.base != nullptr ? *of.base : of;
  ArrayHeader* h = header_over(of.storage, &base, of.data, offset, dtype, shape, strides, of.device, of.owner);
  base.refs.fetch_add(1, MemoryOrder::relaxed);
  base.viewed.store(true, MemoryOrder::relaxed);
  return h;
}

void take_ownership(ArrayHeader& h) noexcept {
  ArrayHeader* base = std::exchange(h.base, nullptr);
  if (base == nullptr) return;
  retain(h.storage);
  if (drop_reference(base->refs)) delete_header(base);
}

std::string to_string(const Device& d) { return concat(d.kind == Device::Kind::cuda ? "cuda:" : "cpu:", d.id); }

std::ostream& operator<<(std::ostream& out, const Device& d) { return out << to_string(d); }

}  // namespace catena
