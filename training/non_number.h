// Losses and parameters that are NaN or infinite. Internal to training and training/extensions.
#pragma once

#include <optional>
#include <string>

#include <catena/training/trainer.h>

namespace training::internal {

// "main/loss is nan", for the first reported loss that is no finite number. A loss is a value whose key ends in "loss";
// where none is reported, the last losses of the optimizers are looked at. Values that are not on the CPU only with
// `wait`: reading them waits for their device.
CATENA_EXPORT std::optional<std::string> loss_that_is_no_number(Trainer& trainer, bool wait);

// "the parameter /l1/W of the optimizer main holds NaN or infinity", for the first such parameter. Waits for the
// devices once, unless there is one.
CATENA_EXPORT std::optional<std::string> parameter_that_is_no_number(Trainer& trainer);

}  // namespace training::internal
