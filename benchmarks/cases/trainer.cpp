// An epoch of Chainer's examples/mnist on generated data of the same form, with a trainer and all extensions of the
// example, and with a hand-written loop that does the same: training with loss and accuracy, validation, and at the end
// a file of the model and one of the optimizer.
#include <algorithm>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include <catena/benchmarks/cases.h>
#include <catena/benchmarks/files.h>
#include <catena/benchmarks/networks.h>

namespace bench {
namespace {

using training::TupleDataset;

constexpr int kClasses = 10;

struct Means {
  double loss = 0, validation_loss = 0, validation_accuracy = 0;
};

struct Epochs {
  nd::Array x, t, test_x, test_t;
  nn::Classifier<MLP> model;
  // PyTorch adds eps to the corrected deviation, Chainer to the uncorrected one; this eps is so small that it makes no
  // difference.
  training::Adam adam{{.eps = 1e-12}};
  std::int64_t batch;
  TemporaryFolder folder;
  std::ofstream printed{"/dev/null"};
  std::vector<autograd::Array> initial;  // weights and biases

  explicit Epochs(const Parameters& p)
      : x(uniform({p.at("images"), 784}, 0)),
        t(labels(p.at("images"), 1, kClasses)),
        test_x(uniform({p.at("tests"), 784}, 2)),
        test_t(labels(p.at("tests"), 3, kClasses)),
        model(MLP(p)),
        batch(p.at("batch")) {
    for (const autograd::Variable& p : model.params()) initial.push_back(autograd::copy(p.data()));
  }

  // Every epoch is the first one: in a long training, inactive units have moments that become subnormal numbers, with
  // which an update is slower.
  void restart() {
    const std::vector<autograd::Variable> params = model.params();
    for (std::size_t i = 0; i < params.size(); ++i) autograd::assign(params[i].data(), initial[i]);
    adam.setup(model);
  }

  // Runs an epoch over the first `n` examples of both sets.
  Means by_trainer(std::int64_t n, bool shuffle) {
    restart();
    const auto of_first = [n](const nd::Array& images, const nd::Array& numbers) {
      const nd::Slice first(0, std::min(n, images.shape(0)));
      return TupleDataset({images(first), numbers(first)});
    };
    training::SerialIterator train_iter(of_first(x, t), batch, {.shuffle = shuffle}),
        test_iter(of_first(test_x, test_t), batch, {.repeat = false, .shuffle = false});
    training::Trainer trainer(training::StandardUpdater(train_iter, adam), {1, training::epoch}, folder.path());
    trainer.extend(training::Evaluator(test_iter, model, {.weighted = true}));
    trainer.extend(training::dump_graph("main/loss"));
    trainer.extend(training::Snapshot());
    const training::LogReport& report = trainer.extend(training::LogReport());
    trainer.extend(training::PrintReport(
        {"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy", "elapsed_time"},
        {.out = &printed}));
    trainer.extend(training::ProgressBar({.out = &printed}));
    trainer.run();
    const auto value = [&](const char* key) { return report.log().back().number(key); };
    return {value("main/loss"), value("validation/main/loss"), value("validation/main/accuracy")};
  }

  Means by_hand(std::int64_t n, bool shuffle) {
    restart();
    const std::int64_t size = std::min(n, x.shape(0)), tests = std::min(n, test_x.shape(0));
    std::vector<std::int64_t> order(std::size_t(size), 0);
    std::iota(order.begin(), order.end(), 0);
    if (shuffle) order = training::permutation(size, autograd::default_generator());
    double loss = 0, accuracy = 0;
    for (std::int64_t i = 0; i < size; i += batch) {
      const std::int64_t end = std::min(i + batch, size);
      const nd::Array chosen = nd::array(std::vector<std::int64_t>(order.begin() + i, order.begin() + end));
      adam.update(model, nd::take(x, chosen, 0), nd::take(t, chosen, 0));
      loss += model.loss.item<double>() * double(end - i);
      accuracy += model.accuracy.item<double>() * double(end - i);
    }
    Means means{loss / double(size), 0, 0};
    {
      const auto no_graph = autograd::no_backprop_mode();
      const auto testing = autograd::train_mode(false);
      for (std::int64_t i = 0; i < tests; i += batch) {
        const nd::Slice some(i, std::min(i + batch, tests));
        const double share = double(std::min(batch, tests - i)) / double(tests);
        model(test_x(some), test_t(some));
        means.validation_loss += model.loss.item<double>() * share;
        means.validation_accuracy += model.accuracy.item<double>() * share;
      }
    }
    printed << means.loss << ' ' << means.validation_loss << ' ' << accuracy / double(size) << ' '
            << means.validation_accuracy << std::endl;
    nn::serializers::save_npz(folder.path() + "/model", model, false);
    nn::serializers::save_npz(folder.path() + "/optimizer", adam, false);
    return means;
  }
};

// The compared result is the means of an epoch of a few batches in the order of the data, because rounding errors grow
// from update to update.
template <Means (Epochs::*run)(std::int64_t, bool)> Ready epochs(const Parameters& p) {
  auto e = std::make_shared<Epochs>(p);
  const std::int64_t n = p.at("images"), few = 5 * p.at("batch");
  return {repeated([e, n] { ((*e).*run)(n, true); }), [e, few] {
            const Means means = ((*e).*run)(few, false);
            return nd::array(
                std::vector<float>{float(means.loss), float(means.validation_loss), float(means.validation_accuracy)});
          }};
}

// Epochs of 60 updates, as for a tenth of MNIST with batches of 100; of 600 if an update takes microseconds.
Parameters sizes(Draw& draw) {
  const std::int64_t batch = draw.at_most(draw.one_of({1, 8, 32, 100, 256}));
  const std::int64_t images = batch * (batch < 10 ? 600 : 60);
  return {{"batch", batch}, {"units", draw.length(10, draw.at_most(1000))}, {"images", images}, {"tests", images / 6}};
}

const Parameters full{{"batch", 100}, {"units", 1000}, {"images", 6000}, {"tests", 1000}},
    tiny{{"batch", 3}, {"units", 5}, {"images", 16}, {"tests", 7}};

const Cases cases{{"training/trainer_cost", full, tiny, epochs<&Epochs::by_trainer>, sizes},
                  {"training/loop_cost", full, tiny, epochs<&Epochs::by_hand>, sizes}};

}  // namespace
}  // namespace bench
