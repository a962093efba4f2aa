// The images of the MNIST examples.
#pragma once

#include <cstdio>

#include <catena/catena.h>

// Returns the training and test images of MNIST, or generated digits if that is asked for or MNIST is not at hand.
inline training::datasets::Mnist mnist_images(bool synthetic) {
  training::datasets::Mnist images;
  try {
    images = synthetic ? training::datasets::generated_mnist(2000, 500) : training::datasets::get_mnist();
  } catch (const catena::IOError& e) {
    std::fprintf(stderr, "%s\nGenerated digit images take the place of MNIST.\n", e.what());
    images = training::datasets::generated_mnist();
  }
  std::printf("dataset: %s\n# training images: %ld, test images: %ld\n\n", images.origin.c_str(),
              long(images.train->size()), long(images.test->size()));
  return images;
}
