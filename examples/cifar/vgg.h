// The network of the CIFAR examples.
#pragma once

#include <catena/catena.h>

// A convolution, a batch normalization and a rectifier.
struct Block : nn::Chain {
  nn::Convolution2D conv;
  nn::BatchNormalization bn;
  Block(int out_channels, int ksize, int pad = 1)
      : conv(out_channels, ksize, {.pad = pad, .nobias = true}), bn(out_channels) {}
  NN_MEMBERS(conv, bn)

  autograd::Variable operator()(const autograd::Variable& x) { return nn::relu(bn(conv(x))); }
};

// A network in the style of VGG for images (N, C, 32, 32), after http://torch.ch/blog/2015/07/30/cifar.html. With the
// images of CIFAR-10 it gets about 89 % of the test images right, with those of CIFAR-100 about 63 %.
struct VGG : nn::Chain {
  Block block1_1{64, 3}, block1_2{64, 3};
  Block block2_1{128, 3}, block2_2{128, 3};
  Block block3_1{256, 3}, block3_2{256, 3}, block3_3{256, 3};
  Block block4_1{512, 3}, block4_2{512, 3}, block4_3{512, 3};
  Block block5_1{512, 3}, block5_2{512, 3}, block5_3{512, 3};
  nn::Linear fc1{512, {.nobias = true, .n_batch_axes = 1}};
  nn::BatchNormalization bn_fc1{512};
  nn::Linear fc2;
  explicit VGG(int class_labels = 10) : fc2(class_labels, {.nobias = true}) {}
  NN_MEMBERS(block1_1, block1_2, block2_1, block2_2, block3_1, block3_2, block3_3, block4_1, block4_2, block4_3,
             block5_1, block5_2, block5_3, fc1, bn_fc1, fc2)

  autograd::Variable operator()(const autograd::Variable& x) {
    // 64 channels
    autograd::Variable h = nn::dropout(block1_1(x), 0.3);
    h = nn::max_pooling_2d(block1_2(h), 2, 2);

    // 128 channels
    h = nn::dropout(block2_1(h), 0.4);
    h = nn::max_pooling_2d(block2_2(h), 2, 2);

    // 256 channels
    h = nn::dropout(block3_1(h), 0.4);
    h = nn::dropout(block3_2(h), 0.4);
    h = nn::max_pooling_2d(block3_3(h), 2, 2);

    // 512 channels
    h = nn::dropout(block4_1(h), 0.4);
    h = nn::dropout(block4_2(h), 0.4);
    h = nn::max_pooling_2d(block4_3(h), 2, 2);

    // 512 channels
    h = nn::dropout(block5_1(h), 0.4);
    h = nn::dropout(block5_2(h), 0.4);
    h = nn::max_pooling_2d(block5_3(h), 2, 2);

    h = fc1(nn::dropout(h, 0.5));
    h = nn::relu(bn_fc1(h));
    return fc2(nn::dropout(h, 0.5));
  }
};
