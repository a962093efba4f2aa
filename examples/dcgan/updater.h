// The updater of the DCGAN example: one step of both networks.
#pragma once

#include <utility>

#include <catena/catena.h>

#include "net.h"

class DCGANUpdater : public training::StandardUpdater {
 public:
  // The optimizers are named "gen" and "dis".
  DCGANUpdater(Generator& gen, Discriminator& dis, training::Held<training::Iterator> iterator,
               training::HeldMap<training::Optimizer> optimizers, Options options = {})
      : StandardUpdater(std::move(iterator), std::move(optimizers), std::move(options)), gen_(gen), dis_(dis) {}

  // Both losses come from one forward pass. The gradient of the generator is computed after the update of the
  // discriminator, with its new weights and the activations of the pass.
  void update_core() override {
    training::Optimizer& gen_optimizer = get_optimizer("gen");
    training::Optimizer& dis_optimizer = get_optimizer("dis");

    const auto [pictures] = training::to_variables<1>(*get_iterator("main").next(), options_.device);
    const Variable x_real = pictures / 255;
    const Variable y_real = dis_(x_real);

    const Variable z = gen_.make_hidden(x_real.shape(0));
    const Variable x_fake = gen_(z);
    const Variable y_fake = dis_(x_fake);

    dis_optimizer.update([&] { return loss_dis(y_fake, y_real); });
    gen_optimizer.update([&] { return loss_gen(y_fake); });
  }

 private:
  using Variable = autograd::Variable;

  Variable loss_dis(const Variable& y_fake, const Variable& y_real) {
    const double batchsize = double(y_fake.shape(0));
    const Variable L1 = nn::softplus(-y_real).sum() / batchsize;
    const Variable L2 = nn::softplus(y_fake).sum() / batchsize;
    const Variable loss = L1 + L2;
    nn::report("loss", loss, &dis_);
    return loss;
  }
  Variable loss_gen(const Variable& y_fake) {
    const double batchsize = double(y_fake.shape(0));
    const Variable loss = nn::softplus(-y_fake).sum() / batchsize;
    nn::report("loss", loss, &gen_);
    return loss;
  }

  Generator& gen_;
  Discriminator& dis_;
};
