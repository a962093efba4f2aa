// A rank that fails ends the others: they do not wait for it until their time limit, wherever they are.
#include <atomic>
#include <chrono>

#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/rank_threads.h>
#include <catena/training/multi_node/early_stopping.h>
#include <catena/training/multi_node/iterators.h>
#include <catena/training/multi_node/ranks.h>

using namespace test;
using namespace training;

namespace {

// Runs `program` on ranks, each of which ends its part in the run as soon as it has thrown. Returns the messages.
template <class F> std::vector<std::string> messages_of_ending_ranks(int n, const F& program) {
  std::vector<std::string> messages(static_cast<std::size_t>(n));
  communicators::run_thread_ranks(n, [&](catena::Shared<communicators::Transport> transport) {
    const int rank = transport->rank();
    messages[std::size_t(rank)] = message_if_thrown<catena::Error>([&] {
      const Comm comm = Comm::make("naive", std::exchange(transport, {}));
      program(comm);
    });
  });
  return messages;
}

// A trainer that communicates in each iteration, and an extension that fails at iteration 3 of rank 1.
void train(const Comm& comm, const std::string& out, TriggerSpec stop) {
  Trainer trainer(FakeUpdater(10, [&](std::int64_t) { comm->barrier(); }), std::move(stop), out);
  trainer.extend(
      [&](Trainer& t) {
        t.observation().set("x", 1.0);
        catena::check<catena::IOError>(comm->rank() != 1 || t.updater().iteration() < 3, "plot", "the disk is full");
      },
      {.name = "plot", .priority = PRIORITY_WRITER});
  trainer.extend(ObservationAggregator(comm, "x"));
  trainer.run();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(multi_node_failures)

BOOST_AUTO_TEST_CASE(an_extension_of_one_rank) {
  const TemporaryFolder folder("multi_node_failure");
  for (const int size : {2, 3, 4}) {
    const auto messages = messages_of_ending_ranks(
        size, [&](const Comm& comm) { train(comm, folder / "out", TriggerSpec(100, iteration)); });
    for (int r = 0; r < size; ++r) {
      const std::string& m = messages[std::size_t(r)];
      // Each names its own extension and iteration.
      BOOST_TEST(has(m, r == 1 ? "extension plot at iteration 3: plot: the disk is full"
                               : "ObservationAggregator at iteration 3: "),
                 m);
    }
  }
}

// The exception that the whole run throws is that of the rank that failed.
BOOST_AUTO_TEST_CASE(the_cause_is_thrown) {
  const TemporaryFolder folder("multi_node_failure_cause");
  const std::string m = message_of<catena::IOError>([&] {
    by_rank(3, [&](const Comm& comm) {
      train(comm, folder / "out", MultiNodeEarlyStoppingTrigger(comm, {.monitor = "x"}));
      return 0;
    });
  });
  BOOST_TEST(has(m, "the disk is full"), m);
}

// on_all_ranks: every rank throws after every rank has run, and the first one that failed is named.
BOOST_AUTO_TEST_CASE(all_ranks_throw) {
  std::atomic<int> calls{0};
  const auto run = [&](const Comm& comm, int first_bad) {
    internal::on_all_ranks(*comm, "op", [&] {
      ++calls;
      catena::check<catena::KeyError>(comm->rank() < first_bad, "f", "rank ", comm->rank());
    });
  };
  const auto messages = messages_by_rank<catena::Error>(4, [&](const Comm& comm) { run(comm, 2); });
  BOOST_TEST(calls == 4);
  for (const std::size_t r : {0u, 1u}) BOOST_TEST(messages[r] == "op: rank 2 has failed: f: rank 2");
  for (const std::size_t r : {2u, 3u}) BOOST_TEST(messages[r] == catena::concat("f: rank ", r));
  for (const std::string& m : messages_by_rank<catena::Error>(3, [&](const Comm& comm) { run(comm, 3); }))
    BOOST_TEST(m == "(nothing was thrown)");
  // Exceptions without a text, and of other classes.
  const auto empty = messages_by_rank<catena::RuntimeError>(2, [](const Comm& comm) {
    internal::on_all_ranks(*comm, "op", [&] {
      if (comm->rank() == 0) throw std::runtime_error("");
    });
  });
  BOOST_TEST(empty[1] == "op: rank 0 has failed: ");
  const auto other = by_rank(2, [](const Comm& comm) -> std::string {
    try {
      internal::on_all_ranks(*comm, "op", [&] {
        if (comm->rank() == 0) throw 5;
      });
    } catch (int n) {
      return catena::concat(n);
    } catch (const catena::RuntimeError& e) {
      return e.what();
    }
    return "nothing";
  });
  BOOST_TEST(other[0] == "5");
  BOOST_TEST(has(other[1], "not derived from std::exception"));
}

BOOST_AUTO_TEST_SUITE_END()
