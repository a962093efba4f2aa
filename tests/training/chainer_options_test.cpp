// Options and forms of Chainer's trainers, triggers, extensions, updaters, evaluators and serializers.
#include <filesystem>
#include <map>
#include <tuple>

#include <catena/nn/links/classifier.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/communicators/communicator.h>
#include <catena/training/communicators/thread_transport.h>
#include <catena/training/training.h>

using namespace test;

namespace {

namespace extensions = training::extensions;
namespace triggers = training::triggers;

std::string unique() {
  static int n = 0;
  return "chainer_options" + std::to_string(++n);
}

// A trainer of six iterations, two in an epoch, whose updater reports the number of the iteration as "value".
struct Run {
  TemporaryFolder folder{unique()};
  FakeUpdater updater{2, [](std::int64_t i) { nn::report("value", double(i)); }};
  training::Trainer trainer{updater, {.stop_trigger = {6, "iteration"}, .out = folder.path.string()}};
  std::size_t files(const std::string& part) const {
    std::size_t n = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder.path))
      n += has(file.path().filename().string(), part) ? 1u : 0u;
    return n;
  }
};

// A classifier (regression) of four examples in batches of two.
struct Model {
  TemporaryFolder folder{unique()};
  nn::Classifier<nn::Linear> model{nn::Linear(1, 1, {.initialW = 0.0})};
  training::SGD sgd{0.1};
  training::TupleDataset data{floats({0, 1, 2, 3}, {4, 1}), floats({0, 2, 4, 6}, {4, 1})};
  training::SerialIterator iterator{data, 2, {.shuffle = false}};
  Model() {
    model.options = {.lossfun = nn::mean_squared_error, .compute_accuracy = false};
    sgd.setup(model);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(chainer_options)

BOOST_AUTO_TEST_CASE(trainers_by_name) {
  Run run;
  BOOST_TEST(run.trainer.out() == run.folder.path.string());
  run.trainer.run();
  BOOST_TEST(run.updater.iteration() == 6);
  const TemporaryFolder folder(unique());
  FakeUpdater forever(2);
  training::Trainer endless(forever, {.out = folder.path.string()});
  BOOST_TEST((endless.stop_trigger() == nullptr));
}

BOOST_AUTO_TEST_CASE(log_reports_by_trigger) {
  Run run;
  const auto& positional = run.trainer.extend(extensions::LogReport({2, "iteration"}), {.name = "a"});
  const auto& named = run.trainer.extend(extensions::LogReport({.trigger = {3, "iteration"}}), {.name = "b"});
  const auto& keys = run.trainer.extend(
      extensions::LogReport({"other"}, {.trigger = {1, "iteration"}, .filename = "other.json"}), {.name = "c"});
  run.trainer.run();
  BOOST_TEST(positional.log().size() == 3u);
  BOOST_TEST(named.log().size() == 2u);
  BOOST_TEST(keys.log().size() == 6u);
  BOOST_TEST(has(file_content(run.folder / "log"), "value"));
  BOOST_TEST(!has(file_content(run.folder / "other.json"), "value"));
}

BOOST_AUTO_TEST_CASE(triggers_that_a_program_calls) {
  Run run;
  auto twice = training::get_trigger({2, "iteration"});
  auto never = triggers::get_trigger(std::nullopt);
  int fired = 0, never_fired = 0, through = 0;
  run.trainer.extend([&](training::Trainer& t) {
    fired += twice(t) ? 1 : 0;
    never_fired += never(t) ? 1 : 0;
  });
  run.trainer.extend(
      [&](training::Trainer&) { ++through; },
      {.trigger = training::get_trigger([](training::Trainer& t) { return t.updater().iteration() == 5; })});
  run.trainer.run();
  BOOST_TEST(fired == 3);
  BOOST_TEST(never_fired == 0);
  BOOST_TEST(through == 1);
  const auto length = training::get_trigger({20, "epoch"}).training_length();
  BOOST_TEST(length->length == 20);
  BOOST_TEST((length->unit == training::epoch));
  BOOST_TEST((!never.training_length()));
  // As a stop trigger it ends the training where the interval does.
  FakeUpdater updater(2);
  const TemporaryFolder folder(unique());
  training::Trainer trainer(updater, training::get_trigger({2, "epoch"}), folder.path.string());
  trainer.run();
  BOOST_TEST(updater.iteration() == 4);
}

BOOST_AUTO_TEST_CASE(best_values_by_option) {
  Run run;
  int most = 0, least = 0;
  run.trainer.extend([&](training::Trainer&) { ++most; },
                     {.trigger = triggers::MaxValueTrigger("value", {.trigger = {3, "iteration"}})});
  run.trainer.extend([&](training::Trainer&) { ++least; },
                     {.trigger = triggers::MinValueTrigger("value", {.trigger = {1, "iteration"}})});
  run.trainer.run();
  BOOST_TEST(most == 2);
  BOOST_TEST(least == 1);
}

BOOST_AUTO_TEST_CASE(snapshots_by_option) {
  struct Row {
    const char* what;
    std::size_t files;
    training::SnapshotOptions options;
  };
  int asked = 0;
  const Row rows[] = {
      {"condition", 3, {.filename = "snap_{.updater.iteration}", .condition = [&] { return ++asked % 2 == 0; }}},
      {"thread", 6, {.filename = "snap_{.updater.iteration}", .writer = extensions::snapshot_writers::ThreadWriter()}},
      {"at once", 6, {.filename = "snap_{.updater.iteration}", .writer = extensions::snapshot_writers::SimpleWriter()}},
      {"save_npz", 6, {.filename = "snap_{.updater.iteration}", .savefun = nn::serializers::save_npz}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.what) {
      Run run;
      run.trainer.extend(extensions::snapshot(row.options), {.trigger = {1, "iteration"}});
      run.trainer.run();
      BOOST_TEST(run.files("snap_") == row.files);
    }
  }
  // A thread would see the object of a savefun while it changes.
  BOOST_CHECK_THROW(extensions::snapshot(
                        {.savefun = nn::serializers::save_npz, .writer = extensions::snapshot_writers::ThreadWriter()}),
                    catena::ValueError);
  Run run;
  nn::Linear model(2, 1);
  run.trainer.extend(extensions::snapshot_object(model, "model.npz", nn::serializers::save_npz));
  run.trainer.run();
  nn::Linear loaded(2, 1);
  nn::serializers::load_npz(run.folder / "model.npz", loaded);
  BOOST_TEST(values(loaded.W.data()) == values(model.W.data()), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(graphs_and_rates_by_option) {
  Model m;
  training::Trainer trainer(training::StandardUpdater(m.iterator, m.sgd), {1, "epoch"}, m.folder.path.string());
  trainer.extend(extensions::dump_graph("main/loss", {.filename = "graph.dot"}), {.name = "first"});
  training::DumpGraphOptions later;
  later.out_name = "later.dot";
  trainer.extend(extensions::dump_graph("main/loss", later), {.name = "second"});
  trainer.extend(extensions::observe_lr({.observation_key = "rate"}), {.trigger = {1, "iteration"}});
  trainer.extend(extensions::observe_lr({.optimizer_name = "main", .observation_key = "other"}),
                 {.trigger = {1, "iteration"}});
  trainer.run();
  BOOST_TEST(std::filesystem::exists(m.folder.path / "graph.dot"));
  BOOST_TEST(std::filesystem::exists(m.folder.path / "later.dot"));
  BOOST_TEST(trainer.observation().at("rate").value() == 0.1);
  BOOST_TEST(trainer.observation().at("other").value() == 0.1);
}

BOOST_AUTO_TEST_CASE(extensions_without_arguments) {
  Run run;
  int calls = 0;
  run.trainer.extend([&] { ++calls; }, {.trigger = {2, "iteration"}});
  run.trainer.extend([&] { ++calls; });
  run.trainer.extend(extensions::ProgressBar({.training_length = {3, "epoch"}, .update_interval = 100}));
  run.trainer.extend(extensions::dump_graph("value", "graph.dot"), {.trigger = std::nullopt});
  run.trainer.run();
  BOOST_TEST(calls == 9);
}

BOOST_AUTO_TEST_CASE(observed_hyperparameters) {
  Model m;
  training::Trainer trainer(training::StandardUpdater(m.iterator, m.sgd), {1, "epoch"}, m.folder.path.string());
  const training::ExtendOptions each{.trigger = {1, "iteration"}};
  trainer.extend(extensions::observe_value("rate", [&](training::Trainer&) { return m.sgd.lr; }), each);
  trainer.extend(extensions::observe_value("count", [](training::Trainer& t) { return t.updater().iteration(); }),
                 each);
  trainer.extend(extensions::observe_value("half", [](training::Trainer&) { return 0.5; }), each);
  trainer.run();
  BOOST_TEST(trainer.observation().at("rate").value() == 0.1);
  BOOST_TEST(trainer.observation().at("count").value() == 2);
  BOOST_TEST(trainer.observation().at("half").value() == 0.5);
}

BOOST_AUTO_TEST_CASE(examples_as_tuples) {
  const training::TupleDataset data(floats({1, 2, 3}, {3}), ints({10, 20, 30}));
  const training::TransformDataset numbers(
      data, [](std::tuple<Array, int> in) { return std::tuple(std::get<0>(in) * 2, std::get<1>(in) + 1); });
  BOOST_TEST(values(numbers[1][0]).at(0) == 4);
  BOOST_TEST(values(numbers[1][1]).at(0) == 21);
  const training::TransformDataset arrays(data, [](const std::tuple<Array, Array>& in) {
    const auto& [x, t] = in;
    return std::tuple(t, x);
  });
  BOOST_TEST(values(arrays[2][0]).at(0) == 30);
  const training::TransformDataset wrong(data,
                                         [](const std::tuple<Array, Array, Array>& in) { return std::get<0>(in); });
  BOOST_CHECK_THROW(wrong[0], catena::ValueError);
  const training::TupleDataset rows(floats({1, 2, 3, 4}, {2, 2}), ints({1, 2}));
  const training::TransformDataset no_number(rows, [](const std::tuple<double, int>& in) { return std::get<0>(in); });
  BOOST_CHECK_THROW(no_number[0], catena::ValueError);
}

BOOST_AUTO_TEST_CASE(members_of_a_shared_communicator) {
  const auto members = [](catena::Shared<training::communicators::Transport> transport) {
    const training::CommunicatorPtr comm(catena::Shared<training::Communicator>::make("naive", std::move(transport)));
    const auto check = [](bool holds) { catena::check<catena::AssertionError>(holds, "rank", "a member is wrong"); };
    check(comm.rank() == comm->rank() && comm.size() == 2 && comm.inter_rank() == comm->inter_rank());
    check(comm.intra_rank() == comm->intra_rank() && comm.intra_size() == comm->intra_size() &&
          comm.inter_size() == comm->inter_size());
    const Array one = autograd::arrays::full({1}, double(comm.rank() + 1));
    check(values(comm.allreduce(one)).at(0) == 3 && values(comm.bcast(one, 1)).at(0) == 2);
    check(values(comm.allgather(one).at(1)).at(0) == 2);
    check(comm.gather(one).size() == (comm.rank() == 0 ? 2u : 0u));
    check(comm.bcast_obj("text" + std::to_string(comm.rank())) == "text0");
    check(comm.allreduce_obj({{"a", 1.0 + comm.rank()}}).at("a") == 3);
    if (comm.rank() == 0) comm.send(one, 1);
    else check(values(comm.recv(0)).at(0) == 1);
    nn::Linear model(1, 1, {.initialW = double(comm.rank() + 5)});
    comm.bcast_data(model);
    check(values(model.W.data()).at(0) == 5);
    model.W.set_grad(floats({float(comm.rank())}, {1, 1}));
    model.b->set_grad(floats({0}, {1}));
    comm.multi_node_mean_grad(model);
    check(values(model.W.grad()).at(0) == 0.5);
    comm.barrier();
    check(comm.split(comm.rank(), 0).size() == 1);
  };
  BOOST_CHECK_NO_THROW(training::communicators::run_thread_ranks(2, members));
}

BOOST_AUTO_TEST_CASE(filters_of_lines) {
  const TemporaryFolder folder(unique());
  write_file(folder / "a", "one\n\nthree\n");
  write_file(folder / "b", "1\n2\n3\n");
  const training::datasets::TextDataset one(folder / "a",
                                            {.filter_func = [](const std::string& line) { return !line.empty(); }});
  BOOST_TEST(one.size() == 2);
  BOOST_TEST(one.lines(1).at(0) == "three");
  const training::datasets::TextDataset two(
      {folder / "a", folder / "b"},
      {.filter_func = [](const std::string& a, const std::string& b) { return a.empty() && b == "2"; }});
  BOOST_TEST(two.size() == 1);
  const training::datasets::TextDataset list(
      {folder / "a", folder / "b"},
      {.filter_func = [](const std::vector<std::string>& lines) { return lines[1] != "2"; }});
  BOOST_TEST(list.size() == 2);
  training::TextOptions later;
  later.filter = [](const std::vector<std::string>& lines) { return lines[0] == "three"; };
  BOOST_TEST(training::datasets::TextDataset(folder / "a", later).size() == 1);
  later.filter_func = [](const std::string& line) { return !line.empty(); };
  BOOST_TEST(training::datasets::TextDataset(folder / "a", later).size() == 2);
}

BOOST_AUTO_TEST_CASE(batches_with_options) {
  const std::vector<Array> ragged{floats({1}, {1}), floats({2, 3}, {2})};
  BOOST_TEST(
      values(training::convert::concat_examples(ragged, {.padding = -1})[0]) == (std::vector<double>{1, -1, 2, 3}),
      boost::test_tools::per_element());
  Model m;
  training::SerialIterator once(m.data, 4, {.repeat = false, .shuffle = false});
  const auto [x, t] = training::concat_examples(once.next(), {.device = -1});
  BOOST_TEST(values(t) == (std::vector<double>{0, 2, 4, 6}), boost::test_tools::per_element());
  BOOST_CHECK_THROW(training::concat_examples(once.next(), {.device = -1}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(updaters_by_position) {
  const auto rate_of = [](auto&& make) {
    Model m;
    auto updater = make(m);
    updater.update();
    return values(m.model.predictor.W.data()).at(0);
  };
  using Updater = training::StandardUpdater;
  // The loss is the mean of (t - w x)^2 over x = {0, 1} and t = {0, 2}: its derivative at w = 0 is -2.
  const double expected = 0.2;
  const auto tolerance = boost::test_tools::tolerance(1e-6);
  BOOST_TEST(rate_of([](Model& m) { return Updater(m.iterator, m.sgd, training::concat_examples, -1); }) == expected,
             tolerance);
  BOOST_TEST(rate_of([](Model& m) { return Updater(m.iterator, m.sgd, {.device = "@cpu"}); }) == expected, tolerance);
  BOOST_TEST(rate_of([](Model& m) {
               return Updater(m.iterator, m.sgd, training::concat_examples, {},
                              [&m](const Variables& batch) { return 2 * m.model(batch[0], batch[1]); });
             }) == 2 * expected,
             tolerance);
  Model m;
  BOOST_CHECK_THROW(Updater(m.iterator, m.sgd, {.device = "@gpu"}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(updaters_of_ones_own) {
  struct Mine : training::StandardUpdater {
    using training::StandardUpdater::StandardUpdater;
    std::vector<double> seen;
    void update_core() override {
      const auto [x, t] = converter(get_iterator("main").next(), device());
      seen = values(x);
    }
  };
  Model m;
  Mine mine(m.iterator, m.sgd, {.device = -1});
  mine.update();
  mine.update();
  BOOST_TEST(mine.seen == (std::vector<double>{2, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(evaluation_by_a_function_without_a_result) {
  Model m;
  training::SerialIterator test(m.data, 2, {.repeat = false, .shuffle = false});
  int calls = 0;
  const training::DeviceId device = m.model.predictor.W.data().device();
  extensions::Evaluator evaluator(test, m.model,
                                  {.device = device, .eval_func = [&](const Variable& x, const Variable& t) {
                                     ++calls;
                                     m.model(x, t);
                                   }});
  const training::Observation result = evaluator();
  BOOST_TEST(calls == 2);
  BOOST_TEST(result["main/loss"].value() == 14.0);  // the mean of t^2 over {0, 2, 4, 6}
}

BOOST_AUTO_TEST_CASE(constant_loss_scales) {
  Model m;
  m.sgd.set_loss_scale(8);
  BOOST_TEST(m.sgd.loss_scale() == 8);
  m.sgd.loss_scaling({.interval = 10, .scale = 4.0});
  BOOST_TEST(m.sgd.loss_scale() == 4);
  m.sgd.loss_scaling({.interval = 10});
  BOOST_TEST(m.sgd.loss_scale() == 65536);
  BOOST_CHECK_THROW(m.sgd.loss_scaling({.interval = 0}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(reports_to_a_map) {
  nn::Reporter reporter;
  const auto scope = reporter.scope();
  std::map<std::string, double> seen;
  {
    const auto inner = training::report_scope(seen);
    training::report({{"loss", 2.5}});
  }
  training::report({{"loss", 1.0}});
  BOOST_TEST((seen == std::map<std::string, double>{{"loss", 2.5}}));
  BOOST_TEST(reporter.observation().at("loss").value() == 1.0);
}

BOOST_AUTO_TEST_CASE(files_without_compression) {
  const TemporaryFolder folder(unique());
  nn::Linear model(100, 100, {.initialW = 1.0}), loaded(100, 100);
  nn::serializers::save_npz(folder / "small", model);
  nn::serializers::save_npz(folder / "large", model, {.compression = false});
  BOOST_TEST(std::filesystem::file_size(folder.path / "small") < 40000u);
  BOOST_TEST(std::filesystem::file_size(folder.path / "large") > 40000u);
  nn::serializers::load_npz(folder / "large", loaded);
  BOOST_TEST(same_bits(loaded.W.data(), model.W.data()));
}

BOOST_AUTO_TEST_SUITE_END()
