// Mistakes that would train nothing, or something else, without a word.
#include <functional>

#include <catena/autograd/debug.h>
#include <catena/autograd/forget.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;

namespace {

// Its second layer is in no list.
struct Forgetful : nn::Chain {
  nn::Linear listed{2, 2}, forgotten{2, 1};
  NN_MEMBERS(listed)
  Variable operator()(const Variable& x) { return autograd::sum(forgotten(listed(x))); }
};
struct Nothing : nn::Chain {
  nn::Linear l{2, 2};
  NN_MEMBERS()
};
// Makes a parameter in its first call.
struct Late : nn::Chain {
  std::optional<nn::Linear> l;
  nn::Parameter p{1.0, {1}};
  NN_MEMBERS(l, p)
  Variable operator()(const Variable& x) {
    if (!l) l.emplace(2, 1);
    return autograd::sum((*l)(x)*p);
  }
};

struct CountingSGD : SGD {
  int updates = 0;
  void update() {
    ++updates;
    Optimizer::update();
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(silent_training)

BOOST_AUTO_TEST_CASE(a_model_without_parameters) {
  Nothing nothing;
  SGD sgd;
  TinyMLP model;
  sgd.setup(model);
  sgd.set_t(3);
  const std::string message = message_of<catena::ValueError>([&] { sgd.setup(nothing); });
  BOOST_TEST(has(message, "Nothing"));
  BOOST_TEST(has(message, "NN_MEMBERS"));
  BOOST_CHECK_THROW(sgd.setup(Nothing()), catena::ValueError);
  BOOST_TEST(&sgd.target() == &model);
  BOOST_TEST(sgd.t() == 3);
}

BOOST_AUTO_TEST_CASE(a_parameter_that_nothing_updates) {
  const Warnings warnings;
  Forgetful model;
  SGD sgd;
  sgd.setup(model);
  const Variable x(floats({1, 2}, {1, 2}));
  sgd.update(model, x);
  BOOST_REQUIRE(warnings.texts.size() == 2u);  // W and b
  BOOST_TEST(has(warnings.texts[0], "LinearFunction"));
  BOOST_TEST(has(warnings.texts[0], "(1, 2)"));
  BOOST_TEST(has(warnings.texts[0], "Forgetful"));
  {
    const autograd::DebugMode debug(true);
    const Array before = autograd::copy(model.listed.W.data());
    const std::string message = message_of<catena::RuntimeError>([&] { sgd.update(model, x); });
    BOOST_TEST(has(message, "LinearFunction"));
    BOOST_TEST(same_bits(model.listed.W.data(), before));
  }
  // Within forget, the gradients come from a backward pass inside of the backward pass.
  warnings.texts.clear();
  sgd.update([&] { return autograd::forget([&](const Variable& v) { return autograd::forget(model, v) * 2; }, x); });
  BOOST_REQUIRE(warnings.texts.size() == 2u);
  BOOST_TEST(has(warnings.texts[0], "LinearFunction"));
  warnings.texts.clear();
  model.forgotten.disable_update();  // a constant
  sgd.update(model, x);
  BOOST_TEST(warnings.texts.empty());
}

BOOST_AUTO_TEST_CASE(a_loss_that_reaches_no_parameter) {
  const Warnings warnings;
  TinyMLP model;
  SGD sgd;
  sgd.setup(model);
  const Variable x(autograd::arrays::ones({1, 4}));
  sgd.update([&] { return autograd::sum(Variable(model(x).data())); });
  BOOST_REQUIRE(warnings.texts.size() == 1u);
  BOOST_TEST(has(warnings.texts[0], "SGD: the loss does not depend on any parameter of the model TinyMLP"));
  model.disable_update();  // on purpose
  sgd.update([&] { return autograd::sum(model(x)); });
  BOOST_TEST(warnings.texts.size() == 1u);
}

// The same in a loop of one's own.
BOOST_AUTO_TEST_CASE(a_parameter_that_nothing_updates_in_an_own_loop) {
  Forgetful model;
  SGD sgd;
  sgd.setup(model);
  const Variable x(floats({1, 2}, {1, 2}));
  const auto step = [&](const std::function<void()>& update) {
    model.cleargrads();
    Variable loss = model(x);
    loss.backward();
    update();
  };
  {
    const Warnings warnings;
    step([&] { sgd.update(); });
    BOOST_REQUIRE(warnings.texts.size() == 1u);
    BOOST_TEST(has(warnings.texts[0], "LinearFunction used a parameter W of shape (1, 2)"), warnings.texts[0]);
    BOOST_TEST(has(warnings.texts[0], "NN_MEMBERS"), warnings.texts[0]);
  }
  {
    const autograd::DebugMode debug(true);
    const Array before = autograd::copy(model.listed.W.data());
    BOOST_CHECK_THROW(step([&] { sgd.update(); }), catena::RuntimeError);
    BOOST_TEST(same_bits(model.listed.W.data(), before));
  }
  // Trained by another optimizer, frozen, or no longer there.
  const Warnings warnings;
  SGD other;
  other.setup(model.forgotten);
  step([&] { sgd.update(); });
  Forgetful frozen;
  sgd.setup(frozen);
  frozen.forgotten.disable_update();
  frozen(x).backward();
  sgd.update();
  {
    Forgetful gone;
    sgd.setup(gone);
    gone(x).backward();
  }
  sgd.setup(frozen);
  frozen.cleargrads();
  frozen(x).backward();
  sgd.update();
  // Gradients of a model without an optimizer are no training.
  TinyMLP alone;
  autograd::sum(alone(Variable(autograd::arrays::ones({1, 4})))).backward();
  frozen.cleargrads();
  frozen(x).backward();
  sgd.update();
  BOOST_TEST(warnings.texts.empty());
}

BOOST_AUTO_TEST_CASE(a_model_that_was_copied_after_setup) {
  const Warnings warnings;
  TinyMLP model;
  SGD sgd;
  sgd.setup(model);
  TinyMLP copied = model;
  const Variable x(autograd::arrays::ones({1, 4}));
  copied.cleargrads();
  autograd::sum(copied(x)).backward();
  sgd.update();
  BOOST_REQUIRE(warnings.texts.size() == 1u);
  BOOST_TEST(has(warnings.texts[0], "SGD: no parameter of the model TinyMLP has a gradient"), warnings.texts[0]);
  BOOST_TEST(has(warnings.texts[0], "copy"), warnings.texts[0]);
  // With some gradients the others are zeros, as in Chainer.
  autograd::sum(model.l1(x)).backward();
  model.l2.cleargrads();
  sgd.update();
  sgd.update([&] { return autograd::sum(model(x)); });
  BOOST_TEST(warnings.texts.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_loss_without_a_graph) {
  TinyMLP model;
  const Variable x(autograd::arrays::ones({1, 4}));
  const auto warning = [](Variable loss) {
    const Warnings warnings;
    loss.backward();
    return warnings.texts.size() == 1 ? warnings.texts[0] : std::to_string(warnings.texts.size()) + " warnings";
  };
  {
    const auto scope = autograd::no_backprop_mode();
    // The parameters are AUTO, so that the mode counts.
    BOOST_TEST(has(warning(autograd::sum(model.l1.W * 2)), "of shape () has no graph"));
  }
  BOOST_TEST(has(warning(autograd::sum(model(Variable(autograd::arrays::ones({1, 4}), {.volatile_ = autograd::ON})))),
                 "is volatile, so it has no graph"));
  BOOST_TEST(
      has(warning(Variable(model(x).data(), {.name = "loss"})), "the variable loss of shape (1, 3) has no graph"));
  Variable unchained = autograd::sum(model(x));
  unchained.unchain_backward();
  BOOST_TEST(has(warning(unchained), "unchained"));
  BOOST_TEST(warning(autograd::sum(model(x))) == "0 warnings");
}

// The gradients of the first time are still there, and the same is added.
BOOST_AUTO_TEST_CASE(backward_twice) {
  TinyMLP model;
  const Variable x(autograd::arrays::ones({1, 4}));
  const Warnings warnings;
  Variable loss = autograd::sum(model(x));
  loss.backward();
  const Array once = autograd::copy(model.l2.b->grad());
  loss.backward();
  BOOST_REQUIRE(warnings.texts.size() == 1u);
  BOOST_TEST(has(warnings.texts[0], "gradients are doubled"), warnings.texts[0]);
  BOOST_TEST(has(warnings.texts[0], "cleargrads()"), warnings.texts[0]);
  BOOST_TEST(same_bits(model.l2.b->grad(), once + once));
  // On purpose: other gradients, cleared ones, zeros, another loss over the same graph, several batches.
  for (const bool zeros : {false, true}) {
    model.cleargrads();
    if (zeros)
      for (Variable p : model.params()) p.set_grad(autograd::zeros_like(p.data()));
    loss.backward();
    BOOST_TEST(same_bits(model.l2.b->grad(), once));
  }
  Variable h = model(x), first = autograd::sum(h), second = autograd::sum(h * h);
  first.backward();
  second.backward();
  autograd::sum(model(x)).backward();
  Variable rows = model(x);
  for (int k = 0; k < 3; ++k) {  // a Jacobian
    model.cleargrads();
    Array one = autograd::arrays::zeros({1, 3});
    autograd::assign(autograd::slice(one, 1, k, k + 1), 1);
    rows.set_grad(one);
    rows.backward();
  }
  BOOST_TEST(warnings.texts.size() == 1u);
}

// A loss that is computed once, before the loop.
BOOST_AUTO_TEST_CASE(a_loss_of_an_earlier_step) {
  TinyMLP model;
  SGD sgd;
  sgd.setup(model);
  const Variable x(autograd::arrays::ones({1, 4}));
  Variable loss = autograd::sum(model(x));
  loss.backward();
  sgd.update();
  const Array before = autograd::copy(model.l1.W.data());
  model.cleargrads();
  const std::string message = message_of<catena::RuntimeError>([&] { loss.backward(); });
  BOOST_TEST(has(message, "compute the loss anew"), message);
  BOOST_TEST(has(message, "allow_in_place_changes"), message);
  BOOST_TEST(!model.l1.W.grad());
  {
    const auto scope = autograd::allow_in_place_changes();
    loss.backward();
  }
  BOOST_TEST(bool(model.l1.W.grad()));
}

BOOST_AUTO_TEST_CASE(what_is_trained_gives_no_warning) {
  const Warnings warnings;
  Late late;
  SGD sgd;
  sgd.setup(late);
  Variable x(floats({1, 2}, {1, 2}));
  sgd.update(late, x);  // new parameters, and a gradient of the input
  sgd.update(late, x);
  // Two models, two optimizers, one loss.
  Forgetful model;
  SGD first, second;
  first.setup(model);
  second.setup(model.forgotten);
  first.update(model, x);
  BOOST_TEST(warnings.texts.empty());
}

BOOST_AUTO_TEST_CASE(an_update_of_ones_own_is_called) {
  TinyMLP model;
  CountingSGD sgd;
  sgd.setup(model);
  Optimizer& base = sgd;
  base.update([&] { return autograd::sum(model(Variable(autograd::arrays::ones({1, 4})))); });
  BOOST_TEST(sgd.updates == 1);
  BOOST_TEST(sgd.t() == 1);
}

BOOST_AUTO_TEST_CASE(classifiers_say_whose_model_they_train) {
  using Clf = nn::Classifier<TinyMLP>;
  static_assert(!std::is_constructible_v<Clf, TinyMLP&>);
  static_assert(!std::is_constructible_v<Clf, const TinyMLP&>);
  static_assert(std::is_constructible_v<Clf, TinyMLP>);
  TinyMLP net;
  const Variable x(autograd::arrays::ones({2, 4})), t(ints({0, 1}));
  Clf own(nn::copy(net, nn::CopyMode::copy)), borrowed(std::ref(net));
  static_assert(std::is_same_v<decltype(nn::Classifier(std::ref(net))), Clf>);
  BOOST_TEST(&borrowed.predictor == &net);
  SGD sgd({.lr = 0.5});
  const Array before = autograd::copy(net.l2.b->data());
  sgd.setup(own);
  sgd.update(own, x, t);
  BOOST_TEST(same_bits(net.l2.b->data(), before));
  sgd.setup(borrowed);
  sgd.update(borrowed, x, t);
  BOOST_TEST(!same_bits(net.l2.b->data(), before));
  // Copies own copies; moves take the predictor along.
  Clf copied = borrowed;
  BOOST_TEST(&copied.predictor != &net);
  autograd::fill(copied.predictor.l2.b->data(), 7);
  BOOST_TEST(values(net.l2.b->data())[0] != 7);
  TinyMLP* const address = &copied.predictor;
  const Clf moved = std::move(copied);
  BOOST_TEST(&moved.predictor == address);
  own = moved;
  BOOST_TEST(values(own.predictor.l2.b->data())[0] == 7);
  BOOST_TEST(own.namedparams()[0].path == "/predictor/l1/W");
}

BOOST_AUTO_TEST_CASE(errors_in_an_update_name_the_link) {
  nn::Classifier<TinyMLP> model(TinyMLP{});
  SGD sgd;
  sgd.setup(model);
  const Variable x(autograd::arrays::ones({2, 9})), t(ints({0, 1}));
  const auto first_words = [](const std::string& text) { return text.substr(0, text.find('\n')); };
  const std::string expected = "/predictor/l1: Linear: x has 9 columns, W 4";
  BOOST_TEST(first_words(message_of<catena::InvalidType>([&] { sgd.update(model, x, t); })) == expected);
  BOOST_TEST(first_words(message_of<catena::InvalidType>(
                 [&] { sgd.update([&] { return autograd::sum(model.predictor(x)); }); })) == expected);
}

BOOST_AUTO_TEST_SUITE_END()
