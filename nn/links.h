// Folder nn/links: layers and models, which are classes with parameters derived from Link. Their functions are in
// nn/functions; the base classes and containers are in nn. This folder may use nn, nn/functions and autograd. This file
// is its umbrella header.
#pragma once

#include <catena/nn/buffer.h>
#include <catena/nn/chain_list.h>
#include <catena/nn/functions/modules.h>
#include <catena/nn/links/batch_normalization.h>
#include <catena/nn/links/bias.h>
#include <catena/nn/links/bilinear.h>
#include <catena/nn/links/classifier.h>
#include <catena/nn/links/composed_convolution_2d.h>
#include <catena/nn/links/convolution_2d.h>
#include <catena/nn/links/convolution_nd.h>
#include <catena/nn/links/crf1d.h>
#include <catena/nn/links/decorrelated_batch_normalization.h>
#include <catena/nn/links/embed_id.h>
#include <catena/nn/links/group_normalization.h>
#include <catena/nn/links/gru.h>
#include <catena/nn/links/hierarchical_softmax.h>
#include <catena/nn/links/highway.h>
#include <catena/nn/links/inception.h>
#include <catena/nn/links/layer_normalization.h>
#include <catena/nn/links/linear.h>
#include <catena/nn/links/lstm.h>
#include <catena/nn/links/maxout.h>
#include <catena/nn/links/mgu.h>
#include <catena/nn/links/mlp_convolution_2d.h>
#include <catena/nn/links/multi_head_attention.h>
#include <catena/nn/links/n_step.h>
#include <catena/nn/links/parameter.h>
#include <catena/nn/links/per_example_grads.h>
#include <catena/nn/links/prelu.h>
#include <catena/nn/links/quantization.h>
#include <catena/nn/links/sampling_losses.h>
#include <catena/nn/links/scale.h>
#include <catena/nn/links/simplified_dropconnect.h>
#include <catena/nn/links/swish.h>
#include <catena/nn/links/torch_cells.h>
#include <catena/nn/links/torch_layers.h>
#include <catena/nn/links/torch_recurrent.h>
#include <catena/nn/links/transformer.h>
#include <catena/nn/links/tree_lstm.h>
#include <catena/nn/module_list.h>
#include <catena/nn/parameter_list.h>
#include <catena/nn/sequential.h>
