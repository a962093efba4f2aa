// The evaluator: means by hand, names, iterators that cannot be rewound.
#include <catena/training/extensions/evaluator.h>

#include <cmath>

#include <catena/autograd/config.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions/log_report.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;

namespace {

// An iterator as a user writes it: it can go on and be copied, but not begin again. It counts its copies.
struct OneWay : Iterator {
  std::int64_t n, at = 0;
  int* copies;
  OneWay(std::int64_t examples, int* count) : n(examples), copies(count) {}
  std::optional<Batch> next() override {
    if (at >= n) return {};
    Batch batch;
    batch.examples.push_back(Array(floats({float(at++)}, {})));
    return batch;
  }
  std::int64_t batch_size() const override { return 1; }
  std::int64_t epoch() const override { return at / n; }
  double epoch_detail() const override { return double(at) / double(n); }
  bool is_new_epoch() const override { return at == n; }
  void serialize(nn::Serializer& s) override { s("at", at); }
  catena::Owned<Iterator> copy() const override {
    ++*copies;
    return catena::Owned<Iterator>(new OneWay(*this));
  }
};
struct NoCopy : OneWay {
  using OneWay::OneWay;
  catena::Owned<Iterator> copy() const override { return Iterator::copy(); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(evaluators)

BOOST_AUTO_TEST_CASE(evaluator) {
  autograd::seed(2);
  nn::Classifier<StatefulMLP> model(StatefulMLP(8, 3, 0.5));
  const auto data = std::make_shared<TupleDataset>(
      std::vector<Array>{autograd::random_normal({10, 4}, 0, 1, Dtype::float32, autograd::default_generator()),
                         ints({0, 1, 2, 0, 1, 2, 0, 1, 2, 0})});
  SerialIterator it(data, 4, {.repeat = false, .shuffle = false});
  model(Variable(data->arrays()[0]), Variable(data->arrays()[1]));
  int hooks = 0;
  Evaluator evaluator(it, model, {.eval_hook = [&](Evaluator&) { ++hooks; }});
  const Array average = autograd::copy(model.predictor.bn.avg_mean.array());
  const autograd::Generator before = autograd::default_generator();
  const Observation first = evaluator(), second = evaluator.evaluate();
  BOOST_TEST(hooks == 2);
  // No dropout and no batch statistics: equal results, nothing drawn, nothing moved, no graph.
  BOOST_TEST(first.at("main/loss").value() == second.at("main/loss").value());
  BOOST_TEST(autograd::default_generator().offset == before.offset);
  BOOST_TEST(same_bits(average, model.predictor.bn.avg_mean.array()));
  BOOST_TEST(model.loss.creator() == nullptr);
  BOOST_TEST(autograd::internal::modes().train.now);
  // By hand: the mean over the 10 examples, and the mean of the means of 4, 4 and 2 of them.
  double loss = 0, of_means = 0;
  const auto testing = autograd::train_mode(false);
  for (const auto& [begin, end] : {std::pair{0, 4}, {4, 8}, {8, 10}}) {
    model(Variable(autograd::slice(data->arrays()[0], 0, begin, end)),
          Variable(autograd::slice(data->arrays()[1], 0, begin, end)));
    loss += autograd::item(model.loss.data()).to_double() * (end - begin) / 10;
    of_means += autograd::item(model.loss.data()).to_double() / 3;
  }
  BOOST_TEST(std::fabs(loss - of_means) > 1e-6);
  BOOST_TEST(std::fabs(first.at("main/loss").value() - of_means) < 1e-9);
  Evaluator weighted(it, model, {.weighted = true});
  BOOST_TEST(std::fabs(weighted().at("main/loss").value() - loss) < 1e-9);

  // The converter gives every batch the examples of the first: all have its loss.
  const auto first_batch = [&](const Batch&, std::optional<autograd::Device> device) {
    BOOST_TEST((device == model.device()));
    Example example{data->arrays()};
    for (Array& a : example.values) a = autograd::slice(a, 0, 0, 4);
    return example;
  };
  model(Variable(autograd::slice(data->arrays()[0], 0, 0, 4)), Variable(autograd::slice(data->arrays()[1], 0, 0, 4)));
  const double of_first = autograd::item(model.loss.data()).to_double();
  Evaluator converted(it, model, {.converter = first_batch, .device = model.device()});
  BOOST_TEST(std::fabs(converted().at("main/loss").value() - of_first) < 1e-9);

  SerialIterator endless(data, 4);
  Evaluator wrong(endless, model);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { wrong(); }), "repeat"));
  BOOST_CHECK_THROW(evaluator.get_target("other"), catena::KeyError);
}

// Nothing that a model computes in an evaluation has a graph: not from the batch, not from parameters alone, and not
// what it reports or keeps. The modes are those of before afterwards, also after an error.
BOOST_AUTO_TEST_CASE(an_evaluation_builds_no_graph) {
  struct Keeping : nn::Chain {
    nn::Linear l{2, 2};
    nn::Parameter scale{1.0, {1}};
    std::vector<Variable> kept;
    bool fails = false;
    NN_MEMBERS(l, scale)
    Variable operator()(const Variable& x) {
      catena::check<catena::ValueError>(!fails, "Keeping", "as asked");
      const Variable h = nn::tanh(l(x)), decay = autograd::sum(l.W * l.W) * scale;
      kept = {h, decay, autograd::sum(h) + autograd::reshape(decay, {}), nn::dropout(h)};
      nn::report("loss", kept[2], this);
      nn::report("decay", decay, this);
      return kept[2];
    }
  } model;
  const auto data = std::make_shared<TupleDataset>(std::vector<Array>{autograd::arrays::ones({4, 2})});
  SerialIterator it(data, 2, {.repeat = false, .shuffle = false});
  const auto graphs = [&] {
    int found = 0;
    for (const Variable& v : model.kept) found += v.creator() != nullptr;
    return found;
  };
  model(Variable(data->arrays()[0]));
  BOOST_TEST(graphs() == 4);  // outside of an evaluation
  model.kept.clear();
  int reported = 0;
  struct Watched : Evaluator {
    using Evaluator::Evaluator;
    int* reported = nullptr;
    Observation evaluate() override {
      Observation result = Evaluator::evaluate();
      *reported = 0;
      for (const auto& [key, value] : result)
        *reported += 1 + (value.variable() && value.variable().creator() != nullptr);
      return result;
    }
  } evaluator(it, model);
  evaluator.reported = &reported;
  (void)evaluator();
  BOOST_TEST(model.kept.size() == 4u);
  BOOST_TEST(graphs() == 0);
  BOOST_TEST(reported == 2);
  for (const nn::NamedParam& p : model.namedparams()) BOOST_TEST(!p.param.grad());
  model.fails = true;
  BOOST_CHECK_THROW((void)evaluator(), catena::ValueError);
  BOOST_TEST(autograd::config().train);
  BOOST_TEST(autograd::config().enable_backprop);
  model.fails = false;
  model(Variable(data->arrays()[0]));
  BOOST_TEST(graphs() == 4);
}

BOOST_AUTO_TEST_CASE(two_evaluators_have_two_names) {
  nn::Classifier<nn::Linear> model(nn::Linear(2, 2));
  const auto data =
      std::make_shared<TupleDataset>(std::vector<Array>{autograd::arrays::ones({4, 2}), ints({0, 1, 0, 1})});
  SerialIterator train(data, 2), test(data, 2, {.repeat = false, .shuffle = false});
  SGD sgd;
  sgd.setup(model);
  const TemporaryFolder folder("evaluators");
  Trainer trainer(StandardUpdater(train, sgd), {1, epoch}, folder.path.string());
  trainer.extend(Evaluator(test, model));
  trainer.extend(Evaluator(test, model));
  LogReport& log = trainer.extend(LogReport());
  trainer.run();
  for (const char* key : {"main/loss", "main/accuracy", "validation/main/loss", "validation_1/main/accuracy"})
    BOOST_TEST(log.log()[0].contains(key), key);
}

BOOST_AUTO_TEST_CASE(an_iterator_that_cannot_be_rewound_is_copied) {
  nn::Linear model(1, 1);
  int copies = 0;
  OneWay it(3, &copies);
  Evaluator evaluator(it, model, {.eval_func = [](const Variables& v) {
                        nn::report("x", v[0]);
                        return v[0];
                      }});
  for (int i = 1; i <= 3; ++i) {
    BOOST_TEST(evaluator().at("x").value() == 1);  // of 0, 1, 2, every time
    BOOST_TEST(copies == i);
  }
  BOOST_TEST(it.at == 0);
  NoCopy neither(3, &copies);
  BOOST_TEST(
      has(message_of<catena::NotImplementedError>([&] { Evaluator(neither, model)(); }), "override can_reset()"));
}

// It may be shared with the training, and have completed sweeps.
BOOST_AUTO_TEST_CASE(a_copy_of_an_iterator_in_a_later_sweep) {
  struct Later : OneWay {
    using OneWay::OneWay;
    std::int64_t epoch() const override { return 3 + OneWay::epoch(); }
    catena::Owned<Iterator> copy() const override { return catena::Owned<Iterator>(new Later(*this)); }
  };
  nn::Linear model(1, 1);
  int copies = 0;
  Later it(3, &copies);
  const auto report_x = [](const Variables& v) {
    nn::report("x", v[0]);
    return v[0];
  };
  BOOST_TEST(Evaluator(it, model, {.eval_func = report_x})().at("x").value() == 1);
}

// Whatever the batch size: with that of the whole set, every batch completes a sweep.
BOOST_AUTO_TEST_CASE(an_iterator_that_repeats_is_refused) {
  nn::Linear model(1, 1);
  for (const std::int64_t batch : {1, 3, 4, 6, 12, 20}) {
    SerialIterator it(floats({1, 2, 3, 4, 5, 6}, {6, 1}), batch, {.shuffle = false});
    int calls = 0;
    Evaluator evaluator(it, model, {.eval_func = [&](const Variables& v) {
                          catena::check<catena::RuntimeError>(++calls < 20, "test", "it goes on for ever");
                          return v[0];
                        }});
    BOOST_TEST(has(message_of<catena::ValueError>([&] { evaluator(); }), "it must not repeat"), batch);
  }
}

// A resumed run evaluates in the orders of the uninterrupted one.
BOOST_AUTO_TEST_CASE(orders_of_a_shuffled_validation_go_on) {
  const TemporaryFolder folder("shuffled");
  nn::Linear model(1, 1);
  const auto order_of = [&](Evaluator& evaluator) {
    evaluator();
    const auto& it = dynamic_cast<const SerialIterator&>(evaluator.get_iterator("main"));
    nn::serializers::DictionarySerializer s;
    const_cast<SerialIterator&>(it).serialize(s);
    for (const auto& e : s.entries())
      if (e.key == "order") return e.bytes;
    return std::vector<std::byte>();
  };
  const auto make = [&](std::uint64_t seed) {
    return Evaluator(
        SerialIterator(TupleDataset({autograd::arrays::zeros({20, 1})}), 4, {.repeat = false, .seed = seed}), model,
        {.eval_func = [](const Variables& v) { return v[0]; }});
  };
  Evaluator whole = make(1), resumed = make(2);
  order_of(whole);
  nn::serializers::save_npz(folder / "e", whole);
  nn::serializers::load_npz(folder / "e", resumed);
  for (int i = 0; i < 3; ++i) BOOST_TEST((order_of(whole) == order_of(resumed)));
  Evaluator other(
      SerialIterator(TupleDataset({autograd::arrays::zeros({5, 1})}), 4, {.repeat = false, .shuffle = false}), model);
  BOOST_CHECK_NO_THROW(nn::serializers::load_npz(folder / "e", other));  // another validation set
}

BOOST_AUTO_TEST_CASE(a_copy_of_a_serial_iterator_goes_on_alone) {
  SerialIterator it(TupleDataset({autograd::arrays::arange(7)}), 2);
  it.next();
  const catena::Owned<Iterator> copy = it.copy();
  const auto next = [](Iterator& i) { return values(i.next()->stacked->values[0]); };
  for (int i = 0; i < 8; ++i) {
    const std::vector<double> expected = next(*copy);
    BOOST_TEST(std::fabs(it.epoch_detail() + 2.0 / 7 - copy->epoch_detail()) < 1e-12);
    BOOST_TEST(next(it) == expected, boost::test_tools::per_element());
  }
}

// The pattern of the reference's examples: evaluate() is overridden to switch a model of one's own to testing.
BOOST_AUTO_TEST_CASE(a_subclass_that_switches_the_model) {
  struct Model : nn::Chain {
    nn::Parameter w{floats({1}, {1})};
    NN_MEMBERS(w)
    bool train = true, fails = false;
    int in_train = 0, in_test = 0;
    Variable operator()(const Variable& x) {
      ++(train ? in_train : in_test);
      catena::check<catena::ValueError>(!fails, "model", "bad input");
      nn::report("mean", x, this);
      return x;
    }
  } model;
  struct TestMode : Evaluator {
    using Evaluator::Evaluator;
    Observation evaluate() override {
      auto& m = static_cast<Model&>(get_target("main"));
      struct Restore {
        Model& m;
        ~Restore() { m.train = true; }
      } restore{m};
      m.train = false;
      return Evaluator::evaluate();
    }
  };
  SerialIterator it(floats({1, 2, 3}, {3}), 1, {.repeat = false, .shuffle = false});
  TestMode evaluator(it, model);
  BOOST_TEST(evaluator().at("main/mean").value() == 2);
  BOOST_TEST(model.in_test == 3);
  BOOST_TEST(model.in_train == 0);
  BOOST_TEST(model.train);
  model.fails = true;
  BOOST_CHECK_THROW(evaluator(), catena::ValueError);
  BOOST_TEST(model.train);
  BOOST_TEST(autograd::internal::modes().train.now);
  model.fails = false;
  model(floats({1}, {1}));
  BOOST_TEST(model.in_train == 1);
}

BOOST_AUTO_TEST_SUITE_END()
