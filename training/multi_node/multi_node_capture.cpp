// Updates of a multi-node optimizer as captured work. GPUs sum the buckets on a stream that leaves the captured stream
// when a bucket is ready, and joins it before the update. A replay sends the same data as an ordinary round, so that
// some ranks may replay while others do not. When the replay has ended, the communication thread reads the numbers of
// the round; if they stand for an error, the next update throws it.
#include <algorithm>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/training/communicators/communicator_state.h>
#include <catena/training/multi_node/multi_node_exchange.h>

namespace training::internal {

using catena::check;
using catena::concat;
using catena::RuntimeError;
using Kind = MultiNodeEvent::Kind;

void MultiNodeExchange::check_can_be_captured() const {
  check<RuntimeError>(!options_.double_buffering && !options_.shard_states, kMultiNode, "an update with ",
                      options_.double_buffering ? "double_buffering" : "shard_states", " cannot be captured");
  for (const BucketPlan::Bucket& bucket : plan_.buckets) {
    const autograd::Dtype wire = wire_dtype(*background_, bucket.dtype);
    check<RuntimeError>(CommunicatorAccess::gpu_sums(*background_, wire) != nullptr, kMultiNode,
                        "an update cannot be captured, because the communicator ", background_->name(), " sums ", wire,
                        " through the host; pure_nccl sums on the GPUs");
  }
}

bool MultiNodeExchange::begin_capture() {
  check_replay();
  check_works();
  if (is_set_up_anew_ || present_params() != known_) return false;
  for (const BucketPlan::Bucket& bucket : plan_.buckets)
    if (!sends_nothing() && !misplaced(bucket).empty()) return false;
  if (!sends_nothing()) {
    check_can_be_captured();
    if (!has_plan_ || last_.empty() || !stream_) return false;
    numbers_.clear();
    for (std::size_t b = 0; b < last_.size(); ++b) {
      const std::vector<double>& own = last_[b].own;
      const Array a = autograd::from_host(own.data(), {std::int64_t(own.size())}, autograd::Dtype::float64, device_);
      numbers_.push_back(autograd::astype(a, plan_.buckets[b].dtype));
    }
  }
  captured_.reset();
  return is_captured_ = true;
}

void MultiNodeExchange::post_captured(std::size_t b) {
  const BucketPlan::Bucket& plan = plan_.buckets[b];
  std::vector<bool> has_gradient;
  for (const BucketPlan::Member& m : plan.members) has_gradient.push_back(bool(m.param.grad()));
  check<RuntimeError>(Round::own_numbers(has_gradient, {}) == last_[b].own, kMultiNode,
                      "the captured update gives gradients to other parameters than the update before");
  next_ = b + 1;
  round_->pack(b, plan, comm_->size(), false, numbers_[b]);
  round_->to_wire(b, plan.dtype, *background_);
  Round::Bucket& bucket = round_->buckets[b];
  const Array& sum = bucket.sent[0];
  auto* const gpus = CommunicatorAccess::gpu_sums(*background_, sum.dtype());
  report(Kind::bucket_started, std::int64_t(b));
  bucket.point = point_of(sum);
  stream_->run([&] {
    bucket.point->wait();
    gpus->enqueue(sum);
    bucket.point = point_of(sum);
  });
}

bool MultiNodeExchange::mean_captured() {
  for (std::size_t b = 0; b < plan_.buckets.size(); ++b) {
    const BucketPlan::Bucket& plan = plan_.buckets[b];
    Round::Bucket& bucket = round_->buckets[b];
    bucket.point->wait();
    bucket.point = {};
    report(Kind::bucket_ended, std::int64_t(b));
    round_->from_sum(b, bucket.sent[0], plan.dtype, plan.members.size(), *background_);
    bucket.sent.clear();
    bucket.notes = last_[b].notes;
    round_->unpack(b, plan, comm_->rank());
  }
  round_->join_numbers();
  captured_ = std::move(round_);
  return true;
}

void MultiNodeExchange::end_capture(bool succeeded) {
  is_captured_ = false;
  numbers_.clear();
  if (sends_nothing()) return;
  is_open_ = is_open_ && succeeded;
  if (succeeded) end_replay(true);
  else fail_captured();
}

// After a capture or a replay that has failed this rank makes an ordinary round, in which the other ranks get its
// failure.
void MultiNodeExchange::fail_captured() noexcept {
  captured_.reset();
  if (failure_.empty()) set_failure();
  try {
    round_.reset();
    start_round();
    fail_round();
  } catch (...) {  // the communicator does not work any more; the error of the captured work is the first cause
  }
}

void MultiNodeExchange::begin_replay() {
  check_replay();
  check_works();
}

void MultiNodeExchange::end_replay(bool succeeded) {
  if (!captured_) return;
  if (succeeded) watch_replay();
  else fail_captured();
}

// The communication thread waits for the sums of the captured work that this thread has enqueued.
void MultiNodeExchange::watch_replay() {
  const Array& last = captured_->buckets.back().mean;
  captured_->buckets[0].point = point_of(last);
  replay_ = thread_->post([this, round = captured_] {
    stream_->run([&] {
      round->buckets[0].point->wait();
      CommunicatorAccess::gpu_sums(*background_, wire_dtype(*background_, plan_.buckets[0].dtype))->wait();
      round->read_all_notes();
    });
    const auto is_zero = [](double a, double b) { return (a == 0) == (b == 0); };
    for (std::size_t b = 0; b < round->buckets.size(); ++b) {
      const std::vector<double>& now = round->buckets[b].notes;
      if (!std::equal(now.begin(), now.end(), last_[b].notes.begin(), is_zero)) has_replay_differed_ = true;
    }
  });
}

// Waits for the last replay.
void MultiNodeExchange::check_replay() {
  if (replay_ == 0) return;
  thread_->wait(std::exchange(replay_, 0));
  if (!has_replay_differed_) return;
  const Round::Notes found = captured_->found();
  if (found.failed) fail_everywhere();
  failure_ = "another rank has other parameters or gradients than in the captured update";
  if (found.changed) first_problem(failure_);
  check_works();
}

}  // namespace training::internal
