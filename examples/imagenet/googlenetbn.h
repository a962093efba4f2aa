// GoogLeNet with batch normalization (Ioffe, Szegedy: Batch Normalization, 2015).
#pragma once

#include <cmath>

#include <catena/catena.h>

struct GoogLeNetBN : nn::Chain {
  using Variable = autograd::Variable;
  static constexpr int insize = 224;  // height and width of an image

  nn::Convolution2D conv1, conv2;
  nn::BatchNormalization norm1, norm2;
  nn::InceptionBN inc3a, inc3b, inc3c, inc4a, inc4b, inc4c, inc4d, inc4e, inc5a, inc5b;
  nn::Linear out;

  nn::Convolution2D conva;
  nn::Linear lina, outa;
  nn::BatchNormalization norma, norma2;

  nn::Convolution2D convb;
  nn::Linear linb, outb;
  nn::BatchNormalization normb, normb2;

  // The initializers of the weights and of the biases are of the given dtype.
  explicit GoogLeNetBN(const nn::Initializer& W = {}, const nn::Initializer& b = 0.0, nd::Dtype dtype = nd::float32)
      : conv1(64, 7, {.stride = 2, .pad = 3, .nobias = true, .initialW = W}),
        conv2(192, 3, {.pad = 1, .nobias = true, .initialW = W}),
        norm1(64, {.dtype = dtype}),
        norm2(192, {.dtype = dtype}),
        inc3a({}, 64, 64, 64, 64, 96, "avg", {.proj_pool = 32, .conv_init = W, .dtype = dtype}),
        inc3b({}, 64, 64, 96, 64, 96, "avg", {.proj_pool = 64, .conv_init = W, .dtype = dtype}),
        inc3c({}, 0, 128, 160, 64, 96, "max", {.stride = 2, .conv_init = W, .dtype = dtype}),
        inc4a({}, 224, 64, 96, 96, 128, "avg", {.proj_pool = 128, .conv_init = W, .dtype = dtype}),
        inc4b({}, 192, 96, 128, 96, 128, "avg", {.proj_pool = 128, .conv_init = W, .dtype = dtype}),
        inc4c({}, 128, 128, 160, 128, 160, "avg", {.proj_pool = 128, .conv_init = W, .dtype = dtype}),
        inc4d({}, 64, 128, 192, 160, 192, "avg", {.proj_pool = 128, .conv_init = W, .dtype = dtype}),
        inc4e({}, 0, 128, 192, 192, 256, "max", {.stride = 2, .conv_init = W, .dtype = dtype}),
        inc5a({}, 352, 192, 320, 160, 224, "avg", {.proj_pool = 128, .conv_init = W, .dtype = dtype}),
        inc5b({}, 352, 192, 320, 192, 224, "max", {.proj_pool = 128, .conv_init = W, .dtype = dtype}),
        out(1000, {.initialW = W, .initial_bias = b, .n_batch_axes = 1}),
        conva(128, 1, {.nobias = true, .initialW = W}),
        lina(1024, {.nobias = true, .initialW = W, .n_batch_axes = 1}),
        outa(1000, {.initialW = W, .initial_bias = b}),
        norma(128, {.dtype = dtype}),
        norma2(1024, {.dtype = dtype}),
        convb(128, 1, {.nobias = true, .initialW = W}),
        linb(1024, {.nobias = true, .initialW = W, .n_batch_axes = 1}),
        outb(1000, {.initialW = W, .initial_bias = b}),
        normb(128, {.dtype = dtype}),
        normb2(1024, {.dtype = dtype}) {}
  NN_MEMBERS(conv1, norm1, conv2, norm2, inc3a, inc3b, inc3c, inc4a, inc4b, inc4c, inc4d, inc4e, inc5a, inc5b, out,
             conva, norma, lina, norma2, outa, convb, normb, linb, normb2, outb)

  Variable operator()(const Variable& x, const Variable& t) {
    Variable h = nn::max_pooling_2d(nn::relu(norm1(conv1(x))), 3, 2, 1);
    h = nn::max_pooling_2d(nn::relu(norm2(conv2(h))), 3, 2, 1);

    h = inc3c(inc3b(inc3a(h)));
    h = inc4a(h);

    Variable a = nn::average_pooling_2d(h, 5, 3);
    a = nn::relu(norma(conva(a)));
    a = nn::relu(norma2(lina(a)));
    const Variable loss1 = nn::softmax_cross_entropy(outa(a), t);

    h = inc4d(inc4c(inc4b(h)));

    Variable b = nn::average_pooling_2d(h, 5, 3);
    b = nn::relu(normb(convb(b)));
    b = nn::relu(normb2(linb(b)));
    const Variable loss2 = nn::softmax_cross_entropy(outb(b), t);

    h = inc5b(inc5a(inc4e(h)));
    h = out(nn::average_pooling_2d(h, 7));
    const Variable loss3 = nn::softmax_cross_entropy(h, t);

    const Variable loss = 0.3 * (loss1 + loss2) + loss3;
    nn::report({{"loss", loss}, {"loss1", loss1}, {"loss2", loss2}, {"loss3", loss3}, {"accuracy", nn::accuracy(h, t)}},
               this);
    return loss;
  }
};

// The same with weights of 16 bits.
struct GoogLeNetBNFp16 : GoogLeNetBN {
  GoogLeNetBNFp16()
      : GoogLeNetBN(nn::initializers::HeNormal(std::sqrt(0.5), {.dtype = nd::float16}),
                    nn::initializers::Zero({.dtype = nd::float16}), nd::float16) {}
  NN_MEMBERS_OF(GoogLeNetBN)

  Variable operator()(const Variable& x, const Variable& t) {
    return GoogLeNetBN::operator()(x.astype(nd::float16), t);
  }
};
