#include <catena/autograd/batching/backend.h>

#include <atomic>
#include <mutex>
#include <vector>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/backend/device_extension.h>
#include <catena/autograd/backend/profile_extension.h>
#include <catena/autograd/backend/random_extension.h>
#include <catena/autograd/backend/stream_extension.h>
#include <catena/kernels/base/retained.h>

namespace autograd::internal {

using catena::check;
using catena::RuntimeError;

namespace {

constexpr const char* kOp = "vmap";

std::uint64_t next_scope() {
  static std::atomic<std::uint64_t> count{0};
  return count.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Addresses for memory that does not exist, in a range that no process has.
std::byte* next_addresses(std::size_t bytes) {
  static std::atomic<std::uintptr_t> next{std::uintptr_t(1) << 56};
  constexpr std::size_t kAlignment = 64;
  return reinterpret_cast<std::byte*>(next.fetch_add((bytes / kAlignment + 1) * kAlignment, std::memory_order_relaxed));
}

Array handle(const catena::ArrayHeader& h) { return Array(catena::retained(const_cast<catena::ArrayHeader&>(h))); }

// Backends that no scope uses. They are never destroyed, because arrays may outlive their scope.
struct Pool {
  std::mutex mutex;
  std::vector<BatchBackend*> free;
};
Pool& pool() {
  static Pool& only = *new Pool;
  return only;
}
BatchBackend& acquire() {
  const std::scoped_lock lock(pool().mutex);
  if (pool().free.empty()) return *new BatchBackend;
  BatchBackend& last = *pool().free.back();
  pool().free.pop_back();
  return last;
}

}  // namespace

// ---- scopes -------------------------------------------------------------------------------------
BatchScope::BatchScope(std::int64_t examples, const Array& model, bool same_random)
    : backend_(acquire()), here_((backend_.begin(examples, model, same_random), &backend_)) {}

BatchScope::~BatchScope() {
  backend_.end();
  const std::scoped_lock lock(pool().mutex);
  pool().free.push_back(&backend_);
}

Array BatchScope::split(const Array& a) {
  const ScopedBackend outside = backend_.leave();
  const Array result = backend_.wrap(a);
  static_cast<BatchStorage&>(*result->storage).borrowed = true;
  return result;
}
Array BatchScope::joined(const Array& a) {
  const ScopedBackend outside = backend_.leave();
  return contiguous(backend_.expanded(a));
}

BatchBackend::BatchBackend() { owner_.framework.store(static_cast<Backend*>(this), catena::MemoryOrder::release); }

void BatchBackend::begin(std::int64_t examples, const Array& model, bool same_random) {
  inner_ = &model.backend();
  outer_ = scoped_backend();
  examples_ = examples;
  same_random_ = same_random;
  scope_ = next_scope();
}
void BatchBackend::end() noexcept { scope_ = 0; }

void BatchBackend::check_active() const {
  check<RuntimeError>(scope_ != 0 && scoped_backend() == this, kOp,
                      "an array that a vectorized function made is used after the call, or in another thread");
}

// ---- memory -------------------------------------------------------------------------------------
BatchStorage& BatchBackend::storage_of(const catena::ArrayHeader& a) const {
  auto& storage = static_cast<BatchStorage&>(*a.storage);
  check<RuntimeError>(storage.scope == scope_, kOp, "an array that a vectorized function made is used after the call");
  return storage;
}

Array BatchBackend::new_array(const Shape& shape, Dtype dtype, Device device, const Array& all) {
  auto* const storage = new BatchStorage;
  storage->device = device;
  storage->elements = catena::size_of(shape);
  storage->bytes = std::size_t(storage->elements) * catena::itemsize(dtype);
  storage->data = next_addresses(storage->bytes);
  storage->destroy = [](catena::Storage* s) { delete static_cast<BatchStorage*>(s); };
  storage->dtype = dtype;
  storage->scope = scope_;
  storage->all = all;
  Array a(catena::make_header(storage, storage->data, dtype, shape, catena::c_strides(shape, catena::itemsize(dtype)),
                              device, &owner_));
  catena::release(storage);
  return a;
}

Array BatchBackend::wrap(const Array& a) {
  const std::int64_t n = a.shape(0);
  const Array packed = contiguous(a);
  Shape shape;
  for (int k = 1; k < a.ndim(); ++k) shape.push_back(a.shape(k));
  const std::int64_t elements = catena::size_of(shape);
  const Array result = new_array(shape, a.dtype(), a.device(), reshape(packed, {n, elements}));
  static_cast<BatchStorage&>(*result->storage).batched = n == examples_ && n > 1;
  return result;
}

void BatchBackend::prepare(catena::ArrayHeader* out, bool batched) {
  if (out->owner != &owner_) {
    check<RuntimeError>(!batched, kOp, "the function writes values of single examples to an array of ", out->shape,
                        " that was made outside of it");
    return;
  }
  BatchStorage& storage = storage_of(*out);
  storage.version.fetch_add(1, catena::MemoryOrder::relaxed);
  const bool grows = batched && !storage.batched && examples_ > 1;
  if (storage.all && !grows) return;
  const Array before = storage.all;
  storage.batched = storage.batched || grows;
  storage.all = inner_->empty({storage.batched ? examples_ : 1, storage.elements}, storage.dtype, storage.device);
  if (before) assign(storage.all, before);
  storage.borrowed = false;
}

Array BatchBackend::one(const catena::ArrayHeader& a, std::int64_t example) {
  if (a.owner != &owner_) return handle(a);
  BatchStorage& storage = storage_of(a);
  if (!storage.all) prepare(const_cast<catena::ArrayHeader*>(&a), false);
  return inner_->view(storage.all, a.shape, a.strides, (a.data - storage.data) + example * storage.stride());
}

Array BatchBackend::all(const catena::ArrayHeader& a, int rank, bool expanded) {
  const bool batched = is_batched(a);
  Shape shape{batched || expanded ? examples_ : 1};
  const std::int64_t item = std::int64_t(catena::itemsize(a.dtype));
  Strides strides{batched ? storage_of(a).stride() : expanded ? 0 : a.size * item};
  for (int k = a.shape.size(); k < rank; ++k) {
    shape.push_back(1);
    strides.push_back(item);
  }
  for (int k = 0; k < a.shape.size(); ++k) {
    shape.push_back(a.shape[k]);
    strides.push_back(a.strides[k]);
  }
  const Array first = one(a, 0);
  return inner_->view(first, shape, strides, 0);
}

bool BatchBackend::owns_memory(const Array& a) {
  return a->owner == &owner_ && !static_cast<BatchStorage&>(*a->storage).borrowed;
}

Device BatchBackend::default_device() { return inner_->default_device(); }
Device BatchBackend::exchange_default_device(Device device) { return inner_->exchange_default_device(device); }
void BatchBackend::synchronize(Device device) { inner_->synchronize(device); }

Array BatchBackend::empty(const Shape& shape, Dtype dtype, Device device) {
  check_active();
  return new_array(shape, dtype, device, {});
}

Array BatchBackend::from_host(const void* data, const Shape& shape, Dtype dtype, Device device) {
  check_active();
  const ScopedBackend outside = leave();
  const Array a = inner_->from_host(data, shape, dtype, device);
  return new_array(shape, dtype, device, reshape(a, {1, a.size()}));
}

void BatchBackend::to_host(const Array& a, void* data) {
  check_active();
  const ScopedBackend outside = leave();
  check<RuntimeError>(!is_batched(a), kOp, "the function reads values of an array of ", a.shape(),
                      " that differ between the examples");
  autograd::to_host(one(*a.get(), 0), data);
}

Array BatchBackend::to_device(const Array& a, Device device) {
  check_active();
  if (a.device() == device) return a;
  const ScopedBackend outside = leave();
  return a->owner == &owner_ ? wrap(autograd::to_device(all(a), device)) : autograd::to_device(a, device);
}

Array BatchBackend::view(const Array& a, const Shape& shape, const Strides& strides, std::int64_t offset_bytes) {
  if (a->owner == &owner_) return Array(catena::make_view_header(*a.get(), offset_bytes, a->dtype, shape, strides));
  const ScopedBackend outside = leave();
  return a.backend().view(a, shape, strides, offset_bytes);
}

// Devices, streams, profiles and generators are those of the inner backend; operations that it has beside the calls,
// such as attention, are composed of calls.
void* BatchBackend::find_extension(std::string_view name, Device device) {
  const auto of_inner = [&]<class E>(const E*) {
    const ScopedBackend outside = leave();
    return static_cast<void*>(inner_->extension<E>(device));
  };
  if (name == DeviceExtension::kName) return of_inner(static_cast<const DeviceExtension*>(nullptr));
  if (name == StreamExtension::kName) return of_inner(static_cast<const StreamExtension*>(nullptr));
  if (name == ProfileExtension::kName) return of_inner(static_cast<const ProfileExtension*>(nullptr));
  if (name == RandomExtension::kName) return of_inner(static_cast<const RandomExtension*>(nullptr));
  if (name == NnExtension::kName) {
    if (!nn_) nn_ = batch_nn_extension(*this);
    return static_cast<NnExtension*>(&*nn_);
  }
  if (name == LinalgExtension::kName) {
    if (!linalg_) linalg_ = batch_linalg_extension(*this);
    return static_cast<LinalgExtension*>(&*linalg_);
  }
  return nullptr;
}

}  // namespace autograd::internal
