#include <catena/ndarray/routines/dlpack.h>

#include <memory>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/ndarray/core/wrap.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/memory/memory.h>
#include <catena/ndarray/routines/stream_order.h>

namespace nd {

using catena::check;
using catena::fail;

namespace {

constexpr const char* kFromDlpack = "from_dlpack";
constexpr const char* kToDlpack = "to_dlpack";

enum : std::int32_t { kDlCpu = 1, kDlCuda = 2, kDlCudaHost = 3, kDlCudaManaged = 13 };
enum : std::uint8_t { kDlInt, kDlUInt, kDlFloat, kDlOpaque, kDlBfloat, kDlComplex, kDlBool };

// ---- dtypes and devices -------------------------------------------------------------------------
dlpack::DataType dlpack_type(Dtype t) {
  const auto bits = static_cast<std::uint8_t>(8 * catena::itemsize(t));
  if (t == Dtype::bfloat16) return {kDlBfloat, bits, 1};
  switch (catena::kind_of(t)) {
    case DtypeKind::bool_: return {kDlBool, bits, 1};
    case DtypeKind::unsigned_: return {kDlUInt, bits, 1};
    case DtypeKind::signed_: return {kDlInt, bits, 1};
    case DtypeKind::floating: return {kDlFloat, bits, 1};
    default: return {kDlComplex, bits, 1};
  }
}

Dtype dtype_of_dlpack(const dlpack::DataType& type) {
  check<TypeError>(type.lanes == 1, kFromDlpack, "the elements are vectors of ", type.lanes,
                   " numbers; view them as numbers, with one more axis, before the export");
  for (int i = 0; i < catena::kNumDtypes; ++i) {
    const dlpack::DataType candidate = dlpack_type(static_cast<Dtype>(i));
    if (candidate.code == type.code && candidate.bits == type.bits) return static_cast<Dtype>(i);
  }
  fail<TypeError>(kFromDlpack, "no dtype has the elements of type code ", int(type.code), " with ", int(type.bits),
                  " bits; convert them before the export, for example to float32");
}

const char* name_of_device_type(std::int32_t type) {
  switch (type) {
    case 4: return "OpenCL";
    case 7: return "Vulkan";
    case 8: return "Metal";
    case 10:
    case 11: return "ROCm";
    case 14: return "oneAPI";
    case 15: return "WebGPU";
    default: return "unknown here";
  }
}

Device device_of_dlpack(const dlpack::Device& device) {
  if (device.device_type == kDlCpu || device.device_type == kDlCudaHost) return cpu_device;
  check<TypeError>(device.device_type == kDlCuda || device.device_type == kDlCudaManaged, kFromDlpack,
                   "the tensor is on a device of type ", device.device_type, " (",
                   name_of_device_type(device.device_type), "); copy it to the CPU or to CUDA before the export");
  const int count = runtime(Device::Kind::cuda).device_count();
  check<ValueError>(device.device_id >= 0 && device.device_id < count, kFromDlpack,
                    "the tensor is on cuda:", device.device_id, ", and there are ", count, " devices of CUDA");
  return {Device::Kind::cuda, static_cast<std::int16_t>(device.device_id)};
}

// ---- order --------------------------------------------------------------------------------------
void check_stream_of(const char* op, const std::optional<StreamRef>& stream, Device device) {
  check<ValueError>(!stream || stream->device == device, op, "the stream belongs to ", stream ? stream->device : device,
                    ", the elements are on ", device);
}

// ---- import -------------------------------------------------------------------------------------
struct TensorLayout {
  Dtype dtype;
  Shape shape;
  Strides strides;  // in bytes
  Device device;
  std::byte* data;
};

TensorLayout tensor_layout(const dlpack::Tensor& t) {
  TensorLayout result{
      dtype_of_dlpack(t.dtype), {}, {}, device_of_dlpack(t.device), static_cast<std::byte*>(t.data) + t.byte_offset};
  check<ValueError>(t.ndim >= 0 && t.ndim <= catena::kMaxRank, kFromDlpack, "the tensor has ", t.ndim,
                    " axes; arrays have at most ", catena::kMaxRank);
  check<ValueError>(t.ndim == 0 || t.shape != nullptr, kFromDlpack, "the tensor has ", t.ndim, " axes and no shape");
  const auto item = static_cast<std::int64_t>(catena::itemsize(result.dtype));
  result.shape.resize(t.ndim);
  for (int i = 0; i < t.ndim; ++i) {
    check<ValueError>(t.shape[i] >= 0, kFromDlpack, "axis ", i, " has the negative length ", t.shape[i]);
    result.shape[i] = t.shape[i];
  }
  const std::int64_t size = catena::checked_size(result.shape);
  check<ValueError>(t.data != nullptr || size == 0, kFromDlpack, "the tensor has the shape ", result.shape,
                    " and no address of its elements");
  if (t.strides == nullptr || size == 0) {
    result.strides = catena::c_strides(result.shape, static_cast<std::size_t>(item));
    return result;
  }
  // The bytes from the first to the last element, which must be a number of 63 bits.
  std::int64_t extent = 0;
  result.strides.resize(t.ndim);
  for (int i = 0; i < t.ndim; ++i) {
    std::int64_t bytes = 0, length = 0;
    const bool wraps = __builtin_mul_overflow(t.strides[i], item, &bytes) || bytes == INT64_MIN ||
                       __builtin_mul_overflow(bytes < 0 ? -bytes : bytes, result.shape[i] - 1, &length) ||
                       __builtin_add_overflow(extent, length, &extent);
    check<ValueError>(!wraps, kFromDlpack, "the stride ", t.strides[i], " of axis ", i, " leaves the address space");
    result.strides[i] = bytes;
  }
  return result;
}

// Keeps a tensor until the last view is destroyed. Not armed: the tensor belongs to the caller.
template <class T> struct TensorKeeper {
  T* tensor;
  bool armed;
  void finish() const {
    if (armed && tensor->deleter != nullptr) tensor->deleter(tensor);
  }
};

template <class T> Array over_tensor(const TensorLayout& layout, TensorKeeper<T>* keeper) try {
  return internal::wrap(
      layout.data, layout.shape, layout.dtype, {.strides = layout.strides, .device = layout.device},
      [](void* context, void*) {
        const std::unique_ptr<TensorKeeper<T>> k(static_cast<TensorKeeper<T>*>(context));
        k->finish();
      },
      keeper);
} catch (...) {
  catena::rethrow_from(kFromDlpack);
}

template <class T> Array import_tensor(T* tensor, std::uint64_t flags, const FromDlpackOptions& options) {
  const TensorLayout layout = tensor_layout(tensor->dl_tensor);
  const Device to = options.device.value_or(layout.device);
  check_stream_of(kFromDlpack, options.stream, layout.device);
  const bool is_read_only = (flags & dlpack::read_only) != 0;
  if (options.copy == false) {
    check<ValueError>(to == layout.device, kFromDlpack, "the tensor is on ", layout.device, "; an array on ", to,
                      " needs a copy, which copy = false forbids");
    check<ValueError>(!is_read_only, kFromDlpack,
                      "the tensor is read-only, and every array can be written; omit copy = "
                      "false for an array of its own");
  }
  auto* const keeper = new TensorKeeper<T>{tensor, false};
  const Array shared = over_tensor(layout, keeper);
  if (options.stream) internal::order_streams(*options.stream, current_stream(layout.device));
  if (to != layout.device || is_read_only || options.copy == true) {
    const Array copy = to != layout.device ? shared.to_device(to) : shared.copy(Order::K);
    // The elements have been read when the tensor goes back to its owner.
    runtime(layout.device.kind).synchronize(current_stream(layout.device));
    if (to != layout.device) runtime(to.kind).synchronize(current_stream(to));
    keeper->armed = true;
    return copy;
  }
  keeper->armed = true;
  return shared;
}

// ---- export -------------------------------------------------------------------------------------
template <class T> struct Exported {
  T tensor;
  Array array;
  std::int64_t shape[catena::kMaxRank], strides[catena::kMaxRank];
};

template <class T> T* export_as(const Array& a) {
  auto e = std::make_unique<Exported<T>>();
  e->array = a;
  const auto item = static_cast<std::int64_t>(a.itemsize());
  for (int i = 0; i < a.ndim(); ++i) {
    e->shape[i] = a.shape()[i];
    e->strides[i] = a.strides()[i] / item;
  }
  e->tensor.dl_tensor = {.data = a.data().ptr(),
                         .device = dlpack_device(a),
                         .ndim = a.ndim(),
                         .dtype = dlpack_type(a.dtype()),
                         .shape = e->shape,
                         .strides = e->strides,
                         .byte_offset = 0};
  e->tensor.manager_ctx = e.get();
  e->tensor.deleter = [](T* self) { delete static_cast<Exported<T>*>(self->manager_ctx); };
  return &e.release()->tensor;
}

}  // namespace

namespace internal {

void throw_dlpack_structure(bool is_versioned) {
  if (is_versioned)
    fail<TypeError>("release",
                    "the tensor is a DLManagedTensorVersioned, or was released before; export it with "
                    "max_version = {0, 8} for a DLManagedTensor");
  fail<TypeError>("release",
                  "the tensor is a DLManagedTensor, or was released before; export it with max_version = "
                  "{1, 0} for a DLManagedTensorVersioned");
}

Array from_dlpack(dlpack::ManagedTensor* tensor, const FromDlpackOptions& options) {
  check<ValueError>(tensor != nullptr, kFromDlpack, "the tensor is null");
  return import_tensor(tensor, 0, options);
}

Array from_dlpack(dlpack::ManagedTensorVersioned* tensor, const FromDlpackOptions& options) {
  check<ValueError>(tensor != nullptr, kFromDlpack, "the tensor is null");
  check<ValueError>(tensor->version.major == 1, kFromDlpack, "the tensor has version ", tensor->version.major, ".",
                    tensor->version.minor, " of DLPack; ask its library for version 1 (max_version)");
  return import_tensor(tensor, tensor->flags, options);
}

}  // namespace internal

DlpackTensor::~DlpackTensor() {
  if (versioned_ != nullptr && versioned_->deleter != nullptr) versioned_->deleter(versioned_);
  if (unversioned_ != nullptr && unversioned_->deleter != nullptr) unversioned_->deleter(unversioned_);
}

Array from_dlpack(DlpackTensor tensor, const FromDlpackOptions& options) {
  check<ValueError>(!tensor.is_null(), kFromDlpack, "the tensor is null: it was released or moved from");
  if (tensor.is_versioned()) {
    auto* const t = tensor.release<dlpack::ManagedTensorVersioned>();
    DlpackTensor owner(t);
    Array a = internal::from_dlpack(t, options);
    owner.release<dlpack::ManagedTensorVersioned>();
    return a;
  }
  auto* const t = tensor.release<dlpack::ManagedTensor>();
  DlpackTensor owner(t);
  Array a = internal::from_dlpack(t, options);
  owner.release<dlpack::ManagedTensor>();
  return a;
}

DlpackTensor to_dlpack(const Array& a, const ToDlpackOptions& options) {
  const Device to = options.device.value_or(a.device());
  check<ValueError>(to == a.device() || options.copy != false, kToDlpack, "the array is on ", a.device(),
                    "; a tensor on ", to, " needs a copy, which copy = false forbids");
  check_stream_of(kToDlpack, options.stream, to);
  const bool is_copy = to != a.device() || options.copy == true;
  const Array exported = to != a.device() ? a.to_device(to) : options.copy == true ? a.copy(Order::K) : a;
  if (options.stream) internal::order_streams(current_stream(to), *options.stream);
  if (options.max_version.major == 0) return DlpackTensor(export_as<dlpack::ManagedTensor>(exported));
  auto* const tensor = export_as<dlpack::ManagedTensorVersioned>(exported);
  tensor->version = {1, 0};
  tensor->flags = is_copy ? dlpack::is_copied : 0;
  return DlpackTensor(tensor);
}

dlpack::Device dlpack_device(const Array& a) {
  const Device d = a.device();
  return {d.kind == Device::Kind::cpu ? kDlCpu : kDlCuda, d.id};
}

}  // namespace nd
