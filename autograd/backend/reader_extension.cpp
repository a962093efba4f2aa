#include <catena/autograd/backend/reader_extension.h>

namespace autograd {

ReaderExtension::~ReaderExtension() = default;

}  // namespace autograd
