// The variables that the statements of training_spellings_3.tsv use.
#pragma once

#include "training_scene_images.h"

namespace spellings {

struct Net : nn::Chain {
  nn::Linear fc1{3, 4}, fc2{4, 2};
  NN_MEMBERS(fc1, fc2)
  autograd::Variable operator()(const autograd::Variable& x) { return fc2(nn::relu(fc1(x))); }
};

struct Scene : SceneWith<Net> {
  explicit Scene(const std::string& folder) : SceneWith(folder, Net(), Net(), nd::Shape{3, 32, 32}) {}
};

}  // namespace spellings
