#include <catena/autograd/ndarray_backend/cudnn_library.h>

#include <array>
#include <atomic>
#include <limits>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/vendor/vendor.h>
#include <catena/ndarray/device/stream.h>

namespace autograd::internal::cudnn {
namespace {

void load(Library& table) {
  const nd::cuda::Library library({"cuDNN", {"libcudnn.so.9", "libcudnn.so"}, "CUDNN_PATH"});
  CATENA_CUDNN_FUNCTIONS(CATENA_RESOLVE)
  table.path = library.path();
  table.version = table.get_version();
  if (table.version < 90000)
    catena::fail<catena::RuntimeError>("cuDNN is unavailable", table.path, " is version ", table.version,
                                       ", 9 or newer is needed");
}

const nd::cuda::Loaded<Library>& loaded() {
  static const auto& l = *new nd::cuda::Loaded<Library>(load);
  return l;
}

std::atomic<const Library*> replacement{nullptr};

using Pool = nd::cuda::HandlePool<api::cudnn_handle>;
Pool::Lease lease_handle(int device) {
  static auto& pool = *new Pool(nd::cuda::driver().device_count);
  nd::cuda::use_device(device);
  return pool.lease(device, [] {
    api::cudnn_handle handle = nullptr;
    CATENA_CUDNN(create, &handle);
    return handle;
  });
}

}  // namespace

const Library& library() {
  const Library* const other = replacement.load(std::memory_order_acquire);
  return other != nullptr ? *other : loaded().get();
}
bool is_available() noexcept {
  return replacement.load(std::memory_order_acquire) != nullptr || loaded().error.empty();
}
void replace_library(const Library& table) { replacement.store(&table, std::memory_order_release); }

bool is_unsupported(api::cudnn_status status) noexcept {
  return status >= api::cudnn_not_supported && status < api::cudnn_internal_error;
}

// The text of the last error states which argument is wrong.
void fail(api::cudnn_status status, const char* call) {
  if (is_unsupported(status)) throw NotSupported{};
  const Library& lib = library();
  const char* symbol = lib.get_error_string(status);
  std::array<char, 512> text{};
  lib.get_last_error_string(text.data(), text.size());
  const bool memory = status == api::cudnn_host_allocation_failed || status == api::cudnn_device_allocation_failed;
  std::string words(text.data());
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  nd::cuda::fail_vendor({"cuDNN", status, symbol != nullptr ? symbol : "unknown status", memory},
                        words.empty() ? std::string(call) : catena::concat(call, ": ", words));
}

Handle::Handle(int device) : lease_(lease_handle(device)) {}

Handle::Handle(const Array& near) : stream_(nd::current_stream(near.device())), lease_(lease_handle(near.device().id)) {
  CATENA_CUDNN(set_stream, get(), nd::cuda::stream_of(stream_));
}

TensorDescriptor tensor_descriptor(int type, const Shape& shape, const Dims& strides) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  catena::SmallVector<int, 8> lengths, steps;
  for (int axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] > kMost || strides[axis] > kMost) throw NotSupported{};
    lengths.push_back(static_cast<int>(shape[axis]));
    steps.push_back(static_cast<int>(strides[axis]));
  }
  TensorDescriptor made = CATENA_CUDNN_OWN(tensor);
  CATENA_CUDNN(set_tensor, made.get(), type, shape.size(), lengths.data(), steps.data());
  return made;
}

}  // namespace autograd::internal::cudnn
