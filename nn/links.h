// All links.
#pragma once

#include <catena/nn/chain_list.h>
#include <catena/nn/links/batch_normalization.h>
#include <catena/nn/links/classifier.h>
#include <catena/nn/links/convolution_2d.h>
#include <catena/nn/links/layer_normalization.h>
#include <catena/nn/links/linear.h>
