// L-BFGS: a quasi-Newton method for losses that are the same function at every call, such as those of a whole data set.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/scoped_value.h>
#include <catena/training/optimizer.h>

namespace training {

struct LBFGSOptions {
  double lr = 1;                    // length of a step, or the first length that the line search tries
  std::int64_t max_iter = 20;       // steps in one update
  std::int64_t max_eval = 0;        // losses computed in one update; 0: 5/4 max_iter
  double tolerance_grad = 1e-7;     // an update ends when no element of the gradient is greater,
  double tolerance_change = 1e-9;   // or when neither an element of the step nor the change of the loss is
  std::int64_t history_size = 100;  // pairs of steps and changes of the gradient, each with the size of all parameters
  const char* line_search_fn = nullptr;  // PyTorch's option: "strong_wolfe" (ValueError for others)
  bool strong_wolfe = false;  // search along each direction for a step that satisfies the strong Wolfe conditions
};

// optimizer.update(lossfun) computes the loss several times and goes several steps:
//
//   training::LBFGS optimizer({.strong_wolfe = true});
//   optimizer.setup(model);
//   for (int i = 0; i < 10; ++i) optimizer.update([&] { return nn::mean_squared_error(model(x), t); });
//
// The steps are those of PyTorch's LBFGS. Hooks run after each computation of gradients. It reads numbers from the
// device in every step, so it cannot be captured. All parameters are on one device (ValueError); a step in 16-bit
// parameters is computed in float32. ValueError for numbers of steps or a history below 1. (Nocedal, Wright: Numerical
// Optimization, chapters 3 and 7.)
class CATENA_EXPORT LBFGS : public Optimizer {
 public:
  using Options = LBFGSOptions;
  explicit LBFGS(Options options = {});
  explicit LBFGS(double rate) : LBFGS(Options{.lr = rate}) {}
  explicit LBFGS(Link& target, Options options = {}) : LBFGS(options) { setup(target); }
  LBFGS(std::initializer_list<Variable> params, Options o) : LBFGS(o) { setup(Variables(params)); }
  template <std::convertible_to<Variables> P> explicit LBFGS(const P& p, Options o = {}) : LBFGS(o) { setup(p); }
  // Returns the loss before the first step.
  template <class F, class... A> double update(F&& lossfun, A&&... args) {
    return minimize([&]() -> Variable { return lossfun(args...); });
  }
  // The same with PyTorch's closure, which clears the gradients and calls backward() itself.
  template <class F> double step(F&& closure) {
    const catena::ScopedValue own(has_own_backward_, true);
    return update(std::forward<F>(closure));
  }
  void update() override;                                             // RuntimeError: the loss has to be computed again
  std::int64_t evaluations() const noexcept { return evaluations_; }  // losses computed so far
  // Saves the history, too.
  void serialize(Serializer& s) override;

 private:
  struct Point;
  double minimize(const catena::Function<Variable()>& lossfun);
  double evaluate(const catena::Function<Variable()>& lossfun);
  Array gradient() const;
  void move(const Array& direction, double length);
  void update_direction(const Array& g);
  double search(const catena::Function<Variable()>& lossfun, double& loss, Array& g, double slope, std::int64_t most);

  Options options_;
  bool has_own_backward_ = false;
  std::int64_t evaluations_ = 0, steps_ = 0;
  // The last direction, its length, the gradient where it began; changes of the gradient and steps, oldest first.
  Array direction_, gradient_before_;
  double length_ = 0, scale_ = 1;
  std::vector<Array> changes_of_gradient_, changes_;
};

}  // namespace training
