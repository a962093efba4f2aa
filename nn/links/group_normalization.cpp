#include <catena/nn/links/group_normalization.h>

#include <string>

#include <catena/nn/link_hook.h>
#include <catena/nn/links/filters.h>

namespace nn {
namespace {

std::int64_t channels_of(const Variable& x) {
  if (x.ndim() < 2) throw catena::InvalidType("x.ndim >= 2", catena::concat(x.ndim(), " < 2"));
  return x.shape(1);
}

}  // namespace

GroupNormalization::GroupNormalization(int num_groups, std::optional<int> size, const Options& o)
    : ScaleAndShift(Parameter(o.initial_gamma, {-1}), Parameter(o.initial_beta, {-1}), o.affine, o.affine),
      groups(num_groups),
      affine(o.affine),
      eps(o.eps) {
  name_params();
  internal::grouped("GroupNormalization", "size", size.value_or(0), groups);
  if (size && affine) initialize(*size, "GroupNormalization");
  internal::place(*this, o.device, o.dtype);
}

void GroupNormalization::visit_declared(MemberVisitor& v) {
  Link::visit_declared(v);
  if (!affine) return;
  v.parameter("gamma", gamma);
  v.parameter("beta", beta);
}

void GroupNormalization::initialize(std::int64_t size, const char* where) {
  internal::grouped(where, "size", size, groups);
  if (!gamma.is_initialized()) gamma.initialize({size});
  if (!beta.is_initialized()) beta.initialize({size});
}

Variable GroupNormalization::operator()(const Variable& x) {
  update_handles();
  LinkCall called(*this, x);
  try {
    if (!affine) return called(group_normalization(x, groups, {}, {}, eps));
    if (!gamma.is_initialized() || !beta.is_initialized()) initialize(channels_of(x), internal::kFirstCall);
    return called(group_normalization(x, groups, gamma, beta, eps));
  } catch (...) {
    internal::rethrow_at(*this, "GroupNormalization", x && affine ? internal::dtype_detail(x, gamma) : std::string());
  }
}

InstanceNormalization::InstanceNormalization(std::optional<int> size, const Options& o)
    : ScaleAndShift({}, {}), eps(o.eps) {
  catena::check<catena::NotImplementedError>(!o.track_running_stats, "InstanceNormalization",
                                             "track_running_stats is true, but there are no running statistics");
  if (o.affine) {
    gamma.emplace(o.initial_gamma, Shape{-1});
    beta.emplace(o.initial_beta, Shape{-1});
    refer_handles();
  }
  name_params();
  if (size && gamma) {
    gamma->initialize({*size});
    beta->initialize({*size});
  }
  internal::place(*this, o.device, o.dtype);
}

Variable InstanceNormalization::operator()(const Variable& x) {
  update_handles();
  LinkCall called(*this, x);
  try {
    if (!gamma) return called(instance_normalization(x, {}, {}, eps));
    if (!gamma->is_initialized()) gamma->initialize({channels_of(x)});
    if (!beta->is_initialized()) beta->initialize({channels_of(x)});
    return called(instance_normalization(x, *gamma, *beta, eps));
  } catch (...) {
    internal::rethrow_at(*this, "InstanceNormalization",
                         x && gamma ? internal::dtype_detail(x, *gamma) : std::string());
  }
}

}  // namespace nn
