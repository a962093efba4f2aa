// Says what is in a photo, with a network that was trained on ImageNet.
// test: --synthetic
// no test on cuda: fifty layers take most of a minute on the software device
// prints: 1[.] class [0-9]+ +[01][.][0-9]+
// prints: 5[.] class [0-9]+ +[01][.][0-9]+
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <catena/catena.h>

#include "../arguments.h"

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Classify a photo");
  const std::string name =
      args.choice("-m,--model", {"resnet50", "resnet101", "resnet152", "vgg16", "googlenet"}, "network");
  std::string weights =
      args.option("-w,--weights", "auto", "file of the weights; auto: that of the folder of the models");
  const std::string labels = args.option("-l,--labels", "", "file with the name of a class in each line");
  const int gpu = args.option("-g,--gpu", -1, "GPU; -1: the CPU");
  const bool synthetic = args.flag("--synthetic", "random weights and a generated picture");
  const std::string path = synthetic ? std::string() : args.positional("IMAGE", "a PNG or JPEG file");
  args.finish();
  if (synthetic) weights.clear();  // random
  use_device(gpu);
  autograd::seed(0);

  std::unique_ptr<nn::VisionModel> net;
  if (name == "vgg16") net = std::make_unique<nn::VGG16Layers>(weights);
  else if (name == "googlenet") net = std::make_unique<nn::GoogLeNet>(weights);
  else net = std::make_unique<nn::ResNetLayers>(weights, std::stoi(name.substr(6)));

  const nd::Array image = synthetic ? nd::arange(3 * 300 * 400).reshape(3, 300, 400) / 7 % 256
                                    : nd::Array(training::datasets::read_image(path));
  const nd::Array prob = net->predict({image}, {.resample = nn::Resample::bilinear}).data();
  const nd::Array order = nd::argsort(-prob[0]);

  std::vector<std::string> names;
  std::ifstream lines(labels);
  for (std::string line; std::getline(lines, line);) names.push_back(line);
  for (int i = 0; i < 5; ++i) {
    const std::size_t k = std::size_t(order[i]);
    std::printf("%d. class %zu %.4f %s\n", i + 1, k, float(prob(0, k)), k < names.size() ? names[k].c_str() : "");
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "classify: %s\n", e.what());
  return 1;
}
