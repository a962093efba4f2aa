// Folder nn/vision: networks for images whose weights were trained on ImageNet, and the preparation of images for them.
// This folder may use nn, nn/functions, nn/links and, in sources, nn/caffe, nn/serializers and kernels/formats. This
// file is its umbrella header.
//
//   nn::VGG16Layers vgg;                              // weights from the folder of the models
//   const auto image = training::datasets::read_image("cat.jpg");
//   const auto prob = vgg.predict({image});           // (1, 1000)
//   const auto fc7 = vgg.extract({image}, {.layers = {"fc7"}})["fc7"];
#pragma once

#include <catena/nn/vision/googlenet.h>
#include <catena/nn/vision/ops.h>
#include <catena/nn/vision/preparation.h>
#include <catena/nn/vision/pretrained.h>
#include <catena/nn/vision/resnet.h>
#include <catena/nn/vision/torch_models.h>
#include <catena/nn/vision/vgg.h>
