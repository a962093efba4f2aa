// Updaters: one step of training.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catena/training/held.h>
#include <catena/training/iterator.h>
#include <catena/training/optimizer.h>

namespace training {

class Trainer;
namespace internal {
class CapturedStep;
}

// From examples to the arrays of a batch, on a device.
using Converter = std::function<Example(const Batch&, std::optional<Device>)>;
CATENA_EXPORT Example default_converter(const Batch& batch, std::optional<Device> device);
// From the variables of a batch to the loss.
using LossFunction = std::function<Variable(const Variables&)>;

class CATENA_EXPORT Updater {
 public:
  virtual ~Updater();
  virtual void connect_trainer(Trainer& trainer);
  virtual Optimizer& get_optimizer(const std::string& name) = 0;  // KeyError listing the names
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

class CATENA_EXPORT StandardUpdater : public Updater {
 public:
  struct Options {
    Converter converter = default_converter;
    std::optional<Device> device = {};  // models and batches are moved there
    LossFunction loss_func =
        {};  // default: the call of the optimizer's target. Variables that it lets go get no gradient
    // On CUDA, update() becomes one launch: after two ordinary updates with batches of one shape, the third is captured
    // as a graph, which updates with batches of that shape then replay. Other batches (a short last one) run as without
    // the option, and so do the two updates after something was replaced (a parameter's array, a state, a hook, the
    // mode train, a seed), before the new capture. Results are the same bits. Host code of model, loss and hooks runs
    // in updates that are not replayed only, so a step must not depend on it: reported numbers are those of the capture
    // (reported arrays are of the present step), variables that the model keeps (Classifier::loss) are those of the
    // last such update, and recurrent state does not go on from batch to batch. RuntimeError for what cannot be
    // captured. On other devices the option changes nothing.
    bool capture = false;
  };
  StandardUpdater(Held<Iterator> iterator, Held<Optimizer> optimizer, Options options);
  StandardUpdater(Held<Iterator> iterator, Held<Optimizer> optimizer)
      : StandardUpdater(std::move(iterator), std::move(optimizer), Options{}) {}
  StandardUpdater(HeldMap<Iterator> iterators, HeldMap<Optimizer> optimizers, Options options);

  void update() final;
  virtual void update_core();
  Optimizer& get_optimizer(const std::string& name) override;
  std::vector<std::pair<std::string, Optimizer*>> get_all_optimizers() override;
  Iterator& get_iterator(const std::string& name);
  void finalize() override;
  // "iterator:<name>", "model:<name>", "optimizer:<name>", "iteration"; a model is restored before its optimizer.
  void serialize(nn::Serializer& s) override;
  std::int64_t iteration() const override { return iteration_; }
  std::int64_t epoch() const override;
  double epoch_detail() const override;
  std::optional<double> previous_epoch_detail() const override;
  bool is_new_epoch() const override;

 protected:
  HeldMap<Iterator> iterators_;
  HeldMap<Optimizer> optimizers_;
  Options options_;
  std::int64_t iteration_ = 0;

 private:
  std::shared_ptr<internal::CapturedStep> captured_;
};

}  // namespace training
