// Samplers and example keys in all iterators: serial, in threads and in processes. The same orders, the same random
// numbers, and after a resume the same as without the interruption.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/parallel/iterators.h>
#include <catena/training/updater.h>

using namespace test;
using namespace training;

namespace {

const auto each = boost::test_tools::per_element();
constexpr std::int64_t kSize = 9;

// The index, a draw, and what the key says: all that must not depend on the worker.
struct Telling : DatasetMixin {
  std::int64_t size() const override { return kSize; }
  Example get_example(std::int64_t i) const override {
    const std::vector<double> noise =
        values(autograd::random_uniform({2}, 0, 1, Dtype::float64, autograd::default_generator(), kCpu));
    const std::optional<ExampleKey> key = example_key();
    std::vector<double> all{double(i),
                            noise[0],
                            noise[1],
                            double(key ? key->epoch : -1),
                            double(key ? key->index : -1),
                            double(key ? key->seed >> 12 : 0)};
    return Example(autograd::array(all, {6}, kCpu));
  }
};

struct Kind {
  const char* name;
  std::unique_ptr<Iterator> (*make)(DatasetPtr, std::int64_t batch_size, const AnyOrderSampler&, std::uint64_t seed);
};
const Kind kKinds[] = {
    {"serial",
     [](DatasetPtr d, std::int64_t n, const AnyOrderSampler& s, std::uint64_t seed) {
       return std::unique_ptr<Iterator>(new SerialIterator(d, n, {.seed = seed, .order_sampler = s}));
     }},
    {"threads",
     [](DatasetPtr d, std::int64_t n, const AnyOrderSampler& s, std::uint64_t seed) {
       return std::unique_ptr<Iterator>(
           new MultithreadIterator(d, n, {.n_threads = 3, .n_prefetch = 4, .seed = seed, .order_sampler = s}));
     }},
    {"processes", [](DatasetPtr d, std::int64_t n, const AnyOrderSampler& s, std::uint64_t seed) {
       return std::unique_ptr<Iterator>(
           new MultiprocessIterator(d, n, {.n_processes = 2, .n_prefetch = 3, .seed = seed, .order_sampler = s}));
     }}};

struct Sampled {
  const char* name;
  AnyOrderSampler sampler;
};
std::vector<Sampled> all_samplers() {
  const std::vector<double> weights{1, 0, 3, 2, 2, 9, 0, 1, 1};
  const std::vector<std::int64_t> lengths{3, 1, 4, 1, 5, 9, 2, 6, 5};
  return {{"sequential", SequentialSampler()},
          {"random", RandomSampler()},
          {"with replacement", RandomSampler({.replacement = true, .num_samples = 11})},
          {"weighted", WeightedRandomSampler(weights)},
          {"weighted without replacement", WeightedRandomSampler(weights, {.num_samples = 5, .replacement = false})},
          {"lengths", LengthGroupedSampler(lengths, 2, {.pool_batches = 2, .drop_last = true})},
          {"subset", SubsetRandomSampler({1, 4, 6, 7})},
          {"distributed", DistributedSampler({.rank = 1, .size = 2})},
          {"function", [](const OrderContext& c) { return permutation(c.dataset_size, c.generator); }}};
}

std::vector<double> seen(Iterator& it) {
  const std::optional<Batch> batch = it.next();
  std::vector<double> all{it.epoch_detail(), double(it.epoch()), double(it.is_new_epoch()),
                          it.previous_epoch_detail().value_or(-1)};
  all.insert(all.end(), batch->indices.begin(), batch->indices.end());
  for (const Example& e : batch->examples)
    for (const double v : values(e.values[0])) all.push_back(v);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(order_samplers)

BOOST_AUTO_TEST_CASE(every_sampler_in_every_iterator) {
  const auto data = std::make_shared<Telling>();
  const TemporaryFolder folder("samplers");
  for (const Sampled& sampled : all_samplers()) {
    std::vector<std::vector<double>> expected;
    for (const Kind& kind : kKinds) BOOST_TEST_CONTEXT(sampled.name << ", " << kind.name) {
        const auto it = kind.make(data, 4, sampled.sampler, 5);
        std::vector<std::vector<double>> all;
        for (int k = 0; k < 8; ++k) {
          if (k == 3) nn::serializers::save_npz(folder / "it.npz", *it);  // in the middle of a sweep
          all.push_back(seen(*it));
        }
        if (expected.empty()) expected = all;
        BOOST_TEST((all == expected));
        for (const Kind& other : kKinds) {
          const auto resumed = other.make(data, 4, sampled.sampler, 99);
          resumed->next();
          nn::serializers::load_npz(folder / "it.npz", *resumed);
          for (std::size_t k = 3; k < 8; ++k) BOOST_TEST(seen(*resumed) == expected[k], each);
        }
      }
  }
}

// The key is that of SerialIterator's rule, and another draw of one index in a sweep has other random numbers.
BOOST_AUTO_TEST_CASE(keys_of_examples) {
  BOOST_TEST(!example_key());
  const auto data = std::make_shared<Telling>();
  for (const Kind& kind : kKinds) BOOST_TEST_CONTEXT(kind.name) {
      const auto it = kind.make(data, 4, RandomSampler({.replacement = true, .num_samples = 20}), 7);
      std::set<std::vector<double>> draws;
      int repeated = 0;
      std::int64_t position = 0;
      std::map<std::int64_t, int> in_sweep;
      for (int k = 0; k < 10; ++k) {
        const std::optional<Batch> batch = it->next();
        for (std::size_t j = 0; j < 4; ++j, ++position) {
          const std::vector<double> v = values(batch->examples[j].values[0]);
          if (position % 20 == 0) in_sweep.clear();
          repeated += in_sweep[batch->indices[j]]++ > 0;
          BOOST_TEST(v[0] == double(batch->indices[j]));
          BOOST_TEST(v[3] == double(position / 20));
          BOOST_TEST(v[4] == v[0]);
          draws.insert({v[1], v[2]});
          draws.insert({v[5]});
        }
      }
      BOOST_TEST(repeated > 10);
      BOOST_TEST(draws.size() == 80u);
      it->reset();  // begins another sweep
      it->next();
      const std::optional<Batch> batch = it->next();
      BOOST_TEST(values(batch->examples[0].values[0])[3] >= 3);
    }
  BOOST_TEST(!example_key());
}

// A transform sees the index in the iterator's dataset, also behind a subset; errors leave no key behind.
BOOST_AUTO_TEST_CASE(keys_in_wrapped_datasets) {
  const auto data = std::make_shared<Telling>();
  const TransformDataset failing(SubDataset(data, 3, 9), [](const Example& e) {
    catena::check<catena::ValueError>(example_key()->index != 4, "transform", "of example 7 of the whole");
    return Example({double(example_key()->index), values(e.values[0])[0]});
  });
  SerialIterator it(failing, 4, {.shuffle = false});
  const std::optional<Batch> batch = it.next();
  for (std::size_t k = 0; k < 4; ++k) {
    BOOST_TEST(values(batch->examples[k].values[0])[0] == double(k));
    BOOST_TEST(values(batch->examples[k].values[1])[0] == double(k + 3));
  }
  BOOST_TEST(has(message_of<catena::ValueError>([&] { it.next(); }), "example 4"));
  BOOST_TEST(!example_key());
  // A dataset that stacks has the key of the first example of the batch.
  struct Stacking : Telling {
    std::optional<Example> get_batch(std::span<const std::int64_t> indices) const override {
      const std::vector<double> key(indices.size(), double(example_key()->index));
      return Example(autograd::array(key, {std::int64_t(indices.size()), 1}, kCpu));
    }
  };
  SerialIterator stacked(Stacking(), 4, {.seed = 1});
  MultithreadIterator threads(Stacking(), 4, {.n_threads = 2, .seed = 1});
  for (int k = 0; k < 4; ++k) {
    const Batch one = *stacked.next(), other = *threads.next();
    BOOST_TEST(one.indices == other.indices, each);
    for (const Batch* batch : {&one, &other}) {
      const std::vector<double> keys = values(default_converter(*batch, {}).values[0]);
      BOOST_TEST(keys == std::vector<double>(4, double(batch->indices[0])), each);
    }
  }
}

BOOST_AUTO_TEST_CASE(states_of_other_orders) {
  const TemporaryFolder folder("other_orders");
  SerialIterator nine(Telling(), 2, {.seed = 1}),
      four(Telling(), 2, {.order_sampler = SubsetRandomSampler({1, 2, 3, 4})});
  nn::serializers::save_npz(folder / "nine.npz", nine);
  four.next();
  const std::vector<double> next = [&] {
    const auto same = four.copy();
    return seen(*same);
  }();
  BOOST_TEST(has(message_of<catena::ValueError>([&] { nn::serializers::load_npz(folder / "nine.npz", four); }),
                 "the stored order has 9 indices, those of the sampler 4"));
  BOOST_TEST(seen(four) == next, each);
  SerialIterator plain(Telling(), 2, {.shuffle = false});
  nn::serializers::save_npz(folder / "plain.npz", plain);
  BOOST_CHECK_THROW(nn::serializers::load_npz(folder / "plain.npz", four), catena::KeyError);
}

BOOST_AUTO_TEST_SUITE_END()
