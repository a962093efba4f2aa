// ParallelUpdater: equal to the same steps by hand, parts of batches, reports, snapshots, errors.
#include <catena/training/parallel/parallel_updater.h>

#include <atomic>
#include <memory>
#include <mutex>

#include <catena/autograd/config.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/replicas.h>
#include <catena/training/extensions.h>
#include <catena/training/parallel/iterators.h>

using namespace test;
using namespace training;

BOOST_AUTO_TEST_SUITE(parallel_updaters)

// Copies of the model, parts with a stride, weights, addgrads, one update, copyparams; the same bits.
BOOST_AUTO_TEST_CASE(the_same_steps_by_hand) {
  for (const std::vector<Device>& devices : replica_devices())
    for (const bool is_stacked : {true, false})
      for (const std::int64_t batch_size : {7, 2}) {  // not divisible; fewer examples than models
        const auto n = std::int64_t(devices.size());
        BOOST_TEST_CONTEXT(n << " models, the first on " << devices[0] << ", stacked " << is_stacked << ", batches of "
                             << batch_size) {
          const DatasetPtr data = host_examples(22, is_stacked);
          autograd::seed(4);
          nn::Classifier model{TinyMLP()};
          std::vector<nn::Classifier<TinyMLP>> hand(devices.size(), model);
          for (std::size_t k = 0; k < devices.size(); ++k) hand[k].to_device(devices[k]);
          Adam adam, by_hand;
          adam.setup(model);
          by_hand.setup(hand[0]);
          for (Adam* o : {&adam, &by_hand}) o->add_hook(WeightDecay(1e-2));
          SerialIterator it(data, batch_size, {.seed = 1}), same(data, batch_size, {.seed = 1});
          ParallelUpdater updater(it, adam, model, {.devices = named(devices)});
          for (int step = 0; step < 4; ++step) {
            updater.update();
            const Batch batch = *same.next();
            const Example whole = default_converter(batch, kCpu);
            for (std::int64_t k = 0; k < std::min(n, batch.size()); ++k) {
              Example part = whole;
              for (Array& a : part.values) a = autograd::slice(a, 0, k, batch.size(), n);
              gradients_of(hand[std::size_t(k)], to_device(devices[std::size_t(k)], part));
              if (n > 1) scale_gradients(hand[std::size_t(k)], double(part.values[0].shape(0)) / double(batch.size()));
              if (k > 0) hand[0].addgrads(hand[std::size_t(k)]);
            }
            by_hand.update();
            for (std::size_t k = 1; k < hand.size(); ++k) hand[k].copyparams(hand[0]);
            BOOST_TEST(params_of(model) == params_of(hand[0]), each);
          }
          for (std::size_t k = 1; k < devices.size(); ++k) {
            Link& replica = updater.get_model("replica_" + std::to_string(k));
            BOOST_TEST(params_of(replica) == params_of(model), each);
            BOOST_TEST((replica.params()[0].device() == devices[k]));
          }
          BOOST_TEST(updater.iteration() == 4);
          BOOST_TEST(updater.epoch_detail() == it.epoch_detail());
        }
      }
}

// The converter makes twos of the examples. W is the derivative of the loss, the mean of the examples, subtracted
// from 1.
BOOST_AUTO_TEST_CASE(batches_by_a_converter) {
  nn::Linear model(1, 1, {.nobias = true, .initialW = 1.0});
  SGD sgd(1.0);
  sgd.setup(model);
  const auto twos = [](const Batch& batch, std::optional<Device> device) {
    Example example = default_converter(batch, device);
    for (Array& a : example.values) a = a * 0 + 2;
    return example;
  };
  const auto mean_of = [](Link& m, const Variables& x) { return autograd::mean(static_cast<nn::Linear&>(m)(x[0])); };
  SerialIterator it(std::make_shared<TupleDataset>(std::vector<Array>{floats({7, 8, 9, 10}, {4, 1})}), 4);
  ParallelUpdater updater(it, sgd, model,
                          {.converter = twos, .devices = {{"main", -1}, {"second", -1}}, .loss_func = mean_of});
  updater.update();
  BOOST_TEST(values(model.W.data())[0] == -1);
}

// A loss that is a sum over its part, times the number of models: the gradient is that of the whole batch, up to the
// order of additions.
BOOST_AUTO_TEST_CASE(losses_that_are_sums) {
  const DatasetPtr data = host_examples(12, true);
  autograd::seed(4);
  nn::Classifier one{TinyMLP()}, two = one;
  const auto sum_times = [](Link& model, const Variables& x, double models) {
    return nn::softmax_cross_entropy(static_cast<nn::Classifier<TinyMLP>&>(model).predictor(x[0]), x[1],
                                     {.normalize = false}) *
           double(x[0].shape(0)) * models;
  };
  SGD a(0.1), b(0.1);
  a.setup(one);
  b.setup(two);
  SerialIterator it_a(data, 6, {.shuffle = false}), it_b(data, 6, {.shuffle = false});
  StandardUpdater single(it_a, a,
                         {.device = kCpu, .loss_func = [&](const Variables& x) { return sum_times(one, x, 1); }});
  ParallelUpdater parallel(it_b, b, two,
                           {.devices = {{"second", -1}, {"main", -1}},
                            .loss_func = [&](Link& model, const Variables& x) { return sum_times(model, x, 2); }});
  single.update();
  parallel.update();
  const auto p = one.params(), q = two.params();
  for (std::size_t k = 0; k < p.size(); ++k) check_close(q[k].grad(), p[k].grad(), 1e-5, 1e-5, "gradient");
}

// Losses make their arrays on the device of their model, and leave the caller's current device as it was.
BOOST_AUTO_TEST_CASE(the_device_of_a_model_is_current_in_its_loss) {
  const Device home = default_device();
  for (const std::vector<Device>& devices : replica_devices()) {
    const DatasetPtr data = host_examples(12, true);
    nn::Classifier model{TinyMLP()};
    SGD sgd(0.1);
    sgd.setup(model);
    SerialIterator it(data, 6);
    std::atomic<int> calls = 0, elsewhere = 0;
    const auto loss = [&](Link& replica, const Variables& x) {
      ++calls;
      if (default_device() != replica.params()[0].device()) ++elsewhere;
      return replica.call(x);
    };
    ParallelUpdater updater(it, sgd, model, {.devices = named(devices), .loss_func = loss});
    updater.update();
    BOOST_TEST(calls == int(devices.size()));
    BOOST_TEST(elsewhere == 0);
    BOOST_TEST((default_device() == home));
  }
}

BOOST_AUTO_TEST_CASE(one_model_is_a_standard_updater) {
  const DatasetPtr data = host_examples(9, false);
  autograd::seed(4);
  nn::Classifier<StatefulMLP> a{StatefulMLP()}, b = a;
  Adam adam_a, adam_b;
  adam_a.setup(a);
  adam_b.setup(b);
  SerialIterator it_a(data, 4, {.seed = 2}), it_b(data, 4, {.seed = 2});
  StandardUpdater single(it_a, adam_a, {.device = kCpu});
  ParallelUpdater parallel(it_b, adam_b, b, {.devices = {-1}});
  autograd::seed(6);
  for (int k = 0; k < 4; ++k) single.update();
  autograd::seed(6);
  for (int k = 0; k < 4; ++k) parallel.update();
  BOOST_TEST(params_of(a) == params_of(b), each);
}

// Parameters of unknown shape: the main model's first pass makes them for all.
BOOST_AUTO_TEST_CASE(lazily_sized_models) {
  const DatasetPtr data = host_examples(22, true);
  nn::Classifier<StatefulMLP> lazy{StatefulMLP(16, 3, 0.0)};
  Adam adam;
  adam.setup(lazy);
  SerialIterator it(data, 8, {.shuffle = false}), same(data, 8, {.shuffle = false});
  ParallelUpdater updater(it, adam, lazy, {.devices = {-1, -1, -1}});
  BOOST_TEST(!lazy.predictor.l1.W.is_initialized());
  autograd::seed(11);
  updater.update();
  // By hand from the same parameters, which the generator drew after a seed for the other models.
  autograd::seed(11);
  autograd::default_generator().take(4);
  nn::Classifier<StatefulMLP> hand{StatefulMLP(16, 3, 0.0)};
  hand.to_device(kCpu);
  Adam by_hand;
  by_hand.setup(hand);
  const Example whole = default_converter(*same.next(), kCpu);
  const auto part = [&](std::int64_t k) {
    Example e = whole;
    for (Array& a : e.values) a = autograd::slice(a, 0, k, 8, 3);
    return e;
  };
  gradients_of(hand, part(0));
  nn::Classifier<StatefulMLP> others[] = {hand, hand};
  scale_gradients(hand, 3 / 8.0);
  for (int k = 0; k < 2; ++k) {
    gradients_of(others[k], part(k + 1));
    scale_gradients(others[k], k == 0 ? 3 / 8.0 : 2 / 8.0);
    hand.addgrads(others[k]);
  }
  by_hand.update();
  BOOST_TEST(params_of(lazy) == params_of(hand), each);
}

// Every replica has the configuration of the thread that calls update().
BOOST_AUTO_TEST_CASE(replicas_have_the_configuration_of_the_caller) {
  nn::Classifier model{TinyMLP()};
  SGD sgd;
  sgd.setup(model);
  SerialIterator it(host_examples(12, true), 6);
  std::mutex mutex;
  std::vector<autograd::Config> seen;
  const auto loss = [&](Link& replica, const Variables& x) {
    {
      const std::lock_guard lock(mutex);
      seen.push_back(autograd::config());
    }
    return replica.call(x);
  };
  ParallelUpdater updater(it, sgd, model, {.devices = {{"main", -1}, {"second", -1}}, .loss_func = loss});
  {
    const auto scope = autograd::using_config({.train = false,
                                               .cudnn_deterministic = true,
                                               .use_cudnn = "never",
                                               .max_workspace_size = 4096,
                                               .dtype = Dtype::float64,
                                               .keep_graph_on_report = true});
    updater.update();
  }
  updater.update();
  BOOST_REQUIRE(seen.size() == 4u);
  for (std::size_t k = 0; k < seen.size(); ++k) {
    const bool inside = k < 2;
    BOOST_TEST(seen[k].train == !inside);
    BOOST_TEST(seen[k].cudnn_deterministic == inside);
    BOOST_TEST((seen[k].use_cudnn == (inside ? autograd::UseCudnn::kNever : autograd::UseCudnn::kAuto)));
    BOOST_TEST(seen[k].max_workspace_size.value_or(-1) == (inside ? 4096 : -1));
    BOOST_TEST((seen[k].dtype == autograd::DefaultDtype(inside ? Dtype::float64 : Dtype::float32)));
    BOOST_TEST(seen[k].keep_graph_on_report == inside);
  }
}

BOOST_AUTO_TEST_CASE(reports_of_all_models) {
  struct Inner : nn::Link {
    nn::Parameter w{autograd::arrays::ones({1}, Dtype::float32, kCpu)};
    NN_MEMBERS(w)
    Variable operator()(const Variable& x) {
      nn::report("inner", double(x.shape(0)), this);
      return autograd::sum(x) * autograd::sum(Variable(w));
    }
  };
  struct Outer : nn::Chain {
    Inner inner;
    NN_MEMBERS(inner)
    Variable operator()(const Variable& x) {
      const Variable loss = inner(x);
      nn::report("loss", loss, this);
      return loss;
    }
  } model;
  SGD sgd(0.0);
  sgd.setup(model);
  SerialIterator it(autograd::array<float>({1, 2, 4, 8, 16}, {5, 1}, kCpu), 5, {.shuffle = false});
  const TemporaryFolder folder("replica_reports");
  Trainer trainer(ParallelUpdater(it, sgd, model, {.devices = {{"main", -1}, {"second", -1}}}), {1, iteration},
                  folder.path.string());
  std::vector<std::string> keys;
  trainer.extend([&](Trainer& t) {
    for (const auto& [key, value] : t.observation()) keys.push_back(key);
    BOOST_TEST(t.observation().at("main/loss").value() == 1 + 4 + 16);
    BOOST_TEST(t.observation().at("second/loss").value() == 2 + 8);
    BOOST_TEST(t.observation().at("main/inner/inner").value() == 3);
    BOOST_TEST(t.observation().at("second/inner/inner").value() == 2);
  });
  trainer.run();
  BOOST_TEST(keys == (std::vector<std::string>{"main/inner/inner", "main/loss", "second/inner/inner", "second/loss"}),
             each);
}

// Dropout, batch normalization, Adam, a shuffled order that is loaded ahead.
BOOST_AUTO_TEST_CASE(resuming) {
  struct Run {
    nn::Classifier<StatefulMLP> model;
    Adam adam;
    MultithreadIterator it;
    Trainer trainer;
    Run(std::uint64_t seed, int until, const std::string& out)
        : model((autograd::seed(seed), StatefulMLP())),
          it(host_examples(22, false), 6, {.n_threads = 2, .n_prefetch = 2}),
          trainer((adam.setup(model), ParallelUpdater(it, adam, model, {.devices = {-1, -1, -1}})),
                  {double(until), iteration}, out) {
      trainer.extend(Snapshot({.trigger = {4, iteration}}));
    }
  };
  const TemporaryFolder folder("parallel_resume");
  Run whole(1, 9, folder.path.string());
  whole.trainer.run();
  Run resumed(77, 9, folder.path.string());
  nn::serializers::load_npz(folder / "snapshot_iter_4", resumed.trainer);
  resumed.trainer.run();
  BOOST_TEST(entries_of(resumed.trainer) == entries_of(whole.trainer), each);
  BOOST_TEST(has_entry(whole.trainer, "updater/_catena/model:replica_2/predictor/bn/avg_mean"));
  // A file of one model, as Chainer writes it, is the state of all.
  Adam adam;
  nn::Classifier<StatefulMLP> single{StatefulMLP()}, others{StatefulMLP()};
  adam.setup(single);
  SerialIterator it(host_examples(22, false), 6);
  StandardUpdater standard(it, adam, {.device = kCpu});
  standard.update();
  nn::serializers::save_npz(folder / "one.npz", standard);
  Adam second;
  second.setup(others);
  ParallelUpdater parallel(it, second, others, {.devices = {-1, -1}});
  nn::serializers::load_npz(folder / "one.npz", parallel);
  BOOST_TEST(state_of(parallel.get_model("replica_1")) == state_of(single), each);
}

BOOST_AUTO_TEST_CASE(models_of_ones_own) {
  nn::Classifier first{TinyMLP()}, second{TinyMLP()};
  SGD sgd;
  sgd.setup(first);
  SerialIterator it(host_examples(8, true), 4);
  ParallelUpdater updater(it, sgd,
                          {.models = {{"left", second}, {"right", first}}, .devices = {{"main", -1}, {"left", -1}}});
  updater.update();
  BOOST_TEST(params_of(first) == params_of(second), each);
  BOOST_TEST((&updater.get_model("left") == &second));
  BOOST_TEST(has(message_of<catena::KeyError>([&] { updater.get_model("main"); }), "there is: right, left"));
}

BOOST_AUTO_TEST_CASE(errors) {
  nn::Classifier model{TinyMLP()}, other{TinyMLP()};
  SGD sgd;
  sgd.setup(model);
  SerialIterator it(host_examples(8, true), 4);
  using Options = ParallelUpdater::Options;
  const auto value_error = [&](const Options& o) {
    return message_of<catena::ValueError>([&] { ParallelUpdater(it, sgd, model, o); });
  };
  BOOST_TEST(value_error({}) == "ParallelUpdater: either models or devices must be specified");
  BOOST_TEST(has(value_error({.models = {{"main", model}}, .devices = {-1}}), "leave one of them out"));
  BOOST_TEST(has(value_error({.devices = {{"main", -1}, {"main", -1}}}), "the name main twice"));
  BOOST_TEST(has(value_error({.devices = {-1, std::nullopt}}), "the device of replica_1 is null"));
  BOOST_TEST(has(message_of<catena::KeyError>([&] {
                   ParallelUpdater(it, sgd, model, {.devices = {{"first", -1}}});
                 }),
                 "devices must have the key \"main\""));
  BOOST_TEST(has(message_of<catena::KeyError>([&] {
                   ParallelUpdater(it, sgd, {.devices = {{"first", -1}}});
                 }),
                 "devices must have the key \"main\""));
  BOOST_TEST(message_of<catena::ValueError>([&] { ParallelUpdater(it, sgd, Options{}); }) ==
             "ParallelUpdater: either models or devices must be specified");
  BOOST_TEST(has(message_of<catena::ValueError>([&] {
                   ParallelUpdater(it, sgd, {.devices = {-1, -1}});
                 }),
                 "ParallelUpdater(iterator, optimizer, model, "));
  BOOST_TEST(has(message_of<catena::ValueError>([&] { ParallelUpdater(it, sgd, other, {.devices = {-1}}); }),
                 "is not the one that the optimizer was set up with"));
  BOOST_TEST(has(message_of<catena::ValueError>([&] {
                   ParallelUpdater(it, sgd, {.models = {{"main", other}}});
                 }),
                 "none of the models is the one that the optimizer was set up with"));
  nn::Chain& as_base = model;
  BOOST_TEST(has(message_of<catena::TypeError>([&] { ParallelUpdater(it, sgd, as_base, {.devices = {-1}}); }),
                 "but is passed as a Chain"));
}

// Of models that fail, the first one's error; nothing is updated, and the next update goes on.
BOOST_AUTO_TEST_CASE(models_that_fail) {
  nn::Classifier model{TinyMLP()};
  SGD sgd;
  sgd.setup(model);
  SerialIterator it(host_examples(8, true), 6, {.shuffle = false});
  std::string failing;  // names of models
  std::vector<const Link*> models;
  ParallelUpdater updater(it, sgd, model, {.devices = {-1, -1, -1}, .loss_func = [&](Link& m, const Variables& x) {
                                             for (std::size_t k = 0; k < models.size(); ++k)
                                               catena::check<catena::IOError>(
                                                   models[k] != &m || failing.find(char('0' + k)) == failing.npos,
                                                   "loss", "bad");
                                             return m.call(x);
                                           }});
  models = {&model, &updater.get_model("replica_1"), &updater.get_model("replica_2")};
  const std::vector<std::string> before = params_of(model);
  const auto message = [&](const char* who) {
    failing = who;
    return message_of<catena::IOError>([&] { updater.update(); });
  };
  BOOST_TEST(message("12") == "model replica_1: loss: bad");
  BOOST_TEST(message("2") == "model replica_2: loss: bad");
  BOOST_TEST(message("021") == "loss: bad");
  BOOST_TEST(params_of(model) == before, each);
  BOOST_TEST(updater.iteration() == 0);
  failing.clear();
  updater.update();
  BOOST_TEST((params_of(model) != before));
  updater.finalize();
  updater.finalize();
  updater.update();  // starts the threads again
  BOOST_TEST(updater.iteration() == 2);
}

BOOST_AUTO_TEST_SUITE_END()
