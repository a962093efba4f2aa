#include <catena/autograd/ndarray_backend/adapter.h>

#include <atomic>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/backend/profile_extension.h>
#include <catena/autograd/backend/random_extension.h>
#include <catena/autograd/backend/reader_extension.h>
#include <catena/autograd/ndarray_backend/attention_extension.h>
#include <catena/autograd/ndarray_backend/comm_extension.h>
#include <catena/autograd/ndarray_backend/cpu_extension.h>
#include <catena/autograd/ndarray_backend/cudnn/extension.h>
#include <catena/autograd/ndarray_backend/device_extension.h>
#include <catena/autograd/ndarray_backend/group_normalization_extension.h>
#include <catena/autograd/ndarray_backend/linalg_extension.h>
#include <catena/autograd/ndarray_backend/ndarray_backend.h>
#include <catena/autograd/ndarray_backend/product_extension.h>
#include <catena/autograd/ndarray_backend/profile_extension.h>
#include <catena/autograd/ndarray_backend/stream_extension.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/array_reader.h>
#include <catena/ndarray/routines/random_states.h>

namespace autograd {
namespace internal {

NdarrayBackend::NdarrayBackend() {
  nd::mutable_array_owner().framework.store(static_cast<Backend*>(this), catena::MemoryOrder::release);
}

Device NdarrayBackend::default_device() { return nd::current_device(); }

Device NdarrayBackend::exchange_default_device(Device device) {
  const Device before = nd::current_device();
  if (device != before) nd::set_current_device(device);
  return before;
}

// ---- memory -------------------------------------------------------------------------------------
namespace {

// A C-ordered copy.
Array packed(const Array& a) {
  Array out(nd::internal::new_array(a.shape(), a.dtype(), a.device()));
  nd::internal::convert_into("copy", *a.get(), *out.get());
  return out;
}
Array packed_if_needed(const Array& a) { return a.is_c_contiguous() ? a : packed(a); }

}  // namespace

Array NdarrayBackend::empty(const Shape& shape, Dtype dtype, Device device) {
  return Array(nd::internal::new_array(shape, dtype, device));
}

Array NdarrayBackend::from_host(const void* data, const Shape& shape, Dtype dtype, Device device) {
  Array a = empty(shape, dtype, device);
  nd::internal::copy_from_host(*a.get(), data);
  return a;
}

void NdarrayBackend::to_host(const Array& a, void* data) {
  nd::internal::copy_to_host(data, *packed_if_needed(a).get());
}

Array NdarrayBackend::to_device(const Array& a, Device device) {
  if (a.device() == device) return a;
  Array out = empty(a.shape(), a.dtype(), device);
  nd::internal::copy_bytes(*out.get(), *packed_if_needed(a).get());
  return out;
}

void NdarrayBackend::synchronize(Device device) { nd::synchronize(device); }

bool NdarrayBackend::owns_memory(const Array& a) { return a->storage == nullptr || !nd::is_wrapped(*a->storage); }

bool NdarrayBackend::counts_writes(const Array& a) {
  return a->storage != nullptr && !nd::is_wrapped(*a->storage) && !nd::is_exposed(*a->storage);
}

Array NdarrayBackend::view(const Array& a, const Shape& shape, const Strides& strides, std::int64_t offset_bytes) {
  return Array(catena::make_view_header(*a.get(), offset_bytes, a->dtype, shape, strides));
}

// ---- extensions ---------------------------------------------------------------------------------
namespace {

class NdarrayRandom final : public RandomExtension {
 public:
  void seed(std::uint64_t seed) override { nd::random::seed_all(seed); }
  std::vector<State> states() const override {
    std::vector<State> result;
    for (const nd::random::DeviceState& s : nd::random::get_states())
      result.push_back({s.device, s.seed, s.offset, s.unrepeatable_draws});
    return result;
  }
  void restore(std::span<const State> states) override {
    std::vector<nd::random::DeviceState> wanted;
    for (const State& s : states) wanted.push_back({s.device, s.seed, s.offset});
    nd::random::set_states(wanted);
  }
  catena::Owned<Scope> scope(std::uint64_t seed) override { return catena::Owned<Scope>(new OwnStates(seed)); }

 private:
  struct OwnStates final : Scope {
    explicit OwnStates(std::uint64_t seed) : states(seed) {}
    void begin(std::uint64_t seed) override { states.begin(seed); }
    nd::random::StatesScope states;
  };
};

class NdarrayReader final : public ReaderExtension {
 public:
  Array array_from_reader(const Shape& shape, Dtype dtype, Device device, const ByteReader& read) override {
    return Array(nd::internal::array_from_reader(shape, dtype, device, read).release());
  }
};

}  // namespace

void* NdarrayBackend::find_extension(std::string_view name, Device device) {
  static NdarrayRandom random;
  static NdarrayReader reader;
  if (name == ProfileExtension::kName) return &ndarray_profile_extension();
  if (name == RandomExtension::kName) return static_cast<RandomExtension*>(&random);
  if (name == ReaderExtension::kName) return static_cast<ReaderExtension*>(&reader);
  if (name == DeviceExtension::kName) return device.kind == Device::Kind::cuda ? &cuda_device_extension() : nullptr;
  if (name == StreamExtension::kName) return device.kind == Device::Kind::cuda ? &cuda_stream_extension() : nullptr;
  if (name == CommExtension::kName) return device.kind == Device::Kind::cuda ? &nccl_comm_extension() : nullptr;
  if (name == NnExtension::kName) {
    if (device.kind == Device::Kind::cpu) return &cpu_nn_extension();
    warn_without_cudnn();
    return cudnn_extension();
  }
  if (name == AttentionExtension::kName)
    return device.kind == Device::Kind::cpu ? &cpu_attention_extension() : &cuda_attention_extension();
  if (name == GroupNormalizationExtension::kName)
    return device.kind == Device::Kind::cpu ? &cpu_group_normalization_extension() : nullptr;
  if (name == ProductExtension::kName) return device.kind == Device::Kind::cuda ? &cuda_product_extension() : nullptr;
  if (name == QuantizedProductExtension::kName)
    return device.kind == Device::Kind::cpu ? &cpu_quantized_product_extension() : nullptr;
  if (name == LinalgExtension::kName) return ndarray_linalg_extension(device);
  return nullptr;
}

}  // namespace internal

Backend& ndarray_backend() {
  // Never destroyed, because arrays in static variables may be destroyed later.
  static Backend& backend = *new internal::NdarrayBackend;
  return backend;
}

}  // namespace autograd
