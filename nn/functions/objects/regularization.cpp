#include <catena/nn/functions/objects/regularization.h>

#include <catena/nn/functions/noise.h>
#include <catena/nn/functions/normalization.h>
#include <catena/nn/functions/objects/arguments.h>

namespace nn::functions {

namespace {

Variable dropped(Arrays& kept, const Variable& x, double ratio) {
  const DropoutResult r = dropout_with_mask(x, {.ratio = ratio, .train = true, .mask = draw_of(kept)});
  kept = {r.mask};
  return r.y;
}
Variable gaussian_sample(Arrays& kept, const Variable& mean, const Variable& ln_var) {
  const GaussianResult r = gaussian(mean, ln_var, draw_of(kept), return_eps);
  kept = {r.eps};
  return r.y;
}
Variable disconnected(Arrays& kept, const Variables& x, double ratio, const Array& mask) {
  const DropconnectOptions o{.ratio = ratio, .train = true, .mask = kept.empty() ? mask : kept[0]};
  const DropconnectResult r = simplified_dropconnect(x[0], x[1], at(x, 2), o, return_mask);
  kept = {r.mask};
  return r.y;
}
Variable zoned_out(Arrays& kept, const Variable& h, const Variable& x, double ratio) {
  const ZoneoutResult r = zoneout(h, x, {.ratio = ratio, .train = true, .keep = draw_of(kept)}, return_keep);
  kept = {r.keep};
  return r.y;
}
// Uses the statistics of the batch in training; else inputs 3 and 4, or the running averages of the object.
Variable normalized(Arrays& kept, const Variables& x, const BatchNormalizationOptions& o, bool train) {
  constexpr const char* op = "BatchNormalizationFunction";
  if (x.size() == 4)
    throw catena::InvalidType("in_types.size() == 3 or in_types.size() == 5", "in_types.size() == 4",
                              catena::concat("Invalid operation is performed in: ", op, " (Forward)\n\n"));
  if (train) {
    catena::check<catena::ValueError>(x.size() == 3, op, "in training there are no inputs mean and var");
    const BatchNormalizationResult r = batch_normalization(x[0], x[1], x[2], o, return_statistics);
    kept = {r.running_mean, r.running_var};
    return r.y;
  }
  kept = {o.running_mean, o.running_var};
  const FixedBatchNormalizationOptions fixed{.eps = o.eps, .use_cudnn = o.use_cudnn};
  if (x.size() == 5) return fixed_batch_normalization(x[0], x[1], x[2], x[3], x[4], fixed);
  catena::check<catena::ValueError>(o.running_mean && o.running_var, op,
                                    "without training, mean and var must be given: as inputs, or to the constructor");
  return fixed_batch_normalization(x[0], x[1], x[2], o.running_mean, o.running_var, fixed);
}

}  // namespace

Dropout::Dropout(double dropout_ratio)
    : FunctionObjectOf("Dropout", {1}, node,
                       [=](const Variables& x, Arrays& kept) { return dropped(kept, x[0], dropout_ratio); }) {}
Gaussian::Gaussian()
    : FunctionObjectOf("Gaussian", {2}, composed,
                       [](const Variables& x, Arrays& kept) { return gaussian_sample(kept, x[0], x[1]); }) {}
SimplifiedDropconnect::SimplifiedDropconnect(double ratio, const Array& mask)
    : FunctionObjectOf("SimplifiedDropconnect", {2, 3}, composed,
                       [=](const Variables& x, Arrays& kept) { return disconnected(kept, x, ratio, mask); }) {}
Zoneout::Zoneout(double zoneout_ratio)
    : FunctionObjectOf("Zoneout", {2}, composed,
                       [=](const Variables& x, Arrays& kept) { return zoned_out(kept, x[0], x[1], zoneout_ratio); }) {}

BatchNormalizationFunction::BatchNormalizationFunction(double eps, const Array& mean, const Array& var, bool train,
                                                       double decay, bool use_cudnn)
    : FunctionObjectOf("BatchNormalizationFunction", {3, 5}, node, [=](const Variables& x, Arrays& kept) {
        return normalized(
            kept, x,
            {.eps = eps, .running_mean = mean, .running_var = var, .decay = decay, .use_cudnn = if_false(use_cudnn)},
            train);
      }) {}
NormalizeL2::NormalizeL2(double eps, const Axes& axis)
    : FunctionObjectOf("NormalizeL2", {1}, composed, [=](const Variables& x) { return normalize(x[0], eps, axis); }) {}
LocalResponseNormalization::LocalResponseNormalization(int n, double k, double alpha, double beta)
    : FunctionObjectOf("LocalResponseNormalization", {1}, composed, [=](const Variables& x) {
        return local_response_normalization(x[0], {.n = n, .k = k, .alpha = alpha, .beta = beta});
      }) {}

}  // namespace nn::functions
