// Datasets in parts: ranges by hand, what is sent and what is not, orders of NumPy, errors that all ranks see.
#include <catena/training/multi_node/scatter_dataset.h>

#include <atomic>
#include <set>

#include <catena/tests/support/rank_threads.h>
#include <catena/training/updater.h>

using namespace test;
using namespace training;

namespace {

const auto each = boost::test_tools::per_element();
using Range = std::pair<std::int64_t, std::int64_t>;

std::vector<Range> ranges(int size, std::int64_t n, bool equal) {
  return by_rank(size, [&](const Comm& comm) {
    const auto [begin, end] = scatter_index(comm->rank() == 0 ? n : -5, comm, {.force_equal_length = equal});
    return Range(begin, end);
  });
}

// Example i is (i, i + 0.5) and the label i; it counts its calls, and fails at one index.
struct Counted : DatasetMixin {
  std::int64_t n, bad;
  std::atomic<int>* calls;
  Counted(std::int64_t n_, std::atomic<int>* calls_, std::int64_t bad_ = -1) : n(n_), bad(bad_), calls(calls_) {}
  std::int64_t size() const override { return n; }
  Example get_example(std::int64_t i) const override {
    ++*calls;
    catena::check<catena::IOError>(i != bad, "Counted", "the file of this example is gone");
    return Example({floats({float(i), float(i) + 0.5f}, {2}), i});
  }
};

// The numbers of the examples of a part.
std::vector<std::int64_t> numbers(const DatasetMixin& part) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < part.size(); ++i)
    all.push_back(autograd::item(part.get_example(i).values[1]).to<std::int64_t>());
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(multi_node_datasets)

BOOST_AUTO_TEST_CASE(ranges_of_ranks) {
  BOOST_CHECK((ranges(4, 10, true) == std::vector<Range>{{0, 3}, {2, 5}, {5, 8}, {7, 10}}));
  BOOST_CHECK((ranges(4, 10, false) == std::vector<Range>{{0, 2}, {2, 5}, {5, 7}, {7, 10}}));
  BOOST_CHECK((ranges(3, 7, true) == std::vector<Range>{{0, 3}, {2, 5}, {4, 7}}));
  BOOST_CHECK((ranges(3, 7, false) == std::vector<Range>{{0, 2}, {2, 4}, {4, 7}}));
  BOOST_CHECK((ranges(3, 1, true) == std::vector<Range>{{0, 1}, {0, 1}, {0, 1}}));
  BOOST_CHECK((ranges(3, 0, true) == std::vector<Range>{{0, 0}, {0, 0}, {0, 0}}));
  for (const int size : {1, 2, 3, 4})
    for (const std::int64_t n : {0, 1, 2, 3, 5, 8, 9, 12, 31}) {
      std::set<std::int64_t> covered;
      for (const auto& [begin, end] : ranges(size, n, true)) {
        BOOST_TEST(end - begin == (n + size - 1) / size);
        BOOST_TEST((begin >= 0 && end <= n));
        for (std::int64_t i = begin; i < end; ++i) covered.insert(i);
      }
      BOOST_TEST(std::int64_t(covered.size()) == n);
      std::int64_t next = 0;
      for (const auto& [begin, end] : ranges(size, n, false)) {
        BOOST_TEST(begin == next);
        BOOST_TEST((end - begin == n / size || end - begin == n / size + 1));
        next = end;
      }
      BOOST_TEST(next == n);
    }
}

BOOST_AUTO_TEST_CASE(examples_of_the_root_are_sent) {
  for (const int size : {1, 2, 3, 4})
    for (const int root : {0, size - 1}) {
      std::atomic<int> calls{0};
      const auto parts = by_rank(size, [&](const Comm& comm) {
        DatasetPtr data;
        if (comm->rank() == root) data = std::make_shared<Counted>(10, &calls);
        return numbers(*scatter_dataset(data, comm, {.root = root}));
      });
      const std::vector<Range> expected = ranges(size, 10, true);
      for (std::size_t r = 0; r < parts.size(); ++r) {
        BOOST_REQUIRE(std::int64_t(parts[r].size()) == expected[r].second - expected[r].first);
        for (std::size_t i = 0; i < parts[r].size(); ++i)
          BOOST_TEST(parts[r][i] == expected[r].first + std::int64_t(i));
      }
    }
}

// Tuples and maps of arrays, which stack batches, and examples one by one; dtypes and shapes come as they were.
BOOST_AUTO_TEST_CASE(every_kind_of_example) {
  const Array x = floats({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {3, 4});
  const Array strided = autograd::transpose(x);  // (4, 3)
  const Array flags = autograd::astype(ints({1, 0, 1, 1}), Dtype::bool_);
  const std::vector<DatasetPtr> kinds = {
      std::make_shared<TupleDataset>(std::vector<Array>{strided, flags}),
      std::make_shared<DictDataset>(HeldMap<const DatasetMixin>{{"image", strided}, {"label", ints({7, 8, 9, 10})}}),
      std::make_shared<ArrayDataset>(autograd::astype(strided, Dtype::float16)),
      std::make_shared<TransformDataset>(DatasetPtr(std::make_shared<ArrayDataset>(strided)), [](Example e) {
        return Example({e.values[0] * 2.0, 3});
      })};
  for (const DatasetPtr& data : kinds) {
    const std::vector<std::string> all = texts_of(*data);
    const bool stacks = data->get_batch(std::vector<std::int64_t>{0, 1}).has_value();
    struct Part {
      std::vector<std::string> texts;
      bool stacks = false;
    };
    const auto parts = by_rank(2, [&](const Comm& comm) {
      const DatasetPtr part = scatter_dataset(comm->rank() == 0 ? data : DatasetPtr(), comm);
      return Part{texts_of(*part), part->get_batch(std::vector<std::int64_t>{1, 0}).has_value()};
    });
    for (std::size_t r = 0; r < 2; ++r) {
      BOOST_TEST(parts[r].texts == std::vector<std::string>(all.begin() + std::ptrdiff_t(2 * r),
                                                            all.begin() + std::ptrdiff_t(2 * r + 2)),
                 each);
      BOOST_TEST(parts[r].stacks == stacks);
    }
  }
}

// numpy.random.RandomState(0).permutation(10)
BOOST_AUTO_TEST_CASE(a_random_order) {
  const std::vector<std::int64_t> numpy = {2, 8, 4, 9, 1, 6, 7, 3, 0, 5};
  for (const bool everywhere : {false, true}) {
    const auto parts = by_rank(3, [&](const Comm& comm) {
      std::atomic<int> calls{0};
      DatasetPtr data;
      if (everywhere || comm->rank() == 1) data = std::make_shared<Counted>(10, &calls);
      return numbers(
          *scatter_dataset(data, comm, {.root = 1, .shuffle = true, .seed = 0, .force_equal_length = false}));
    });
    std::vector<std::int64_t> joined;
    for (const auto& part : parts) joined.insert(joined.end(), part.begin(), part.end());
    BOOST_TEST(joined == numpy, each);
  }
  // Without a seed the order follows from the generator of the root alone.
  const auto draw = [](std::uint64_t seed) {
    return by_rank(3, [&](const Comm& comm) {
      autograd::seed(comm->rank() == 0 ? seed : 77);
      std::atomic<int> calls{0};
      return numbers(*scatter_dataset(Counted(60, &calls), comm, {.shuffle = true}));
    });
  };
  const auto first = draw(1);
  BOOST_CHECK(first == draw(1));
  BOOST_CHECK(first != draw(2));
  std::set<std::int64_t> different;
  for (const auto& part : first) different.insert(part.begin(), part.end());
  BOOST_TEST(different.size() == 60u);
}

// If all ranks have the data, nothing is loaded or sent: each part reads its own dataset.
BOOST_AUTO_TEST_CASE(only_the_order_is_sent_where_all_have_the_data) {
  const auto calls = by_rank(3, [&](const Comm& comm) {
    std::atomic<int> own{0};
    const Counted data(9, &own);
    const DatasetPtr part = scatter_dataset(data, comm, {.shuffle = true, .seed = 5});
    const int before = own;
    part->get_example(2);
    return std::pair<int, int>(before, own);
  });
  for (const auto& [before, after] : calls) {
    BOOST_TEST(before == 0);
    BOOST_TEST(after == 1);
  }
}

BOOST_AUTO_TEST_CASE(errors) {
  std::atomic<int> calls{0};
  const auto all_begin = [](const std::vector<std::string>& messages, const std::string& text) {
    for (const std::string& m : messages) BOOST_TEST(m.starts_with(text), m);
  };
  all_begin(messages_by_rank<catena::ValueError>(3, [](const Comm& comm) { scatter_dataset(DatasetPtr(), comm); }),
            "scatter_dataset: rank 0, the root, has no dataset");
  all_begin(messages_by_rank<catena::ValueError>(
                2, [&](const Comm& comm) { scatter_dataset(Counted(3 + comm->rank(), &calls), comm); }),
            "scatter_dataset: the dataset of rank 0 has 3 examples, and that of rank 1 has 4");
  all_begin(messages_by_rank<catena::ValueError>(
                2, [&](const Comm& comm) { scatter_dataset(Counted(3, &calls), comm, {.root = 2}); }),
            "scatter_dataset: the root is 2, but there are 2 ranks");
  all_begin(messages_by_rank<catena::ValueError>(1, [](const Comm& comm) { scatter_index(-1, comm); }),
            "scatter_index: n is -1");
  // The exception of the root: there as it is, elsewhere with the rank.
  const auto seeds = messages_by_rank<catena::Error>(2, [&](const Comm& comm) {
    scatter_dataset(Counted(3, &calls), comm, {.shuffle = true, .seed = std::uint64_t(1) << 32});
  });
  BOOST_TEST(seeds[0].starts_with("scatter_dataset: the seed 4294967296 does not fit"), seeds[0]);
  BOOST_TEST(seeds[1].starts_with("scatter_dataset: rank 0 has failed: scatter_dataset: the seed"), seeds[1]);
  const auto files = messages_by_rank<catena::Error>(3, [&](const Comm& comm) {
    DatasetPtr data;
    if (comm->rank() == 0) data = std::make_shared<Counted>(9, &calls, 4);
    scatter_dataset(data, comm);
  });
  BOOST_TEST(files[0] == "example 4: Counted: the file of this example is gone");
  for (const std::size_t r : {1u, 2u})
    BOOST_TEST(files[r] == "scatter_dataset: rank 0 has failed: example 4: Counted: the file of this example is gone");
  BOOST_TEST(has(message_of<catena::TypeError>([&] { scatter_dataset(Counted(3, &calls), Comm()); }),
                 "the communicator is null"));
}

BOOST_AUTO_TEST_CASE(empty_examples) {
  std::atomic<int> calls{0};
  const DatasetPtr data = create_empty_dataset(Counted(5, &calls));
  BOOST_TEST(data->size() == 5);
  BOOST_TEST(data->get_example(4).values.empty());
  BOOST_TEST(calls == 0);
  SerialIterator iterator(data, 2, {.repeat = false});
  std::int64_t examples = 0;
  while (const auto batch = iterator.next()) {
    examples += batch->size();
    BOOST_TEST(to_variables(default_converter(*batch, {})).empty());
  }
  BOOST_TEST(examples == 5);
  BOOST_TEST(has(message_of<catena::TypeError>([] { create_empty_dataset(DatasetPtr()); }), "the dataset is null"));
}

BOOST_AUTO_TEST_SUITE_END()
