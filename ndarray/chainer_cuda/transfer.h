// The devices of arrays, and copies between the CPU and CUDA devices, as in Chainer's module `cuda`.
//
//   nd::Array x = nd::cuda::to_gpu(host);              // to the current CUDA device
//   nd::Array y = nd::cuda::to_gpu(host, 1, stream);   // to device 1, asynchronous
//   nd::Array h = nd::cuda::to_cpu(x);
//
// Arrays of the framework (autograd::Array) are accepted as nd::Arrays. TypeError for a null array.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>

#include <catena/ndarray/chainer_cuda/device.h>
#include <catena/ndarray/core/array.h>

namespace nd::cuda {

namespace internal {
// Returns the array that an argument of any type is or has (a Variable's data()); null if it has none.
template <class X> catena::HeaderRef array_of(const X& x) {
  if constexpr (std::is_base_of_v<catena::HeaderRef, X>) {
    return x;
  } else if constexpr (requires {
                         { x.data() } -> std::convertible_to<const catena::HeaderRef&>;
                       }) {
    return x.data();
  } else {
    return {};
  }
}
CATENA_EXPORT Device device_of_first(std::initializer_list<catena::HeaderRef> arrays);
CATENA_EXPORT void warn_of_get_device();
}  // namespace internal

// Returns the device of the first argument that is or has a CUDA array with elements (an array without elements owns no
// memory); else the DummyDevice.
template <class... A> Device get_device_from_array(const A&... arrays) {
  return internal::device_of_first({internal::array_of(arrays)...});
}

// Deprecated: use get_device_from_id and get_device_from_array. The first argument that is a number, a Device or a CUDA
// array decides; else the DummyDevice.
template <class... A> Device get_device(const A&... args) {
  internal::warn_of_get_device();
  std::optional<Device> found;
  const auto look = [&]<class X>(const X& x) {
    if (found) return;
    if constexpr (std::convertible_to<const X&, Device>) {
      found = Device(x);
    } else if (const Device device = internal::device_of_first({internal::array_of(x)}); !device.is_dummy()) {
      found = device;
    }
  };
  (look(args), ...);
  return found.value_or(DummyDevice);
}

// Returns the array on a CUDA device: `device`, or the current one (device 0 if the CPU is current). Returns the array
// itself if it is there already; otherwise a C-contiguous copy, from the host or from another device. With a stream of
// that device the copy is enqueued there, through page-locked buffers: the array may be changed, unless its memory is
// page-locked, and destroyed as soon as the call returns. RuntimeError if CUDA is unavailable, ValueError for the
// DummyDevice, a device that does not exist, and a stream of another device.
CATENA_EXPORT Array to_gpu(const Array& array, std::optional<Device> device = {}, std::optional<Stream> stream = {});

// Returns the array in host memory: itself if it is there, otherwise a C-contiguous copy. With a stream the copy is
// enqueued there and complete after stream.synchronize().
CATENA_EXPORT Array to_cpu(const Array& array, std::optional<Stream> stream = {});

struct CopyOptions {
  Array out = {};                         // destination, on any device; cast and broadcast as by nd::copyto
  std::optional<Device> out_device = {};  // device of the new array if there is no `out`; default: that of the array
  std::optional<Stream> stream = {};      // of the device that is written, or of the other one if that is the CPU
};
// Returns a copy of the array, on its device or another one; `out` if that is given.
CATENA_EXPORT Array copy(const Array& array, const CopyOptions& options = {});

}  // namespace nd::cuda
