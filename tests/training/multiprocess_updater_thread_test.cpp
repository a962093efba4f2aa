// MultiprocessParallelUpdater: equal to the same steps by hand, on the CPU in processes and on GPUs in threads;
// snapshots, errors and deaths of workers, and their end.
#include <catena/training/parallel/multiprocess_parallel_updater.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <memory>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/replicas.h>
#include <catena/training/extensions.h>
#include <catena/training/parallel/iterators.h>

using namespace test;
using namespace training;
using training::updaters::MultiprocessParallelUpdater;

namespace {

bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) == 0; }

// The mean of the gradients of all models, in their order, into the first.
void mean_of_all(std::vector<nn::Classifier<TinyMLP>>& models) {
  for (auto& m : models) scale_gradients(m, 1 / double(models.size()));
  for (std::size_t k = 1; k < models.size(); ++k) models[0].addgrads(models[k]);
}

// Loads ahead in the worker. The thread sanitizer has no threads in a child of fork().
#ifdef __SANITIZE_THREAD__
using Ahead = SerialIterator;
#else
using Ahead = MultithreadIterator;
#endif

// A model with a part that is used by some examples only, so that its gradient is null elsewhere; two dtypes.
struct Mixed : nn::Chain {
  nn::Parameter w{autograd::arrays::ones({3}, Dtype::float32, kCpu)},
      v{autograd::arrays::full({3}, 2, Dtype::float32, kCpu)}, d{autograd::arrays::full({2}, 3, Dtype::float64, kCpu)},
      empty{autograd::arrays::zeros({0}, Dtype::float32, kCpu)};
  NN_MEMBERS(w, v, d, empty)
  Variable operator()(const Variable& x) {
    Variable loss = autograd::sum(x * Variable(w));
    if (values(x.data())[0] > 2) loss = loss + autograd::sum(x * Variable(v) * Variable(v));
    return loss + autograd::cast(autograd::sum(Variable(d) * Variable(d)), Dtype::float32);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(multiprocess_updaters)

BOOST_AUTO_TEST_CASE(the_same_steps_by_hand) {
  for (const std::vector<Device>& devices : replica_devices()) {
    const std::size_t n = devices.size();
    BOOST_TEST_CONTEXT(n << " workers, the first on " << devices[0]) {
      const Warnings warnings;
      autograd::seed(4);
      nn::Classifier model{TinyMLP()};
      std::vector<nn::Classifier<TinyMLP>> hand(n, model);
      for (std::size_t k = 0; k < n; ++k) hand[k].to_device(devices[k]);
      Adam adam, by_hand;
      adam.setup(model);
      by_hand.setup(hand[0]);
      std::vector<SerialIterator> its, same;
      for (std::size_t k = 0; k < n; ++k) {
        its.emplace_back(host_examples(9, true, k), 4, SerialIterator::Options{.seed = k});
        same.push_back(its.back());
      }
      MultiprocessParallelUpdater updater({its.begin(), its.end()}, adam, model, {.devices = named(devices)});
      for (int step = 0; step < 5; ++step) {
        updater.update();
        for (std::size_t k = 0; k < n; ++k) gradients_of(hand[k], default_converter(*same[k].next(), devices[k]));
        mean_of_all(hand);
        by_hand.update();
        for (std::size_t k = 1; k < n; ++k) hand[k].copyparams(hand[0]);
        BOOST_TEST(params_of(model) == params_of(hand[0]), each);
      }
      BOOST_TEST(updater.iteration() == 5);
      BOOST_TEST(updater.epoch_detail() == its[0].epoch_detail());
      BOOST_TEST(has_children() == (n > 1 && devices[0] == kCpu));
      updater.finalize();
      BOOST_TEST(!has_children());
      updater.finalize();
      // Workers of now go on where those of before ended.
      updater.update();
      for (std::size_t k = 0; k < n; ++k) gradients_of(hand[k], default_converter(*same[k].next(), devices[k]));
      mean_of_all(hand);
      by_hand.update();
      BOOST_TEST(params_of(model) == params_of(hand[0]), each);
    }
    BOOST_TEST(!has_children());
  }
}

BOOST_AUTO_TEST_CASE(gradients_that_are_null_and_dtypes) {
  Mixed model;
  SGD sgd(1.0);
  sgd.setup(model);
  const auto data = [](float x) { return autograd::arrays::full({1, 3}, x, Dtype::float32, kCpu); };
  SerialIterator a(data(1), 1), b(data(4), 1);
  MultiprocessParallelUpdater updater({a, b}, sgd, {.devices = {-1, -1}});
  updater.update();
  BOOST_TEST(values(model.w.grad()) == (std::vector<double>{2.5, 2.5, 2.5}), each);
  BOOST_TEST(values(model.v.grad()) == (std::vector<double>{8, 8, 8}), each);  // half of the last worker's, 2 x v
  BOOST_TEST((model.d.grad().dtype() == Dtype::float64));
  BOOST_TEST(values(model.d.grad()) == (std::vector<double>{6, 6}), each);
  BOOST_TEST(values(model.d.data()) == (std::vector<double>{-3, -3}), each);
  updater.update();
  BOOST_TEST(values(model.d.grad()) == (std::vector<double>{-6, -6}), each);  // the workers have the new parameters
}

// Dropout, batch normalization, lazily sized parameters, shuffled orders: killed and resumed as uninterrupted.
BOOST_AUTO_TEST_CASE(resuming) {
  struct Run {
    nn::Classifier<StatefulMLP> model;
    Adam adam;
    SerialIterator first, second;
    Ahead third;
    Trainer trainer;
    Run(std::uint64_t seed, int until, const std::string& out, const Devices& devices)
        : model((autograd::seed(seed), StatefulMLP())),
          first(host_examples(10, true, 1), 4),
          second(host_examples(10, false, 2), 4),
          third(host_examples(10, false, 3), 4),
          trainer(
              (adam.setup(model), MultiprocessParallelUpdater(iterators(devices), adam, model, {.devices = devices})),
              {double(until), iteration}, out) {
      trainer.extend(Snapshot({.trigger = {3, iteration}}));
    }
    std::vector<Held<Iterator>> iterators(const Devices& devices) {
      if (devices.main_first("test").size() == 2) return {first, second};
      return {first, second, third};
    }
  };
  const Warnings warnings;
  for (const std::vector<Device>& on : replica_devices()) {
    if (on.size() == 1) continue;
    const Devices devices = named(on);
    const TemporaryFolder folder("workers_resume");
    Run whole(1, 7, folder.path.string(), devices);
    whole.trainer.run();
    BOOST_TEST(has_entry(whole.trainer, "updater/_catena/worker:1/iterator/current_position"));
    BOOST_TEST(has_entry(whole.trainer, "updater/_catena/worker:1/model/predictor/bn/avg_mean"));
    for (const char* snapshot : {"snapshot_iter_3", "snapshot_iter_6"}) {
      Run resumed(77, 7, folder.path.string(), devices);
      nn::serializers::load_npz(folder / snapshot, resumed.trainer);
      resumed.trainer.run();
      BOOST_TEST(entries_of(resumed.trainer) == entries_of(whole.trainer), each);
    }
    BOOST_TEST(!has_children());
  }
  // Into workers that run.
  SerialIterator a(host_examples(10, true, 1), 4), b(host_examples(10, true, 2), 4);
  nn::Classifier model{TinyMLP()};
  Adam adam;
  adam.setup(model);
  MultiprocessParallelUpdater updater({a, b}, adam, {.devices = {-1, -1}});
  const TemporaryFolder folder("workers_that_run");
  updater.update();
  nn::serializers::save_npz(folder / "first.npz", updater);
  updater.update();
  const std::vector<std::string> expected = params_of(model);
  updater.update();
  nn::serializers::load_npz(folder / "first.npz", updater);
  updater.update();
  BOOST_TEST(params_of(model) == expected, each);
}

BOOST_AUTO_TEST_CASE(reports_of_the_main_model_alone) {
  SerialIterator a(host_examples(10, true, 1), 4, {.shuffle = false}), b(host_examples(10, true, 2), 4);
  SerialIterator same(host_examples(10, true, 1), 4, {.shuffle = false});
  nn::Classifier model{TinyMLP()};
  SGD sgd(0.0);
  sgd.setup(model);
  const double expected = model.call(to_variables(default_converter(*same.next(), model.device()))).item<double>();
  const Warnings warnings;
  const TemporaryFolder folder("worker_reports");
  Trainer trainer(MultiprocessParallelUpdater({a, b}, sgd, {.devices = {{"other", -1}, {"main", -1}}}), {1, iteration},
                  folder.path.string());
  std::vector<std::string> keys;
  double loss = 0;
  trainer.extend([&](Trainer& t) {
    for (const auto& [key, value] : t.observation()) keys.push_back(key);
    loss = t.observation().at("main/loss").value();
  });
  trainer.run();
  BOOST_TEST(keys == (std::vector<std::string>{"main/loss", "main/accuracy"}), each);
  BOOST_TEST(std::abs(loss - expected) < 1e-5);
}

// The converter makes twos of the examples. W is the derivative of the loss, the mean of the examples, subtracted
// from 1.
BOOST_AUTO_TEST_CASE(batches_of_workers_by_a_converter) {
  nn::Linear model(1, 1, {.nobias = true, .initialW = 1.0});
  SGD sgd(1.0);
  sgd.setup(model);
  const auto twos = [](const Batch& batch, std::optional<Device> device) {
    Example example = default_converter(batch, device);
    for (Array& a : example.values) a = a * 0 + 2;
    return example;
  };
  const auto mean_of = [](Link& m, const Variables& x) { return autograd::mean(static_cast<nn::Linear&>(m)(x[0])); };
  // On the CPU: the workers are child processes, which cannot use CUDA.
  const DatasetPtr data =
      std::make_shared<TupleDataset>(std::vector<Array>{autograd::array<float>({7, 8, 9, 10}, {4, 1}, kCpu)});
  SerialIterator a(data, 4), b(data, 4);
  MultiprocessParallelUpdater updater(
      {a, b}, sgd, model, {.converter = twos, .devices = {{"main", -1}, {"second", -1}}, .loss_func = mean_of});
  updater.update();
  BOOST_TEST(values(model.W.data())[0] == -1);
}

BOOST_AUTO_TEST_CASE(workers_that_fail) {
  struct Failing : DatasetMixin {
    DatasetPtr of = host_examples(6, false);
    pid_t parent = ::getpid();
    bool dies;
    explicit Failing(bool dies_) : dies(dies_) {}
    std::int64_t size() const override { return of->size(); }
    Example get_example(std::int64_t i) const override {
      if (i == 4 && ::getpid() != parent) {
        if (dies) ::raise(SIGKILL);
        catena::fail<catena::IOError>("read", "no such image");
      }
      return of->get_example(i);
    }
  };
  const Warnings warnings;
  for (const bool dies : {false, true}) {
    nn::Classifier model{TinyMLP()};
    SGD sgd;
    sgd.setup(model);
    SerialIterator a(host_examples(6, true), 2, {.shuffle = false}), b(host_examples(6, true), 2);
    SerialIterator c(Failing(dies), 2, {.shuffle = false});
    MultiprocessParallelUpdater updater({a, b, c}, sgd, {.devices = {-1, -1, -1}});
    updater.update();
    updater.update();
    const std::vector<std::string> before = params_of(model);
    if (dies) {
      const std::string message = message_of<catena::RuntimeError>([&] { updater.update(); });
      BOOST_TEST(message.starts_with("worker 2: MultiprocessParallelUpdater, worker 2: the process "), message);
      BOOST_TEST(has(message, "was killed by signal 9"), message);
    } else {
      BOOST_TEST(message_of<catena::IOError>([&] { updater.update(); }) == "worker 2: example 4: read: no such image");
    }
    BOOST_TEST(!has_children());
    BOOST_TEST(params_of(model) == before, each);
    BOOST_TEST(updater.iteration() == 2);
    BOOST_TEST(has(message_of<catena::RuntimeError>([&] { updater.update(); }), "a worker has failed"));
    BOOST_TEST(has(message_of<catena::RuntimeError>([&] { updater.update(); }), "make a new updater"));
    BOOST_TEST(has(message_of<catena::RuntimeError>([&] { updater.setup_workers(); }), "a worker has failed"));
    BOOST_TEST(!has_children());
    updater.finalize();
  }
  // An error of the main model stops the workers, too; a trainer ends in order.
  nn::Classifier model{TinyMLP()};
  SGD sgd;
  sgd.setup(model);
  int calls = 0;
  SerialIterator a(host_examples(6, true), 2), b(host_examples(6, true), 2);
  const TemporaryFolder folder("main_fails");
  Trainer trainer(MultiprocessParallelUpdater({a, b}, sgd,
                                              {.devices = {-1, -1},
                                               .loss_func =
                                                   [&, parent = ::getpid()](Link& m, const Variables& x) {
                                                     catena::check<catena::ValueError>(
                                                         ::getpid() != parent || ++calls != 3, "loss", "bad");
                                                     return m.call(x);
                                                   }}),
                  {9, iteration}, folder.path.string());
  BOOST_TEST(message_of<catena::ValueError>([&] { trainer.run(); }) == "iteration 3: loss: bad");
  BOOST_TEST(!has_children());
}

BOOST_AUTO_TEST_CASE(workers_start_once_and_end_in_every_state) {
  const Warnings warnings;
  for (int state = 0; state < 5; ++state) BOOST_TEST_CONTEXT("state " << state) {
      nn::Classifier<StatefulMLP> lazy{StatefulMLP()};
      nn::Classifier sized{TinyMLP()};
      SGD of_lazy, of_sized;
      of_lazy.setup(lazy);
      of_sized.setup(sized);
      SerialIterator a(host_examples(6, true), 2), b(host_examples(6, true), 2);
      MultiprocessParallelUpdater pending({a, b}, of_lazy, {.devices = {-1, -1}});
      MultiprocessParallelUpdater updater({a, b}, of_sized, {.devices = {-1, -1}});
      BOOST_TEST(!has_children());
      BOOST_TEST(has(message_of<catena::RuntimeError>([&] { pending.setup_workers(); }), "have no shape yet"));
      if (state >= 1) {
        updater.setup_workers();
        updater.setup_workers();
        BOOST_TEST(has_children());
      }
      if (state == 2) updater.update();
      if (state == 3) updater.finalize();
      if (state == 4) pending.update();
    }
  BOOST_TEST(!has_children());
}

// The threads of an iterator that has loaded ahead do not survive a fork.
BOOST_AUTO_TEST_CASE(iterators_that_have_begun) {
  const Warnings warnings;
  autograd::seed(4);
  nn::Classifier model{TinyMLP()};
  model.to_device(kCpu);
  nn::Classifier same{model};
  SGD sgd(0.1), by_hand(0.1);
  sgd.setup(model);
  by_hand.setup(same);
  std::vector<nn::Classifier<TinyMLP>> hand(2, same);
  SerialIterator a(host_examples(9, true, 1), 4, {.seed = 1}), c(host_examples(9, false, 2), 4, {.seed = 2});
  SerialIterator same_a = a;
  Ahead b(host_examples(9, false, 2), 4, {.seed = 2});
  b.next();
  c.next();
  MultiprocessParallelUpdater updater({a, b}, sgd, {.devices = {-1, -1}});
  for (int step = 0; step < 3; ++step) {
    updater.update();
    hand[0].copyparams(same);
    hand[1].copyparams(same);
    gradients_of(hand[0], default_converter(*same_a.next(), kCpu));
    gradients_of(hand[1], default_converter(*c.next(), kCpu));
    mean_of_all(hand);
    same.cleargrads();
    same.addgrads(hand[0]);
    by_hand.update();
    BOOST_TEST(params_of(model) == params_of(same), each);
  }
}

BOOST_AUTO_TEST_CASE(models_of_workers_that_change) {
  const Warnings warnings;
  const auto data = [](float x) { return autograd::arrays::full({1, 3}, x, Dtype::float32, kCpu); };
  SerialIterator a(data(1), 1), b(data(2), 1);
  Mixed model;
  SGD sgd(1.0);
  sgd.setup(model);
  MultiprocessParallelUpdater updater(
      {a, b}, sgd, {.devices = {-1, -1}, .loss_func = [parent = ::getpid()](Link& m, const Variables& x) {
                      const Variable loss = m.call(x);
                      if (::getpid() != parent)
                        static_cast<Mixed&>(m).empty.set_data(autograd::arrays::ones({5000}, Dtype::float32, kCpu));
                      return loss;
                    }});
  updater.update();
  const std::string message = message_of<catena::RuntimeError>([&] { updater.update(); });
  BOOST_TEST(has(message, "the model of the worker has 4 parameters of "), message);
  BOOST_TEST(has(message_of<catena::RuntimeError>([&] { updater.update(); }), "a worker has failed"));
}

BOOST_AUTO_TEST_CASE(a_worker_that_cannot_be_started) {
  const Warnings warnings;
  nn::Classifier model{TinyMLP()};
  SGD sgd;
  sgd.setup(model);
  SerialIterator a(host_examples(6, true), 2), b(host_examples(6, true), 2), c(host_examples(6, true), 2);
  MultiprocessParallelUpdater updater({a, b, c}, sgd, {.devices = {-1, -1, -1}});
  // File descriptors for one pair of sockets, one of which stays open in this process.
  const int free = ::dup(0);
  ::close(free);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{rlim_t(free) + 2, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  const std::string message = message_of<catena::Error>([&] { updater.setup_workers(); });
  ::setrlimit(RLIMIT_NOFILE, &before);
  BOOST_TEST(has(message, "worker 2"), message);
  BOOST_TEST(!has_children());
  updater.update();
  BOOST_TEST(updater.iteration() == 1);
}

BOOST_AUTO_TEST_CASE(files_without_workers) {
  const Warnings warnings;
  nn::Classifier model{TinyMLP()};
  SGD sgd;
  sgd.setup(model);
  SerialIterator a(host_examples(10, true), 4), b(host_examples(10, true), 4);
  const TemporaryFolder folder("files_without_workers");
  MultiprocessParallelUpdater alone({a}, sgd, {.devices = {-1}}), updater({a, b}, sgd, {.devices = {-1, -1}});
  nn::serializers::save_npz(folder / "alone.npz", alone);
  updater.update();
  nn::serializers::load_npz(folder / "alone.npz", updater);
  BOOST_TEST(a.epoch_detail() == 0.0);
  BOOST_TEST(b.epoch_detail() == 0.4);
}

BOOST_AUTO_TEST_CASE(errors) {
  nn::Classifier model{TinyMLP()}, other{TinyMLP()};
  SGD sgd;
  sgd.setup(model);
  SerialIterator a(host_examples(8, true), 4), b(host_examples(8, true), 4), nine(host_examples(9, true), 4);
  MultithreadIterator loading(host_examples(9, true), 4);
  const double lr = sgd.lr();
  const auto value_error = [&](std::vector<Held<Iterator>> its, const Devices& devices) {
    return message_of<catena::ValueError>(
        [&] { MultiprocessParallelUpdater(std::move(its), sgd, {.devices = devices}); });
  };
  BOOST_TEST(has(value_error({a, b}, {}), "devices must be specified"));
  BOOST_TEST(has(value_error({}, {-1}), "there are no iterators"));
  BOOST_TEST(has(value_error({a, b}, {-1}), "there are 1 devices for 2 iterators"));
  BOOST_TEST(has(value_error({a, b}, {-1, std::nullopt}), "the device replica_1 is null"));
  BOOST_TEST(has(value_error({a, b}, {-1, 0}), "all GPUs, or all the CPU"));
  BOOST_TEST(has(value_error({a, b}, {0, 0}), "is named twice"));
  BOOST_TEST(has(value_error({a, nine}, {-1, -1}), "iterator 1 has 9 examples, that of iterator 0 8"));
  BOOST_TEST(has(value_error({a, loading}, {-1, -1}), "iterator 1 has 9 examples"));
  BOOST_TEST(has(value_error({a, b}, {0, 1}), "MultiprocessParallelUpdater(iterators, optimizer, model, "));
  BOOST_TEST(has(message_of<catena::KeyError>([&] {
                   MultiprocessParallelUpdater({a, b}, sgd, {.devices = {{"first", -1}, {"second", -1}}});
                 }),
                 "devices must have the key \"main\""));
  BOOST_TEST(has(message_of<catena::ValueError>([&] {
                   MultiprocessParallelUpdater({a, b}, sgd, other, {.devices = {-1, -1}});
                 }),
                 "is not the one that the optimizer was set up with"));
  if (!MultiprocessParallelUpdater::available()) {
    const std::string message = message_of<catena::RuntimeError>([&] {
      MultiprocessParallelUpdater({a, b}, sgd, model, {.devices = {0, 1}});
    });
    std::cout << "no communication: " << message << "\n";
    BOOST_TEST(message.starts_with("MultiprocessParallelUpdater: "), message);
    BOOST_TEST(has(message, "unavailable"), message);
  }
  BOOST_TEST(sgd.lr() == lr);
  const std::vector<int> list = {-1};
  const std::map<std::string, int> map = {{"main", -1}};
  MultiprocessParallelUpdater({a}, sgd, {.devices = list}).update();
  MultiprocessParallelUpdater({a}, sgd, {.devices = map}).update();
}

BOOST_AUTO_TEST_SUITE_END()
