// The variables that the statements of training_spellings_8.tsv and of the later tables use.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "training_checks.h"

namespace spellings {

struct Net : nn::Chain {
  nn::Linear fc1{3, 4}, fc2{4, 2};
  NN_MEMBERS(fc1, fc2)
  autograd::Variable operator()(const autograd::Variable& x) { return fc2(nn::relu(fc1(x))); }
};

struct Scene {
  nd::Array x, t, images;  // random numbers, the labels 0 and 1 in turn, random images
  Net model;
  std::string dir;
  nn::Classifier<Net> clf{Net()};
  training::Adam opt, opt_clf;
  training::TupleDataset ds;
  training::SerialIterator train_iter, test_iter;
  training::Trainer trainer;  // three epochs of two batches

  // The folder becomes the current one.
  explicit Scene(const std::string& folder)
      : x(nd::random::default_rng(1).standard_normal({8, 3}, {.dtype = nd::float32})),
        t(nd::array({0, 1, 0, 1, 0, 1, 0, 1}, nd::int32)),
        images(nd::random::default_rng(2).random({8, 3, 32, 32}, {.dtype = nd::float32})),
        dir(folder),
        ds(x, t),
        train_iter(ds, 4),
        test_iter(ds, 4, {.repeat = false, .shuffle = false}),
        trainer(training::StandardUpdater(training::SerialIterator(ds, 4), (opt_clf.setup(clf), opt_clf)),
                {3, training::epoch}, folder) {
    std::filesystem::create_directories(folder);
    std::filesystem::current_path(folder);
    opt.setup(model);
  }
};
// The names of the members in the statements: SCENE_NAMES = scene.
#define SCENE_NAMES auto& [x, t, images, model, dir, clf, opt, opt_clf, ds, train_iter, test_iter, trainer]

}  // namespace spellings
