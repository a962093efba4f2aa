// The mode `train` belongs to a thread: a thread that a scope of another one was probably meant for is told.
#include <atomic>
#include <functional>
#include <thread>

#include <catena/autograd/config.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/replicas.h>
#include <catena/training/parallel/parallel_updater.h>
#include <catena/training/trainer.h>

using namespace test;
using namespace training;

namespace {

// The mode that a new thread reports while it calls f.
std::vector<std::string> said_in_a_thread(const std::function<void()>& f) {
  const Warnings warnings;
  std::thread(f).join();
  return warnings.texts;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(train_modes_of_threads)

BOOST_AUTO_TEST_CASE(a_scope_of_another_thread) {
  StatefulMLP model(4, 3, 0.5);
  const Variable x(autograd::arrays::ones({2, 4}));
  model(x);
  const auto use = [&] { model(x); };
  BOOST_TEST(said_in_a_thread(use).empty());
  for (const bool as_config : {false, true}) {
    std::optional<autograd::TrainScope> scope;
    std::optional<autograd::ConfigScope> config;
    if (as_config) config.emplace(autograd::ConfigOptions{.train = false});
    else scope.emplace(false);
    const std::vector<std::string> said = said_in_a_thread(use);
    BOOST_REQUIRE(said.size() == 2u);
    BOOST_TEST(has(said[0], "BatchNormalization: the mode train is on in this thread"), said[0]);
    BOOST_TEST(has(said[1], "dropout: the mode train is on in this thread"), said[1]);
    BOOST_TEST(has(said[1], "train_mode(false)"), said[1]);
    // A thread that has chosen, either way; arguments of the call; this thread.
    for (const bool train : {true, false})
      BOOST_TEST(said_in_a_thread([&] {
                   const auto own = autograd::train_mode(train);
                   model(x);
                 }).empty());
    BOOST_TEST(said_in_a_thread([&] {
                 { const auto own = autograd::using_config({.train = true}); }
                 model(x);
               }).empty());
    BOOST_TEST(said_in_a_thread([&] {
                 nn::dropout(x, {.train = true});
                 nn::dropout(x, {.train = false});
               }).empty());
    const Warnings warnings;
    use();
    BOOST_TEST(warnings.texts.empty());
  }
  BOOST_TEST(said_in_a_thread(use).empty());
}

// Threads that train beside one that evaluates: a trainer's, and those of an updater with several models.
BOOST_AUTO_TEST_CASE(threads_that_train) {
  const auto scope = autograd::train_mode(false);
  const TemporaryFolder folder("train_threads");
  const auto said = said_in_a_thread([&] {
    Trainer trainer(FakeUpdater(5, [](std::int64_t) { nn::dropout(Variable(autograd::arrays::ones({2}))); }),
                    {2, iteration}, folder.path.string());
    trainer.run();
  });
  BOOST_TEST(said.empty());
  nn::Classifier model{StatefulMLP(4, 3, 0.5)};
  SGD sgd;
  sgd.setup(model);
  SerialIterator it(host_examples(12, true), 6);
  ParallelUpdater updater(it, sgd, model, {.devices = {-1, -1}});
  const auto of_updater = [&] {
    const Warnings warnings;
    const auto training = autograd::train_mode(true);
    updater.update();
    return warnings.texts;
  };
  BOOST_TEST(of_updater().empty());
}

BOOST_AUTO_TEST_SUITE_END()
