// Order samplers by themselves: which indices, how often, in which order. Frequencies are compared with the formulas of
// the draws; the least likely of the bounds fails once in a million runs, and the seeds are fixed.
#include <catena/training/samplers.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include <catena/tests/support/training_fixtures.h>
#include <catena/training/iterator.h>
#include <catena/training/parallel/iterators.h>

using namespace test;
using namespace training;

namespace {

using Order = std::vector<std::int64_t>;
const auto each = boost::test_tools::per_element();

Order order_of(const OrderSampler& sampler, std::int64_t size, autograd::Generator& g, std::int64_t epoch = 0) {
  return sampler.order({size, epoch, {}, g});
}
Order sorted(Order order) {
  std::sort(order.begin(), order.end());
  return order;
}
Order sequence(std::int64_t n) {
  Order all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Whether `count` of n draws is plausible for a probability: within 5 standard deviations.
bool is_plausible(double count, double n, double probability) {
  return std::abs(count - n * probability) <= 5 * std::sqrt(n * probability * (1 - probability)) + 1e-9;
}

struct Counting : DatasetMixin {
  std::int64_t n;
  explicit Counting(std::int64_t n_) : n(n_) {}
  std::int64_t size() const override { return n; }
  Example get_example(std::int64_t i) const override { return Example(i); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(samplers)

BOOST_AUTO_TEST_CASE(sequential) {
  autograd::Generator g{1, 0};
  BOOST_TEST(order_of(SequentialSampler(), 4, g) == (Order{0, 1, 2, 3}), each);
  BOOST_TEST(order_of(SequentialSampler(), 1, g) == (Order{0}), each);
  BOOST_TEST(SequentialSampler().length(7) == 7);
  BOOST_TEST(g.offset == 0u);
}

BOOST_AUTO_TEST_CASE(random) {
  autograd::Generator g{3, 0};
  const Order first = order_of(RandomSampler(), 20, g), second = order_of(RandomSampler(), 20, g);
  BOOST_TEST(sorted(first) == sequence(20), each);
  BOOST_TEST(sorted(second) == sequence(20), each);
  BOOST_TEST((first != second));
  BOOST_TEST(order_of(ShuffleOrderSampler(), 1, g) == (Order{0}), each);

  // Fewer, and more: every example before one of them comes again.
  const RandomSampler few({.num_samples = 5}), many({.num_samples = 47});
  BOOST_TEST(few.length(20) == 5);
  const Order five = order_of(few, 20, g), order = order_of(many, 20, g);
  BOOST_TEST(std::set<std::int64_t>(five.begin(), five.end()).size() == 5u);
  BOOST_TEST(order.size() == 47u);
  for (const int begin : {0, 20})
    BOOST_TEST(sorted(Order(order.begin() + begin, order.begin() + begin + 20)) == sequence(20), each);
  const std::set<std::int64_t> rest(order.begin() + 40, order.end());
  BOOST_TEST(rest.size() == 7u);

  const RandomSampler with({.replacement = true, .num_samples = 30000});
  std::map<std::int64_t, double> counts;
  for (const std::int64_t i : order_of(with, 6, g)) ++counts[i];
  BOOST_TEST(counts.size() == 6u);
  for (const auto& [i, count] : counts) BOOST_TEST(is_plausible(count, 30000, 1.0 / 6), i << ": " << count);
}

BOOST_AUTO_TEST_CASE(weighted_with_replacement) {
  autograd::Generator g{5, 0};
  const std::vector<double> weights{0, 1, 5, 0, 2, 0};
  const double n = 40000;
  const WeightedRandomSampler sampler(weights, {.num_samples = std::int64_t(n)});
  BOOST_TEST(sampler.length(6) == std::int64_t(n));
  std::vector<double> counts(6);
  for (const std::int64_t i : order_of(sampler, 6, g)) ++counts[std::size_t(i)];
  for (std::size_t i = 0; i < 6; ++i) BOOST_TEST(is_plausible(counts[i], n, weights[i] / 8), i << ": " << counts[i]);
  BOOST_TEST(WeightedRandomSampler(weights).length(6) == 6);
  // Weights as an array of another dtype, a strided one too.
  autograd::Generator a{7, 0}, b{7, 0}, c{7, 0};
  const Order expected = order_of(WeightedRandomSampler({1, 3, 0}), 3, a);
  BOOST_TEST(order_of(WeightedRandomSampler(ints({1, 3, 0})), 3, b) == expected, each);
  const Array wide = floats({1, 9, 3, 9, 0, 9}, {6});
  BOOST_TEST(order_of(WeightedRandomSampler(autograd::slice(wide, 0, 0, 6, 2)), 3, c) == expected, each);
}

// The probability of a pair (i, j) is w_i / W times w_j / (W - w_i).
BOOST_AUTO_TEST_CASE(weighted_without_replacement) {
  autograd::Generator g{9, 0};
  const std::vector<double> w{3, 0, 1, 6};
  const WeightedRandomSampler sampler(w, {.num_samples = 2, .replacement = false});
  std::map<std::pair<std::int64_t, std::int64_t>, double> counts;
  const int n = 20000;
  for (int k = 0; k < n; ++k) {
    const Order pair = order_of(sampler, 4, g);
    BOOST_REQUIRE(pair.size() == 2u);
    ++counts[{pair[0], pair[1]}];
  }
  BOOST_TEST(counts.size() == 6u);
  for (const auto& [pair, count] : counts) {
    const double first = w[std::size_t(pair.first)], second = w[std::size_t(pair.second)];
    BOOST_TEST(pair.first != pair.second);
    BOOST_TEST(is_plausible(count, n, first / 10 * second / (10 - first)),
               pair.first << ", " << pair.second << ": " << count);
  }
  const Order all = order_of(WeightedRandomSampler({2, 1, 4}, {.replacement = false}), 3, g);
  BOOST_TEST(sorted(all) == sequence(3), each);
}

BOOST_AUTO_TEST_CASE(weighted_with_a_number_and_options) {
  autograd::Generator g{11, 0};
  const Order some = order_of(WeightedRandomSampler({2, 0, 4, 1}, 2, {.replacement = false}), 4, g);
  BOOST_TEST(some.size() == 2u);
  BOOST_TEST(some[0] != some[1]);
  for (const std::int64_t i : order_of(WeightedRandomSampler({0, 1}, 7, {.replacement = true}), 2, g))
    BOOST_TEST(i == 1);
  BOOST_TEST(WeightedRandomSampler({0, 1}, 7, {.replacement = true}).length(2) == 7);
  BOOST_TEST(has(message_of<catena::ValueError>([] {
                   WeightedRandomSampler({1, 1}, 2, {.num_samples = 3});
                 }),
                 "num_samples is given twice"));
}

BOOST_AUTO_TEST_CASE(grouped_by_length) {
  autograd::Generator g{11, 0};
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < 103; ++i) lengths.push_back((i * 37) % 50);
  const auto length_of = [&](std::int64_t i) { return lengths[std::size_t(i)]; };
  // A pool of all examples: batch k has the lengths k * 8... of the sorted ones, in some order of batches.
  const LengthGroupedSampler one_pool(lengths, 8, {.pool_batches = 1000});
  const Order order = order_of(one_pool, 103, g);
  BOOST_TEST(sorted(order) == sequence(103), each);
  std::vector<std::int64_t> descending = lengths;
  std::sort(descending.rbegin(), descending.rend());
  std::vector<std::vector<std::int64_t>> expected, actual;
  for (std::size_t begin = 0; begin < 96; begin += 8) {
    expected.emplace_back(descending.begin() + std::int64_t(begin), descending.begin() + std::int64_t(begin) + 8);
    std::vector<std::int64_t> batch;
    for (std::size_t k = begin; k < begin + 8; ++k) batch.push_back(length_of(order[k]));
    actual.push_back(batch);
  }
  BOOST_TEST((actual != expected));  // the batches are shuffled
  std::sort(expected.begin(), expected.end());
  std::sort(actual.begin(), actual.end());
  BOOST_TEST((actual == expected));
  for (std::size_t k = 96; k < 103; ++k) BOOST_TEST(length_of(order[k]) == descending[k]);
  // The examples of a batch come from one pool: of a dataset in order, from one part of it.
  const Order pooled = order_of(LengthGroupedSampler(lengths, 8, {.pool_batches = 2, .shuffle = false}), 103, g);
  for (std::size_t begin = 0; begin < 103; begin += 16) {
    Order part(pooled.begin() + std::int64_t(begin),
               pooled.begin() + std::int64_t(std::min<std::size_t>(begin + 16, 103)));
    BOOST_TEST(std::is_sorted(part.begin(), part.end(),
                              [&](std::int64_t a, std::int64_t b) { return length_of(a) > length_of(b); }));
    part = sorted(part);
    for (std::size_t k = 0; k < part.size(); ++k) BOOST_TEST(part[k] == std::int64_t(begin + k));
  }
  // The examples left out differ from sweep to sweep.
  const LengthGroupedSampler dropping(lengths, 8, {.drop_last = true});
  BOOST_TEST(dropping.length(103) == 96);
  std::set<std::int64_t> left_out;
  for (int sweep = 0; sweep < 4; ++sweep) {
    const Order some = order_of(dropping, 103, g);
    const std::set<std::int64_t> distinct(some.begin(), some.end());
    BOOST_TEST(distinct.size() == 96u);
    for (std::int64_t i = 0; i < 103; ++i)
      if (!distinct.contains(i)) left_out.insert(i);
  }
  BOOST_TEST(left_out.size() > 7u);
  BOOST_TEST(order_of(LengthGroupedSampler({5}, 3), 1, g) == (Order{0}), each);
}

BOOST_AUTO_TEST_CASE(subsets) {
  autograd::Generator g{13, 0};
  const Order chosen{7, 2, 9, 4};
  const SubsetRandomSampler random(chosen), in_order(chosen, {.shuffle = false});
  BOOST_TEST(random.length(10) == 4);
  std::set<Order> seen;
  for (int k = 0; k < 40; ++k) {
    seen.insert(order_of(random, 10, g));
    BOOST_TEST(sorted(*seen.rbegin()) == sorted(chosen), each);
  }
  BOOST_TEST(seen.size() > 10u);
  BOOST_TEST(order_of(in_order, 10, g) == chosen, each);
}

BOOST_AUTO_TEST_CASE(distributed) {
  for (const std::int64_t n : {12, 13, 2})
    for (const bool drop_last : {false, true})
      for (const bool shuffle : {false, true})
        for (const std::int64_t epoch : {0, 1}) {
          if (drop_last && n == 2) continue;
          Order merged;
          std::size_t length = 0;
          std::vector<Order> parts;
          for (std::int64_t rank = 0; rank < 3; ++rank) {
            autograd::Generator g{std::uint64_t(rank), std::uint64_t(17 * rank)};  // other programs have others
            const DistributedSampler sampler(
                {.rank = rank, .size = 3, .shuffle = shuffle, .seed = 4, .drop_last = drop_last});
            parts.push_back(order_of(sampler, n, g, epoch));
            BOOST_TEST(std::int64_t(parts.back().size()) == sampler.length(n));
            length = parts.back().size();
            BOOST_TEST(parts[0].size() == length);
          }
          for (std::size_t k = 0; k < length; ++k)
            for (const Order& part : parts) merged.push_back(part[k]);
          const auto whole = std::size_t(drop_last ? n / 3 * 3 : n);
          const Order beginning(merged.begin(), merged.begin() + std::int64_t(whole));
          BOOST_TEST(merged.size() == (drop_last ? whole : std::size_t((n + 2) / 3 * 3)));
          BOOST_TEST(std::set<std::int64_t>(beginning.begin(), beginning.end()).size() == whole);
          for (std::size_t k = whole; k < merged.size(); ++k) BOOST_TEST(merged[k] == merged[k - whole]);
          if (!shuffle) BOOST_TEST(beginning == sequence(std::int64_t(whole)), each);
        }
  autograd::Generator g{1, 0};
  const auto of_epoch = [&](std::int64_t epoch, std::uint64_t seed) {
    return order_of(DistributedSampler({.rank = 1, .size = 2, .seed = seed}), 30, g, epoch);
  };
  BOOST_TEST((of_epoch(0, 4) == of_epoch(0, 4)));
  BOOST_TEST((of_epoch(0, 4) != of_epoch(1, 4)));
  BOOST_TEST((of_epoch(0, 4) != of_epoch(0, 5)));
  // Of the orders of another sampler.
  const DistributedSampler half({.rank = 1, .size = 2, .sampler = SubsetRandomSampler({8, 6, 4}, {.shuffle = false})});
  BOOST_TEST(half.length(9) == 2);
  BOOST_TEST(order_of(half, 9, g) == (Order{6, 8}), each);
}

// Loops over samplers themselves draw from the thread's generator.
BOOST_AUTO_TEST_CASE(loops_over_samplers) {
  const Counting data(7);
  const auto drawn = [](const OrderSampler& sampler) { return Order(sampler.begin(), sampler.end()); };
  BOOST_TEST(drawn(SequentialSampler(data)) == sequence(7), each);
  const RandomSampler random(data), some(data, {.num_samples = 3});
  BOOST_TEST(random.size() == 7);
  BOOST_TEST(some.size() == 3);
  BOOST_TEST(drawn(some).size() == 3u);
  std::set<Order> orders;
  for (int k = 0; k < 10; ++k) {
    Order loop;
    for (const std::int64_t i : random) loop.push_back(i);
    BOOST_TEST(sorted(loop) == sequence(7), each);
    orders.insert(loop);
  }
  BOOST_TEST(orders.size() > 1u);
  autograd::seed(5);
  const Order first = drawn(random);
  autograd::seed(5);
  BOOST_TEST(drawn(random) == first, each);
  BOOST_TEST(drawn(WeightedRandomSampler({0, 1, 0}, 4)) == (Order{1, 1, 1, 1}), each);
  BOOST_TEST(WeightedRandomSampler({0, 1, 0}, 4).size() == 4);
  BOOST_TEST(drawn(SubsetRandomSampler({4, 2}, {.shuffle = false})) == (Order{4, 2}), each);
  BOOST_TEST(drawn(DistributedSampler(data, {.num_replicas = 2, .rank = 1, .shuffle = false})) == (Order{1, 3, 5, 0}),
             each);
  const BatchSampler batches(SequentialSampler(data), {.batch_size = 3}), full(SequentialSampler(data), 3, true);
  BOOST_TEST(batches.size() == 3);
  BOOST_TEST(full.size() == 2);
  BOOST_TEST((std::vector<Order>(batches.begin(), batches.end()) == std::vector<Order>{{0, 1, 2}, {3, 4, 5}, {6}}));
  BOOST_TEST((std::vector<Order>(full.begin(), full.end()) == std::vector<Order>{{0, 1, 2}, {3, 4, 5}}));
  BOOST_CHECK_THROW(RandomSampler().begin(), catena::ValueError);
  // Nested loops: each has an order of its own.
  Order outer;
  for (const std::int64_t i : random) {
    Order inner;
    for (const std::int64_t j : random) inner.push_back(j);
    BOOST_TEST(sorted(inner) == sequence(7), each);
    outer.push_back(i);
  }
  BOOST_TEST(sorted(outer) == sequence(7), each);
  std::vector<Order> pairs;
  for (const Order& a : batches)
    for (const Order& b : full) pairs.push_back({a[0], b[0]});
  BOOST_TEST((pairs == std::vector<Order>{{0, 0}, {0, 3}, {3, 0}, {3, 3}, {6, 0}, {6, 3}}));
  // A loop is an epoch.
  const DistributedSampler part(data, {.num_replicas = 2, .rank = 1, .seed = 4});
  autograd::Generator unused{1, 0};
  for (const std::int64_t epoch : {0, 1, 2}) BOOST_TEST(drawn(part) == order_of(part, 7, unused, epoch), each);
  // The end of an empty list.
  const Counting none(0);
  BOOST_TEST(drawn(SequentialSampler(none)).empty());
  BOOST_CHECK_THROW(SequentialSampler().size(), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(in_an_iterator) {
  // shuffle = true is RandomSampler.
  SerialIterator shuffled(Counting(10), 4, {.seed = 3});
  SerialIterator sampled(Counting(10), 4, {.seed = 3, .order_sampler = RandomSampler()});
  for (int k = 0; k < 8; ++k) BOOST_TEST(shuffled.next()->indices == sampled.next()->indices, each);

  // Sweeps have the length of the orders: here 3 of 10.
  const SubsetRandomSampler subset({5, 1, 8}, {.shuffle = false});
  SerialIterator three(Counting(10), 2, {.repeat = false, .order_sampler = subset});
  BOOST_TEST(three.next()->indices == (Order{5, 1}), each);
  BOOST_TEST(three.epoch_detail() == 2.0 / 3);
  BOOST_TEST(three.next()->indices == (Order{8}), each);
  BOOST_TEST(three.is_new_epoch());
  BOOST_TEST(!three.next());
  three.reset();
  BOOST_TEST(three.next()->indices == (Order{5, 1}), each);

  // A function, which sees the order before and the epoch.
  SerialIterator own(Counting(4), 4, {.seed = 1, .order_sampler = [](const OrderContext& c) {
                                        Order order = c.current_order.empty()
                                                          ? Order{3, 1, 0, 2}
                                                          : Order(c.current_order.begin(), c.current_order.end());
                                        std::rotate(order.begin(), order.begin() + c.epoch, order.end());
                                        return order;
                                      }});
  BOOST_TEST(own.next()->indices == (Order{3, 1, 0, 2}), each);
  BOOST_TEST(own.next()->indices == (Order{1, 0, 2, 3}), each);
  BOOST_TEST(own.next()->indices == (Order{2, 3, 1, 0}), each);
  // Pointers are shared.
  const auto shared = std::make_shared<SequentialSampler>();
  SerialIterator sequential(Counting(3), 3, {.order_sampler = shared});
  BOOST_TEST(sequential.next()->indices == (Order{0, 1, 2}), each);
}

BOOST_AUTO_TEST_CASE(orders_that_are_wrong) {
  struct Long : OrderSampler {
    Order what;
    explicit Long(Order what_) : what(std::move(what_)) {}
    std::int64_t length(std::int64_t) const override { return 2; }
    Order order(const OrderContext&) const override { return what; }
  };
  const auto message = [](Order order) {
    return message_of<catena::ValueError>(
        [&] { SerialIterator(Counting(3), 1, {.order_sampler = Long(std::move(order))}); });
  };
  BOOST_TEST(message({0, 1, 2}) == "SerialIterator: the sampler gave an order of 3 indices; its length() is 2");
  BOOST_TEST(message({0, 3}) == "SerialIterator: the order has the index 3, but there are 3 examples");
  BOOST_TEST(message({-1, 0}) == "SerialIterator: the order has the index -1, but there are 3 examples");
  struct None : Long {
    using Long::Long;
    std::int64_t length(std::int64_t) const override { return 0; }
  };
  BOOST_CHECK_THROW(SerialIterator(Counting(3), 1, {.order_sampler = None(Order())}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(errors) {
  const auto message = [](auto&& f) { return message_of<catena::ValueError>(f); };
  BOOST_TEST(message([] { RandomSampler({.num_samples = 0}); }) == "RandomSampler: num_samples is 0; it is at least 1");
  BOOST_TEST(has(message([] { WeightedRandomSampler({1, -2}); }), "the weight of example 1 is -2"));
  BOOST_TEST(has(message([] { WeightedRandomSampler({1, std::numeric_limits<double>::infinity()}); }), "example 1"));
  BOOST_TEST(has(message([] { WeightedRandomSampler({0, 0}); }), "no weight above 0"));
  BOOST_CHECK_THROW(WeightedRandomSampler(std::vector<double>()), catena::ValueError);
  BOOST_CHECK_THROW(WeightedRandomSampler({1, 1}, {.num_samples = 0}), catena::ValueError);
  BOOST_CHECK_THROW(WeightedRandomSampler({1e308, 1e308}), catena::ValueError);
  BOOST_TEST(has(message([] {
                   WeightedRandomSampler({1, 0, 2}, {.replacement = false});
                 }),
                 "3 examples cannot be drawn without replacement from 2 weights"));
  BOOST_CHECK_THROW(WeightedRandomSampler(floats({1, 2}, {1, 2})), catena::ValueError);
  BOOST_TEST(has(message([] {
                   SerialIterator(Counting(3), 1, {.order_sampler = WeightedRandomSampler({1, 2})});
                 }),
                 "there are 2 weights, but the dataset has 3 examples"));
  BOOST_TEST(has(message([] { LengthGroupedSampler({1, 2}, 2).length(3); }), "there are 2 lengths"));
  BOOST_CHECK_THROW(LengthGroupedSampler({1, 2}, 0), catena::ValueError);
  BOOST_CHECK_THROW(LengthGroupedSampler({1, -2}, 1), catena::ValueError);
  BOOST_CHECK_THROW(LengthGroupedSampler({1, 2}, 1, {.pool_batches = 0}), catena::ValueError);
  BOOST_CHECK_THROW(LengthGroupedSampler({1, 2}, 3, {.drop_last = true}).length(2), catena::ValueError);
  BOOST_CHECK_THROW(SubsetRandomSampler(Order{}), catena::ValueError);
  BOOST_TEST(has(message_of<catena::IndexError>([] {
                   SerialIterator(Counting(3), 1, {.order_sampler = SubsetRandomSampler({0, 3})});
                 }),
                 "the index 3 is out of range for a dataset of 3"));
  // An order has one source.
  for (const bool shuffle : {false, true}) {
    const std::string both = "shuffle and order_sampler are both given; the sampler defines the order";
    const SequentialSampler order;
    BOOST_TEST(has(message([&] { SerialIterator(Counting(3), 1, {.shuffle = shuffle, .order_sampler = order}); }),
                   "SerialIterator: " + both));
    BOOST_TEST(has(message([&] { MultithreadIterator(Counting(3), 1, {.shuffle = shuffle, .order_sampler = order}); }),
                   "MultithreadIterator: " + both));
    BOOST_TEST(has(message([&] { MultiprocessIterator(Counting(3), 1, {.shuffle = shuffle, .order_sampler = order}); }),
                   "MultiprocessIterator: " + both));
  }
  autograd::Generator g{1, 0};
  for (const bool replacement : {false, true})
    BOOST_TEST(has(message([&] { order_of(RandomSampler({.replacement = replacement, .num_samples = 3}), 0, g); }),
                   "num_samples is 3, but the dataset is empty"));
  for (const Order& wrong : {Order{}, Order{0, 1, 2}}) {
    const auto given = [&](const OrderContext&) { return wrong; };
    BOOST_TEST(has(message([&] { order_of(DistributedSampler({.size = 2, .sampler = given}), 4, g); }),
                   "its sampler gave an order of " + std::to_string(wrong.size()) + " indices; its length() is 4"));
  }
  for (const auto& [rank, size] : {std::pair(0, 0), std::pair(2, 2), std::pair(-1, 2)})
    BOOST_CHECK_THROW(DistributedSampler({.rank = rank, .size = size}), catena::ValueError);
  BOOST_CHECK_THROW(DistributedSampler({.size = 3, .drop_last = true}).length(2), catena::ValueError);
  BOOST_CHECK_THROW(FunctionSampler(nullptr), catena::TypeError);
}

BOOST_AUTO_TEST_SUITE_END()
