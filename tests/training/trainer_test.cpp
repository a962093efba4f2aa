// The trainer and the updater: order of calls, names, errors, and runs that are resumed.
#include <catena/training/trainer.h>

#include <chrono>
#include <cmath>

#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/hooks.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;
using json = test::Json;

namespace {

// Writes a letter whenever it is called; serializes how often.
struct Letter : Extension {
  std::string letter;
  std::string* log;
  std::int64_t calls = 0;
  bool fails_in_finalize = false;
  Letter(std::string l, std::string* to) : letter(std::move(l)), log(to) {}
  void operator()(Trainer&) override {
    *log += letter;
    ++calls;
  }
  void finalize() override {
    *log += "/" + letter;
    if (fails_in_finalize) throw catena::ValueError("finalize of " + letter);
  }
  std::string default_name() const override { return "Letter"; }
  void serialize(nn::Serializer& s) override { s("calls", calls); }
};

struct Fixture {
  TemporaryFolder folder{"trainer"};
  std::string log;
  FakeUpdater updater{2, [this](std::int64_t) { log += "u"; }};
  Trainer trainer{updater, {2, iteration}, folder.path.string()};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(trainers)

BOOST_AUTO_TEST_CASE(order_of_calls) {
  Fixture f;
  f.trainer.extend(Letter("r", &f.log));
  f.trainer.extend(Letter("w", &f.log), {.priority = PRIORITY_WRITER});
  f.trainer.extend(Letter("R", &f.log));  // after r: same priority, later registration
  f.trainer.extend(Letter("s", &f.log), {.trigger = TriggerSpec(2, iteration), .priority = PRIORITY_SNAPSHOT});
  f.trainer.extend(Letter("e", &f.log), {.priority = PRIORITY_EDITOR, .invoke_before_training = true});
  f.trainer.extend(Letter("n", &f.log), {.trigger = TriggerSpec()});  // never
  BOOST_CHECK_THROW(f.trainer.elapsed_time(), catena::RuntimeError);
  const auto start = std::chrono::steady_clock::now();
  f.trainer.run();
  BOOST_TEST(f.log ==
             "e"
             "uwerR"
             "uwerRs"
             "/w/e/r/R/n/s");
  BOOST_TEST(f.updater.finalized == 1);
  BOOST_CHECK_THROW(f.trainer.run(), catena::RuntimeError);
  const double time = f.trainer.elapsed_time();
  BOOST_TEST(time > 0);
  BOOST_TEST(time < std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  BOOST_TEST(f.trainer.elapsed_time() == time);  // frozen
  BOOST_TEST(std::filesystem::is_directory(f.folder.path));
}

BOOST_AUTO_TEST_CASE(shared_extension) {
  Fixture f;
  const auto letter = std::make_shared<Letter>("s", &f.log);
  f.trainer.extend(letter, {.name = "kept"});
  BOOST_TEST(&f.trainer.get_extension("kept") == letter.get());
}

BOOST_AUTO_TEST_CASE(names) {
  Fixture f;
  Letter& a = f.trainer.extend(Letter("a", &f.log));
  Letter& b = f.trainer.extend(Letter("b", &f.log));
  Letter& c = f.trainer.extend(Letter("c", &f.log), {.name = "mine"});
  f.trainer.extend([](Trainer&) {});
  f.trainer.extend([](Trainer&) {});
  BOOST_TEST(a.name() == "Letter");
  BOOST_TEST(b.name() == "Letter_1");
  BOOST_TEST(&f.trainer.get_extension("mine") == &c);
  BOOST_CHECK_THROW(f.trainer.get_extension("absent"), catena::ValueError);
  f.trainer.get_extension("mine")->priority = 7;
  BOOST_TEST(c.priority == 7);
  const std::vector<std::string> expected{"Letter", "Letter_1", "mine", "<lambda>", "<lambda>_1"};
  BOOST_TEST(f.trainer.extension_names() == expected, boost::test_tools::per_element());
  BOOST_TEST(has(message_of<catena::ValueError>([&] { f.trainer.get_extension("other"); }), "Letter_1"));
  BOOST_CHECK_THROW(f.trainer.extend(Letter("x", &f.log), {.name = "training"}), catena::ValueError);
  BOOST_CHECK_THROW(f.trainer.extend(std::function<void(Trainer&)>()), catena::TypeError);
}

BOOST_AUTO_TEST_CASE(the_error_of_the_loop_is_kept) {
  Fixture f;
  f.trainer.extend(Letter("a", &f.log)).fails_in_finalize = true;
  f.trainer.extend([](Trainer&) { throw catena::KeyError("the cause"); }, {.priority = 1});
  f.trainer.extend(Letter("z", &f.log), {.priority = 0});
  BOOST_TEST(message_of<catena::KeyError>([&] { f.trainer.run(); }) == "extension <lambda> at iteration 1: the cause");
  BOOST_TEST(f.log == "ua/a/z");  // everything is finalized
  BOOST_TEST(f.updater.finalized == 1);
  BOOST_CHECK_THROW(nn::get_current_reporter(), catena::RuntimeError);
}

BOOST_AUTO_TEST_CASE(an_error_of_the_stop_trigger_says_so) {
  FakeUpdater updater(5);
  const TemporaryFolder folder("stop");
  const TriggerSpec fails([](Trainer& t) {
    if (t.updater().iteration() == 2) throw catena::ValueError("of the trigger");
    return false;
  });
  Trainer trainer(updater, fails, folder.path.string());
  BOOST_TEST(message_of<catena::ValueError>([&] { trainer.run(); }) ==
             "the stop trigger at iteration 2: of the trigger");
  BOOST_TEST(updater.finalized == 1);
}

BOOST_AUTO_TEST_CASE(an_error_of_finalize_alone_is_reported) {
  Fixture f;
  f.trainer.extend(Letter("a", &f.log)).fails_in_finalize = true;
  f.trainer.extend(Letter("b", &f.log));
  BOOST_TEST(message_of<catena::ValueError>([&] { f.trainer.run(); }) ==
             "the end of the extension Letter: finalize of a");
  BOOST_TEST(f.updater.finalized == 1);
}

BOOST_AUTO_TEST_CASE(observations_are_fresh_and_visible) {
  Fixture f;
  std::vector<double> seen;
  f.trainer.extend([](Trainer& t) { nn::report("doubled", 2.0 * double(t.updater().iteration())); },
                   {.priority = PRIORITY_WRITER});
  f.trainer.extend([&](Trainer& t) {
    seen.push_back(t.observation().at("doubled").value());
    BOOST_TEST(t.observation().size() == 1u);
  });
  f.trainer.run();
  BOOST_TEST(seen == (std::vector<double>{2, 4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(keys_and_missing_extensions) {
  const TemporaryFolder folder("keys");
  {
    Fixture f;
    f.trainer.extend(Letter("a", &f.log));
    f.trainer.extend(Letter("b", &f.log), {.name = "second"});
    BOOST_CHECK_THROW(nn::serializers::save_npz(folder / "t.npz", f.trainer),
                      catena::RuntimeError);  // not started: it has no time
    f.trainer.run();
    nn::serializers::save_npz(folder / "t.npz", f.trainer);
  }
  const catena::NpzReader npz("test", folder / "t.npz");
  for (const char* key :
       {"updater/iteration", "extensions/Letter/calls", "extensions/second/calls", "_snapshot_elapsed_time"})
    BOOST_TEST(npz.contains(key), key);
  Fixture f;
  Letter& a = f.trainer.extend(Letter("a", &f.log));
  nn::serializers::load_npz(folder / "t.npz", f.trainer);  // more in the file than is needed
  BOOST_TEST(a.calls == 2);
  BOOST_TEST(f.updater.iteration() == 2);
  f.trainer.extend(Letter("b", &f.log), {.name = "renamed"});
  const std::string message =
      message_of<catena::KeyError>([&] { nn::serializers::load_npz(folder / "t.npz", f.trainer); });
  BOOST_TEST(has(message, "renamed"));
  BOOST_TEST(has(message, "Letter, second"));
}

BOOST_AUTO_TEST_CASE(updater_errors_and_devices) {
  nn::Classifier<nn::Linear> model(nn::Linear(2, 2));
  const auto data =
      std::make_shared<TupleDataset>(std::vector<Array>{autograd::arrays::ones({4, 2}), ints({0, 1, 0, 1})});
  SerialIterator once(data, 4, {.repeat = false});
  SGD sgd;
  sgd.setup(model);
  StandardUpdater updater(once, sgd);
  updater.update();
  BOOST_TEST(has(message_of<catena::RuntimeError>([&] { updater.update(); }), "ended"));
  BOOST_TEST(updater.iteration() == 1);
  BOOST_CHECK_THROW(updater.get_optimizer("other"), catena::KeyError);
  BOOST_TEST(&updater.get_optimizer("main") == &sgd);
  BOOST_TEST(&updater.get_iterator("main") == &once);
  const autograd::Device home = default_device();
  SerialIterator again(data, 2);
  const auto other = other_device();
  if (!other) {
    BOOST_TEST(says_that_cuda_is_unavailable(
        message_of<catena::RuntimeError>([&] { StandardUpdater(again, sgd, {.device = kCuda}); })));
    BOOST_TEST((model.predictor.W.device() == home));
    return;
  }
  StandardUpdater moved(again, sgd, {.device = *other});
  const std::vector<double> before = values(model.predictor.W.data());
  moved.update();  // batches follow the model
  BOOST_TEST(moved.iteration() == 1);
  BOOST_TEST((model.predictor.W.device() == *other));
  BOOST_TEST((model.loss.data().device() == *other));
  BOOST_TEST((values(model.predictor.W.data()) != before));
}

BOOST_AUTO_TEST_CASE(losses_of_ones_own) {
  nn::Linear model(1, 1);
  const auto data =
      std::make_shared<TupleDataset>(std::vector<Array>{floats({1, 2, 3, 4}, {4, 1}), floats({3, 5, 7, 9}, {4, 1})});
  SerialIterator it(data, 4);
  SGD sgd({.lr = 0.05});
  sgd.setup(model);
  StandardUpdater updater(it, sgd,
                          {.loss_func = [&](const Variables& v) { return nn::mean_squared_error(model(v[0]), v[1]); }});
  for (int i = 0; i < 2000; ++i) updater.update();
  BOOST_TEST(std::fabs(values(model.W.data())[0] - 2) < 1e-3);
  BOOST_TEST(std::fabs(values(model.b->data())[0] - 1) < 1e-3);
}

// The converter makes twos of the examples. W is the derivative of the loss, their mean, subtracted from 1.
BOOST_AUTO_TEST_CASE(converters_of_ones_own) {
  nn::Linear model(1, 1, {.nobias = true, .initialW = 1.0});
  SerialIterator it(std::make_shared<TupleDataset>(std::vector<Array>{floats({7, 8}, {2, 1})}), 2);
  SGD sgd(1.0);
  sgd.setup(model);
  const auto twos = [](const Batch& batch, std::optional<autograd::Device> device) {
    Example example = default_converter(batch, device);
    for (Array& a : example.values) a = a * 0 + 2;
    return example;
  };
  const auto mean = [&](const Variables& x) { return autograd::mean(model(x[0])); };
  StandardUpdater updater(it, sgd, {.converter = twos, .loss_func = mean});
  updater.update();
  BOOST_TEST(values(model.W.data())[0] == -1);
}

// Rules that only a batch would need run when the loss keeps its variable.
BOOST_AUTO_TEST_CASE(gradients_of_batches) {
  nn::Linear model(1, 1);
  model.W.set_data(floats({3}, {1, 1}));
  const auto data = std::make_shared<TupleDataset>(std::vector<Array>{floats({1, 2}, {2, 1}), floats({0, 0}, {2, 1})});
  SerialIterator it(data, 2, {.shuffle = false});
  SGD sgd({.lr = 0});
  sgd.setup(model);
  for (const bool keep : {false, true}) {
    Variable kept;
    StandardUpdater updater(it, sgd, {.loss_func = [&](const Variables& v) {
                              if (keep) kept = v[0];
                              return nn::mean_squared_error(model(v[0] * 2), v[1]);
                            }});
    autograd::TimerHook timer;
    const autograd::HookScope scope(timer);
    updater.update();
    const auto& history = timer.call_history();
    const auto is_product = [](const auto& call) { return call.first.find('*') != std::string::npos; };
    const auto products = std::count_if(history.begin(), history.end(), is_product);
    BOOST_TEST(products == (keep ? 2 : 1));
    if (keep)
      BOOST_TEST(values(kept.grad()) == (std::vector<double>{36, 72}),
                 boost::test_tools::per_element());  // 2 (6 x) 6 / 2
  }
}

// Snapshots written by the reference: the weights predict what they predicted there, and training goes on as it did
// there.
BOOST_AUTO_TEST_CASE(files_of_the_reference) {
  const auto index = Golden::open("serializers/index");
  const catena::NpzReader stored("test", (index.folder() / "expected.npz").string());
  auto array = [&](const json& key) { return to_array(stored.read(key.get<std::string>())); };
  int checked = 0;
  for (const json& c : reference_files(index, "trainer")) {
    const std::string file = c["file"];
    BOOST_TEST_CONTEXT(file) {
      nn::Classifier<TinyMLP> model{TinyMLP()};
      std::unique_ptr<Optimizer> optimizer;
      if (c["optimizer"] == "Adam") optimizer = std::make_unique<Adam>();
      else optimizer = std::make_unique<MomentumSGD>();
      for (const auto& [key, value] : c["args"].items()) optimizer->set_hyper(key, value.get<double>());
      optimizer->setup(model);
      const std::int64_t batch = c["iterator"]["batch_size"];
      SerialIterator train(std::make_shared<TupleDataset>(std::vector<Array>{array(c["train_x"]), array(c["train_t"])}),
                           batch, {.shuffle = c["iterator"]["shuffle"].get<bool>()});
      SerialIterator test(std::make_shared<TupleDataset>(std::vector<Array>{array(c["valid_x"]), array(c["valid_t"])}),
                          3, {.repeat = false, .shuffle = false});
      const TemporaryFolder folder("reference");
      Trainer trainer(StandardUpdater(train, *optimizer), {c["continued_to_epoch"].get<double>(), epoch},
                      folder.path.string());
      trainer.extend(Evaluator(test, model));
      // Chainer cannot store text in HDF5 files: theirs is of a trainer without these.
      const bool with_log = !file.ends_with(".h5");
      LogReport* const log = with_log ? &trainer.extend(LogReport()) : nullptr;
      if (!with_log) {
        BOOST_TEST(c["extensions"].size() == 2u);
      } else if (c["optimizer"] == "Adam") {
        trainer.extend(LinearShift("alpha", {0.01, 0.0001}, {1, 4}), {.trigger = TriggerSpec(1, epoch)});
      } else {
        trainer.extend(ExponentialShift("lr", 0.5), {.trigger = TriggerSpec(1, epoch)});
      }
      std::vector<double> losses;
      trainer.extend([&](Trainer& t) { losses.push_back(t.observation().at("main/loss").value()); });
      load_file((index.folder() / file).string(), trainer);
      for (const nn::NamedParam& p : model.namedparams())
        BOOST_TEST(same_bits(p.param.data(), array(c["params_at_snapshot"][p.path.substr(1)])), p.path);
      check_close(model.predictor(Variable(array(c["input"]))).data(), array(c["prediction"]), 1e-5, 1e-4,
                  "prediction");
      BOOST_TEST(trainer.updater().iteration() == c["iteration"].get<std::int64_t>());

      trainer.run();
      BOOST_TEST(trainer.updater().epoch() == c["continued_to_epoch"].get<std::int64_t>());
      ++checked;
      // The keys of the reference, with its shapes and dtypes; what we add stands under _catena, or is what later
      // versions of the reference store.
      nn::serializers::save_npz(folder / "ours.npz", trainer);
      const catena::NpzReader ours("test", folder / "ours.npz");
      for (const auto& [key, description] : c["keys"].items()) {
        BOOST_REQUIRE_MESSAGE(ours.contains(key), key);
        const catena::NpyArray a = ours.read(key);
        BOOST_TEST(a.shape == Shape(description["shape"].get<std::vector<std::int64_t>>()), key);
        if (a.is_text()) BOOST_TEST(description["dtype"] == "str");
        else BOOST_TEST((a.dtype == catena::dtype_from_name(description["dtype"].get<std::string>())), key);
      }
      for (const std::string& key : ours.keys())
        BOOST_TEST((c["keys"].contains(key) || has(key, "_catena/") || has(key, "/_summary/") ||
                    has(key, "/previous_") || key.ends_with("/t")),
                   key);
      if (c["losses_after_snapshot"].is_null()) continue;  // shuffled: the order after the snapshot is not known
      const auto expected = c["losses_after_snapshot"].get<std::vector<double>>();
      BOOST_REQUIRE(losses.size() == expected.size());
      for (std::size_t i = 0; i < losses.size(); ++i) BOOST_TEST(close(losses[i], expected[i], 1e-5, 1e-4));
      for (const nn::NamedParam& p : model.namedparams())
        check_close(p.param.data(), array(c["params_at_end"][p.path.substr(1)]), 1e-5, 1e-4, p.path);
      if (!log) continue;
      BOOST_REQUIRE(log->log().size() == c["log"].size());
      for (std::size_t i = 0; i < log->log().size(); ++i)
        for (const auto& [key, value] : c["log"][i].items())
          if (key != "elapsed_time") BOOST_TEST(close(log->log()[i].number(key), value.get<double>(), 1e-5, 1e-4), key);
    }
  }
  BOOST_TEST(checked == (nn::serializers::hdf5_available() ? 4 : 3));
}

BOOST_AUTO_TEST_SUITE_END()
