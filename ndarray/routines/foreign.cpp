#include <catena/ndarray/routines/foreign.h>

#include <memory>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/formats/npy.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/core/wrap.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/routines/stream_order.h>

namespace nd {

using catena::check;

Array ndarray(const Shape& shape, Dtype dtype, const MemoryPointer& memptr, OrderLike order) {
  check<TypeError>(order == Order::C || order == Order::F, "ndarray", "the order of a new array is C or F");
  if (!memptr) return internal::empty_in_order(shape, dtype, current_device(), order, "ndarray");
  for (const std::int64_t n : shape) check<ValueError>(n >= 0, "ndarray", "shape ", shape, " has a negative length");
  catena::checked_size(shape);
  const std::size_t item = catena::itemsize(dtype);
  const Strides strides = order == Order::C ? catena::c_strides(shape, item) : catena::f_strides(shape, item);
  return ndarray(shape, dtype, memptr, strides);
}

Array ndarray(const Shape& shape, Dtype dtype, const MemoryPointer& memptr, const Strides& strides) {
  constexpr const char* op = "ndarray";
  check<TypeError>(static_cast<int>(dtype) < catena::kNumDtypes, op, "there is no dtype number ", int(dtype));
  check<ValueError>(strides.size() == shape.size(), op, strides.size(), " strides for an array of rank ", shape.size());
  for (const std::int64_t n : shape) check<ValueError>(n >= 0, op, "shape ", shape, " has a negative length");
  const std::size_t item = catena::itemsize(dtype);
  if (catena::checked_size(shape) == 0) return internal::empty_in_order(shape, dtype, memptr.device(), Order::C, op);
  check<ValueError>(memptr.mem() != nullptr, op, "an array of shape ", shape, " with strides needs memory");
  const catena::ByteRange range = catena::byte_range(shape, strides, item);
  const std::int64_t before = memptr.ptr() - memptr.mem()->data, all = static_cast<std::int64_t>(memptr.mem()->bytes);
  check<ValueError>(before + range.begin >= 0 && before + range.end <= all, op, "shape ", shape, " of ", dtype,
                    " with strides ", strides, " leaves a block of ", all, " bytes at offset ", before);
  check<ValueError>(reinterpret_cast<std::uintptr_t>(memptr.ptr()) % item == 0, op, "the address is not aligned for ",
                    dtype);
  for (int axis = 0; axis < shape.size(); ++axis)
    check<ValueError>(shape[axis] == 1 || strides[axis] % static_cast<std::int64_t>(item) == 0, op, "strides ", strides,
                      " are no multiples of ", item, ", the itemsize of ", dtype);
  catena::ArrayHeader* const h =
      catena::make_header(memptr.mem(), memptr.ptr(), dtype, shape, strides, memptr.device(), &array_owner());
  return Array(h);
}

Array empty_pinned(const Shape& shape, Dtype dtype, OrderLike order) {
  const std::size_t bytes = static_cast<std::size_t>(catena::checked_size(shape)) * catena::itemsize(dtype);
  const DeviceScope host(cpu_device);
  return ndarray(shape, dtype, alloc_pinned_memory(bytes), order);
}
Array zeros_pinned(const Shape& shape, Dtype dtype, OrderLike order) {
  const Array a = empty_pinned(shape, dtype, order);
  a.fill(0);
  return a;
}
Array empty_like_pinned(const Array& a, std::optional<Dtype> dtype) {
  check<TypeError>(!a.is_null(), "empty_like_pinned", "the array is null");
  const bool columns = a.is_f_contiguous() && !a.is_c_contiguous();
  return empty_pinned(a.shape(), dtype.value_or(a.dtype()), columns ? Order::F : Order::C);
}
Array zeros_like_pinned(const Array& a, std::optional<Dtype> dtype) {
  const Array zeros = empty_like_pinned(a, dtype);
  zeros.fill(0);
  return zeros;
}

namespace {

Dtype dtype_of_typestr(std::string_view op, std::string_view typestr) {
  for (int i = 0; i < catena::kNumDtypes; ++i) {
    const auto t = static_cast<Dtype>(i);
    if (t == Dtype::bfloat16) continue;
    const std::string_view ours = catena::npy_descr(t);
    if (typestr.substr(1) == ours.substr(1) && (typestr[0] == ours[0] || catena::itemsize(t) == 1)) return t;
  }
  catena::fail<TypeError>(op, "no dtype has the typestr '", typestr,
                          "'; convert the elements to numbers of the machine's byte order before");
}

// Calls the user's function, unless the array never came to be.
struct ReleaseOfMemory {
  catena::Function<void()> deleter;
  bool armed = false;
};

}  // namespace

CudaArrayInterface cuda_array_interface(const Array& a) {
  constexpr const char* op = "cuda_array_interface";
  check<TypeError>(a.device().kind == Device::Kind::cuda, op, "the array is on ", a.device(),
                   "; write a.to_device(...) for an array on CUDA");
  check<TypeError>(a.dtype() != Dtype::bfloat16, op, "bfloat16 has no typestr; write a.view(nd::uint16)");
  const void* const stream = current_stream(a.device()).handle;
  return {.shape = a.shape(),
          .typestr = std::string(catena::npy_descr(a.dtype())),
          .data = a.data().ptr(),
          .read_only = false,
          .strides = a.is_c_contiguous() ? std::nullopt : std::optional(a.strides()),
          .stream = stream == nullptr ? 1 : reinterpret_cast<std::uintptr_t>(stream)};
}

Array from_cuda_array_interface(const CudaArrayInterface& description, catena::Function<void()> deleter) {
  constexpr const char* op = "from_cuda_array_interface";
  check<ValueError>(description.version > 0, op, "there is no version ", description.version, " of the interface");
  check<TypeError>(!description.typestr.empty(), op, "the typestr is empty");
  const Dtype dtype = dtype_of_typestr(op, description.typestr);
  const bool is_empty = catena::checked_size(description.shape) == 0;
  const Device device = is_empty ? Device{Device::Kind::cuda, 0} : device_from_pointer(description.data);
  check<TypeError>(device.kind == Device::Kind::cuda, op, "the address ", description.data,
                   " is not memory of CUDA; write nd::wrap(...) for memory of the host");
  auto* const release = new ReleaseOfMemory{std::move(deleter)};
  Array shared;
  try {
    shared = internal::wrap(
        description.data, description.shape, dtype, {.strides = description.strides, .device = device},
        [](void* context, void*) {
          const std::unique_ptr<ReleaseOfMemory> r(static_cast<ReleaseOfMemory*>(context));
          if (r->armed && r->deleter) r->deleter();
        },
        release);
  } catch (...) {
    catena::rethrow_from(op);
  }
  if (description.stream)
    internal::order_streams({device, reinterpret_cast<void*>(*description.stream)}, current_stream(device));
  if (description.read_only) {
    const Array copy = shared.copy(Order::K);
    runtime(device.kind).synchronize(current_stream(device));
    release->armed = true;
    return copy;
  }
  release->armed = true;
  return shared;
}

}  // namespace nd
