// The kinds of datasets and examples: arrays, datasets of datasets, maps, transforms, numbers; NumPy's permutations.
#include <catena/training/dataset.h>

#include <map>
#include <memory>
#include <utility>

#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions/evaluator.h>
#include <catena/training/updater.h>

using namespace test;
using namespace training;
using Doubles = std::vector<double>;
using Names = std::vector<std::string>;

namespace {

const auto each = boost::test_tools::per_element();

// Examples one by one, no get_batch.
struct Squares : DatasetMixin {
  std::int64_t n;
  explicit Squares(std::int64_t n_) : n(n_) {}
  std::int64_t size() const override { return n; }
  Example get_example(std::int64_t i) const override { return Array(autograd::arrays::full({2}, double(i * i))); }
};
struct Maps : Squares {
  using Squares::Squares;
  Example get_example(std::int64_t i) const override { return Example({{"x", autograd::arrays::full({}, double(i))}}); }
};
Doubles all(const Examples& examples, std::size_t k = 0) {
  Doubles result;
  for (const Example& e : examples)
    for (const double v : values(e.values.at(k))) result.push_back(v);
  return result;
}

// Classes of a program in PyTorch's form: no virtual functions, any names and types of size and examples.
struct OfTuples : Dataset {
  std::size_t size() const { return 5; }
  auto operator[](std::size_t i) const {
    return std::make_tuple(autograd::arrays::full({2}, double(i), Dtype::float32), i);
  }
};
struct OfPairs : Dataset {
  int len() { return 5; }
  std::pair<Variable, int> get_item(int i) {
    return {Variable(autograd::arrays::full({2}, double(i), Dtype::float32)), i};
  }
};
struct Sample {
  Variable data;
  Array label;
};
struct OfStructs : Dataset {
  std::unique_ptr<int> not_copyable;
  std::int64_t __len__() const { return 5; }
  Sample __getitem__(std::int64_t i) const {
    return {Variable(autograd::arrays::full({2}, double(i), Dtype::float32)),
            autograd::arrays::full({}, i, Dtype::int64)};
  }
};
struct OfExamples : Dataset {
  std::uint32_t size() const { return 5; }
  Example get(std::uint32_t i) const { return Example(autograd::arrays::full({2}, double(i), Dtype::float32), i); }
};
struct OfMaps : Dataset {
  std::int64_t size() const { return 5; }
  std::map<std::string, Array> get_example(std::int64_t i) const {
    return {{"data", autograd::arrays::full({2}, double(i), Dtype::float32)},
            {"label", autograd::arrays::full({}, i, Dtype::int64)}};
  }
};
template <class D> void check_program_dataset() {
  D lvalue;
  const AnyDataset borrowed = lvalue, owned = D();
  for (const AnyDataset* d : {&borrowed, &owned}) {
    BOOST_TEST((*d)->size() == 5);
    SerialIterator it(d->shared(), 2, {.repeat = false, .shuffle = false});
    double sum = 0;
    int batches = 0;
    for (const Batch& batch : it) {
      const Example e = concat_examples(batch.examples);
      BOOST_TEST(e.values.size() == 2u);
      const auto data = autograd::to_vector<double>(e.values[0]), labels = autograd::to_vector<double>(e.values[1]);
      BOOST_TEST(data.size() == 2 * labels.size());
      for (std::size_t i = 0; i < labels.size(); ++i) BOOST_TEST(data[2 * i] == labels[i]);
      for (const double label : labels) sum += label;
      ++batches;
    }
    BOOST_TEST(sum == 10);
    BOOST_TEST(batches == 3);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dataset_kinds)

BOOST_AUTO_TEST_CASE(an_array_is_a_dataset) {
  const Array x = floats({1, 2, 3, 4, 5, 6}, {3, 2});
  const ArrayDataset d(x);
  BOOST_TEST(d.size() == 3);
  BOOST_TEST(values(d[1].values[0]) == (Doubles{3, 4}), each);
  BOOST_TEST(d[1].values.size() == 1u);
  BOOST_TEST(all(d.slice(1, {})) == (Doubles{3, 4, 5, 6}), each);
  BOOST_CHECK_THROW(ArrayDataset(floats({1}, {})), catena::ValueError);
  BOOST_CHECK_THROW(ArrayDataset{Array()}, catena::TypeError);
  // Wherever a dataset is expected.
  SerialIterator it(x, 2, {.shuffle = false});
  BOOST_TEST(values(it.next()->stacked->values[0]) == (Doubles{1, 2, 3, 4}), each);
  const auto [first, second] = split_dataset(x, 1);
  BOOST_TEST(values((*second)[-1].values[0]) == (Doubles{5, 6}), each);
  BOOST_TEST(SubDataset(x, 1, 3).size() == 2);
  // Not contiguous, and empty.
  const ArrayDataset columns(autograd::transpose(x));
  BOOST_TEST(values(columns[1].values[0]) == (Doubles{2, 4, 6}), each);
  BOOST_TEST(ArrayDataset(autograd::arrays::zeros({0, 2})).size() == 0);
}

BOOST_AUTO_TEST_CASE(classes_in_the_form_of_pytorch) {
  check_program_dataset<OfTuples>();
  check_program_dataset<OfPairs>();
  check_program_dataset<OfStructs>();
  check_program_dataset<OfExamples>();
  check_program_dataset<OfMaps>();
  // An lvalue is not copied.
  struct Growing : Dataset {
    int n = 1;
    int size() const { return n; }
    int operator[](int i) const { return 10 * i; }
  } growing;
  const AnyDataset view = growing;
  growing.n = 4;
  BOOST_TEST(view->size() == 4);
  BOOST_TEST(autograd::to_vector<double>(view->get_example(3).values[0])[0] == 30);
  const OfTuples constant;
  BOOST_TEST(SubDataset(constant, 1, 4).size() == 3);
  BOOST_TEST((OfMaps().get_example(2).at("label").shape() == Shape{}));
  const Example of_variable = Variable(autograd::arrays::full({2}, 3, Dtype::float32));
  BOOST_TEST(of_variable.values.size() == 1u);
  BOOST_TEST(autograd::to_vector<double>(of_variable[0])[1] == 3);
}

BOOST_AUTO_TEST_CASE(indices_in_lists_and_arrays) {
  const ArrayDataset d(floats({10, 11, 12, 13}, {4}));
  BOOST_TEST(all(d[{3, 0, -1}]) == (Doubles{13, 10, 13}), each);
  BOOST_TEST(all(d[{2}]) == (Doubles{12}), each);
  BOOST_TEST(all(d[std::vector<std::int64_t>{1, 1}]) == (Doubles{11, 11}), each);
  BOOST_TEST(all(d[ints({2, -4})]) == (Doubles{12, 10}), each);
  BOOST_TEST(d[std::vector<std::int64_t>{}].empty());
  BOOST_TEST(has(message_of<catena::IndexError>([&] { d[{0, 4}]; }), "the index 4 is out of range for 4 examples"));
  BOOST_CHECK_THROW(d[ints({-5})], catena::IndexError);
  BOOST_CHECK_THROW(d[floats({1}, {1})], catena::TypeError);
  BOOST_CHECK_THROW(d[autograd::arrays::zeros({1, 1}, Dtype::int64)], catena::TypeError);
}

BOOST_AUTO_TEST_CASE(tuples_of_any_datasets) {
  const Array t = ints({7, 8, 9});
  const Squares squares(3);
  const TupleDataset d(squares, t);  // borrows squares
  BOOST_TEST(d.size() == 3);
  BOOST_TEST(d.arrays().empty());
  const Example e = d[2];
  BOOST_REQUIRE(e.values.size() == 2u);
  BOOST_TEST(values(e.values[0]) == (Doubles{4, 4}), each);
  BOOST_TEST(values(e.values[1]) == (Doubles{9}), each);
  BOOST_TEST(all(d.slice({}, {}, -1), 1) == (Doubles{9, 8, 7}), each);
  const std::vector<std::int64_t> indices{2, 0};
  BOOST_TEST(!d.get_batch(indices));  // Squares has none
  // Of tuples, whose components are joined; temporaries are owned.
  const TupleDataset nested(TupleDataset(floats({1, 2}, {2}), floats({3, 4}, {2})), SubDataset(t, 1, 3));
  BOOST_TEST(nested[1].values.size() == 3u);
  BOOST_TEST(values(nested[1].values[1]) == (Doubles{4}), each);
  BOOST_TEST(values(nested[1].values[2]) == (Doubles{9}), each);
  BOOST_TEST(values(nested.get_batch(std::vector<std::int64_t>{1, 0})->values[2]) == (Doubles{9, 8}), each);
  BOOST_TEST(TupleDataset(std::vector<DatasetPtr>{std::make_shared<Squares>(2)}).size() == 2);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { TupleDataset(t, t, Squares(4)); }),
                 "the components 0 and 2 have 3 and 4 examples"));
  BOOST_TEST(has(message_of<catena::TypeError>([&] { TupleDataset(t, Maps(3))[0]; }), "component 1 are maps"));
  BOOST_CHECK_THROW(TupleDataset(std::vector<DatasetPtr>{nullptr}), catena::TypeError);
}

BOOST_AUTO_TEST_CASE(maps_of_datasets) {
  const DictDataset d({{"image", Squares(3)}, {"label", ints({7, 8, 9})}});
  BOOST_TEST(d.size() == 3);
  const Example e = d[-1];
  BOOST_TEST(e.names == (Names{"image", "label"}), each);
  BOOST_TEST(values(e.values[0]) == (Doubles{4, 4}), each);
  BOOST_TEST(all(d.slice({}, 2), 1) == (Doubles{7, 8}), each);
  BOOST_TEST(!d.get_batch(std::vector<std::int64_t>{0}));
  const DictDataset arrays({{"x", floats({1, 2, 3}, {3})}, {"t", ints({7, 8, 9})}});
  const Example batch = *arrays.get_batch(std::vector<std::int64_t>{2, 1});
  BOOST_TEST(batch.names == (Names{"x", "t"}), each);
  BOOST_TEST(values(batch.values[1]) == (Doubles{9, 8}), each);
  BOOST_TEST(has(message_of<catena::ValueError>([] {
                   DictDataset({{"x", Squares(3)}, {"label", ints({7})}});
                 }),
                 "label has 1 examples, x has 3"));
  BOOST_CHECK_THROW(DictDataset(HeldMap<const DatasetMixin>{}), catena::ValueError);
  const TupleDataset pairs(ints({1}), ints({2}));
  BOOST_TEST(has(message_of<catena::TypeError>([&] {
                   DictDataset({{"pair", pairs}, {"t", ints({1})}})[0];
                 }),
                 "an example of pair has 2 values; a single array is needed"));
  // An iterator over it gives the model its arguments by name.
  SerialIterator it(arrays, 3, {.shuffle = false});
  const Variables args = to_variables(default_converter(*it.next(), {}));
  BOOST_TEST(values(argument(args, "t").data()) == (Doubles{7, 8, 9}), each);
}

BOOST_AUTO_TEST_CASE(transformed_examples) {
  int calls = 0;
  const Squares squares(3);
  const TransformDataset d(squares, [&](Example e) {
    ++calls;
    e.values.push_back(e.values[0] * 2);
    return e;
  });
  BOOST_TEST(d.size() == 3);
  BOOST_TEST(calls == 0);
  BOOST_TEST(values(d[2].values[1]) == (Doubles{8, 8}), each);
  BOOST_TEST(calls == 1);
  BOOST_TEST(d.slice(1, {}).size() == 2u);
  BOOST_TEST(!d.get_batch(std::vector<std::int64_t>{0}));  // example by example, even where the source stacks
  SerialIterator it(TransformDataset(floats({1, 2}, {2}),
                                     [](Example e) {
                                       return Example({e.values[0] + 1, 5});
                                     }),
                    2, {.shuffle = false});
  const Example batch = default_converter(*it.next(), {});
  BOOST_TEST(values(batch.values[0]) == (Doubles{2, 3}), each);
  BOOST_TEST(values(batch.values[1]) == (Doubles{5, 5}), each);
  BOOST_CHECK_THROW(TransformDataset(Squares(1), nullptr), catena::TypeError);
}

BOOST_AUTO_TEST_CASE(datasets_one_after_the_other) {
  const Squares squares(3);
  const ConcatenatedDataset d(squares, floats({7, 8}, {2}), Squares(0), Squares(1));
  BOOST_TEST(d.size() == 6);
  Doubles first;
  for (const Example& e : d.slice({}, {})) first.push_back(values(e.values[0])[0]);
  BOOST_TEST(first == (Doubles{0, 1, 4, 7, 8, 0}), each);
  BOOST_TEST(values(d[-3].values[0])[0] == 7);
  BOOST_CHECK_THROW(d[6], catena::IndexError);
  BOOST_TEST(ConcatenatedDataset(std::vector<DatasetPtr>{std::make_shared<Squares>(0)}).size() == 0);
  const auto message = [](std::vector<DatasetPtr> datasets) {
    return message_of<catena::Error>([&] { ConcatenatedDataset{std::move(datasets)}; });
  };
  BOOST_TEST(has(message({}), "ConcatenatedDataset: there are no datasets"));
  BOOST_TEST(has(message({std::make_shared<Squares>(1), nullptr}), "dataset 1 is a null pointer"));
  SerialIterator it(d, 6, {.shuffle = false});
  BOOST_TEST(it.next()->size() == 6);
}

// Batches of datasets that stack them and of those that do not, taken apart in the ways of a loop without an updater.
BOOST_AUTO_TEST_CASE(batches_taken_apart) {
  const TupleDataset arrays({floats({1, 2, 3}, {3}), ints({4, 5, 6})});
  const TransformDataset single(arrays, [](Example e) { return e; });
  for (const DatasetMixin* dataset :
       {static_cast<const DatasetMixin*>(&arrays), static_cast<const DatasetMixin*>(&single)}) {
    SerialIterator it(*dataset, 3, {.shuffle = false});
    const auto [x, t] = concat_examples(*it.next());
    static_assert(std::is_same_v<std::remove_cv_t<decltype(x)>, Array>);
    BOOST_TEST(values(x) == (Doubles{1, 2, 3}), each);
    BOOST_TEST(values(t) == (Doubles{4, 5, 6}), each);
    const auto [xv, tv] = to_variables(*it.next());
    BOOST_TEST(values(xv.data()) == (Doubles{1, 2, 3}), each);
    BOOST_TEST((tv.data().dtype() == Dtype::int32));
  }
  const auto [image, label] = arrays[1];
  BOOST_TEST((values(image)[0] == 2 && values(label)[0] == 5));
  const auto [first, second] = Example({{"b", 1}, {"a", 2}});  // of a map: in its order
  BOOST_TEST((values(first)[0] == 1 && values(second)[0] == 2));
  BOOST_TEST(has(message_of<catena::ValueError>([] {
                   const auto [a, b] = Example({1, 2, 3});
                 }),
                 "it has 3 components"));
  SerialIterator it(arrays, 3);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { concat_examples(it.next()->examples); }),
                 "write concat_examples(batch) or to_variables(batch)"));
}

BOOST_AUTO_TEST_CASE(padding_by_name_and_to_multiples) {
  const Examples maps{Example({{"words", ints({1, 2})}, {"label", 1}}),
                      Example({{"label", 2}, {"words", ints({3, 4, 5})}})};
  const Example batch = concat_examples(maps, {}, {{"words", -1}});
  BOOST_TEST(batch.names == (Names{"words", "label"}), each);
  BOOST_TEST(values(batch.values[0]) == (Doubles{1, 2, -1, 3, 4, 5}), each);
  BOOST_TEST((batch.values[1].shape() == Shape{2}));
  const Example longer = concat_examples(maps, {}, Padding({{"words", 0}, {"label", 0}}).to_multiple(4));
  BOOST_TEST((longer.values[0].shape() == Shape({2, 4}) && longer.values[1].shape() == Shape{2}));
  BOOST_TEST(values(longer.values[0]) == (Doubles{1, 2, 0, 0, 3, 4, 5, 0}), each);
  // Only the first axis of an example, only with a padding, and also where the lengths are equal already.
  const Examples tuples{std::vector<Array>{floats({1, 2, 3}, {1, 3}), ints({1})},
                        std::vector<Array>{floats({4, 5, 6}, {1, 3}), ints({2})}};
  const Example rows = concat_examples(tuples, {}, Padding({9.0, std::nullopt}).to_multiple(2));
  BOOST_TEST((rows.values[0].shape() == Shape({2, 2, 3}) && rows.values[1].shape() == Shape({2, 1})));
  BOOST_TEST(values(rows.values[0]) == (Doubles{1, 2, 3, 9, 9, 9, 4, 5, 6, 9, 9, 9}), each);
  BOOST_TEST((concat_examples(tuples, {}, Padding(0).to_multiple(1)).values[0].shape() == Shape({2, 1, 3})));
  BOOST_TEST((concat_examples(tuples, {}, Padding().to_multiple(8)).values[0].shape() == Shape({2, 1, 3})));

  const auto refused = [&](const Examples& examples, const Padding& padding) {
    return message_of<catena::Error>([&] { concat_examples(examples, {}, padding); });
  };
  BOOST_CHECK_THROW(concat_examples(maps, {}, {{"word", 0}}), catena::KeyError);
  BOOST_TEST(has(refused(maps, {{"word", 0}}), "a padding for \"word\", but the examples have the keys words, label"));
  BOOST_TEST(has(refused(tuples, {{"x", 0}}), "2 components without names"));
  BOOST_TEST(has(refused(maps, {{"label", 0}}), "a padding value is needed"));
  BOOST_TEST(has(refused(tuples, Padding(0).to_multiple(0)), "a multiple of 0"));
}

BOOST_AUTO_TEST_CASE(numbers_in_examples) {
  const auto dtype_of = [](const Example& e, std::size_t k = 0) { return e.values.at(k).dtype(); };
  BOOST_TEST((dtype_of(3) == Dtype::int64));
  BOOST_TEST((dtype_of(3.5) == Dtype::float64));
  BOOST_TEST((dtype_of(3.5f) == Dtype::float32));
  BOOST_TEST((dtype_of(true) == Dtype::bool_));
  BOOST_TEST((dtype_of(Example({std::uint8_t(3), 1.5})) == Dtype::int64));
  const Example tuple({floats({1, 2}, {2}), -4, 0.25});
  BOOST_TEST(tuple.values.size() == 3u);
  BOOST_TEST(tuple.values[1].shape() == Shape{});
  BOOST_TEST(values(tuple.values[1])[0] == -4);
  BOOST_TEST((tuple.values[1].device() == kCpu));
  const Example map({{"x", floats({1}, {1})}, {"t", 2}});
  BOOST_TEST((dtype_of(map, 1) == Dtype::int64));
  // Batches of numbers are arrays; 0-d arrays keep their dtype.
  const Example numbers = concat_examples({1, 2, 3});
  BOOST_TEST((dtype_of(numbers) == Dtype::int64));
  BOOST_TEST(values(numbers.values[0]) == (Doubles{1, 2, 3}), each);
  BOOST_TEST((dtype_of(concat_examples({0.5, 1.5})) == Dtype::float64));
  const Example pairs = concat_examples({Example({floats({1, 2}, {2}), 7}), Example({floats({3, 4}, {2}), 8})});
  BOOST_TEST(values(pairs.values[1]) == (Doubles{7, 8}), each);
  BOOST_TEST((dtype_of(pairs, 1) == Dtype::int64));
  const Array third = autograd::arrays::full({}, 3, Dtype::int32);
  BOOST_TEST((dtype_of(concat_examples({Array(third), Array(third)})) == Dtype::int32));
}

BOOST_AUTO_TEST_CASE(devices_of_batches) {
  const Examples batch{Example({floats({1, 2}, {2}), 7}), Example({floats({3, 4}, {2}), 8})};
  const Example here = concat_examples(batch);
  BOOST_TEST((here.values[0].device() == default_device()));  // where they are
  const std::optional<Device> other = other_device();
  if (!other) return;
  for (const Device device : {*other, kCpu, default_device()}) {
    const Example moved = concat_examples(batch, device);
    for (const Array& a : moved.values) BOOST_TEST((a.device() == device));
    BOOST_TEST(values(moved.values[0]) == (Doubles{1, 2, 3, 4}), each);
    BOOST_TEST(values(moved.values[1]) == (Doubles{7, 8}), each);
  }
}

// Printed by NumPy: numpy.random.RandomState(seed).permutation(n).
BOOST_AUTO_TEST_CASE(permutations_of_numpy) {
  using Order = std::vector<std::int64_t>;
  const std::map<std::pair<int, std::uint32_t>, Order> expected = {
      {{10, 0u}, {2, 8, 4, 9, 1, 6, 7, 3, 0, 5}},
      {{10, 1u}, {2, 9, 6, 4, 0, 3, 1, 7, 8, 5}},
      {{5, 42u}, {1, 4, 2, 0, 3}},
      {{17, 4294967295u}, {8, 1, 5, 14, 10, 15, 16, 13, 11, 9, 6, 0, 4, 7, 12, 2, 3}},
      {{9, 20u}, {8, 6, 5, 0, 1, 7, 4, 2, 3}},
  };
  for (const auto& [arguments, order] : expected)
    BOOST_TEST(numpy_permutation(arguments.first, arguments.second) == order, each);
  BOOST_TEST(numpy_permutation(0, 1).empty());
  BOOST_TEST(numpy_permutation(1, 1) == (Order{0}), each);
  BOOST_CHECK_THROW(numpy_permutation(-1, 1), catena::ValueError);
  // Splits with a seed are those of Chainer.
  const Array x = autograd::arrays::arange(10);
  const auto [first, second] = split_dataset_random(x, 4, 0);
  Doubles both = all(first->slice({}, {}));
  for (const double v : all(second->slice({}, {}))) both.push_back(v);
  const Order& order = expected.at({10, 0});
  BOOST_TEST(both == Doubles(order.begin(), order.end()), each);
  BOOST_TEST(values((*split_dataset_n_random(x, 3, 0)[1])[0].values[0])[0] == double(order[3]));
  BOOST_TEST(values((*get_cross_validation_datasets_random(x, 2, 0)[0].second)[0].values[0])[0] == double(order[5]));
  BOOST_TEST(
      has(message_of<catena::ValueError>([&] { split_dataset_random(x, 4, std::uint64_t(1) << 32); }), "4294967296"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(own_iterators)

namespace {

// The smallest iterator of one's own: it counts to n per sweep.
struct Counting : Iterator {
  std::int64_t n, at = 0;
  int finalized = 0;
  explicit Counting(std::int64_t n_) : n(n_) {}
  std::optional<Batch> next() override {
    Batch batch;
    batch.examples.push_back(Array(floats({float(at++ % n), 1}, {2})));
    return batch;
  }
  std::int64_t epoch() const override { return at / n; }
  double epoch_detail() const override { return double(at) / double(n); }
  bool is_new_epoch() const override { return at > 0 && at % n == 0; }
  void serialize(nn::Serializer& s) override { s("at", at); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(batches_in_a_loop) {
  SerialIterator it(floats({1, 2, 3, 4, 5}, {5}), 2, {.repeat = false, .shuffle = false});
  std::vector<std::int64_t> sizes;
  double total = 0;
  for (const Batch& batch : it) {
    sizes.push_back(batch.size());
    for (const double v : values(default_converter(batch, {}).values[0])) total += v;
  }
  BOOST_TEST(sizes == (std::vector<std::int64_t>{2, 2, 1}), each);
  BOOST_TEST(total == 15);
  BOOST_TEST(it.batch_size() == 2);
  for (const Batch& batch : it) BOOST_ERROR("the sweep is over, but there are " << batch.size() << " examples");
  it.reset();
  int again = 0;
  for ([[maybe_unused]] const Batch& batch : it) ++again;
  BOOST_TEST(again == 3);
  it.finalize();
  it.finalize();  // any number of times
  BOOST_TEST(!it.next());
}

BOOST_AUTO_TEST_CASE(the_least_iterator_trains) {
  Counting it(3);
  BOOST_TEST(!it.previous_epoch_detail());
  BOOST_TEST(has(message_of<catena::NotImplementedError>([&] { it.batch_size(); }), "override batch_size()"));
  BOOST_TEST(!it.can_reset());
  BOOST_CHECK_THROW(it.reset(), catena::NotImplementedError);
  BOOST_CHECK_THROW(it.copy(), catena::NotImplementedError);
  it.finalize();
  std::optional<Batch> batch = it.next();
  BOOST_TEST(batch->size() == 1);
  BOOST_TEST(it.epoch_detail() == 1.0 / 3.0);
}

BOOST_AUTO_TEST_SUITE_END()
