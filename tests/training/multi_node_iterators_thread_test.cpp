// Iterators of several ranks: the same batches, the same positions, the same orders.
#include <catena/training/multi_node/iterators.h>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/rank_threads.h>
#include <catena/training/parallel/iterators.h>

using namespace test;
using namespace training;

namespace {

const auto each = boost::test_tools::per_element();

Array numbers(std::int64_t n, float first = 0) {
  std::vector<float> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(first + float(i));
  return floats(v, {n, 1});
}

// The batch and the position after it.
std::string step(Iterator& iterator) {
  const std::optional<Batch> batch = iterator.next();
  if (!batch) return "end";
  std::string text;
  if (batch->stacked) text = text_of(*batch->stacked);
  for (const Example& e : batch->examples) text += text_of(e);
  for (const std::int64_t i : batch->indices) text += catena::concat(i, ",");
  return catena::concat(text, "|", iterator.epoch(), "|", iterator.epoch_detail(), "|", iterator.is_new_epoch(), "|",
                        iterator.previous_epoch_detail().value_or(-1));
}
std::vector<std::string> steps(Iterator& iterator, int n) {
  std::vector<std::string> all;
  for (int k = 0; k < n; ++k) all.push_back(step(iterator));
  return all;
}

// Fails at its third batch; does not know its batch size.
struct Failing : Iterator {
  int calls = 0;
  std::optional<Batch> next() override {
    catena::check<catena::IOError>(++calls < 3, "Failing", "the disk is gone");
    Batch batch;
    batch.examples.push_back(Example({floats({float(calls)}, {1}), calls}));
    return batch;
  }
  std::int64_t epoch() const override { return 0; }
  double epoch_detail() const override { return 0; }
  bool is_new_epoch() const override { return false; }
  void serialize(nn::Serializer& s) override { s("calls", calls); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(multi_node_iterators)

BOOST_AUTO_TEST_CASE(batches_of_the_master) {
  for (const int size : {1, 2, 3, 4})
    for (const int master : {0, size - 1}) {
      SerialIterator alone(numbers(7), 3, {.seed = 4});
      const std::vector<std::string> expected = steps(alone, 6);
      const auto all = by_rank(size, [&](const Comm& comm) {
        SerialIterator own(numbers(7), 3, {.seed = 4});
        MultiNodeIterator shared = comm->rank() == master ? create_multi_node_iterator(own, comm, master)
                                                          : create_multi_node_iterator(nullptr, comm, master);
        std::vector<std::string> texts = steps(shared, 6);
        texts.push_back(catena::concat(shared.batch_size(), shared.can_reset()));
        return texts;
      });
      for (const auto& texts : all) {
        BOOST_TEST(std::vector<std::string>(texts.begin(), texts.end() - 1) == expected, each);
        BOOST_TEST(texts.back() == "31");
      }
    }
}

BOOST_AUTO_TEST_CASE(the_end_and_a_new_beginning) {
  const auto all = by_rank(3, [&](const Comm& comm) {
    MultiNodeIterator shared =
        create_multi_node_iterator(SerialIterator(numbers(4), 3, {.repeat = false, .shuffle = false}), comm);
    std::vector<std::string> texts = steps(shared, 3);
    shared.reset();
    texts.push_back(catena::concat(shared.epoch(), shared.is_new_epoch()));
    for (const std::string& text : steps(shared, 3)) texts.push_back(text);
    return texts;
  });
  SerialIterator alone(numbers(4), 3, {.repeat = false, .shuffle = false});
  const std::vector<std::string> sweep = steps(alone, 3);
  for (const auto& texts : all) {
    BOOST_TEST(std::vector<std::string>(texts.begin(), texts.begin() + 3) == sweep, each);
    BOOST_TEST(texts[2] == "end");
    BOOST_TEST(texts[3] == "00");
    for (const std::size_t k : {0u, 1u})  // the batches; a SerialIterator keeps the position before the last next()
      BOOST_TEST(texts[4 + k].substr(0, texts[4 + k].rfind('|')) == sweep[k].substr(0, sweep[k].rfind('|')));
  }
}

BOOST_AUTO_TEST_CASE(a_resumed_iterator) {
  const TemporaryFolder folder("multi_node_iterators");
  const auto all = by_rank(2, [&](const Comm& comm) {
    const auto make = [&](std::uint64_t seed) {
      return create_multi_node_iterator(SerialIterator(numbers(7), 3, {.seed = seed}), comm);
    };
    MultiNodeIterator first = make(1), second = make(2);
    steps(first, 4);
    const std::string path = folder / catena::concat("state", comm->rank());
    nn::serializers::save_npz(path, first);
    nn::serializers::load_npz(path, second);
    const bool same = catena::concat(first.epoch(), " ", first.epoch_detail(), first.is_new_epoch()) ==
                      catena::concat(second.epoch(), " ", second.epoch_detail(), second.is_new_epoch());
    const auto rest = steps(first, 5);
    return same && rest == steps(second, 5);
  });
  for (const bool same : all) BOOST_TEST(same);
}

BOOST_AUTO_TEST_CASE(errors_of_the_master) {
  const auto messages = by_rank(3, [](const Comm& comm) {
    MultiNodeIterator shared = create_multi_node_iterator(Failing(), comm, 1);
    std::vector<std::string> texts = steps(shared, 2);
    texts.push_back(message_if_thrown<catena::Error>([&] { shared.next(); }));
    texts.push_back(message_if_thrown<catena::NotImplementedError>([&] { shared.batch_size(); }));
    texts.push_back(message_if_thrown<catena::NotImplementedError>([&] { shared.reset(); }));
    return texts;
  });
  for (std::size_t r = 0; r < 3; ++r) {
    BOOST_TEST(messages[r][1].starts_with("float32(1,):2 ;int64():2 ;"), messages[r][1]);
    BOOST_TEST(messages[r][2] == (r == 1 ? "Failing: the disk is gone"
                                         : "MultiNodeIterator: rank 1 has failed: Failing: the disk is gone"));
    BOOST_TEST(!messages[r][3].starts_with("("), messages[r][3]);
    BOOST_TEST(!messages[r][4].starts_with("("), messages[r][4]);
  }
  for (const std::string& m :
       messages_by_rank<catena::ValueError>(2, [](const Comm& comm) { create_multi_node_iterator(nullptr, comm, 1); }))
    BOOST_TEST(m == "MultiNodeIterator: rank 1, the master, has no iterator");
  for (const std::string& m : messages_by_rank<catena::ValueError>(
           2, [](const Comm& comm) { create_multi_node_iterator(Failing(), comm, -1); }))
    BOOST_TEST(m == "MultiNodeIterator: rank_master is -1, but there are 2 ranks");
}

// Each rank reads its own data, in one order.
BOOST_AUTO_TEST_CASE(synchronized_orders) {
  const auto indices_of = [](Iterator& iterator) {
    std::vector<std::int64_t> all;
    for (int k = 0; k < 8; ++k) {
      const Batch batch = *iterator.next();
      all.insert(all.end(), batch.indices.begin(), batch.indices.end());
    }
    return all;
  };
  const auto all = by_rank(4, [&](const Comm& comm) {
    const auto own_seed = std::uint64_t(comm->rank() + 1);
    SerialIterator serial(numbers(10, float(100 * comm->rank())), 4, {.seed = own_seed});
    if (comm->rank() == 0) serial.next();  // also the position is that of rank 0
    auto same = create_synchronized_iterator(serial, comm);
    auto threads =
        create_synchronized_iterator(MultithreadIterator(numbers(10), 4, {.n_threads = 2, .seed = own_seed}), comm);
    return std::pair(indices_of(same), indices_of(threads));
  });
  SerialIterator alone(numbers(10), 4, {.seed = 1});
  alone.next();
  const std::vector<std::int64_t> expected = indices_of(alone);
  MultithreadIterator alone_too(numbers(10), 4, {.n_threads = 1, .seed = 1});
  const std::vector<std::int64_t> expected_too = indices_of(alone_too);
  for (const auto& [serial, threads] : all) {
    BOOST_TEST(serial == expected, each);
    BOOST_TEST(threads == expected_too, each);
  }
}

BOOST_AUTO_TEST_CASE(iterators_that_differ) {
  const auto sizes = messages_by_rank<catena::Error>(
      2, [](const Comm& comm) { create_synchronized_iterator(SerialIterator(numbers(5 + comm->rank()), 2), comm); });
  BOOST_TEST(sizes[0].starts_with("create_synchronized_iterator: rank 1 has failed: "), sizes[0]);
  BOOST_TEST(!sizes[1].starts_with("("), sizes[1]);
  const auto classes = messages_by_rank<catena::Error>(2, [](const Comm& comm) {
    if (comm->rank() == 0) create_synchronized_iterator(SerialIterator(numbers(5), 2), comm);
    else create_synchronized_iterator(Failing(), comm);
  });
  BOOST_TEST(classes[1] == "create_synchronized_iterator: rank 0 has a SerialIterator, and rank 1 a Failing");
  BOOST_TEST(has(classes[0], "rank 1 has failed: "));
}

BOOST_AUTO_TEST_SUITE_END()
