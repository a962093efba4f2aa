#include <catena/autograd/backend/comm_extension.h>

namespace autograd {

CommExtension::~CommExtension() = default;
CommExtension::Group::~Group() = default;

}  // namespace autograd
