// Updaters: one training step.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/training/held.h>
#include <catena/training/iterator.h>
#include <catena/training/optimizer.h>

namespace training {

class Trainer;
namespace internal {
class CapturedStep;
}

// Converts examples to the arrays of a batch on a device: a function of a Batch and a device, or concat_examples, which
// is the default.
class Converter : public catena::Function<Example(const Batch&, std::optional<Device>)> {
 public:
  Converter() noexcept = default;
  template <class F>
  requires(!std::is_base_of_v<Converter, std::decay_t<F>> && std::is_constructible_v<Function, F>) Converter(F&& f)
      : Function(std::forward<F>(f)) {}
  Converter(Example (*concat)(const Batch&, DeviceId, const Padding&))
      : Function([concat](const Batch& batch, std::optional<Device> device) { return concat(batch, device, {}); }) {}
};
CATENA_EXPORT Example default_converter(const Batch& batch, std::optional<Device> device);
// Computes the loss from the variables of a batch.
class LossFunction : public catena::Function<Variable(const Variables&)> {
 public:
  using Function::Function;
  // A function of one to three variables, as the operator() of a model. A function that also takes the list gets it.
  template <class F>
  requires(!std::is_invocable_r_v<Variable, F&, const Variables&> &&
           (std::is_invocable_r_v<Variable, F&, const Variable&> ||
            std::is_invocable_r_v<Variable, F&, const Variable&, const Variable&> ||
            std::is_invocable_r_v<Variable, F&, const Variable&, const Variable&, const Variable&>)) LossFunction(F f)
      : Function([f = std::move(f)](const Variables& args) mutable {
          return nn::internal::apply_to(f, args,
                                        [](auto& g, const auto&... x) -> decltype(g(x...)) { return g(x...); });
        }) {}
};

// Returns the arguments of the model for a batch, in order. If the batch is a map, the key becomes the name of the
// Variable.
CATENA_EXPORT Variables to_variables(const Example& batch, autograd::Flag volatile_flag = autograd::OFF);
// The same for the N components of a batch, for loops without an updater:
//
//   auto [x, t] = training::to_variables(*iterator.next());
//   auto [x, y, t] = training::to_variables<3>(*iterator.next());
//
// ValueError if the number of components is not N.
template <std::size_t N = 2> std::array<Variable, N> to_variables(const Batch& batch, DeviceId device = {}) {
  return internal::as_array<N>(internal::variables_of(batch, device, N));
}
// Returns the argument of that name: argument(args, "image") in an operator()(const Variables& args). The KeyError
// lists the names.
CATENA_EXPORT const Variable& argument(const Variables& args, std::string_view name);

// One step of training and its counters, as the Trainer calls it.
class CATENA_EXPORT Updater {
 public:
  virtual ~Updater();
  virtual void connect_trainer(Trainer& trainer);
  virtual Optimizer& get_optimizer(const std::string& name) = 0;  // the KeyError lists the names
  virtual std::vector<std::pair<std::string, Optimizer*>> get_all_optimizers() = 0;
  virtual void update() = 0;
  virtual void finalize();
  virtual void serialize(nn::Serializer& s) = 0;
  virtual std::int64_t iteration() const = 0;
  virtual std::int64_t epoch() const = 0;
  virtual double epoch_detail() const = 0;
  virtual std::optional<double> previous_epoch_detail() const = 0;
  virtual bool is_new_epoch() const = 0;
};

struct StandardUpdaterOptions {
  Converter converter = default_converter;
  DeviceId device = {};  // the device to which models and batches are moved
  // Default: the call of the optimizer's target. No gradient is computed for arguments that it releases.
  LossFunction loss_func = {};
  // float16 or bfloat16: the loss is computed within autograd::autocast(*autocast). float16 needs
  // optimizer.loss_scaling() as well.
  std::optional<autograd::Dtype> autocast = {};
  // On CUDA, update() becomes one launch: after two ordinary updates with batches of one shape, the third is captured
  // as a graph, and further updates with batches of that shape replay it. Batches of another shape (a short last one)
  // are processed as without the option. After a watched object was replaced (a parameter's array, a state, a hook,
  // the mode `train`, a seed), two ordinary updates precede the new capture. Results are bit-identical. Host code of
  // the model, the loss and hooks runs only in updates that are not replayed, so a step must not depend on it:
  // reported numbers are those of the capture (reported arrays are current), variables stored in the model
  // (Classifier::loss) are those of the last update that was not replayed, and recurrent state does not continue from
  // batch to batch. RuntimeError if the step contains work that cannot be captured. On other devices the option has
  // no effect.
  bool capture = false;
  // Number of batches whose gradients are averaged in one update: each loss is divided by it. An iteration is an
  // update. So large batches are trained in the memory of small ones. ValueError below 1, and with `capture`.
  std::int64_t accumulate = 1;
  std::optional<std::int64_t> accumulate_grad_batches = {};  // another name of accumulate
};

// Takes a batch, computes the loss and its gradients, and lets the optimizer update the model.
class CATENA_EXPORT StandardUpdater : public Updater {
 public:
  using Options = StandardUpdaterOptions;
  StandardUpdater(Held<Iterator> iterator, Held<Optimizer> optimizer, Options options = {});
  // Converter, device and loss function by position, as in Chainer. The converter may be concat_examples.
  template <std::convertible_to<Converter> C = Converter>
  StandardUpdater(Held<Iterator> iterator, Held<Optimizer> optimizer, C converter, DeviceId device = {},
                  LossFunction loss_func = {})
      : StandardUpdater(std::move(iterator), std::move(optimizer),
                        Options{std::move(converter), std::move(device), std::move(loss_func)}) {}
  // Several have names, for get_iterator() and get_optimizer(); a single one is named "main":
  //   StandardUpdater(iterator, {{"gen", gen_optimizer}, {"dis", dis_optimizer}})
  StandardUpdater(HeldMap<Iterator> iterators, HeldMap<Optimizer> optimizers, Options options = {});
  StandardUpdater(Held<Iterator> iterator, HeldMap<Optimizer> optimizers, Options options = {});
  StandardUpdater(HeldMap<Iterator> iterators, Held<Optimizer> optimizer, Options options = {});

  void update() final;
  virtual void update_core();
  Optimizer& get_optimizer(const std::string& name) override;
  std::vector<std::pair<std::string, Optimizer*>> get_all_optimizers() override;
  Iterator& get_iterator(const std::string& name);
  void finalize() override;
  // Stores "iterator:<name>", "model:<name>", "optimizer:<name>", "iteration"; a model is restored before its
  // optimizer.
  void serialize(nn::Serializer& s) override;
  std::int64_t iteration() const override { return iteration_; }
  std::int64_t epoch() const override;
  double epoch_detail() const override;
  std::optional<double> previous_epoch_detail() const override;
  bool is_new_epoch() const override;

 protected:
  // For an update_core() of a derived class: auto [x, t] = converter(get_iterator("main").next(), device());
  // Without a device, the batch moves to device(). RuntimeError for the empty batch of an iterator that has ended.
  Example converter(const Batch& batch, std::optional<Device> device) const;
  Example converter(const std::optional<Batch>& batch, std::optional<Device> device) const;
  template <class B> Example converter(const B& batch) const { return converter(batch, options_.device); }
  const Converter& converter() const noexcept { return options_.converter; }
  const DeviceId& device() const noexcept { return options_.device; }

  HeldMap<Iterator> iterators_;
  HeldMap<Optimizer> optimizers_;
  Options options_;
  std::int64_t iteration_ = 0;

 private:
  Example next_batch();
  Variable loss_of(const std::vector<Array>& arrays, const std::vector<std::string>& names);
  void accumulate();
  catena::Shared<internal::CapturedStep> captured_;
};

}  // namespace training
