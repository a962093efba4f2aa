#include <catena/ndarray/chainer_cuda/transfer.h>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/warning.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/manipulation.h>

namespace nd::cuda {

using catena::check;

namespace internal {

Device device_of_first(std::initializer_list<catena::HeaderRef> arrays) {
  for (const catena::HeaderRef& a : arrays)
    if (a && a->size != 0 && a->device.kind == nd::Device::Kind::cuda) return Device(a->device);
  return DummyDevice;
}

void warn_of_get_device() {
  catena::warn("DeprecationWarning",
               "cuda.get_device is deprecated. Use get_device_from_id or get_device_from_array instead.");
}

}  // namespace internal

namespace {

void check_stream(std::string_view op, const std::optional<Stream>& stream, nd::Device device) {
  check<ValueError>(!stream || stream->device() == device, op, "the stream is of ", stream ? stream->device() : device,
                    ", the work is on ", device);
}

// Makes the stream the current stream of its device until the end of the scope.
class OnStream {
 public:
  explicit OnStream(const std::optional<Stream>& stream) {
    if (stream) scope_.emplace(*stream);
  }

 private:
  std::optional<StreamScope> scope_;
};

}  // namespace

Array to_gpu(const Array& array, std::optional<Device> device, std::optional<Stream> stream) {
  check<TypeError>(!array.is_null(), "to_gpu", "the array is null");
  check_available();
  if (!device) device = Device();
  else check<ValueError>(!device->is_dummy(), "to_gpu", "the DummyDevice is no CUDA device");
  if (device->is_dummy()) device = Device(0);
  const nd::Device to = *device;
  nd::properties(to);  // throws for a device that does not exist
  if (array.device() == to) return array;
  check_stream("to_gpu", stream, to);
  const OnStream on(stream);
  const DeviceScope current(to);
  const Array result = nd::empty(array.shape(), array.dtype());
  nd::copyto(result, array);
  return result;
}

Array to_cpu(const Array& array, std::optional<Stream> stream) {
  check<TypeError>(!array.is_null(), "to_cpu", "the array is null");
  if (array.device().kind == nd::Device::Kind::cpu) return array;
  if (!stream) return array.to_host();
  check_stream("to_cpu", stream, array.device());
  return array.to_host(*stream);
}

Array copy(const Array& array, const CopyOptions& options) {
  check<TypeError>(!array.is_null(), "copy", "the array is null");
  const nd::Device from = array.device();
  const nd::Device to = !options.out.is_null() ? options.out.device()
                        : options.out_device   ? nd::Device(*options.out_device)
                                               : from;
  const nd::Device worker = to.kind == nd::Device::Kind::cpu ? from : to;
  check_stream("copy", options.stream, worker);
  const OnStream on(options.stream);
  Array out = options.out;
  if (out.is_null()) {
    const DeviceScope current(to);
    out = nd::empty(array.shape(), array.dtype());
  }
  nd::copyto(out, array);
  return out;
}

}  // namespace nd::cuda
