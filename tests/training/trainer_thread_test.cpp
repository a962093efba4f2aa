// Trainers in several threads at once.
#include <catena/training/trainer.h>

#include <thread>

#include <catena/tests/support/training_run.h>

using namespace test;
using namespace training;

BOOST_AUTO_TEST_SUITE(trainers_in_threads)

// Each thread has its reporter, its generator and its modes: it trains as if alone.
BOOST_AUTO_TEST_CASE(two_at_once) {
  const auto train = [](int which) {
    const TemporaryFolder folder("thread" + std::to_string(which));
    StatefulRun run(std::uint64_t(which + 1), 9, folder.path.string());
    run.trainer.run();
    std::vector<std::string> parts = run.state();
    // The generators of the array library belong to the process; no part of the run draws from them.
    std::erase_if(parts, [](const std::string& p) { return p.starts_with("_catena/random/arrays/"); });
    return parts;
  };
  const std::vector<std::string> alone[] = {train(0), train(1)};
  std::vector<std::string> together[2];
  std::thread first([&] { together[0] = train(0); }), second([&] { together[1] = train(1); });
  first.join();
  second.join();
  for (int i = 0; i < 2; ++i) BOOST_TEST(together[i] == alone[i], boost::test_tools::per_element());
  BOOST_TEST((alone[0] != alone[1]));
}

BOOST_AUTO_TEST_SUITE_END()
