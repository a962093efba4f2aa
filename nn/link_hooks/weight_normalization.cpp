#include <catena/nn/link_hooks/weight_normalization.h>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>

namespace nn::link_hooks {

WeightNormalization::WeightNormalization(const Options& o) : WeightHook(o.weight_name, o.axis), axis_(o.axis) {}

std::vector<std::string> WeightNormalization::added_names() const { return {weight_name() + "_g"}; }

Variable WeightNormalization::norm(const Link& link, const Variable& W) const {
  if (!axis_) return autograd::sqrt(autograd::sum(autograd::square(W)));
  const int axis = axis_of(link, W);
  std::vector<int> others;
  for (int k = 0; k < W.ndim(); ++k)
    if (k != axis) others.push_back(k);
  if (others.empty()) return autograd::sqrt(autograd::square(W));  // an empty list of axes would be all of them
  return autograd::sqrt(autograd::sum(autograd::square(W), autograd::Axes(others), true));
}

void WeightNormalization::prepare(Link& link, const Variable& W) const {
  const std::string name = weight_name() + "_g";
  if (!has_param(link, name)) link.add_param(name, Parameter(autograd::copy(norm(link, Variable(W.data())).data())));
}

Variable WeightNormalization::weight(Link& link, const Variable& W) const {
  // W may have got its shape outside of a call: from a file, or by initialize().
  if (!has_param(link, weight_name() + "_g")) prepare(link, W);
  const Variable g = link.param(weight_name() + "_g");
  return W * autograd::broadcast_to(g / norm(link, W), W.shape());
}

}  // namespace nn::link_hooks
