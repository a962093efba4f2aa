// checkpoint: forget() as a function of functions, with a policy for the results that are kept.
//
//   auto block = autograd::checkpoint(f, {.policy = autograd::checkpoint_policies::dots_saveable});
//   Variable y = block(x);                       // backward computes f again, but none of its matrix products
//
// f has to compute the same a second time, under the conditions of autograd/forget.h. The policies have the names of
// jax.checkpoint_policies; PyTorch calls this selective checkpointing.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include <catena/autograd/transformed.h>
#include <catena/kernels/base/function.h>

namespace autograd {

// A choice of the results of a function that are kept for its second call, in backward. Results of matrix products and
// convolutions (linear, matmul, einsum and the like, and the convolutions of networks) can be kept; everything else is
// computed again. Of a product with a bias, the product is kept.
class CATENA_EXPORT CheckpointPolicy {
 public:
  using Chooses = catena::Function<bool(std::string_view label)>;
  enum class Kind : std::uint8_t { nothing, chosen, everything };

  CheckpointPolicy(Kind kind = Kind::nothing);
  // Keeps the products of a function if `chooses` returns true for its label, which is the one in graphs:
  // "LinearFunction", "Convolution2DFunction", "MatMul".
  CheckpointPolicy(Chooses chooses);

  Kind kind() const noexcept { return kind_; }
  bool keeps(std::string_view label) const { return kind_ == Kind::chosen && (!chooses_ || chooses_(label)); }

 private:
  Kind kind_;
  Chooses chooses_;
};

namespace checkpoint_policies {
// Everything is computed again.
inline constexpr CheckpointPolicy::Kind nothing_saveable = CheckpointPolicy::Kind::nothing;
// The results of all products are kept.
inline constexpr CheckpointPolicy::Kind dots_saveable = CheckpointPolicy::Kind::chosen;
// Nothing is computed again.
inline constexpr CheckpointPolicy::Kind everything_saveable = CheckpointPolicy::Kind::everything;
// The products of functions with these labels are kept.
CATENA_EXPORT CheckpointPolicy save_only_these_labels(std::initializer_list<std::string_view> labels);
}  // namespace checkpoint_policies

struct ForgetOptions {
  CheckpointPolicy policy = {};
};

namespace internal {
CATENA_EXPORT Variables call_by_policy(catena::Function<Variables(const Variables&)> func, const Variables& xs,
                                       const CheckpointPolicy& policy);
}

// Returns a function with the arguments and results of f. Of its intermediate values it keeps those that the policy
// chooses. With everything_saveable it calls f and keeps all that derivatives need; otherwise it is forget() of f.
template <class F> auto checkpoint(F&& f, const ForgetOptions& options = {}) {
  return internal::transformed(std::forward<F>(f), [policy = options.policy](auto func, const Variables& xs) {
    return internal::call_by_policy(std::move(func), xs, policy);
  });
}
// Returns checkpoint(f)(xs...), as PyTorch's function of this name: y = checkpoint(f, x).
template <class F, std::convertible_to<Variable>... X>
auto checkpoint(F&& f, const X&... xs) requires(sizeof...(X) > 0) {
  return checkpoint(std::forward<F>(f), ForgetOptions{})(xs...);
}

// PyTorch's options, without effect: a part may always be differentiated, and it draws the same random numbers again.
struct ReentrantOptions {
  std::optional<bool> use_reentrant = {}, preserve_rng_state = {};
};
template <class F, std::convertible_to<Variable> X, std::same_as<ReentrantOptions> O = ReentrantOptions>
auto checkpoint(F&& f, const X& x, const O&) {
  return checkpoint(std::forward<F>(f), ForgetOptions{})(x);
}

}  // namespace autograd
