// The array header to which both libraries hold handles. nd::Array and autograd::Array are reference-counted pointers
// to it, so passing an array from one library to the other is a tag check and an increment.
//
// Thread safety: reference counts are atomic; all other fields are written only before the header is shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <catena/kernels/base/atomic.h>
#include <catena/kernels/base/dtype.h>
#include <catena/kernels/base/shape.h>

namespace catena {

// A device is a kind and a number, e.g. cpu:0 or cuda:1.
struct Device {
  enum class Kind : std::uint8_t { cpu, cuda };
  Kind kind = Kind::cpu;
  std::int16_t id = 0;
  // PyTorch's names: "cpu" or "cuda", and the number.
  constexpr std::string_view type() const noexcept { return kind == Kind::cuda ? "cuda" : "cpu"; }
  constexpr int index() const noexcept { return id; }
  friend bool operator==(const Device&, const Device&) = default;
};
CATENA_EXPORT std::ostream& operator<<(std::ostream& out, const Device& d);
CATENA_EXPORT std::string to_string(const Device& d);  // "cpu:0", "cuda:1"

// Identifies the library that created an array and whose functions can use its storage.
struct ArrayOwner {
  const char* name;                  // "ndarray", "reference"
  Atomic<void*> framework{nullptr};  // the autograd::Backend that adapts these arrays, once it is registered
};

// Memory shared by all views of it. `destroy` returns it to its pool; it runs on the thread that drops the last view.
struct Storage {
  Atomic<std::uint32_t> refs{1};
  Device device;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  Atomic<std::uint64_t> version{0};  // incremented by every write
  void (*destroy)(Storage*) = nullptr;
};

struct ArrayHeader {
  Atomic<std::uint32_t> refs{1};
  Dtype dtype = Dtype::float64;
  bool c_contiguous = true;
  Atomic<bool> viewed{false};  // set once a view of this array has been created
  Device device;
  std::int64_t size = 0;      // number of elements
  std::byte* data = nullptr;  // first logical element (view offset included)
  // Owned reference; null in an empty array. For a view, the base holds the storage.
  Storage* storage = nullptr;
  // Owned reference to the array of which this one is a view; that array is not a view itself. Null if this array is
  // not a view.
  ArrayHeader* base = nullptr;
  const ArrayOwner* owner = nullptr;
  Shape shape;
  Strides strides;
};

// Headers come from a thread-local free list, because an operation on small arrays must not need a malloc.
CATENA_EXPORT ArrayHeader* new_header();
CATENA_EXPORT void delete_header(ArrayHeader* h) noexcept;  // releases the storage, or the base

// Drops one reference; returns true if it was the last one. The last reference needs no atomic read-modify-write,
// because no other thread holds a reference that it could copy. Must not be used for counts that are incremented
// without holding a reference, such as autograd's counts of variables.
inline bool drop_reference(Atomic<std::uint32_t>& count) noexcept {
  if (count.load(MemoryOrder::acquire) == 1) {
    count.store(0, MemoryOrder::relaxed);
    return true;
  }
  return count.fetch_sub(1, MemoryOrder::acq_rel) == 1;
}

inline void retain(Storage* s) noexcept {
  if (s) s->refs.fetch_add(1, MemoryOrder::relaxed);
}
inline void release(Storage* s) noexcept {
  if (s && drop_reference(s->refs)) s->destroy(s);
}

// Intrusive handle to a header. The base of nd::Array and autograd::Array.
class HeaderRef {
 public:
  using not_a_function = void;  // marks classes with keys as no functions; see function.h
  HeaderRef() noexcept = default;
  explicit HeaderRef(ArrayHeader* adopt) noexcept : h_(adopt) {}
  HeaderRef(const HeaderRef& o) noexcept : h_(o.h_) {
    if (h_) h_->refs.fetch_add(1, MemoryOrder::relaxed);
  }
  HeaderRef(HeaderRef&& o) noexcept : h_(std::exchange(o.h_, nullptr)) {}
  HeaderRef& operator=(HeaderRef o) noexcept {
    std::swap(h_, o.h_);
    return *this;
  }
  ~HeaderRef() {
    if (h_ && drop_reference(h_->refs)) delete_header(h_);
  }

  ArrayHeader* get() const noexcept { return h_; }
  // Returns the pointer without dropping the reference; the handle is null afterwards.
  ArrayHeader* release() noexcept { return std::exchange(h_, nullptr); }
  ArrayHeader* operator->() const noexcept { return h_; }
  explicit operator bool() const noexcept { return h_ != nullptr; }

 protected:
  ArrayHeader* h_ = nullptr;
};

// Returns a new header that views `storage`; takes one more reference to it. `storage` may be null for an empty array.
CATENA_EXPORT ArrayHeader* make_header(Storage* storage, std::byte* data, Dtype dtype, const Shape& shape,
                                       const Strides& strides, Device device, const ArrayOwner* owner);
// Returns a new header that views the storage of `of` from `offset` bytes after its first element on; without elements,
// from the first element on. Its base is the base of `of`, or `of` itself.
CATENA_EXPORT ArrayHeader* make_view_header(ArrayHeader& of, std::int64_t offset, Dtype dtype, const Shape& shape,
                                            const Strides& strides);

// True if the caller's reference to `h` is the only reference to its memory: no other handle and no other array refers
// to it.
inline bool is_sole_reference(const ArrayHeader& h) noexcept {
  const auto is_one = [](const auto& counted) { return counted.refs.load(MemoryOrder::acquire) == 1; };
  return h.storage != nullptr && is_one(h) && is_one(*h.storage) && (h.base == nullptr || is_one(*h.base));
}
// Turns a view whose reference is the sole one into an array that is not a view.
CATENA_EXPORT void take_ownership(ArrayHeader& h) noexcept;

}  // namespace catena
