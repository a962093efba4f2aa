// A training repeats bit for bit: the same seed gives the same weights, states and losses after several updates, with
// all that draws random numbers or adds to repeated places.
#include <catena/autograd/config.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/datasets.h>
#include <catena/training/iterator.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/optimizers.h>
#include <catena/training/updater.h>

using namespace test;
using namespace training;

namespace {

// Words with repetitions, images, dropout, statistics of batches.
struct Net : nn::Chain {
  nn::EmbedID words{5, 4};
  nn::Convolution2D conv{2, 3, 3};
  nn::BatchNormalization bn{3};
  nn::Linear out{12, 2};
  NN_MEMBERS(words, conv, bn, out)
  Variable operator()(const Variable& ids, const Variable& images, const Variable& t) {
    const Variable seen = nn::max_pooling_2d(nn::relu(bn(conv(images))), 2, {.stride = 1});
    const Variable read = autograd::sum(words(ids), 1);
    const Variable h = autograd::concat({autograd::reshape(autograd::mean(seen, {2, 3}), {-1, 3}), read, read,
                                         autograd::reshape(autograd::sum(seen, {1, 2, 3}), {-1, 1})},
                                        1);
    return nn::softmax_cross_entropy(out(nn::dropout(h, {.ratio = 0.3})), t);
  }
};

std::vector<Array> trained(std::uint64_t seed) {
  const auto scope = autograd::using_config({.cudnn_deterministic = true});
  autograd::seed(seed);
  Net model;
  AdamW optimizer({.alpha = 0.05});
  optimizer.setup(model);
  optimizer.add_hook(GradientClipping(1));
  optimizer.add_hook(GradientNoise(0.01));
  std::vector<float> pixels;
  std::vector<std::int32_t> ids, labels;
  for (int i = 0; i < 12 * 2 * 5 * 5; ++i) pixels.push_back(float((i * 37) % 101) / 101);
  for (int i = 0; i < 12 * 6; ++i) ids.push_back((i * i + i / 7) % 5);
  for (int i = 0; i < 12; ++i) labels.push_back(i % 2);
  const TupleDataset data({autograd::array(ids, {12, 6}), autograd::array(pixels, {12, 2, 5, 5}), ints(labels)});
  StandardUpdater updater(SerialIterator(data, 4), optimizer,
                          {.loss_func = [&](const Variables& v) { return model(v[0], v[1], v[2]); }});
  for (int i = 0; i < 8; ++i) updater.update();
  std::vector<Array> result;
  for (const nn::NamedParam& p : model.namedparams()) {
    result.push_back(p.param.data());
    for (const Array& state : optimizer.states(p.path)) result.push_back(state);
  }
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(determinism)

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_weights) {
  const std::vector<Array> first = trained(7);
  for (int run = 0; run < 2; ++run) {
    const std::vector<Array> again = trained(7);
    BOOST_REQUIRE(again.size() == first.size());
    for (std::size_t i = 0; i < first.size(); ++i) BOOST_TEST(same_bits(again[i], first[i]), "array " << i);
  }
}

BOOST_AUTO_TEST_CASE(another_seed_gives_other_weights) { BOOST_TEST(!same_bits(trained(8)[0], trained(7)[0])); }

BOOST_AUTO_TEST_SUITE_END()
