// Updates of 16-bit parameters in float32: small steps add up, the copies follow what is written elsewhere, and
// snapshots have them.
#include <cmath>

#include <catena/autograd/capture.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;
using Doubles = std::vector<double>;

namespace {

const auto each = boost::test_tools::per_element();
constexpr Dtype kNarrow[] = {Dtype::float16, Dtype::bfloat16};

struct Params : nn::Link {
  nn::Parameter a, b, wide{floats({1}, {1})};
  NN_MEMBERS(a, b, wide)
  explicit Params(Dtype dtype) {
    a = nn::Parameter(autograd::astype(floats({1, 2, -3, 0.5f, 4, 1}, {3, 2}), dtype));
    b = nn::Parameter(autograd::astype(floats({1}, {1}), dtype));
  }
  // Gradients that 16 bits represent.
  void give_grads(int step = 0) {
    a.set_grad(autograd::astype(floats({1, -1, 0.5f, 2, 1, float(step % 3)}, {3, 2}), a.dtype()));
    b.set_grad(autograd::astype(floats({1}, {1}), b.dtype()));
    wide.set_grad(floats({1}, {1}));
  }
};
Array narrowed(const Array& a, Dtype dtype) { return autograd::astype(a, dtype); }

// Trains the 16-bit model in float32, and a float32 model that begins with the same values.
template <class O> void compare_with_float32(O& optimizer, O& full, const char* what) {
  for (const Dtype dtype : kNarrow) {
    Params model(dtype), reference(Dtype::float32);
    optimizer.use_fp32_update();
    optimizer.setup(model);
    full.setup(reference);
    for (int i = 0; i < 20; ++i) {
      model.give_grads(i);
      reference.give_grads(i);
      optimizer.update();
      full.update();
    }
    BOOST_TEST((model.a.dtype() == dtype));
    BOOST_TEST(same_bits(model.a.data(), narrowed(reference.a.data(), dtype)), what);
    BOOST_TEST(same_bits(model.b.data(), narrowed(reference.b.data(), dtype)), what);
    BOOST_TEST(same_bits(model.wide.data(), reference.wide.data()), what);
    for (const Array& state : optimizer.states("/a")) BOOST_TEST((state.dtype() == Dtype::float32));
  }
}
template <class O> void compare_with_float32(const char* what) {
  O optimizer, full;
  compare_with_float32(optimizer, full, what);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fp32_update)

BOOST_AUTO_TEST_CASE(small_steps_add_up) {
  for (const Dtype dtype : kNarrow)
    for (const bool use : {false, true}) {
      Params model(dtype);
      SGD optimizer({.lr = 1e-4});  // 1 - 1e-4 rounds to 1 in both dtypes
      optimizer.use_fp32_update(use);
      optimizer.setup(model);
      for (int i = 0; i < 100; ++i) {
        model.give_grads();
        optimizer.update();
      }
      const double b = values(autograd::astype(model.b.data(), Dtype::float32))[0];
      if (use) BOOST_TEST(b == 0.99, boost::test_tools::tolerance(4e-3));
      else BOOST_TEST(b == 1);
    }
}

BOOST_AUTO_TEST_CASE(rounded_results_of_float32) {
  compare_with_float32<MomentumSGD>("MomentumSGD");
  compare_with_float32<AdamW>("AdamW");
  compare_with_float32<SMORMS3>("SMORMS3");
  compare_with_float32<LAMB>("LAMB");
  compare_with_float32<Muon>("Muon");
  const Adagrad::Options decaying{.lr = 0.01, .weight_decay = 0.1};
  Adagrad optimizer(decaying), full(decaying);
  compare_with_float32(optimizer, full, "Adagrad with a decay of the gradient");
}

BOOST_AUTO_TEST_CASE(with_groups_and_hooks) {
  Params model(Dtype::float16);
  SGD optimizer({.lr = 1e-4});
  optimizer.use_fp32_update();
  optimizer.setup(model);
  optimizer.add_param_group({.match = "b", .hyperparams = {{"lr", 2e-4}}});
  optimizer.add_hook(WeightDecay(1));
  for (int i = 0; i < 10; ++i) {
    model.give_grads();
    optimizer.update();
  }
  // b decays by 2e-4 (1 + b); the hook reads b in float16.
  BOOST_TEST(values(autograd::astype(model.b.data(), Dtype::float32))[0] == 1 - 0.004,
             boost::test_tools::tolerance(1e-3));
}

BOOST_AUTO_TEST_CASE(the_copy_follows_what_is_written_elsewhere) {
  Params model(Dtype::float16), other(Dtype::float16);
  SGD optimizer({.lr = 1e-4});
  optimizer.use_fp32_update();
  optimizer.setup(model);
  const auto update = [&](int times) {
    for (int i = 0; i < times; ++i) {
      model.give_grads();
      optimizer.update();
    }
  };
  update(2);
  autograd::fill(other.b.data(), 5);
  model.copyparams(other);
  update(1);
  BOOST_TEST(values(autograd::astype(model.b.data(), Dtype::float32))[0] == 5);
  // An array in its place.
  model.b.set_data(autograd::astype(floats({7}, {1}), Dtype::float16));
  update(1);
  BOOST_TEST(values(autograd::astype(model.b.data(), Dtype::float32))[0] == 7);
  // Elements that are not written keep what their copies have: the first one of a has moved by ten steps of 1e-4.
  autograd::fill(autograd::slice(model.a.data(), 0, 1, 2), 9);
  update(6);
  const Doubles a = values(autograd::astype(model.a.data(), Dtype::float32));
  BOOST_TEST(a[0] == 1 - 1e-3, boost::test_tools::tolerance(3e-4));
  BOOST_TEST(a[2] == 9);
}

// Trains both models on, which must be the same afterwards.
void train_both(Params& model, Adam& optimizer, Params& other, Adam& resumed) {
  for (int i = 0; i < 30; ++i) {
    model.give_grads(i);
    other.give_grads(i);
    optimizer.update();
    resumed.update();
  }
  BOOST_TEST(same_bits(model.a.data(), other.a.data()));
  BOOST_TEST(same_bits(model.b.data(), other.b.data()));
  BOOST_TEST(same_bits(model.wide.data(), other.wide.data()));
}

BOOST_AUTO_TEST_CASE(snapshots_have_the_copies) {
  const TemporaryFolder folder("fp32");
  Params model(Dtype::float16), other(Dtype::float16);
  Adam optimizer({.alpha = 1e-4}), resumed({.alpha = 1e-4});
  for (Adam* o : {&optimizer, &resumed}) o->use_fp32_update();
  optimizer.setup(model);
  resumed.setup(other);
  for (int i = 0; i < 3; ++i) {
    model.give_grads();
    optimizer.update();
  }
  nn::serializers::save_npz(folder / "m", model);
  nn::serializers::save_npz(folder / "o", optimizer);
  BOOST_TEST(catena::NpzReader("test", folder / "o").contains("b/fp32_param"));
  BOOST_TEST(!catena::NpzReader("test", folder / "o").contains("wide/fp32_param"));
  nn::serializers::load_npz(folder / "m", other);
  nn::serializers::load_npz(folder / "o", resumed);
  train_both(model, optimizer, other, resumed);
  // Without the copies, the steps of before are lost.
  Adam without({.alpha = 1e-4});
  without.setup(other);
  const Warnings warnings;
  nn::serializers::load_npz(folder / "o", without);
  BOOST_TEST(warnings.texts.empty());
}

// A parameter that is frozen when its copy is loaded, and trained later.
BOOST_AUTO_TEST_CASE(copies_of_frozen_parameters) {
  Params model(Dtype::float16), other(Dtype::float16);
  Adam optimizer({.alpha = 1e-4}), resumed({.alpha = 1e-4});
  for (Adam* o : {&optimizer, &resumed}) o->use_fp32_update();
  other.disable_update();
  optimizer.setup(model);
  resumed.setup(other);
  for (int i = 0; i < 3; ++i) {
    model.give_grads();
    optimizer.update();
  }
  other.load_state_dict(model.state_dict());
  nn::StateDict damaged = optimizer.state_dict();
  damaged.erase("wide/v");
  BOOST_TEST(has(message_of<catena::KeyError>([&] { resumed.load_state_dict(damaged); }), "wide/v"));
  for (const auto& entry : resumed.state_dict()) BOOST_TEST(!has(entry.first, "fp32_param"));
  resumed.load_state_dict(optimizer.state_dict());
  other.enable_update();
  train_both(model, optimizer, other, resumed);
}

BOOST_AUTO_TEST_CASE(captured_and_scaled) {
  Params model(Dtype::float16), plain(Dtype::float16);
  MomentumSGD captured({.lr = 1e-4}), by_hand({.lr = 1e-4});
  for (MomentumSGD* o : {&captured, &by_hand}) {
    o->use_fp32_update();
    o->loss_scaling(1000);
  }
  captured.setup(model);
  by_hand.setup(plain);
  // The first scale, 2^16, is infinite in float16: that update is skipped.
  const auto update = [](Params& p, MomentumSGD& o) {
    o.update([&] { return autograd::sum(Variable(p.a)) + autograd::sum(Variable(p.b)); });
  };
  const auto step = [&] { update(model, captured); };
  for (int i = 0; i < 2; ++i) step();
  BOOST_TEST(captured.skipped_updates() == 1);
  autograd::CapturedWork work(step);
  for (int i = 0; i < 10; ++i) work.replay();
  for (int i = 0; i < 13; ++i) update(plain, by_hand);
  BOOST_TEST(captured.t() == 12);
  BOOST_TEST(same_bits(model.a.data(), plain.a.data()));
  BOOST_TEST(values(autograd::astype(model.b.data(), Dtype::float32))[0] < 1);
}

BOOST_AUTO_TEST_CASE(switched_on_in_between) {
  Params model(Dtype::float16);
  MomentumSGD optimizer({.lr = 1, .momentum = 0.5});
  optimizer.setup(model);
  model.give_grads();
  optimizer.update();
  optimizer.use_fp32_update();
  BOOST_TEST((optimizer.states("/b")[0].dtype() == Dtype::float32));
  BOOST_TEST(values(optimizer.states("/b")[0])[0] == -1);
  model.give_grads();
  optimizer.update();
  BOOST_TEST(values(autograd::astype(model.b.data(), Dtype::float32))[0] == 1 - 1 - 1.5);
  optimizer.use_fp32_update(false);
  BOOST_TEST((optimizer.states("/b")[0].dtype() == Dtype::float16));
  model.give_grads();
  optimizer.update();
  BOOST_TEST(values(autograd::astype(model.b.data(), Dtype::float32))[0] == -1.5 - 1.75);
}

BOOST_AUTO_TEST_SUITE_END()
