#include <catena/training/communicators/transport.h>

namespace training::communicators {

TimeoutError::~TimeoutError() = default;
Transport::~Transport() = default;
Transport::Request::~Request() = default;

}  // namespace training::communicators
