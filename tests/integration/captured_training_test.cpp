// Steps of training that are captured once and replayed are the steps that are not, by hand and by an updater. On CUDA
// a step is a graph; on the CPU replay() calls the function again, and the same must hold.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/capture.h>
#include <catena/catena.h>
#include <catena/tests/integration/captured_training.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/pattern.h>
#include <catena/tests/support/training_fixtures.h>

using autograd::Array;
using autograd::Variable;
using autograd::Variables;

namespace {

using namespace captured;

template <class Optimizer> void change_rate(Optimizer& o, int k) {
  if (k == 10) o.set_hyper(o.hyper_names().front(), 0.02);
}

template <class Optimizer> void compare(bool expect_graph) {
  Run<Optimizer> plain;
  for (int k = 0; k < kSteps; ++k) {
    plain.next_batch(k);
    change_rate(plain.optimizer, k);
    plain.step();
    plain.note();
  }
  const std::string expected = plain.state();

  Run<Optimizer> captured;
  autograd::CapturedWork work([&] { captured.step(); });
  BOOST_TEST(work.is_graph() == expect_graph);
  captured.note();
  for (int k = 1; k < kSteps; ++k) {
    captured.next_batch(k);
    change_rate(captured.optimizer, k);
    work.replay();
    captured.note();
  }
  BOOST_TEST(captured.losses == plain.losses);
  BOOST_TEST((captured.state() == expected), "states differ");
  BOOST_TEST(captured.optimizer.t() == kSteps);
}

// ---- what a trainer runs ------------------------------------------------------------------------
constexpr int kExamples = 5 * kBatch + 3;

// Sweeps in order, whose last batch is short. The arrays are on the host, as those of a data set read from files.
class ShortLast : public training::Iterator {
 public:
  std::optional<training::Batch> next() override {
    previous_ = epoch_detail();
    const std::int64_t n = std::min<std::int64_t>(kBatch, kExamples - position_);
    std::vector<float> x;
    std::vector<std::int32_t> t;
    for (std::int64_t i = position_; i < position_ + n; ++i) {
      for (int k = 0; k < 6; ++k) x.push_back(float(std::sin(1.3 * double(i) + 0.7 * k)));
      t.push_back(std::int32_t(i * 7 % 3));
    }
    position_ = (position_ + n) % kExamples;
    epoch_ += position_ == 0;
    training::Batch batch;
    const autograd::Device host;
    batch.stacked =
        training::Example(std::vector<Array>{autograd::array(x, {n, 6}, host), autograd::array(t, {n}, host)});
    return batch;
  }
  std::int64_t batch_size() const override { return kBatch; }
  std::int64_t epoch() const override { return epoch_; }
  double epoch_detail() const override { return double(epoch_) + double(position_) / kExamples; }
  std::optional<double> previous_epoch_detail() const override { return previous_; }
  bool is_new_epoch() const override { return position_ == 0; }
  void serialize(nn::Serializer& s) override {
    s("position", position_);
    s("epoch", epoch_);
  }

 private:
  std::int64_t position_ = 0, epoch_ = 0;
  std::optional<double> previous_;
};

std::string bytes_of(const nn::serializers::DictionarySerializer& s) {
  std::string all;
  for (const auto& e : s.entries())
    if (e.key.find("elapsed_time") == std::string::npos && e.key.find("_log") == std::string::npos)
      all += e.key + "=" + e.text + std::string(reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size()) + ";";
  return all;
}

struct Training {
  nn::Classifier<Net> model;
  training::Adam optimizer;
  ShortLast batches;
  training::StandardUpdater updater;
  explicit Training(bool capture, training::LossFunction loss = {})
      : model((autograd::seed(5), Net())),
        optimizer({.alpha = 0.01}),
        updater(batches, (optimizer.setup(model), optimizer),
                {.device = autograd::default_backend().default_device(),
                 .loss_func = std::move(loss),
                 .capture = capture}) {
    optimizer.add_hook(training::GradientClipping(0.5));
  }
  void updates(int n) {
    for (int k = 0; k < n; ++k) updater.update();
  }
  std::string state() {
    nn::serializers::DictionarySerializer s;
    updater.serialize(s);
    const autograd::Generator& g = autograd::default_generator();
    return bytes_of(s) + std::to_string(g.seed) + "/" + std::to_string(g.offset);
  }
};

std::vector<double> grads_of(nn::Link& model) {
  std::vector<double> all;
  for (const Variable& p : model.params())
    for (const double v : autograd::to_vector<double>(p.grad())) all.push_back(v);
  return all;
}

// A trainer's run: what it reports in each iteration, read after the last one, its log and its state at the end.
struct Outcome {
  std::vector<double> losses;
  std::string log, state;
};

struct TrainerRun {
  test::TemporaryFolder folder{"captured_training"};
  Training training;
  training::Trainer trainer;
  training::LogReport& log;
  std::vector<nn::Observed> losses;
  TrainerRun(bool capture, int iterations)
      : training(capture),
        trainer(training.updater, {double(iterations), training::iteration}, folder.path.string()),
        log(trainer.extend(training::LogReport({.log_name = {}}))) {
    trainer.extend([this](training::Trainer& t) {
      losses.push_back(t.observation().at("main/loss"));
      if (t.updater().iteration() == 5) training.optimizer.set_hyper("alpha", 0.002);
    });
  }
  Outcome run() {
    trainer.run();
    Outcome result;
    for (const nn::Observed& l : losses) result.losses.push_back(l.value());
    training::Log without_times = log.log();
    for (training::LogEntry& e : without_times) e.erase("elapsed_time");
    result.log = training::to_json(without_times);
    nn::serializers::DictionarySerializer s;
    trainer.serialize(s);
    result.state = bytes_of(s);
    return result;
  }
};

BOOST_AUTO_TEST_SUITE(captured_training)

BOOST_AUTO_TEST_CASE(replays_are_steps_of_adam) { compare<training::Adam>(on_cuda()); }
BOOST_AUTO_TEST_CASE(replays_are_steps_of_momentum) { compare<training::MomentumSGD>(on_cuda()); }

// The bias correction of a parameter that has missed updates follows set_t(), also between replays.
BOOST_AUTO_TEST_CASE(a_number_of_updates_that_is_set) {
  const auto begin = [](Run<training::Adam>& run) {
    for (int k = 0; k < 3; ++k) {
      run.optimizer.update_rule("/predictor/l1/W").set_enabled(k == 2);
      run.next_batch(k);
      run.step();
    }
  };
  const auto prepare = [](Run<training::Adam>& run, int k) {
    run.next_batch(k);
    if (k == 5) run.optimizer.set_t(1);
  };
  Run<training::Adam> plain, captured;
  autograd::seed(4);
  begin(plain);
  for (int k = 3; k < 8; ++k) {
    prepare(plain, k);
    plain.step();
  }
  const std::string expected = plain.state();
  autograd::seed(4);
  begin(captured);
  prepare(captured, 3);
  autograd::CapturedWork work([&] { captured.step(); });
  for (int k = 4; k < 8; ++k) {
    prepare(captured, k);
    work.replay();
  }
  BOOST_TEST((captured.state() == expected), "states differ");
}

BOOST_AUTO_TEST_CASE(random_draws_go_on) {
  const auto draw = [] {
    return autograd::random_normal({100}, 0, 1, autograd::Dtype::float32, autograd::default_generator());
  };
  autograd::seed(11);
  Array a;
  autograd::CapturedWork work([&] { a = draw(); });
  const std::vector<float> first = autograd::to_vector<float>(a);
  work.replay();
  const std::vector<float> second = autograd::to_vector<float>(a);
  autograd::seed(11);
  BOOST_TEST(first == autograd::to_vector<float>(draw()));
  BOOST_TEST(second == autograd::to_vector<float>(draw()));
}

BOOST_AUTO_TEST_CASE(what_needs_the_host_is_refused) {
  if (!on_cuda()) {
    std::cout << "skipped: only a graph refuses work\n";
    return;
  }
  const Array x = autograd::arrays::ones({3});
  const std::string message = message_of([&] { autograd::CapturedWork([&] { autograd::item(autograd::sum(x)); }); });
  BOOST_TEST(test::has(message, "cannot be recorded in a CUDA graph"), message);
}

BOOST_AUTO_TEST_CASE(what_is_made_in_the_first_step_is_not_captured) {
  if (!has_graphs("errors of captures")) return;
  nn::Classifier<Net> model{Net()};
  training::SGD optimizer;  // has no states
  optimizer.setup(model);
  const Array x = inputs(0), t = labels(0);
  const auto capture = [&] { autograd::CapturedWork([&] { optimizer.update(model, Variable(x), Variable(t)); }); };
  const std::string lazy = message_of(capture);
  BOOST_TEST(lazy.starts_with("/predictor/l1: Linear: Parameter.initialize: a parameter of shape ("), lazy);
  BOOST_TEST(lazy.ends_with(" is made in work that is being captured (run the work once before)"), lazy);
  model(Variable(x), Variable(t));
  BOOST_TEST(message_of(capture) ==
             "SGD: the parameter /predictor/l1/W is new to this optimizer; made in captured work, it would be made "
             "again in every replay "
             "(run the work once before)");
}

// ---- updaters -----------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(an_updater_that_captures_trains_the_same) {
  const Outcome plain = TrainerRun(false, 12).run();
  std::optional<cuda_device::Control> control;
  if (cuda_device::Control::available()) control.emplace().reset_records();
  const Outcome captured = TrainerRun(true, 12).run();
  BOOST_TEST(captured.losses == plain.losses, boost::test_tools::per_element());
  BOOST_TEST(captured.losses.size() == 12u);
  BOOST_TEST(captured.log == plain.log);
  BOOST_TEST(training::log_from_json(captured.log, "log").size() == 2u);
  BOOST_TEST((captured.state == plain.state), "states differ");
  // Two epochs of five batches and a short one: 2 ordinary updates, the capture, 2 replays; short; 5 replays; short.
  if (control) BOOST_TEST(control->calls("cuGraphLaunch") == 8u);
}

BOOST_AUTO_TEST_CASE(gradients_of_a_replay_are_in_the_parameters) {
  Training plain(false);
  plain.updates(8);
  const std::vector<double> expected = grads_of(plain.model);
  Training captured(true);
  for (int k = 0; k < 8; ++k) {  // the 6th is not replayed
    captured.model.cleargrads();
    captured.updater.update();
  }
  BOOST_TEST(grads_of(captured.model) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(replaced_things_lead_to_a_new_capture) {
  std::vector<std::string> states[2];
  for (const bool capture : {false, true}) {
    Training t(capture);
    const auto go_on = [&] {
      t.updates(11);
      states[capture].push_back(t.state());
    };
    go_on();
    Variable W = t.model.predictor.l1.W;
    W.set_data(autograd::copy(W.data()) * 0.5);
    go_on();
    t.model.predictor.bn.avg_var.array() = autograd::arrays::full({16}, 2.0);
    go_on();
    t.optimizer.add_hook(training::WeightDecay(0.05));
    go_on();
    autograd::seed(17);
    go_on();
    {
      const auto testing = autograd::train_mode(false);
      go_on();
    }
    go_on();
    nn::Classifier<Net> another{Net()};
    t.optimizer.setup(another);
    go_on();
    t.optimizer.setup(t.model);
  }
  BOOST_TEST(states[1].size() == 8u);
  for (std::size_t i = 0; i < states[0].size(); ++i) BOOST_TEST((states[0][i] == states[1][i]), "after change " << i);
}

BOOST_AUTO_TEST_CASE(another_shape_is_captured_when_it_stays) {
  if (!cuda_device::Control::available()) {
    std::cout << "skipped: launches are counted by the software CUDA device\n";
    return;
  }
  const auto run = [](bool capture) {
    std::int64_t size = 8;
    Training t(capture);
    const training::Converter converter = [&size](const training::Batch& b, std::optional<autograd::Device> d) {
      training::Example e = training::default_converter(b, d);
      for (Array& a : e.values) a = autograd::slice(a, 0, 0, std::min(size, a.shape(0)));
      return e;
    };
    ShortLast batches;
    training::StandardUpdater updater(
        batches, t.optimizer,
        {.converter = converter, .device = autograd::default_backend().default_device(), .capture = capture});
    for (int k = 0; k < 4; ++k) updater.update();  // captured in the third
    size = 3;                                      // of the short batch, too
    for (int k = 0; k < 5; ++k) updater.update();  // captured in the third
    return t.state();
  };
  const std::string expected = run(false);
  cuda_device::Control control;
  control.reset_records();
  BOOST_TEST((run(true) == expected));
  BOOST_TEST(control.calls("cuGraphLaunch") == 5u);
}

BOOST_AUTO_TEST_CASE(a_snapshot_in_the_middle) {
  const test::TemporaryFolder folder("captured_training_saved");
  const Outcome whole = TrainerRun(true, 12).run();
  {
    TrainerRun first(true, 8);
    first.run();
    nn::serializers::save_npz(folder / "saved", first.trainer);
  }
  TrainerRun second(true, 12);
  autograd::seed(99);  // everything must come from the snapshot
  second.training.optimizer.set_hyper("alpha", 0.002);
  nn::serializers::load_npz(folder / "saved", second.trainer);
  const Outcome resumed = second.run();
  BOOST_TEST(resumed.losses == std::vector<double>(whole.losses.begin() + 8, whole.losses.end()),
             boost::test_tools::per_element());
  BOOST_TEST(resumed.log == whole.log);
  BOOST_TEST((resumed.state == whole.state), "states differ");
}

BOOST_AUTO_TEST_CASE(a_snapshot_into_a_running_updater) {
  Training t(true);
  t.updates(5);
  const test::TemporaryFolder folder("captured_training_saved");
  nn::serializers::save_npz(folder / "saved", t.updater);
  const autograd::Generator generator = autograd::default_generator();
  t.updates(4);
  const std::string expected = t.state();
  t.updates(3);
  nn::serializers::load_npz(folder / "saved", t.updater);
  autograd::default_generator() = generator;
  t.updates(4);
  BOOST_TEST((t.state() == expected), "states differ");
}

BOOST_AUTO_TEST_CASE(a_replayed_update_is_one_launch_of_a_graph_and_never_waits) {
  if (!cuda_device::Control::available()) {
    std::cout << "skipped: launches are counted by the software CUDA device\n";
    return;
  }
  Training t(true);
  nn::Reporter reporter;
  reporter.add_link("main", t.model);
  nn::Observation observation;
  nn::DictSummary summary;
  const nn::Reporter::Scope scope = reporter.scope(observation);
  const auto update = [&] {
    observation.clear();
    t.updater.update();
    summary.add(observation);
  };
  for (int k = 0; k < 6; ++k) update();
  cuda_device::Control control;
  control.reset_records();
  for (int k = 0; k < 4; ++k) {
    t.optimizer.set_hyper("alpha", 0.01 / (k + 2));
    update();
  }
  BOOST_TEST(control.calls("cuGraphLaunch") == 4u);
  // Besides, images and labels are copied into the graph's inputs, loss and accuracy out of its outputs.
  BOOST_TEST(control.calls("cuLaunchKernel") <= 4u * 4);
  BOOST_TEST(control.synchronisations() == std::vector<std::string>(), boost::test_tools::per_element());
  BOOST_TEST(summary.compute_mean().size() == 2u);  // loss and accuracy
  BOOST_TEST(!control.synchronisations().empty());  // which had to be read
}

BOOST_AUTO_TEST_CASE(a_step_that_cannot_be_captured) {
  if (!has_graphs("errors of captures")) return;
  Training* self = nullptr;
  Training reading(true, [&](const Variables& batch) {
    const Variable loss = self->model(batch);
    if (self->updater.iteration() >= 2) autograd::item(loss.data());
    return loss;
  });
  self = &reading;
  reading.updates(2);
  const std::string before = reading.state();
  const ShortLast batches = reading.batches;
  BOOST_TEST(message_of([&] { reading.updater.update(); }) ==
             "copy to the host: cannot be recorded in a CUDA graph, it would have to wait for the device");
  reading.batches = batches;  // which have gone on
  BOOST_TEST((reading.state() == before));

  Training counting(true);
  counting.model.predictor.finetune = true;
  counting.updates(2);
  BOOST_TEST(message_of([&] { counting.updater.update(); }) ==
             "StandardUpdater: the step gives the persistent /predictor/bn/N another value, which a replay cannot do "
             "(write into its "
             "array, or train without capture)");
  BOOST_TEST(counting.model.predictor.bn.N == 2);
  BOOST_TEST(counting.optimizer.t() == 2);

  Training* other = nullptr;
  Training replacing(true, [&](const Variables& batch) {
    Array& mean = other->model.predictor.bn.avg_mean.array();
    mean = mean * 0.5;
    return other->model(batch);
  });
  other = &replacing;
  replacing.updates(2);
  const Array mean = replacing.model.predictor.bn.avg_mean.array();
  BOOST_TEST(message_of([&] { replacing.updater.update(); }) ==
             "StandardUpdater: the step gives the persistent /predictor/bn/avg_mean another array, which a replay "
             "cannot do (write into "
             "its array, or train without capture)");
  BOOST_TEST(replacing.model.predictor.bn.avg_mean.array().get() == mean.get());
}

BOOST_AUTO_TEST_CASE(a_failed_replay_counts_nothing) {
  if (!cuda_device::Control::available()) {
    std::cout << "skipped: failures are planned by the software CUDA device\n";
    return;
  }
  Training t(true);
  t.updates(4);
  const std::int64_t steps = t.optimizer.t();
  const std::uint64_t offset = autograd::default_generator().offset;
  cuda_device::Control control;
  control.fail("cuGraphLaunch", 1, 1);
  BOOST_CHECK_EXCEPTION(t.updater.update(), catena::CudaError,
                        [](const catena::CudaError& e) { return e.symbol() == "CUDA_ERROR_INVALID_VALUE"; });
  control.clear_faults();
  BOOST_TEST(t.optimizer.t() == steps);
  BOOST_TEST(autograd::default_generator().offset == offset);
  t.updater.update();
  BOOST_TEST(t.optimizer.t() == steps + 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
