// Keyword arguments of optimizers, schedulers and loaders in PyTorch's places, and hooks of their states.
#include <catena/nn/serializers/state_dict.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/lr_schedulers.h>
#include <catena/training/optimizers.h>
#include <catena/training/parallel/data_loader.h>

using namespace test;
using namespace training;

namespace {

struct One : nn::Link {
  nn::Parameter a{floats({1}, {1})};
  NN_MEMBERS(a)
};
// Has the indices 0, 2 and 4.
struct Even : Sampler {
  std::vector<std::int64_t> indices() const override { return {0, 2, 4}; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_keywords)

BOOST_AUTO_TEST_CASE(choices_of_implementations) {
  One m;
  const std::vector<Variable> p = m.parameters();
  BOOST_TEST(SGD(p, {.lr = 0.5, .foreach = false, .differentiable = false, .fused = true}).get_hyper("lr") == 0.5);
  BOOST_TEST(Adam(p, {.lr = 0.5, .capturable = true, .differentiable = false}).get_hyper("alpha") == 0.5);
  BOOST_TEST(AdamW(p, {.lr = 0.5, .capturable = true, .fused = true}).get_hyper("alpha") == 0.5);
  BOOST_TEST(RMSprop(p, {.lr = 0.5, .capturable = false, .foreach = true}).get_hyper("lr") == 0.5);
  BOOST_TEST(Adagrad(p, {.lr = 0.5, .foreach = true, .fused = false}).get_hyper("lr") == 0.5);
  BOOST_TEST(Adadelta(p, {.lr = 0.5, .foreach = true}).get_hyper("lr") == 0.5);
  BOOST_TEST(Adamax(p, {.lr = 0.5, .foreach = true, .capturable = false}).get_hyper("alpha") == 0.5);
  BOOST_TEST(NAdam(p, {.lr = 0.5, .foreach = true}).get_hyper("alpha") == 0.5);
  BOOST_TEST(RAdam(p, {.lr = 0.5, .foreach = true, .differentiable = false}).get_hyper("alpha") == 0.5);
  BOOST_TEST(Rprop(p, {.lr = 0.5, .capturable = false}).get_hyper("lr") == 0.5);
  BOOST_TEST(ASGD(p, {.lr = 0.5, .foreach = false, .maximize = true}).get_hyper("lr") == 0.5);
  BOOST_TEST(Muon(p, {.weight_decay = 0.25}).get_hyper("weight_decay_rate") == 0.25);
  BOOST_TEST(Muon(p, {.weight_decay = 0.25}).get_hyper("lr") == 1e-3);
  const Adafactor adafactor(p, {.eps = {1e-30, 1e-2}, .weight_decay = 0.25});
  BOOST_TEST(adafactor.get_hyper("eps1") == 1e-30);
  BOOST_TEST(adafactor.get_hyper("eps2") == 1e-2);
  BOOST_TEST(adafactor.get_hyper("weight_decay_rate") == 0.25);
}

// Learning rates of PyTorch 2 after some steps from 1.
BOOST_AUTO_TEST_CASE(the_first_number_by_position) {
  One m;
  const auto after = [&](int steps, auto make) {
    SGD o(m, {.lr = 1});
    auto scheduler = make(o);
    for (int i = 0; i < steps; ++i) scheduler.step();
    return o.get_hyper("lr");
  };
  BOOST_TEST(after(2, [](Optimizer& o) { return StepLR(o, 2, {.gamma = 0.5}); }) == 0.5);
  BOOST_TEST(after(3, [](Optimizer& o) { return MultiStepLR(o, {1, 3}, {.gamma = 0.5}); }) == 0.25);
  BOOST_TEST(after(2, [](Optimizer& o) { return ExponentialLR(o, 0.5, {.last_epoch = -1}); }) == 0.25);
  BOOST_TEST(after(4, [](Optimizer& o) { return CosineAnnealingLR(o, 4, {.eta_min = 0.125}); }) == 0.125);
  BOOST_TEST(after(2, [](Optimizer& o) { return CosineAnnealingWarmRestarts(o, 4, {.eta_min = 0.5}); }) == 0.75);
  BOOST_TEST(after(2, [](Optimizer& o) {
               return LambdaLR(o, [](int i) { return 1.0 / (1 + i); }, {.last_epoch = -1});
             }) == 1.0 / 3);
  BOOST_TEST(after(2, [](Optimizer& o) { return MultiplicativeLR(o, [](int) { return 0.5; }, {.last_epoch = -1}); }) ==
             0.25);
}

BOOST_AUTO_TEST_CASE(hooks_of_states) {
  One m;
  SGD o(m, {.lr = 0.5});
  std::string calls;
  auto before = o.register_state_dict_pre_hook([&](Optimizer&) { calls += "before "; });
  auto after = o.register_state_dict_post_hook([](Optimizer&, nn::StateDict& s) { s["own"] = floats({1}, {1}); });
  auto load = o.register_load_state_dict_pre_hook([](Optimizer&, nn::StateDict& s) { s.erase("own"); });
  auto loaded = o.register_load_state_dict_post_hook([&](Optimizer&) { calls += "loaded "; });
  const nn::StateDict state = o.state_dict();
  BOOST_TEST(state.contains("own"));
  o.load_state_dict(state);
  BOOST_TEST(calls == "before loaded ");
  o.step();  // runs none of them
  after.remove();
  BOOST_TEST(!o.state_dict().contains("own"));
  BOOST_TEST(calls == "before loaded before ");
}

BOOST_AUTO_TEST_CASE(setup_forgets_hooks_of_states) {
  One m;
  SGD o(0.5);
  int calls = 0;
  const auto count = [&](Optimizer&) { ++calls; };
  BOOST_TEST(has(message_of<catena::RuntimeError>([&] { o.register_load_state_dict_post_hook(count); }),
                 "register_load_state_dict_post_hook"));
  BOOST_CHECK_THROW(o.register_state_dict_pre_hook(count), catena::RuntimeError);
  o.setup(m);
  std::optional<nn::LinkHookHandle> once;
  once = o.register_state_dict_pre_hook([&](Optimizer&) {
    once->remove();
    ++calls;
  });
  o.state_dict();
  o.state_dict();
  BOOST_TEST(calls == 1);
  auto forgotten = o.register_state_dict_pre_hook(count);
  o.setup(m);
  o.state_dict();
  forgotten.remove();
  BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(data) {
  std::vector<std::int64_t> seen;
  for (const std::int64_t i : Even()) seen.push_back(i);
  BOOST_TEST(seen == std::vector<std::int64_t>({0, 2, 4}), boost::test_tools::per_element());
  BOOST_TEST(Even().size() == 3);
  const TensorDataset dataset(floats({0, 1, 2, 3, 4, 5}, {6}));
  DataLoader loader(dataset, {.batch_size = 2, .sampler = Even(), .multiprocessing_context = "fork", .in_order = true});
  std::vector<double> values;
  for (const Example& batch : loader)
    for (const double v : autograd::to_vector<double>(batch.values[0])) values.push_back(v);
  BOOST_TEST(values == std::vector<double>({0, 2, 4}), boost::test_tools::per_element());
  BOOST_TEST(autograd::to_vector<double>(default_convert(1.5))[0] == 1.5);
  BOOST_TEST(!get_worker_info().has_value());
}

BOOST_AUTO_TEST_SUITE_END()
