#include <catena/nn/links/sampling_losses.h>

#include <cmath>

#include <catena/nn/link_hook.h>
#include <catena/nn/links/filters.h>

namespace nn {

// ---- common parts -------------------------------------------------------------------------------
internal::SampledLoss::SampledLoss(const char* link, Initializer initializer, int in_size,
                                   const std::vector<double>& weights, int samples)
    : W(std::move(initializer), {std::int64_t(weights.size()), in_size}), alias(weights), sample_size(samples) {
  catena::check<catena::ValueError>(samples >= 0, link, "sample_size is ", samples, " and must not be negative");
  name_params();
}

Variable internal::SampledLoss::located(const char* link, const Variable& x,
                                        const catena::Function<Variable()>& loss) const {
  try {
    return loss();
  } catch (...) {
    rethrow_at(*this, link, x ? dtype_detail(x, W) : std::string());
  }
}

// ---- the losses ---------------------------------------------------------------------------------
namespace {

// Computed in float32, as in Chainer.
std::vector<double> powers(const std::vector<double>& counts, double power) {
  std::vector<double> result;
  for (const double c : counts) result.push_back(double(std::pow(float(c), float(power))));
  return result;
}

}  // namespace

NegativeSampling::NegativeSampling(int in_size, const internal::Counts& counts, int samples, double power)
    : SampledLoss("NegativeSampling", 0.0, in_size, powers(counts.values(), power), samples) {}

Variable NegativeSampling::operator()(const Variable& x, const Variable& t, const Summed& o) {
  LinkCall called(*this, x, t);
  return called(located("NegativeSampling", x, [&] {
    return negative_sampling(x, t, W, sampler ? sampler : Sampler(alias), sample_size, o);
  }));
}

BlackOut::BlackOut(int in_size, const internal::Counts& counts, int samples)
    : SampledLoss("BlackOut", scaled_initializer({}, 1.0), in_size, counts.values(), samples) {}

Variable BlackOut::operator()(const Variable& x, const Variable& t, const Averaged& o) {
  LinkCall called(*this, x, t);
  return called(located("BlackOut", x, [&] {
    internal::check_ndim(x, 2);
    const Shape shape{x.shape(0), sample_size};
    const Array drawn = autograd::to_device(sampler ? sampler(shape) : alias(shape), x.device());
    return black_out(x, t, W, Variable(drawn), o);
  }));
}

}  // namespace nn
