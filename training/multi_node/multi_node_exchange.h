// The multi-node part of an optimizer. Internal to this folder.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <catena/training/gradient_exchange.h>
#include <catena/training/multi_node/bucket_plan.h>
#include <catena/training/multi_node/communication_thread.h>
#include <catena/training/multi_node/multi_node_optimizer.h>
#include <catena/training/multi_node/round.h>

namespace training::internal {

// Every update is a round, in which every rank communicates the same buckets in the same order: also a rank that has
// failed, or that has other parameters than planned. The round carries that, too, so that all ranks have it at its end.
// Buckets have a communicator of their own, for the communication thread.
class MultiNodeExchange final : public GradientExchange {
 public:
  MultiNodeExchange(Optimizer& optimizer, const Communicator& communicator, const MultiNodeOptimizerOptions& options);

  void setup() override {
    is_set_up_anew_ = true;
    has_begun_ = has_all_states_ = false;
    loaded_.reset();
    before_ = {};
    gathered_.clear();
  }
  const autograd::internal::OnFinal* begin_backward() override;
  void end_backward() override;
  void fail() noexcept override;
  bool mean_gradients() override;
  void share_params() override;
  bool begin_capture() override;
  void end_capture(bool succeeded) override;
  void begin_replay() override;
  void end_replay(bool succeeded) override;
  void serialize(nn::Serializer& s) override;

  void consolidate();

 private:
  // The parameters for which the plan was made, in the order of the target.
  struct Known {
    const void* id;
    bool is_initialized, is_trained;
    autograd::Dtype dtype = {};
    autograd::Shape shape = {};
    friend bool operator==(const Known&, const Known&) = default;
  };
  static Known known(const Variable& p) {
    const bool has_data = bool(p.data());
    return {p.id(), has_data, p.requires_grad(), has_data ? p.dtype() : autograd::Dtype{},
            has_data ? p.shape() : autograd::Shape{}};
  }
  std::vector<Known> present_params() const;
  bool are_known() const;  // during an update: whether known_ == present_params()
  std::vector<nn::NamedParam> trained_params() const;
  // With sums by GPUs, a parameter of the bucket that is not on the GPU of this rank: its error. Empty: none.
  std::string misplaced(const BucketPlan::Bucket& bucket) const;
  bool sends_nothing() const { return comm_->size() == 1 && !options_.double_buffering; }

  // multi_node_exchange.cpp: an update.
  void start_round();
  autograd::Device device_of(const BucketPlan::Bucket& bucket) const;  // where its gradients are packed
  void note_final(autograd::internal::VariableNode& leaf);
  void post(std::size_t bucket, bool failed = false);
  void post_rest(bool failed = false);
  void wait_for(const Round& round);
  bool finish(catena::Shared<Round> round);
  void check_gradients(const Round& round) const;
  bool mean_alone();
  [[noreturn]] void fail_everywhere();
  void set_failure() noexcept;  // in a catch clause: from its exception
  void fail_round();
  void check_works() const;
  void set_stream();
  // multi_node_capture.cpp: an update as captured work.
  void check_can_be_captured() const;
  void post_captured(std::size_t bucket);
  bool mean_captured();
  void fail_captured() noexcept;
  void watch_replay();
  void check_replay();
  // multi_node_files.cpp: the file, and with double buffering the means that the next update will use.
  using Means = std::map<std::string, Array>;  // by the paths of the parameters; without those that have no gradient
  void write(nn::Serializer& s);
  void read(nn::Serializer& s);
  std::optional<Means> pending_means();  // nothing: the next update is left out
  bool has_means(const Round& round);    // waits for it
  void gather_means();                   // collective
  bool use_loaded_means();
  // multi_node_agreement.cpp: agreements of the ranks before an update, and values that they share after it.
  bool agree();  // false if there is only a new plan; true if the weights were broadcast as well
  bool needs_broadcast(const std::vector<Known>& now);
  BucketPlan own_plan() const;
  void set_plan(const std::string& text);
  void keep_own_states();
  std::string first_problem(const std::string& own);  // collective: the first text that is not empty
  void report(MultiNodeEvent::Kind kind, std::int64_t bucket = -1);

  Optimizer& optimizer_;
  const MultiNodeOptimizerOptions options_;
  catena::Shared<Communicator> comm_, background_;
  std::mutex observing_;

  bool has_plan_ = false, is_set_up_anew_ = false;
  bool has_begun_ = false;  // the weights of the present target have been broadcast
  BucketPlan plan_;
  std::vector<Known> known_;
  std::unordered_map<const void*, std::size_t> bucket_of_;  // by the identity of the parameter
  bool has_all_states_ = false;                             // until the next update, after consolidate()

  bool is_open_ = false;  // an update has begun, in which other ranks may wait for this one
  autograd::internal::OnFinal on_final_;
  std::vector<const void*> final_order_;  // before the first plan: the order in which gradients were final
  catena::Shared<Round> round_;           // of this update
  std::vector<std::size_t> waited_for_;   // members of each bucket whose gradients are not final
  std::size_t next_ = 0;                  // the next bucket to be posted
  bool is_changed_ = false;               // this rank has other parameters than planned
  catena::Shared<Round> before_;          // with double buffering, the round of the last update
  Means gathered_;                        // with sharded gradients: means of before_ of all ranks, if has_all_states_
  std::optional<Means> loaded_;           // from a file, in place of before_
  std::string failure_;                   // why further updates fail
  std::vector<Round::Bucket> last_;       // of the last round that had means: its numbers, without arrays

  // With sums by GPUs: the stream of the sums, beside the backward pass.
  catena::Owned<autograd::StreamExtension::Stream> stream_;
  autograd::Device device_ = {};

  bool is_captured_ = false;          // between begin_capture() and end_capture()
  std::vector<Array> numbers_;        // for a capture: this rank's numbers of each bucket, on the device
  catena::Shared<Round> captured_;    // the arrays of the captured round, which every replay writes
  std::uint64_t replay_ = 0;          // the task that waits for the last replay; 0: none
  bool has_replay_differed_ = false;  // from the captured round, on another rank
  // Last, so that its tasks end before what they use.
  catena::Owned<CommunicationThread> thread_;
};

}  // namespace training::internal
