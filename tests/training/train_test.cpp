// train(): the same as the trainer that it stands for; its options.
#include <catena/training/train.h>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/optimizers.h>
#include <catena/training/triggers.h>

using namespace test;
using namespace training;

namespace {

const auto each = boost::test_tools::per_element();

struct Data {
  TupleDataset train, test;
  Data() : train(arrays(30, 1)), test(arrays(7, 2)) {}
  static std::vector<Array> arrays(std::int64_t n, std::uint64_t seed) {
    autograd::Generator fixed{seed, 0};
    std::vector<std::int32_t> labels;
    for (std::int64_t i = 0; i < n; ++i) labels.push_back(std::int32_t(i % 3));
    return {autograd::random_normal({n, 4}, 0, 1, Dtype::float32, fixed), ints(labels)};
  }
};

std::vector<std::string> names_of(const LogEntry& entry) {
  std::vector<std::string> names;
  for (const auto& [key, value] : entry) names.push_back(key);
  return names;
}

std::vector<double> weights(nn::Link& model) {
  std::vector<double> all;
  for (const Variable& p : model.params())
    for (const double v : values(p.data())) all.push_back(v);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(train_function)

BOOST_AUTO_TEST_CASE(the_trainer_that_it_stands_for) {
  const Data data;
  const TemporaryFolder folder("train"), by_hand("train_by_hand");
  autograd::seed(3);
  nn::Classifier model{TinyMLP()};
  const Log log = training::train(model, data.train, data.test,
                                  {.epochs = 3, .batch_size = 4, .out = folder.path.string(), .verbose = false});
  BOOST_REQUIRE(log.size() == 3u);
  const std::vector<std::string> names{"main/loss", "main/accuracy", "validation/main/loss", "validation/main/accuracy",
                                       "epoch",     "iteration",     "elapsed_time"};
  BOOST_TEST(names_of(log[2]) == names, each);
  BOOST_TEST(to_json(log_from_json(file_content(folder / "log"), "log")) == to_json(log));

  autograd::seed(3);
  nn::Classifier other{TinyMLP()};
  Adam adam;
  adam.setup(other);
  SerialIterator train_iter(data.train, 4), test_iter(data.test, 4, {.repeat = false, .shuffle = false});
  Trainer trainer(StandardUpdater(train_iter, adam), {3, epoch}, by_hand.path.string());
  trainer.extend(Evaluator(test_iter, other, {.weighted = true}));
  const LogReport& report = trainer.extend(LogReport());
  trainer.run();
  BOOST_TEST(weights(model) == weights(other), each);
  for (std::size_t i = 0; i < 3; ++i)
    for (const char* key : {"main/loss", "validation/main/loss", "validation/main/accuracy"})
      BOOST_TEST(log[i].number(key) == report.log()[i].number(key));
}

BOOST_AUTO_TEST_CASE(optimizers_and_losses_of_the_caller) {
  const TemporaryFolder folder("train_options");
  nn::Linear model(1, 1, {.nobias = true, .initialW = 0.0});
  SGD sgd(0.25);
  sgd.setup(model);
  int hooks = 0;
  sgd.add_hook([&](Optimizer&) { ++hooks; }, "count");
  const Array x = floats({1, 1, 1, 1}, {4, 1});
  const Log log = training::train(model, x,
                                  {.epochs = 1,
                                   .batch_size = 2,
                                   .optimizer = sgd,
                                   .out = folder.path.string(),
                                   .verbose = false,
                                   .loss_func = [&](const Variables& v) {
                                     return nn::mean_squared_error(model(v[0]), Variable(floats({1, 1}, {2, 1})));
                                   }});
  BOOST_TEST(hooks == 2);  // setup() was not called again, which would remove them
  // w <- w - 0.25 * 2 (w - 1), twice from 0
  BOOST_TEST(values(model.W.data())[0] == 0.75);
  BOOST_TEST(log.size() == 1u);
  BOOST_TEST(!log[0].contains("validation/main/loss"));
  // One that is not set up yet.
  MomentumSGD momentum(0.01);
  nn::Classifier classifier{TinyMLP()};
  const Data data;
  training::train(classifier, data.train,
                  {.epochs = 1, .optimizer = momentum, .out = folder.path.string(), .verbose = false});
  BOOST_TEST(momentum.t() == 1);
  BOOST_TEST(&momentum.target() == &classifier);
}

BOOST_AUTO_TEST_CASE(a_program_that_is_started_again) {
  const Data data;
  const TemporaryFolder folder("train_resume"), whole_folder("train_whole");
  const auto run = [&](double epochs, std::uint64_t seed, const std::string& out) {
    autograd::seed(seed);
    nn::Classifier model{TinyMLP()};
    const Log log = training::train(model, data.train, data.test,
                                    {.epochs = epochs, .batch_size = 5, .out = out, .verbose = false, .resume = true});
    BOOST_TEST(double(log.size()) == epochs);
    return weights(model);
  };
  const std::vector<double> whole = run(4, 1, whole_folder.path.string());
  run(2, 1, folder.path.string());
  BOOST_TEST(run(4, 77, folder.path.string()) == whole, each);
}

BOOST_AUTO_TEST_CASE(errors) {
  const Data data;
  nn::Classifier model{TinyMLP()};
  const auto text = [&](TrainOptions options) {
    return message_of<catena::ValueError>([&] { training::train(model, data.train, data.test, options); });
  };
  BOOST_TEST(text({.epochs = 0}) ==
             "train: epochs is 0 and batch_size 32; epochs must be positive and batch_size at least 1");
  BOOST_TEST(text({.batch_size = 0}) ==
             "train: epochs is 10 and batch_size 0; epochs must be positive and batch_size at least 1");
}

// The names of Chainer's modules.
BOOST_AUTO_TEST_CASE(names_of_modules) {
  BOOST_TEST((std::is_same_v<extensions::Evaluator, Evaluator>));
  BOOST_TEST((std::is_same_v<triggers::MaxValueTrigger, MaxValueTrigger>));
  TinyMLP model;
  const TemporaryFolder folder("modules");
  extensions::SnapshotObject best = extensions::snapshot_object(model, "best.npz", {.n_retains = 1});
  extensions::Snapshot all = extensions::snapshot();
  BOOST_TEST(best.default_name() == "snapshot_object");
  BOOST_TEST(all.default_name() == "snapshot");
}

BOOST_AUTO_TEST_SUITE_END()
