// The numbers that a data set or a replica draws follow from the seed, the sweep, the index of
// the example and the number of the replica, whatever generator of the library they use: they are equal in one thread,
// in several and in processes, and after a resume.
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catena/catena.h>
#include <catena/tests/support/training_fixtures.h>

using autograd::Array;
using autograd::Variable;
using autograd::Variables;
using test::has;
using training::Batch;
using training::DatasetPtr;
using training::Example;

namespace {

std::vector<double> numbers(const Array& a) { return test::values(a); }

bool on_cpu() { return nd::current_device().kind == nd::Device::Kind::cpu; }

// A bit of everything that draws, in loading times that do not follow the order.
struct Drawing : training::DatasetMixin {
  std::int64_t n;
  explicit Drawing(std::int64_t n_ = 12) : n(n_) {}
  std::int64_t size() const override { return n; }
  Example get_example(std::int64_t i) const override {
    std::this_thread::sleep_for(std::chrono::microseconds((i * 700) % 1900));
    std::vector<double> all{double(i)};
    const auto add = [&](const Array& a) {
      for (const double v : numbers(a)) all.push_back(v);
    };
    add(Array(nd::random::uniform(0, 1, {2}).astype(nd::float32)));
    add(Array(nd::random::randint(0, 1000000, {1})));
    add(Array(nd::random::permutation(5)));
    add(Array(nd::random::default_rng().poisson(20.0, {3})));
    add(autograd::random_normal({2}, 0, 1, autograd::Dtype::float32, autograd::default_generator()));
    add(nn::dropout(Variable(autograd::arrays::ones({8})), {.ratio = 0.5}).data());
    add(nn::Linear(3, 2).W.data());
    for (const std::int64_t k : training::permutation(4, autograd::default_generator())) all.push_back(double(k));
    return Example({autograd::array(all, {std::int64_t(all.size())}, autograd::Device{})});
  }
};

// The draws of (sweep, index).
using Draws = std::map<std::pair<std::int64_t, std::int64_t>, std::vector<double>>;
Draws draws_of(training::Iterator& it, std::int64_t size, int sweeps) {
  Draws found;
  for (std::int64_t seen = 0; seen < size * sweeps;) {
    const std::optional<Batch> batch = it.next();
    for (std::size_t k = 0; k < batch->examples.size() && seen < size * sweeps; ++k, ++seen)
      found[{seen / size, batch->indices[k]}] = numbers(batch->examples[k].values[0]);
  }
  return found;
}

struct Kind {
  std::string name;
  catena::Owned<training::Iterator> (*make)(DatasetPtr, std::int64_t, bool shuffle, std::optional<std::uint64_t>);
};
template <class It, int N>
catena::Owned<training::Iterator> made(DatasetPtr d, std::int64_t batch_size, bool shuffle,
                                       std::optional<std::uint64_t> seed) {
  if constexpr (N == 0) {
    return catena::Owned<training::Iterator>(new It(d, batch_size, {.shuffle = shuffle, .seed = seed}));
  } else {
    typename It::Options options;
    options.shuffle = shuffle;
    options.seed = seed;
    options.n_prefetch = 2;
    if constexpr (std::is_same_v<It, training::MultithreadIterator>) options.n_threads = N;
    else options.n_processes = N;
    return catena::Owned<training::Iterator>(new It(d, batch_size, options));
  }
}
std::vector<Kind> kinds() {
  std::vector<Kind> all{{"serial", made<training::SerialIterator, 0>},
                        {"a thread", made<training::MultithreadIterator, 1>},
                        {"four threads", made<training::MultithreadIterator, 4>}};
  if (on_cpu()) {  // a worker process must not use CUDA
    all.push_back({"a process", made<training::MultiprocessIterator, 1>});
    all.push_back({"three processes", made<training::MultiprocessIterator, 3>});
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_in_workers)

BOOST_AUTO_TEST_CASE(draws_follow_from_seed_sweep_and_index) {
  const auto data = std::make_shared<Drawing>();
  const Draws expected = draws_of(*made<training::SerialIterator, 0>(data, 12, false, 4), 12, 3);
  std::map<std::vector<double>, int> distinct;
  for (const auto& [where, what] : expected) ++distinct[std::vector<double>(what.begin() + 1, what.end())];
  BOOST_TEST(distinct.size() == 36u);  // every sweep and every example has its own
  for (const Kind& kind : kinds()) BOOST_TEST_CONTEXT(kind.name) {
      for (const bool shuffle : {false, true})
        BOOST_TEST((draws_of(*kind.make(data, shuffle ? 5 : 4, shuffle, 4), 12, 3) == expected));
      BOOST_TEST((draws_of(*kind.make(data, 4, false, 5), 12, 3) != expected));
    }
}

// A worker process has the CPU as current device, also if the program works on a GPU.
BOOST_AUTO_TEST_CASE(processes_draw_on_the_host) {
  struct Crops : training::DatasetMixin {
    std::int64_t size() const override { return 6; }
    Example get_example(std::int64_t) const override {
      const nd::Array at = nd::random::randint(0, 1000000, {2});
      return Example({at, double(nd::zeros({2}).device().kind == nd::Device::Kind::cpu)});
    }
  };
  const auto data = std::make_shared<Crops>();
  const auto process = made<training::MultiprocessIterator, 2>(data, 3, true, 4);
  std::vector<Batch> batches;
  for (int k = 0; k < 4; ++k) batches.push_back(*process->next());
  const nd::DeviceScope host(nd::cpu_device);
  const auto serial = made<training::SerialIterator, 0>(data, 3, true, 4);
  for (const Batch& batch : batches) {
    const std::optional<Batch> expected = serial->next();
    for (std::size_t i = 0; i < 3; ++i) {
      BOOST_TEST(numbers(batch.examples[i].values[0]) == numbers(expected->examples[i].values[0]));
      BOOST_TEST(numbers(batch.examples[i].values[1])[0] == 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(wrappers_are_no_difference) {
  const auto direct = std::make_shared<Drawing>();
  const training::TransformDataset jitter(direct, [](const Example& e) {
    std::vector<double> v = numbers(e.values[0]);
    const std::vector<double> noise = numbers(Array(nd::random::standard_normal({std::int64_t(v.size())})));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] += noise[i];
    return Example({autograd::array(v, {std::int64_t(v.size())}, autograd::Device{})});
  });
  const auto part = std::make_shared<training::SubDataset>(std::make_shared<training::TransformDataset>(jitter), 3, 11);
  const Draws expected = draws_of(*made<training::SerialIterator, 0>(part, 8, false, 4), 8, 2);
  for (const Kind& kind : kinds()) BOOST_TEST((draws_of(*kind.make(part, 3, true, 4), 8, 2) == expected), kind.name);
}

// Draws of data sets neither change what the program draws elsewhere nor depend on it.
BOOST_AUTO_TEST_CASE(streams_outside_are_left_alone) {
  const auto data = std::make_shared<Drawing>();
  const auto outside = [] {
    return std::pair(nd::random::uniform(0, 1, {4}).to_vector<double>(), autograd::default_generator().offset);
  };
  for (const Kind& kind : kinds()) BOOST_TEST_CONTEXT(kind.name) {
      std::vector<Draws> seen;
      std::vector<decltype(outside())> after;
      for (const bool reads : {true, false}) {
        autograd::seed(11);
        const auto it = kind.make(data, 4, true, {});
        if (!reads) nd::random::uniform(0, 1, {100});
        if (reads) seen.push_back(draws_of(*it, 12, 1));
        if (reads) after.push_back(outside());
        else seen.push_back(draws_of(*it, 12, 1));
      }
      autograd::seed(11);
      kind.make(data, 4, true, {});
      after.push_back(outside());
      BOOST_TEST((seen[0] == seen[1]));
      BOOST_TEST((after[0] == after[1]));
      // Without a seed it comes from the generator of the program; two iterators have different ones.
      autograd::seed(11);
      const auto first = kind.make(data, 4, false, {}), second = kind.make(data, 4, false, {});
      const Draws of_first = draws_of(*first, 12, 1), of_second = draws_of(*second, 12, 1);
      BOOST_TEST((of_first == seen[0]));
      BOOST_TEST((of_second != of_first));
    }
}

BOOST_AUTO_TEST_CASE(a_reset_begins_another_sweep) {
  const auto data = std::make_shared<Drawing>();
  const Draws expected = draws_of(*made<training::SerialIterator, 0>(data, 12, false, 4), 12, 2);
  for (const Kind& kind : kinds()) {
    const auto it = kind.make(data, 5, false, 4);
    it->next();
    it->reset();
    const Draws again = draws_of(*it, 12, 1);
    for (std::int64_t i = 0; i < 12; ++i) BOOST_TEST((again.at({0, i}) == expected.at({1, i})), kind.name);
  }
}

BOOST_AUTO_TEST_CASE(states_continue_in_every_kind) {
  const auto data = std::make_shared<Drawing>();
  const test::TemporaryFolder folder("draws");
  for (const Kind& from : kinds()) {
    autograd::seed(2);
    const auto it = from.make(data, 5, true, {});
    for (int k = 0; k < 4; ++k) it->next();
    nn::serializers::save_npz(folder / "it.npz", *it);
    const Draws rest = draws_of(*it, 12, 2);
    for (const Kind& to : kinds()) {
      autograd::seed(77);
      const auto resumed = to.make(data, 5, true, {});
      nn::serializers::load_npz(folder / "it.npz", *resumed);
      BOOST_TEST((draws_of(*resumed, 12, 2) == rest), from.name << " to " << to.name);
    }
  }
}

namespace {

// Noise from both libraries in the model.
struct NoisyNet : nn::Chain {
  nn::Linear l1{4, 8}, l2{8, 3};
  NN_MEMBERS(l1, l2)
  Variable operator()(const Variable& x) {
    const Variable h = nn::dropout(nn::relu(l1(x)), {.ratio = 0.3});
    const nd::Array noise = nd::random::standard_normal({x.shape(0), 8}).astype(nd::float32);
    std::this_thread::sleep_for(std::chrono::microseconds(nd::random::randint(0, 2000, {1}).to_vector<int>()[0]));
    return l2(h + Variable(Array(noise)) * 0.1f);
  }
};

DatasetPtr labelled(std::int64_t n) {
  std::vector<double> x;
  std::vector<std::int32_t> t;
  for (std::int64_t i = 0; i < n; ++i) {
    for (int k = 0; k < 4; ++k) x.push_back(double((i * 7 + k * 3) % 11) / 11 - 0.4);
    t.push_back(std::int32_t(i % 3));
  }
  return std::make_shared<training::TupleDataset>(
      autograd::astype(autograd::array(x, {n, 4}), autograd::Dtype::float32), autograd::array(t, {n}));
}

using MakeUpdater = catena::Owned<training::Updater> (*)(nn::Classifier<NoisyNet>&, training::Optimizer&);
catena::Owned<training::Updater> threads(nn::Classifier<NoisyNet>& model, training::Optimizer& optimizer) {
  const training::DeviceId here(on_cpu() ? -1 : 0);
  return catena::Owned<training::Updater>(
      new training::ParallelUpdater(training::SerialIterator(labelled(30), 8), optimizer, model,
                                    {.devices = {{"main", here}, {"second", here}, {"third", here}}}));
}
catena::Owned<training::Updater> processes(nn::Classifier<NoisyNet>&, training::Optimizer& optimizer) {
  return catena::Owned<training::Updater>(new training::updaters::MultiprocessParallelUpdater(
      {training::SerialIterator(labelled(30), 4), training::SerialIterator(labelled(30), 4),
       training::SerialIterator(labelled(30), 4)},
      optimizer, {.devices = {-1, -1, -1}}));
}

// The weights after `until` iterations, those of a resumed run if `from` names a snapshot.
std::vector<double> train(MakeUpdater make, int until, const std::string& out, const std::string& from) {
  autograd::seed(from.empty() ? 3 : 99);
  nn::Classifier<NoisyNet> model{NoisyNet()};
  training::SGD optimizer(0.05);
  optimizer.setup(model);
  const auto updater = make(model, optimizer);
  training::Trainer trainer(*updater, {double(until), training::iteration}, out);
  trainer.extend(training::Snapshot(), {.trigger = {6, training::iteration}});
  if (!from.empty()) nn::serializers::load_npz(from, trainer);
  trainer.run();
  std::vector<double> all;
  for (const auto& [path, p] : model.namedparams())
    for (const double v : numbers(p.data())) all.push_back(v);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(replicas_repeat_and_resume) {
  const test::Warnings of_rescaling;
  std::vector<MakeUpdater> all{threads};
  if (on_cpu()) all.push_back(processes);
  for (const MakeUpdater make : all) BOOST_TEST_CONTEXT((make == threads ? "threads" : "processes")) {
      const test::TemporaryFolder folder("replicas");
      const std::vector<double> expected = train(make, 12, folder / "first", "");
      for (int times = 0; times < 2; ++times) BOOST_TEST((train(make, 12, folder / "again", "") == expected));
      BOOST_TEST((train(make, 12, folder / "resumed", folder / "first/snapshot_iter_6") == expected));
    }
}

// Augmentation in the data set, in the run as a whole.
BOOST_AUTO_TEST_CASE(a_resumed_run_is_the_uninterrupted_one) {
  struct Augmented : training::DatasetMixin {
    DatasetPtr of = labelled(20);
    std::int64_t size() const override { return of->size(); }
    Example get_example(std::int64_t i) const override {
      Example e = of->get_example(i);
      e.values[0] = e.values[0] + Array(nd::random::standard_normal({4}).astype(nd::float32));
      return e;
    }
  };
  std::vector<double> of_serial;
  for (const Kind& kind : kinds()) BOOST_TEST_CONTEXT(kind.name) {
      const test::TemporaryFolder folder("augmented");
      const auto run = [&](int until, const std::string& out, const std::string& from) {
        autograd::seed(from.empty() ? 1 : 50);
        nn::Linear model(4, 3);
        training::Adam optimizer;
        optimizer.setup(model);
        const auto it = kind.make(std::make_shared<Augmented>(), 6, true, {});
        training::Trainer trainer(
            training::StandardUpdater(
                *it, optimizer,
                {.loss_func = [&](const Variables& v) { return nn::softmax_cross_entropy(model(v[0]), v[1]); }}),
            {double(until), training::iteration}, out);
        trainer.extend(training::Snapshot(), {.trigger = {5, training::iteration}});
        if (!from.empty()) nn::serializers::load_npz(from, trainer);
        trainer.run();
        return numbers(model.W.data());
      };
      const std::vector<double> whole = run(10, folder / "whole", "");
      BOOST_TEST((run(10, folder / "resumed", folder / "whole/snapshot_iter_5") == whole));
      if (of_serial.empty()) of_serial = whole;
      BOOST_TEST((whole == of_serial));
    }
}

BOOST_AUTO_TEST_SUITE_END()
