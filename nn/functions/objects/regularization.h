// The classes of noise (noise.h) and normalization (normalization.h).
#pragma once

#include <catena/nn/functions/objects/function_object.h>

namespace nn::functions {

struct CATENA_EXPORT Dropout : FunctionObjectOf<Variable> {
  explicit Dropout(double dropout_ratio);
  const Array& mask() const { return kept(0); }
};
struct CATENA_EXPORT Gaussian : FunctionObjectOf<Variable> {
  explicit Gaussian();
  const Array& eps() const { return kept(0); }
};
struct CATENA_EXPORT SimplifiedDropconnect : FunctionObjectOf<Variable> {
  explicit SimplifiedDropconnect(double ratio, const Array& mask = Array());
  const Array& mask() const { return kept(0); }
};
struct CATENA_EXPORT Zoneout : FunctionObjectOf<Variable> {
  explicit Zoneout(double zoneout_ratio);
  const Array& keep() const { return kept(0); }
};

struct CATENA_EXPORT BatchNormalizationFunction : FunctionObjectOf<Variable> {
  explicit BatchNormalizationFunction(double eps = 2e-5, const Array& mean = Array(), const Array& var = Array(),
                                      bool train = false, double decay = 0.9, bool use_cudnn = true);
  const Array& running_mean() const { return kept(0); }
  const Array& running_var() const { return kept(1); }
};
// The function normalize.
struct CATENA_EXPORT NormalizeL2 : FunctionObjectOf<Variable> {
  explicit NormalizeL2(double eps = 1e-5, const Axes& axis = 1);
};
struct CATENA_EXPORT LocalResponseNormalization : FunctionObjectOf<Variable> {
  explicit LocalResponseNormalization(int n = 5, double k = 2, double alpha = 1e-4, double beta = 0.75);
};

}  // namespace nn::functions
