// The members that the scenes of training_spellings_2.tsv to training_spellings_6.tsv have in common.
#pragma once

#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "training_checks.h"

namespace spellings {

template <class Model> struct SceneWith {
  nd::Array x, t, v, img, imgs;  // x and the images of ones, v of zeros, t of the labels 0 and 1 in turn
  training::TupleDataset ds;
  Model model;
  training::SGD opt{0.1};
  nn::Classifier<Model> clf;
  training::SGD opt_clf{0.1};
  training::SerialIterator train_iter, test_iter;
  training::StandardUpdater updater;
  training::Trainer trainer;  // three epochs of two batches
  std::string dir;

  // The folder becomes the current one, with an image in its folder "images".
  SceneWith(const std::string& folder, Model trained, Model classified, const nd::Shape& of_img)
      : x(nd::ones({8, 3}, nd::float32)),
        t(nd::array({0, 1, 0, 1, 0, 1, 0, 1})),
        v(nd::zeros({8, 2}, nd::float32)),
        img(nd::ones(of_img, nd::float32)),
        imgs(nd::ones({2, 3, 4, 4}, nd::float32)),
        ds(x, t),
        model(std::move(trained)),
        clf(std::move(classified)),
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
