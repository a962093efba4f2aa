#include <catena/autograd/backend/comm_extension.h>

#include <catena/kernels/base/error.h>

namespace autograd {

CommExtension::~CommExtension() = default;
CommExtension::Group::~Group() = default;
CommExtension::Rank::~Rank() = default;

std::string CommExtension::new_group_id() { return {}; }
catena::Owned<CommExtension::Rank> CommExtension::join(const std::string&, int, int, Device,
                                                       const catena::Function<void()>&) {
  catena::fail<catena::NotImplementedError>("CommExtension::join", "this backend connects devices of one process only");
}

}  // namespace autograd
