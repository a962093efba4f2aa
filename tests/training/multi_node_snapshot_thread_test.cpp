// Checkpoints of each rank and snapshots of replicas: files, resumed runs bit for bit, files that are missing or
// damaged, and ranks that fail.
#include <catena/training/multi_node/snapshot.h>

#include <set>

#include <catena/tests/support/rank_threads.h>
#include <catena/tests/support/replicas.h>
#include <catena/training/extensions.h>
#include <catena/training/multi_node/batch_normalization.h>
#include <catena/training/multi_node/scatter_dataset.h>

using namespace test;
using namespace training;

namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

Texts files_in(const std::string& folder) {
  Texts names;
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error))
    names.push_back(i->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// A training of one rank: its own examples in random order, dropout, statistics over all ranks, gradients that are
// averaged, a log on rank 0 only.
struct RankRun {
  nn::Classifier<StatefulMLP> model;
  Adam optimizer;
  DatasetPtr data;
  SerialIterator train;
  Trainer trainer;

  // Of the data all ranks read their parts, or all of them.
  RankRun(const Comm& comm, std::uint64_t seed, double iterations, const std::string& out, bool in_parts = true)
      : model(create_mnbn_model(
            (autograd::seed(seed + std::uint64_t(comm->rank())), nn::Classifier<StatefulMLP>(StatefulMLP(5, 3))),
            comm)),
        data(in_parts ? scatter_dataset(host_examples(23, true), comm) : host_examples(23, true)),
        train(data, 3),
        trainer((optimizer.setup(model), StandardUpdater(train, optimizer)), {iterations, iteration}, out) {
    model(Variable(spread_input(comm)), Variable(ints({0, 1})));  // gives all parameters their shapes
    comm->bcast_data(model);
    optimizer.add_hook([this, comm](Optimizer&) { comm->multi_node_mean_grad(model); }, "mean");
    if (comm->rank() == 0) trainer.extend(LogReport({.trigger = {2, iteration}}));
  }
  static Array spread_input(const Comm&) { return floats({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4}); }
  // Without what depends on the time.
  Texts state() {
    Texts parts;
    for (std::string& e : entries_of(trainer))
      if (!e.starts_with("extensions/LogReport/_log=")) parts.push_back(std::move(e));
    return parts;
  }
};

void truncate(const std::string& path) { fs::resize_file(path, fs::file_size(path) / 2); }

}  // namespace

BOOST_AUTO_TEST_SUITE(multi_node_snapshots, *boost::unit_test::fixture<OnHost>())

// Of the iterations 2, 4, 6, 8, 10 the newest two stay; another name and other files are not touched.
BOOST_AUTO_TEST_CASE(files_of_ranks) {
  for (const int size : {1, 2, 3}) {
    const TemporaryFolder folder("checkpointer_files");
    const std::string path = folder / "checkpoints";
    fs::create_directories(path);
    for (const char* name : {"run.0.2x", "run.7.2", "runs.0.2", "run.0.-4"}) write_file(path + "/" + name, "mine");
    by_rank(size, [&](const Comm& comm) {
      RankRun run(comm, 1, 10, folder / "out");
      run.trainer.extend(create_multi_node_checkpointer("run", comm, {.path = path, .n_retains = 2}),
                         {.trigger = {2, iteration}});
      run.trainer.run();
      return 0;
    });
    std::set<std::string> expected = {"run.0.2x", "run.7.2", "runs.0.2", "run.0.-4"};
    for (int r = 0; r < size; ++r)
      for (const char* iteration : {".8", ".10"}) expected.insert("run." + std::to_string(r) + iteration);
    BOOST_TEST(files_in(path) == Texts(expected.begin(), expected.end()), boost::test_tools::per_element());
  }
}

// The run is stopped at iteration 7 and goes on from the checkpoint of 6, in new objects with other initial states.
BOOST_AUTO_TEST_CASE(a_resumed_run_bit_for_bit) {
  for (const int size : {1, 2, 3}) {
    const TemporaryFolder folder("checkpointer_resume");
    const auto run_to = [&](const char* name, std::uint64_t seed, double end, std::int64_t expected_start) {
      return by_rank(size, [&, name, seed, end](const Comm& comm) {
        RankRun run(comm, seed, end, folder / name);
        auto checkpointer = create_multi_node_checkpointer("run", comm);
        const bool as_expected = checkpointer.maybe_load(run.trainer).value_or(0) == expected_start;
        run.trainer.extend(checkpointer, {.trigger = {3, iteration}});
        run.trainer.run();
        Texts state = run.state();
        state.push_back(as_expected ? "started as expected" : "started elsewhere");
        return state;
      });
    };
    const auto whole = run_to("whole", 1, 12, 0);
    run_to("parts", 1, 7, 0);
    const auto parts = run_to("parts", 50, 12, 6);
    for (std::size_t r = 0; r < whole.size(); ++r) BOOST_TEST_CONTEXT("rank " << r << " of " << size) {
        BOOST_TEST(whole[r].back() == "started as expected");
        BOOST_REQUIRE(whole[r].size() == parts[r].size());
        for (std::size_t k = 0; k < whole[r].size(); ++k)
          BOOST_TEST((whole[r][k] == parts[r][k]), whole[r][k].substr(0, whole[r][k].find('=')) << " differs");
      }
    // The ranks differ, so that the test does not compare one state with itself.
    if (size > 1) BOOST_TEST((whole[0] != whole[1]));
  }
}

// 9 is truncated on rank 1, 6 is missing on rank 0, 3 is whole; 12 is on rank 1 alone.
BOOST_AUTO_TEST_CASE(the_newest_iteration_of_all_ranks) {
  const TemporaryFolder folder("checkpointer_damaged");
  by_rank(2, [&](const Comm& comm) {
    RankRun run(comm, 1, 9, folder / "out");
    run.trainer.extend(create_multi_node_checkpointer("run", comm), {.trigger = {3, iteration}});
    run.trainer.run();
    return 0;
  });
  truncate(folder / "out/run.1.9");
  fs::remove(folder / "out/run.0.6");
  fs::copy(folder / "out/run.1.3", folder / "out/run.1.12");
  const Warnings warnings;
  const auto loaded = by_rank(2, [&](const Comm& comm) {
    RankRun run(comm, 7, 4, folder / "out");
    auto checkpointer = create_multi_node_checkpointer("run", comm);
    const std::int64_t found = checkpointer.maybe_load(run.trainer).value_or(-1);
    return std::pair(found, run.trainer.updater().iteration());
  });
  for (const auto& [found, position] : loaded) {
    BOOST_TEST(found == 3);
    BOOST_TEST(position == 3);
  }
  BOOST_REQUIRE(warnings.texts.size() == 1u);
  BOOST_TEST(has(warnings.texts[0], "run.1.9\" is damaged"), warnings.texts[0]);
  // Nothing is left that all ranks have: the training begins at its beginning.
  for (const char* name : {"out/run.0.3", "out/run.1.12"}) truncate(folder / name);
  const auto none = by_rank(2, [&](const Comm& comm) {
    RankRun run(comm, 7, 4, folder / "out");
    return create_multi_node_checkpointer("run", comm).maybe_load(run.trainer).has_value() ? 1 : 0;
  });
  BOOST_TEST(none[0] + none[1] == 0);
}

// Files of later iterations, of another run, do not replace the new ones.
BOOST_AUTO_TEST_CASE(files_of_a_longer_run) {
  const TemporaryFolder folder("checkpointer_longer");
  for (const double end : {10.0, 4.0})
    by_rank(2, [&](const Comm& comm) {
      RankRun run(comm, 1, end, folder / "out");
      run.trainer.extend(create_multi_node_checkpointer("run", comm, {.path = folder / "files", .n_retains = 1}),
                         {.trigger = {2, iteration}});
      run.trainer.run();
      return 0;
    });
  BOOST_TEST((files_in(folder / "files") == Texts{"run.0.10", "run.0.4", "run.1.10", "run.1.4"}));
}

BOOST_AUTO_TEST_CASE(errors_of_checkpointers) {
  const TemporaryFolder folder("checkpointer_errors");
  by_rank(2, [&](const Comm& comm) {
    RankRun run(comm, 1, 2, folder / "out");
    run.trainer.extend(create_multi_node_checkpointer("run", comm), {.trigger = {2, iteration}});
    run.trainer.run();
    return 0;
  });
  // Another number of ranks, which finds the file of rank 0.
  const auto fewer = messages_by_rank<catena::ValueError>(1, [&](const Comm& comm) {
    RankRun run(comm, 1, 2, folder / "out");
    create_multi_node_checkpointer("run", comm).maybe_load(run.trainer);
  });
  BOOST_TEST(has(fewer[0], "the checkpoint was written by 2 ranks and cannot be loaded by 1"), fewer[0]);
  // A rank that cannot write ends the training of all.
  write_file(folder / "file", "no folder");
  const auto unwritable = messages_by_rank<catena::Error>(2, [&](const Comm& comm) {
    RankRun run(comm, 1, 4, folder / catena::concat("other", comm->rank()));
    run.trainer.extend(
        create_multi_node_checkpointer("run", comm, {.path = comm->rank() == 1 ? folder / "file" : std::string()}),
        {.trigger = {2, iteration}});
    run.trainer.run();
  });
  BOOST_TEST(has(unwritable[1], "cannot create the folder"), unwritable[1]);
  BOOST_TEST(has(unwritable[0], "rank 1 has failed: "), unwritable[0]);
  const Comm alone = single_rank();
  BOOST_TEST(has(message_of<catena::ValueError>([&] { create_multi_node_checkpointer("a/b", alone); }),
                 "the name is \"a/b\""));
  BOOST_TEST(has(message_of<catena::ValueError>([&] { create_multi_node_checkpointer("", alone); }), "the name is"));
  BOOST_TEST(has(message_of<catena::ValueError>([&] { create_multi_node_checkpointer("a", alone, {.n_retains = 0}); }),
                 "n_retains is 0"));
}

// ---- snapshots of replica sets ------------------------------------------------------------------

// Ranks 1 and 2 are replicas: the file of rank 1 is theirs. Rank 0 has a log.
BOOST_AUTO_TEST_CASE(designated_ranks_write_and_all_restore) {
  const TemporaryFolder folder("multi_node_snapshot");
  const auto options = [](bool autoload) {
    return SnapshotOptions{
        .filename = "snap_{.updater.iteration}", .trigger = {2, iteration}, .n_retains = 2, .autoload = autoload};
  };
  const auto saved = by_rank(3, [&](const Comm& comm) {
    RankRun run(comm, 1, 8, folder / "out", false);
    const auto& extension = run.trainer.extend(multi_node_snapshot(comm, options(false), {0}));
    run.trainer.run();
    Texts state = run.state();
    state.push_back(catena::concat(extension.is_master()));
    return state;
  });
  BOOST_TEST(files_in(folder / "out") == (Texts{"log", "snap_6.0", "snap_6.1", "snap_8.0", "snap_8.1"}),
             boost::test_tools::per_element());
  const auto loaded = [&](int size) {
    return by_rank(size, [&](const Comm& comm) {
      RankRun run(comm, 30, 8, folder / "out", false);
      const auto& extension = run.trainer.extend(multi_node_snapshot(comm, options(true), {0}));
      run.trainer.run();  // the stop trigger fires at once
      Texts state = run.state();
      state.push_back(extension.loaded_name());
      return state;
    });
  };
  // A fourth rank gets the state of rank 1, too.
  for (const int size : {3, 4}) {
    const auto states = loaded(size);
    for (int r = 0; r < size; ++r) BOOST_TEST_CONTEXT("rank " << r << " of " << size) {
        const Texts &state = states[std::size_t(r)], &of_master = saved[r == 0 ? 0 : 1];
        BOOST_TEST(state.back() == "snap_8");
        BOOST_TEST(of_master.back() == "1");
        BOOST_REQUIRE(state.size() == of_master.size());
        for (std::size_t k = 0; k + 1 < state.size(); ++k)
          BOOST_TEST((state[k] == of_master[k]), state[k].substr(0, state[k].find('=')) << " differs");
      }
  }
}

BOOST_AUTO_TEST_CASE(the_newest_snapshot_of_all_masters) {
  const TemporaryFolder folder("multi_node_snapshot_common");
  const auto run_and_load = [&](bool autoload) {
    return by_rank(2, [&](const Comm& comm) {
      RankRun run(comm, 1, autoload ? 1 : 6, folder / "out");
      const auto& extension =
          run.trainer.extend(multi_node_snapshot(comm, {.trigger = {2, iteration}, .autoload = autoload}, {{0}, {1}}));
      run.trainer.run();
      return extension.loaded_name();
    });
  };
  run_and_load(false);
  truncate(folder / "out/snapshot_iter_6.1");
  for (const std::string& name : run_and_load(true)) BOOST_TEST(name == "snapshot_iter_4");
  fs::remove(folder / "out/snapshot_iter_4.0");
  fs::remove(folder / "out/snapshot_iter_2.1");
  for (const std::string& name : run_and_load(true)) BOOST_TEST(name == "");
}

BOOST_AUTO_TEST_CASE(errors_of_snapshots) {
  const Comm alone = single_rank();
  BOOST_TEST(has(message_of<catena::ValueError>([&] { multi_node_snapshot(alone, {}, {1}); }),
                 "a rank of a replica set is 1, but there are 1 ranks"));
  BOOST_TEST(has(message_of<catena::ValueError>([&] {
                   multi_node_snapshot(alone, {}, {0, {0}});
                 }),
                 "rank 0 is in two replica sets"));
  BOOST_TEST(
      has(message_of<catena::ValueError>([&] { multi_node_snapshot(alone, {.n_retains = 0}); }), "n_retains is 0"));
  BOOST_TEST(has(message_of<catena::ValueError>([&] {
                   multi_node_snapshot(alone, {.savefun = [](const std::string&, Trainer&) {}, .autoload = true});
                 }),
                 "loadfun"));
  BOOST_TEST(has(message_of<catena::TypeError>([] { multi_node_snapshot(Comm()); }), "the communicator is null"));
  // A file of another model on the master of one set ends all ranks.
  const TemporaryFolder folder("multi_node_snapshot_errors");
  fs::create_directories(folder / "out");
  TinyMLP other;
  for (const char* name : {"out/snapshot_iter_2.0", "out/snapshot_iter_2.1"})
    nn::serializers::save_npz(folder / name, other);
  const auto messages = messages_by_rank<catena::Error>(3, [&](const Comm& comm) {
    RankRun run(comm, 1, 4, folder / "out");
    run.trainer.extend(multi_node_snapshot(comm, {.autoload = true}, {0}));
    run.trainer.run();
  });
  for (const std::size_t r : {0u, 1u}) BOOST_TEST(has(messages[r], "snapshot_iter_2"), messages[r]);
  BOOST_TEST(has(messages[2], "rank 0 has failed: "), messages[2]);
}

BOOST_AUTO_TEST_SUITE_END()
