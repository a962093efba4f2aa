#include <catena/autograd/functions/torch_names.h>

#include <algorithm>

#include <catena/autograd/promotion.h>

namespace autograd {

Variable cat(const Variables& xs, int dim) {
  if (std::any_of(xs.begin(), xs.end(), [](const Variable& x) { return !x; })) return concat(xs, dim);
  const auto differs = [&](const Variable& x) { return x.dtype() != xs[0].dtype(); };
  if (std::none_of(xs.begin(), xs.end(), differs)) return concat(xs, dim);
  // A real number made complex would lose its gradient, so concat refuses the mixture.
  if (std::any_of(xs.begin(), xs.end(), [](const Variable& x) { return x.is_complex(); })) return concat(xs, dim);
  Dtype common = xs[0].dtype();
  for (const Variable& x : xs) common = internal::promoted(common, x.dtype());
  Variables same;
  for (const Variable& x : xs) same.push_back(cast(x, common));
  return concat(same, dim);
}

}  // namespace autograd
