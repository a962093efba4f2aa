// The variables that the statements of training_spellings_2.tsv use.
#pragma once

#include "training_scene_images.h"

namespace spellings {

struct Scene : SceneWith<nn::Linear> {
  explicit Scene(const std::string& folder)
      : SceneWith(folder, nn::Linear(3, 2), nn::Linear(3, 2), nd::Shape{3, 40, 48}) {}
};

}  // namespace spellings
