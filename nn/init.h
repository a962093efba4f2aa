// New values for parameters, as functions with the names of PyTorch's torch.nn.init. A layer takes an initializer as an
// option: Linear(4, 16, {.initialW = nn::HeNormal()}).
//
//   nn::init::kaiming_normal_(model.l1.W);
//   nn::init::zeros_(*model.l1.b);
//   for (const auto& [name, param] : model.named_parameters())
//     if (name.ends_with("weight")) nn::init::normal_(param, 0, 0.02);
#pragma once

#include <catena/nn/initializer.h>
#include <catena/nn/parameter.h>

namespace nn {

// Initializers as names of nn, where no layer has the name.
using initializers::GlorotNormal;
using initializers::GlorotUniform;
using initializers::HeNormal;
using initializers::HeUniform;
using initializers::LeCunUniform;
using initializers::Orthogonal;

namespace init {

namespace internal {
// Fills the data of a variable in place. ValueError for one that has no data yet.
CATENA_EXPORT void fill(const char* name, const Variable& w, const Initializer& initializer);
}  // namespace internal

// gain times the deviation sqrt(2 / (fan_in + fan_out)), uniform or normal, where fan_in is the product of shape[1:]
// and fan_out shape[0] times the positions of the filter. (Glorot, Bengio: AISTATS 2010.)
inline void xavier_uniform_(const Variable& w, double gain = 1) {
  internal::fill("xavier_uniform_", w, initializers::XavierUniform(gain));
}
inline void xavier_normal_(const Variable& w, double gain = 1) {
  internal::fill("xavier_normal_", w, initializers::XavierNormal(gain));
}
// gain times the deviation 1 / sqrt(fan_in), uniform or normal; the gain is that of relu by default. (He et al.:
// arXiv:1502.01852.)
inline void kaiming_uniform_(const Variable& w, double gain = 1.4142135623730951) {
  internal::fill("kaiming_uniform_", w, initializers::LeCunUniform(gain));
}
inline void kaiming_normal_(const Variable& w, double gain = 1.4142135623730951) {
  internal::fill("kaiming_normal_", w, initializers::LeCunNormal(gain));
}
// The same by PyTorch's options: kaiming_normal_(w, {.mode = "fan_out", .nonlinearity = "relu"}).
using initializers::calculate_gain, initializers::KaimingOptions;
inline void kaiming_uniform_(const Variable& w, const KaimingOptions& options) {
  internal::fill("kaiming_uniform_", w, initializers::KaimingUniform(options));
}
inline void kaiming_normal_(const Variable& w, const KaimingOptions& options) {
  internal::fill("kaiming_normal_", w, initializers::KaimingNormal(options));
}
// N(mean, std^2) within [a, b].
struct TruncNormalOptions {
  double mean = 0, std = 1, a = -2, b = 2;
};
CATENA_EXPORT void trunc_normal_(const Variable& w, const TruncNormalOptions& options = {});
CATENA_EXPORT void uniform_(const Variable& w, double a = 0, double b = 1);  // U[a, b)
CATENA_EXPORT void normal_(const Variable& w, double mean = 0, double std = 1);
inline void constant_(const Variable& w, double value) {
  internal::fill("constant_", w, initializers::Constant(value));
}
inline void zeros_(const Variable& w) { internal::fill("zeros_", w, initializers::Constant(0)); }
inline void ones_(const Variable& w) { internal::fill("ones_", w, initializers::Constant(1)); }
inline void eye_(const Variable& w) { internal::fill("eye_", w, initializers::Identity()); }  // square matrices
inline void orthogonal_(const Variable& w, double gain = 1) {
  internal::fill("orthogonal_", w, initializers::Orthogonal(gain));
}

}  // namespace init
}  // namespace nn
