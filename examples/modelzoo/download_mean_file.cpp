// Says where the mean image of ILSVRC2012 comes from, or downloads it into the current folder.
// prints: https://github.com/BVLC/caffe/raw/master/python/caffe/imagenet/ilsvrc_2012_mean.npy
// prints: --mean ilsvrc_2012_mean.npy
#include <cstdio>
#include <filesystem>
#include <string>

#include <catena/catena.h>

#include "../arguments.h"

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Get the mean image of ILSVRC2012");
  const bool download = args.flag("--download", "download the file");
  args.finish();
  const std::string name = "ilsvrc_2012_mean.npy";
  const std::string url = "https://github.com/BVLC/caffe/raw/master/python/caffe/imagenet/" + name;
  if (download) {
    std::filesystem::copy_file(training::cached_download(url), name);
    std::printf("Done\n");
  } else {
    std::printf("The mean image is at %s\n", url.c_str());
  }
  std::printf("With the file in this folder: evaluate_caffe_net LIST alexnet MODEL --mean %s\n", name.c_str());
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "download_mean_file: %s\n", e.what());
  return 1;
}
