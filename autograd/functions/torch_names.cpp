#include <catena/autograd/functions/torch_names.h>

#include <algorithm>
#include <optional>

namespace autograd {
namespace {

bool is_whole(Dtype dtype) { return !catena::is_floating(dtype) && !catena::is_complex_dtype(dtype); }

}  // namespace

Variable cat(const Variables& xs, int dim) {
  const auto differs = [&](const Variable& x) { return x && xs[0] && x.dtype() != xs[0].dtype(); };
  if (std::none_of(xs.begin(), xs.end(), differs)) return concat(xs, dim);
  const bool whole = std::all_of(xs.begin(), xs.end(), [](const Variable& x) { return !x || is_whole(x.dtype()); });
  std::optional<Dtype> common;
  for (const Variable& x : xs) {
    if (x && is_whole(x.dtype()) == whole) common = common ? catena::promote_types(*common, x.dtype()) : x.dtype();
  }
  Variables same;
  for (const Variable& x : xs) same.push_back(x ? cast(x, *common) : x);
  return concat(same, dim);
}

}  // namespace autograd
