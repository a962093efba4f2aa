// Data sets and loaders under PyTorch's names: which examples, in which order, in batches of which sizes.
#include <catena/training/parallel/data_loader.h>

#include <algorithm>
#include <set>

#include <catena/tests/support/training_fixtures.h>

using namespace test;
using namespace training;
using Numbers = std::vector<double>;

namespace {

// Example i is (i, 10 i).
struct Tens : DatasetMixin {
  std::int64_t n;
  explicit Tens(std::int64_t n_) : n(n_) {}
  std::int64_t size() const override { return n; }
  Example get_example(std::int64_t i) const override { return {i, 10 * i}; }
};
// Example i has i + 1 ones.
struct Ragged : DatasetMixin {
  std::int64_t size() const override { return 3; }
  Example get_example(std::int64_t i) const override {
    return Example(autograd::arrays::ones({i + 1}, Dtype::float32));
  }
};

std::vector<Numbers> sweep(DataLoader& loader) {
  std::vector<Numbers> batches;
  for (const Example& batch : loader) {
    BOOST_TEST(batch.values.size() == 2U);
    batches.push_back(autograd::to_vector<double>(batch.values[0]));
    const Numbers tens = autograd::to_vector<double>(batch.values[1]);
    for (std::size_t i = 0; i < tens.size(); ++i) BOOST_TEST(tens[i] == 10 * batches.back()[i]);
  }
  return batches;
}
std::multiset<double> all(const std::vector<Numbers>& batches) {
  std::multiset<double> result;
  for (const Numbers& b : batches) result.insert(b.begin(), b.end());
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(data_loader)

BOOST_AUTO_TEST_CASE(functions_of_elements) {
  using autograd::Variable;
  // Variables, of which a batch of one array is one, too.
  std::vector<Variable> rows{Variable(floats({1, 2}, {2})), Variable(floats({3, 4}, {2})),
                             Variable(floats({5, 6}, {2}))};
  DataLoader sums(rows, {.batch_size = 2, .collate_fn = [](const std::vector<Variable>& batch) {
                           Variable sum = batch[0];
                           for (std::size_t i = 1; i < batch.size(); ++i) sum = sum + batch[i];
                           return sum;
                         }});
  std::vector<Numbers> seen;
  for (auto batch : sums) {
    BOOST_TEST(batch.shape() == autograd::Shape({2}));
    seen.push_back(autograd::to_vector<double>(batch.data()));
  }
  BOOST_TEST((seen == std::vector<Numbers>{{4, 6}, {5, 6}}));
  for (int workers : {0, 2}) {
    // Structs that are no examples, and a tuple of results.
    struct Word {
      std::string text;
      int label;
    };
    std::vector<Word> words{{"a", 0}, {"bcd", 1}, {"ef", 2}};
    DataLoader loader(words, {.batch_size = 2, .num_workers = workers, .collate_fn = [](std::vector<Word> batch) {
                                float n = 0;
                                for (const Word& w : batch) n += float(w.text.size());
                                return std::make_tuple(Variable(floats({n}, {1})), batch[0].label);
                              }});
    Numbers lengths, labels;
    for (auto [n, label] : loader) {
      lengths.push_back(autograd::to_vector<double>(n)[0]);
      labels.push_back(autograd::to_vector<double>(label)[0]);
    }
    BOOST_TEST((lengths == Numbers{4, 2}));
    BOOST_TEST((labels == Numbers{0, 2}));
    BOOST_CHECK_THROW(DataLoader(words, {.batch_size = 2}), catena::TypeError);
  }
  // Of a data set of the library: elements are made of its examples.
  const Tens tens(3);
  DataLoader pairs(tens, {.batch_size = 3, .collate_fn = [](const std::vector<std::pair<int, double>>& batch) {
                            double sum = 0;
                            for (const auto& [i, ten] : batch) sum += i + ten;
                            return Example(sum);
                          }});
  BOOST_TEST(autograd::to_vector<double>(next(pairs).values[0])[0] == 33);
  struct Other {
    std::string text;
  };
  DataLoader wrong(tens, {.collate_fn = [](const std::vector<Other>&) { return Example(1.0); }});
  BOOST_CHECK_THROW(next(wrong), catena::TypeError);
  // Examples of two components are no single values.
  DataLoader variables(tens, {.collate_fn = [](const std::vector<Variable>& batch) { return batch[0]; }});
  BOOST_TEST(has(message_of<catena::TypeError>([&] { next(variables); }), "2 components"));
  DataLoader numbers(tens, {.collate_fn = [](const std::vector<double>& batch) { return Example(batch[0]); }});
  BOOST_CHECK_THROW(next(numbers), catena::TypeError);
  // Pairs with a text are elements of a program.
  const std::vector<std::pair<std::string, int>> labelled{{"a", 1}, {"bc", 2}};
  DataLoader texts(labelled, {.batch_size = 2, .collate_fn = [](const std::vector<std::pair<std::string, int>>& batch) {
                                double sum = 0;
                                for (const auto& [text, label] : batch) sum += double(text.size()) * label;
                                return Example(sum);
                              }});
  BOOST_TEST(autograd::to_vector<double>(next(texts).values[0])[0] == 5);
}

BOOST_AUTO_TEST_CASE(ranges_are_streams) {
  struct Count : IterableDataset {
    struct At {
      int i;
      int operator*() const { return i; }
      At& operator++() { return ++i, *this; }
      bool operator!=(const At& o) const { return i != o.i; }
    };
    At begin() const { return {0}; }
    At end() const { return {5}; }
  };
  Count count;
  DataLoader loader(count, {.batch_size = 3});
  for (int sweep = 0; sweep < 2; ++sweep) {
    Numbers sizes;
    for (auto batch : loader) sizes.push_back(double(batch.shape()[0]));
    BOOST_TEST((sizes == Numbers{3, 2}));
  }
  BOOST_TEST(autograd::to_vector<double>(next(loader).data())[2] == 2);
}

BOOST_AUTO_TEST_CASE(batches_in_order) {
  const Tens data(7);
  DataLoader loader(data, {.batch_size = 3});
  BOOST_TEST(loader.size() == 3);
  const std::vector<Numbers> expected{{0, 1, 2}, {3, 4, 5}, {6}};
  BOOST_TEST((sweep(loader) == expected));
  BOOST_TEST((sweep(loader) == expected));  // again from the begin
  DataLoader dropping(data, {.batch_size = 3, .drop_last = true});
  BOOST_TEST(dropping.size() == 2);
  BOOST_TEST((sweep(dropping) == std::vector<Numbers>{{0, 1, 2}, {3, 4, 5}}));
  BOOST_TEST((sweep(dropping) == std::vector<Numbers>{{0, 1, 2}, {3, 4, 5}}));
  DataLoader single(data);
  BOOST_TEST(single.size() == 7);
  BOOST_TEST(sweep(single).size() == 7U);
  DataLoader whole(data, {.batch_size = 100});
  BOOST_TEST(whole.size() == 1);
  BOOST_TEST((sweep(whole) == std::vector<Numbers>{{0, 1, 2, 3, 4, 5, 6}}));
  DataLoader none(data, {.batch_size = 100, .drop_last = true});
  BOOST_TEST(none.size() == 0);
  BOOST_TEST(sweep(none).empty());
}

BOOST_AUTO_TEST_CASE(shuffled_sweeps_have_all_examples_in_new_orders) {
  for (const int workers : {0, 2}) {
    DataLoader loader(Tens(40), {.batch_size = 7, .shuffle = true, .num_workers = workers, .seed = 3});
    const std::vector<Numbers> first = sweep(loader), second = sweep(loader);
    std::multiset<double> expected;
    for (int i = 0; i < 40; ++i) expected.insert(i);
    BOOST_TEST((all(first) == expected));
    BOOST_TEST((all(second) == expected));
    BOOST_TEST((first != second));
    DataLoader same(Tens(40), {.batch_size = 7, .shuffle = true, .seed = 3});
    BOOST_TEST((sweep(same) == first));  // workers do not change the order
    BOOST_TEST((sweep(same) == second));
  }
}

// A loop that is left early ends its sweep.
BOOST_AUTO_TEST_CASE(a_loop_that_is_left) {
  for (const int workers : {0, 2}) {
    DataLoader loader(Tens(7), {.batch_size = 3, .num_workers = workers});
    for (const Example& batch : loader) {
      BOOST_TEST(batch.values[0].size() == 3);
      break;
    }
    BOOST_TEST((sweep(loader) == std::vector<Numbers>{{0, 1, 2}, {3, 4, 5}, {6}}));
  }
}

BOOST_AUTO_TEST_CASE(padding_of_unequal_shapes) {
  DataLoader loader(Ragged(), {.batch_size = 3, .padding = -1});
  for (const Example& batch : loader)
    BOOST_TEST(autograd::to_vector<double>(batch.values[0]) == (Numbers{1, -1, -1, 1, 1, -1, 1, 1, 1}),
               boost::test_tools::per_element());
  DataLoader unpadded(Ragged(), {.batch_size = 3});
  BOOST_CHECK_THROW(unpadded.begin(), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(parts_of_data_sets) {
  const Tens data(8);
  BOOST_TEST(ConcatDataset(data, Tens(3)).size() == data.size() + 3);
  const Subset part(data, {6, 0, 6});
  BOOST_TEST(part.size() == 3);
  BOOST_TEST(autograd::to_vector<double>(part.get_example(2).values[1])[0] == 60);
  BOOST_CHECK_THROW(Subset(data, {8}), catena::IndexError);
  BOOST_CHECK_THROW(Subset(data, {-1}), catena::IndexError);
  const Subset of_arrays(floats({5, 6, 7}, {3}), {2, 1});  // stacks batches by itself
  DataLoader loader(of_arrays, {.batch_size = 2});
  for (const Example& batch : loader)
    BOOST_TEST(autograd::to_vector<double>(batch.values[0]) == (Numbers{7, 6}), boost::test_tools::per_element());

  auto [train, valid, rest] = random_split(data, {5, 2, 1}, 9);
  std::multiset<double> seen;
  std::vector<double> order;
  for (const DatasetPtr& p : {train, valid, rest})
    for (std::int64_t i = 0; i < p->size(); ++i)
      order.push_back(autograd::to_vector<double>(p->get_example(i).values[0])[0]);
  seen.insert(order.begin(), order.end());
  BOOST_TEST((seen == std::multiset<double>{0, 1, 2, 3, 4, 5, 6, 7}));
  BOOST_TEST(!std::is_sorted(order.begin(), order.end()));
  BOOST_TEST(train->size() == 5);
  BOOST_TEST(rest->size() == 1);
  const std::vector<std::int64_t> same = numpy_permutation(8, 9);
  for (std::size_t i = 0; i < 8; ++i) BOOST_TEST(order[i] == double(same[i]));
  BOOST_TEST(random_split(data, std::vector<std::int64_t>{8, 0}).size() == 2U);
  BOOST_TEST(message_of<catena::ValueError>([&] {
               random_split(data, {5, 2});
             }).find("7, but there are 8") != std::string::npos);
  BOOST_CHECK_THROW(random_split(data, {9, -1}), catena::ValueError);
  BOOST_TEST(ConcatDataset({data, Tens(3), data}).size() == 19);
  BOOST_CHECK_THROW(random_split(data, {8}, std::uint64_t(1) << 32), catena::ValueError);
}

// torch.utils.data.random_split rounds the sizes down and gives the first parts one example more each.
BOOST_AUTO_TEST_CASE(parts_by_fractions) {
  const auto sizes = [](std::int64_t n, const std::vector<double>& fractions) {
    std::vector<std::int64_t> result;
    for (const DatasetPtr& part : random_split(Tens(n), fractions)) result.push_back(part->size());
    return result;
  };
  BOOST_TEST((sizes(8, {0.75, 0.25}) == std::vector<std::int64_t>{6, 2}));
  BOOST_TEST((sizes(11, {0.3, 0.3, 0.4}) == std::vector<std::int64_t>{4, 3, 4}));
  BOOST_TEST((sizes(10, {0.25, 0.25, 0.25, 0.25}) == std::vector<std::int64_t>{3, 3, 2, 2}));
  BOOST_TEST((sizes(3, {0, 1}) == std::vector<std::int64_t>{0, 3}));
  const Tens data(8);
  auto [train, valid] = random_split(data, {0.75, 0.25}, {.seed = 9});
  auto [same_train, same_valid] = random_split(data, {6, 2}, 9);
  for (std::int64_t i = 0; i < 6; ++i)
    BOOST_TEST(autograd::to_vector<double>(train->get_example(i).values[0]) ==
                   autograd::to_vector<double>(same_train->get_example(i).values[0]),
               boost::test_tools::per_element());
  BOOST_TEST(valid->size() == same_valid->size());
  BOOST_CHECK_THROW(random_split(data, {0.5, 0.25}), catena::ValueError);
  BOOST_CHECK_THROW(random_split(data, {1.5, -0.5}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(samplers) {
  const Tens data(8);
  for (const int workers : {0, 2}) {
    DataLoader loader(
        data, {.batch_size = 2, .sampler = SubsetRandomSampler({5, 1, 7}, {.shuffle = false}), .num_workers = workers});
    BOOST_TEST(loader.size() == 2);
    for (int k = 0; k < 2; ++k) BOOST_TEST((sweep(loader) == std::vector<Numbers>{{5, 1}, {7}}));
    DataLoader dropping(data, {.batch_size = 2,
                               .sampler = SubsetRandomSampler({5, 1, 7}, {.shuffle = false}),
                               .num_workers = workers,
                               .drop_last = true});
    BOOST_TEST(dropping.size() == 1);
    BOOST_TEST((sweep(dropping) == std::vector<Numbers>{{5, 1}}));
  }
  BOOST_CHECK_THROW(DataLoader(data, {.shuffle = true, .sampler = SequentialSampler()}), catena::ValueError);
  BOOST_CHECK_THROW(DataLoader(data, {.sampler = SubsetRandomSampler({8})}).begin(), catena::IndexError);
}

BOOST_AUTO_TEST_CASE(lists_options_and_sums) {
  const Tens data(6);
  const std::vector<int> some = {4, 1, 3};
  const Subset subset(data, some);
  BOOST_TEST((subset.indices() == std::vector<std::int64_t>{4, 1, 3}));
  BOOST_CHECK_THROW(Subset(data, std::vector<int>{6}), catena::IndexError);
  DataLoader listed(data, {.batch_size = 2, .sampler = some});
  BOOST_TEST((sweep(listed) == std::vector<Numbers>{{4, 1}, {3}}));
  DataLoader batched(data, {.batch_sampler = BatchSampler(SequentialSampler(), {.batch_size = 4, .drop_last = true})});
  BOOST_TEST((sweep(batched) == std::vector<Numbers>{{0, 1, 2, 3}}));
  const Variable weights(floats({0, 0, 1, 0, 0, 0}, {6}));
  for (const auto& sampler :
       {WeightedRandomSampler(weights, 3), WeightedRandomSampler(weights, 3, {.replacement = true}),
        WeightedRandomSampler(weights.data(), 3, {.replacement = true})}) {
    DataLoader weighted(data, {.batch_size = 3, .sampler = sampler});
    BOOST_TEST((sweep(weighted) == std::vector<Numbers>{{2, 2, 2}}));
  }
  DataLoader both(data + subset, {.batch_size = 9});
  BOOST_TEST((sweep(both) == std::vector<Numbers>{{0, 1, 2, 3, 4, 5, 4, 1, 3}}));
  autograd::Generator g;
  g.manual_seed(3);
  const auto [a, b] = random_split(data, {4, 2}, g);
  const auto [c, d] = random_split(data, {4, 2}, {.generator = g});
  const auto e = random_split(data, std::vector<std::int64_t>{4, 2}, g);
  for (std::int64_t i = 0; i < 4; ++i) {
    const Array x = a[i].values[0], y = c[i].values[0], z = e[0][i].values[0];
    BOOST_TEST(autograd::to_vector<double>(x) == autograd::to_vector<double>(y), boost::test_tools::per_element());
    BOOST_TEST(autograd::to_vector<double>(x) == autograd::to_vector<double>(z), boost::test_tools::per_element());
  }
  BOOST_TEST(b.size() == d.size());
}

BOOST_AUTO_TEST_CASE(errors) {
  BOOST_CHECK_THROW(DataLoader(Tens(3), {.batch_size = 0}), catena::ValueError);
  BOOST_CHECK_THROW(DataLoader(Tens(3), {.num_workers = -1}), catena::ValueError);
  BOOST_CHECK_THROW(DataLoader(Tens(3), {.num_workers = 1, .prefetch_factor = 0}), catena::ValueError);
  SerialIterator once(Tens(2), 2, {.repeat = false});
  BOOST_TEST(concat_examples(once.next()).values.size() == 2U);
  BOOST_TEST(message_of<catena::ValueError>([&] { concat_examples(once.next()); }).find("ended") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
