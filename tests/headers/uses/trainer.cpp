#include <catena/tests/headers/uses/uses.h>
#include <catena/training/training.h>

namespace {
struct Constant : nn::Link {
  nn::Parameter a{nn::Initializer(1.0), {1}};
  NN_MEMBERS(a)
  nn::Variable operator()(const nn::Variable&) { return a.reshape(1, 1); }
};
}  // namespace

void use_trainer() {
  Constant model;
  training::SGD optimizer;
  optimizer.setup(model);
  const training::DatasetPtr data = training::DatasetPtr(
      catena::Shared<training::TupleDataset>::make(std::vector<training::Array>{autograd::arrays::ones({6, 1})}));
  training::SerialIterator iterator(data, 2);
  training::Trainer trainer(training::StandardUpdater(iterator, optimizer), {3, training::iteration}, "header_uses");
  int calls = 0;
  trainer.extend([&calls](training::Trainer&) { ++calls; });
  trainer.run();
  REQUIRE(calls == 3);
}
