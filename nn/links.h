// Room nn/links: layers and models, classes with parameters derived from Link. Their functions are in nn/functions; the
// base classes and containers are in nn. This room may use nn, nn/functions and autograd. This file is its umbrella
// header.
#pragma once

#include <catena/nn/chain_list.h>
#include <catena/nn/links/batch_normalization.h>
#include <catena/nn/links/classifier.h>
#include <catena/nn/links/convolution_2d.h>
#include <catena/nn/links/layer_normalization.h>
#include <catena/nn/links/linear.h>
