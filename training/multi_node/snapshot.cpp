#include <catena/training/multi_node/snapshot.h>

#include <algorithm>
#include <filesystem>

#include <catena/kernels/base/error.h>
#include <catena/nn/serializers/npz.h>
#include <catena/training/extensions/snapshot_files.h>
#include <catena/training/parallel/packed_state.h>
#include <catena/training/parallel/worker_process.h>

namespace training {

namespace fs = std::filesystem;
using catena::check;
using catena::ValueError;

namespace {

constexpr const char* kMultiNodeSnapshot = "multi_node_snapshot";

// The ranks of the set that holds `rank`, in ascending order.
std::vector<int> replicas_of(const Communicator& comm, const std::vector<ReplicaSet>& sets) {
  std::vector<int> set_of(static_cast<std::size_t>(comm.size()), -1);
  for (std::size_t k = 0; k < sets.size(); ++k)
    for (const int rank : sets[k].ranks()) {
      internal::check_rank(kMultiNodeSnapshot, comm, rank, "a rank of a replica set");
      int& set = set_of[static_cast<std::size_t>(rank)];
      check<ValueError>(set == -1, kMultiNodeSnapshot, "rank ", rank, " is in two replica sets");
      set = int(k);
    }
  std::vector<int> replicas;
  for (int r = 0; r < comm.size(); ++r)
    if (set_of[std::size_t(r)] == set_of[std::size_t(comm.rank())]) replicas.push_back(r);
  return replicas;
}

std::string suffix_of(int rank) { return "." + std::to_string(rank); }

SnapshotOptions options_of_rank(SnapshotOptions options, int rank) {
  const Snapshot checked(options);  // throws what a snapshot with these options throws
  options.filename += suffix_of(rank);
  options.autoload = false;  // MultiNodeSnapshot loads itself
  return options;
}

std::vector<std::string> unpacked_names(std::string_view message) {
  internal::MessageReader r(message);
  std::vector<std::string> names;
  while (!r.is_empty()) names.emplace_back(r.get_text());
  return names;
}

}  // namespace

MultiNodeSnapshot::MultiNodeSnapshot(AnyCommunicator comm, Options options, const std::vector<ReplicaSet>& replica_sets)
    : comm_(internal::checked(kMultiNodeSnapshot, comm)),
      replicas_(replicas_of(*comm_, replica_sets)),
      filename_(options.filename),
      autoload_(options.autoload),
      has_savefun_(options.savefun),
      loadfun_(options.loadfun),
      snapshot_(options_of_rank(options, comm_->rank())) {
  trigger = options.trigger;
  priority = PRIORITY_SNAPSHOT;
  saves_trainer = true;
}

bool MultiNodeSnapshot::is_master() const { return comm_->rank() == replicas_[0]; }

void MultiNodeSnapshot::initialize(Trainer& trainer) {
  if (is_master()) snapshot_.initialize(trainer);
  if (!autoload_) return;
  loaded_name_ = newest_name(trainer);
  if (!loaded_name_.empty()) load(trainer);
}

// The names of this rank's whole files without the rank, the newest first.
std::vector<std::string> MultiNodeSnapshot::own_names(const Trainer& trainer) const {
  const std::string suffix = suffix_of(comm_->rank());
  std::vector<std::string> names;
  for (const std::string& path : internal::files_of_pattern(trainer.out(), filename_ + suffix)) {
    if (!has_savefun_ && !internal::is_whole_npz(path)) continue;
    names.push_back(path.substr(0, path.size() - suffix.size()));
  }
  return names;
}

// Collective. The newest name of which every master has a file.
std::string MultiNodeSnapshot::newest_name(const Trainer& trainer) const {
  internal::MessageWriter own;
  own.put(is_master());
  if (is_master())
    for (const std::string& path : own_names(trainer)) own.put_text(fs::path(path).filename().string());
  std::optional<std::vector<std::string>> common;
  for (const std::string& message : comm_->allgather_obj(own.take())) {
    internal::MessageReader r(message);
    if (!r.get<bool>()) continue;
    const std::vector<std::string> names = unpacked_names(std::string_view(message).substr(sizeof(bool)));
    if (common)
      std::erase_if(
          *common, [&](const std::string& name) { return std::find(names.begin(), names.end(), name) == names.end(); });
    else common = names;
  }
  return common->empty() ? std::string() : common->front();
}

void MultiNodeSnapshot::load(Trainer& trainer) {
  std::string state;
  internal::on_all_ranks(*comm_, kMultiNodeSnapshot, [&] {
    if (!is_master()) return;
    const fs::path folder = (fs::path(trainer.out()) / filename_).parent_path();
    const std::string path = (folder / (loaded_name_ + suffix_of(comm_->rank()))).string();
    if (loadfun_) loadfun_(path, trainer);
    else nn::serializers::load_npz(path, trainer);
    if (replicas_.size() == 1) return;
    nn::serializers::DictionarySerializer s;
    s.save(trainer);
    state = internal::packed(s);
  });
  if (is_master())
    for (std::size_t k = 1; k < replicas_.size(); ++k) comm_->send_obj(state, replicas_[k]);
  internal::on_all_ranks(*comm_, kMultiNodeSnapshot, [&] {
    if (is_master()) return;
    state = comm_->recv_obj(replicas_[0]);
    internal::PackedDeserializer s(state);
    s.load(trainer);
  });
}

void MultiNodeSnapshot::operator()(Trainer& trainer) {
  if (is_master()) snapshot_(trainer);
}

void MultiNodeSnapshot::on_error(Trainer& trainer, const std::exception& error) {
  if (is_master()) snapshot_.on_error(trainer, error);
}

void MultiNodeSnapshot::finalize() {
  if (is_master()) snapshot_.finalize();
}

}  // namespace training
