// Evaluator: the means of the values that a model reports over a validation set.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/training/trainer.h>

namespace training {

class Evaluator;

// As a LossFunction; functions that return nothing, which report their values, are taken, too.
class EvaluationFunction : public LossFunction {
 public:
  EvaluationFunction() noexcept = default;
  template <class F>
  requires(!std::is_base_of_v<EvaluationFunction, std::decay_t<F>> && std::is_constructible_v<LossFunction, F>)
      EvaluationFunction(F&& f)
      : LossFunction(std::forward<F>(f)) {}
  template <class F>
  requires std::is_void_v<std::invoke_result_t<F&, const Variable&, const Variable&>> EvaluationFunction(F f)
      : LossFunction([f = std::move(f)](const Variable& x, const Variable& t) mutable {
          f(x, t);
          return Variable();
        }) {}
};

struct EvaluatorOptions {
  Converter converter = default_converter;
  DeviceId device = {};                               // the device to which batches are moved
  catena::Function<void(Evaluator&)> eval_hook = {};  // called before every evaluation
  EvaluationFunction eval_func = {};                  // default: the call of the target
  // false: the mean of the means of batches, as in Chainer, so that a short last batch has the same weight as the
  // others. true: batches are weighted by their number of examples, which gives the mean over the examples.
  bool weighted = false;
  // true: on a terminal, a line shows how far the evaluation is; elsewhere nothing is printed.
  bool progress_bar = false;
  std::ostream* out = nullptr;        // of the bar; default: std::cout
  std::optional<bool> terminal = {};  // default: true if `out` is a terminal
};

// Calls the model on the whole validation iterator without a graph (inputs are volatile) and with the thread's train
// mode off, and reports the means under "<name>/<observer>/<key>": "validation/main/loss". Every evaluation begins with
// reset(), or, if the iterator cannot be reset, uses a copy() of it.
class CATENA_EXPORT Evaluator : public Extension {
 public:
  using Options = EvaluatorOptions;
  Evaluator(Held<Iterator> iterator, Held<Link> target, Options options = {});
  Evaluator(HeldMap<Iterator> iterators, HeldMap<Link> targets, Options options = {});

  void operator()(Trainer& trainer) override;
  // For use without a trainer. Keys have no prefix unless the extension has a name: "main/loss".
  Observation operator()();
  // Runs one evaluation with the current reporter, in which the targets are registered. Override to change the
  // evaluation.
  virtual Observation evaluate();
  void finalize() override;
  // Stores the generators of iterators that shuffle, under "_catena".
  void serialize(nn::Serializer& s) override;

  std::string default_name() const override { return "validation"; }

  Iterator& get_iterator(const std::string& name) const;  // the KeyError lists the names
  Link& get_target(const std::string& name) const;
  const HeldMap<Iterator>& get_all_iterators() const noexcept { return iterators_; }
  const HeldMap<Link>& get_all_targets() const noexcept { return targets_; }

 protected:
  // For an evaluate() of a derived class: auto [x, t] = converter(batch, device()). ValueError without a batch.
  Example converter(const Batch& batch, std::optional<Device> device) const;
  template <class B> Example converter(const B& batch) const { return converter(batch, options_.device); }
  const Converter& converter() const noexcept { return options_.converter; }
  const DeviceId& device() const noexcept { return options_.device; }

 private:
  HeldMap<Iterator> iterators_;
  HeldMap<Link> targets_;
  Options options_;
};

}  // namespace training
