// New values for parameters, as functions with the names of PyTorch's torch.nn.init. A layer takes an initializer as an
// option: Linear(4, 16, {.initialW = nn::HeNormal()}).
//
//   nn::init::kaiming_normal_(model.l1.W);
//   nn::init::zeros_(*model.l1.b);
//   for (const auto& [name, param] : model.named_parameters())
//     if (name.ends_with("weight")) nn::init::normal_(param, 0, 0.02);
#pragma once

#include <string_view>

#include <catena/kernels/base/named.h>
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

// Options of the functions whose argument they are: xavier_uniform_(w, {.gain = 2}).
struct GainOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double gain = 1;
};
struct NormalOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double mean = 0, std = 1;
};
struct UniformOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double a = 0, b = 1;
};
// N(mean, std^2) within [a, b].
struct TruncNormalOptions {
  double mean = 0, std = 1, a = -2, b = 2;
};
struct SparseOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double sparsity = 0, std = 0.01;
};

// gain times the deviation sqrt(2 / (fan_in + fan_out)), uniform or normal, where fan_in is the product of shape[1:]
// and fan_out shape[0] times the positions of the filter. (Glorot, Bengio: AISTATS 2010.)
inline void xavier_uniform_(const Variable& w, double gain = 1) {
  internal::fill("xavier_uniform_", w, initializers::XavierUniform(gain));
}
inline void xavier_normal_(const Variable& w, double gain = 1) {
  internal::fill("xavier_normal_", w, initializers::XavierNormal(gain));
}
inline void xavier_uniform_(const Variable& w, const GainOptions& o) { xavier_uniform_(w, o.gain); }
inline void xavier_normal_(const Variable& w, const GainOptions& o) { xavier_normal_(w, o.gain); }
// The deviation gain / sqrt(fan), uniform or normal, with the gain of leaky_relu of the slope a, which is that of relu
// by default: kaiming_normal_(w, {.mode = "fan_out", .nonlinearity = "relu"}). (He et al.: arXiv:1502.01852.)
using initializers::calculate_gain, initializers::KaimingOptions;
CATENA_EXPORT void kaiming_uniform_(const Variable& w, const KaimingOptions& options);
CATENA_EXPORT void kaiming_normal_(const Variable& w, const KaimingOptions& options);
inline void kaiming_uniform_(const Variable& w, double a = 0, std::string_view mode = "fan_in",
                             std::string_view nonlinearity = "leaky_relu") {
  kaiming_uniform_(w, KaimingOptions{.a = a, .mode = mode, .nonlinearity = nonlinearity});
}
inline void kaiming_normal_(const Variable& w, double a = 0, std::string_view mode = "fan_in",
                            std::string_view nonlinearity = "leaky_relu") {
  kaiming_normal_(w, KaimingOptions{.a = a, .mode = mode, .nonlinearity = nonlinearity});
}
CATENA_EXPORT void trunc_normal_(const Variable& w, const TruncNormalOptions& options = {});
inline void trunc_normal_(const Variable& w, double mean, double std = 1, double a = -2, double b = 2) {
  trunc_normal_(w, TruncNormalOptions{mean, std, a, b});
}
CATENA_EXPORT void uniform_(const Variable& w, double a = 0, double b = 1);  // U[a, b)
CATENA_EXPORT void normal_(const Variable& w, double mean = 0, double std = 1);
inline void uniform_(const Variable& w, const UniformOptions& o) { uniform_(w, o.a, o.b); }
inline void normal_(const Variable& w, const NormalOptions& o) { normal_(w, o.mean, o.std); }
inline void constant_(const Variable& w, double value) {
  internal::fill("constant_", w, initializers::Constant(value));
}
inline void zeros_(const Variable& w) { internal::fill("zeros_", w, initializers::Constant(0)); }
inline void ones_(const Variable& w) { internal::fill("ones_", w, initializers::Constant(1)); }
CATENA_EXPORT void eye_(const Variable& w);  // 1 on the diagonal of a matrix, else 0; ValueError for other ranks
// The filters with which a convolution keeps its first channels, for each group: w (out, in / groups, k1, ...) of one
// to three axes. ValueError for other ranks and unless the groups divide the outputs.
CATENA_EXPORT void dirac_(const Variable& w, int groups = 1);
// N(0, std^2) with the share `sparsity`, rounded up, of each column of a matrix set to 0. ValueError for other ranks
// and shares outside [0, 1].
CATENA_EXPORT void sparse_(const Variable& w, double sparsity, double std = 0.01);
inline void sparse_(const Variable& w, const SparseOptions& o) { sparse_(w, o.sparsity, o.std); }
inline void orthogonal_(const Variable& w, double gain = 1) {
  internal::fill("orthogonal_", w, initializers::Orthogonal(gain));
}
inline void orthogonal_(const Variable& w, const GainOptions& o) { orthogonal_(w, o.gain); }

// PyTorch's older names of these functions, which change w as well.
inline void xavier_uniform(const Variable& w, double gain = 1) { xavier_uniform_(w, gain); }
inline void xavier_uniform(const Variable& w, const GainOptions& o) { xavier_uniform_(w, o); }
inline void xavier_normal(const Variable& w, double gain = 1) { xavier_normal_(w, gain); }
inline void xavier_normal(const Variable& w, const GainOptions& o) { xavier_normal_(w, o); }
inline void kaiming_uniform(const Variable& w, const KaimingOptions& options) { kaiming_uniform_(w, options); }
inline void kaiming_uniform(const Variable& w, double a = 0, std::string_view mode = "fan_in",
                            std::string_view nonlinearity = "leaky_relu") {
  kaiming_uniform_(w, a, mode, nonlinearity);
}
inline void kaiming_normal(const Variable& w, const KaimingOptions& options) { kaiming_normal_(w, options); }
inline void kaiming_normal(const Variable& w, double a = 0, std::string_view mode = "fan_in",
                           std::string_view nonlinearity = "leaky_relu") {
  kaiming_normal_(w, a, mode, nonlinearity);
}
inline void uniform(const Variable& w, double a = 0, double b = 1) { uniform_(w, a, b); }
inline void uniform(const Variable& w, const UniformOptions& o) { uniform_(w, o); }
inline void normal(const Variable& w, double mean = 0, double std = 1) { normal_(w, mean, std); }
inline void normal(const Variable& w, const NormalOptions& o) { normal_(w, o); }
inline void constant(const Variable& w, double value) { constant_(w, value); }
inline void eye(const Variable& w) { eye_(w); }
inline void dirac(const Variable& w, int groups = 1) { dirac_(w, groups); }
inline void sparse(const Variable& w, double sparsity, double std = 0.01) { sparse_(w, sparsity, std); }
inline void sparse(const Variable& w, const SparseOptions& o) { sparse_(w, o); }
inline void orthogonal(const Variable& w, double gain = 1) { orthogonal_(w, gain); }
inline void orthogonal(const Variable& w, const GainOptions& o) { orthogonal_(w, o); }

}  // namespace init
}  // namespace nn
