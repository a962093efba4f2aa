// The images of the CIFAR examples.
#pragma once

#include <cstdio>
#include <string>

#include <catena/catena.h>

// Returns the training and test images of "cifar10" or "cifar100", or generated images if that is asked for or the data
// set is not at hand; and of each part the first `limit` images, unless that is 0.
inline training::datasets::TrainTest cifar_images(const std::string& dataset, bool synthetic, int limit) {
  const bool is_cifar10 = dataset == "cifar10";
  std::printf("Using %s dataset.\n", is_cifar10 ? "CIFAR10" : "CIFAR100");
  training::datasets::TrainTest images;
  try {
    if (!synthetic) images = is_cifar10 ? training::datasets::get_cifar10() : training::datasets::get_cifar100();
  } catch (const catena::IOError& e) {
    std::fprintf(stderr, "%s\nGenerated images take the place of the data set.\n", e.what());
    synthetic = true;
  }
  if (synthetic)
    images = is_cifar10 ? training::datasets::generated_cifar10() : training::datasets::generated_cifar100();
  if (limit > 0) {
    images.train = training::split_dataset(images.train, limit).first;
    images.test = training::split_dataset(images.test, limit).first;
  }
  std::printf("dataset: %s\n# training images: %ld, test images: %ld\n\n", images.origin.c_str(),
              long(images.train->size()), long(images.test->size()));
  return images;
}
