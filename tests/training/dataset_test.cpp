// Datasets, splits, batches, iterators.
#include <catena/training/dataset.h>

#include <numeric>
#include <set>

#include <catena/tests/support/training_fixtures.h>
#include <catena/training/updater.h>

using namespace test;
using namespace training;

namespace {

// 0..n-1 as one-element examples.
DatasetPtr counting(std::int64_t n) {
  return std::make_shared<TupleDataset>(std::vector<Array>{autograd::arrays::arange(n)});
}
std::vector<double> all(const DatasetMixin& d) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < d.size(); ++i) result.push_back(values(d[i].values[0])[0]);
  return result;
}
// A dataset as a user writes it: examples one by one, no get_batch.
struct Squares : DatasetMixin {
  std::int64_t n;
  explicit Squares(std::int64_t n_) : n(n_) {}
  std::int64_t size() const override { return n; }
  Example get_example(std::int64_t i) const override { return Array(autograd::arrays::full({2}, double(i * i))); }
};
std::vector<double> batch_values(const std::optional<Batch>& b) {
  std::vector<double> result;
  if (!b) return {-1};
  if (b->stacked) return values(b->stacked->values[0]);
  for (const Example& e : b->examples) result.push_back(values(e.values[0])[0]);
  return result;
}
using Doubles = std::vector<double>;

}  // namespace

BOOST_AUTO_TEST_SUITE(datasets)

BOOST_AUTO_TEST_CASE(tuple_dataset) {
  const TupleDataset d({floats({1, 2, 3, 4, 5, 6}, {3, 2}), ints({7, 8, 9})});
  BOOST_TEST(d.size() == 3);
  const Example e = d[1];
  BOOST_TEST(e.values.size() == 2u);
  BOOST_TEST(values(e.values[0]) == (Doubles{3, 4}), boost::test_tools::per_element());
  BOOST_TEST(e.values[1].shape() == Shape{});
  BOOST_TEST((e.values[1].dtype() == Dtype::int32));
  BOOST_TEST(values(d[-1].values[1])[0] == 9);
  BOOST_TEST(has(message_of<catena::IndexError>([&] { d[3]; }), "3"));
  BOOST_CHECK_THROW(d[-4], catena::IndexError);
  const Examples s = d.slice({}, {}, -2);
  BOOST_TEST(s.size() == 2u);
  BOOST_TEST(values(s[1].values[1])[0] == 7);
  BOOST_TEST(d.slice(-2, {}).size() == 2u);
  BOOST_TEST(d.slice(5, 9).empty());
  BOOST_CHECK_THROW(d.slice({}, {}, 0), catena::ValueError);
  const std::vector<std::int64_t> indices{2, 0};
  BOOST_TEST(values(d.get_batch(indices)->values[0]) == (Doubles{5, 6, 1, 2}), boost::test_tools::per_element());
  BOOST_CHECK_THROW(TupleDataset({}), catena::ValueError);
  BOOST_TEST(has(message_of<catena::ValueError>([] { TupleDataset({floats({1}, {1}), ints({1, 2})}); }), "1 and 2"));
}

BOOST_AUTO_TEST_CASE(examples_of_tuples_and_by_name) {
  const Example tuple(std::tuple(floats({1, 2}, {2}), 3, 0.5));
  BOOST_TEST(tuple.values.size() == 3u);
  BOOST_TEST(values(tuple.values[0])[1] == 2);
  BOOST_TEST((tuple.values[1].dtype() == Dtype::int64));
  BOOST_TEST(values(tuple.values[2])[0] == 0.5);
  // Integers that a double does not hold.
  const std::int64_t large = (std::int64_t(1) << 53) + 1;
  const std::tuple<std::int64_t, double> numbers = Example(std::tuple(large, 0.5));
  BOOST_TEST(std::get<0>(numbers) == large);
  BOOST_TEST(std::get<1>(numbers) == 0.5);
  const TupleDataset pairs(floats({1, 2, 3}, {3}), ints({7, 8, 9}));
  const TransformDataset doubled(pairs, [](auto example) {
    auto [x, t] = example;
    return std::tuple(x * 2, t);
  });
  BOOST_TEST(values(doubled[1].values[0])[0] == 4);
  BOOST_TEST(values(doubled[1].values[1])[0] == 8);
  const DictDataset named({{"x", floats({1, 2, 3}, {3})}, {"t", ints({7, 8, 9})}});
  BOOST_TEST(values(named[2]["t"])[0] == 9);
  BOOST_TEST(has(message_of<catena::KeyError>([&] { named[2]["y"]; }), "there is no component y (there are: x, t)"));
  BOOST_CHECK_THROW(pairs[0]["x"], catena::KeyError);
}

BOOST_AUTO_TEST_CASE(arrays_of_a_tuple_dataset_by_position) {
  const Array x = floats({1, 2, 3}, {3}), t = ints({7, 8, 9});
  const TupleDataset d(x, t);
  BOOST_TEST(d.arrays().size() == 2u);
  BOOST_TEST((d.arrays()[1].get() == t.get()));
  BOOST_CHECK_THROW(TupleDataset(x, ints({7, 8})), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(subsets_and_splits) {
  const DatasetPtr d = counting(10);
  const SubDataset s(d, 3, 6, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  BOOST_TEST(all(s) == (Doubles{6, 5, 4}), boost::test_tools::per_element());
  BOOST_TEST(values(s[-1].values[0])[0] == 4);
  BOOST_CHECK_THROW(s[3], catena::IndexError);
  BOOST_CHECK_THROW(SubDataset(d, -1, 3), catena::ValueError);
  BOOST_CHECK_THROW(SubDataset(d, 0, 11), catena::ValueError);
  BOOST_CHECK_THROW(SubDataset(d, 0, 3, {1, 2}), catena::ValueError);
  const auto [a, b] = split_dataset(d, 4);
  BOOST_TEST(all(*a) == (Doubles{0, 1, 2, 3}), boost::test_tools::per_element());
  BOOST_TEST(b->size() == 6);
  BOOST_CHECK_THROW(split_dataset(d, 10), catena::ValueError);
  BOOST_CHECK_THROW(split_dataset(d, -1), catena::ValueError);
  const auto parts = split_dataset_n(d, 3);
  BOOST_TEST(parts.size() == 3u);
  for (const DatasetPtr& p : parts) BOOST_TEST(p->size() == 3);  // the remainder is left out
  const auto folds = get_cross_validation_datasets(d, 3);
  BOOST_TEST(folds.size() == 3u);
  BOOST_TEST(all(*folds[0].second) == (Doubles{6, 7, 8, 9}), boost::test_tools::per_element());
  BOOST_TEST(all(*folds[1].second) == (Doubles{3, 4, 5}), boost::test_tools::per_element());
  BOOST_TEST(all(*folds[2].second) == (Doubles{0, 1, 2}), boost::test_tools::per_element());
  for (const auto& [train, test] : folds) {
    Doubles both = all(*train);
    for (const double x : all(*test)) both.push_back(x);
    BOOST_TEST(std::set<double>(both.begin(), both.end()).size() == 10u);
  }
}

BOOST_AUTO_TEST_CASE(splits_in_an_order) {
  const DatasetPtr d = counting(6);
  const auto each = boost::test_tools::per_element();
  const auto [a, b] = split_dataset(d, 4, {5, 4, 3, 2, 1, 0});
  BOOST_TEST(all(*a) == (Doubles{5, 4, 3, 2}), each);
  BOOST_TEST(all(*b) == (Doubles{1, 0}), each);
  BOOST_TEST(all(*split_dataset_n(d, 2, {5, 4, 3, 2, 1, 0})[1]) == (Doubles{2, 1, 0}), each);
  const auto [train, test] = get_cross_validation_datasets(d, 2, {5, 4, 3, 2, 1, 0})[0];
  BOOST_TEST(all(*train) == (Doubles{5, 4, 3}), each);
  BOOST_TEST(all(*test) == (Doubles{2, 1, 0}), each);
}

BOOST_AUTO_TEST_CASE(random_splits) {
  const DatasetPtr d = counting(40);
  const auto a = split_dataset_random(d, 10, 3), b = split_dataset_random(d, 10, 3), c = split_dataset_random(d, 10, 4);
  BOOST_TEST(all(*a.first) == all(*b.first), boost::test_tools::per_element());
  BOOST_TEST((all(*a.first) != all(*c.first)));
  const auto of_generator = split_dataset_random(d, 10, {.generator = autograd::Generator{3, 0}});
  BOOST_TEST(all(*of_generator.first) == all(*a.first), boost::test_tools::per_element());
  Doubles both = all(*a.first);
  for (const double x : all(*a.second)) both.push_back(x);
  BOOST_TEST(std::set<double>(both.begin(), both.end()).size() == 40u);
  BOOST_TEST(split_dataset_n_random(d, 3, 1)[2]->size() == 13);
  BOOST_TEST(get_cross_validation_datasets_random(d, 4, 1)[0].second->size() == 10);
}

// Every arrangement of 4 elements must come up about equally often.
BOOST_AUTO_TEST_CASE(permutations_are_uniform) {
  autograd::Generator g{5, 0};
  std::map<std::vector<std::int64_t>, int> count;
  for (int i = 0; i < 24000; ++i) ++count[permutation(4, g)];
  BOOST_TEST(count.size() == 24u);
  double chi2 = 0;
  for (const auto& [order, n] : count) chi2 += (n - 1000.0) * (n - 1000.0) / 1000.0;
  BOOST_TEST(chi2 < 49.7);  // the 0.1 % quantile for 23 degrees of freedom
}

BOOST_AUTO_TEST_CASE(concatenating_examples) {
  const Examples batch{std::vector<Array>{floats({1, 2}, {2}), floats({5}, {})},
                       std::vector<Array>{floats({3, 4}, {2}), floats({6}, {})}};
  const Example e = concat_examples(batch);
  BOOST_TEST(e.values[0].shape() == Shape({2, 2}));
  BOOST_TEST(values(e.values[0]) == (Doubles{1, 2, 3, 4}), boost::test_tools::per_element());
  BOOST_TEST(e.values[1].shape() == Shape({2}));
  BOOST_CHECK_THROW(concat_examples({}), catena::ValueError);
  const Examples uneven{Array(floats({1, 2}, {1, 2})), Array(floats({3, 4}, {2, 1}))};
  BOOST_TEST(has(message_of<catena::ValueError>([&] { concat_examples(uneven); }), "padding"));
  const Example padded = concat_examples(uneven, {}, -1.0);
  BOOST_TEST(padded.values[0].shape() == Shape({2, 2, 2}));
  BOOST_TEST(values(padded.values[0]) == (Doubles{1, 2, -1, -1, 3, -1, 4, -1}), boost::test_tools::per_element());
  const Examples two{std::vector<Array>{floats({1}, {1}), floats({1}, {1})},
                     std::vector<Array>{floats({2, 3}, {2}), floats({2}, {1})}};
  BOOST_TEST(concat_examples(two, {}, Padding({0.0, std::nullopt})).values[0].shape() == Shape({2, 2}));
  BOOST_CHECK_THROW(concat_examples(two, {}, Padding({std::nullopt, 0.0})), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(maps_are_stacked_by_name) {
  const Example first({{"x", floats({1, 2}, {2})}, {"t", floats({5}, {})}}),
      second({{"t", floats({6}, {})}, {"x", floats({3, 4}, {2})}});
  const Example both = concat_examples({first, second});
  BOOST_TEST(both.names == (std::vector<std::string>{"x", "t"}), boost::test_tools::per_element());
  BOOST_TEST(values(both.values[0]) == (Doubles{1, 2, 3, 4}), boost::test_tools::per_element());
  BOOST_TEST(values(both.values[1]) == (Doubles{5, 6}), boost::test_tools::per_element());
  const std::vector<std::int64_t> indices{8, 3};
  const auto refused = [&](const Example& other) {
    return message_of<catena::ValueError>([&] { concat_examples({first, other}, {}, {}, indices); });
  };
  const Array x = floats({3, 4}, {2}), t = floats({6}, {});
  BOOST_TEST(refused(Example({{"x", x}, {"label", t}})) ==
             "concat_examples: example 1 of the batch (3 of the dataset) has the keys x, label, the first one has the "
             "keys x, t");
  BOOST_TEST(has(refused(Example({{"x", x}})), "has the keys x, the first"));
  BOOST_TEST(has(refused(Example({{"x", x}, {"x", t}})), "has the keys x, x, the first"));
  BOOST_TEST(has(refused(std::vector<Array>{x, t}), "has 2 components without names, the first one has the keys x, t"));
  BOOST_TEST(has(refused(Example({{"x", floats({1, 2, 3}, {3})}, {"t", t}})),
                 "\"x\" of example 1 of the batch (3 of the dataset) has the shape (3,), of the first one (2,)"));
  BOOST_TEST(has(refused(Example({{"x", ints({3, 4})}, {"t", t}})),
                 "\"x\" of example 1 of the batch (3 of the dataset) is int32, of the first one float32"));
  // The wider dtype of one kind.
  const Example wide({{"x", autograd::astype(x, Dtype::float64)}, {"t", t}});
  BOOST_TEST((concat_examples({first, wide}).values[0].dtype() == Dtype::float64));
  BOOST_TEST(values(concat_examples({wide, first}).values[0]) == (Doubles{3, 4, 1, 2}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(batches_without_asterisks) {
  SerialIterator it(Squares(3), 2, {.repeat = false, .shuffle = false});
  auto batch = it.next();
  BOOST_TEST(batch.size() == 2);
  BOOST_TEST(values(batch[-1][0])[0] == 1);
  BOOST_TEST(values(concat_examples(batch, ConcatOptions{}).values[0]).size() == 4u);
  std::vector<double> firsts;
  for (const Example& e : batch) firsts.push_back(values(e[0])[0]);
  BOOST_TEST(firsts == (Doubles{0, 1}), boost::test_tools::per_element());
  const std::optional<Batch> copy = batch;
  batch = it.next();
  BOOST_TEST(batch.size() == 1);
  BOOST_TEST(copy->size() == 2);
  batch = std::nullopt;
  BOOST_TEST(!batch);
  BOOST_TEST(!it.next());
  BOOST_TEST(has(message_of<catena::ValueError>([&] { it.next().size(); }), "StopIteration"));
  BOOST_CHECK_THROW(it.next()[0], catena::ValueError);
  BOOST_CHECK_THROW(concat_examples(it.next(), ConcatOptions{}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(errors_name_the_example) {
  struct Broken : Squares {
    using Squares::Squares;
    Example get_example(std::int64_t i) const override {
      catena::check<catena::IOError>(i != 4, "read", "no such image");
      return i == 1 ? Example(Array(autograd::arrays::full({3}, 1))) : Squares::get_example(i);
    }
  };
  SerialIterator it(Broken(6), 3, {.shuffle = false});
  const std::optional<Batch> batch = it.next();
  BOOST_TEST(batch->indices == (std::vector<std::int64_t>{0, 1, 2}), boost::test_tools::per_element());
  BOOST_TEST(batch->size() == 3);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { default_converter(*batch, {}); }),
                 "example 1 of the batch (1 of the dataset) has the shape (3,)"));
  for (int attempt = 0; attempt < 2; ++attempt) {  // the iterator stays where it is
    BOOST_TEST(message_of<catena::IOError>([&] { it.next(); }) == "example 4: read: no such image");
    BOOST_TEST(it.current_position() == 3);
    BOOST_TEST(it.epoch() == 0);
    BOOST_TEST(it.epoch_detail() == 0.5);
    BOOST_TEST(it.previous_epoch_detail().value_or(-1) == 0);
  }
}

BOOST_AUTO_TEST_CASE(dataset_root) {
  set_dataset_root("/somewhere");
  BOOST_TEST(get_dataset_root() == "/somewhere");
  BOOST_TEST(get_dataset_directory("a/b", false) == "/somewhere/a/b");
  set_dataset_root("");
  const TemporaryFolder folder("root");
  ::setenv("CATENA_DATASET_ROOT", folder.path.c_str(), 1);
  BOOST_TEST(get_dataset_root() == folder.path.string());
  BOOST_TEST(std::filesystem::is_directory(get_dataset_directory("a/b")));
  ::unsetenv("CATENA_DATASET_ROOT");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(iterators)

BOOST_AUTO_TEST_CASE(the_epoch_rule) {
  SerialIterator it(counting(5), 2, {.shuffle = false});
  BOOST_TEST(!it.previous_epoch_detail());
  const Doubles details{.4, .8, 1.2, 1.6, 2.0};
  const std::vector<Doubles> batches{{0, 1}, {2, 3}, {4, 0}, {1, 2}, {3, 4}};
  double before = 0;
  for (std::size_t i = 0; i < details.size(); ++i) {
    BOOST_TEST(batch_values(it.next()) == batches[i], boost::test_tools::per_element());
    BOOST_TEST(std::abs(it.epoch_detail() - details[i]) < 1e-12);
    BOOST_TEST(it.is_new_epoch() == (i == 2 || i == 4));
    BOOST_TEST(*it.previous_epoch_detail() == before);
    before = it.epoch_detail();
  }
  BOOST_TEST(it.epoch() == 2);
}

BOOST_AUTO_TEST_CASE(without_repeat_it_ends) {
  SerialIterator it(counting(5), 2, {.repeat = false, .shuffle = false});
  for (int sweep = 0; sweep < 2; ++sweep) {
    it.next();
    it.next();
    BOOST_TEST(batch_values(it.next()) == (Doubles{4}), boost::test_tools::per_element());  // short
    BOOST_TEST(it.is_new_epoch());
    BOOST_TEST(!it.next());
    BOOST_TEST(!it.next());
    it.reset();
    BOOST_TEST(it.epoch() == 0);
  }
}

BOOST_AUTO_TEST_CASE(batches_larger_than_the_dataset) {
  SerialIterator it(counting(3), 8, {.shuffle = false});
  BOOST_TEST(batch_values(it.next()) == (Doubles{0, 1, 2, 0, 1, 2, 0, 1}), boost::test_tools::per_element());
  BOOST_TEST(it.epoch() == 2);
  BOOST_TEST(it.current_position() == 2);
  BOOST_CHECK_THROW(SerialIterator(counting(3), 0), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(shuffled_sweeps_hold_everything_once) {
  SerialIterator it(counting(20), 5, {.seed = 9});
  std::vector<Doubles> sweeps;
  for (int sweep = 0; sweep < 3; ++sweep) {
    Doubles seen;
    for (int i = 0; i < 4; ++i)
      for (const double x : batch_values(it.next())) seen.push_back(x);
    BOOST_TEST(std::set<double>(seen.begin(), seen.end()).size() == 20u);
    sweeps.push_back(seen);
  }
  BOOST_TEST((sweeps[0] != sweeps[1]));
  BOOST_TEST((sweeps[1] != sweeps[2]));
  SerialIterator same(counting(20), 20, {.seed = 9});
  BOOST_TEST(batch_values(same.next()) == sweeps[0], boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(user_datasets_and_ownership) {
  const Squares borrowed(6);
  SerialIterator a(borrowed, 4, {.shuffle = false}), b(Squares(3), 2, {.shuffle = false});
  BOOST_TEST(a.dataset().get() == &borrowed);
  BOOST_TEST(batch_values(a.next()) == (Doubles{0, 1, 4, 9}), boost::test_tools::per_element());
  BOOST_TEST(batch_values(b.next()) == (Doubles{0, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(resuming_continues_the_very_same_orders) {
  const TemporaryFolder folder("iterator");
  SerialIterator it(counting(11), 3);
  for (int i = 0; i < 5; ++i) it.next();
  nn::serializers::save_npz(folder / "it.npz", it);
  SerialIterator resumed(counting(11), 3);
  nn::serializers::load_npz(folder / "it.npz", resumed);
  BOOST_TEST(resumed.epoch() == it.epoch());
  BOOST_TEST(*resumed.previous_epoch_detail() == *it.previous_epoch_detail());
  BOOST_TEST(resumed.is_new_epoch() == it.is_new_epoch());
  for (int i = 0; i < 20; ++i)
    BOOST_TEST(batch_values(resumed.next()) == batch_values(it.next()), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(loading_checks_the_order) {
  const TemporaryFolder folder("order");
  SerialIterator ten(counting(10), 3), twelve(counting(12), 3), plain(counting(10), 3, {.shuffle = false});
  nn::serializers::save_npz(folder / "ten.npz", ten);
  nn::serializers::save_npz(folder / "plain.npz", plain);
  const std::string message =
      message_of<catena::ValueError>([&] { nn::serializers::load_npz(folder / "ten.npz", twelve); });
  BOOST_TEST(has(message, "10"));
  BOOST_TEST(has(message, "12"));
  nn::serializers::load_npz(folder / "ten.npz", plain);  // ignores the order
  BOOST_CHECK_THROW(nn::serializers::load_npz(folder / "plain.npz", ten), catena::KeyError);
  // Indices out of range and a position out of range, as a damaged file might have them.
  struct Bad {
    std::int64_t position, index;
    void serialize(nn::Serializer& s) {
      std::int64_t epoch = 1;
      bool is_new = false;
      std::vector<std::int64_t> order{0, 1, 2, 3, 4, 5, 6, 7, 8, index};
      s("current_position", position);
      s("epoch", epoch);
      s("is_new_epoch", is_new);
      s("order", order);
    }
  };
  for (Bad bad : {Bad{0, 10}, Bad{0, -1}, Bad{10, 9}, Bad{-1, 9}}) {
    nn::serializers::save_npz(folder / "bad.npz", bad);
    BOOST_CHECK_THROW(nn::serializers::load_npz(folder / "bad.npz", ten), catena::ValueError);
  }
  // Without previous_epoch_detail it is found from the position.
  Bad good{6, 9};
  nn::serializers::save_npz(folder / "good.npz", good);
  nn::serializers::load_npz(folder / "good.npz", ten);
  BOOST_TEST(std::abs(*ten.previous_epoch_detail() - 1.3) < 1e-12);
}

BOOST_AUTO_TEST_SUITE_END()
