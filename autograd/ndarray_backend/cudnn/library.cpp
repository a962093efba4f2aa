#include <catena/autograd/ndarray_backend/cudnn/library.h>

#include <atomic>
#include <limits>

#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/vendor/cudnn_library.h>
#include <catena/ndarray/device/stream.h>

namespace autograd::internal::cudnn {
namespace {

void load(Library& table) {
  const nd::cuda::Library library = nd::cuda::open_cudnn(table.version);
  CATENA_CUDNN_TEXT_FUNCTIONS(CATENA_RESOLVE)
  CATENA_CUDNN_COMMON_VALUES(CATENA_RESOLVE)
  CATENA_CUDNN_COMMON_CALLS(CATENA_RESOLVE)
  CATENA_CUDNN_GRAPH_FUNCTIONS(CATENA_RESOLVE)
  CATENA_CUDNN_BATCH_NORM_FUNCTIONS(CATENA_RESOLVE_OPTIONAL)
  CATENA_CUDNN_RNN_FUNCTIONS(CATENA_RESOLVE_OPTIONAL)
#define CATENA_AND_IS_THERE(symbol, field, ...) &&table.field != nullptr
  table.has_batch_norm = true CATENA_CUDNN_BATCH_NORM_FUNCTIONS(CATENA_AND_IS_THERE);
  table.has_rnn = true CATENA_CUDNN_RNN_FUNCTIONS(CATENA_AND_IS_THERE);
#undef CATENA_AND_IS_THERE
  table.path = library.path();
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

bool is_unsupported(api::cudnn_status status) noexcept { return nd::cuda::is_unsupported(status); }

void fail(api::cudnn_status status, const char* call) {
  if (is_unsupported(status)) throw NotSupported{};
  const Library& lib = library();
  nd::cuda::fail_cudnn(status, call, lib.get_error_string, lib.get_last_error_string);
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
