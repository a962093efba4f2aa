// Updaters and extensions of one's own: what may be overridden, what is finalized, what errors leave behind.
#include <catena/training/updater.h>

#include <map>

#include <catena/autograd/functions/reduction.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;
using Doubles = std::vector<double>;

namespace {

const auto each = boost::test_tools::per_element();

struct Scale : nn::Link {
  nn::Parameter w{floats({1}, {1})};
  NN_MEMBERS(w)
};
// Counts what is done to it.
struct CountedIterator : Iterator {
  int finalized = 0;
  std::int64_t at = 0, fails_at = -1;
  std::optional<Batch> next() override {
    catena::check<catena::IOError>(++at != fails_at, "read", "the disk is gone");
    Batch batch;
    batch.examples.push_back(Array(floats({float(at)}, {1})));
    return batch;
  }
  std::int64_t epoch() const override { return at / 2; }
  double epoch_detail() const override { return double(at) / 2; }
  bool is_new_epoch() const override { return at % 2 == 0; }
  void finalize() override { ++finalized; }
  void serialize(nn::Serializer& s) override { s("at", at); }
};
// Two optimizers and two iterators, as of an adversarial network.
struct Alternating : StandardUpdater {
  using StandardUpdater::StandardUpdater;
  Trainer* connected = nullptr;
  std::vector<std::int64_t> iterations;
  void connect_trainer(Trainer& trainer) override { connected = &trainer; }
  void update_core() override {
    iterations.push_back(iteration());
    for (const char* name : {"first", "second"}) {
      const Example batch =
          options_.converter(*get_iterator(name == std::string("first") ? "main" : "other").next(), {});
      Optimizer& optimizer = get_optimizer(name);
      optimizer.update([&] {
        return autograd::sum(Variable(static_cast<Scale&>(optimizer.target()).w) * Variable(batch.values[0]));
      });
    }
  }
};
struct Fields : Extension {
  int calls = 0;
  Fields() {
    trigger = {2, iteration};
    priority = PRIORITY_WRITER;
    invoke_before_training = true;
  }
  void operator()(Trainer&) override { ++calls; }
};
// Nothing is overridden.
struct Bare : Extension {};

}  // namespace

BOOST_AUTO_TEST_SUITE(updaters)

BOOST_AUTO_TEST_CASE(an_update_of_ones_own) {
  Scale first, second;
  SGD a(1.0), b(0.5);
  a.setup(first);
  b.setup(second);
  CountedIterator main, other;
  other.at = 10;
  Alternating updater({{"main", main}, {"other", other}}, {{"first", a}, {"second", b}});
  BOOST_TEST((updater.connected == nullptr));
  const TemporaryFolder folder("alternating");
  Trainer trainer(updater, {2, iteration}, folder.path.string());
  BOOST_TEST((updater.connected == &trainer));  // by the constructor
  trainer.run();
  BOOST_TEST(updater.iterations == (std::vector<std::int64_t>{0, 1}), each);  // counted after update_core
  BOOST_TEST(updater.iteration() == 2);
  BOOST_TEST(values(first.w.data()) == (Doubles{1 - 1 - 2}), each);
  BOOST_TEST(values(second.w.data()) == (Doubles{1 - 0.5 * 11 - 0.5 * 12}), each);
  BOOST_TEST(main.finalized == 1);
  BOOST_TEST(other.finalized == 1);
  updater.finalize();
  BOOST_TEST(other.finalized == 2);
  // An iterator with the least an iterator needs.
  BOOST_TEST(updater.epoch() == 1);
  BOOST_TEST(updater.epoch_detail() == 1);
  BOOST_TEST(!updater.previous_epoch_detail());
  BOOST_TEST(updater.is_new_epoch());
}

// The converter of an own step takes the result of next() as it is.
BOOST_AUTO_TEST_CASE(batches_of_an_own_step) {
  struct Own : StandardUpdater {
    using StandardUpdater::StandardUpdater;
    Doubles seen;
    void update_core() override {
      auto batch = get_iterator("main").next();
      auto [x, t] = converter(batch);
      auto [again, of_device] = converter(batch, device());
      seen.push_back(values(x)[0]);
      seen.push_back(values(of_device)[0]);
    }
  };
  Scale model;
  SGD sgd(1.0);
  sgd.setup(model);
  SerialIterator iterator(TupleDataset(floats({1, 2}, {2}), floats({3, 4}, {2})), 1,
                          {.repeat = false, .shuffle = false});
  Own updater(iterator, sgd);
  updater.update();
  updater.update();
  BOOST_TEST(updater.seen == (Doubles{1, 3, 2, 4}), each);
  BOOST_TEST(has(message_of<catena::RuntimeError>([&] { updater.update(); }), "the iterator has ended"));
}

// One iterator or optimizer beside several, in the lists in which a call gives them.
BOOST_AUTO_TEST_CASE(one_and_several) {
  Scale first, second;
  SGD a(1.0), b(0.5);
  a.setup(first);
  b.setup(second);
  CountedIterator main, other;
  const auto names = [](StandardUpdater& updater) {
    std::string names;
    for (const auto& [name, optimizer] : updater.get_all_optimizers()) names += name + ' ';
    return names;
  };
  StandardUpdater two_optimizers(main, {{"gen", a}, {"dis", b}});
  BOOST_TEST(names(two_optimizers) == "gen dis ");
  BOOST_TEST(&two_optimizers.get_iterator("main") == &main);
  BOOST_TEST(&two_optimizers.get_optimizer("dis") == &b);
  StandardUpdater named_optimizer(main, {{"gen", a}}, {.device = kCpu});
  BOOST_TEST(names(named_optimizer) == "gen ");
  StandardUpdater by_number(main, a, {.device = -1});  // the CPU, as a GPU's number below 0
  BOOST_TEST(first.device() == kCpu);
  StandardUpdater two_iterators({{"main", main}, {"other", other}}, a);
  BOOST_TEST(names(two_iterators) == "main ");
  BOOST_TEST(&two_iterators.get_iterator("other") == &other);
  StandardUpdater two_of_each({{"main", main}, {"other", other}}, {{"gen", a}, {"dis", b}});
  BOOST_TEST(&two_of_each.get_iterator("other") == &other);
  BOOST_TEST(names(two_of_each) == "gen dis ");
}

// A converter is default_converter, Chainer's concat_examples, a lambda, or another converter.
BOOST_AUTO_TEST_CASE(converters) {
  Batch batch;
  batch.examples = {Example(Array(floats({1, 2}, {2}))), Example(Array(floats({3, 4}, {2})))};
  const auto numbers = [&](const Converter& converter) { return values(converter(batch, {}).values[0]); };
  BOOST_TEST(numbers(default_converter) == (Doubles{1, 2, 3, 4}), each);
  const StandardUpdaterOptions options{.converter = concat_examples};
  BOOST_TEST(numbers(options.converter) == (Doubles{1, 2, 3, 4}), each);
  Converter first = [](const Batch& b, std::optional<autograd::Device>) { return b.examples[0]; };
  Converter copy = first, later;
  BOOST_TEST(numbers(copy) == (Doubles{1, 2}), each);
  BOOST_TEST(!bool(later));
  later = copy;
  BOOST_TEST(numbers(later) == (Doubles{1, 2}), each);
}

// Loops without an updater: the components of a batch, stacked by the dataset or here.
BOOST_AUTO_TEST_CASE(batches_as_variables) {
  const Array x = floats({1, 2, 3, 4, 5, 6}, {3, 2}), t = ints({7, 8, 9});
  const TupleDataset stacking(x, t);
  const TransformDataset single(stacking, [](Example e) { return e; });
  for (const DatasetMixin* dataset :
       {static_cast<const DatasetMixin*>(&stacking), static_cast<const DatasetMixin*>(&single)}) {
    SerialIterator iterator(*dataset, 2, {.repeat = false, .shuffle = false});
    const Batch batch = *iterator.next();
    const auto [x2, t2] = to_variables(batch);
    BOOST_TEST(values(x2.data()) == (Doubles{1, 2, 3, 4}), each);
    BOOST_TEST(values(t2.data()) == (Doubles{7, 8}), each);
    BOOST_TEST(x2.shape() == Shape({2, 2}));
    const Example arrays = concat_examples(batch);
    BOOST_TEST(values(arrays.values[1]) == (Doubles{7, 8}), each);
    BOOST_TEST(to_variables(batch, -1)[0].device() == kCpu);
    BOOST_TEST(concat_examples(batch, -1).values[0].device() == kCpu);
    const std::string message = message_of<catena::ValueError>([&] { to_variables<3>(batch); });
    BOOST_TEST(has(message, "an example has 2 components, not 3: write to_variables<2>(batch)"), message);
  }
  SerialIterator batches(stacking, 2, {.repeat = false, .shuffle = false});
  const auto [x2, t2] = batches.next_variables();
  BOOST_TEST(values(x2.data()) == (Doubles{1, 2, 3, 4}), each);
  BOOST_TEST(values(t2.data()) == (Doubles{7, 8}), each);
  BOOST_CHECK_THROW(batches.next_variables<3>(-1), catena::ValueError);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { batches.next_variables(); }),
                 "next_variables: the iteration has ended"));
  const DictDataset named({{"image", x}, {"label", t}});
  SerialIterator iterator(named, 3, {.repeat = false, .shuffle = false});
  const auto [image, label] = to_variables(*iterator.next());
  BOOST_TEST(image.name() == "image");
  BOOST_TEST(label.name() == "label");
}

BOOST_AUTO_TEST_CASE(fields_of_extensions) {
  const TemporaryFolder folder("fields");
  FakeUpdater updater(2);
  Trainer trainer(updater, {5, iteration}, folder.path.string());
  std::string order;
  trainer.extend([&](Trainer&) { order += "r"; });
  Fields& fields = trainer.extend(Fields());
  Fields& overridden =
      trainer.extend(Fields(), {.trigger = TriggerSpec(1, iteration), .invoke_before_training = false});
  Fields named;
  named.set_name("mine");
  BOOST_TEST(trainer.extend(named).name() == "mine");
  BOOST_TEST(trainer.extend(named).name() == "mine_1");
  BOOST_TEST(trainer.extend(named, {.name = "yours"}).name() == "yours");
  trainer.extend(Bare());
  BOOST_TEST(trainer.extension_names() ==
                 (std::vector<std::string>{"<lambda>", "Fields", "Fields_1", "mine", "mine_1", "yours", "Bare"}),
             each);
  trainer.run();
  BOOST_TEST(fields.calls == 3);  // before training, at 2 and at 4
  BOOST_TEST(overridden.calls == 5);
  const Bare bare;
  BOOST_TEST(bare.priority == PRIORITY_READER);
  BOOST_TEST(!bare.invoke_before_training);
  // Evaluators and snapshots have theirs.
  SerialIterator it(floats({1}, {1}), 1);
  Scale scale;
  BOOST_TEST(Evaluator(it, scale).priority == PRIORITY_WRITER);
  BOOST_TEST(Snapshot().priority == PRIORITY_SNAPSHOT);
}

BOOST_AUTO_TEST_CASE(functions_as_extensions) {
  const TemporaryFolder folder("functions");
  FakeUpdater updater(2);
  Trainer trainer(updater, {4, iteration}, folder.path.string());
  std::string log;
  const auto write = [&](const char* text) { return [&log, text](Trainer&) { log += text; }; };
  trainer.extend(make_extension(write("a")));
  trainer.extend(make_extension(write("b"), {.trigger = {1, epoch},
                                             .default_name = "b",
                                             .priority = PRIORITY_WRITER,
                                             .invoke_before_training = true,
                                             .finalizer = [&] { log += "."; }}));
  trainer.extend(make_extension(write("c"), {.trigger = {}}));
  BOOST_TEST(trainer.extension_names() == (std::vector<std::string>{"<lambda>", "b", "<lambda>_1"}), each);
  trainer.run();
  BOOST_TEST(log == "babaaba.");
  BOOST_CHECK_THROW(make_extension(nullptr), catena::TypeError);
}

// A loss function, an iterator or an extension that throws: everything is finalized once, no temporary file stays, and
// the thread is as before.
BOOST_AUTO_TEST_CASE(what_an_error_leaves_behind) {
  for (const std::string who : {"loss", "iterator", "extension", "saver"}) {
    BOOST_TEST_CONTEXT(who) {
      const TemporaryFolder folder("error");
      Scale model;
      SGD sgd;
      sgd.setup(model);
      CountedIterator it;
      if (who == "iterator") it.fails_at = 3;
      int calls = 0, finalized = 0;
      Trainer trainer(StandardUpdater(it, sgd,
                                      {.loss_func =
                                           [&](const Variables& x) {
                                             catena::check<catena::ValueError>(++calls != 3 || who != "loss", "loss",
                                                                               "it is bad");
                                             return autograd::sum(Variable(model.w) * x[0]);
                                           }}),
                      {9, iteration}, folder.path.string());
      trainer.extend(LogReport({.trigger = {1, iteration}}));
      trainer.extend(snapshot_object(model, "model_{.updater.iteration}",
                                     [&](const std::string& path, Scale& s) {
                                       write_file(path, "half of it");
                                       catena::check<catena::IOError>(calls != 3 || who != "saver", "save",
                                                                      "disk full");
                                       nn::serializers::save_npz(path, s);
                                     },
                                     {.trigger = {1, iteration}}));
      trainer.extend([&](Trainer&) { catena::check<catena::KeyError>(calls != 3 || who != "extension", "look", "no"); },
                     {.finalizer = [&] { ++finalized; }});
      BOOST_CHECK_THROW(trainer.run(), catena::Error);
      BOOST_TEST(finalized == 1);
      BOOST_TEST(it.finalized == 1);
      BOOST_CHECK_THROW(nn::get_current_reporter(), catena::RuntimeError);
      BOOST_TEST(has(message_of<catena::RuntimeError>([&] { trainer.run(); }), "only once"));
      for (const auto& entry : std::filesystem::directory_iterator(folder.path)) {
        const std::string name = entry.path().filename().string();
        BOOST_TEST((name == "log" || name == "model_1" || name == "model_2"), name);
      }
      BOOST_TEST(values(model.w.data())[0] != 1);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
