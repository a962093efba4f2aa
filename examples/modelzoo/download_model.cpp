// Says where a reference model of Caffe comes from, or downloads it into the current folder.
// test: caffenet
// prints: http://dl.caffe.berkeleyvision.org/bvlc_reference_caffenet.caffemodel
// prints: evaluate_caffe_net LIST caffenet bvlc_reference_caffenet.caffemodel
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include <catena/catena.h>

#include "../arguments.h"

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Get a Caffe reference model");
  const bool download = args.flag("--download", "download the file");
  const std::string type = args.positional("TYPE", "type of the model: alexnet, caffenet, googlenet or resnet");
  args.finish();
  const std::map<std::string, std::string> names = {{"alexnet", "bvlc_alexnet.caffemodel"},
                                                    {"caffenet", "bvlc_reference_caffenet.caffemodel"},
                                                    {"googlenet", "bvlc_googlenet.caffemodel"}};
  if (type == "resnet")
    args.fail(
        "the resnet model file cannot be downloaded automatically; please download it manually: "
        "https://github.com/KaimingHe/deep-residual-networks#models");
  if (!names.contains(type)) args.fail("TYPE is one of alexnet, caffenet, googlenet, resnet, not \"" + type + '"');

  const std::string name = names.at(type), url = "http://dl.caffe.berkeleyvision.org/" + name;
  if (download) {
    std::filesystem::copy_file(training::cached_download(url), name);
    std::printf("Done\n");
  } else {
    std::printf("The model is at %s\n", url.c_str());
  }
  std::printf("With the file in this folder: evaluate_caffe_net LIST %s %s\n", type.c_str(), name.c_str());
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "download_model: %s\n", e.what());
  return 1;
}
