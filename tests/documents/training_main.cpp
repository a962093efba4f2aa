// Runs the statements of training_spellings.tsv that compile, each with a scene of its own: training_spellings
// <folder>.
#include <iostream>

#include "training_scene.h"

namespace spellings {

namespace {
std::string failures;
const char* current = "";
}  // namespace

void check(bool holds, const char* condition) {
  if (!holds) failures += std::string("  ") + current + ": " + condition + "\n";
}

Scene::Scene(const std::string& folder)
    : x((autograd::seed(3), nd::random::seed(3), nd::random::standard_normal({8, 4}, nd::float32))),
      t(nd::array({0, 1, 2, 0, 1, 2, 0, 1})),
      images(nd::random::standard_normal({8, 1, 28, 28}, nd::float32)),
      dataset(x, t),
      opt(0.001),
      classifier(Mlp{}),
      opt_classifier(0.001),
      trainer(training::StandardUpdater(training::SerialIterator(dataset, 4),
                                        (opt_classifier.setup(classifier), opt_classifier)),
              {1, training::epoch}, folder),
      path(folder + "/file"),
      directory(folder) {
  std::filesystem::create_directories(folder);
  opt.setup(model);
  nn::softmax_cross_entropy(model(x), t).backward();
  first_W = values(model.l1.W).copy();
  first_grad = values(model.l1.W.grad()).copy();
}

}  // namespace spellings

int main(int, char** arguments) {
  using namespace spellings;
  const std::string folder = arguments[1];
  std::filesystem::remove_all(folder);
  for (int i = 0; i < kNumRows; ++i) {
    current = kRows[i].name;
    try {
      Scene scene(folder + "/" + current);
      kRows[i].run(scene);
    } catch (const std::exception& error) {
      failures += std::string("  ") + current + ": " + error.what() + "\n";
    }
  }
  std::cout << kNumRows << " statements\n" << failures;
  return failures.empty() ? 0 : 1;
}
