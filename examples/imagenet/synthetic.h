// Generated pictures in place of ImageNet.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <catena/catena.h>

#include "mean_image.h"

// Writes n PNG files of 256 x 256 pixels into the folder `root`, and the file `list`, which has a line with the path
// and the label of each.
inline void write_pictures(const std::string& list, const std::string& root, int n) {
  namespace fs = std::filesystem;
  fs::create_directories(root);
  if (fs::path(list).has_parent_path()) fs::create_directories(fs::path(list).parent_path());
  const auto images = training::datasets::generated_cifar10(n, 1, {.scale = 255}).train;
  std::ofstream lines(list);
  for (int i = 0; i < n; ++i) {
    const training::Example example = images->get_example(i);
    const std::string name = fs::path(list).stem().string() + "_" + std::to_string(i) + ".png";
    const nd::Array pixels = example.values[0];  // (3, 32, 32)
    training::datasets::write_image(root + "/" + name, pixels.repeat(8, 1).repeat(8, 2));
    lines << name << ' ' << example.values[1].item<int>() << '\n';
  }
  catena::check<catena::IOError>(bool(lines.flush()), "write_pictures", list, " cannot be written");
  std::printf("%d generated pictures are listed in %s\n", n, list.c_str());
}

// The same for the two lists of a training, and the mean of the training images.
inline void write_pictures(const std::string& train_list, const std::string& val_list, const std::string& root,
                           const std::string& mean_file) {
  write_pictures(train_list, root, 4);
  write_pictures(val_list, root, 2);
  nd::save(mean_file, mean_image(training::LabeledImageDataset(train_list, root)));
}
