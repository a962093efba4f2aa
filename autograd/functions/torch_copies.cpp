#include <catena/autograd/functions/torch_copies.h>

#include <algorithm>
#include <limits>

#include <catena/autograd/array.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>

namespace autograd {

using catena::check;
using catena::normalize_axis;
using catena::ValueError;

Variables internal::cloned(const Variables& xs) {
  Variables copies;
  for (const Variable& x : xs) copies.push_back(x.clone());
  return copies;
}

namespace {

// The reduction of scatter_reduce, and the result for an empty part.
struct SegmentRule {
  std::string_view reduce;
  double empty;
};
SegmentRule segment_rule(std::string_view reduce) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  if (reduce == "sum") return {"sum", 0};
  if (reduce == "mean") return {"mean", std::numeric_limits<double>::quiet_NaN()};
  if (reduce == "max") return {"amax", -inf};
  if (reduce == "min") return {"amin", inf};
  check<ValueError>(reduce == "prod", "segment_reduce", "reduce is \"", reduce,
                    "\"; it must be \"sum\", \"mean\", \"max\", \"min\" or \"prod\"");
  return {"prod", 1};
}

// The part of each position of an axis of length n. `parts` becomes the number of parts.
std::vector<std::int64_t> parts_of(const SegmentOptions& o, std::int64_t n, std::int64_t& parts) {
  check<ValueError>(bool(o.lengths) != bool(o.offsets), "segment_reduce", "one of lengths and offsets must be given");
  const Variable& given = o.lengths ? o.lengths : o.offsets;
  check<ValueError>(given.ndim() == 1, "segment_reduce", "lengths or offsets have the shape ", given.shape(),
                    ", their rank must be 1");
  std::vector<std::int64_t> lengths = to_vector<std::int64_t>(astype(given.data(), Dtype::int64));
  if (o.offsets) {
    check<ValueError>(!lengths.empty() && lengths[0] == 0, "segment_reduce", "the first offset is not 0");
    for (std::size_t i = 0; i + 1 < lengths.size(); ++i) lengths[i] = lengths[i + 1] - lengths[i];
    lengths.pop_back();
  }
  parts = std::int64_t(lengths.size());
  std::vector<std::int64_t> part;
  for (std::int64_t i = 0; i < parts; ++i) {
    check<ValueError>(lengths[i] >= 0, "segment_reduce", "part ", i, " has the length ", lengths[i]);
    part.insert(part.end(), std::size_t(lengths[i]), i);
  }
  check<ValueError>(std::int64_t(part.size()) == n, "segment_reduce", "the lengths add up to ", part.size(),
                    ", the axis has the length ", n);
  return part;
}

}  // namespace

Variable segment_reduce(const Variable& x, std::string_view reduce, const SegmentOptions& o) {
  const SegmentRule rule = segment_rule(reduce);
  check<catena::TypeError>(x.is_floating_point(), "segment_reduce", "the dtype is ", x.dtype(),
                           ", it must be floating");
  const int axis = normalize_axis("segment_reduce", o.axis, x.ndim());
  const std::int64_t n = x.shape(axis);
  std::int64_t parts = 0;
  const std::vector<std::int64_t> part = parts_of(o, n, parts);
  Shape along = Shape::filled(x.ndim(), 1), result = x.shape();
  along[axis] = n, result[axis] = parts;
  const Variable index = broadcast_to(as_variable(reshape(array(part, {n}, x.device()), along)), x.shape());
  const Variable base(arrays::full(result, o.initial.value_or(rule.empty), x.dtype(), x.device()),
                      {.requires_grad = false});
  const bool is_mean = rule.reduce == "mean";
  const Variable y = scatter_reduce(base, axis, index, x, rule.reduce, {.include_self = o.initial && !is_mean});
  if (!is_mean || !o.initial) return y;
  // The initial value is one of the summands, which the divisor does not count.
  std::vector<double> shares(std::size_t(parts), 0.0);
  for (const std::int64_t i : part) shares[std::size_t(i)] += 1;
  for (double& share : shares) share = share > 0 ? *o.initial / share : 0;
  along[axis] = parts;
  return y + astype(reshape(array(shares, {parts}, x.device()), along), x.dtype());
}

Variable norm_except_dim(const Variable& v, double p, int dim) {
  if (dim == -1) return vector_norm(v, {.ord = p});
  const int kept = normalize_axis("norm_except_dim", dim, v.ndim());
  std::vector<int> axes;
  for (int i = 0; i < v.ndim(); ++i)
    if (i != kept) axes.push_back(i);
  return vector_norm(v, {.ord = p, .axis = axes, .keepdims = true});
}

}  // namespace autograd
