// GoogLeNet (Szegedy et al.: Going Deeper with Convolutions, 2014).
#pragma once

#include <catena/catena.h>

struct GoogLeNet : nn::Chain {
  using Variable = autograd::Variable;
  static constexpr int insize = 224;  // height and width of an image

  nn::Convolution2D conv1{64, 7, {.stride = 2, .pad = 3}};
  nn::Convolution2D conv2_reduce{64, 1}, conv2{192, 3, {.pad = 1}};
  nn::Inception inc3a{{}, 64, 96, 128, 16, 32, 32};
  nn::Inception inc3b{{}, 128, 128, 192, 32, 96, 64};
  nn::Inception inc4a{{}, 192, 96, 208, 16, 48, 64};
  nn::Inception inc4b{{}, 160, 112, 224, 24, 64, 64};
  nn::Inception inc4c{{}, 128, 128, 256, 24, 64, 64};
  nn::Inception inc4d{{}, 112, 144, 288, 32, 64, 64};
  nn::Inception inc4e{{}, 256, 160, 320, 32, 128, 128};
  nn::Inception inc5a{{}, 256, 160, 320, 32, 128, 128};
  nn::Inception inc5b{{}, 384, 192, 384, 48, 128, 128};
  nn::Linear loss3_fc{1000, {.n_batch_axes = 1}};

  nn::Convolution2D loss1_conv{128, 1};
  nn::Linear loss1_fc1{1024, {.n_batch_axes = 1}}, loss1_fc2{1000};

  nn::Convolution2D loss2_conv{128, 1};
  nn::Linear loss2_fc1{1024, {.n_batch_axes = 1}}, loss2_fc2{1000};
  NN_MEMBERS(conv1, conv2_reduce, conv2, inc3a, inc3b, inc4a, inc4b, inc4c, inc4d, inc4e, inc5a, inc5b, loss3_fc,
             loss1_conv, loss1_fc1, loss1_fc2, loss2_conv, loss2_fc1, loss2_fc2)

  Variable operator()(const Variable& x, const Variable& t) {
    Variable h = nn::relu(conv1(x));
    h = nn::local_response_normalization(nn::max_pooling_2d(h, 3, 2));
    h = nn::relu(conv2_reduce(h));
    h = nn::relu(conv2(h));
    h = nn::max_pooling_2d(nn::local_response_normalization(h), 3, 2);

    h = inc3b(inc3a(h));
    h = nn::max_pooling_2d(h, 3, 2);
    h = inc4a(h);

    Variable l = nn::average_pooling_2d(h, 5, 3);
    l = nn::relu(loss1_conv(l));
    l = nn::relu(loss1_fc1(l));
    const Variable loss1 = nn::softmax_cross_entropy(loss1_fc2(l), t);

    h = inc4d(inc4c(inc4b(h)));

    l = nn::average_pooling_2d(h, 5, 3);
    l = nn::relu(loss2_conv(l));
    l = nn::relu(loss2_fc1(l));
    const Variable loss2 = nn::softmax_cross_entropy(loss2_fc2(l), t);

    h = inc4e(h);
    h = nn::max_pooling_2d(h, 3, 2);
    h = inc5b(inc5a(h));

    h = nn::average_pooling_2d(h, 7, 1);
    h = loss3_fc(nn::dropout(h, 0.4));
    const Variable loss3 = nn::softmax_cross_entropy(h, t);

    const Variable loss = 0.3 * (loss1 + loss2) + loss3;
    nn::report({{"loss", loss}, {"loss1", loss1}, {"loss2", loss2}, {"loss3", loss3}, {"accuracy", nn::accuracy(h, t)}},
               this);
    return loss;
  }
};
