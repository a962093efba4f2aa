// Computes the mean of the images of a list, which train_imagenet subtracts.
// test: pictures/train.txt --root pictures --synthetic
// writes: pictures/train.txt pictures/train_0.png pictures/train_1.png pictures/train_2.png pictures/train_3.png
// writes: mean.npy
// prints: compute mean image
#include <cstdio>
#include <string>

#include <catena/catena.h>

#include "../arguments.h"
#include "mean_image.h"
#include "synthetic.h"

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Compute images mean array");
  const std::string root = args.option("-R,--root", ".", "folder to which the paths of the list refer");
  const std::string output = args.option("-o,--output", "mean.npy", "file of the mean");
  const bool synthetic = args.flag("--synthetic", "write generated pictures and the list first");
  const std::string list = args.positional("DATASET", "file with the path and the label of an image in each line");
  args.finish();

  if (synthetic) write_pictures(list, root, 4);
  nd::save(output, mean_image(training::LabeledImageDataset(list, root)));
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "compute_mean: %s\n", e.what());
  return 1;
}
