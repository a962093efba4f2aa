// The agreement of the ranks of a multi-node optimizer before they communicate gradients, and, with sharded states, the
// values that they share after an update.
#include <algorithm>
#include <map>

#include <catena/autograd/trace_track.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/training/communicators/communicator_state.h>
#include <catena/training/multi_node/multi_node_exchange.h>

namespace training::internal {

using autograd::Device;
using autograd::Dtype;
using catena::check;
using catena::concat;
using catena::ValueError;

namespace {

// FNV-1a, 64 bits, of arrays with their paths.
class Hash {
 public:
  void add(std::string_view path, const Array& a) {
    add(path);
    std::string bytes(std::size_t(a.size()) * catena::itemsize(a.dtype()), '\0');
    autograd::to_host(a, bytes.data());
    add(bytes);
  }
  std::uint64_t value() const noexcept { return hash_; }

 private:
  void add(std::string_view bytes) {
    for (const char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  std::uint64_t hash_ = 14695981039346656037u;
};

std::uint64_t hash_of(const nn::Link& model) {
  Hash hash;
  model.for_each_param([&](std::string_view path, const Variable& p) {
    if (p.data()) hash.add(path, p.data());
  });
  return hash.value();
}

}  // namespace

std::vector<MultiNodeExchange::Known> MultiNodeExchange::present_params() const {
  std::vector<Known> all;
  optimizer_.target().for_each_param([&](std::string_view, const Variable& p) { all.push_back(known(p)); });
  return all;
}

bool MultiNodeExchange::are_known() const {
  std::size_t i = 0;
  bool same = true;
  ExchangeAccess::for_each_param(optimizer_, [&](const Variable& p) {
    same = same && i < known_.size() && known_[i] == known(p);
    ++i;
  });
  return same && i == known_.size();
}

std::vector<nn::NamedParam> MultiNodeExchange::trained_params() const {
  std::vector<nn::NamedParam> params = optimizer_.target().namedparams(false);
  std::erase_if(params, [](const nn::NamedParam& p) { return !p.param.requires_grad(); });
  return params;
}

std::string MultiNodeExchange::misplaced(const BucketPlan::Bucket& bucket) const {
  auto* const gpus = CommunicatorAccess::gpu_sums(*background_, wire_dtype(*background_, bucket.dtype));
  if (gpus == nullptr) return {};
  for (const BucketPlan::Member& m : bucket.members)
    if (!(m.param.device() == gpus->device()))
      return concat(kMultiNode, ": the parameter ", m.path, " is on ", m.param.device(), "; ", background_->name(),
                    " sums gradients on the GPU of the rank, ", gpus->device(), " (model.to_device moves a model)");
  return {};
}

std::string MultiNodeExchange::first_problem(const std::string& own) {
  for (std::string& text : comm_->allgather_obj(own))
    if (!text.empty()) return std::move(text);
  return {};
}

bool MultiNodeExchange::agree() {
  if (const std::string problem = first_problem(""); !problem.empty()) {
    failure_ = problem;
    catena::fail<catena::RuntimeError>(kMultiNode, failure_);
  }
  const bool is_broadcast = needs_broadcast(present_params());
  if (is_broadcast) {
    comm_->bcast_data(optimizer_.target());
    loaded_.reset();
    report(MultiNodeEvent::Kind::broadcast);
  }
  // The new plan may give parameters to other ranks.
  if (!is_set_up_anew_ && !plan_.buckets.empty()) consolidate();
  set_plan(comm_->bcast_obj(own_plan().text()));
  known_ = present_params();
  is_set_up_anew_ = false;
  has_begun_ = true;
  return is_broadcast;
}

// An optimizer that was loaded goes on without a broadcast if all ranks have the same weights and loaded means.
bool MultiNodeExchange::needs_broadcast(const std::vector<Known>& now) {
  const bool is_first = known_.empty() || is_set_up_anew_;
  const bool wanted =
      is_first ? optimizer_.t() == 0 && !has_begun_
               : !std::equal(now.begin(), now.end(), known_.begin(), known_.end(), [](const Known& a, const Known& b) {
                   return a.id == b.id && a.is_initialized == b.is_initialized;
                 });
  const std::string t = concat(optimizer_.t());
  Hash means;
  if (loaded_)
    for (const auto& [path, mean] : *loaded_) means.add(path, mean);
  const std::string weights = wanted ? std::string() : concat(hash_of(optimizer_.target()), "-", means.value());
  const std::vector<std::string> all = comm_->allgather_obj(t + " " + weights);
  bool is_needed = false;
  for (std::size_t r = 0; r < all.size(); ++r) {
    const std::string_view text = all[r], of_rank = text.substr(0, text.find(' '));
    check<ValueError>(of_rank == t, kMultiNode, "rank ", r, " has made ", of_rank, " updates, rank ", comm_->rank(),
                      " has made ", t, ": load the same snapshot on all ranks");
    is_needed = is_needed || text.ends_with(' ') || text != all[0];
  }
  return is_needed;
}

// In the order in which the gradients were final, if that was seen; else, from the last parameter of the model to the
// first.
BucketPlan MultiNodeExchange::own_plan() const {
  std::vector<nn::NamedParam> params = trained_params();
  std::reverse(params.begin(), params.end());
  std::map<const void*, std::size_t> place;
  for (std::size_t i = 0; i < final_order_.size(); ++i) place.emplace(final_order_[i], i);
  if (std::all_of(params.begin(), params.end(), [&](const auto& p) { return place.contains(p.param.id()); }))
    std::sort(params.begin(), params.end(),
              [&](const auto& a, const auto& b) { return place.at(a.param.id()) < place.at(b.param.id()); });
  return BucketPlan::of(params, options_.bucket_bytes);
}

void MultiNodeExchange::set_plan(const std::string& text) {
  BucketPlan plan;
  std::string problem;
  try {
    plan = BucketPlan::parse(text, trained_params());
    for (const BucketPlan::Bucket& bucket : plan.buckets)
      if (const std::string where = misplaced(bucket); !where.empty()) throw ValueError(where);
  } catch (const ValueError& e) {
    problem = concat("rank ", comm_->rank(), ": ", e.what());
  }
  problem = first_problem(problem);
  if (!problem.empty()) throw ValueError(problem);
  plan.assign_owners(comm_->size());
  plan_ = std::move(plan);
  last_.clear();
  has_plan_ = !plan_.buckets.empty();
  bucket_of_.clear();
  for (std::size_t b = 0; b < plan_.buckets.size(); ++b)
    for (const BucketPlan::Member& m : plan_.buckets[b].members) bucket_of_[m.param.id()] = b;
  if (options_.shard_states) keep_own_states();
}

// ---- sharded states -----------------------------------------------------------------------------

void MultiNodeExchange::keep_own_states() {
  std::map<std::string_view, int> owners;
  for (const BucketPlan::Bucket& bucket : plan_.buckets)
    for (const BucketPlan::Member& m : bucket.members) owners[m.path] = m.owner;
  ExchangeAccess::set_owned_by_other_rank(optimizer_, [&](const std::string& path) {
    const auto at = owners.find(path);
    return at != owners.end() && at->second != comm_->rank();
  });
  has_all_states_ = false;
  gathered_.clear();
}

// All parameters of a dtype that a rank has updated travel as one array.
void MultiNodeExchange::share_params() {
  if (!options_.shard_states || comm_->size() == 1) return;
  const autograd::internal::TracedScope traced(autograd::internal::TraceTrack::of_this_thread(),
                                               {"", "all-gather of parameters", "communication"});
  std::map<Dtype, std::vector<const BucketPlan::Member*>> members;
  for (const BucketPlan::Bucket& bucket : plan_.buckets)
    for (const BucketPlan::Member& m : bucket.members) members[bucket.dtype].push_back(&m);
  for (const auto& [dtype, of_dtype] : members) {
    const Device device = of_dtype[0]->param.device();
    std::vector<Array> pieces{autograd::arrays::empty({0}, dtype, device)};
    for (const BucketPlan::Member* m : of_dtype)
      if (m->owner == comm_->rank())
        pieces.push_back(autograd::to_device(autograd::reshape(m->param.data(), {m->param.size()}), device));
    const std::vector<Array> own(static_cast<std::size_t>(comm_->size()), autograd::concatenate(pieces));
    const std::vector<Array> parts = comm_->alltoall(own);
    std::vector<std::int64_t> at(parts.size(), 0);
    for (const BucketPlan::Member* m : of_dtype) {
      const auto owner = static_cast<std::size_t>(m->owner);
      const std::int64_t begin = std::exchange(at[owner], at[owner] + m->param.size());
      if (m->owner == comm_->rank()) continue;
      const Array values = autograd::slice(parts[owner], 0, begin, at[owner]);
      autograd::assign(m->param.data(),
                       autograd::to_device(autograd::reshape(values, m->param.shape()), m->param.device()));
    }
  }
}

void MultiNodeExchange::consolidate() {
  if (!options_.shard_states || comm_->size() == 1) return;
  if (plan_.buckets.empty() || is_set_up_anew_) {  // no update yet: all ranks make the first states
    ExchangeAccess::set_owned_by_other_rank(optimizer_, [](const std::string&) { return false; });
    return optimizer_.prepare();
  }
  optimizer_.prepare();  // makes this rank's states, if there has been no update yet
  for (const BucketPlan::Bucket& bucket : plan_.buckets)
    for (const BucketPlan::Member& m : bucket.members) {
      std::vector<Array> states = ExchangeAccess::states(optimizer_, m.path);
      std::string present;
      for (const Array& state : states) present += state ? '1' : '0';
      present = comm_->bcast_obj(present, m.owner);
      states.resize(present.size());
      for (std::size_t k = 0; k < states.size(); ++k)
        if (present[k] == '1')
          states[k] = autograd::to_device(comm_->bcast(m.owner == comm_->rank() ? states[k] : Array(), m.owner),
                                          m.param.device());
      if (m.owner != comm_->rank() && !states.empty())
        ExchangeAccess::set_states(optimizer_, m.path, std::move(states));
    }
  gather_means();
  has_all_states_ = true;
}

void make_multi_node(Optimizer& optimizer, const Communicator& communicator, const MultiNodeOptimizerOptions& options) {
  check<ValueError>(options.bucket_bytes > 0, "create_multi_node_optimizer",
                    "bucket_bytes is 0 and must be at least 1");
  check<ValueError>(optimizer.rule().no_groups == nullptr, "create_multi_node_optimizer", optimizer.rule().name,
                    " computes the loss several times in an update, which ranks cannot do in step");
  ExchangeAccess::check_single(optimizer);
  ExchangeAccess::attach(optimizer, catena::Shared<MultiNodeExchange>::make(optimizer, communicator, options),
                         options.shard_states && communicator.size() > 1);
}

}  // namespace training::internal

namespace training {

void consolidate_states(Optimizer& optimizer) {
  auto* const exchange = dynamic_cast<internal::MultiNodeExchange*>(internal::ExchangeAccess::of(optimizer));
  catena::check<catena::ValueError>(exchange != nullptr, "consolidate_states", optimizer.rule().name,
                                    " is no multi-node optimizer");
  exchange->consolidate();
}

}  // namespace training
