// Two models whose losses come from one forward pass, as in Chainer's example dcgan: the first update does not make the
// second backward an error, and the second one computes with the updated parameters. All other changes in place do.
#include <catena/autograd/debug.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/optimizers.h>
#include <catena/training/updater.h>

using namespace test;
using namespace training;

namespace {

// A rule without a kernel.
struct OwnRule : Optimizer {
  OwnRule() : Optimizer({.name = "OwnRule", .hyper = {{"lr", 0.25}}}) {}
  void update_one(Variable& p, std::span<Array>) override { autograd::assign(p.data(), p.data() - p.grad() * lr()); }
};

struct Game {
  nn::Linear gen{2, 3}, dis{3, 1};
  Variable real{floats({1, -2, 3, 0.5, 1, 2}, {2, 3})}, noise{floats({1, 2, -1, 0.5}, {2, 2})};
};

// The gradient of `gen` by hand: d loss / d y is -1 / 2, of y = (noise W_gen^T + b) W_dis^T + b.
Array generator_gradient(const Game& game, const Array& dis_W) {
  const Array gy = autograd::arrays::full({2, 1}, -0.5, Dtype::float32);
  return autograd::matmul(autograd::matmul(gy, dis_W), game.noise.data(), true, false);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(orders_of_updates)

BOOST_AUTO_TEST_CASE(both_losses_from_one_forward_pass) {
  const auto check = [](Optimizer& dis_optimizer, bool own_loop, bool has_hooks) {
    Game game;
    SGD gen_optimizer({.lr = 0.125});
    gen_optimizer.setup(game.gen);
    dis_optimizer.setup(game.dis);
    if (has_hooks) {
      dis_optimizer.add_hook(WeightDecay(0.5));
      // The weights are clipped in place, as those of a Wasserstein critic.
      dis_optimizer.add_hook(
          [](Optimizer& o) {
            for (const Variable& p : o.target().params())
              autograd::assign(p.data(), autograd::apply(catena::kernels::minimum, {p.data(), 0.01}));
          },
          "clip");
    }
    const auto update = [&](Optimizer& o, const std::function<Variable()>& loss) {
      if (!own_loop) return o.update(loss);
      Variable value = loss();
      o.target().cleargrads();
      value.backward();
      o.update();
    };
    const Warnings warnings;
    for (int step = 0; step < 2; ++step) {
      const Array before = autograd::copy(game.dis.W.data()), gen_before = autograd::copy(game.gen.W.data());
      const Variable y_real = game.dis(game.real), y_fake = game.dis(game.gen(game.noise));
      update(dis_optimizer, [&] { return autograd::sum(y_fake) / 2 - autograd::sum(y_real * y_real); });
      BOOST_TEST(!same_bits(game.dis.W.data(), before));
      game.dis.cleargrads();
      update(gen_optimizer, [&] { return -autograd::sum(y_fake) / 2; });
      check_close(game.gen.W.grad(), generator_gradient(game, game.dis.W.data()), 1e-6, 1e-6, "gradient");
      check_close(game.gen.W.data(), gen_before - game.gen.W.grad() * 0.125, 1e-6, 1e-6, "parameter");
    }
    BOOST_TEST(warnings.texts.empty());
  };
  for (const bool own_loop : {false, true})
    for (const bool has_hooks : {false, true}) {
      SGD sgd;
      Adam adam;
      MomentumSGD momentum;
      OwnRule own;
      for (Optimizer* o : {static_cast<Optimizer*>(&sgd), static_cast<Optimizer*>(&adam),
                           static_cast<Optimizer*>(&momentum), static_cast<Optimizer*>(&own)})
        BOOST_TEST_CONTEXT(o->rule().name << ", own loop " << own_loop << ", hooks " << has_hooks)
      check(*o, own_loop, has_hooks);
    }
}

// An update does not hide what was written before or after it.
BOOST_AUTO_TEST_CASE(other_changes_are_errors) {
  for (const bool before : {true, false}) {
    Game game;
    SGD sgd;
    sgd.setup(game.dis);
    const Variable y_fake = game.dis(game.gen(game.noise));
    const auto write = [&] {
      const Array W = game.dis.W.data();
      W *= 2;
    };
    if (before) write();
    sgd.update([&] { return autograd::sum(game.dis(game.real)); });
    if (!before) write();
    Variable loss = autograd::sum(y_fake);
    const std::string message = message_of<catena::RuntimeError>([&] { loss.backward(); });
    BOOST_TEST(has(message, "W), of shape (1, 3), was changed in place between forward and backward"), message);
    BOOST_TEST(has(message, "autograd::allow_in_place_changes()"), message);
    BOOST_TEST(!game.gen.W.grad());
    Variable again = autograd::sum(y_fake);
    {
      const auto scope = autograd::allow_in_place_changes();
      again.backward();
    }
    check_close(game.gen.W.grad(), generator_gradient(game, game.dis.W.data()) * -2, 1e-5, 1e-5, "gradient");
    // The scope has ended.
    Variable x(floats({1, 2}, {2}));
    Variable square = autograd::sum(x * x);
    autograd::fill(x.data(), 3);
    BOOST_CHECK_THROW(square.backward(), catena::RuntimeError);
  }
}

BOOST_AUTO_TEST_SUITE_END()
