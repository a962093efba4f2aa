// Ranks of a multi-node optimizer that differ: in weights, gradients, parameters, in the order of their backward
// passes, and in what fails.
#include <catena/training/multi_node/multi_node_optimizer.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include <catena/autograd/forget.h>
#include <catena/autograd/random_state.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/multi_node.h>
#include <catena/training/lbfgs.h>

using namespace test;
using namespace training;
using EventKind = MultiNodeEvent::Kind;
using nn::serializers::DictionarySerializer;

namespace {

using Doubles = std::vector<double>;

Array doubles(const Doubles& v) { return autograd::array(v, {std::int64_t(v.size())}, kCpu); }

// Two weights; a rank may leave out either.
struct Branches : nn::Link {
  nn::Parameter a{doubles({1, 2})}, b{doubles({3, 4})};
  NN_MEMBERS(a, b)
};

// Weights that get their shapes in the first forward pass that uses them.
struct Late : nn::Chain {
  nn::Linear l1{4}, l2{2}, l3{2};
  NN_MEMBERS(l1, l2, l3)
};

}  // namespace

BOOST_AUTO_TEST_SUITE(multi_node_ranks, *boost::unit_test::fixture<OnHost>())

BOOST_AUTO_TEST_CASE(the_first_update_broadcasts) {
  for (const int ranks : {1, 3}) {
    std::vector<std::vector<Doubles>> weights(static_cast<std::size_t>(ranks));
    std::vector<std::vector<std::int64_t>> broadcasts(static_cast<std::size_t>(ranks));
    const RankBatches data(3, ranks, Dtype::float32);
    run_ranks(ranks, {}, [&](Communicator& comm) {
      const auto r = std::size_t(comm.rank());
      Perceptron model(Dtype::float32, std::uint64_t(100 + comm.rank()));
      Adam adam;
      std::int64_t n = 0;
      const auto optimizer = create_multi_node_optimizer(
          adam, comm, {.observer = [&n](const MultiNodeEvent& e) { n += e.kind == EventKind::broadcast; }});
      optimizer->setup(model);
      weights[r].push_back(weights_of(model));
      for (std::int64_t step = 0; step < 3; ++step) {
        optimizer->update(model, data.x(step, comm.rank()), data.t(step, comm.rank()));
        weights[r].push_back(weights_of(model));
        broadcasts[r].push_back(n);
        broadcasts[r].push_back(optimizer->t());
      }
      optimizer->setup(model);  // anew
      optimizer->update(model, data.x(0, comm.rank()), data.t(0, comm.rank()));
      weights[r].push_back(weights_of(model));
      broadcasts[r].push_back(n);
    });
    for (std::size_t r = 0; r < weights.size(); ++r) {
      BOOST_TEST((weights[r][1] == weights[0][0]));
      BOOST_TEST((weights[r][2] != weights[0][0]));
      BOOST_TEST((weights[r][4] == weights[0][3]));
      BOOST_TEST(broadcasts[r] == (std::vector<std::int64_t>{1, 0, 1, 1, 1, 2, 2}), each);
    }
  }
}

// Rank 1 has no gradient of b.
BOOST_AUTO_TEST_CASE(missing_gradients) {
  for (const bool shard : {false, true})
    for (const bool overlap : {false, true}) {
      std::vector<Doubles> weights(2);
      run_ranks(2, {}, [&](Communicator& comm) {
        Branches model;
        SGD sgd(1);
        const auto optimizer =
            create_multi_node_optimizer(sgd, comm, {.bucket_bytes = 1, .overlap = overlap, .shard_states = shard});
        optimizer->setup(model);
        for (int step = 0; step < 2; ++step)
          optimizer->update([&] {
            const Variable loss = autograd::sum(model.a) * double(1 + comm.rank());
            return comm.rank() == 0 ? loss + autograd::sum(model.b) : loss;
          });
        weights[std::size_t(comm.rank())] = weights_of(model);
      });
      for (const Doubles& w : weights) BOOST_TEST(w == (Doubles{1 - 1.5, 2 - 1.5, 3 - 0.5, 4 - 0.5}), each);

      std::vector<std::string> messages(2);
      run_ranks(2, {}, [&](Communicator& comm) {
        Branches model;
        SGD sgd(1);
        const auto optimizer = create_multi_node_optimizer(
            sgd, comm, {.zero_fill = false, .bucket_bytes = 1, .overlap = overlap, .shard_states = shard});
        optimizer->setup(model);
        const auto loss = [&](bool all) {
          return all ? autograd::sum(model.a) + autograd::sum(model.b) : autograd::sum(model.a);
        };
        optimizer->update([&] { return loss(true); });
        messages[std::size_t(comm.rank())] =
            message_of_error([&] { optimizer->update([&] { return loss(comm.rank() == 0); }); });
        optimizer->update([&] { return loss(true); });  // nothing has changed
        if (optimizer->t() != 1) messages[std::size_t(comm.rank())] = "the error counts as an update";
      });
      for (const std::string& message : messages) {
        BOOST_TEST(has(message, "/b"), message);
        BOOST_TEST(has(message, "zero_fill"), message);
      }
    }
}

// A gradient that no rank has is left to the optimizer, which decays the weight.
BOOST_AUTO_TEST_CASE(gradients_that_no_rank_has) {
  std::vector<Doubles> weights(2);
  run_ranks(2, {}, [&](Communicator& comm) {
    Branches model;
    SGD sgd(1);
    const auto optimizer = create_multi_node_optimizer(sgd, comm);
    optimizer->setup(model);
    optimizer->add_hook(WeightDecay(0.5));
    for (int step = 0; step < 2; ++step) optimizer->update([&] { return autograd::sum(model.a); });
    weights[std::size_t(comm.rank())] = weights_of(model);
  });
  for (const Doubles& w : weights) BOOST_TEST(w == (Doubles{-0.5, 0, 1.5, 2}), each);
}

// Parameters that get their shapes in the first and in the third forward pass.
BOOST_AUTO_TEST_CASE(parameters_of_late_shapes) {
  for (const int ranks : {1, 2})
    for (const bool shard : {false, true}) {
      const RankBatches data(6, ranks, Dtype::float32);
      std::vector<std::vector<std::vector<std::string>>> weights(static_cast<std::size_t>(ranks));
      std::vector<std::vector<std::int64_t>> updates(static_cast<std::size_t>(ranks));
      run_ranks(ranks, {}, [&](Communicator& comm) {
        const autograd::RandomScope random(std::uint64_t(7 + comm.rank()));
        Late model;
        Adam adam;
        const auto optimizer = create_multi_node_optimizer(adam, comm, {.bucket_bytes = 1, .shard_states = shard});
        optimizer->setup(model);
        for (std::int64_t step = 0; step < 6; ++step) {
          optimizer->update([&] {
            const Variable h = nn::tanh(model.l1(data.x(step, comm.rank())));
            return nn::mean_squared_error(step < 2 ? model.l2(h) : model.l3(h) + model.l2(h),
                                          data.t(step, comm.rank()));
          });
          updates[std::size_t(comm.rank())].push_back(optimizer->t());
          std::vector<std::string> now;
          for (const Variable& p : model.params(false)) now.push_back(autograd::to_string(p.data()));
          weights[std::size_t(comm.rank())].push_back(now);
        }
      });
      for (const auto& t : updates) BOOST_TEST(t == (std::vector<std::int64_t>{0, 1, 1, 2, 3, 4}), each);
      for (const auto& of_rank : weights) {
        BOOST_TEST(of_rank[0].size() == 5);  // the bias of l3 always has its shape
        BOOST_TEST(of_rank[2].size() == 6);
        BOOST_TEST((of_rank == weights[0]));
      }
    }
}

// Frozen parameters are not communicated; once they are not frozen, there is a new plan and no broadcast.
BOOST_AUTO_TEST_CASE(frozen_parameters) {
  for (const bool double_buffering : {false, true}) {
    std::vector<Doubles> weights(2);
    std::vector<std::int64_t> updates(2), broadcasts(2);
    run_ranks(2, {}, [&](Communicator& comm) {
      const auto r = std::size_t(comm.rank());
      Branches model;
      model.disable_update("/b");
      SGD sgd(1);
      const auto optimizer = create_multi_node_optimizer(
          sgd, comm, {.double_buffering = double_buffering, .observer = [&](const MultiNodeEvent& e) {
                        broadcasts[r] += e.kind == EventKind::broadcast;
                      }});
      optimizer->setup(model);
      for (int step = 0; step < 6; ++step) {
        if (step == 2) model.enable_update();
        optimizer->update([&] { return autograd::sum(model.a) + autograd::sum(model.b) * double(comm.rank()); });
      }
      weights[r] = weights_of(model);
      updates[r] = optimizer->t();
    });
    for (const std::int64_t n : broadcasts) BOOST_TEST(n == 1);
    BOOST_TEST((weights[0] == weights[1]));
    if (double_buffering) continue;  // its updates around the change are left out
    for (const std::int64_t t : updates) BOOST_TEST(t == 5);
    for (const Doubles& w : weights) BOOST_TEST(w == (Doubles{1 - 5, 2 - 5, 3 - 2, 4 - 2}), each);
  }
}

// The first layer's rule waits until the gradients of the last one have been communicated.
BOOST_AUTO_TEST_CASE(communication_runs_during_backward) {
  std::vector<std::vector<MultiNodeEvent>> events(2);
  std::vector<int> timeouts(2, 0);
  const RankBatches data(2, 2, Dtype::float32);
  run_ranks(2, {}, [&](Communicator& comm) {
    const auto r = std::size_t(comm.rank());
    std::mutex mutex;
    std::condition_variable changed;
    bool ended = false;
    Perceptron model(Dtype::float32, 100);
    SGD sgd;
    const auto optimizer =
        create_multi_node_optimizer(sgd, comm, {.bucket_bytes = 40, .observer = [&](const MultiNodeEvent& e) {
                                                  const std::lock_guard lock(mutex);
                                                  events[r].push_back(e);
                                                  ended = ended || e == MultiNodeEvent{EventKind::bucket_ended, 0};
                                                  changed.notify_all();
                                                }});
    optimizer->setup(model);
    optimizer->update(model, data.x(0, comm.rank()), data.t(0, comm.rank()));
    events[r].clear();
    optimizer->update([&] {
      const Variable h = on_backward(model.l1(data.x(1, comm.rank())), [&] {
        std::unique_lock lock(mutex);
        if (!changed.wait_for(lock, std::chrono::seconds(30), [&] { return ended; })) ++timeouts[r];
      });
      return nn::mean_squared_error(model.l2(nn::tanh(h)), data.t(1, comm.rank()));
    });
  });
  for (std::size_t r = 0; r < 2; ++r) {
    BOOST_TEST(timeouts[r] == 0);
    const auto place = [&](const MultiNodeEvent& e) {
      return std::find(events[r].begin(), events[r].end(), e) - events[r].begin();
    };
    BOOST_TEST(place({EventKind::bucket_ended, 0}) < place({EventKind::bucket_ready, 1}));
    BOOST_TEST(place({EventKind::bucket_ready, 1}) < place({EventKind::backward_ended}));
    BOOST_TEST(place({EventKind::backward_ended}) < std::ptrdiff_t(events[r].size()));
  }
}

// Without overlap, nothing is communicated before the end of the pass.
BOOST_AUTO_TEST_CASE(without_overlap) {
  std::vector<std::vector<MultiNodeEvent>> events(2);
  const RankBatches data(2, 2, Dtype::float32);
  run_ranks(2, {}, [&](Communicator& comm) {
    const auto r = std::size_t(comm.rank());
    Perceptron model(Dtype::float32, 100);
    SGD sgd;
    const auto optimizer = create_multi_node_optimizer(
        sgd, comm,
        {.bucket_bytes = 40, .overlap = false, .observer = [&](const MultiNodeEvent& e) { events[r].push_back(e); }});
    optimizer->setup(model);
    optimizer->update(model, data.x(0, comm.rank()), data.t(0, comm.rank()));
    events[r].clear();
    optimizer->update(model, data.x(1, comm.rank()), data.t(1, comm.rank()));
  });
  for (const auto& of_rank : events) {
    BOOST_TEST(of_rank.size() == 5);
    BOOST_TEST((of_rank[0] == MultiNodeEvent{EventKind::backward_ended}));
  }
}

// The gradients of a and b are final in another order on rank 1 than on rank 0.
BOOST_AUTO_TEST_CASE(orders_that_differ) {
  std::vector<Doubles> weights(3);
  run_ranks(3, {}, [&](Communicator& comm) {
    Branches model;
    SGD sgd(1);
    const auto optimizer = create_multi_node_optimizer(sgd, comm, {.bucket_bytes = 1});
    optimizer->setup(model);
    for (int step = 0; step < 5; ++step) {
      const bool swapped = (comm.rank() + step) % 2 == 1;
      optimizer->update([&] {
        const Variable first = swapped ? model.b : model.a, second = swapped ? model.a : model.b;
        return autograd::sum(first) + autograd::sum(on_backward(on_backward(second, [] {}), [] {}));
      });
    }
    weights[std::size_t(comm.rank())] = weights_of(model);
  });
  for (const Doubles& w : weights) BOOST_TEST(w == (Doubles{1 - 4, 2 - 4, 3 - 4, 4 - 4}), each);
}

// A weight that is used twice, and one that a forgotten function captures, are final only after their last use.
BOOST_AUTO_TEST_CASE(weights_used_several_times) {
  std::vector<Doubles> weights(2);
  run_ranks(2, {}, [&](Communicator& comm) {
    Branches model;
    SGD sgd(1);
    const auto optimizer = create_multi_node_optimizer(sgd, comm, {.bucket_bytes = 1});
    optimizer->setup(model);
    for (int step = 0; step < 3; ++step)
      optimizer->update([&] {
        const Variable deep = on_backward(model.a * 2.0, [] {});
        const Variable hidden = autograd::forget([&](const Variable& x) { return x + model.b * 3.0; }, deep);
        return autograd::sum(model.a) + autograd::sum(hidden + model.b);
      });
    weights[std::size_t(comm.rank())] = weights_of(model);
  });
  for (const Doubles& w : weights) BOOST_TEST(w == (Doubles{1 - 6, 2 - 6, 3 - 8, 4 - 8}), each);
}

// In step 0 the ranks have no plan yet; in a later one, a bucket may have been communicated.
BOOST_AUTO_TEST_CASE(an_error_in_backward_reaches_all_ranks) {
  for (const std::int64_t when : {0, 1, 3})
    for (const bool overlap : {false, true})
      for (const bool double_buffering : {false, true}) {
        constexpr int ranks = 3;
        const RankBatches data(8, ranks, Dtype::float32);
        std::vector<std::string> messages(ranks), later(ranks);
        run_ranks(ranks, {}, [&](Communicator& comm) {
          const auto r = std::size_t(comm.rank());
          Perceptron model(Dtype::float32, 100);
          SGD sgd;
          const auto optimizer = create_multi_node_optimizer(
              sgd, comm, {.double_buffering = double_buffering, .bucket_bytes = 1, .overlap = overlap});
          optimizer->setup(model);
          const auto step = [&](std::int64_t i) {
            optimizer->update([&] {
              const Variable h = on_backward(model.l1(data.x(i, comm.rank())), [&] {
                if (comm.rank() == 1 && i == when) throw catena::ValueError("the dog ate it");
              });
              return nn::mean_squared_error(model.l2(nn::tanh(h)), data.t(i, comm.rank()));
            });
          };
          messages[r] = message_of_error([&] {
            for (std::int64_t i = 0; i < 8; ++i) step(i);
          });
          later[r] = message_of_error([&] { step(0); });
        });
        for (std::size_t r = 0; r < ranks; ++r) {
          BOOST_TEST_CONTEXT("rank " << r << ", step " << when << ", overlap " << overlap << ", double buffering "
                                     << double_buffering) {
            BOOST_TEST(has(messages[r], "the dog ate it"), messages[r]);
            BOOST_TEST((r == 1 || has(messages[r], "rank 1")), messages[r]);
            BOOST_TEST(has(later[r], "an earlier update has failed"), later[r]);
          }
        }
      }
}

// An error before the backward pass: the other ranks fail once the failed one has ended.
BOOST_AUTO_TEST_CASE(an_error_in_forward_leaves_no_rank_waiting) {
  const RankBatches data(4, 2, Dtype::float32);
  std::vector<std::string> messages(2);
  const std::string first = message_of_error([&] {
    run_ranks(2, {}, [&](Communicator& comm) {
      Perceptron model(Dtype::float32, 100);
      SGD sgd;
      const auto optimizer = create_multi_node_optimizer(sgd, comm, {.bucket_bytes = 1});
      optimizer->setup(model);
      try {
        for (std::int64_t i = 0; i < 4; ++i)
          optimizer->update([&] {
            if (i == 2 && comm.rank() == 1) throw catena::ValueError("no batch");
            return model(data.x(i, comm.rank()), data.t(i, comm.rank()));
          });
      } catch (const std::exception& e) {
        messages[std::size_t(comm.rank())] = e.what();
        throw;
      }
    });
  });
  BOOST_TEST(has(first, "no batch"), first);
  BOOST_TEST(has(messages[0], "rank 1"), messages[0]);
}

// Each rank has the states of its part; all together have each state once.
BOOST_AUTO_TEST_CASE(sharded_states) {
  for (const int ranks : {2, 3, 4}) {
    const RankBatches data(4, ranks, Dtype::float32);
    std::vector<std::vector<std::size_t>> sizes(static_cast<std::size_t>(ranks));
    std::vector<std::string> messages(static_cast<std::size_t>(ranks));
    run_ranks(ranks, {}, [&](Communicator& comm) {
      const auto r = std::size_t(comm.rank());
      Perceptron model(Dtype::float32, 100);
      Adam adam;
      const auto optimizer = create_multi_node_optimizer(adam, comm, {.bucket_bytes = 1, .shard_states = true});
      optimizer->setup(model);
      const auto count = [&] {
        std::size_t n = 0;
        for (const nn::NamedParam& p : model.namedparams())
          for (const Array& state : optimizer->states(p.path)) n += std::size_t(state.size());
        sizes[r].push_back(n);
      };
      count();
      for (std::int64_t step = 0; step < 2; ++step) {
        optimizer->update(model, data.x(step, comm.rank()), data.t(step, comm.rank()));
        count();
      }
      messages[r] = message_of_error([&] { entries_of(*optimizer); });
      consolidate_states(*optimizer);
      count();
      entries_of(*optimizer);
      optimizer->update(model, data.x(2, comm.rank()), data.t(2, comm.rank()));
      count();
    });
    std::size_t total = 0;
    for (std::size_t r = 0; r < sizes.size(); ++r) {
      const std::size_t own = sizes[r][2];
      total += own;
      BOOST_TEST(sizes[r][0] == 0);
      BOOST_TEST(own <= 2 * 26 / sizes.size() + 2 * 12);  // its share, and at most the largest parameter
      BOOST_TEST(own < 2 * 26);
      BOOST_TEST(sizes[r][3] == 2 * 26);
      BOOST_TEST(sizes[r][4] == own);
      BOOST_TEST(has(messages[r], "consolidate_states"), messages[r]);
    }
    BOOST_TEST(total == 2 * 26);
  }
}

// One rank has all states; several have them before the first update once they are gathered.
BOOST_AUTO_TEST_CASE(states_before_the_first_update) {
  for (const int ranks : {1, 2}) {
    std::vector<std::size_t> entries(static_cast<std::size_t>(ranks));
    run_ranks(ranks, {}, [&](Communicator& comm) {
      Perceptron model(Dtype::float32, 100);
      Adam adam;
      const auto optimizer = create_multi_node_optimizer(adam, comm, {.shard_states = true});
      optimizer->setup(model);
      consolidate_states(*optimizer);
      entries[std::size_t(comm.rank())] = entries_of(*optimizer).size();
    });
    for (const std::size_t n : entries) BOOST_TEST(n == 2 + 4 * 3);  // t, epoch; m, v and t of each parameter
  }
}

// A file of sharded states is that of any number of ranks; training goes on as if it had not been interrupted.
BOOST_AUTO_TEST_CASE(resumed_training) {
  for (const bool shard : {false, true}) {
    constexpr int ranks = 2;
    const RankBatches data(6, ranks, Dtype::float32);
    std::vector<std::vector<std::string>> whole(ranks), resumed(ranks);
    run_ranks(ranks, {}, [&](Communicator& comm) {
      const auto r = std::size_t(comm.rank());
      Perceptron model(Dtype::float32, 100), model2(Dtype::float32, std::uint64_t(200 + comm.rank()));
      Adam adam, adam2;
      const auto optimizer = create_multi_node_optimizer(adam, comm, {.bucket_bytes = 40, .shard_states = shard});
      optimizer->setup(model);
      const auto run = [&](auto& of, Perceptron& m, std::int64_t begin, std::int64_t end) {
        for (std::int64_t step = begin; step < end; ++step)
          of->update(m, data.x(step, comm.rank()), data.t(step, comm.rank()));
      };
      run(optimizer, model, 0, 3);
      consolidate_states(*optimizer);
      nn::StateDict weights = model.state_dict(), states = optimizer->state_dict();
      run(optimizer, model, 3, 6);
      consolidate_states(*optimizer);
      whole[r] = everything_of(model, *optimizer);

      const auto optimizer2 = create_multi_node_optimizer(adam2, comm, {.bucket_bytes = 40, .shard_states = shard});
      optimizer2->setup(model2);
      model2.load_state_dict(weights);
      optimizer2->load_state_dict(states);
      run(optimizer2, model2, 3, 6);
      consolidate_states(*optimizer2);
      resumed[r] = everything_of(model2, *optimizer2);
    });
    for (std::size_t r = 0; r < ranks; ++r) BOOST_TEST(resumed[r] == whole[0], each);
  }
}

BOOST_AUTO_TEST_CASE(errors) {
  std::vector<std::string> messages(2);
  run_ranks(2, {}, [&](Communicator& comm) {
    std::string all;
    Perceptron model(Dtype::float32, 100);
    const RankBatches data(2, 2, Dtype::float32);
    Adam adam;
    LBFGS lbfgs;
    all += message_of_error([&] { consolidate_states(adam); }) + "\n";
    all += message_of_error([&] { create_multi_node_optimizer(adam, comm, {.bucket_bytes = 0}); }) + "\n";
    all += message_of_error([&] { create_multi_node_optimizer(lbfgs, comm); }) + "\n";
    const auto optimizer = create_multi_node_optimizer(adam, comm);
    all += message_of_error([&] { create_multi_node_optimizer(adam, comm); }) + "\n";
    optimizer->setup(model);
    optimizer->set_t(comm.rank() == 0 ? 5 : 3);
    all += message_of_error([&] { optimizer->update(model, data.x(0, 0), data.t(0, 0)); }) + "\n";
    optimizer->set_t(0);
    if (comm.rank() == 1) model.disable_update("/l1/b");
    all += message_of_error([&] { optimizer->update(model, data.x(0, 0), data.t(0, 0)); }) + "\n";
    messages[std::size_t(comm.rank())] = all;
  });
  for (const std::string& all : messages) {
    for (const char* part : {"is no multi-node optimizer", "bucket_bytes is 0", "computes the loss several times",
                             "it is a multi-node optimizer already", "load the same snapshot on all ranks",
                             "rank 1: multi-node optimizer: the parameter /l1/b, which rank 0 trains"})
      BOOST_TEST(has(all, part), all << " has no " << part);
    BOOST_TEST(!has(all, "no error"), all);
  }
}

// A parameter that is frozen for some updates, and the new division of the states, lose none of them.
BOOST_AUTO_TEST_CASE(states_survive_a_new_plan) {
  const auto weights = [](bool shard) {
    std::vector<Doubles> of_ranks(2);
    const RankBatches data(9, 2, Dtype::float64);
    run_ranks(2, {}, [&](Communicator& comm) {
      Perceptron model(Dtype::float64, 1);
      Adam adam;
      const auto optimizer = create_multi_node_optimizer(adam, comm, {.bucket_bytes = 40, .shard_states = shard});
      optimizer->setup(model);
      for (std::int64_t step = 0; step < 9; ++step) {
        if (step == 3) model.disable_update("l1/*");
        if (step == 6) model.enable_update();
        optimizer->update([&] { return model(data.x(step, comm.rank()), data.t(step, comm.rank())); });
      }
      of_ranks[std::size_t(comm.rank())] = weights_of(model);
    });
    BOOST_TEST(of_ranks[0] == of_ranks[1], boost::test_tools::per_element());
    return of_ranks[0];
  };
  BOOST_TEST(weights(true) == weights(false), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
