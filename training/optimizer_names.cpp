// Members of Optimizer by PyTorch's names.
#include <catena/nn/serializers/state_dict.h>
#include <catena/training/optimizer.h>
#include <catena/training/schedules.h>

namespace training {

void Optimizer::set_lr(double value) { set_hyper(internal::hyper_to_set(*this, "", "set_lr"), value); }

nn::StateDict Optimizer::state_dict() { return nn::state_dict(*this); }
nn::LoadReport Optimizer::load_state_dict(const nn::StateDict& state) { return nn::load_state_dict(*this, state); }

}  // namespace training
