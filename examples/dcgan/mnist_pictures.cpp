// Writes the training images of MNIST as a folder of pictures of 32 x 32 pixels, from which train_dcgan can learn.
// test: --synthetic --number 3 pictures
// writes: pictures/00000.png pictures/00001.png pictures/00002.png
// prints: dataset: generated
// prints: 3 pictures in pictures
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include <catena/catena.h>

#include "../arguments.h"
#include "../mnist/images.h"

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Catena example: MNIST as a folder of pictures");
  const std::int64_t number = args.option("-n,--number", 60000, "pictures at most");
  const bool synthetic = args.flag("--synthetic", "generated images instead of MNIST");
  const std::string folder = args.positional("FOLDER", "folder of the pictures");
  args.finish();

  const auto [train, test] = mnist_images(synthetic);
  const std::int64_t size = std::min(number, train->size());
  std::filesystem::create_directories(folder);
  for (std::int64_t i = 0; i < size; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "/%05ld.png", long(i));
    const nd::Array image = (*train)[i].values[0];
    training::datasets::write_image(folder + name, nd::pad(image.reshape(28, 28) * 255, 2));
  }
  std::printf("%ld pictures in %s\n", long(size), folder.c_str());
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "mnist_pictures: %s\n", e.what());
  return 1;
}
