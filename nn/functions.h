// Umbrella header of nn/functions.
#pragma once

#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/array.h>
#include <catena/nn/functions/attention.h>
#include <catena/nn/functions/connection.h>
#include <catena/nn/functions/decorrelation.h>
#include <catena/nn/functions/evaluation.h>
#include <catena/nn/functions/hierarchical_softmax.h>
#include <catena/nn/functions/loss.h>
#include <catena/nn/functions/loss_modules.h>
#include <catena/nn/functions/math.h>
#include <catena/nn/functions/modules.h>
#include <catena/nn/functions/noise.h>
#include <catena/nn/functions/normalization.h>
#include <catena/nn/functions/objects.h>
#include <catena/nn/functions/pooling.h>
#include <catena/nn/functions/probability_loss.h>
#include <catena/nn/functions/quantization.h>
#include <catena/nn/functions/recurrent.h>
#include <catena/nn/functions/similarity.h>
#include <catena/nn/functions/torch_convolution.h>
#include <catena/nn/functions/torch_images.h>
#include <catena/nn/functions/torch_in_place.h>
#include <catena/nn/functions/torch_normalization.h>
#include <catena/nn/functions/torch_pooling.h>
#include <catena/nn/functions/torch_sequences.h>
