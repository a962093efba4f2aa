#include <catena/autograd/backend/backend.h>

#include <atomic>

#include <catena/autograd/backend/profile_extension.h>
#include <catena/autograd/backend/random_extension.h>

namespace autograd {

Backend::~Backend() = default;

Device Backend::exchange_default_device(Device) { return default_device(); }
bool Backend::owns_memory(const Array&) { return true; }
bool Backend::counts_writes(const Array&) { return false; }

void Backend::rows_and_sums(const catena::call::RowsAndSums& call) {
  rows(call.rows);
  for (const catena::call::Reduce& sum : call.sums) reduce(sum);
}

void* Backend::find_extension(std::string_view, Device) { return nullptr; }

Backend& Array::backend() const {
  catena::check<catena::ValueError>(h_ != nullptr, "Array", "a null array has no backend");
  void* const framework = h_->owner->framework.load(catena::MemoryOrder::acquire);
  catena::check<catena::RuntimeError>(framework != nullptr, "Array", "nothing adapts arrays made by ", h_->owner->name,
                                      "; include catena.h or link the adapter of that library");
  return *static_cast<Backend*>(framework);
}

namespace {

std::atomic<BackendFactory> default_factory{nullptr};

}  // namespace

void set_default_backend(BackendFactory factory) noexcept { default_factory.store(factory, std::memory_order_release); }

Backend& default_backend() {
  const BackendFactory factory = default_factory.load(std::memory_order_acquire);
  catena::check<catena::RuntimeError>(
      factory != nullptr, "default_backend",
      "no array library was chosen; include catena.h in the program or call autograd::set_default_backend");
  return factory();
}

RandomExtension::~RandomExtension() = default;
ProfileExtension::~ProfileExtension() = default;

RandomExtension* find_random_extension() {
  const BackendFactory factory = default_factory.load(std::memory_order_acquire);
  return factory == nullptr ? nullptr : factory().extension<RandomExtension>(Device{});
}

}  // namespace autograd
