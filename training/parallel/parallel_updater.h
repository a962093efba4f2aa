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

// Data parallel training. Of a batch, model k of n gets the examples k, k + n, k + 2n...; every model computes the
// gradients of its part, in a thread of its own; the mean of these, in which every part counts by its number of
// examples, is given to the main model, which is the optimizer's target; after one update of the optimizer the
// parameters are copied to the others.
//
//   ParallelUpdater(train_iter, optimizer, model, {.devices = {{"main", 0}, {"second", 1}}})
//
// So a loss that is a mean over its examples gives the gradients that one model would have of the whole batch, and
// optimizers, their hooks and schedules do not depend on the number of models. (Chainer adds the gradients up. For a
// loss that is a sum over its examples, multiply it by the number of models: its mean is 1 / n of the sum.) Gradients
// are added in the order of the models, main first, so a run is reproducible bit for bit.
//
// A batch of fewer examples than there are models leaves the last ones idle. Persistents, such as the running
// statistics of a batch normalization, are not synchronized; a snapshot has those of all models. Random numbers of the
// other models (dropout, nd::random) follow from the default generator of the caller's thread and the number of the
// model, those of the main model come from the generators themselves; so a resumed run draws the same. Reports of
// the others have their names: "second/loss". Function hooks of the caller's thread see the main model alone.
//
// Thread safety: belongs to one thread at a time. Models and loss function are called in several threads, each with
// its own model.
class CATENA_EXPORT ParallelUpdater : public StandardUpdater {
 public:
  using Loss = catena::Function<Variable(Link& model, const Variables& args)>;
  struct Options {
    Converter converter = default_converter;  // called in the caller's thread, once per model
    // Replicas of one's own, by name; one of them is the optimizer's target. They are moved to the devices of their
    // names, if there are any.
    HeldMap<Link> models = {};
    Devices devices = {};
    Loss loss_func = {};  // default: the call of the model. It gets the replica that it is to use.
  };
  // The replicas are copies of `model`, the optimizer's target (else ValueError), one for each of `devices` but "main".
  // The model itself moves to devices["main"]. ValueError without devices, or with both devices and models; KeyError
  // without "main"; TypeError for a model that is passed as a base class.
  template <class L>
  requires(std::is_base_of_v<Link, L>)
      ParallelUpdater(Held<Iterator> iterator, Held<Optimizer> optimizer, L& model, Options options)
      : ParallelUpdater(std::move(iterator), optimizer, with_copies(model, *optimizer, std::move(options))) {}
  // With options.models. ValueError without them: a copy needs the class of the model.
  ParallelUpdater(Held<Iterator> iterator, Held<Optimizer> optimizer, Options options);
  ~ParallelUpdater() override;
  ParallelUpdater(ParallelUpdater&&) noexcept;

  void update_core() override;
  void connect_trainer(Trainer& trainer) override;  // registers the other models and their descendants
  void finalize() override;
  // Besides what StandardUpdater stores, the other models under "_catena/model:<name>". A file without them, as of
  // Chainer, gives them the state of the main model.
  void serialize(nn::Serializer& s) override;
  Link& get_model(const std::string& name) const;  // KeyError listing the names

 private:
  struct Replica {
    std::string name;
    Held<Link> model;
    std::optional<Device> device;
    Variable loss = {};  // of the last update, with its graph
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
