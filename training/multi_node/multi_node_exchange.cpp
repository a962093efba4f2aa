#include <catena/training/multi_node/multi_node_exchange.h>

#include <exception>
#include <utility>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/capture.h>
#include <catena/autograd/trace_track.h>
#include <catena/kernels/base/error.h>
#include <catena/training/communicators/communicator_state.h>

namespace training::internal {

using autograd::internal::OnFinal;
using autograd::internal::TracedScope;
using autograd::internal::TraceRange;
using autograd::internal::TraceTrack;
using catena::check;
using catena::concat;
using catena::RuntimeError;
using catena::Shared;
using catena::ValueError;
using Kind = MultiNodeEvent::Kind;

MultiNodeExchange::MultiNodeExchange(Optimizer& optimizer, const Communicator& communicator,
                                     const MultiNodeOptimizerOptions& options)
    : optimizer_(optimizer),
      options_(options),
      comm_(CommunicatorAccess::split_on_hosts(communicator)),
      on_final_([this](autograd::internal::VariableNode& leaf) { note_final(leaf); }) {
  if (sends_nothing()) return;
  background_ = communicator.split(0, communicator.rank());
  thread_ = catena::Owned<CommunicationThread>(new CommunicationThread);
}

void MultiNodeExchange::report(Kind kind, std::int64_t bucket) {
  if (!options_.observer) return;
  const std::lock_guard lock(observing_);
  options_.observer({kind, bucket});
}

namespace {

// The range of a bucket on the timeline.
TraceRange range_of(const BucketPlan::Bucket& plan, const Round& round, std::size_t b, const Communicator& comm) {
  const std::size_t width = catena::itemsize(wire_dtype(comm, plan.dtype));
  TraceRange range{"communication", concat(round.is_sharded ? "reduce-scatter" : "all-reduce", " of bucket ", b),
                   "communication", 0};
  for (const Array& a : round.buckets[b].sent) range.bytes += a.size() * std::int64_t(width);
  for (const BucketPlan::Member& m : plan.members) range.detail += (range.detail.empty() ? "" : ", ") + m.path;
  return range;
}

}  // namespace

void MultiNodeExchange::check_works() const {
  check<RuntimeError>(failure_.empty(), kMultiNode, "an earlier update has failed: ", failure_);
  check<RuntimeError>(is_captured_ || !autograd::is_capturing(), kMultiNode,
                      "only StandardUpdater can capture an update of several ranks ({.capture = true})");
}

// ---- an update ----------------------------------------------------------------------------------

const OnFinal* MultiNodeExchange::begin_backward() {
  check_replay();
  check_works();
  is_open_ = true;
  if (sends_nothing()) return nullptr;
  if (has_plan_) start_round();
  else final_order_.clear();
  return options_.overlap ? &on_final_ : nullptr;
}

void MultiNodeExchange::start_round() {
  round_ = Shared<Round>::make();
  round_->buckets.resize(plan_.buckets.size());
  round_->is_sharded = options_.shard_states && !ExchangeAccess::reads_all_gradients(optimizer_);
  waited_for_.clear();
  for (const BucketPlan::Bucket& bucket : plan_.buckets) waited_for_.push_back(bucket.members.size());
  next_ = 0;
  if (!stream_) set_stream();
  is_changed_ = is_set_up_anew_ || present_params() != known_;
  for (const BucketPlan::Bucket& bucket : plan_.buckets) is_changed_ = is_changed_ || !misplaced(bucket).empty();
}

autograd::Device MultiNodeExchange::device_of(const BucketPlan::Bucket& bucket) const {
  auto* const gpus = CommunicatorAccess::gpu_sums(*background_, wire_dtype(*background_, bucket.dtype));
  return gpus != nullptr ? gpus->device() : bucket.members[0].param.device();
}

// Sums by GPUs have a stream of their own; on the stream of the backward pass, they would wait for all of its work.
void MultiNodeExchange::set_stream() {
  const BucketPlan::Bucket& first = plan_.buckets[0];
  if (CommunicatorAccess::gpu_sums(*background_, wire_dtype(*background_, first.dtype)) == nullptr) return;
  const Array& a = first.members[0].param.data();
  auto* const streams = a.backend().extension<autograd::StreamExtension>(a.device());
  if (streams == nullptr) return;
  device_ = a.device();
  stream_ = streams->new_stream(device_);
}

// The last bucket waits for the end of the pass, because it also carries whether the pass has failed.
void MultiNodeExchange::note_final(autograd::internal::VariableNode& leaf) {
  if (!round_) return final_order_.push_back(&leaf);
  const auto at = bucket_of_.find(&leaf);
  if (at == bucket_of_.end()) return;
  if (--waited_for_[at->second] == 0) report(Kind::bucket_ready, std::int64_t(at->second));
  while (next_ + 1 < waited_for_.size() && waited_for_[next_] == 0) post(next_);
}

void MultiNodeExchange::post(std::size_t b, bool failed) {
  if (is_captured_) return post_captured(b);
  const BucketPlan::Bucket& plan = plan_.buckets[b];
  round_->pack(b, plan, comm_->size(), device_of(plan), {failed, is_changed_});
  next_ = b + 1;
  const Shared<TraceTrack> track = TraceTrack::of_this_thread();
  const TraceRange range = track ? range_of(plan, *round_, b, *comm_) : TraceRange();
  const auto communicate = [this, round = round_, b, dtype = plan.dtype, n = plan.members.size(), track, range] {
    const TracedScope traced(track, range);
    round->communicate(b, dtype, n, *background_);
  };
  round_->buckets[b].task = thread_->post([this, b, communicate] {
    report(Kind::bucket_started, std::int64_t(b));
    if (stream_) stream_->run(communicate);
    else communicate();
    report(Kind::bucket_ended, std::int64_t(b));
  });
}

void MultiNodeExchange::post_rest(bool failed) {
  while (next_ < plan_.buckets.size()) post(next_, failed);
}

void MultiNodeExchange::end_backward() {
  report(Kind::backward_ended);
  if (round_) post_rest();
}

// The other ranks get the failure at the end of the round, or where they agree on a plan.
void MultiNodeExchange::fail() noexcept try {
  if (!is_open_ || sends_nothing()) return;
  is_open_ = false;
  set_failure();
  if (!is_captured_) fail_round();  // else end_capture() makes this round
} catch (...) {  // the communicator does not work any more, so the others do not wait for this rank either
}

void MultiNodeExchange::set_failure() noexcept {
  try {
    throw;
  } catch (const std::exception& e) {
    failure_ = concat("rank ", comm_->rank(), ": ", e.what());
  } catch (...) {
    failure_ = concat("rank ", comm_->rank(), " has failed");
  }
}

// The others get the failure of this rank.
void MultiNodeExchange::fail_round() {
  if (round_) post_rest(true);
  bool is_last = !options_.double_buffering;
  if (before_) {  // its end may be the end of the others, too
    wait_for(*before_);
    const Round::Notes found = before_->found();
    is_last = is_last || found.failed || found.changed;
  }
  if (round_ && !is_last) {  // the others begin another round before the end of this one
    start_round();
    post_rest(true);
  }
  if (round_) wait_for(*round_);
  round_.reset();
  first_problem(failure_);
}

void MultiNodeExchange::fail_everywhere() {
  const std::string problem = first_problem("");
  failure_ = problem.empty() ? "a rank has failed" : problem;
  catena::fail<RuntimeError>(kMultiNode, failure_);
}

void MultiNodeExchange::wait_for(const Round& round) {
  for (const Round::Bucket& bucket : round.buckets) thread_->wait(bucket.task);
}

bool MultiNodeExchange::mean_gradients() {
  check_replay();
  check_works();
  if (sends_nothing()) return mean_alone();
  struct Closed {
    MultiNodeExchange& of;
    ~Closed() {
      of.is_open_ = false;
      of.round_.reset();
    }
  } const closed{*this};
  if (has_all_states_) keep_own_states();
  if (!has_plan_ && agree()) return false;
  if (!round_) start_round();
  try {
    post_rest();
  } catch (...) {  // a gradient that is not as its parameter
    is_open_ = true;
    fail();
    throw;
  }
  if (is_captured_) return mean_captured();
  Shared<Round> round = std::move(round_);
  if (options_.double_buffering) std::swap(round, before_);
  // After setup(), the plan is that of the target before: loaded means wait for the next update, which has a new one.
  if (!round && is_set_up_anew_) return false;
  if (!round) return use_loaded_means();
  if (!finish(std::move(round))) return false;
  // Parameters that are not in the plan yet, with double buffering, have no means.
  if (is_changed_)
    for (nn::NamedParam& p : trained_params())
      if (!bucket_of_.contains(p.param.id())) p.param.cleargrad();
  return true;
}

bool MultiNodeExchange::finish(Shared<Round> round) {
  {
    const TracedScope traced(TraceTrack::of_this_thread(), {"", "wait for communication", "communication"});
    wait_for(*round);
  }
  const Round::Notes found = round->found();
  if (found.failed) fail_everywhere();
  if (found.changed) {
    if (before_) wait_for(*before_);
    before_.reset();
    has_plan_ = false;
    return mean_gradients();  // with a new plan
  }
  check_gradients(*round);
  for (std::size_t b = 0; b < round->buckets.size(); ++b) round->unpack(b, plan_.buckets[b], comm_->rank());
  last_.clear();
  for (const Round::Bucket& bucket : round->buckets)
    last_.emplace_back(Round::Bucket{.own = bucket.own, .notes = bucket.notes});
  return true;
}

void MultiNodeExchange::check_gradients(const Round& round) const {
  if (options_.zero_fill) return;
  for (std::size_t b = 0; b < round.buckets.size(); ++b)
    for (std::size_t i = 0; i < plan_.buckets[b].members.size(); ++i)
      check<ValueError>(round.buckets[b].notes[Round::missing(i)] == 0, kMultiNode, "the parameter ",
                        plan_.buckets[b].members[i].path,
                        " has no gradient on some rank (zero_fill = true counts it as zero there)");
}

// One rank, whose gradients are the means.
bool MultiNodeExchange::mean_alone() {
  if (is_set_up_anew_ || !are_known()) {
    const std::vector<Known> now = present_params();
    const bool is_broadcast = needs_broadcast(now);
    known_ = now;
    is_set_up_anew_ = false;
    has_begun_ = true;
    if (is_broadcast) {
      report(Kind::broadcast);
      return false;
    }
  }
  if (!options_.zero_fill)
    for (const nn::NamedParam& p : trained_params())
      check<ValueError>(bool(p.param.grad()), kMultiNode, "the parameter ", p.path,
                        " has no gradient (zero_fill = true counts it as zero)");
  return true;
}

}  // namespace training::internal
