// Evaluation over all ranks against one process with all examples; results per example; means of observations; early
// stopping at the same iteration.
#include <catena/training/multi_node/evaluator.h>

#include <cmath>
#include <limits>
#include <numeric>

#include <catena/autograd/functions/reduction.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/rank_threads.h>
#include <catena/training/multi_node/early_stopping.h>
#include <catena/training/multi_node/scatter_dataset.h>
#include <catena/training/parallel/prefetch_iterator.h>

using namespace test;
using namespace training;

namespace {

const auto each = boost::test_tools::per_element();
using Numbers = std::vector<double>;

// Reports the mean of x and of its square.
struct Means : nn::Link {
  NN_MEMBERS()
  Variable operator()(const Variable& x) {
    const Variable mean = autograd::mean(x);
    nn::report("mean", mean, this);
    nn::report("square", autograd::mean(x * x), this);
    return mean;
  }
};

Array numbers(std::int64_t n) {
  std::vector<double> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(std::sqrt(double(i * i * i + 2)));
  return autograd::array(v, {n, 1});
}
Evaluator evaluator_of(DatasetPtr data, Means& model, bool weighted) {
  return Evaluator(SerialIterator(std::move(data), 2, {.repeat = false, .shuffle = false}), model,
                   {.weighted = weighted});
}
Numbers means_of(Evaluator& evaluator) {
  const Observation o = evaluator();
  return {o.at("main/mean").value(), o.at("main/square").value()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(multi_node_evaluators)

// Parts of unequal sizes, weighted: the mean over all examples, the same bits on all ranks.
BOOST_AUTO_TEST_CASE(means_over_all_examples) {
  for (const int size : {1, 2, 3, 4})
    for (const std::int64_t n : {4, 7, 13}) {
      const Numbers v = values(numbers(n));
      const double mean = std::accumulate(v.begin(), v.end(), 0.0) / double(n);
      const double square = std::inner_product(v.begin(), v.end(), v.begin(), 0.0) / double(n);
      const auto ranks = by_rank(size, [&](const Comm& comm) {
        Means model;
        const DatasetPtr part = scatter_dataset(numbers(n), comm, {.force_equal_length = false});
        MultiNodeEvaluator evaluator = create_multi_node_evaluator(evaluator_of(part, model, true), comm);
        means_of(evaluator);
        return means_of(evaluator);  // again, from the beginning
      });
      for (const Numbers& r : ranks) {
        BOOST_TEST(r[0] == mean, boost::test_tools::tolerance(1e-12));
        BOOST_TEST(r[1] == square, boost::test_tools::tolerance(1e-12));
        BOOST_TEST(r == ranks[0], each);
      }
    }
}

// The iterators of 1, 2 and 3 examples; where a rank does not know its examples, all ranks count the same.
BOOST_AUTO_TEST_CASE(weights_of_ranks) {
  for (const bool known : {true, false}) {
    const auto ranks = by_rank(3, [&](const Comm& comm) {
      const int r = comm->rank();
      Means model;
      const DatasetPtr data =
          std::make_shared<ArrayDataset>(autograd::arrays::full({r + 1, 1}, 10.0 * r, Dtype::float64));
      SerialIterator serial(data, 8, {.repeat = false});
      PrefetchIterator prefetch(SerialIterator(data, 8, {.repeat = false}));
      Iterator& iterator = known || r != 1 ? static_cast<Iterator&>(serial) : prefetch;
      MultiNodeEvaluator evaluator = create_multi_node_evaluator(Evaluator(iterator, model), comm);
      return means_of(evaluator)[0];
    });
    // (1 * 0 + 2 * 10 + 3 * 20) / 6, and (0 + 10 + 20) / 3
    for (const double r : ranks) BOOST_TEST(r == (known ? 80.0 / 6 : 10.0), boost::test_tools::tolerance(1e-12));
  }
}

// The iterator "main", which need not be the first, gives the weights.
BOOST_AUTO_TEST_CASE(weights_of_the_main_iterator) {
  const auto ranks = by_rank(2, [&](const Comm& comm) {
    const int r = comm->rank();
    Means model;
    SerialIterator extra(ArrayDataset(autograd::arrays::zeros({5, 1}, Dtype::float64)), 8, {.repeat = false});
    SerialIterator main(ArrayDataset(autograd::arrays::full({r + 1, 1}, 9.0 * r, Dtype::float64)), 8,
                        {.repeat = false});
    Evaluator evaluator(HeldMap<Iterator>{{"extra", extra}, {"main", main}}, HeldMap<nn::Link>{{"main", model}});
    MultiNodeEvaluator all = create_multi_node_evaluator(evaluator, comm);
    return means_of(all)[0];
  });
  for (const double r : ranks) BOOST_TEST(r == 6.0, boost::test_tools::tolerance(1e-12));  // (1 * 0 + 2 * 9) / 3
}

// A class derived from Evaluator, whose names differ between the ranks.
BOOST_AUTO_TEST_CASE(names_that_only_some_ranks_report) {
  struct Own : Evaluator {
    int rank;
    Own(int r, Means& model) : Evaluator(SerialIterator(numbers(3), 1, {.repeat = false}), model), rank(r) {
      trigger = {7, iteration};
      priority = 250;
      set_name("mine");
    }
    Observation evaluate() override {
      Observation o;
      if (rank == 1) o.set("odd", 5.0);
      o.set("all", 1.0 + rank);
      if (rank != 1) o.set("even", 2.0 + rank);
      return o;
    }
  };
  const auto ranks = by_rank(3, [](const Comm& comm) {
    Means model;
    MultiNodeEvaluator evaluator = create_multi_node_evaluator(Own(comm->rank(), model), comm);
    std::string text = catena::concat(evaluator.name(), evaluator.priority, " ");
    for (const auto& [key, value] : evaluator()) text += catena::concat(key, "=", value.value(), " ");
    return text;
  });
  BOOST_TEST(ranks[0] == "mine250 all=2 even=3 odd=5 ");
  BOOST_TEST(ranks[1] == "mine250 odd=5 all=2 even=3 ");
  BOOST_TEST(ranks[2] == ranks[0]);
}

BOOST_AUTO_TEST_CASE(in_a_trainer) {
  const TemporaryFolder folder("multi_node_evaluator");
  const auto ranks = by_rank(2, [&](const Comm& comm) {
    Means model;
    Trainer trainer(FakeUpdater(2), {2, iteration}, folder / "out");
    trainer.extend(create_multi_node_evaluator(
        evaluator_of(std::make_shared<ArrayDataset>(numbers(2 + comm->rank())), model, true), comm));
    trainer.run();
    return trainer.observation().at("validation/main/mean").value();
  });
  const double sum = std::sqrt(2.0) * 2 + std::sqrt(3.0) * 2 + std::sqrt(10.0);
  for (const double r : ranks) BOOST_TEST(r == sum / 5, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(a_rank_that_fails) {
  const auto messages = messages_by_rank<catena::Error>(3, [](const Comm& comm) {
    Means model;
    const auto fails = [&](const Variables& v) -> Variable {
      catena::check<catena::IOError>(comm->rank() != 2, "model", "the disk is gone");
      return model(v[0]);
    };
    Evaluator evaluator(SerialIterator(numbers(3), 1, {.repeat = false}), model, {.eval_func = fails});
    create_multi_node_evaluator(evaluator, comm)();
  });
  BOOST_TEST(messages[2] == "model: the disk is gone");
  for (const std::size_t r : {0u, 1u})
    BOOST_TEST(messages[r] == "MultiNodeEvaluator: rank 2 has failed: model: the disk is gone");
  BOOST_TEST(has(message_of<catena::TypeError>([] {
                   Means model;
                   create_multi_node_evaluator(evaluator_of(std::make_shared<ArrayDataset>(numbers(1)), model, true),
                                               Comm());
                 }),
                 "the communicator is null"));
}

namespace {

// The results are the examples, doubled; the observation is the index of the greatest and the sum.
struct Greatest : GenericMultiNodeEvaluator {
  using GenericMultiNodeEvaluator::GenericMultiNodeEvaluator;
  Numbers order;
  training::Examples calc_local(const Variables& batch) override {
    training::Examples results;
    for (const double v : values(batch[0].data())) results.push_back(Example({2 * v}));
    if (autograd::internal::modes().train.now) results.clear();
    return results;
  }
  Observation aggregate(const training::Examples& results) override {
    for (const Example& e : results) order.push_back(autograd::item(e.values[0]).to_double());
    Observation o;
    o.set("sum", std::accumulate(order.begin(), order.end(), 0.0));
    return o;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(results_of_examples) {
  for (const int size : {1, 2, 3, 4})
    for (const int root : {0, size - 1}) {
      const auto ranks = by_rank(size, [&](const Comm& comm) {
        Means model;
        const DatasetPtr part = scatter_dataset(numbers(9), comm, {.force_equal_length = false});
        Greatest evaluator(comm, SerialIterator(part, 2, {.repeat = false, .shuffle = false}), model, {.root = root});
        const Observation o = evaluator();
        Numbers all = evaluator.order;
        if (o.contains("sum")) all.push_back(o.at("sum").value());
        return all;
      });
      Numbers expected;
      for (const double v : values(numbers(9))) expected.push_back(2 * v);
      expected.push_back(std::accumulate(expected.begin(), expected.end(), 0.0));
      for (int r = 0; r < size; ++r) BOOST_TEST(ranks[std::size_t(r)] == (r == root ? expected : Numbers{}), each);
    }
  const auto endless = messages_by_rank<catena::Error>(2, [](const Comm& comm) {
    Means model;
    Greatest(comm, SerialIterator(numbers(3), 2, {.repeat = comm->rank() == 1}), model)();
  });
  BOOST_TEST(has(endless[1], "it must not repeat"));
  BOOST_TEST(has(endless[0], "GenericMultiNodeEvaluator: rank 1 has failed: "));
}

// ---- observations -------------------------------------------------------------------------------
namespace {

// A trainer of FakeUpdater that observes value(iteration) as "x" in each iteration; NaN: not observed.
struct Observed {
  std::function<double(std::int64_t)> value;
  Trainer trainer;
  Observed(std::function<double(std::int64_t)> value_, double end, const std::string& out, TriggerSpec stop = {})
      : value(std::move(value_)),
        trainer(FakeUpdater(10), stop.make() ? std::move(stop) : TriggerSpec(end, iteration), out) {
    trainer.extend(
        [this](Trainer& t) {
          const double x = value(t.updater().iteration());
          if (!std::isnan(x)) t.observation().set("x", x);
        },
        {.name = "observe", .priority = PRIORITY_WRITER});
  }
  // The observed value of a key in each iteration; -1: none.
  Numbers seen(const std::string& key) {
    Numbers all;
    trainer.extend(
        [&all, key](Trainer& t) {
          const nn::Observed* const found = t.observation().find(key);
          all.push_back(found ? found->value() : -1);
        },
        {.name = "see"});
    trainer.run();
    return all;
  }
};
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

BOOST_AUTO_TEST_CASE(means_of_observations) {
  const TemporaryFolder folder("observation_aggregator");
  const auto seen = [&](const std::function<double(int, std::int64_t)>& value, const std::string& key,
                        ObservationAggregatorOptions options) {
    return by_rank(3, [&](const Comm& comm) {
      Observed run([&](std::int64_t i) { return value(comm->rank(), i); }, 6, folder / "out");
      run.trainer.extend(observation_aggregator(comm, "x", options));
      return run.seen(key);
    });
  };
  // Rank r sees i + 3 r: the mean is i + 3.
  for (const Numbers& r : seen([](int rank, std::int64_t i) { return double(i + 3 * rank); }, "x", {}))
    BOOST_TEST(r == (Numbers{4, 5, 6, 7, 8, 9}), each);
  // Every third iteration, of those ranks and iterations that have a value: of rank 1 every second one.
  const auto sparse = [](int rank, std::int64_t i) {
    return rank == 0 ? double(i) : rank == 1 && i % 2 == 0 ? 100.0 * double(i) : kNothing;
  };
  for (const Numbers& r : seen(sparse, "all", {.aggregated_key = "all", .comm_trigger = TriggerSpec(3, iteration)}))
    BOOST_TEST(r == (Numbers{-1, -1, (1 + 2 + 3 + 200) / 4.0, -1, -1, (4 + 5 + 6 + 400 + 600) / 5.0}),
               boost::test_tools::tolerance(1e-12) << each);
  for (const Numbers& r : seen([](int, std::int64_t) { return kNothing; }, "x", {}))
    BOOST_TEST(r == Numbers(6, -1.0), each);
  // A function of the values by rank.
  const auto last_of_rank_2 = [](const std::vector<std::vector<double>>& by_rank) {
    return by_rank.size() == 3 && by_rank[0].size() == 2 ? by_rank[2].back() : -5.0;
  };
  for (const Numbers& r :
       seen([](int rank, std::int64_t i) { return double(10 * rank + i); }, "last",
            {.aggregated_key = "last", .comm_trigger = TriggerSpec(2, iteration), .aggregator = last_of_rank_2}))
    BOOST_TEST(r == (Numbers{-1, 22, -1, 24, -1, 26}), each);
}

// A training that is resumed between two exchanges keeps the values before.
BOOST_AUTO_TEST_CASE(resumed_observations) {
  const TemporaryFolder folder("resumed_observations");
  const auto ranks = by_rank(2, [&](const Comm& comm) {
    const std::string path = folder / catena::concat("state", comm->rank());
    const auto aggregator = [&] {
      return ObservationAggregator(comm, "x", {.aggregated_key = "mean", .comm_trigger = TriggerSpec(4, iteration)});
    };
    Observed first([&](std::int64_t i) { return double(i); }, 6, folder / "out");
    first.trainer.extend(aggregator());
    first.seen("mean");
    nn::serializers::save_npz(path, first.trainer);
    Observed second([&](std::int64_t i) { return double(i); }, 8, folder / "out");
    second.trainer.extend(aggregator());
    second.trainer.extend([](Trainer&) {}, {.name = "see"});
    nn::serializers::load_npz(path, second.trainer);
    second.trainer.run();
    return second.trainer.observation().at("mean").value();
  });
  for (const double r : ranks) BOOST_TEST(r == (5 + 6 + 7 + 8) / 4.0);
}

// Rank 0 alone would stop at iteration 3, rank 1 never; the means are 10, 9, 8.5, 8.6, 8.7, ...
BOOST_AUTO_TEST_CASE(early_stopping_of_all_ranks) {
  const TemporaryFolder folder("multi_node_early_stopping");
  const Numbers means = {10, 9, 8.5, 8.6, 8.7, 8.8, 1, 1};
  const auto value = [&](int rank, std::int64_t i) {
    const double off = double(i) * (rank == 0 ? 5 : -5);
    return means[std::size_t(i - 1)] + off;
  };
  const auto make = [&](const Comm& comm) {
    return MultiNodeEarlyStoppingTrigger(comm, {.check_trigger = TriggerSpec(1, iteration),
                                                .monitor = "x",
                                                .patience = 2,
                                                .max_trigger = TriggerSpec(20, iteration)});
  };
  const auto ended = by_rank(2, [&](const Comm& comm) {
    Observed run([&](std::int64_t i) { return value(comm->rank(), i); }, 0, folder / "out", make(comm));
    run.trainer.run();
    auto& stop = dynamic_cast<MultiNodeEarlyStoppingTrigger&>(*run.trainer.stop_trigger());
    return Numbers{double(run.trainer.updater().iteration()), *stop.best(), double(stop.count()),
                   stop.training_length()->length, run.trainer.observation().at("x_aggregated").value()};
  });
  for (const Numbers& r : ended)
    BOOST_TEST(r == (Numbers{5, 8.5, 2, 20, 8.7}), boost::test_tools::tolerance(1e-12) << each);
  // The same after a resume at iteration 4, and at the end in any case.
  const auto resumed = by_rank(2, [&](const Comm& comm) {
    const std::string path = folder / catena::concat("state", comm->rank());
    const auto own = [&](std::int64_t i) { return value(comm->rank(), i); };
    {
      Observed run(own, 0, folder / "out", make(comm));
      run.trainer.extend([&](Trainer& t) { nn::serializers::save_npz(path, t); },
                         {.name = "save", .trigger = TriggerSpec(4, iteration), .priority = PRIORITY_SNAPSHOT});
      run.trainer.run();
    }
    Observed run(own, 0, folder / "out", make(comm));
    run.trainer.extend([](Trainer&) {},
                       {.name = "save", .trigger = TriggerSpec(4, iteration), .priority = PRIORITY_SNAPSHOT});
    nn::serializers::load_npz(path, run.trainer);
    run.trainer.run();
    Observed to_the_end([](std::int64_t i) { return -double(i); }, 0, folder / "out", make(comm));
    to_the_end.trainer.run();
    return Numbers{double(run.trainer.updater().iteration()), double(to_the_end.trainer.updater().iteration())};
  });
  for (const Numbers& r : resumed) BOOST_TEST(r == (Numbers{5, 20}), each);
  const Comm alone = single_rank();
  BOOST_TEST(has(message_of<catena::ValueError>([&] { MultiNodeEarlyStoppingTrigger(alone, {.patience = 0}); }),
                 "patience is 0"));
}

BOOST_AUTO_TEST_SUITE_END()
