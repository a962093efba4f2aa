// Snapshots of a distributed run: by some ranks for all of them, or of each rank.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catena/training/extensions/snapshot.h>
#include <catena/training/multi_node/ranks.h>

namespace training {

// Ranks whose trainers have the same state: one rank, or a list.
class ReplicaSet {
 public:
  ReplicaSet(int rank) : ranks_{rank} {}
  ReplicaSet(std::initializer_list<int> ranks) : ranks_(ranks) {}
  ReplicaSet(std::vector<int> ranks) : ranks_(std::move(ranks)) {}
  const std::vector<int>& ranks() const noexcept { return ranks_; }

 private:
  std::vector<int> ranks_;
};

// Snapshots of trainers that are the same on several ranks. Of each replica set the least rank writes the snapshot,
// whose file name is that of the options with ".<rank>". With `autoload` these ranks load the newest snapshot that all
// of them have, and send the state to the other ranks of their sets, which need no file. The number of ranks may be
// another one than before if the datasets of the ranks are of the same size as before. Ranks that are in no set are one
// more set. All ranks give the same arguments.
//
//   trainer.extend(training::multi_node_snapshot(comm, {.autoload = true}, {0}));   // rank 0 has more extensions
//
// The other ranks of a set get the iterators' positions and the random generators of the least rank, too. For runs that
// go on bit for bit, each rank saves its own state: create_multi_node_checkpointer().
// If several ranks write, n_retains should be at least 2: a rank removes its older files before the others have written
// their new ones.
//
// ValueError as for a Snapshot, for a rank that is not there, and for one in two sets. With `autoload`, an error on one
// rank is an error on all.
class CATENA_EXPORT MultiNodeSnapshot : public Extension {
 public:
  using Options = SnapshotOptions;
  MultiNodeSnapshot(AnyCommunicator comm, Options options = {}, const std::vector<ReplicaSet>& replica_sets = {});
  void initialize(Trainer& trainer) override;
  void operator()(Trainer& trainer) override;
  void on_error(Trainer& trainer, const std::exception& error) override;
  void finalize() override;
  std::string default_name() const override { return "snapshot"; }
  bool is_master() const;  // true if this rank writes files
  // The name that `autoload` has loaded, without the rank; empty if there was none.
  const std::string& loaded_name() const noexcept { return loaded_name_; }

 private:
  std::string newest_name(const Trainer& trainer) const;
  std::vector<std::string> own_names(const Trainer& trainer) const;
  void load(Trainer& trainer);

  AnyCommunicator comm_;
  std::vector<int> replicas_;  // the set of this rank, in ascending order
  std::string filename_;       // without the rank
  bool autoload_, has_savefun_;
  catena::Function<void(const std::string& path, Trainer& trainer)> loadfun_;
  Snapshot snapshot_;
  std::string loaded_name_;
};
inline MultiNodeSnapshot multi_node_snapshot(AnyCommunicator comm, SnapshotOptions options = {},
                                             const std::vector<ReplicaSet>& replica_sets = {}) {
  return {std::move(comm), std::move(options), replica_sets};
}

struct MultiNodeCheckpointerOptions {
  std::string path = {};       // the folder of the files, which all ranks may share; default: that of the trainer
  std::int64_t n_retains = 5;  // number of checkpoints that are kept
  TriggerSpec trigger = {1, epoch};
};

// Saves the trainer of each rank as the file "<name>.<rank>.<iteration>" (npz). When all ranks have written theirs,
// older files of the rank are removed but for those of the newest n_retains iterations that all ranks have. Nothing is
// removed at the end of a training.
//
//   auto checkpointer = training::create_multi_node_checkpointer("mnist", comm);
//   checkpointer.maybe_load(trainer);
//   trainer.extend(checkpointer, {.trigger = {1000, training::iteration}});
//
// A training that was ended in whatever way, and is then started again with the same number of ranks, goes on like one
// that was never stopped, bit for bit. ValueError for an empty name or one with a slash, and for an n_retains below 1.
class CATENA_EXPORT MultiNodeCheckpointer : public Extension {
 public:
  using Options = MultiNodeCheckpointerOptions;
  MultiNodeCheckpointer(std::string name, AnyCommunicator comm, Options options = {});
  // Collective; must be called at the same iteration on all ranks. An error on one rank is an error on all.
  void operator()(Trainer& trainer) override;
  // Collective, before the training, with all extensions registered. Loads the newest iteration of which all ranks have
  // a file that is whole, and returns it; nothing if there is none. Iterations of which a file is missing, truncated or
  // damaged on some rank are passed over on all ranks, with a warning on that rank for a file that is not whole.
  // ValueError if the checkpoint was written by another number of ranks.
  std::optional<std::int64_t> maybe_load(Trainer& trainer);
  std::string default_name() const override { return "MultiNodeCheckpointer"; }

 private:
  std::string folder(const Trainer& trainer) const;
  std::string file(const Trainer& trainer, std::int64_t iteration) const;
  std::vector<std::int64_t> own_iterations(const Trainer& trainer) const;
  std::vector<std::int64_t> common_iterations(const Trainer& trainer) const;

  std::string name_;
  AnyCommunicator comm_;
  Options options_;
};
inline MultiNodeCheckpointer create_multi_node_checkpointer(std::string name, AnyCommunicator comm,
                                                            MultiNodeCheckpointerOptions options = {}) {
  return {std::move(name), std::move(comm), std::move(options)};
}

}  // namespace training
