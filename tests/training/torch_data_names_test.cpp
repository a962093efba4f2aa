// Forms in which users of PyTorch write data sets and loaders: classes of a program, streams, batch samplers, and what
// is refused.
#include <array>
#include <deque>

#include <catena/tests/support/training_fixtures.h>
#include <catena/training/parallel/data_loader.h>

using namespace test;
using namespace training;

namespace {

const auto each = boost::test_tools::per_element();
using Doubles = std::vector<double>;
Doubles of(const Array& a) { return autograd::to_vector<double>(a); }

struct Labeled {
  Array image;
  int label;
};
struct OfStructs {
  std::size_t size() const { return 3; }
  Labeled operator[](std::size_t i) const { return {floats({float(i)}, {1}), int(i) * 10}; }
};
struct OfArrays {
  int len() { return 2; }  // not const, and by Python's name
  std::array<Array, 2> get(int i) { return {floats({float(i)}, {1}), floats({float(-i)}, {1})}; }
};
struct Counter : IterableDataset {
  explicit Counter(int n) : end(n) {}
  std::optional<Example> next() override {
    if (at == end) return {};
    ++at;
    return Example({at, -at});
  }
  void reset() override { at = 0; }
  int end, at = 0;
};
template <class F> std::string refused(F f) { return message_of<catena::ValueError>(f); }

// The first components of all batches, and the sizes of the batches.
struct Swept {
  Doubles first, sizes;
  explicit Swept(DataLoader& loader) {
    for (auto [x, y] : loader) {
      const Doubles values = of(x);
      first.insert(first.end(), values.begin(), values.end());
      sizes.push_back(double(values.size()));
    }
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_data_names)

BOOST_AUTO_TEST_CASE(examples_of_a_program) {
  DataLoader structs(OfStructs(), {.batch_size = 3});
  const Example batch = next(structs);
  BOOST_TEST(of(batch[0]) == (Doubles{0, 1, 2}), each);
  BOOST_TEST(of(batch[-1]) == (Doubles{0, 10, 20}), each);
  BOOST_CHECK_THROW(batch[2], catena::IndexError);
  const auto [x, t] = batch.unpack<2>();
  BOOST_TEST(t.shape() == (Shape{3}));
  BOOST_TEST(refused([&] { batch.unpack<3>(); }) == "Example: there are 2 components, not 3");
  DataLoader arrays(OfArrays(), 2);
  BOOST_TEST(of(next(arrays)[1]) == (Doubles{0, -1}), each);
  const std::vector<std::pair<Variable, int>> pairs{{Variable(floats({1, 2}, {2})), 3}};
  DataLoader variables(pairs, 1);
  BOOST_TEST(of(next(variables)[0]) == (Doubles{1, 2}), each);
  const Variable both(floats({1, 2, 3, 4}, {2, 2}));
  BOOST_TEST(TensorDataset(both).size() == 2);
  BOOST_TEST(of(StackDataset(both, both)[1][1]) == (Doubles{3, 4}), each);
}

BOOST_AUTO_TEST_CASE(streams) {
  Counter five(5), two(2);
  DataLoader loader(five, {.batch_size = 2});
  for (int sweep = 0; sweep < 2; ++sweep) {
    const Swept seen(loader);
    BOOST_TEST(seen.first == (Doubles{1, 2, 3, 4, 5}), each);
    BOOST_TEST(seen.sizes == (Doubles{2, 2, 1}), each);
  }
  DataLoader full(five, {.batch_size = 2, .drop_last = true});
  BOOST_TEST(Swept(full).sizes == (Doubles{2, 2}), each);
  DataLoader chained(ChainDataset({two, five}), {.batch_size = 4});
  BOOST_TEST(Swept(chained).first == (Doubles{1, 2, 1, 2, 3, 4, 5}), each);
  BOOST_TEST(Swept(chained).first.size() == 7u);
  BOOST_CHECK_THROW(loader.size(), catena::TypeError);
  refused([&] { DataLoader(five, {.shuffle = true}); });
  refused([&] { DataLoader(five, {.sampler = RandomSampler()}); });
  refused([&] { DataLoader(five, {.num_workers = 1}); });
  refused([&] { ChainDataset({}); });
  Counter none(0);
  DataLoader empty(none, {.batch_size = 2});
  BOOST_TEST(Swept(empty).sizes.empty());
}

BOOST_AUTO_TEST_CASE(batch_samplers_and_generators) {
  const TupleDataset data(autograd::arrays::arange(5), autograd::arrays::arange(5));
  BatchSampler batches(SequentialSampler(data), 2, true);
  DataLoader loader(data, {.batch_sampler = batches});
  BOOST_TEST(loader.batch_size() == 2);
  BOOST_TEST(loader.size() == 2);
  BOOST_TEST(Swept(loader).first == (Doubles{0, 1, 2, 3}), each);
  refused([&] { BatchSampler(SequentialSampler(), 0); });
  refused([&] { DataLoader(data, {.batch_size = 2, .batch_sampler = batches}); });
  refused([&] { DataLoader(data, {.shuffle = true, .batch_sampler = batches}); });
  refused([&] { DataLoader(data, {.batch_sampler = batches, .drop_last = true}); });
  const autograd::Generator generator{7, 0};
  DataLoader drawn(data, {.shuffle = true, .generator = generator}), seeded(data, {.shuffle = true, .seed = 7});
  BOOST_TEST(Swept(drawn).first == Swept(seeded).first, each);
  refused([&] { DataLoader(data, {.generator = generator, .seed = 7}); });
  refused([&] { DataLoader(data, {.timeout = -1}); });
  std::vector<int> workers;
  DataLoader threads(data, {.num_workers = 2, .worker_init_fn = [&](int id) { workers.push_back(id); }});
  BOOST_TEST(workers == (std::vector<int>{0, 1}), each);
  const auto by_generator = random_split(data, {0.4, 0.6}, {.generator = generator});
  const auto by_seed = random_split(data, {0.4, 0.6}, {.seed = 7});
  BOOST_TEST(of(by_generator[0][0][0]) == of(by_seed[0][0][0]), each);
  DataLoader named(data, 2, {.drop_last = true});
  BOOST_TEST(named.size() == 2);
  refused([&] { DataLoader(data, 2, {.batch_size = 3}); });
}

BOOST_AUTO_TEST_CASE(samplers_with_the_data_set) {
  const TupleDataset data(autograd::arrays::arange(6), autograd::arrays::arange(6));
  const RandomSampler some(data, {.replacement = true, .num_samples = 4});
  DataLoader loader(data, {.batch_size = 2, .sampler = some});
  BOOST_TEST(loader.size() == 2);
  DistributedSampler part(data, {.num_replicas = 2, .rank = 1, .seed = 3});
  DataLoader of_part(data, {.batch_size = 3, .sampler = part});
  static_cast<void>(Swept(of_part));  // the order of the first sweep was drawn when the loader was made
  part.set_epoch(4);
  const Doubles fourth = Swept(of_part).first, again = Swept(of_part).first;
  BOOST_TEST(fourth == again, each);  // the epoch that was set, and not the number of the sweep
  part.set_epoch(5);
  BOOST_TEST(Swept(of_part).first.size() == 3u);
}

BOOST_AUTO_TEST_CASE(iterations) {
  const TupleDataset data(autograd::arrays::arange(4), autograd::arrays::arange(4));
  utils::data::DataLoader loader(data, {.batch_size = 2});
  std::int64_t count = 0;
  for (auto [i, batch] : enumerate(loader)) {
    BOOST_TEST(i == count++);
    BOOST_TEST(of(batch[0])[0] == double(2 * i));
  }
  BOOST_TEST(count == 2);
  auto cursor = iter(loader);
  BOOST_TEST(of(next(cursor)[0]) == (Doubles{0, 1}), each);
  BOOST_TEST(of(next(cursor)[0]) == (Doubles{2, 3}), each);
  refused([&] { next(cursor); });
}

BOOST_AUTO_TEST_SUITE_END()
