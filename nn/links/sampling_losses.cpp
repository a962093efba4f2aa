#include <catena/nn/links/sampling_losses.h>

#include <cmath>

#include <catena/nn/links/filters.h>

namespace nn {
namespace {

// In float32, as the reference computes them.
std::vector<double> powers(const std::vector<double>& counts, double power) {
  std::vector<double> result;
  for (const double c : counts) result.push_back(double(std::pow(float(c), float(power))));
  return result;
}

void check_sample_size(const char* op, int n) {
  catena::check<catena::ValueError>(n >= 0, op, "sample_size is ", n, " and must not be negative");
}

}  // namespace

NegativeSampling::NegativeSampling(int in_size, const std::vector<double>& counts, int samples, double power)
    : W(0.0, {std::int64_t(counts.size()), in_size}), alias(powers(counts, power)), sample_size(samples) {
  check_sample_size("NegativeSampling", samples);
  name_params();
}

Variable NegativeSampling::operator()(const Variable& x, const Variable& t, const Summed& o) {
  try {
    return negative_sampling(x, t, W, sampler ? sampler : Sampler(alias), sample_size, o);
  } catch (...) {
    internal::rethrow_at(*this, "NegativeSampling", x ? internal::dtype_detail(x, W) : std::string());
  }
}

BlackOut::BlackOut(int in_size, const std::vector<double>& counts, int samples)
    : W(scaled_initializer({}, 1.0), {std::int64_t(counts.size()), in_size}), alias(counts), sample_size(samples) {
  check_sample_size("BlackOut", samples);
  name_params();
}

Variable BlackOut::operator()(const Variable& x, const Variable& t, const Averaged& o) {
  try {
    internal::check_ndim(x, 2);
    const Shape shape{x.shape(0), sample_size};
    const Array drawn = autograd::to_device(sampler ? sampler(shape) : alias(shape), x.device());
    return black_out(x, t, W, Variable(drawn), o);
  } catch (...) {
    internal::rethrow_at(*this, "BlackOut", x ? internal::dtype_detail(x, W) : std::string());
  }
}

}  // namespace nn
