// Detects losses and parameters that are NaN or infinite. Internal to training and training/extensions.
#pragma once

#include <optional>
#include <string>

#include <catena/training/trainer.h>

namespace training::internal {

// Returns "main/loss is nan" for the first reported loss that is not finite. A loss is a value whose key ends in
// "loss"; if none is reported, the last losses of the optimizers are checked. Values that are not on the CPU are
// checked only with `wait`, because reading them waits for their device.
CATENA_EXPORT std::optional<std::string> loss_that_is_no_number(Trainer& trainer, bool wait);

// Returns "the parameter /l1/W of the optimizer main holds NaN or infinity" for the first such parameter. If there is
// none, it waits for the devices only once.
CATENA_EXPORT std::optional<std::string> parameter_that_is_no_number(Trainer& trainer);

}  // namespace training::internal
