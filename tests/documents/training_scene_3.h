// The variables that the statements of training_spellings_3.tsv use.
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

struct Net : nn::Chain {
  nn::Linear fc1{3, 4}, fc2{4, 2};
  NN_MEMBERS(fc1, fc2)
  autograd::Variable operator()(const autograd::Variable& x) { return fc2(nn::relu(fc1(x))); }
};

struct Scene {
  nd::Array x, t, v, img, imgs;  // x and the images of ones, v of zeros, t of the labels 0 and 1 in turn
  training::TupleDataset ds;
  Net model;
  training::SGD opt{0.1};
  nn::Classifier<Net> clf{Net()};
  training::SGD opt_clf{0.1};
  training::SerialIterator train_iter, test_iter;
  training::StandardUpdater updater;
  training::Trainer trainer;  // three epochs of two batches
  std::string dir;

  // The folder becomes the current one, with an image in its folder "images".
  explicit Scene(const std::string& folder)
      : x(nd::ones({8, 3}, nd::float32)),
        t(nd::array({0, 1, 0, 1, 0, 1, 0, 1})),
        v(nd::zeros({8, 2}, nd::float32)),
        img(nd::ones({3, 32, 32}, nd::float32)),
        imgs(nd::ones({2, 3, 4, 4}, nd::float32)),
        ds(x, t),
        train_iter(ds, 4),
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
#define SCENE_NAMES \
  auto& [x, t, v, img, imgs, ds, model, opt, clf, opt_clf, train_iter, test_iter, updater, trainer, dir]

}  // namespace spellings
