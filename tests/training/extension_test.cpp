// Extensions: state in snapshots, finalizers, places in errors, numbers that are none, the graph of an iteration.
#include <catena/training/extension.h>

#include <cmath>
#include <set>
#include <sstream>

#include <catena/autograd/function_node.h>
#include <catena/kernels/base/warning.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;

namespace {

std::string unique(const std::string& name) {
  static int n = 0;
  return name + std::to_string(++n);
}

// A trainer whose updater reports.
struct Run {
  TemporaryFolder folder{unique("extension")};
  FakeUpdater updater;
  Trainer trainer;
  Run(int iterations, const std::function<void(std::int64_t)>& on_update)
      : updater(2, on_update), trainer(updater, {double(iterations), iteration}, folder.path.string()) {}
};

// A state and nothing else: what a user writes.
struct Counter : Extension {
  std::int64_t calls = 0;
  void operator()(Trainer&) override { ++calls; }
  std::string default_name() const override { return "Counter"; }
  void serialize(nn::Serializer& s) override { s("calls", calls); }
};
struct Stateless : Extension {
  void operator()(Trainer&) override {}
  std::string default_name() const override { return "Stateless"; }
};

// A linear model y = w x whose loss is w^2; it trains away from zero with a negative rate.
struct Square : nn::Chain {
  nn::Parameter w{floats({1}, {1})};
  NN_MEMBERS(w)
  bool reports = true;
  Variable operator()(const Variable&) {
    const Variable loss = nn::mean_squared_error(w, autograd::arrays::zeros({1}));
    if (reports) nn::report("loss", loss, this);
    return loss;
  }
};
struct SquareRun {
  TemporaryFolder folder{unique("square")};
  Square model;
  SGD sgd;
  SerialIterator data{TupleDataset({autograd::arrays::zeros({4, 1})}), 2};
  Trainer trainer;
  explicit SquareRun(double lr, double iterations = 400)
      : sgd(lr),
        trainer((sgd.setup(model), StandardUpdater(data, sgd)), {iterations, iteration}, folder.path.string()) {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(extensions)

BOOST_AUTO_TEST_CASE(what_serializes_is_in_the_snapshot) {
  const auto nothing = [](std::int64_t) {};
  Run first(3, nothing);
  first.trainer.extend(Counter());
  first.trainer.extend(Stateless());
  first.trainer.run();
  nn::serializers::save_npz(first.folder / "t", first.trainer);
  Run second(3, nothing);
  Counter& counter = second.trainer.extend(Counter());
  second.trainer.extend(Stateless(), {.name = "another"});  // without state it may be new
  nn::serializers::load_npz(first.folder / "t", second.trainer);
  BOOST_TEST(counter.calls == 3);
  Counter& extra = second.trainer.extend(Counter());
  const std::string message =
      message_of<catena::KeyError>([&] { nn::serializers::load_npz(first.folder / "t", second.trainer); });
  BOOST_TEST(has(message, "the snapshot holds nothing for the extension Counter_1 (it has: Counter)"), message);
  nn::serializers::load_npz(first.folder / "t", second.trainer, false);
  BOOST_TEST(extra.calls == 0);
}

BOOST_AUTO_TEST_CASE(lambdas_with_a_finalizer) {
  std::string log;
  for (const bool fails : {false, true}) {
    log.clear();
    Run run(2, [](std::int64_t) {});
    run.trainer.extend([&](Trainer&) { log += "a"; }, {.name = "mine", .finalizer = [&] { log += "A"; }});
    run.trainer.extend(Stateless(), {.finalizer = [&] {
                         log += "B";
                         catena::check<catena::IOError>(!fails, "close", "disk full");
                       }});
    if (fails)
      BOOST_TEST(message_of<catena::IOError>([&] { run.trainer.run(); }) ==
                 "the finalizer of the extension Stateless: close: disk full");
    else run.trainer.run();
    BOOST_TEST(log == "aaAB");
    BOOST_TEST(run.updater.finalized == 1);
  }
}

BOOST_AUTO_TEST_CASE(errors_name_iteration_and_extension) {
  Run in_update(5, [](std::int64_t i) { catena::check<catena::ValueError>(i < 3, "step", "bad"); });
  BOOST_TEST(message_of<catena::ValueError>([&] { in_update.trainer.run(); }) == "iteration 3: step: bad");
  Run in_trigger(5, [](std::int64_t) {});
  in_trigger.trainer.extend([](Trainer&) {}, {.name = "mine", .trigger = TriggerSpec([](Trainer& t) {
                                                                catena::check<catena::KeyError>(
                                                                    t.updater().iteration() < 2, "look", "x");
                                                                return true;
                                                              })});
  BOOST_TEST(message_of<catena::KeyError>([&] { in_trigger.trainer.run(); }) ==
             "extension mine at iteration 2: look: x");
  Run before(5, [](std::int64_t) {});
  before.trainer.extend([](Trainer&) { throw std::runtime_error("users throw this"); },
                        {.invoke_before_training = true});
  BOOST_TEST(message_of<std::runtime_error>([&] { before.trainer.run(); }) ==
             "extension <lambda> before training: users throw this");
}

BOOST_AUTO_TEST_CASE(a_loss_that_is_no_number_is_warned_of_once) {
  const Warnings warnings;
  Run run(6, [](std::int64_t i) {
    nn::report("accuracy", NAN);  // as of a class without examples
    nn::report("main/loss", i < 3 ? 1.0 : NAN);
  });
  run.trainer.run();
  BOOST_REQUIRE(warnings.texts.size() == 1u);
  BOOST_TEST(warnings.texts[0] ==
             "Trainer: main/loss is nan at iteration 3; training goes on (the extension FailOnNonNumber stops it)");
}

BOOST_AUTO_TEST_CASE(a_loss_that_grows_beyond_float32) {
  for (const bool reports : {true, false}) {
    const Warnings warnings;
    SquareRun run(-1);
    run.model.reports = reports;
    run.trainer.run();
    BOOST_REQUIRE(warnings.texts.size() == 1u);
    BOOST_TEST(has(warnings.texts[0],
                   reports ? "Trainer: main/loss is inf at" : "Trainer: the loss of the optimizer main is inf at"),
               warnings.texts[0]);
  }
}

BOOST_AUTO_TEST_CASE(fail_on_non_number) {
  const Warnings warnings;
  SquareRun run(-1);
  run.trainer.extend(FailOnNonNumber());
  run.trainer.extend(Snapshot({.filename = "s", .trigger = {1, iteration}}));
  const std::string message = message_of<catena::RuntimeError>([&] { run.trainer.run(); });
  BOOST_TEST(has(message, "FailOnNonNumber: main/loss is inf after iteration"), message);
  BOOST_TEST(std::isfinite(run.model.w.data() ? values(run.model.w.data())[0] : NAN));
  Square model;  // what was saved last was good
  nn::serializers::NpzDeserializer file(run.folder / "s");
  model.serialize(*file["updater/model:main"]);
  BOOST_TEST(std::isfinite(values(model.w.data())[0]));

  // A parameter becomes infinite while the loss is finite still.
  SquareRun other(0.1, 5);
  other.trainer.extend(
      [&](Trainer& t) {
        if (t.updater().iteration() == 3) autograd::fill(other.model.w.data(), INFINITY);
      },
      {.priority = PRIORITY_WRITER});
  other.trainer.extend(FailOnNonNumber());
  BOOST_TEST(
      message_of<catena::RuntimeError>([&] { other.trainer.run(); }) ==
      "extension FailOnNonNumber at iteration 3: FailOnNonNumber: the parameter /w of the optimizer main holds NaN or "
      "infinity after iteration 3");
  SquareRun good(0.1, 5);
  good.trainer.extend(FailOnNonNumber());
  BOOST_CHECK_NO_THROW(good.trainer.run());
}

BOOST_AUTO_TEST_CASE(a_column_that_never_appears_is_named_once) {
  const Warnings warnings;
  std::ostringstream out;
  Run run(8, [](std::int64_t i) {
    nn::report("loss", 1.0);
    if (i == 7) nn::report("late", 2.0);
  });
  run.trainer.extend(LogReport());
  run.trainer.extend(PrintReport({"epoch", "loss", "acuracy", "late", "validation/loss"}, {.out = &out}));
  run.trainer.run();
  BOOST_REQUIRE(warnings.texts.size() == 1u);
  BOOST_TEST(warnings.texts[0] ==
             "PrintReport: no entry of the log had a value for the columns acuracy, validation/loss (there were: loss, "
             "epoch, iteration, elapsed_time, late)");
}

BOOST_AUTO_TEST_CASE(the_graph_of_an_iteration_lives_until_the_next) {
  const auto keep = autograd::using_config({.keep_graph_on_report = true});
  SquareRun run(0.1, 3);
  Variable previous;
  std::string seen;
  run.trainer.extend(
      [&](Trainer& t) {
        const Variable loss = t.observation().at("main/loss").variable();
        BOOST_REQUIRE(loss.creator() != nullptr);
        seen += loss.creator()->label();
        if (previous) BOOST_TEST(previous.creator() == nullptr);  // its memory has been released
        previous = loss;
      },
      {.name = "dump_graph"});
  run.trainer.run();
  BOOST_TEST(!seen.empty());
  run.sgd.release_graph();
  BOOST_TEST(previous.creator() == nullptr);
}

BOOST_AUTO_TEST_CASE(batches_of_maps_come_to_the_model_by_name) {
  struct Maps : DatasetMixin {
    std::int64_t size() const override { return 6; }
    Example get_example(std::int64_t i) const override {
      const Array x = floats({float(i)}, {1}), t = floats({2 * float(i)}, {1});
      return i % 2 ? Example({{"x", x}, {"target", t}}) : Example({{"target", t}, {"x", x}});
    }
  };
  struct Model : nn::Chain {
    nn::Linear l{1, 1};
    NN_MEMBERS(l)
    Variable operator()(const Variables& args) {
      return nn::mean_squared_error(l(argument(args, "x")), argument(args, "target"));
    }
  } model;
  SGD sgd(0.02);
  sgd.setup(model);
  SerialIterator train(Maps(), 3), validation(Maps(), 6, {.repeat = false, .shuffle = false});
  StandardUpdater updater(train, sgd);
  for (int i = 0; i < 1500; ++i) updater.update();
  BOOST_TEST(std::fabs(values(model.l.W.data())[0] - 2) < 1e-2);
  double at_end = -1;
  Evaluator evaluator(validation, model, {.eval_func = [&](const Variables& v) {
                        const Variable loss = model(v);
                        at_end = values(loss.data())[0];
                        return loss;
                      }});
  evaluator();
  BOOST_TEST((at_end >= 0 && at_end < 1e-3));
  BOOST_TEST(has(message_of<catena::KeyError>([&] { argument({}, "x"); }), "no argument named x"));
}

BOOST_AUTO_TEST_SUITE_END()
