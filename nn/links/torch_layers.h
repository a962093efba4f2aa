// Layers with PyTorch's names, options and defaults.
//
//   nn::Sequential net(nn::Conv2d(1, 8, 3, {.padding = 1}), nn::BatchNorm2d(8), nn::ReLU(), nn::MaxPool2d(2),
//                      nn::Flatten(), nn::Linear(1568, 10));
//
// Layers without parameters are functions: members of a class that NN_MEMBERS need not list. Parameters have Chainer's
// keys and initial values; KeyStyle::pytorch reads PyTorch's files.
#pragma once

#include <catena/nn/links/torch_activation.h>
#include <catena/nn/links/torch_convolution.h>
#include <catena/nn/links/torch_normalization.h>
#include <catena/nn/links/torch_padding.h>
#include <catena/nn/links/torch_pooling.h>
#include <catena/nn/links/torch_shapes.h>
