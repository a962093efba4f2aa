// ParameterStatistics and percentiles against sums by hand, and dump_graph.
#include <catena/training/extensions/parameter_statistics.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <catena/autograd/config.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;
using Doubles = std::vector<double>;

namespace {

const auto each = boost::test_tools::per_element();
const Doubles kPercentages{0.13, 2.28, 15.87, 50, 84.13, 97.72, 99.87};

// By sorting on the host.
double percentile(Doubles v, double p) {
  std::sort(v.begin(), v.end());
  const double at = p / 100 * double(v.size() - 1);
  const auto low = std::size_t(at), high = std::min(low + 1, v.size() - 1);
  return v[low] + (at - double(low)) * (v[high] - v[low]);
}

struct Layer : nn::Link {
  nn::Parameter W{floats({1, -2, 0, 4, 0, 7}, {2, 3})}, empty{autograd::arrays::zeros({0, 2})}, pending;
  NN_MEMBERS(W, empty, pending)
};
struct Net : nn::Chain {
  Layer l1, l2;
  NN_MEMBERS(l1, l2)
};

// Runs an updater that sets the data of W of l1 to i times what it was, and its gradient to i.
std::map<std::string, double> reports(Net& net, BorrowedLinks links, ParameterStatistics::Options options,
                                      std::int64_t iterations) {
  SGD sgd;
  sgd.setup(net);
  struct Updater : FakeUpdater {
    using FakeUpdater::FakeUpdater;
    Optimizer* optimizer = nullptr;
    std::vector<std::pair<std::string, Optimizer*>> get_all_optimizers() override { return {{"main", optimizer}}; }
  };
  Updater updater(3, [&](std::int64_t i) {
    net.l1.W.set_data(floats({1, -2, 0, 4, 0, 7}, {2, 3}) * double(i));
    net.l1.W.set_grad(autograd::arrays::full({2, 3}, double(i)));
  });
  updater.optimizer = &sgd;
  const TemporaryFolder folder("statistics");
  Trainer trainer(updater, {double(iterations), iteration}, folder.path.string());
  trainer.extend(ParameterStatistics(std::move(links), std::move(options)));
  std::map<std::string, double> result;
  trainer.extend([&](Trainer& t) {
    for (const auto& [key, value] : t.observation()) result[key] = value.value();
  });
  trainer.run();
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(parameter_statistics)

BOOST_AUTO_TEST_CASE(percentiles_by_sorting) {
  const Doubles v{.5, -1.25, 0, 3, 2, 0, 7.5, -2};
  const Doubles actual = values(percentiles(autograd::array(v, {8}), kPercentages));
  // Printed by numpy.percentile.
  const Doubles numpy{-1.993175, -1.8803, -1.111375, .25, 2.8891, 6.7818, 7.45905};
  BOOST_REQUIRE(actual.size() == numpy.size());
  for (std::size_t i = 0; i < numpy.size(); ++i) {
    BOOST_TEST(std::fabs(actual[i] - numpy[i]) < 1e-12);
    BOOST_TEST(std::fabs(actual[i] - percentile(v, kPercentages[i])) < 1e-12);
  }
  BOOST_TEST(values(percentiles(floats({3}, {1}), {0, 50, 100})) == (Doubles{3, 3, 3}), each);
  BOOST_TEST(values(percentiles(ints({4, 1, 2}), {0, 25, 100})) == (Doubles{1, 1.5, 4}), each);
  const Array strided = autograd::slice(floats({5, 9, 1, 9, 3, 9}, {6}), 0, 0, 6, 2);
  BOOST_TEST(values(percentiles(strided, {50})) == (Doubles{3}), each);
  const Array half = percentiles(autograd::astype(floats({1, 2}, {2}), Dtype::float16), {50});
  BOOST_TEST((half.dtype() == Dtype::float32));
  BOOST_TEST(values(half) == (Doubles{1.5}), each);
  BOOST_CHECK_THROW(percentiles(floats({}, {0}), {50}), catena::ValueError);
  BOOST_CHECK_THROW(percentiles(floats({1}, {1, 1}), {50}), catena::ValueError);
  BOOST_CHECK_THROW(percentiles(floats({1}, {1}), {101}), catena::ValueError);
  BOOST_CHECK_THROW(percentiles(floats({1}, {1}), {-1}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(default_statistics_are_means_over_the_interval) {
  Net net;
  const auto r = reports(net, net, {.prefix = "p"}, 3);
  // The data of iterations 1, 2, 3 are 1, 2 and 3 times the values: on average twice.
  const Doubles v{1, -2, 0, 4, 0, 7};
  double mean = 0, square = 0;
  for (const double x : v) mean += x / 6;
  for (const double x : v) square += (x - mean) * (x - mean) / 6;
  const auto check = [&](const std::string& key, double expected) {
    BOOST_REQUIRE_MESSAGE(r.count(key) == 1, key);
    BOOST_TEST(std::fabs(r.at(key) - expected) <= 1e-6 * (1 + std::fabs(expected)), key << ": " << r.at(key));
  };
  check("p/None/l1/W/data/mean", 2 * mean);
  check("p/None/l1/W/data/std", 2 * std::sqrt(square));
  check("p/None/l1/W/data/min", -4);
  check("p/None/l1/W/data/max", 14);
  check("p/None/l1/W/data/zeros", 2);
  for (std::size_t i = 0; i < kPercentages.size(); ++i)
    check("p/None/l1/W/data/percentile/" + std::to_string(i), 2 * percentile(v, kPercentages[i]));
  check("p/None/l1/W/grad/mean", 2);
  check("p/None/l1/W/grad/zeros", 0);
  check("p/None/l2/W/data/max", 7);
  // 12 values for the data of both W and the gradient of one; l2 has none, the others no elements.
  BOOST_TEST(r.size() == 36u);
}

BOOST_AUTO_TEST_CASE(names_and_choices) {
  Net net;
  Layer alone;
  ParameterStatistics::Options options{.statistics = {{"sum", [](const Array& a) { return autograd::sum(a); }}},
                                       .result_trigger = {1, iteration}};
  const auto keys = [](const std::map<std::string, double>& r) {
    std::vector<std::string> result;
    for (const auto& [key, value] : r) result.push_back(key);
    return result;
  };
  // The name of a link is the one that it has in the model.
  const auto r = reports(net, {net.l2, net.l1, alone}, options, 2);
  BOOST_TEST(
      keys(r) == (std::vector<std::string>{"None/W/data/sum", "l1/W/data/sum", "l1/W/grad/sum", "l2/W/data/sum"}),
      each);
  BOOST_TEST(r.at("l1/W/grad/sum") == 12);  // of the second iteration alone
  options.report_params = false;
  BOOST_TEST(keys(reports(net, {net.l1}, options, 1)) == (std::vector<std::string>{"l1/W/grad/sum"}), each);
  options.report_grads = false;
  BOOST_TEST(reports(net, net, options, 1).empty());
  options = {.statistics = {}, .report_grads = false, .result_trigger = {1, iteration}};
  ParameterStatistics extension(net, options);
  BOOST_TEST(extension.priority == PRIORITY_WRITER);
  extension.register_statistics("first", [](const Array&) { return autograd::arrays::full({1}, 1); });
  extension.register_statistics("first", [](const Array&) { return autograd::arrays::full({2}, 5); });
  FakeUpdater updater(1);
  const TemporaryFolder folder("registered");
  Trainer trainer(updater, {1, iteration}, folder.path.string());
  BOOST_TEST(trainer.extend(extension).name() == "parameter_statistics");
  LogReport& log = trainer.extend(LogReport());
  trainer.run();
  BOOST_TEST(log.log()[0].number("None/l1/W/data/first/1") == 5);
  BOOST_TEST(!log.log()[0].contains("None/l1/W/data/first"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(dumped_graphs)

namespace {

struct Product : nn::Chain {
  nn::Parameter w{floats({2}, {1})};
  NN_MEMBERS(w)
  std::string key = "loss";
  Variable operator()(const Variable& x) {
    const Variable loss = autograd::sum(Variable(w) * x);
    nn::report(key, loss, this);
    nn::report("number", 1.0, this);
    return loss;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_graph_of_the_first_iteration) {
  const TemporaryFolder folder("graph");
  Product model;
  model.w.set_name("w");
  SGD sgd;
  sgd.setup(model);
  SerialIterator it(floats({1, 2, 3, 4}, {4, 1}), 1, {.shuffle = false});
  const auto run = [&](DumpGraph extension, double n) {
    Trainer trainer(StandardUpdater(it, sgd), {n, iteration}, folder.path.string());
    BOOST_TEST(trainer.extend(std::move(extension)).name() == "dump_graph");
    trainer.run();
  };
  run(dump_graph("main/loss"), 1);
  const std::string text = file_content(folder / "cg.dot");
  for (const char* part : {"digraph graphname{rankdir=TB;", "label=\"w: (1), float32\"", "label=\"Sum\"",
                           "shape=\"octagon\",fillcolor=\"#E0E0E0\",style=\"filled\"", "label=\"float32\""})
    BOOST_TEST(has(text, part), text);
  BOOST_TEST(!autograd::config().keep_graph_on_report);
  // Two of them: each finds its graph, and the configuration is as before.
  {
    Trainer trainer(StandardUpdater(it, sgd), {2, iteration}, folder.path.string());
    trainer.extend(dump_graph("main/loss", {.out_name = "first.dot"}), {.name = "first"});
    trainer.extend(dump_graph("main/loss", {.out_name = "second.dot"}), {.name = "second"});
    trainer.run();
  }
  for (const char* name : {"first.dot", "second.dot"}) BOOST_TEST(has(file_content(folder / name), "label=\"Sum\""));
  BOOST_TEST(!autograd::config().keep_graph_on_report);
  // Later iterations write nothing.
  model.key = "another";
  run(dump_graph("main/another", {.out_name = "other.dot", .variable_style = {}, .function_style = {{"color", "red"}}}),
      3);
  BOOST_TEST(has(file_content(folder / "other.dot"), "shape=\"box\",color=\"red\""));
  std::filesystem::remove(folder.path / "cg.dot");
  StandardUpdater updater(it, sgd);
  updater.update();
  Trainer second(updater, {3, iteration}, folder.path.string());  // begins at iteration 2
  second.extend(dump_graph("main/another"));
  second.run();
  BOOST_TEST(!std::filesystem::exists(folder / "cg.dot"));
  BOOST_TEST(has(message_of<catena::KeyError>([&] { run(dump_graph("main/none"), 1); }), "main/another"));
  BOOST_TEST(has(message_of<catena::TypeError>([&] { run(dump_graph("main/number"), 1); }), "is a number"));
}

BOOST_AUTO_TEST_SUITE_END()
