// A hook with which a BatchNormalization normalizes otherwise in training, such as with statistics over several models
// that are called together (training/multi_node). For classes of the library.
#pragma once

#include <catena/nn/functions/normalization.h>
#include <catena/nn/link_hook.h>

namespace nn::internal {

class CATENA_EXPORT BatchFunctionHook : public LinkHook {
 public:
  // As moving_batch_normalization(): the averages are written to options.running_mean and options.running_var.
  virtual Variable normalize(const Variable& x, const Variable& gamma, const Variable& beta,
                             const BatchNormalizationOptions& options) const = 0;
};

// The hook of this kind that the link has; null if there is none.
CATENA_EXPORT const BatchFunctionHook* batch_function_of(const Link& link) noexcept;

}  // namespace nn::internal
