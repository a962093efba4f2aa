#include <catena/autograd/array_reader.h>
#include <catena/autograd/backend/backend.h>

#include <vector>

namespace autograd {

Array array_from_reader(Backend& backend, const Shape& shape, Dtype dtype, Device device, const ByteReader& read) {
  if (ReaderExtension* const reader = backend.extension<ReaderExtension>(device))
    return reader->array_from_reader(shape, dtype, device, read);
  std::vector<std::byte> bytes(static_cast<std::size_t>(catena::checked_size(shape)) * catena::itemsize(dtype));
  if (!bytes.empty()) read(bytes.data(), bytes.size());
  return backend.from_host(bytes.data(), shape, dtype, device);
}

}  // namespace autograd
