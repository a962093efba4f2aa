// Evaluator: the mean of what a model reports over a validation set.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <catena/training/trainer.h>

namespace training {

class Evaluator;

struct EvaluatorOptions {
  Converter converter = default_converter;
  std::optional<Device> device = {};               // batches are moved there
  std::function<void(Evaluator&)> eval_hook = {};  // called before every evaluation
  LossFunction eval_func = {};                     // default: the call of the target
};

// Runs the whole validation iterator through the model without a graph (inputs are volatile) and with the thread's
// train mode off, and reports the means under "<name>/<observer>/<key>": "validation/main/loss". Every batch counts the
// same, also a short last one. The iterator must be one that can be reset.
class CATENA_EXPORT Evaluator : public Extension {
 public:
  using Options = EvaluatorOptions;
  Evaluator(Held<Iterator> iterator, Held<Link> target, Options options = {});
  Evaluator(HeldMap<Iterator> iterators, HeldMap<Link> targets, Options options = {});

  void operator()(Trainer& trainer) override;
  // Outside a trainer; keys have no prefix unless the extension has a name: "main/loss".
  Observation operator()();
  // One evaluation with the current reporter, which knows the targets. Override to change what is evaluated.
  virtual Observation evaluate();
  void finalize() override;

  std::string default_name() const override { return "validation"; }
  TriggerSpec default_trigger() const override { return {1, epoch}; }
  int default_priority() const override { return PRIORITY_WRITER; }

  Iterator& get_iterator(const std::string& name) const;  // KeyError listing the names
  Link& get_target(const std::string& name) const;
  const HeldMap<Iterator>& get_all_iterators() const noexcept { return iterators_; }
  const HeldMap<Link>& get_all_targets() const noexcept { return targets_; }

 private:
  HeldMap<Iterator> iterators_;
  HeldMap<Link> targets_;
  Options options_;
};

}  // namespace training
