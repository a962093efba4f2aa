// All links.
#pragma once

#include "nn/chain_list.h"
#include "nn/links/batch_normalization.h"
#include "nn/links/classifier.h"
#include "nn/links/convolution_2d.h"
#include "nn/links/layer_normalization.h"
#include "nn/links/linear.h"
