// An optimizer of one's own whose update is a kernel given as text, and the generators of ndarray in seeds and
// snapshots.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <catena/autograd/capture.h>
#include <catena/catena.h>

using autograd::Array;
using autograd::Variable;

namespace {

class RMSpropByText : public training::Optimizer {
 public:
  explicit RMSpropByText(double lr)
      : Optimizer({.name = "RMSpropByText", .hyper = {{"lr", lr}, {"alpha", 0.99}}, .states = {{"ms"}}}) {}

 protected:
  void update_one(Variable& param, std::span<Array> states) override {
    static const nd::ElementwiseKernel kernel(
        "T g, T lr, T alpha", "T p, T ms", "ms = alpha * ms + (1 - alpha) * g * g; p -= lr * g / (sqrt(ms) + T(1e-8))",
        "rmsprop_by_text");
    const nd::Array g = param.grad(), p = param.data(), ms = states[0];
    const nd::Operand arguments[] = {g, lr(), get_hyper("alpha"), p, ms};
    kernel.call(arguments);
  }
};

template <class O> std::vector<float> trained(O optimizer) {
  autograd::seed(4);
  nn::Classifier<nn::Linear> model(nn::Linear(3, 2));
  optimizer.setup(model);
  const Variable x(autograd::array<float>({1, 2, 3, -1, .5f, 2}, {2, 3})),
      t(autograd::array<std::int32_t>({0, 1}, {2}));
  for (int i = 0; i < 4; ++i) optimizer.update(model, x, t);
  return autograd::to_vector<float>(model.predictor.W.data());
}

std::vector<double> drawn() { return nd::random::standard_normal({3}).to_vector<double>(); }

// A model whose inputs are noise of nd::random.
struct NoiseRun {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("catena_noise_" + std::to_string(::getpid()));
  nn::Linear model{2, 1};
  training::SGD sgd{0.1};
  training::SerialIterator data{training::TupleDataset({autograd::arrays::ones({4, 2})}), 2};
  training::Trainer trainer;
  explicit NoiseRun(double iterations)
      : trainer((sgd.setup(model),
                 training::StandardUpdater(
                     data, sgd,
                     {.loss_func =
                          [this](const autograd::Variables& v) {
                            const Array noise = nd::random::standard_normal({2, 2}, {.dtype = nd::float32});
                            return autograd::sum(autograd::square(model(v[0] * Variable(noise))));
                          }})),
                {iterations, training::iteration}, folder.string()) {
    trainer.extend(training::Snapshot({.filename = "s", .trigger = {3, training::iteration}}));
  }
  ~NoiseRun() { std::filesystem::remove_all(folder); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(own_optimizers_on_ndarray)

BOOST_AUTO_TEST_CASE(a_kernel_given_as_text) {
  const std::vector<float> mine = trained(RMSpropByText(0.01)), theirs = trained(training::RMSprop(0.01));
  BOOST_REQUIRE(mine.size() == theirs.size());
  for (std::size_t i = 0; i < mine.size(); ++i) BOOST_TEST(std::abs(mine[i] - theirs[i]) < 1e-6f);
}

// Replays would not see the hyperparameters of their time.
BOOST_AUTO_TEST_CASE(update_one_cannot_be_captured) {
  if (nd::current_device().kind != nd::Device::Kind::cuda) return;
  nn::Linear model(3, 2);
  RMSpropByText optimizer(0.01);
  optimizer.setup(model);
  const auto step = [&] {
    optimizer.update([&] { return autograd::sum(autograd::square(model(Variable(autograd::arrays::ones({2, 3}))))); });
  };
  step();
  std::string message;
  try {
    autograd::CapturedWork work(step);
  } catch (const catena::RuntimeError& e) {
    message = e.what();
  }
  BOOST_TEST(message.find("RMSpropByText: update_one cannot be captured") != std::string::npos, message);
}

BOOST_AUTO_TEST_CASE(one_seed_for_all_generators) {
  autograd::seed(11);
  const std::vector<double> a = drawn();
  const auto weights = autograd::to_vector<double>(
      autograd::random_normal({3}, 0, 1, autograd::Dtype::float64, autograd::default_generator()));
  drawn();
  autograd::seed(11);
  BOOST_TEST(drawn() == a, boost::test_tools::per_element());
  nd::random::seed(11);
  BOOST_TEST(drawn() == a, boost::test_tools::per_element());
  BOOST_TEST((a != weights));  // the same seed, and yet numbers of their own
  autograd::seed(12);
  BOOST_TEST((drawn() != a));
}

BOOST_AUTO_TEST_CASE(snapshots_hold_the_generators_of_ndarray) {
  autograd::seed(5);
  NoiseRun whole(7);
  whole.trainer.run();
  const auto expected = autograd::to_vector<float>(whole.model.W.data());
  const std::vector<double> next = drawn();

  autograd::seed(5);
  NoiseRun first(3);
  first.trainer.run();
  autograd::seed(99);
  drawn();
  NoiseRun second(7);
  nn::serializers::load_npz((first.folder / "s").string(), second.trainer);
  second.trainer.run();
  BOOST_TEST(autograd::to_vector<float>(second.model.W.data()) == expected, boost::test_tools::per_element());
  BOOST_TEST(drawn() == next, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
