#include <catena/nn/link_hooks/spectral_normalization.h>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/link_parameters.h>

namespace nn::link_hooks {

using nn::internal::persistent_of;

namespace {

// x / max(|x|, eps)
Array normalized(const Array& x, double eps) {
  const Array norm = autograd::apply(catena::kernels::sqrt, {autograd::sum(x * x, {}, true)});
  return x / autograd::apply(catena::kernels::maximum, {norm, eps});
}

// Improves u (n, 1) and v (m, 1) for a matrix (n, m), in place.
void iterate(const Array& M, const Array& u, const Array& v, int times, double eps) {
  for (int i = 0; i < times; ++i) {
    autograd::assign(u, normalized(autograd::matmul(M, v), eps));
    autograd::assign(v, normalized(autograd::matmul(M, u, true), eps));
  }
}

}  // namespace

SpectralNormalization::SpectralNormalization(const Options& o) : WeightHook(o.weight_name, o.axis), options_(o) {
  catena::check<catena::ValueError>(o.n_power_iteration >= 1, name(), "n_power_iteration is ", o.n_power_iteration,
                                    "; at least 1 is needed");
  catena::check<catena::ValueError>(o.eps >= 0, name(), "eps is ", o.eps, "; it must not be negative");
}

void SpectralNormalization::prepare(Link& link, const Variable& W) const {
  constexpr int kFirstIterations = 15;
  const Array M = matrix(link, Variable(W.data())).data();
  const std::string u_name = weight_name() + "_u", v_name = weight_name() + "_v";
  if (persistent_of(link, u_name) == nullptr) {
    const auto random = [&](std::int64_t n) {
      return normalized(autograd::random_normal({n, 1}, 0.0, 1.0, M.dtype(), autograd::default_generator(), M.device()),
                        options_.eps);
    };
    const Array u = link.add_persistent(u_name, random(M.shape(0))).array();
    const Array v = link.add_persistent(v_name, random(M.shape(1))).array();
    iterate(M, u, v, kFirstIterations, options_.eps);
  }
  if (options_.use_gamma && !has_param(link, weight_name() + "_gamma"))
    link.add_param(weight_name() + "_gamma", {1},
                   Initializer(autograd::arrays::full({1}, options_.factor.value_or(1.0), W.dtype(), W.device())));
}

std::vector<std::string> SpectralNormalization::added_names() const {
  return {weight_name() + "_u", weight_name() + "_v", weight_name() + "_gamma"};
}

Variable SpectralNormalization::weight(Link& link, const Variable& W) const {
  // W may have got its shape outside of a call: from a file, or by initialize().
  if (persistent_of(link, weight_name() + "_u") == nullptr) prepare(link, W);
  const Array u = persistent_of(link, weight_name() + "_u")->array();
  const Array v = persistent_of(link, weight_name() + "_v")->array();
  const Variable M = matrix(link, W);
  if (autograd::internal::modes().train.now && autograd::internal::modes().recomputation == 0)
    iterate(M.data(), u, v, options_.n_power_iteration, options_.eps);
  // Copies, because the next call changes the vectors in place while the graph of this one may still be needed.
  const Variable left(autograd::reshape(autograd::copy(u), {1, u.size()})), right(autograd::copy(v));
  const Variable sigma = autograd::matmul(autograd::matmul(left, M), right);
  Variable result = M / autograd::broadcast_to(sigma, M.shape());
  if (options_.use_gamma) {
    const Variable gamma = link.param(weight_name() + "_gamma");
    result = result * autograd::broadcast_to(autograd::reshape(gamma, {1, 1}), M.shape());
  } else if (options_.factor) {
    result = result * *options_.factor;
  }
  return as_weight(link, result, W);
}

}  // namespace nn::link_hooks
