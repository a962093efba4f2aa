#include <catena/ndarray/core/storage.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/memory/memory_pool.h>

namespace nd {
namespace {

constinit catena::ArrayOwner owner{"ndarray"};

struct ForeignStorage : Storage {
  catena::Function<void()> deleter;
};

void destroy_foreign(Storage* s) {
  auto* f = static_cast<ForeignStorage*>(s);
  try {
    if (f->deleter) f->deleter();
  } catch (...) {
    // Destroying the last view cannot report an exception of the deleter.
  }
  delete f;
}

void destroy_raw(Storage* s) {
  runtime(s->device.kind).deallocate(s->device.id, s->data, s->bytes);
  delete s;
}

Storage* allocate_raw(std::size_t bytes, Device device) {
  auto s = std::make_unique<Storage>();
  s->device = device;
  s->bytes = bytes;
  s->destroy = &destroy_raw;
  s->data = runtime(device.kind).allocate(device.id, bytes);
  catena::check<catena::OutOfMemoryError>(s->data != nullptr, "allocate", "out of memory on ", device, ": requested ",
                                          bytes, " bytes");
  return s.release();
}

Storage* allocate_from_pool(std::size_t bytes, Device device) {
  return memory_pool(device.kind).allocate(bytes, device.id, current_stream(device).handle);
}

// True if another allocator than that of the pool is set; otherwise the slot is null, and new_storage does not take the
// lock.
std::atomic<bool> has_allocator{false};
std::mutex allocator_mutex;
catena::Shared<const Allocator>& allocator_slot() {
  static auto& slot = *new catena::Shared<const Allocator>;
  return slot;
}

[[gnu::noinline]] Storage* new_storage_elsewhere(std::size_t bytes, Device device) {
  if (bytes == 0) return nullptr;
  if (has_allocator.load(std::memory_order_acquire)) return (*get_allocator())(bytes, device);
  return allocate_from_pool(bytes, device);
}

}  // namespace

const catena::ArrayOwner& array_owner() noexcept { return owner; }
catena::ArrayOwner& mutable_array_owner() noexcept { return owner; }

Storage* new_storage(std::size_t bytes, Device device) {
  if (device.kind == Device::Kind::cpu && !has_allocator.load(std::memory_order_relaxed)) [[likely]] {
    static MemoryPool& pool = memory_pool(Device::Kind::cpu);
    return pool.allocate(bytes, device.id);
  }
  return new_storage_elsewhere(bytes, device);
}

Storage* wrap_storage(void* data, std::size_t bytes, Device device, catena::Function<void()> deleter) {
  auto* s = new ForeignStorage;
  s->device = device;
  s->data = static_cast<std::byte*>(data);
  s->bytes = bytes;
  s->destroy = &destroy_foreign;
  s->deleter = std::move(deleter);
  return s;
}

// Atomic, because another thread may be setting the field at the same time (watch_release).
bool is_wrapped(const Storage& s) noexcept { return __atomic_load_n(&s.destroy, __ATOMIC_RELAXED) == &destroy_foreign; }

// The highest bit of a version; the count does not reach it.
static constexpr std::uint64_t kExposed = std::uint64_t(1) << 63;

void expose(Storage& s) noexcept {
  std::uint64_t version = s.version.load(catena::MemoryOrder::relaxed);
  while (!s.version.compare_exchange_weak(version, (version + 1) | kExposed, catena::MemoryOrder::relaxed)) {}
}
bool is_exposed(const Storage& s) noexcept { return (s.version.load(catena::MemoryOrder::relaxed) & kExposed) != 0; }
std::uint64_t version_of(const Storage& s) noexcept { return s.version.load(catena::MemoryOrder::relaxed) & ~kExposed; }

void set_allocator(catena::Shared<const Allocator> allocator) {
  if (allocator == nullptr) allocator = raw_allocator();
  if (allocator == pool_allocator()) allocator = nullptr;
  const std::lock_guard lock(allocator_mutex);
  has_allocator.store(allocator != nullptr, std::memory_order_release);
  allocator_slot() = std::move(allocator);
}

catena::Shared<const Allocator> get_allocator() {
  const std::lock_guard lock(allocator_mutex);
  return allocator_slot() == nullptr ? pool_allocator() : allocator_slot();
}

catena::Shared<const Allocator> pool_allocator() {
  static const auto pool = catena::Shared<const Allocator>::make(&allocate_from_pool);
  return pool;
}

catena::Shared<const Allocator> raw_allocator() {
  static const auto raw = catena::Shared<const Allocator>::make(&allocate_raw);
  return raw;
}

namespace internal {

namespace {
// In a catch block: the exception again, with the function and the shape.
[[noreturn, gnu::noinline, gnu::cold]] void rethrow_of_array(std::string_view op, const Shape& shape, Dtype dtype) {
  try {
    throw;
  } catch (const catena::OutOfMemoryError& e) {
    const std::string what = e.what();
    if (what.starts_with(op)) throw;
    throw catena::OutOfMemoryError(catena::concat(op, ": no memory for shape ", shape, " of ", dtype, ": ", what));
  } catch (const catena::ValueError& e) {
    if (std::string_view(e.what()).starts_with(op)) throw;
    catena::rethrow_from(op);
  } catch (const std::bad_alloc&) {
    catena::rethrow_standard(op);
  }
}
}  // namespace

ArrayHeader* new_array(const Shape& shape, Dtype dtype, Device device, std::string_view op) {
  catena::check<catena::TypeError>(static_cast<int>(dtype) < catena::kNumDtypes, op, "there is no dtype number ",
                                   int(dtype));
  const auto item = static_cast<std::int64_t>(catena::itemsize(dtype));
  // Computes size and strides in one pass; unusual shapes go to the checked functions.
  ArrayHeader* h = catena::new_header();
  const int rank = shape.size();
  std::int64_t step = item;
  bool plain = true;
  h->shape = shape;
  h->strides.resize(rank);
  for (int i = rank - 1; i >= 0; --i) {
    h->strides[i] = step;
    plain &= shape[i] > 0 && !__builtin_mul_overflow(step, shape[i], &step);
  }
  h->size = step / item;
  try {
    if (!plain) [[unlikely]] {
      for (const std::int64_t n : shape)
        catena::check<catena::ValueError>(n >= 0, op, "shape ", shape, " has a negative length");
      h->size = catena::checked_size(shape);
      h->strides = catena::c_strides(shape, catena::itemsize(dtype));
      // 2^63 bytes are more than any device has, but the shape itself is valid, so this is OutOfMemoryError.
      catena::check<catena::OutOfMemoryError>(!__builtin_mul_overflow(h->size, item, &step), op, "shape ", shape,
                                              " of ", dtype, " needs more than 2^63 - 1 bytes");
    }
    h->storage = new_storage(static_cast<std::size_t>(step), device);
  } catch (...) {
    catena::delete_header(h);
    rethrow_of_array(op, shape, dtype);
  }
  h->dtype = dtype;
  h->c_contiguous = true;
  h->device = device;
  h->data = h->storage ? h->storage->data : nullptr;
  h->owner = &owner;
  return h;
}

}  // namespace internal
}  // namespace nd
