#include <catena/autograd/backend/stream_extension.h>

namespace autograd {

StreamExtension::~StreamExtension() = default;
StreamExtension::Point::~Point() = default;
StreamExtension::Stream::~Stream() = default;

}  // namespace autograd
