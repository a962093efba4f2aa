#include <catena/nn/link_hooks/weight_standardization.h>

#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>

namespace nn::link_hooks {

Variable WeightStandardization::weight(Link& link, const Variable& W) const {
  const Variable M = matrix(link, W);
  const Variable centered = M - autograd::mean(M, {1}, true);
  const Variable var = autograd::mean(autograd::square(centered), {1}, true);
  return as_weight(link, centered / autograd::sqrt(var + eps_), W);
}

}  // namespace nn::link_hooks
