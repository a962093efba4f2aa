// The variables that the statements of training_spellings_2.tsv use.
#pragma once

#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "training_checks.h"

namespace spellings {

struct Scene {
  nd::Array x, t, v, img;  // x and img of ones, v of zeros, t of the labels 0 and 1 in turn
  training::TupleDataset ds;
  nn::Linear model{3, 2};
  training::SGD opt{0.1};
  nn::Classifier<nn::Linear> clf{nn::Linear(3, 2)};
  training::SGD opt_clf{0.1};
  training::SerialIterator test_iter;
  training::StandardUpdater updater;
  training::Trainer trainer;  // three epochs of two batches
  std::string dir;

  // The folder becomes the current one, with an image in its folder "images".
  explicit Scene(const std::string& folder)
      : x(nd::ones({8, 3}, nd::float32)),
        t(nd::array({0, 1, 0, 1, 0, 1, 0, 1})),
        v(nd::zeros({8, 2}, nd::float32)),
        img(nd::ones({3, 40, 48}, nd::float32)),
        ds(x, t),
        test_iter(ds, 4, {.repeat = false, .shuffle = false}),
        updater(training::SerialIterator(ds, 4), (opt_clf.setup(clf), opt_clf)),
        trainer(updater, {3, training::epoch}, folder),
        dir(folder) {
    std::filesystem::create_directories(folder + "/images/one");
    std::filesystem::current_path(folder);
    training::datasets::write_image("images/one/1.png", nd::zeros({3, 8, 8}, nd::uint8));
    opt.setup(model);
  }
};
// The names of the members in the statements: SCENE_NAMES = scene.
#define SCENE_NAMES auto& [x, t, v, img, ds, model, opt, clf, opt_clf, test_iter, updater, trainer, dir]

}  // namespace spellings
