// Evaluates a reference model of Caffe on the images of ILSVRC2012, cropped to their centre and scaled to 256 x 256.
// test: list.txt alexnet net.caffemodel --basepath . --mean mean.npy --batchsize 3 --synthetic
// writes: list.txt net.caffemodel mean.npy image0.png image1.png image2.png image3.png image4.png image5.png
// prints: mean loss: +0[.][0-9]+
// prints: mean accuracy: +1
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <catena/catena.h>

#include "../arguments.h"
#include "synthetic.h"

using autograd::Variable;

int main(int argc, char** argv) try {
  Arguments args(argc, argv, "Evaluate a Caffe reference model on the ILSVRC2012 data set");
  const std::string basepath = args.option("-b,--basepath", "/", "base path of the images in the list");
  const std::string mean = args.option("-m,--mean", "ilsvrc_2012_mean.npy", "file of the mean image");
  const int batchsize = args.option("-B,--batchsize", 100, "images in a minibatch");
  const int gpu = args.option("-g,--gpu", -1, "GPU; -1: the CPU");
  const bool synthetic = args.flag("--synthetic", "first write a small network, images and a mean to these paths");
  const std::string list =
      args.positional("LIST", "file with the path of an image and its label, from 0, in each line");
  const std::string type = args.positional("TYPE", "type of the model: alexnet, caffenet, googlenet or resnet");
  const std::string model = args.positional("MODEL", "file of the model");
  args.finish();
  const bool is_alexnet = type == "alexnet" || type == "caffenet";
  if (!is_alexnet && type != "googlenet" && type != "resnet")
    args.fail("TYPE is one of alexnet, caffenet, googlenet, resnet, not \"" + type + '"');
  if (batchsize <= 0) args.fail("--batchsize is a number from 1 on");

  const std::string output = is_alexnet ? "fc8" : type == "googlenet" ? "loss3/classifier" : "prob";
  const int in_size = is_alexnet ? 227 : 224;
  use_device(-1);  // images are prepared on the CPU
  if (synthetic) write_synthetic_files(list, basepath, mean, model, output, in_size);

  std::vector<std::pair<std::string, int>> dataset;
  std::ifstream lines(list);
  if (!lines) args.fail("cannot read \"" + list + '"');
  std::string path;
  for (int label; lines >> path >> label;) dataset.emplace_back(std::filesystem::path(basepath) / path, label);
  const int total = int(dataset.size());
  if (total == 0 || total % batchsize != 0)
    args.fail(std::to_string(total) + " images are not a multiple of the batch size " + std::to_string(batchsize));

  std::fprintf(stderr, "Loading Caffe model file %s...\n", model.c_str());
  nn::links::caffe::CaffeFunction func(model);
  std::fprintf(stderr, "Loaded\n");
  if (gpu >= 0) func.to_gpu(gpu);

  nd::Array mean_image;
  std::vector<std::string> disable;
  if (type == "googlenet") {
    mean_image = nd::broadcast_to(nd::array({104, 117, 123}, nd::float32).reshape(3, 1, 1), {3, 256, 256});
    disable = {"loss1/ave_pool", "loss2/ave_pool"};  // the other two classifiers are not computed
  } else {
    mean_image = nd::load(mean);
  }

  const int start = (256 - in_size) / 2;
  const nd::Slice crop(start, start + in_size), mirrored({}, {}, -1);  // colours: red, green, blue -> blue, green, red
  double loss = 0, accuracy = 0;
  for (int count = 0; count < total;) {
    std::vector<nd::Array> images;
    std::vector<int> labels;
    for (const int end = count + batchsize; count < end; ++count) {
      const nd::Array image = training::datasets::read_image(dataset[count].first);
      images.push_back(image(mirrored, crop, crop) - mean_image(nd::ellipsis, crop, crop));
      labels.push_back(dataset[count].second);
    }
    Variable x(nd::stack(images), {.volatile_ = autograd::ON}), t(nd::array(labels), {.volatile_ = autograd::ON});
    if (gpu >= 0) {
      x.to_gpu(gpu);
      t.to_gpu(gpu);
    }
    const Variable y = func({{"data", x}}, {output}, disable, false)[0];
    loss += double(nn::softmax_cross_entropy(y, t)) * batchsize;
    accuracy += double(nn::accuracy(y, t)) * batchsize;
    std::fprintf(stderr, "%d / %d\r", count, total);
  }
  std::printf("mean loss:     %.10g\nmean accuracy: %.10g\n", loss / total, accuracy / total);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "evaluate_caffe_net: %s\n", e.what());
  return 1;
}
