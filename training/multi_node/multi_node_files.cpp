// The entries of a multi-node optimizer in files. Before the first update: whether the weights have been broadcast.
// With double buffering: the gradients that the next update will use.
#include <exception>

#include <catena/kernels/base/error.h>
#include <catena/training/multi_node/multi_node_exchange.h>
#include <catena/training/stored_number.h>

namespace training::internal {

using catena::check;
using catena::RuntimeError;
using nn::Serializer;

void MultiNodeExchange::serialize(Serializer& s) {
  const catena::Owned<Serializer> own = s["_catena/multi_node"];
  if (s.is_writer()) write(*own);
  else read(*own);
}

// After an update, t > 0 implies that the weights have been broadcast; the file then needs no entry for it.
void MultiNodeExchange::write(Serializer& s) {
  bool yes = true;
  if (has_begun_ && optimizer_.t() == 0) s("has_begun", yes);
  std::optional<Means> means = options_.double_buffering ? pending_means() : std::nullopt;
  if (!means) return;
  s("has_gradients", yes);
  const catena::Owned<Serializer> gradients = s["gradients"];
  for (auto& [path, mean] : *means) (*gradients)(path, mean);
}

void MultiNodeExchange::read(Serializer& s) {
  restore_on_rollback(s, has_begun_, before_, loaded_, has_all_states_);
  has_begun_ = false;
  // The states of all parameters have been loaded; the next update drops those of other ranks.
  has_all_states_ = options_.shard_states && has_plan_ && !is_set_up_anew_;
  before_ = {};  // gradients of other weights
  loaded_.reset();
  if (s.contains("has_begun")) s("has_begun", has_begun_);
  if (!options_.double_buffering || !s.contains("has_gradients")) return;
  loaded_.emplace();
  const catena::Owned<Serializer> gradients = s["gradients"];
  optimizer_.target().for_each_param([&](std::string_view path, const Variable& p) {
    if (!gradients->contains(path)) return;
    Array mean = autograd::zeros_like(p.data());
    (*gradients)(path, mean);
    loaded_->emplace(path, std::move(mean));
  });
}

// False if a rank has failed or has other parameters than planned: the round has no means then. It has none either if
// the communicator no longer works, so that a file saved after an error is without gradients.
bool MultiNodeExchange::has_means(const Round& round) {
  try {
    wait_for(round);
  } catch (const std::exception&) {  // of the transport, or of NCCL
    return false;
  }
  const Round::Notes found = round.found();
  return !found.failed && !found.changed;
}

std::optional<MultiNodeExchange::Means> MultiNodeExchange::pending_means() {
  if (!before_ || is_set_up_anew_) return loaded_;
  if (!has_means(*before_)) return {};
  check_gradients(*before_);
  if (before_->is_sharded && comm_->size() > 1) {
    check<RuntimeError>(has_all_states_, kMultiNode,
                        "gradients of the last batch are on other ranks: call "
                        "training::consolidate_states(optimizer) on all ranks before one of them saves");
    return gathered_;
  }
  Means means;
  for (std::size_t b = 0; b < plan_.buckets.size(); ++b) {
    const BucketPlan::Bucket& plan = plan_.buckets[b];
    const std::vector<Array> of_bucket = before_->means(b, plan, comm_->rank());
    for (std::size_t i = 0; i < of_bucket.size(); ++i)
      if (of_bucket[i]) means.emplace(plan.members[i].path, of_bucket[i]);
  }
  return means;
}

void MultiNodeExchange::gather_means() {
  gathered_.clear();
  if (!before_ || !before_->is_sharded || !has_means(*before_)) return;
  for (std::size_t b = 0; b < plan_.buckets.size(); ++b) {
    const BucketPlan::Bucket& plan = plan_.buckets[b];
    const std::vector<Array> own = before_->means(b, plan, comm_->rank());
    const std::vector<double>& notes = before_->buckets[b].notes;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const BucketPlan::Member& m = plan.members[i];
      if (notes[Round::present(own.size(), i)] == 0) continue;
      gathered_.emplace(m.path, autograd::to_device(comm_->bcast(own[i], m.owner), m.param.device()));
    }
  }
}

bool MultiNodeExchange::use_loaded_means() {
  if (!loaded_) return false;
  const Means means = std::move(*loaded_);
  loaded_.reset();
  std::map<std::string_view, int> owners;
  if (before_->is_sharded)
    for (const BucketPlan::Bucket& bucket : plan_.buckets)
      for (const BucketPlan::Member& m : bucket.members) owners[m.path] = m.owner;
  // Parameters that were unfrozen after the load are not in the plan yet: all ranks update them.
  for (const nn::NamedParam& p : trained_params()) {
    const auto at = means.find(p.path);
    const auto owner = owners.find(p.path);
    const bool is_here = owner == owners.end() || owner->second == comm_->rank();
    set_mean(p.param, is_here && at != means.end() ? at->second : Array());
  }
  return true;
}

}  // namespace training::internal
