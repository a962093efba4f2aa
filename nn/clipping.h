// Gradient clipping for loops without an optimizer, or between backward and update. As hooks of an optimizer, which run
// in one launch and can be captured: training/optimizer_hooks.h.
//
//   loss.backward();
//   const double norm = nn::clip_grad_norm(model, 1.0);
//   optimizer.update();
//
// Gradients that are null and those of frozen parameters are left out. Gradients become new arrays where they change.
#pragma once

#include <concepts>
#include <optional>
#include <vector>

#include <catena/nn/link.h>

namespace nn {

// The treatment of a norm that is infinite or NaN:
//   propagate  scale by threshold / norm, as for any other norm, as PyTorch does by default: gradients become 0 or NaN
//   error      throw a ValueError that names the first parameter whose gradient is not finite; nothing has changed
//   skip       leave the gradients as they are; the returned norm shows it
enum class NonFinite { propagate, error, skip };

struct ClipGradOptions {
  double norm_type = 2;  // the p of the norm; infinity: the greatest absolute value
  NonFinite non_finite = NonFinite::propagate;
  // PyTorch's options: NonFinite::error, and a choice between implementations, which has no effect.
  bool error_if_nonfinite = false;
  std::optional<bool> foreach = {};
};

// Returns the L2 norm of all gradients together, summed in float64, as a 0-d float64 array on the device of the first
// one; nothing waits for the device.
CATENA_EXPORT Array grads_norm(const Variables& params);
CATENA_EXPORT Array grads_norm(const Link& link);

// Multiplies all gradients by max_norm / norm if their common norm is greater than max_norm, and returns the norm of
// before, 0 without gradients. (PyTorch's clip_grad_norm_, whose divisor is 1e-6 greater.) Waits for the device, so it
// cannot be captured (RuntimeError). ValueError for a max_norm that is negative or NaN, and for a norm_type that is not
// positive.
CATENA_EXPORT double clip_grad_norm(const Link& link, double max_norm, const ClipGradOptions& options = {});
CATENA_EXPORT double clip_grad_norm(const Variables& params, double max_norm, const ClipGradOptions& options = {});

// The same for each parameter by itself. Returns the greatest of the norms of before.
CATENA_EXPORT double clip_grad_norm_each(const Link& link, double max_norm, const ClipGradOptions& options = {});
CATENA_EXPORT double clip_grad_norm_each(const Variables& params, double max_norm, const ClipGradOptions& options = {});

// Limits each element of the gradients to [-clip_value, clip_value]; NaN stays. ValueError for a clip_value that is
// negative or NaN.
CATENA_EXPORT void clip_grad_value(const Link& link, double clip_value);
CATENA_EXPORT void clip_grad_value(const Variables& params, double clip_value);

namespace utils {
// The options of clip_grad_norm_ with the limit among them: clip_grad_norm_(model.parameters(), {.max_norm = 0.5}).
struct ClipGradNormOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double max_norm;
  double norm_type = 2;
  bool error_if_nonfinite = false;
  std::optional<bool> foreach = {};
};
// A norm, as a number that also has the member of a tensor that reads it.
class TotalNorm {
 public:
  TotalNorm(double norm) noexcept : norm_(norm) {}
  operator double() const noexcept { return norm_; }
  template <class E = double> E item() const noexcept { return static_cast<E>(norm_); }

 private:
  double norm_;
};
// PyTorch's name of clip_grad_norm, of a link or a list of parameters.
template <class P> TotalNorm clip_grad_norm_(const P& of, double max_norm, const ClipGradOptions& options = {}) {
  return clip_grad_norm(of, max_norm, options);
}
inline TotalNorm clip_grad_norm_(std::initializer_list<Variable> of, double max_norm,
                                 const ClipGradOptions& options = {}) {
  return clip_grad_norm(Variables(of), max_norm, options);
}
template <class P>
TotalNorm clip_grad_norm_(const P& of, double max_norm, double norm_type, bool error_if_nonfinite = false) {
  return clip_grad_norm(of, max_norm, {.norm_type = norm_type, .error_if_nonfinite = error_if_nonfinite});
}
template <class P> TotalNorm clip_grad_norm_(const P& of, const ClipGradNormOptions& o) {
  return clip_grad_norm_(of, o.max_norm, o.norm_type, o.error_if_nonfinite);
}
using nn::clip_grad_norm;
struct ClipGradValueOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double clip_value;
  std::optional<bool> foreach = {};
};
// PyTorch's name of clip_grad_value.
template <class P> void clip_grad_value_(const P& of, double clip_value) { clip_grad_value(of, clip_value); }
template <class P> void clip_grad_value_(const P& of, const ClipGradValueOptions& o) {
  clip_grad_value(of, o.clip_value);
}
// Returns the common norm of the tensors themselves, such as gradients; 0 for none. ValueError for a norm_type that is
// not positive, and with error_if_nonfinite for a norm that is not finite; RuntimeError in captured work.
CATENA_EXPORT TotalNorm get_total_norm(const Variables& tensors, double norm_type = 2, bool error_if_nonfinite = false);
template <std::same_as<std::vector<Array>> A>
TotalNorm get_total_norm(const A& tensors, double norm_type = 2, bool error_if_nonfinite = false) {
  return get_total_norm(Variables(tensors.begin(), tensors.end()), norm_type, error_if_nonfinite);
}
// Scales the gradients as clip_grad_norm_ does for a common norm that is known.
CATENA_EXPORT void clip_grads_with_norm_(const Variables& params, double max_norm, double total_norm);
inline void clip_grads_with_norm_(const Link& link, double max_norm, double total_norm) {
  clip_grads_with_norm_(link.params(), max_norm, total_norm);
}
// Copies the data of the parameters into one vector, in their order, and back. ValueError for a parameter without data,
// for an empty list of parameters to be copied, and for a vector of another length; nothing is changed then.
CATENA_EXPORT Array parameters_to_vector(const Variables& params);
CATENA_EXPORT void vector_to_parameters(const Array& vector, const Variables& params);
template <autograd::PlainVariable V> void vector_to_parameters(const V& vector, const Variables& params) {
  vector_to_parameters(vector.data(), params);
}
}  // namespace utils

}  // namespace nn
