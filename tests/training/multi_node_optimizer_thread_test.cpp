// Ranks, here threads, with a multi-node optimizer against one process with all their examples: with every optimizer
// and hook, whatever travels together and when.
#include <catena/training/multi_node/multi_node_optimizer.h>

#include <cmath>
#include <map>

#include <catena/tests/support/multi_node.h>
#include <catena/training/iterator.h>
#include <catena/training/updater.h>

using namespace test;
using namespace training;

namespace {

using Doubles = std::vector<double>;

constexpr std::int64_t kSteps = 4;

// Options of every kind that do not change the means.
std::vector<std::pair<std::string, MultiNodeOptimizerOptions>> ways() {
  std::vector<std::pair<std::string, MultiNodeOptimizerOptions>> all;
  for (const std::size_t bytes : {1, 40, 1 << 20})
    for (const bool overlap : {true, false})
      for (const bool shard : {false, true})
        all.push_back({catena::concat(bytes, " bytes, overlap ", overlap, ", shard ", shard),
                       {.bucket_bytes = bytes, .overlap = overlap, .shard_states = shard}});
  return all;
}

// The weights and states of each rank after `kSteps` updates, of which the first one is a broadcast.
std::vector<std::vector<std::string>> trained(int ranks, Dtype dtype, const OptimizerKind& kind,
                                              const std::function<void(Optimizer&)>& prepare,
                                              const MultiNodeOptimizerOptions& options, const RankOptions& run = {}) {
  std::vector<std::vector<std::string>> results(static_cast<std::size_t>(ranks));
  const RankBatches data(kSteps, ranks, dtype);
  run_ranks(ranks, run, [&](Communicator& comm) {
    Perceptron model(dtype, std::uint64_t(100 + comm.rank()));
    const std::shared_ptr<Optimizer> plain = kind.make();
    const auto optimizer = create_multi_node_optimizer(plain, comm, options);
    optimizer->setup(model);
    prepare(*optimizer);
    for (std::int64_t step = 0; step < kSteps; ++step)
      optimizer->update(model, data.x(step, comm.rank()), data.t(step, comm.rank()));
    consolidate_states(*optimizer);
    results[std::size_t(comm.rank())] = everything_of(model, *optimizer);
  });
  return results;
}

// The same in one process: the gradients of the ranks' batches one after the other, added in the order of the ranks and
// divided by their number.
std::vector<std::string> by_ordered_sums(int ranks, Dtype dtype, const OptimizerKind& kind,
                                         const std::function<void(Optimizer&)>& prepare) {
  const RankBatches data(kSteps, ranks, dtype);
  Perceptron model(dtype, 100);
  const std::shared_ptr<Optimizer> optimizer = kind.make();
  optimizer->setup(model);
  prepare(*optimizer);
  for (std::int64_t step = 1; step < kSteps; ++step) {
    std::vector<Array> sums;
    for (int r = 0; r < ranks; ++r) {
      model.cleargrads();
      model(data.x(step, r), data.t(step, r)).backward();
      std::size_t i = 0;
      for (const Variable& p : model.params()) {
        if (r == 0) sums.push_back(p.grad());
        else sums[i] = sums[i] + p.grad();
        ++i;
      }
    }
    std::size_t i = 0;
    for (Variable p : model.params()) p.set_grad(sums[i++] / double(ranks));
    optimizer->update();
  }
  return everything_of(model, *optimizer);
}

// The same from whole batches.
Doubles by_whole_batches(int ranks, const OptimizerKind& kind, const std::function<void(Optimizer&)>& prepare,
                         std::int64_t first_step = 1) {
  const RankBatches data(kSteps, ranks, Dtype::float64);
  Perceptron model(Dtype::float64, 100);
  const std::shared_ptr<Optimizer> optimizer = kind.make();
  optimizer->setup(model);
  prepare(*optimizer);
  for (std::int64_t step = first_step; step < kSteps; ++step)
    optimizer->update(model, data.whole_x(step), data.whole_t(step));
  return weights_of(model);
}

const std::function<void(Optimizer&)> kNothing = [](Optimizer&) {};

}  // namespace

BOOST_AUTO_TEST_SUITE(multi_node_optimizer)

BOOST_AUTO_TEST_CASE(every_optimizer_does_what_whole_batches_do) {
  const std::pair<const char*, std::function<void(Optimizer&)>> hooks[] = {
      {"no hook", kNothing},
      {"GradientClipping", [](Optimizer& o) { o.add_hook(GradientClipping(0.5)); }},
      {"WeightDecay", [](Optimizer& o) { o.add_hook(WeightDecay(0.5)); }}};
  for (const OptimizerKind& kind : kOptimizers)
    for (const auto& [hook, add_hook] : hooks)
      for (const int ranks : {1, 2, 3, 4}) {
        std::vector<Doubles> weights(static_cast<std::size_t>(ranks));
        const RankBatches data(kSteps, ranks, Dtype::float64);
        run_ranks(ranks, {}, [&](Communicator& comm) {
          Perceptron model(Dtype::float64, std::uint64_t(100 + comm.rank()));
          const std::shared_ptr<Optimizer> plain = kind.make();
          const auto optimizer = create_multi_node_optimizer(plain, comm, {.bucket_bytes = 40});
          optimizer->setup(model);
          add_hook(*optimizer);
          for (std::int64_t step = 0; step < kSteps; ++step)
            optimizer->update(model, data.x(step, comm.rank()), data.t(step, comm.rank()));
          weights[std::size_t(comm.rank())] = weights_of(model);
        });
        const Doubles expected = by_whole_batches(ranks, kind, add_hook);
        for (const Doubles& of_rank : weights)
          BOOST_TEST(within(of_rank, expected, 1e-9), kind.name << ", " << hook << ", " << ranks << " ranks");
      }
}

// States, the numbers of updates and gradients, too.
BOOST_AUTO_TEST_CASE(every_way_gives_the_bits_of_the_ordered_sum) {
  for (const OptimizerKind& kind : kOptimizers)
    for (const int ranks : {2, 3, 4}) {
      const std::vector<std::string> expected = by_ordered_sums(ranks, Dtype::float32, kind, kNothing);
      for (const auto& [way, options] : ways())
        for (const auto& of_rank : trained(ranks, Dtype::float32, kind, kNothing, options))
          BOOST_TEST(of_rank == expected, kind.name << ", " << ranks << " ranks, " << way);
    }
}

// With sharded states, too, hooks get the means of all gradients.
BOOST_AUTO_TEST_CASE(hooks_get_the_means) {
  const auto clip = [](Optimizer& o) { o.add_hook(GradientClipping(0.05)); };
  const OptimizerKind& adam = kind_named("Adam");
  const std::vector<std::string> expected = by_ordered_sums(3, Dtype::float32, adam, clip);
  BOOST_TEST((expected != by_ordered_sums(3, Dtype::float32, adam, kNothing)));
  for (const auto& [way, options] : ways())
    for (const auto& of_rank : trained(3, Dtype::float32, adam, clip, options)) BOOST_TEST(of_rank == expected, way);
}

// Around a ring, the order of additions depends on the place in the bucket.
BOOST_AUTO_TEST_CASE(flat_within_a_bound) {
  for (const int ranks : {2, 3, 4})
    for (const std::size_t bytes : {1, 40, 1 << 20}) {
      std::vector<Doubles> weights(static_cast<std::size_t>(ranks));
      const RankBatches data(kSteps, ranks, Dtype::float64);
      run_ranks(ranks, {.name = "flat"}, [&](Communicator& comm) {
        Perceptron model(Dtype::float64, 100);
        MomentumSGD sgd(0.1);
        const auto optimizer = create_multi_node_optimizer(sgd, comm, {.bucket_bytes = bytes});
        optimizer->setup(model);
        for (std::int64_t step = 0; step < kSteps; ++step)
          optimizer->update(model, data.x(step, comm.rank()), data.t(step, comm.rank()));
        weights[std::size_t(comm.rank())] = weights_of(model);
      });
      const Doubles expected =
          by_whole_batches(ranks, {"", [] { return std::make_shared<MomentumSGD>(0.1); }, ""}, kNothing);
      for (const Doubles& of_rank : weights) {
        BOOST_TEST(within(of_rank, expected, 1e-12));
        BOOST_TEST((of_rank == weights[0]));
      }
    }
}

// Each rank's share of a mean is rounded to 16 bits, and so is their sum: together at most two units of roundoff of
// what is added.
BOOST_AUTO_TEST_CASE(gradients_travel_in_16_bits) {
  for (const auto& [wire, roundoff] : {std::pair(Dtype::float16, 0x1p-11), std::pair(Dtype::bfloat16, 0x1p-8)})
    for (const bool shard : {false, true}) {
      constexpr int ranks = 3;
      const RankBatches data(2, ranks, Dtype::float32);
      std::vector<Doubles> before(ranks), after(ranks), gradients(ranks);
      run_ranks(ranks, {.comm = {.allreduce_grad_dtype = wire, .timeout = 60}}, [&](Communicator& comm) {
        const auto r = std::size_t(comm.rank());
        Perceptron model(Dtype::float32, 100);
        SGD sgd(1);
        const auto optimizer = create_multi_node_optimizer(sgd, comm, {.bucket_bytes = 40, .shard_states = shard});
        optimizer->setup(model);
        optimizer->update(model, data.x(0, comm.rank()), data.t(0, comm.rank()));
        before[r] = weights_of(model);
        Perceptron alone(Dtype::float32, 100);
        alone(data.x(1, comm.rank()), data.t(1, comm.rank())).backward();
        gradients[r] = gradients_of(alone);
        optimizer->update(model, data.x(1, comm.rank()), data.t(1, comm.rank()));
        after[r] = weights_of(model);
      });
      bool is_rounded = false;
      for (std::size_t i = 0; i < before[0].size(); ++i) {
        double mean = 0, magnitude = 0;
        for (const Doubles& g : gradients) {
          mean += g[i] / ranks;
          magnitude += std::abs(g[i]) / ranks;
        }
        const double error = std::abs(before[0][i] - after[0][i] - mean);
        BOOST_TEST(error <= 2 * roundoff * magnitude + 1e-6);
        is_rounded = is_rounded || error > 1e-6;
      }
      BOOST_TEST(is_rounded);
      BOOST_TEST((after[1] == after[0] && after[2] == after[0]));
    }
}

BOOST_AUTO_TEST_CASE(accumulation_communicates_once) {
  constexpr int ranks = 2;
  const RankBatches data(2 * kSteps, ranks, Dtype::float64);
  std::vector<Doubles> weights(ranks);
  std::vector<std::int64_t> started(ranks);
  run_ranks(ranks, {}, [&](Communicator& comm) {
    const auto r = std::size_t(comm.rank());
    Perceptron model(Dtype::float64, 100);
    MomentumSGD sgd(0.1);
    const auto optimizer =
        create_multi_node_optimizer(sgd, comm, {.bucket_bytes = 1, .observer = [&](const MultiNodeEvent& e) {
                                                  started[r] += e.kind == MultiNodeEvent::Kind::bucket_started;
                                                }});
    optimizer->setup(model);
    StandardUpdater updater(SerialIterator(data.of_rank(comm.rank()), RankBatches::kBatch, {.shuffle = false}),
                            optimizer, {.accumulate = 2});
    for (std::int64_t i = 0; i < kSteps; ++i) updater.update();
    weights[r] = weights_of(model);
  });
  // One process: two batches of each rank in every update.
  Perceptron model(Dtype::float64, 100);
  MomentumSGD sgd(0.1);
  sgd.setup(model);
  for (std::int64_t i = 1; i < kSteps; ++i) {
    model.cleargrads();
    for (const std::int64_t step : {2 * i, 2 * i + 1}) (model(data.whole_x(step), data.whole_t(step)) / 2.0).backward();
    sgd.update();
  }
  for (const Doubles& of_rank : weights) BOOST_TEST(within(of_rank, weights_of(model), 1e-12));
  for (const std::int64_t n : started) BOOST_TEST(n == 4 * (kSteps - 1));  // four parameters
}

// w, of a model x w, is trained by hand with the means of the gradients of the step before.
BOOST_AUTO_TEST_CASE(double_buffering_is_one_step_late) {
  for (const int ranks : {1, 2, 3})
    for (const bool overlap : {true, false}) {
      constexpr std::int64_t steps = 7;
      const RankBatches data(steps, ranks, Dtype::float64);
      std::vector<Doubles> weights(static_cast<std::size_t>(ranks));
      std::vector<std::int64_t> updates(static_cast<std::size_t>(ranks));
      run_ranks(ranks, {}, [&](Communicator& comm) {
        Line model;
        SGD sgd(0.1);
        const auto optimizer =
            create_multi_node_optimizer(sgd, comm, {.double_buffering = true, .bucket_bytes = 1, .overlap = overlap});
        optimizer->setup(model);
        for (std::int64_t step = 0; step < steps; ++step)
          optimizer->update(model, data.x(step, comm.rank()), data.t(step, comm.rank()));
        weights[std::size_t(comm.rank())] = weights_of(model);
        updates[std::size_t(comm.rank())] = optimizer->t();
      });
      Doubles w = Line::initial(), stale;
      for (std::int64_t step = 1; step < steps; ++step) {
        Doubles g = Line::gradient(w, data.whole_x(step).data(), data.whole_t(step).data());
        if (!stale.empty())
          for (std::size_t i = 0; i < w.size(); ++i) w[i] -= 0.1 * stale[i];
        stale = std::move(g);
      }
      for (const Doubles& of_rank : weights) BOOST_TEST(within(of_rank, w, 1e-12), ranks << " ranks");
      for (const std::int64_t t : updates) BOOST_TEST(t == steps - 2);
    }
}

// Loops without update(lossfun).
BOOST_AUTO_TEST_CASE(loops_of_ones_own) {
  const OptimizerKind& adam = kind_named("Adam");
  for (const bool by_optimizer : {false, true}) {
    const std::vector<std::string> expected = by_ordered_sums(2, Dtype::float32, adam, kNothing);
    std::vector<std::vector<std::string>> results(2);
    const RankBatches data(kSteps, 2, Dtype::float32);
    run_ranks(2, {}, [&](Communicator& comm) {
      Perceptron model(Dtype::float32, 100);
      Adam plain;
      const auto optimizer = create_multi_node_optimizer(plain, comm, {.bucket_bytes = 40});
      optimizer->setup(model);
      for (std::int64_t step = 0; step < kSteps; ++step) {
        const Variable loss = model(data.x(step, comm.rank()), data.t(step, comm.rank()));
        optimizer->zero_grad();
        if (by_optimizer) optimizer->backward(loss);
        else loss.backward();
        optimizer->step();
      }
      results[std::size_t(comm.rank())] = everything_of(model, *optimizer);
    });
    for (const auto& of_rank : results) BOOST_TEST(of_rank == expected, each);
  }
}

// The gradients of one rank overflow: the update is skipped on all, and all have one scale.
BOOST_AUTO_TEST_CASE(loss_scaling_skips_on_all_ranks) {
  for (const bool shard : {false, true}) {
    std::vector<std::vector<double>> seen(2);
    const RankBatches data(kSteps, 2, Dtype::float32);
    run_ranks(2, {}, [&](Communicator& comm) {
      Perceptron model(Dtype::float32, 100);
      Adam adam;
      const auto optimizer = create_multi_node_optimizer(adam, comm, {.shard_states = shard});
      optimizer->setup(model);
      optimizer->loss_scaling();
      auto& numbers = seen[std::size_t(comm.rank())];
      for (std::int64_t step = 0; step < kSteps; ++step) {
        Array x = data.x(step, comm.rank()).data();
        if (step == 2 && comm.rank() == 1) x = x * INFINITY;
        const Doubles before = weights_of(model);
        optimizer->update(model, x, data.t(step, comm.rank()));
        numbers.push_back(weights_of(model) == before);
        numbers.push_back(optimizer->loss_scale());
      }
    });
    BOOST_TEST(seen[0] == (Doubles{1, 0x1p16, 0, 0x1p16, 1, 0x1p15, 0, 0x1p15}), each);
    BOOST_TEST(seen[1] == seen[0], each);
  }
}

BOOST_AUTO_TEST_SUITE_END()
