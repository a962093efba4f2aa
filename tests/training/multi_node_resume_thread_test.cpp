// Files of multi-node optimizers: a training that goes on from a file has the results of a training that was never
// stopped, also with double buffering, whose next update uses gradients from before the file was written.
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/multi_node.h>
#include <catena/training/multi_node/multi_node_optimizer.h>

using namespace test;
using namespace training;

namespace {

using Texts = std::vector<std::string>;

struct Run {
  Perceptron model;
  Adam adam;
  catena::Shared<Adam> optimizer;

  Run(Communicator& comm, std::uint64_t seed, const MultiNodeOptimizerOptions& options)
      : model(Dtype::float32, seed), optimizer(create_multi_node_optimizer(adam, comm, options)) {
    optimizer->setup(model);
  }
  void steps(const RankBatches& data, int rank, std::int64_t begin, std::int64_t end) {
    for (std::int64_t step = begin; step < end; ++step)
      optimizer->update(model, data.x(step, rank), data.t(step, rank));
  }
  void load(Run& from) {
    model.load_state_dict(from.model.state_dict());
    optimizer->load_state_dict(from.optimizer->state_dict());
  }
  Texts everything() { return everything_of(model, adam); }
};

constexpr std::int64_t kSteps = 7;

}  // namespace

BOOST_AUTO_TEST_SUITE(multi_node_resume, *boost::unit_test::fixture<OnHost>())

// Saved before the first step and after each step, so that some files are from before the first update.
BOOST_AUTO_TEST_CASE(every_moment_of_a_training) {
  for (const int ranks : {1, 2, 3})
    for (const bool shard : {false, true})
      for (const bool double_buffering : {false, true}) {
        const RankBatches data(kSteps, ranks, Dtype::float32);
        const MultiNodeOptimizerOptions options{
            .double_buffering = double_buffering, .bucket_bytes = 40, .shard_states = shard};
        std::vector<std::vector<Texts>> results(static_cast<std::size_t>(ranks));
        std::vector<std::vector<std::int64_t>> updates(static_cast<std::size_t>(ranks));
        run_ranks(ranks, {}, [&](Communicator& comm) {
          const auto r = std::size_t(comm.rank());
          for (std::int64_t saved = 0; saved <= kSteps; ++saved) {
            Run whole(comm, 100, options);
            whole.steps(data, comm.rank(), 0, saved);
            consolidate_states(whole.adam);
            Run resumed(comm, std::uint64_t(saved == 0 ? 100 : 200 + comm.rank()), options);
            if (saved > 0) resumed.load(whole);
            resumed.steps(data, comm.rank(), saved, kSteps);
            consolidate_states(resumed.adam);
            results[r].push_back(resumed.everything());
            updates[r].push_back(resumed.adam.t());
          }
        });
        BOOST_TEST_CONTEXT(ranks << " ranks, sharded " << shard << ", double buffering " << double_buffering) {
          for (std::size_t r = 0; r < results.size(); ++r)
            for (std::size_t saved = 0; saved < results[r].size(); ++saved) {
              BOOST_TEST(results[r][saved] == results[0][0], each);
              BOOST_TEST(updates[r][saved] == (double_buffering ? kSteps - 2 : kSteps - 1));
            }
        }
      }
}

// The file has the means of the gradients, which are 2 x^T (x w - t) / size for the model x w.
BOOST_AUTO_TEST_CASE(the_means_are_in_the_file) {
  constexpr int ranks = 2;
  const RankBatches data(3, ranks, Dtype::float64);
  std::vector<std::vector<double>> saved(ranks);
  run_ranks(ranks, {}, [&](Communicator& comm) {
    Line model;
    SGD sgd(0.1);
    const auto optimizer = create_multi_node_optimizer(sgd, comm, {.double_buffering = true});
    optimizer->setup(model);
    for (std::int64_t step = 0; step < 2; ++step)
      optimizer->update(model, data.x(step, comm.rank()), data.t(step, comm.rank()));
    nn::serializers::DictionarySerializer file;
    optimizer->serialize(file);
    for (const auto& e : file.entries()) {
      if (e.key != "_catena/multi_node/gradients/w") continue;
      std::vector<double>& values = saved[std::size_t(comm.rank())];
      values.resize(e.bytes.size() / sizeof(double));
      std::memcpy(values.data(), e.bytes.data(), e.bytes.size());
    }
  });
  const auto expected = Line::gradient(Line::initial(), data.whole_x(1).data(), data.whole_t(1).data());
  for (const auto& of_rank : saved) BOOST_TEST(within(of_rank, expected, 1e-12));
}

// A file that is loaded and saved again before an update has the same entries; a file without gradients leaves one
// update out; an optimizer without double buffering does not read them.
BOOST_AUTO_TEST_CASE(what_is_loaded) {
  constexpr int ranks = 2;
  const RankBatches data(kSteps, ranks, Dtype::float32);
  std::vector<Texts> first(ranks), again(ranks), without(ranks);
  std::vector<std::int64_t> late(ranks), plain(ranks);
  run_ranks(ranks, {}, [&](Communicator& comm) {
    const auto r = std::size_t(comm.rank());
    const MultiNodeOptimizerOptions late_options{.double_buffering = true};
    Run run(comm, 100, late_options), copy(comm, 200, late_options), ordinary(comm, 300, {});
    run.steps(data, comm.rank(), 0, 4);
    first[r] = run.everything();
    copy.load(run);
    again[r] = copy.everything();
    ordinary.load(run);
    without[r] = ordinary.everything();
    ordinary.steps(data, comm.rank(), 4, 5);
    plain[r] = ordinary.adam.t();
    copy.load(ordinary);
    copy.steps(data, comm.rank(), 5, 7);
    late[r] = copy.adam.t();
  });
  for (std::size_t r = 0; r < ranks; ++r) {
    BOOST_TEST(again[r] == first[r], each);
    BOOST_TEST(without[r].size() == first[r].size() - 1 - 4);  // has_gradients, and those of four parameters
    BOOST_TEST(plain[r] == 3);
    BOOST_TEST(late[r] == 4);
  }
}

// If only one rank has loaded gradients, all leave the update out and get the weights of rank 0, as for weights that
// differ.
BOOST_AUTO_TEST_CASE(gradients_of_one_rank_alone) {
  constexpr int ranks = 2;
  const RankBatches data(kSteps, ranks, Dtype::float32);
  std::vector<std::vector<double>> weights(ranks), expected(ranks);
  std::vector<int> broadcasts(ranks, 0);
  run_ranks(ranks, {}, [&](Communicator& comm) {
    const auto r = std::size_t(comm.rank());
    Run run(comm, 100, {.double_buffering = true});
    run.steps(data, comm.rank(), 0, 4);
    Run loaded(comm, 200, {.double_buffering = true, .observer = [&](const MultiNodeEvent& e) {
                             broadcasts[r] += e.kind == MultiNodeEvent::Kind::broadcast;
                           }});
    Run plain(comm, 300, {});
    plain.load(run);
    loaded.load(comm.rank() == 0 ? run : plain);
    expected[r] = weights_of(loaded.model);
    loaded.steps(data, comm.rank(), 4, 5);
    weights[r] = weights_of(loaded.model);
    loaded.steps(data, comm.rank(), 5, 7);
  });
  BOOST_TEST((broadcasts == std::vector<int>{1, 1}));
  for (std::size_t r = 0; r < ranks; ++r) BOOST_TEST(weights[r] == expected[0], each);
}

// A load that fails leaves the gradients that were there.
BOOST_AUTO_TEST_CASE(a_load_that_fails) {
  constexpr int ranks = 2;
  const RankBatches data(kSteps, ranks, Dtype::float32);
  std::vector<Texts> whole(ranks), disturbed(ranks);
  std::vector<std::string> messages(ranks);
  run_ranks(ranks, {}, [&](Communicator& comm) {
    const auto r = std::size_t(comm.rank());
    for (const bool fails : {false, true}) {
      Run run(comm, 100, {.double_buffering = true});
      run.steps(data, comm.rank(), 0, 4);
      if (fails) {
        Run other(comm, 300, {.double_buffering = true});
        other.steps(data, comm.rank(), 0, 3);
        nn::StateDict states = other.adam.state_dict();
        states.erase("l2/b/v");
        messages[r] = message_if_thrown<catena::KeyError>([&] { run.adam.load_state_dict(states); });
      }
      run.steps(data, comm.rank(), 4, kSteps);
      (fails ? disturbed : whole)[r] = run.everything();
    }
  });
  for (std::size_t r = 0; r < ranks; ++r) {
    BOOST_TEST(has(messages[r], "l2/b/v"), messages[r]);
    BOOST_TEST(disturbed[r] == whole[r], each);
  }
}

// ---- loads into an optimizer that has made updates ----------------------------------------------

// The first update after the load uses the moments and the means of the file, also those of parameters that were
// frozen when the file was loaded, and those of another target.
BOOST_AUTO_TEST_CASE(means_of_parameters_that_the_plan_lacks) {
  constexpr int ranks = 2;
  const RankBatches data(kSteps, ranks, Dtype::float32);
  for (const bool shard : {false, true})
    for (const bool other_target : {false, true}) {
      std::vector<std::vector<double>> expected(ranks), actual(ranks), before(ranks);
      std::vector<std::int64_t> updates(ranks), expected_updates(ranks);
      run_ranks(ranks, {}, [&](Communicator& comm) {
        const auto r = std::size_t(comm.rank());
        const MultiNodeOptimizerOptions options{.double_buffering = true, .bucket_bytes = 40, .shard_states = shard};
        Run whole(comm, 100, options), run(comm, 200, options);
        whole.steps(data, comm.rank(), 0, 4);
        consolidate_states(whole.adam);
        Perceptron target(Dtype::float32, 300);
        run.steps(data, comm.rank(), 0, 3);
        run.model.l1.disable_update();
        run.steps(data, comm.rank(), 3, 6);
        if (other_target) {
          run.adam.setup(target);
          target.load_state_dict(whole.model.state_dict());
          run.adam.load_state_dict(whole.adam.state_dict());
        } else {
          run.load(whole);
          run.model.l1.enable_update();
        }
        Perceptron& model = other_target ? target : run.model;
        before[r] = weights_of(model);
        // For another target there is no plan yet, and the update is left out.
        for (int i = 0; i < (other_target ? 2 : 1); ++i)
          run.adam.update(model, data.x(4, comm.rank()), data.t(4, comm.rank()));
        whole.steps(data, comm.rank(), 4, 5);
        actual[r] = weights_of(model);
        updates[r] = run.adam.t();
        expected[r] = weights_of(whole.model);
        expected_updates[r] = whole.adam.t();
        for (int i = 0; i < 3; ++i) run.adam.update(model, data.x(5, comm.rank()), data.t(5, comm.rank()));
      });
      BOOST_TEST_CONTEXT("sharded " << shard << ", another target " << other_target) {
        for (std::size_t r = 0; r < ranks; ++r) {
          BOOST_TEST(actual[r] == expected[r], each);
          BOOST_TEST(updates[r] == expected_updates[r]);
          BOOST_TEST((before[r] != expected[r]));
        }
      }
    }
}

// With sharded states, a load gives this rank the states of all parameters; after the next update those of other ranks
// are not the present ones, and are not saved. A load that fails leaves none.
BOOST_AUTO_TEST_CASE(states_of_other_ranks) {
  constexpr int ranks = 2;
  const RankBatches data(kSteps, ranks, Dtype::float32);
  std::vector<std::string> messages(ranks), failed(ranks);
  std::vector<Texts> whole(ranks), loaded(ranks);
  run_ranks(ranks, {}, [&](Communicator& comm) {
    const auto r = std::size_t(comm.rank());
    Run run(comm, 100, {.shard_states = true}), other(comm, 200, {.shard_states = true});
    run.steps(data, comm.rank(), 0, 4);
    consolidate_states(run.adam);
    other.steps(data, comm.rank(), 0, 3);
    nn::StateDict damaged = run.adam.state_dict();
    damaged.erase("l2/b/v");
    failed[r] = message_if_thrown<catena::KeyError>([&] { other.adam.load_state_dict(damaged); });
    failed[r] += message_if_thrown<catena::RuntimeError>([&] { static_cast<void>(other.adam.state_dict()); });
    other.load(run);
    run.steps(data, comm.rank(), 4, 5);
    other.steps(data, comm.rank(), 4, 5);
    messages[r] = message_if_thrown<catena::RuntimeError>([&] { static_cast<void>(other.adam.state_dict()); });
    consolidate_states(run.adam);
    consolidate_states(other.adam);
    whole[r] = run.everything();
    loaded[r] = other.everything();
  });
  for (std::size_t r = 0; r < ranks; ++r) {
    BOOST_TEST(has(failed[r], "l2/b/v"), failed[r]);
    BOOST_TEST(has(failed[r], "are on another rank"), failed[r]);
    BOOST_TEST(has(messages[r], "are on another rank"), messages[r]);
    BOOST_TEST(loaded[r] == whole[r], each);
  }
}

// The float32 copies of 16-bit parameters are in the file of sharded states, too, and are loaded from it.
BOOST_AUTO_TEST_CASE(sharded_copies_in_float32) {
  constexpr int ranks = 2;
  const RankBatches data(kSteps, ranks, Dtype::float16);
  std::vector<std::vector<Texts>> results(ranks);
  run_ranks(ranks, {}, [&](Communicator& comm) {
    for (const bool resumed : {false, true}) {
      SGD sgd(1e-4), later(1e-4);
      Perceptron model(Dtype::float16, 100), other(Dtype::float16, 200);
      for (SGD* o : {&sgd, &later}) {
        create_multi_node_optimizer(*o, comm, {.bucket_bytes = 20, .shard_states = true});
        o->use_fp32_update();
      }
      sgd.setup(model);
      later.setup(other);
      const auto steps = [&](SGD& o, Perceptron& of, std::int64_t begin, std::int64_t end) {
        for (std::int64_t step = begin; step < end; ++step)
          o.update(of, data.x(step, comm.rank()), data.t(step, comm.rank()));
      };
      steps(sgd, model, 0, 4);
      consolidate_states(sgd);
      if (resumed) {
        other.load_state_dict(model.state_dict());
        later.load_state_dict(sgd.state_dict());
      }
      SGD& last = resumed ? later : sgd;
      steps(last, resumed ? other : model, 4, kSteps);
      consolidate_states(last);
      results[std::size_t(comm.rank())].push_back(everything_of(resumed ? other : model, last));
    }
  });
  for (const auto& of_rank : results) {
    BOOST_TEST(of_rank[0].size() > 4);
    BOOST_TEST(of_rank[1] == of_rank[0], each);
  }
}

BOOST_AUTO_TEST_CASE(errors) {
  constexpr int ranks = 2;
  const RankBatches data(kSteps, ranks, Dtype::float32);
  std::vector<std::string> sharded(ranks), missing(ranks);
  run_ranks(ranks, {}, [&](Communicator& comm) {
    const auto r = std::size_t(comm.rank());
    Perceptron model(Dtype::float32, 100), part(Dtype::float32, 100);
    SGD sgd, other;
    const auto optimizer = create_multi_node_optimizer(sgd, comm, {.double_buffering = true, .shard_states = true});
    optimizer->setup(model);
    for (std::int64_t step = 0; step < 3; ++step)
      optimizer->update(model, data.x(step, comm.rank()), data.t(step, comm.rank()));
    sharded[r] = message_if_thrown<catena::RuntimeError>([&] { static_cast<void>(optimizer->state_dict()); });
    consolidate_states(*optimizer);
    if (entries_of(*optimizer).size() < 4) sharded[r] = "the gathered gradients are missing";

    const auto strict = create_multi_node_optimizer(other, comm, {.double_buffering = true, .zero_fill = false});
    strict->setup(part);
    for (std::int64_t step = 0; step < 2; ++step)
      strict->update([&] {
        const Variable h = part.l1(data.x(step, comm.rank()));
        return step == 1 && comm.rank() == 1 ? autograd::sum(h) : autograd::sum(part.l2(h));
      });
    missing[r] = message_if_thrown<catena::ValueError>([&] { static_cast<void>(strict->state_dict()); });
  });
  for (std::size_t r = 0; r < ranks; ++r) {
    BOOST_TEST(has(sharded[r], "gradients of the last batch are on other ranks"), sharded[r]);
    BOOST_TEST(has(missing[r], "has no gradient on some rank"), missing[r]);
  }
}

BOOST_AUTO_TEST_SUITE_END()
