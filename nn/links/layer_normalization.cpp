#include <catena/nn/links/layer_normalization.h>

#include <string>

#include <catena/nn/link_hook.h>

namespace nn {
namespace {

// Returns the shape of parameters that the first call creates.
Shape last_axis(const Variable& x) {
  if (x.ndim() < 1) throw catena::InvalidType("x.ndim >= 1", "0 < 1");
  return {x.shape(x.ndim() - 1)};
}
std::string detail_of(const Variable& x, const Parameter& gamma) {
  return x ? internal::dtype_detail(x, gamma) : std::string();
}

}  // namespace

LayerNormalization::LayerNormalization(std::optional<int> size, const Options& o)
    : ScaleAndShift(Parameter(o.initial_gamma, {-1}), Parameter(o.initial_beta, {-1}), o.elementwise_affine,
                    o.elementwise_affine && o.bias),
      eps(o.eps),
      eps_added_to(o.eps_added_to),
      elementwise_affine(o.elementwise_affine),
      use_beta(o.elementwise_affine && o.bias) {
  name_params();
  if (size) {
    gamma.initialize({*size});
    beta.initialize({*size});
  }
  internal::place(*this, o.device, o.dtype);
}

void LayerNormalization::visit_declared(MemberVisitor& v) {
  Link::visit_declared(v);
  if (elementwise_affine) v.parameter("gamma", gamma);
  if (use_beta) v.parameter("beta", beta);
}

Variable LayerNormalization::operator()(const Variable& x) {
  update_handles();
  LinkCall called(*this, x);
  try {
    if (!gamma.is_initialized()) gamma.initialize(last_axis(x));
    if (!beta.is_initialized()) beta.initialize(gamma.shape());
    // A parameter that the link lacks is a constant on the device of x, because only parameters that are listed move.
    const Dtype dtype = elementwise_affine ? gamma.dtype() : x.dtype();
    const auto used = [&](bool is_there, const Parameter& p, double otherwise) {
      return is_there ? Variable(p)
                      : autograd::as_variable(autograd::arrays::full(p.shape(), otherwise, dtype, x.device()));
    };
    return called(
        layer_normalization(x, used(elementwise_affine, gamma, 1), used(use_beta, beta, 0), eps, eps_added_to));
  } catch (...) {
    internal::rethrow_at(*this, "LayerNormalization", elementwise_affine ? detail_of(x, gamma) : std::string());
  }
}

RMSNorm::RMSNorm(std::optional<int> size, const Options& o)
    : ScaleAndShift(Parameter(o.initial_gamma, {-1}), Parameter(), true, false), eps(o.eps) {
  name_params();
  if (size) gamma.initialize({*size});
  internal::place(*this, o.device, o.dtype);
}

Variable RMSNorm::operator()(const Variable& x) {
  update_handles();
  LinkCall called(*this, x);
  try {
    if (!gamma.is_initialized()) gamma.initialize(last_axis(x));
    return called(rms_normalization(x, gamma, eps));
  } catch (...) {
    internal::rethrow_at(*this, "RMSNorm", detail_of(x, gamma));
  }
}

}  // namespace nn
