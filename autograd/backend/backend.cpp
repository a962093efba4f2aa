#include <catena/autograd/backend/backend.h>

#include <atomic>

#include <catena/autograd/backend/profile_extension.h>
#include <catena/autograd/backend/random_extension.h>
#include <catena/autograd/backend/scoped_backend.h>
#include <catena/kernels/base/retained.h>

namespace autograd {

Backend::~Backend() = default;

Device Backend::exchange_default_device(Device) { return default_device(); }
bool Backend::owns_memory(const Array&) { return true; }
bool Backend::counts_writes(const Array&) { return false; }

void execute_each_position(Backend& backend, const catena::call::Recurrence& call) {
  const catena::call::Elementwise& all = call.step;
  const Shape& shape = all.outputs[0]->shape;
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    Arrays parts;
    const auto at = [&](catena::ArrayHeader* a) -> catena::ArrayHeader* {
      if (a->shape.size() < shape.size() || a->shape[0] != shape[0]) return a;  // the same array for all positions
      Shape part = a->shape;
      part[0] = 1;
      parts.push_back(backend.view(Array(catena::retained(*a)), part, a->strides, i * a->strides[0]));
      return parts.back().get();
    };
    catena::SmallVector<Input, 8> inputs;
    catena::SmallVector<catena::ArrayHeader*, 4> outputs;
    for (const Input& in : all.inputs)
      inputs.push_back(in.is_array() ? Input(*at(const_cast<catena::ArrayHeader*>(&in.array()))) : in);
    for (catena::ArrayHeader* out : all.outputs) outputs.push_back(at(out));
    backend.execute(catena::call::Elementwise{all.program, inputs, outputs, all.name});
  }
}

void* Backend::find_extension(std::string_view, Device) { return nullptr; }

namespace internal {
namespace {

std::atomic<int> scopes{0};  // scopes of all threads; while there is none, `scoped` is not read
constinit thread_local Backend* scoped = nullptr;

}  // namespace

ScopedBackend::ScopedBackend(Backend* backend) noexcept : before_(scoped) {
  scopes.fetch_add(1, std::memory_order_relaxed);
  scoped = backend;
}
ScopedBackend::~ScopedBackend() {
  scoped = before_;
  scopes.fetch_sub(1, std::memory_order_relaxed);
}
Backend* scoped_backend() noexcept { return scopes.load(std::memory_order_relaxed) == 0 ? nullptr : scoped; }

}  // namespace internal

Backend& Array::backend() const {
  catena::check<catena::ValueError>(h_ != nullptr, "Array", "a null array has no backend");
  if (Backend* const scoped = internal::scoped_backend()) [[unlikely]]
    return *scoped;
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
  if (Backend* const scoped = internal::scoped_backend()) [[unlikely]]
    return *scoped;
  const BackendFactory factory = default_factory.load(std::memory_order_acquire);
  catena::check<catena::RuntimeError>(
      factory != nullptr, "default_backend",
      "no array library was chosen; include catena.h in the program or call autograd::set_default_backend");
  return factory();
}

RandomExtension::~RandomExtension() = default;
RandomExtension::Scope::~Scope() = default;
ProfileExtension::~ProfileExtension() = default;
ProfileExtension::Watch::~Watch() = default;
ProfileSink::~ProfileSink() = default;
void ProfileSink::operation_begin(std::string_view) {}
void ProfileSink::copy_begin(Device, Device, std::size_t) {}
void ProfileSink::end() {}
void ProfileSink::allocated(Device, std::size_t, std::size_t) {}
void ProfileSink::freed(Device, std::size_t) {}

RandomExtension* find_random_extension() {
  const BackendFactory factory = default_factory.load(std::memory_order_acquire);
  return factory == nullptr ? nullptr : factory().extension<RandomExtension>(Device{});
}

}  // namespace autograd
