// ParallelUpdater: one process, a replica of the model on every device.
#pragma once

#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/training/parallel/devices.h>
#include <catena/training/updater.h>

namespace training {

namespace internal {
class ThreadPool;
}

// Data parallel training. Model k of n gets the examples k, k + n, k + 2n... of a batch. Every model computes the
// gradients of its part, in its own thread. The main model, which is the optimizer's target, gets the mean of these
// gradients, weighted by the number of examples per part; after one update of the optimizer, the parameters are copied
// to the other models.
//
//   ParallelUpdater(train_iter, optimizer, model, {.devices = {{"main", 0}, {"second", 1}}})
//
// If the loss is a mean over its examples, the gradients are therefore those of one model on the whole batch, and
// optimizers, hooks and schedules do not depend on the number of models. (Chainer adds the gradients. A loss that is a
// sum over its examples must be multiplied by the number of models, because the mean of the parts is 1 / n of the sum.)
// Gradients are added in the order of the models, main first, so a run is reproducible bit for bit.
//
// If a batch has fewer examples than there are models, the last models are idle. Persistents, such as the running
// statistics of a batch normalization, are not synchronized; a snapshot has those of all models. The main model draws
// random numbers (dropout, nd::random) from the generators themselves; those of another model depend on the default
// generator of the caller's thread and the number of the model. A resumed run thus draws the same numbers. Reports of
// other models have their names: "second/loss". Function hooks of the caller's thread are called only for the main
// model.
//
// Thread safety: belongs to one thread at a time. Models and the loss function are called in several threads, each
// thread with its own model.
class CATENA_EXPORT ParallelUpdater : public StandardUpdater {
 public:
  using Loss = catena::Function<Variable(Link& model, const Variables& args)>;
  struct Options {
    Converter converter = default_converter;  // called in the caller's thread, once per model
    // Existing replicas, by name; one of them is the optimizer's target. They are moved to the devices with their
    // names, if there are any.
    HeldMap<Link> models = {};
    Devices devices = {};
    Loss loss_func = {};  // default: the call of the model; the function gets the replica to use
  };
  // The replicas are copies of `model`, the optimizer's target (else ValueError), one for each of `devices` but "main".
  // The model itself is moved to devices["main"]. ValueError without devices, or with both devices and models; KeyError
  // without "main"; TypeError for a model that is passed as a base class.
  template <class L>
  requires(std::is_base_of_v<Link, L>)
      ParallelUpdater(Held<Iterator> iterator, Held<Optimizer> optimizer, L& model, Options options)
      : ParallelUpdater(std::move(iterator), optimizer, with_copies(model, *optimizer, std::move(options))) {}
  // For options.models. ValueError without them, because copying the model requires its class.
  ParallelUpdater(Held<Iterator> iterator, Held<Optimizer> optimizer, Options options);
  ~ParallelUpdater() override;
  ParallelUpdater(ParallelUpdater&&) noexcept;

  void update_core() override;
  void connect_trainer(Trainer& trainer) override;  // registers the other models and their descendants
  void finalize() override;
  // Stores, in addition to StandardUpdater, the other models under "_catena/model:<name>". If a file, such as one of
  // Chainer, does not have them, they get the state of the main model.
  void serialize(nn::Serializer& s) override;
  Link& get_model(const std::string& name) const;  // the KeyError lists the names

 private:
  struct Replica {
    std::string name;
    Held<Link> model;
    std::optional<Device> device;
    Variable loss = {};  // loss of the last update, with its graph
  };
  template <class L> static Options with_copies(L& model, Optimizer& optimizer, Options options) {
    internal::check_copyable("ParallelUpdater", model, typeid(L));
    for (const std::string& name : names_to_copy(model, optimizer, options))
      options.models.emplace_back(name, Held<Link>(L(model)));
    options.models.emplace(options.models.begin(), "main", Held<Link>(static_cast<Link&>(model)));
    return options;
  }
  static std::vector<std::string> names_to_copy(const Link& model, const Optimizer& optimizer, const Options& options);
  void add_replicas(const Options& options);

  Loss loss_func_;
  std::vector<Replica> replicas_;  // the main model first
  catena::Owned<internal::ThreadPool> crew_;
};

}  // namespace training
