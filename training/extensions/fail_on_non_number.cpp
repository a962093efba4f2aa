#include <catena/training/extensions/fail_on_non_number.h>

#include <catena/kernels/base/error.h>
#include <catena/training/non_number.h>

namespace training {

void FailOnNonNumber::operator()(Trainer& trainer) {
  std::optional<std::string> found = internal::loss_that_is_no_number(trainer, true);
  if (!found) found = internal::parameter_that_is_no_number(trainer);
  if (found)
    catena::fail<catena::RuntimeError>("FailOnNonNumber", *found, " after iteration ", trainer.updater().iteration());
}

}  // namespace training
