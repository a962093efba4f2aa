// Chainer's module `cuda` for programs with networks: nd::cuda, plus functions for cuDNN.
//
//   namespace cuda = autograd::cuda;
//   cuda::check_cuda_available();
//   cuda::get_device_from_id(0).use();
//   nd::Array x = cuda::to_gpu(batch);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <catena/autograd/ndarray_backend/convert.h>
#include <catena/ndarray/chainer_cuda/array_module.h>
#include <catena/ndarray/chainer_cuda/deprecated.h>
#include <catena/ndarray/chainer_cuda/device.h>
#include <catena/ndarray/chainer_cuda/kernels.h>
#include <catena/ndarray/chainer_cuda/transfer.h>
#include <catena/ndarray/device/stream.h>

namespace autograd::cuda {

// Chainer's name of the class of arrays.
using ndarray = nd::Array;
using nd::Event;
using nd::Stream;
using nd::cuda::Device;
using nd::cuda::DummyDevice;

using nd::cuda::available;
using nd::cuda::clear_memo;
using nd::cuda::copy;
using nd::cuda::elementwise;
using nd::cuda::empty;
using nd::cuda::empty_like;
using nd::cuda::full;
using nd::cuda::full_like;
using nd::cuda::get_array_module;
using nd::cuda::get_device;
using nd::cuda::get_device_from_array;
using nd::cuda::get_device_from_id;
using nd::cuda::init;
using nd::cuda::memoize;
using nd::cuda::ones;
using nd::cuda::ones_like;
using nd::cuda::reduce;
using nd::cuda::to_cpu;
using nd::cuda::to_gpu;
using nd::cuda::zeros;
using nd::cuda::zeros_like;

// True if cuDNN computes convolutions and similar functions on CUDA: there is a device, cuDNN was found, and the
// environment variable CHAINER_CUDNN was not 0 at the first call.
CATENA_EXPORT bool cudnn_enabled();
// Throws a RuntimeError "CUDA is unavailable: <why>" unless there is a device. Warns (RuntimeWarning) once per program
// if cuDNN is not found although CHAINER_CUDNN does not disable it.
CATENA_EXPORT void check_cuda_available();

// Sets the limit in bytes for the workspace of one call of cuDNN, for the whole process; algorithms that need more are
// not used. Until it is set, every device has its default: a sixteenth of the memory that is free when it is first
// needed, at least 256 MiB and at most 1 GiB. (Chainer's default is 8 << 20.) Where there is not enough memory for a
// workspace, an algorithm that needs less is used. ValueError for a negative size. using_config({.max_workspace_size =
// ...}) sets another limit for a thread. get_max_workspace_size() returns the limit for this thread and its current
// device.
CATENA_EXPORT void set_max_workspace_size(std::int64_t size);
CATENA_EXPORT std::int64_t get_max_workspace_size();

}  // namespace autograd::cuda

namespace autograd {

// A device that a program has chosen by its name or number, in Chainer's spelling:
//   auto device = autograd::get_device("@cupy:0");     // or "@numpy", "cuda:1", 0, -1 for the host
//   device.use();  model.to_device(device);  nd::Array x = device.send(batch);
struct CATENA_EXPORT NamedDevice : Device {
  explicit NamedDevice(Device device) noexcept : Device(device) {}
  // Makes it the current device of this thread, on which new arrays are allocated. Errors as nd::set_device.
  void use() const;
  nd::Array send(const nd::Array& a) const;  // a itself when it is there
  std::string name() const;                  // "@numpy" or "@cupy:0"
};
// ValueError for other names.
CATENA_EXPORT NamedDevice get_device(std::string_view name);
CATENA_EXPORT NamedDevice get_device(int id);

}  // namespace autograd

// Where later versions of Chainer have these names.
namespace autograd::backends::cuda {
using namespace autograd::cuda;
}
namespace autograd::backend {
using nd::cuda::get_array_module;
}
