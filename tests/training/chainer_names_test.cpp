// Forms in which users of Chainer write batches, splits, hooks, classifiers and reports.
#include <cmath>
#include <filesystem>
#include <map>

#include <catena/nn/links/classifier.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/training.h>

using namespace test;

namespace {

const auto each = boost::test_tools::per_element();
using Doubles = std::vector<double>;
Doubles of(const Array& a) { return autograd::to_vector<double>(a); }

struct Pairs : training::dataset::DatasetMixin {
  std::int64_t size() const override { return 5; }
  training::Example get_example(std::int64_t i) const override { return {floats({float(i)}, {1}), i * 10}; }
};
training::TupleDataset stacking() {
  return training::TupleDataset(floats({0, 1, 2, 3, 4}, {5}), floats({0, 10, 20, 30, 40}, {5}));
}

// The first components of the examples of a batch, and of their labels.
std::pair<Doubles, Doubles> taken(const training::Batch& batch) {
  std::pair<Doubles, Doubles> result;
  for (const auto& [x, t] : batch) {
    result.first.push_back(of(x).at(0));
    result.second.push_back(of(t).at(0));
  }
  return result;
}

// The gradient of a parameter (3, 4) after a hook.
template <class Hook> Doubles hooked(Hook hook) {
  nn::Linear model(2, 1, {.nobias = true, .initialW = 1.0});
  training::SGD sgd(0.0);
  sgd.setup(model);
  sgd.add_hook(hook);
  model.W.set_grad(floats({3, 4}, {1, 2}));
  sgd.update();
  return of(model.W.grad());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(chainer_names)

BOOST_AUTO_TEST_CASE(batches_are_lists_of_examples) {
  const Pairs pairs;
  const training::TupleDataset stacked = stacking();
  for (const training::DatasetMixin* const data :
       {static_cast<const training::DatasetMixin*>(&pairs), static_cast<const training::DatasetMixin*>(&stacked)}) {
    training::SerialIterator iterator(*data, {.batch_size = 2, .repeat = false, .shuffle = false});
    const training::Batch first = *iterator.next();
    BOOST_TEST(taken(first).first == (Doubles{0, 1}), each);
    BOOST_TEST(taken(first).second == (Doubles{0, 10}), each);
    BOOST_TEST(of(first[-1][1]) == (Doubles{10}), each);
    BOOST_CHECK_THROW(first[2], catena::IndexError);
    BOOST_CHECK_THROW(first[-3], catena::IndexError);
    iterator.next();
    BOOST_TEST(taken(*iterator.next()).first == (Doubles{4}), each);
    BOOST_TEST(!iterator.next());
  }
  BOOST_CHECK_THROW(training::SerialIterator(pairs, {.repeat = false}), catena::ValueError);
  training::SerialIterator one(pairs, {.batch_size = 5, .seed = 3}), two(pairs, 5, {.seed = 3});
  BOOST_TEST(taken(*one.next()).first == taken(*two.next()).first, each);
  training::SerialIterator backwards(pairs, {.batch_size = 5, .order_sampler = [](const training::OrderContext&) {
                                               return std::vector<std::int64_t>{4, 3, 2, 1, 0};
                                             }});
  BOOST_TEST(taken(*backwards.next()).first == (Doubles{4, 3, 2, 1, 0}), each);
}

BOOST_AUTO_TEST_CASE(padding_by_name) {
  const std::vector<training::Example> ragged{floats({1}, {1}), floats({2, 3}, {2})};
  const training::Batch batch{ragged, {}};
  const training::Example padded = training::dataset::concat_examples(batch, {.device = -1, .padding = 7});
  BOOST_TEST(of(padded[0]) == (Doubles{1, 7, 2, 3}), each);
  BOOST_CHECK_THROW(training::convert::concat_examples(batch), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(loading_iterators_by_position) {
  const Pairs pairs;
  training::iterators::MultithreadIterator iterator(pairs, 4, false, false);
  BOOST_TEST(taken(*iterator.next()).first == (Doubles{0, 1, 2, 3}), each);
  BOOST_TEST(taken(*iterator.next()).first == (Doubles{4}), each);
  BOOST_TEST(!iterator.next());
}

BOOST_AUTO_TEST_CASE(slices_and_splits) {
  const Pairs pairs;
  const training::Examples part = pairs[catena::Slice(1, 5, 2)];
  BOOST_TEST(part.size() == 2u);
  BOOST_TEST(of(part[1][0]) == (Doubles{3}), each);
  BOOST_TEST(of(pairs[catena::Slice(-1, {})].at(0)[0]) == (Doubles{4}), each);
  const auto firsts = [](const training::DatasetPtr& data) {
    Doubles result;
    for (std::int64_t i = 0; i < data.size(); ++i) result.push_back(of(data[i][0]).at(0));
    return result;
  };
  const auto named = training::split_dataset_n_random(pairs, 2, {.seed = 5});
  const auto plain = training::split_dataset_n_random(pairs, 2, 5);
  BOOST_TEST(firsts(named[0]) == firsts(plain[0]), each);
  BOOST_TEST(firsts(named[1]) == firsts(plain[1]), each);
  const auto folds = training::get_cross_validation_datasets_random(pairs, 5, {.seed = 5});
  const auto same = training::get_cross_validation_datasets_random(pairs, 5, 5);
  for (std::size_t k = 0; k < 5; ++k) BOOST_TEST(firsts(folds[k].second) == firsts(same[k].second), each);
}

BOOST_AUTO_TEST_CASE(hooks_by_name) {
  namespace hooks = training::optimizer_hooks;
  const auto tolerance = boost::test_tools::tolerance(1e-6);
  BOOST_TEST(hooked(hooks::WeightDecay({.rate = 0.5})) == (Doubles{3.5, 4.5}), tolerance << each);
  BOOST_TEST(hooked(training::optimizer::Lasso({.rate = 0.25})) == (Doubles{3.25, 4.25}), tolerance << each);
  BOOST_TEST(hooked(hooks::GradientClipping({.threshold = 2.5})) == (Doubles{1.5, 2}), tolerance << each);
  BOOST_TEST(hooked(hooks::GradientHardClipping({.lower_bound = -1, .upper_bound = 3.5})) == (Doubles{3, 3.5}),
             tolerance << each);
  BOOST_TEST(hooked(hooks::GradientNoise({.eta = 0})) == (Doubles{3, 4}), tolerance << each);
  BOOST_TEST(hooked(hooks::GradientNoise({.eta = 1})) != (Doubles{3, 4}));
  // |p| = sqrt(2), g + 0.5 p = (3.5, 4.5), divisor 5 + 0.5 sqrt(2) + 1
  const double rate = std::sqrt(2.0) / (5 + 0.5 * std::sqrt(2.0) + 1);
  BOOST_TEST(
      hooked(hooks::GradientLARS({.threshold = 1, .weight_decay = 0.5, .eps = 1})) == (Doubles{3.5 * rate, 4.5 * rate}),
      tolerance << each);
  BOOST_TEST(hooked(hooks::GradientLARS({.threshold = 2, .weight_decay = 0.5})) == (Doubles{3.5, 4.5}),
             tolerance << each);
}

BOOST_AUTO_TEST_CASE(functions_of_a_classifier) {
  const Variable x(floats({1, 2, -1, 0.5f}, {2, 2})), t(floats({0.5f, 1, 0, -1}, {2, 2}));
  const Variable labels(ints({1, 0}));
  nn::Linear model(2, 2, {.initialW = 0.25});
  const double cross = nn::softmax_cross_entropy(model(x), labels).item<double>();
  const double squared = nn::mean_squared_error(model(x), t).item<double>();
  const double hinge = nn::hinge(model(x), labels).item<double>();
  nn::Classifier named(std::ref(model), {.lossfun = nn::softmax_cross_entropy, .accfun = nn::accuracy});
  BOOST_TEST(named(x, labels).item<double>() == cross);
  BOOST_TEST(named.accuracy.item<double>() == nn::accuracy(model(x), labels).item<double>());
  named.options.lossfun = nn::hinge;
  BOOST_TEST(named(x, labels).item<double>() == hinge);
  nn::Classifier regressor(nn::copy(model), nn::mean_squared_error, nn::r2_score);
  BOOST_TEST(regressor(x, t).item<double>() == squared);
  BOOST_TEST(regressor.accuracy.item<double>() == nn::r2_score(model(x), t).item<double>());
  nn::Classifier positional(nn::copy(model), nn::softmax_cross_entropy);
  BOOST_TEST(positional(x, labels).item<double>() == cross);
  const nn::Classifier<nn::Linear> copied(positional);
  BOOST_TEST(copied.options.lossfun(model(x), labels).item<double>() == cross);
  nn::Classifier binary(nn::copy(model), nn::sigmoid_cross_entropy, nn::binary_accuracy);
  const Variable both(autograd::reshape(autograd::array(std::vector<std::int32_t>{1, 0, 0, 1}, {2, 2}), {2, 2}));
  BOOST_TEST(binary(x, both).item<double>() == nn::sigmoid_cross_entropy(model(x), both).item<double>());
}

BOOST_AUTO_TEST_CASE(reports_of_links) {
  nn::ChainList list;
  list.append(nn::Linear(1, 1));
  list.append(nn::Linear(1, 2));
  BOOST_TEST(list.size() == 2u);
  nn::reporter::Reporter reporter;
  reporter.add_observers("model", list.namedlinks());
  std::map<std::string, double> seen;
  {
    const auto scope = reporter.scope(seen);
    nn::reporter::report("loss", 0.5, list[1]);
    nn::report({{"a", 1.0}, {"b", 2.0}}, list[0]);
    reporter.report({{"c", 3.0}}, list[0]);
    reporter.report("d", 4.0, list[1]);
    BOOST_TEST(&nn::reporter::get_current_reporter() == &reporter);
  }
  const std::map<std::string, double> expected{
      {"model/1/loss", 0.5}, {"model/0/a", 1}, {"model/0/b", 2}, {"model/0/c", 3}, {"model/1/d", 4}};
  BOOST_TEST((seen == expected));
  // After an exception the map keeps what it had.
  std::map<std::string, double> kept{{"old", 1}};
  try {
    const auto scope = reporter.scope(kept);
    training::report("new", 2.0);
    throw 1;
  } catch (int) {}
  BOOST_TEST((kept == std::map<std::string, double>{{"old", 1}}));
  std::map<std::string, float> narrow{{"old", 1.0f}, {"new", 1.0f}};
  {
    const auto scope = reporter.scope(narrow);
    training::report("new", 2.5);
  }
  BOOST_TEST((narrow == std::map<std::string, float>{{"old", 1.0f}, {"new", 2.5f}}));
}

BOOST_AUTO_TEST_CASE(options_of_extensions) {
  const TemporaryFolder folder("chainer_names");
  nn::Classifier<nn::Linear> model{nn::Linear(1, 1)};
  model.options = {.lossfun = nn::mean_squared_error, .compute_accuracy = false};
  training::SGD sgd(0.1);
  sgd.setup(model);
  const training::TupleDataset data(floats({0, 1, 2, 3}, {4, 1}), floats({0, 1, 2, 3}, {4, 1}));
  training::updaters::StandardUpdater updater(training::iterators::SerialIterator(data, 2), sgd);
  training::Trainer trainer(updater, {2, "epoch"}, folder.path.string());
  int before = 0, calls = 0;
  trainer.extend([&](training::Trainer& t) { (t.updater().iteration() == 0 ? before : calls) += 1; },
                 {.priority = training::extension::PRIORITY_READER, .call_before_training = true});
  trainer.extend(training::extensions::DumpGraph("main/loss"));
  trainer.extend(training::extensions::PlotReport({"main/loss"}, {.x_key = "epoch", .filename = "curve.svg"}));
  trainer.extend(training::extensions::ParameterStatistics(
      model, {.report_grads = false, .trigger = training::trigger::IntervalTrigger(1, "iteration")}));
  // The older names, assigned after construction.
  training::ExtendOptions first;
  first.invoke_before_training = true;
  int early = 0;
  trainer.extend([&](training::Trainer& t) { early += t.updater().iteration() == 0 ? 1 : 0; }, first);
  training::PlotReportOptions plot;
  plot.file_name = "assigned.svg";
  trainer.extend(training::extensions::PlotReport({"main/loss"}, plot));
  training::ParameterStatisticsOptions often;
  often.prefix = "often";
  often.result_trigger = {1, "iteration"};
  trainer.extend(training::extensions::ParameterStatistics(model, often));
  bool reported = false, often_reported = false;
  trainer.extend(
      [&](training::Trainer& t) {
        for (const auto& [key, value] : t.observation())
          if (t.updater().iteration() == 1 && key.ends_with("W/data/mean"))
            (key.starts_with("often/") ? often_reported : reported) = true;
      },
      {.priority = 1});
  trainer.run();
  BOOST_TEST(before == 1);
  BOOST_TEST(calls == 4);
  BOOST_TEST(early == 1);
  BOOST_TEST(reported);
  BOOST_TEST(often_reported);
  BOOST_TEST(std::filesystem::exists(folder.path / "cg.dot"));
  BOOST_TEST(std::filesystem::exists(folder.path / "curve.svg"));
  BOOST_TEST(std::filesystem::exists(folder.path / "assigned.svg"));
  BOOST_TEST(!std::filesystem::exists(folder.path / "plot.png"));
}

BOOST_AUTO_TEST_SUITE_END()
