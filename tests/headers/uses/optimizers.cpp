#include <catena/tests/headers/uses/uses.h>
#include <catena/training/optimizers.h>

namespace {
struct Scale : nn::Link {
  nn::Parameter a{nn::Initializer(2.0), {1}};
  NN_MEMBERS(a)
  nn::Variable operator()(const nn::Variable&) { return a.reshape(1, 1); }
};
}  // namespace

void use_optimizers() {
  Scale model;
  training::SGD optimizer({.lr = 0.5});
  optimizer.setup(model);
  optimizer.add_hook([](training::Optimizer&) {}, "nothing");
  optimizer.update([&] { return model(nn::Variable()); });
  REQUIRE(autograd::item(model.a.data()).to_double() == 1.5);
}
