// Generators, autoencoders, interpolation.
#include <catena/tests/interop/onnx/networks.h>

namespace onnx_networks {
namespace {

struct Generator : nn::Chain {
  nn::Linear l0{5, 32};
  nn::BatchNormalization bn0{32}, bn1{4};
  nn::Deconvolution2D dc1{8, 4, 4, {.stride = 2, .pad = 1}}, dc2{4, 3, 3, {.stride = 2, .pad = 1, .outsize = {{8, 8}}}};
  NN_MEMBERS(l0, bn0, bn1, dc1, dc2)
  Variable operator()(const Variable& z) {
    const Variable h = nn::relu(bn0(l0(z)));
    return tanh(dc2(nn::relu(bn1(dc1(reshape(h, {z.shape(0), 8, 2, 2}))))));
  }
};

struct Discriminator : nn::Chain {
  nn::Convolution2D c0{3, 4, 3, {.pad = 1}}, c1{4, 8, 4, {.stride = 2, .pad = 1}};
  nn::Linear l{std::nullopt, 1};
  NN_MEMBERS(c0, c1, l)
  Variable operator()(const Variable& x) { return l(nn::leaky_relu(c1(nn::elu(c0(x))), 0.2)); }
};

struct VAE : nn::Chain {
  nn::Linear le1{12, 8}, le2_mu{8, 3}, le2_ln_var{8, 3}, ld1{3, 8}, ld2{8, 12};
  NN_MEMBERS(le1, le2_mu, le2_ln_var, ld1, ld2)
  std::pair<Variable, Variable> encode(const Variable& x) {
    const Variable h = tanh(le1(x));
    return {le2_mu(h), le2_ln_var(h)};
  }
  Variable decode(const Variable& z) { return sigmoid(ld2(tanh(ld1(z)))); }
};

// A fast style transfer network in small: reflection padding, instance normalization, upsampling by nearest neighbours.
struct Style : nn::Chain {
  nn::Convolution2D down{3, 4, 3, {.stride = 2}}, up{4, 3, 3};
  nn::InstanceNormalization norm{4};
  NN_MEMBERS(down, up, norm)
  Variable operator()(const Variable& x) {
    const auto padded = [](const Variable& v) { return autograd::pad(v, {{0, 0}, {0, 0}, {1, 1}, {1, 1}}, "reflect"); };
    const Variable h = nn::relu(norm(down(padded(x))));
    return up(padded(nn::interpolate(h, {8, 8})));
  }
};

}  // namespace

void add_generators(Writer& w) {
  Generator generator;
  generator(random({2, 5}));
  randomize(generator);
  w.add("dcgan_generator", generator, {{random({2, 5})}, {random({4, 5})}}, dynamic_batch());
  Discriminator discriminator;
  discriminator(random({2, 3, 8, 8}));
  w.add("dcgan_discriminator", discriminator, {{random({2, 3, 8, 8})}, {random({1, 3, 8, 8})}}, dynamic_batch());
  VAE vae;
  w.add("vae_encoder", [&](const Variable& x) { return vae.encode(x); }, {{random({3, 12})}, {random({1, 12})}},
        {.output_names = {"mu", "ln_var"}, .dynamic_batch = true, .link = &vae});
  w.add("vae_decoder", [&](const Variable& z) { return vae.decode(z); }, {{random({3, 3})}}, {.link = &vae});
  Style style;
  style(random({1, 3, 8, 8}));
  w.add("style", style, {{random({1, 3, 8, 8})}, {random({2, 3, 8, 8})}}, dynamic_batch());
  w.add(
      "interpolation",
      [](const Variable& x) {
        return Variables{nn::resize_images(x, {7, 9}), nn::interpolate(x, {3, 10}, "cubic"),
                         nn::interpolate(x, {8, 3}, "nearest"), nn::adaptive_average_pooling_2d(x, {3, 4}),
                         nn::adaptive_average_pooling_2d(x, 1)};
      },
      {{random({2, 3, 5, 6})}, {random({3, 3, 5, 6})}}, dynamic_batch());
  w.add(
      "pixels",
      [](const Variable& x) {
        const Variable large = nn::depth2space(x, 2);
        return Variables{large,
                         nn::space2depth(large, 2),
                         nn::pixel_shuffle(x, 2),
                         nn::unpooling_2d(x, 2, {.cover_all = false}),
                         nn::unpooling_2d(x, 3, {.stride = 2, .pad = 1}),
                         nn::im2col(x, {2, 3}, {.stride = 2, .pad = 1})};
      },
      {{random({2, 8, 4, 5})}, {random({3, 8, 4, 5})}}, dynamic_batch());
  w.add(
      "average_pooling",
      [](const Variable& x) {
        return Variables{nn::average_pooling_2d(x, 3, {.stride = 2, .pad = 1}),
                         nn::average_pooling_2d(x, 3, {.stride = 1, .pad = 1, .pad_value = {}}),
                         nn::max_pooling_2d(x, 3, {.stride = 2, .pad = 1}), nn::global_max_pooling(x)};
      },
      {{random({2, 3, 7, 8})}, {random({1, 3, 7, 8})}}, dynamic_batch());
}

}  // namespace onnx_networks
