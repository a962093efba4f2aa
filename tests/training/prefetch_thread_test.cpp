// PrefetchIterator: the batches of its iterator, on the device, one to three ahead; positions, snapshots and errors as
// of what next() has returned.
#include <catena/training/parallel/prefetch_iterator.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/iterator_file.h>
#include <catena/tests/support/replicas.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>
#include <catena/training/parallel/iterators.h>
#include <catena/training/parallel/parallel_updater.h>

using namespace test;
using namespace training;

namespace {

// (i, noise), in host memory, so that worker processes may load it.
struct Noisy : DatasetMixin {
  std::int64_t n;
  explicit Noisy(std::int64_t n_) : n(n_) {}
  std::int64_t size() const override { return n; }
  Example get_example(std::int64_t i) const override {
    const Array noise = autograd::random_uniform({5}, 0, 1, Dtype::float32, autograd::default_generator(), kCpu);
    return Example({autograd::arrays::full({3}, double(i), Dtype::float32, kCpu), noise});
  }
};

struct Settings {
  bool repeat = true, shuffle = true;
  std::uint64_t seed = 0;
};
struct Kind {
  const char* name;
  std::unique_ptr<Iterator> (*make)(DatasetPtr, std::int64_t batch_size, const Settings&);
};
const Kind kKinds[] = {
    {"serial",
     [](DatasetPtr d, std::int64_t n, const Settings& s) {
       return std::unique_ptr<Iterator>(new SerialIterator(d, n, {s.repeat, s.shuffle, s.seed}));
     }},
    {"threads",
     [](DatasetPtr d, std::int64_t n, const Settings& s) {
       return std::unique_ptr<Iterator>(new MultithreadIterator(d, n, {s.repeat, s.shuffle, 2, 2, s.seed}));
     }},
    {"processes", [](DatasetPtr d, std::int64_t n, const Settings& s) {
       return std::unique_ptr<Iterator>(new MultiprocessIterator(d, n, {s.repeat, s.shuffle, 2, 1, {}, s.seed}));
     }}};

// Returns the position of the iterator after the next batch, and the indices and arrays of that batch.
std::vector<double> seen(Iterator& it) {
  const std::optional<Batch> batch = it.next();
  std::vector<double> all{it.epoch_detail(), double(it.epoch()), double(it.is_new_epoch()),
                          it.previous_epoch_detail().value_or(-1)};
  if (!batch) return all;
  all.insert(all.end(), batch->indices.begin(), batch->indices.end());
  all.push_back(double(batch->size()));
  for (const Array& a : default_converter(*batch, {}).values)
    for (const double v : values(a)) all.push_back(v);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(prefetch)

BOOST_AUTO_TEST_CASE(the_batches_of_its_iterator) {
  const auto data = std::make_shared<Noisy>(10);
  for (const Kind& kind : kKinds)
    for (const bool repeat : {true, false})
      for (const std::int64_t depth : {1, 3}) BOOST_TEST_CONTEXT(kind.name << " " << repeat << ", depth " << depth) {
          const auto plain = kind.make(data, 4, {.repeat = repeat, .seed = 7}),
                     wrapped = kind.make(data, 4, {.repeat = repeat, .seed = 7});
          PrefetchIterator it(*wrapped, {.depth = depth, .device = default_device()});
          BOOST_TEST((it.device() == default_device()));
          BOOST_TEST(it.batch_size() == 4);
          BOOST_TEST(!it.previous_epoch_detail());
          for (int round = 0; round < 2; ++round) {
            for (int k = 0; k < 7; ++k) BOOST_TEST(seen(it) == seen(*plain), each);
            if (!repeat) BOOST_TEST(!it.next());
            BOOST_TEST(it.can_reset());
            it.reset();
            plain->reset();
          }
          seen(it);
          seen(*plain);
          it.finalize();
          it.finalize();
          BOOST_TEST(seen(it) == seen(*plain), each);
          const catena::Owned<Iterator> copy = it.copy();
          const std::vector<double> next = seen(*plain);
          BOOST_TEST(seen(*copy) == next, each);
          BOOST_TEST(seen(it) == next, each);
          BOOST_TEST(wrapped->epoch_detail() == 0);  // the wrapped iterator keeps its position
        }
}

BOOST_AUTO_TEST_CASE(batches_are_on_the_device) {
  std::vector<Device> devices{default_device()};
  if (const std::optional<Device> other = other_device()) devices.push_back(*other);
  const auto data = std::make_shared<Noisy>(6);
  for (const Device device : devices) {
    PrefetchIterator it(SerialIterator(data, 3, {.shuffle = false}), {.device = device});
    SerialIterator serial(data, 3, {.shuffle = false});
    for (int k = 0; k < 4; ++k) {
      const std::optional<Batch> batch = it.next();
      serial.next();
      BOOST_REQUIRE(batch->stacked.has_value());
      BOOST_TEST(batch->examples.empty());
      for (const Array& a : batch->stacked->values) BOOST_TEST((a.device() == device));
      // An updater's converter leaves it as it is.
      const Example same = default_converter(*batch, device);
      BOOST_TEST(same.values[0].get() == batch->stacked->values[0].get());
    }
  }
  PrefetchIterator by_default(SerialIterator(data, 3));
  BOOST_TEST((by_default.next()->stacked->values[0].device() == default_device()));
}

// Results of work of the program that is not complete when the thread reads them, and arrays that are written again and
// again: the copies neither begin too early nor disturb a batch that is in use.
BOOST_AUTO_TEST_CASE(streams_are_ordered) {
  const Device device = default_device();
  const std::int64_t n = 1 << 15;
  // Made on the caller's stream right before the first batch is taken.
  Array chain = autograd::arrays::full({n}, 1.0, Dtype::float32, device);
  for (int k = 0; k < 20; ++k) chain = chain + 1.0;
  struct Rows : DatasetMixin {
    Array row;
    std::int64_t size() const override { return 8; }
    Example get_example(std::int64_t i) const override { return Example(row * double(i + 1)); }
  } rows;
  rows.row = chain;
  PrefetchIterator it(SerialIterator(rows, 2, {.shuffle = false}), {.depth = 3, .device = device});
  for (int k = 0; k < 12; ++k) {
    const std::optional<Batch> batch = it.next();
    const Array x = batch->stacked->values[0];
    Array kept = autograd::copy(x);
    for (int j = 0; j < 3; ++j) kept = kept * 2.0;  // work that is behind the batch in the stream
    const std::vector<double> v = values(kept);
    for (std::size_t r = 0; r < 2; ++r) {
      const double expected = 21.0 * double(batch->indices[r] + 1) * 8;
      BOOST_TEST(v[r * std::size_t(n)] == expected);
      BOOST_TEST(v[r * std::size_t(n) + std::size_t(n) - 1] == expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(states_exclude_what_was_prepared_ahead) {
  const auto data = std::make_shared<Noisy>(7);
  const TemporaryFolder folder("prefetch_state");
  for (const Kind& kind : kKinds) BOOST_TEST_CONTEXT(kind.name) {
      const auto plain = kind.make(data, 3, {.seed = 5});
      PrefetchIterator it(*kind.make(data, 3, {.seed = 5}), {.depth = 3});
      for (int k = 0; k < 6; ++k) {
        BOOST_TEST(seen(it) == seen(*plain), each);
        nn::serializers::save_npz(folder / "it.npz", it);
        nn::serializers::save_npz(folder / "plain.npz", *plain);
        const std::vector<double> expected = seen(*plain);
        // A file of one is one of the other.
        PrefetchIterator resumed(*kind.make(data, 3, {.seed = 99}));
        resumed.next();
        nn::serializers::load_npz(folder / "it.npz", resumed);
        BOOST_TEST(seen(resumed) == expected, each);
        nn::serializers::load_npz(folder / "plain.npz", resumed);
        BOOST_TEST(seen(resumed) == expected, each);
        SerialIterator serial(data, 3);
        nn::serializers::load_npz(folder / "it.npz", serial);
        BOOST_TEST(seen(serial) == expected, each);
        BOOST_TEST(seen(it) == expected, each);
      }
    }
}

// A load that fails changes nothing.
BOOST_AUTO_TEST_CASE(loads_that_fail) {
  const TemporaryFolder folder("prefetch_loads_that_fail");
  const auto data = std::make_shared<Noisy>(7);
  PrefetchIterator other(SerialIterator(data, 3, {.seed = 1})), it(SerialIterator(data, 3, {.seed = 2}));
  SerialIterator same(data, 3, {.seed = 2});
  for (int k = 0; k < 3; ++k) other.next();
  IteratorFile saved{other, false}, failing{it, true};
  nn::serializers::save_npz(folder / "it.npz", saved);
  BOOST_TEST(seen(it) == seen(same), each);
  BOOST_CHECK_THROW(nn::serializers::load_npz(folder / "it.npz", failing), catena::KeyError);
  for (int k = 0; k < 4; ++k) BOOST_TEST(seen(it) == seen(same), each);
}

BOOST_AUTO_TEST_CASE(converters) {
  const auto data = std::make_shared<Noisy>(8);
  const auto noisy = [](const Batch& batch, std::optional<Device> device) {
    Example e = default_converter(batch, device);
    e.values[0] = e.values[0] + autograd::random_normal(e.values[0].shape(), 0, 1, Dtype::float32,
                                                        autograd::default_generator(), e.values[0].device());
    e.names = {"x", "noise"};
    return e;
  };
  const TemporaryFolder folder("prefetch_converter");
  const auto make = [&](std::uint64_t seed) {
    autograd::seed(seed);
    return PrefetchIterator(SerialIterator(data, 3, {.seed = 4}), {.depth = 2, .converter = noisy});
  };
  PrefetchIterator it = make(11), again = make(11), another = make(12);
  const autograd::Generator before = autograd::default_generator();
  std::vector<std::vector<double>> all;
  for (int k = 0; k < 6; ++k) {
    if (k == 2) nn::serializers::save_npz(folder / "it.npz", it);
    all.push_back(seen(it));
    BOOST_TEST(seen(again) == all.back(), each);
    BOOST_TEST((seen(another) != all.back()));
  }
  BOOST_TEST((all[0][10] != all[3][10]));  // a batch has numbers of its own
  BOOST_TEST(autograd::default_generator().offset == before.offset);
  BOOST_TEST(it.next()->stacked->is_map());
  PrefetchIterator resumed = make(99);
  nn::serializers::load_npz(folder / "it.npz", resumed);
  for (std::size_t k = 2; k < 6; ++k) BOOST_TEST(seen(resumed) == all[k], each);
}

BOOST_AUTO_TEST_CASE(errors) {
  struct Broken : Noisy {
    std::shared_ptr<std::atomic<bool>> good = std::make_shared<std::atomic<bool>>(false);
    using Noisy::Noisy;
    Example get_example(std::int64_t i) const override {
      if (!*good) catena::check<catena::IOError>(i != 7, "read", "no such image");
      return Noisy::get_example(i);
    }
  };
  for (const Kind& kind : kKinds) BOOST_TEST_CONTEXT(kind.name) {
      const auto data = std::make_shared<Broken>(12);
      SerialIterator serial(std::make_shared<Noisy>(12), 3, {.shuffle = false, .seed = 1});
      PrefetchIterator it(*kind.make(data, 3, {.shuffle = false, .seed = 1}), {.depth = 3});
      for (int k = 0; k < 2; ++k) BOOST_TEST(seen(it) == seen(serial), each);  // those before the error arrive
      for (int attempt = 0; attempt < 2; ++attempt) {
        BOOST_TEST(message_of<catena::IOError>([&] { it.next(); }) == "example 7: read: no such image");
        BOOST_TEST(it.epoch_detail() == 0.5);
      }
      *data->good = true;
      for (int k = 0; k < 3; ++k) BOOST_TEST(seen(it) == seen(serial), each);
    }
  // Of the converter.
  const auto data = std::make_shared<Noisy>(6);
  PrefetchIterator it(SerialIterator(data, 2, {.shuffle = false}),
                      {.converter = [](const Batch& batch, std::optional<Device> device) {
                        catena::check<catena::TypeError>(batch.indices[0] != 2, "convert", "no");
                        return default_converter(batch, device);
                      }});
  it.next();
  for (int attempt = 0; attempt < 2; ++attempt) {
    BOOST_TEST(message_of<catena::TypeError>([&] { it.next(); }) == "convert: no");
    BOOST_TEST(it.epoch_detail() == 1.0 / 3);
  }
  BOOST_TEST(message_of<catena::ValueError>([&] { PrefetchIterator(it, {.depth = 0}); }) ==
             "PrefetchIterator: the depth is 0; at least 1 batch is prepared ahead");
  BOOST_CHECK_THROW(PrefetchIterator(it, {.converter = {}}), catena::TypeError);
  struct Least : Iterator {
    std::optional<Batch> next() override { return {}; }
    std::int64_t epoch() const override { return 0; }
    double epoch_detail() const override { return 0; }
    bool is_new_epoch() const override { return false; }
    void serialize(nn::Serializer&) override {}
  } least;
  BOOST_CHECK_THROW(PrefetchIterator{least}, catena::NotImplementedError);
}

// No batch is prepared in the thread that calls next(), but the first; and no more than the depth says.
BOOST_AUTO_TEST_CASE(a_thread_prepares_what_is_next) {
  struct Seen {
    std::atomic<int> batches{0}, elsewhere{0};
    std::thread::id caller = std::this_thread::get_id();
  };
  const auto told = std::make_shared<Seen>();
  PrefetchIterator it(SerialIterator(Noisy(40), 2, {.shuffle = false}),
                      {.depth = 3, .converter = [told](const Batch& batch, std::optional<Device> device) {
                         ++told->batches;
                         if (std::this_thread::get_id() != told->caller) ++told->elsewhere;
                         return default_converter(batch, device);
                       }});
  for (int taken = 1; taken <= 4; ++taken) {
    it.next();
    for (int k = 0; k < 20000 && told->batches < taken + 3; ++k)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    BOOST_TEST(told->batches == taken + 3);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // time for one too many
    BOOST_TEST(told->batches == taken + 3);
  }
  BOOST_TEST(told->elsewhere == told->batches - 1);
}

BOOST_AUTO_TEST_CASE(in_an_evaluator_and_a_parallel_updater) {
  struct Mean : nn::Link {
    NN_MEMBERS()
    Variable operator()(const Variable& x, const Variable&) {
      nn::report("mean", autograd::mean(x.data()), this);
      return x;
    }
  } model;
  const auto data = std::make_shared<Noisy>(7);
  SerialIterator serial(data, 3, {.repeat = false, .shuffle = false});
  PrefetchIterator ahead(serial);
  Evaluator expected(serial, model), actual(ahead, model);
  for (int k = 0; k < 3; ++k) BOOST_TEST(actual().at("main/mean").value() == expected().at("main/mean").value());

  const auto trained = [&](auto&& wrap) {
    autograd::seed(1);
    nn::Classifier<nn::Linear> classifier(nn::Linear(4, 3));
    SGD sgd(0.1);
    sgd.setup(classifier);
    ParallelUpdater updater(wrap(SerialIterator(host_examples(20, false), 7, {.seed = 2})), sgd, classifier,
                            {.devices = {{"main", default_device()}, {"second", default_device()}}});
    for (int k = 0; k < 5; ++k) updater.update();
    updater.finalize();
    return params_of(classifier);
  };
  BOOST_TEST(trained([](auto it) { return PrefetchIterator(it); }) == trained([](auto it) { return it; }), each);
}

// Training with random augmentation, stopped in the middle of an epoch and resumed: bit for bit the weights of the
// uninterrupted run, for every kind of iterator, with and without prefetching, with a sampler that draws.
BOOST_AUTO_TEST_CASE(a_resumed_training) {
  struct Augmented : DatasetMixin {
    DatasetPtr of = host_examples(22, false);
    std::int64_t size() const override { return of->size(); }
    Example get_example(std::int64_t i) const override {
      Example e = of->get_example(i);
      e.values[0] = e.values[0] + autograd::random_normal({4}, 0, double(1 + example_key()->epoch), Dtype::float32,
                                                          autograd::default_generator(), kCpu);
      return e;
    }
  };
  const auto data = std::make_shared<Augmented>();
  const auto make = [&](const std::string& name) -> std::unique_ptr<Iterator> {
    static const WeightedRandomSampler sampler(
        std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4});
    if (name == "serial") return std::unique_ptr<Iterator>(new SerialIterator(data, 5, {.order_sampler = sampler}));
    if (name == "threads")
      return std::unique_ptr<Iterator>(new MultithreadIterator(data, 5, {.n_threads = 3, .order_sampler = sampler}));
    return std::unique_ptr<Iterator>(new MultiprocessIterator(data, 5, {.n_processes = 2, .order_sampler = sampler}));
  };
  const TemporaryFolder folder("prefetch_resume");
  const auto run = [&](const std::string& name, bool ahead, const std::string& out, const std::string& from) {
    autograd::seed(from.empty() ? 1 : 50);
    nn::Classifier<nn::Linear> model(nn::Linear(4, 3));
    Adam optimizer;
    optimizer.setup(model);
    Held<Iterator> it = std::shared_ptr<Iterator>(make(name));
    if (ahead) it = Held<Iterator>(PrefetchIterator(*it, {.depth = 3, .device = default_device()}));
    Trainer trainer(StandardUpdater(it, optimizer, {.device = default_device()}), {13, iteration}, folder / out);
    trainer.extend(Snapshot(), {.trigger = {6, iteration}});
    if (!from.empty()) nn::serializers::load_npz(folder / from, trainer);
    trainer.run();
    return params_of(model);
  };
  std::vector<std::string> expected;
  for (const std::string name : {"serial", "threads", "processes"})
    for (const bool ahead : {false, true}) BOOST_TEST_CONTEXT(name << ", ahead " << ahead) {
        const std::vector<std::string> whole = run(name, ahead, "whole", "");
        if (expected.empty()) expected = whole;
        BOOST_TEST(whole == expected, each);
        BOOST_TEST(run(name, ahead, "resumed", "whole/snapshot_iter_6") == whole, each);
      }
}

BOOST_AUTO_TEST_SUITE_END()
