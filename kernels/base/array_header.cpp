#include <catena/kernels/base/array_header.h>

#include <new>
#include <ostream>

namespace catena {
namespace {

// The free list of one thread, linked through the freed headers. All headers have one size, so a header that is freed
// on another thread than the one that allocated it joins the list of the freeing thread.
struct FreeHeader {
  FreeHeader* next;
};
static_assert(sizeof(ArrayHeader) >= sizeof(FreeHeader));

#if defined(__SANITIZE_ADDRESS__)
constexpr int kMaxFree = 0;  // recycled memory would hide use after free
#else
constexpr int kMaxFree = 256;
#endif

// Constant-initialised and trivially destructible, so it can be used at any time, also by static destructors that free
// arrays after the other thread-local variables are gone. `room` is 0 before this thread has a Drain and after the
// Drain has run. The initial-exec TLS model makes access one instruction in a shared library too; the 16 bytes fit into
// the space that the loader reserves for libraries loaded later.
struct Cache {
  FreeHeader* head;
  int room;
  bool closed;
};
#if defined(__GNUC__) && defined(__linux__)
__attribute__((tls_model("initial-exec")))
#endif
constinit thread_local Cache cache{nullptr, 0, false};

// Frees the list when the thread ends.
struct Drain {
  Drain() { cache.room = kMaxFree; }
  ~Drain() {
    cache.closed = true;
    cache.room = 0;
    while (FreeHeader* h = cache.head) {
      cache.head = h->next;
      ::operator delete(h);
    }
  }
};

[[gnu::noinline, gnu::cold]] void open_cache() {
  if (cache.closed) return;
  static thread_local Drain drain;
  static_cast<void>(drain);
}

[[gnu::noinline]] void* allocate_header() {
  open_cache();
  void* const memory = ::operator new(sizeof(ArrayHeader), std::nothrow);
  check<OutOfMemoryError>(memory != nullptr, "array", "the host has no memory left");
  return memory;
}

}  // namespace

ArrayHeader* new_header() {
  void* memory = cache.head;
  if (memory) [[likely]] {
    cache.head = cache.head->next;
    ++cache.room;
  } else {
    memory = allocate_header();
  }
  return new (memory) ArrayHeader;
}

void delete_header(ArrayHeader* h) noexcept {
  // This may free other headers (a Storage can own an array), so the list is read only afterwards.
  if (h->base == nullptr) release(h->storage);
  else if (drop_reference(h->base->refs)) delete_header(h->base);
  h->~ArrayHeader();
  if (cache.room > 0) [[likely]] {
    cache.head = new (h) FreeHeader{cache.head};
    --cache.room;
  } else {
    ::operator delete(h);
  }
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
