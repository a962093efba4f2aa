// A step of a generative adversarial network: the model of Chainer's examples/dcgan for images of 32x32 (Radford et
// al., 2015). Each of its two parts has an Adam with weight decay.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

using autograd::Variable;

// Initializes weights with the deviation 0.02, as in the example.
void initialize(std::initializer_list<nn::Parameter*> weights, std::int64_t seed) {
  const double range = 0.02 * std::sqrt(3.0);
  for (nn::Parameter* W : weights) W->set_data(uniform(W->shape(), seed++, -range, range));
}

constexpr int kBottom = 4;  // the size of the smallest images

// Converts vectors (N, hidden) to images (N, 3, 32, 32). `channels`: of the smallest images, 512 in the example.
struct Generator : nn::Chain {
  int channels;
  nn::Linear l0;
  nn::Deconvolution2D dc1, dc2, dc3, dc4;
  nn::BatchNormalization bn0, bn1, bn2, bn3;
  Generator(int hidden, int c)
      : channels(c),
        l0(hidden, kBottom * kBottom * c),
        dc1(c, c / 2, 4, 2, 1),
        dc2(c / 2, c / 4, 4, 2, 1),
        dc3(c / 4, c / 8, 4, 2, 1),
        dc4(c / 8, 3, 3, 1, 1),
        bn0(kBottom * kBottom * c),
        bn1(c / 2),
        bn2(c / 4),
        bn3(c / 8) {
    initialize({&l0.W, &dc1.W, &dc2.W, &dc3.W, &dc4.W}, 1000);
  }
  NN_MEMBERS(l0, dc1, dc2, dc3, dc4, bn0, bn1, bn2, bn3)
  Variable operator()(const Variable& z) {
    Variable h = nn::relu(bn0(l0(z))).reshape(-1, channels, kBottom, kBottom);
    h = nn::relu(bn1(dc1(h)));
    h = nn::relu(bn2(dc2(h)));
    h = nn::relu(bn3(dc3(h)));
    return nn::sigmoid(dc4(h));
  }
};

// Converts images to logits (N, 1), with noise before every activation.
struct Discriminator : nn::Chain {
  nn::Convolution2D c0_0, c0_1, c1_0, c1_1, c2_0, c2_1, c3_0;
  nn::Linear l4;
  nn::BatchNormalization bn0_1, bn1_0, bn1_1, bn2_0, bn2_1, bn3_0;
  double noise = 0.2;  // deviation of the noise
  explicit Discriminator(int c)
      : c0_0(3, c / 8, 3, 1, 1),
        c0_1(c / 8, c / 4, 4, 2, 1),
        c1_0(c / 4, c / 4, 3, 1, 1),
        c1_1(c / 4, c / 2, 4, 2, 1),
        c2_0(c / 2, c / 2, 3, 1, 1),
        c2_1(c / 2, c, 4, 2, 1),
        c3_0(c, c, 3, 1, 1),
        l4(kBottom * kBottom * c, 1),
        bn0_1(c / 4, {.use_gamma = false}),
        bn1_0(c / 4, {.use_gamma = false}),
        bn1_1(c / 2, {.use_gamma = false}),
        bn2_0(c / 2, {.use_gamma = false}),
        bn2_1(c, {.use_gamma = false}),
        bn3_0(c, {.use_gamma = false}) {
    initialize({&c0_0.W, &c0_1.W, &c1_0.W, &c1_1.W, &c2_0.W, &c2_1.W, &c3_0.W, &l4.W}, 2000);
  }
  NN_MEMBERS(c0_0, c0_1, c1_0, c1_1, c2_0, c2_1, c3_0, l4, bn0_1, bn1_0, bn1_1, bn2_0, bn2_1, bn3_0)
  Variable noisy(const Variable& h) const {
    if (noise == 0) return h;
    return h + autograd::random_normal(h.shape(), 0, noise, h.dtype(), autograd::default_generator(), h.device());
  }
  Variable operator()(const Variable& x) {
    Variable h = nn::leaky_relu(noisy(c0_0(noisy(x))));
    const std::pair<nn::Convolution2D*, nn::BatchNormalization*> normalized[] = {
        {&c0_1, &bn0_1}, {&c1_0, &bn1_0}, {&c1_1, &bn1_1}, {&c2_0, &bn2_0}, {&c2_1, &bn2_1}, {&c3_0, &bn3_0}};
    for (const auto& [convolution, norm] : normalized) h = nn::leaky_relu(noisy((*norm)((*convolution)(h))));
    return l4(h);
  }
};

struct Adversaries {
  Generator gen;
  Discriminator dis;
  training::Adam gen_adam{{.alpha = 0.0002, .beta1 = 0.5}}, dis_adam{{.alpha = 0.0002, .beta1 = 0.5}};
  std::vector<std::pair<nd::Array, nd::Array>> batches;  // images and vectors
  std::size_t at = 0;

  explicit Adversaries(const Parameters& p)
      : gen(int(p.at("hidden")), int(p.at("channels"))), dis(int(p.at("channels"))) {
    const std::int64_t n = p.at("batch");
    for (std::int64_t s = 0; s < p.at("sets"); ++s)
      batches.emplace_back(uniform({n, 3, 32, 32}, 2 * s), uniform({n, p.at("hidden")}, 2 * s + 1, -1));
    gen_adam.setup(gen);
    dis_adam.setup(dis);
    for (training::Adam* adam : {&gen_adam, &dis_adam}) adam->add_hook(training::WeightDecay(0.0001));
  }
  // Returns the losses of both parts. The generator is trained with the discriminator just updated, because the weights
  // used for an output must still be there when it is differentiated.
  std::pair<Variable, Variable> step() {
    const auto& [x, z] = batches[at];
    if (++at == batches.size()) at = 0;
    const auto n = double(x.shape(0));
    const Variable fake = gen(z);
    Variable dis_loss, gen_loss;
    dis_adam.update([&] {
      const Variable of_real = dis(x), of_fake = dis(Variable(fake.data()));
      return dis_loss = (sum(nn::softplus(-of_real)) + sum(nn::softplus(of_fake))) / n;
    });
    gen_adam.update([&] { return gen_loss = sum(nn::softplus(-dis(fake))) / n; });
    return {dis_loss, gen_loss};
  }
};

// The compared result is the losses of the second step, without noise.
Ready dcgan(const Parameters& p) {
  auto a = std::make_shared<Adversaries>(p);
  return {repeated([a] { a->step(); }), [a] {
            const double noise = std::exchange(a->dis.noise, 0);
            a->step();
            const auto [dis_loss, gen_loss] = a->step();
            a->dis.noise = noise;
            const autograd::Array both[] = {autograd::reshape(dis_loss.data(), {1}),
                                            autograd::reshape(gen_loss.data(), {1})};
            return nd::Array(autograd::concatenate(both, 0));
          }};
}

// Large batches use narrower networks, so that a step has at most about 10^11 multiplications.
Parameters batches(Draw& draw) {
  const std::int64_t batch = draw.at_most(draw.one_of({1, 2, 8, 32, 100, 256}));
  const std::int64_t most = std::min<std::int64_t>(512, 16384 / batch), channels = draw.length(32, most);
  return {{"batch", batch},
          {"channels", std::max<std::int64_t>(8, draw.at_most(channels) / 8 * 8)},
          {"hidden", 100},
          {"sets", 2}};
}

const Cases cases{{"training/dcgan",
                   {{"batch", 16}, {"channels", 512}, {"hidden", 100}, {"sets", 2}},
                   {{"batch", 2}, {"channels", 8}, {"hidden", 5}},
                   dcgan,
                   batches}};

}  // namespace
}  // namespace bench
